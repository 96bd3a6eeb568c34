package spec

import "github.com/espalier-dev/espalier/schema"

// dropNulls returns v without the nulls that the schema does not allow and for which it has no
// default: they are read as if the field were absent. This is what the server has done since 1.20
// (schema/defaulting/prunenulls.go: PruneNonNullableNullsWithoutDefaults). In KEP-575, example 3, a
// null stays, and is left to validation.
//
// Nothing is reported of these nulls. Whether unknown fields are preserved does not matter. A null
// stays where nothing is specified for it, and in an array, where it cannot go.
func (r Rules) dropNulls(v Value, s *schema.Structural) Value {
	if r.semantics == schema.KEP || s == nil {
		return v
	}
	switch v := v.(type) {
	case Object:
		return v.filter(func(m *Member) bool {
			child, _ := specified(s, m.Name)
			if m.Value == nil && child != nil && !child.Nullable && !r.hasDefault(child) {
				return false
			}
			m.Value = r.dropNulls(m.Value, child)
			return true
		})
	case Array:
		return v.each(func(_ int, e Value) Value { return r.dropNulls(e, items(s)) })
	}
	return v
}

// isReplaced reports whether a default takes the place of the value of a member or an element. By
// KEP-575 it never does: a default is for a field that is undefined, and null is a value. In the
// server it takes the place of a null that is not nullable (schema/defaulting/algorithm.go:
// isNonNullableNull).
func (r Rules) isReplaced(v Value, s *schema.Structural) bool {
	return r.semantics == schema.Deployed && v == nil && !s.Nullable && r.hasDefault(s)
}
