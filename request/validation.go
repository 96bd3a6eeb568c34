package request

import (
	"strconv"

	"github.com/espalier-dev/espalier/decoder"
)

// validationOf returns the value of the parameter fieldValidation. As in the API server, the first
// value counts, and the default is Warn.
func validationOf(r *Request) (decoder.FieldValidation, *StatusError) {
	if r.URL.RawQuery == "" {
		return decoder.Warn, nil
	}
	switch value := r.URL.Query().Get("fieldValidation"); value {
	case "", "Warn":
		return decoder.Warn, nil
	case "Strict":
		return decoder.Strict, nil
	case "Ignore":
		return decoder.Ignore, nil
	default:
		kind := map[string]string{
			methodPost:  "CreateOptions",
			methodPut:   "UpdateOptions",
			methodPatch: "PatchOptions",
		}[r.Method]
		return 0, invalid("meta.k8s.io", kind, "", "fieldValidation", "FieldValueNotSupported",
			"Unsupported value: "+strconv.Quote(value)+`: supported values: "", "Ignore", "Strict", "Warn"`)
	}
}
