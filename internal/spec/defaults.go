package spec

import (
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/schema"
)

// insertDefaults returns v with the defaults of s for what is absent (KEP-575, proposal 2;
// schema/defaulting/algorithm.go: Default). It works from the top down (KEP-575, example 4): a
// default may have fields that are absent, too. Defaults come last in an object.
//
// Where the object is absent and has no default, nothing is inserted for its fields. The default
// of the root has no use, as a root is never absent. Nor has that of additionalProperties, unless
// it takes the place of a null.
func (r Rules) insertDefaults(v Value, s *schema.Structural) Value {
	if s == nil {
		return v
	}
	switch v := v.(type) {
	case Object:
		absent := Object{}
		for name, p := range s.Properties {
			if r.hasDefault(p) && !v.has(name) { // examples 1 to 3
				absent = append(absent, Member{name, r.defaultOf(p)})
			}
		}
		slices.SortFunc(absent, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
		all := slices.Concat(v, absent)
		for i, m := range all {
			if s.XEmbeddedResource && m.Name == "metadata" && m.Value == nil {
				continue // the server has read it as {} before it comes here
			}
			child, _ := specified(s, m.Name)
			all[i].Value = r.insertOne(m.Value, child)
		}
		return all
	case Array:
		return v.each(func(_ int, e Value) Value { return r.insertOne(e, items(s)) })
	}
	return v
}

// insertOne inserts defaults in a member or an element that is there.
func (r Rules) insertOne(v Value, s *schema.Structural) Value {
	if s != nil && r.isReplaced(v, s) {
		v = r.defaultOf(s)
	}
	return r.insertDefaults(v, s)
}

// hasDefault reports whether the schema has a default. For the server null is none.
func (r Rules) hasDefault(s *schema.Structural) bool {
	return len(s.Default) > 0 && r.defaultOf(s) != nil
}

func (r Rules) defaultOf(s *schema.Structural) Value {
	if v, ok := r.defaults[s]; ok {
		return v
	}
	return mustParse(s.Default)
}
