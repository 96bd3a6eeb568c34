// Package webhook has a mutating webhook with a fault, which the fuzz test beside it finds.
package webhook

// Admit sets the port of a Trellis to 8080 where there is none, and adds 10000 to the low ones.
func Admit(object map[string]any) {
	spec, _ := object["spec"].(map[string]any)
	if spec == nil {
		return
	}
	switch port := spec["port"]; {
	case port == nil:
		spec["port"] = int64(8080)
	case port.(int64) < 1024: // the fault: a port can also be a name
		spec["port"] = port.(int64) + 10_000
	}
}
