package spec

import (
	"reflect"
	"slices"

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
func (r Rules) pruneMetadata(v Value, s *schema.Structural, at place, f *findings) Value {
	if s == nil {
		return v
	}
	switch v := v.(type) {
	case Object:
		all := slices.Clone(v)
		for i, m := range all {
			if s.XEmbeddedResource && m.Name == "metadata" {
				all[i].Value = pruneStruct(m.Value, objectMeta, at.field(m.Name), at.isRoot(), f)
				continue
			}
			child, _ := specified(s, m.Name)
			here := at.key(m.Name)
			if _, ok := s.Properties[m.Name]; ok {
				here = at.declared(m.Name)
			}
			all[i].Value = r.pruneMetadata(m.Value, child, here, f)
		}
		return all
	case Array:
		all := Array{}
		for i, e := range v {
			all = append(all, r.pruneMetadata(e, items(s), at.element(i), f))
		}
		return all
	}
	return v
}

// pruneStruct returns v without the names that a value of the Go type t has no field for. A value
// of another type than t is for checkTypes.
func pruneStruct(v Value, t reflect.Type, at place, isRoot bool, f *findings) Value {
	switch v := v.(type) {
	case Object:
		left := Object{}
		for _, m := range v {
			here := at.field(m.Name)
			member, ok := memberType(t, m.Name)
			if !ok {
				f.unknownInMetadata(here, isRoot)
				continue
			}
			left = append(left, Member{m.Name, pruneStruct(m.Value, member, here, isRoot, f)})
		}
		return left
	case Array:
		all := Array{}
		for i, e := range v {
			all = append(all, pruneStruct(e, elementType(t), at.element(i), isRoot, f))
		}
		return all
	}
	return v
}
