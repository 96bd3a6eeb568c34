package validate

import (
	"encoding/json"

	"github.com/espalier-dev/espalier/internal/apiserver"
	"github.com/espalier-dev/espalier/schema"
)

// Coerce brings the metadata of the embedded resources in x into its canonical form, in place, and
// drops what has none (Coerce with dropInvalidFields).
func Coerce(s *schema.Structural, x any) {
	if s == nil {
		return
	}
	switch x := x.(type) {
	case map[string]any:
		for _, name := range sortedKeys(x) {
			v := x[name]
			if s.XEmbeddedResource {
				coerceField(x, name)
			}
			sub, _ := inside(s, nil, name)
			Coerce(sub, v)
		}
	case []any:
		for _, v := range x {
			Coerce(element(s), v)
		}
	}
}

func coerceField(resource map[string]any, name string) {
	switch v := resource[name]; name {
	case "apiVersion", "kind":
		if _, ok := v.(string); !ok {
			delete(resource, name)
		}
	case "metadata":
		js, _ := json.Marshal(v)
		if js, err := apiserver.AppendMetadata(nil, js, true, false, nil); err == nil {
			resource[name], _ = Decode(js)
		} // the server keeps metadata that is no object
	}
}
