package spec

import (
	"reflect"
	"slices"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// pruneMetadata prunes the metadata of resources, at the root and wherever
// x-kubernetes-embedded-resource is: "metav1.ObjectMeta is always pruned" (KEP-2332, proposal 4,
// examples 10 and 11; schema/objectmeta/algorithm.go: coerce). What the schema says about
// metadata does not matter, nor whether unknown fields are preserved around it (KEP-2332,
// exception 2).
//
// The walk goes where something is specified, and no further: what looks like a resource in
// preserved JSON is none.
func (r Rules) pruneMetadata(v Value, s *schema.Structural, at *place, f *findings) Value {
	if s == nil {
		return v
	}
	switch v := v.(type) {
	case Object:
		all := slices.Clone(v)
		for i, m := range all {
			child, _ := specified(s, m.Name)
			here := at.field(m.Name)
			switch {
			case !s.XEmbeddedResource || m.Name != "metadata":
				_, isProperty := s.Properties[m.Name]
				here.isKey = !isProperty || m.Name == "" // as a field.Path has it
				all[i].Value = r.pruneMetadata(m.Value, child, here, f)
			case at == nil:
				all[i].Value = pruneStruct(m.Value, objectMeta, here, &f.inMetadata)
			default:
				all[i].Value = pruneStruct(m.Value, objectMeta, here, &f.inEmbedded)
			}
		}
		return all
	case Array:
		return v.each(func(i int, e Value) Value {
			return r.pruneMetadata(e, items(s), at.element(i), f)
		})
	}
	return v
}

// pruneStruct returns v without the names that a value of the Go type t has no field for. A value
// of another type than t is for checkGoType.
func pruneStruct(v Value, t reflect.Type, at *place, unknown *group) Value {
	switch v := v.(type) {
	case Object:
		return v.filter(func(m *Member) bool {
			here := at.field(m.Name)
			member, ok := memberType(t, m.Name)
			if !ok {
				unknown.add(errors.UnknownField, here)
				return false
			}
			m.Value = pruneStruct(m.Value, member, here, unknown)
			return true
		})
	case Array:
		return v.each(func(i int, e Value) Value {
			return pruneStruct(e, elementType(t), at.element(i), unknown)
		})
	}
	return v
}

// goTypes are the types of JSON that are read into Go values.
var goTypes = map[reflect.Kind]string{
	reflect.String: "string", reflect.Int64: "integer", reflect.Bool: "boolean",
	reflect.Struct: "object", reflect.Map: "object", reflect.Slice: "array",
}

// checkGoType finds values in metadata that do not fit the Go type t. A null fits everywhere. As
// sent, any string is a time: nobody reads it.
func (r Rules) checkGoType(v Value, t reflect.Type, at *place, f *findings) {
	_, isString := v.(string)
	switch {
	case v == nil || t == rawType:
		return
	case isString && t == timeType:
		if r.mode != AsSent && new(Time).UnmarshalJSON(Text(v)) != nil {
			f.noTimes.add(errors.TypeMismatch, at)
		}
		return
	case t == timeType || typeOf(v) != goTypes[t.Kind()]:
		f.mismatches.add(errors.TypeMismatch, at)
		return
	}
	switch v := v.(type) {
	case Object:
		for _, m := range v {
			member, _ := memberType(t, m.Name)
			r.checkGoType(m.Value, member, at.field(m.Name), f)
		}
	case Array:
		for i, e := range v {
			r.checkGoType(e, elementType(t), at.element(i), f)
		}
	}
}
