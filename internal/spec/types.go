package spec

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// checkTypes finds values of a type that is refused, in the order of the document.
//
// By KEP-2332, proposal 3, that is each value whose type is not that of its schema. In a subtree
// that is excluded from pruning types are not checked: example 9 keeps a number for which the
// schema says object. The server leaves types to validation. Under both semantics apiVersion and
// kind of a resource are strings, and metadata fits ObjectMeta: the server reads them into Go
// types (objectmeta.GetObjectMetaWithOptions, coerce). A root that is a resource is an object.
//
// A value that is refused is not looked into.
func (r Rules) checkTypes(v Value, s *schema.Structural, isExcluded bool, at *place, f *findings) {
	if s == nil {
		return
	}
	_, isObject := v.(Object)
	isResource := at == nil && s.XEmbeddedResource
	isChecked := r.semantics == schema.KEP && !isExcluded
	if isResource && !isObject || isChecked && !hasType(v, s) {
		f.mismatches.add(errors.TypeMismatch, at)
		return
	}
	isExcluded = isExcluded || preserves(s)
	switch v := v.(type) {
	case Object:
		for _, m := range v {
			here := at.field(m.Name)
			_, isString := m.Value.(string)
			child, _ := specified(s, m.Name)
			switch {
			case !s.XEmbeddedResource || !isReserved(m.Name):
				r.checkTypes(m.Value, child, isExcluded && !r.restarts(child), here, f)
			case m.Name == "metadata":
				r.checkGoType(m.Value, objectMeta, here, f)
			case !isString:
				f.mismatches.add(errors.TypeMismatch, here)
			}
		}
	case Array:
		isExcluded = isExcluded && !r.restartsInArray(items(s))
		for i, e := range v {
			r.checkTypes(e, items(s), isExcluded, at.element(i), f)
		}
	}
}

// hasType reports whether v has the type of the schema. Null always has: nullable is for
// validation to judge.
func hasType(v Value, s *schema.Structural) bool {
	is := typeOf(v)
	switch {
	case is == "null":
		return true
	case s.XIntOrString:
		return is == "integer" || is == "string"
	case s.Type == "number":
		return is == "integer" || is == "number"
	}
	return s.Type == "" || s.Type == is
}

// typeOf returns the type of a value in the words of JSON Schema.
func typeOf(v Value) string {
	switch v := v.(type) {
	case Object:
		return "object"
	case Array:
		return "array"
	case string:
		return "string"
	case bool:
		return "boolean"
	case json.Number:
		if isInteger(v.String()) {
			return "integer"
		}
		return "number"
	}
	return "null"
}

// isInteger reports whether a number is an integer that fits int64, in whatever way it is
// written: 3.0 and 3e0 are. With a fraction or an exponent it is read as a float64.
func isInteger(text string) bool {
	if !strings.ContainsAny(text, ".eE") {
		_, err := strconv.ParseInt(text, 10, 64)
		return err == nil
	}
	f, err := strconv.ParseFloat(text, 64)
	return err == nil && f == math.Trunc(f) && -1<<63 <= f && f < 1<<63
}
