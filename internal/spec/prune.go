package spec

import (
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// prune returns v without the fields that are not specified by s, which is nil where nothing is
// (KEP-2332, proposal 2; schema/pruning/algorithm.go: prune). isExcluded says that v is below
// x-kubernetes-preserve-unknown-fields and pruning has not started again (KEP-2332, Excluding
// values from Pruning; skipPrune).
//
// The type of s does not matter: an object where the schema says integer is pruned as well, by
// the properties that the schema does not have.
func (r Rules) prune(v Value, s *schema.Structural, isExcluded bool, at *place, f *findings) Value {
	switch {
	case s == nil && isExcluded:
		return v // verbatim JSON
	case s == nil:
		s = &schema.Structural{} // example 5, in abc
	}
	isExcluded = isExcluded || preserves(s)

	switch v := v.(type) {
	case Object:
		return v.filter(func(m *Member) bool {
			here := at.field(m.Name)
			child, ok := specified(s, m.Name)
			switch {
			case s.XEmbeddedResource && isReserved(m.Name):
				// Proposal 4, examples 10 and 11. pruneMetadata looks into metadata.
			case ok: // foo in examples 2 to 5
				m.Value = r.prune(m.Value, child, isExcluded && !r.restarts(child), here, f)
			case isExcluded: // def in examples 7 to 9
			default: // json in examples 1 to 5
				f.pruned.add(errors.UnknownField, here)
				return false
			}
			return true
		})
	case Array:
		isExcluded = isExcluded && !r.restartsInArray(items(s))
		return v.each(func(i int, e Value) Value {
			return r.prune(e, items(s), isExcluded, at.element(i), f)
		})
	}
	return v
}

// preserves reports whether the schema says x-kubernetes-preserve-unknown-fields.
func preserves(s *schema.Structural) bool {
	return s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields
}

// restarts reports whether pruning, which was excluded, starts again in a member of an object that
// is specified by s.
//
// KEP-2332, exception 1, has it start again "if Y is specified by properties". In examples 7 and 9
// it does not, though Y is a property, or is specified by additionalProperties; in example 8 it
// does, as Y has properties of its own. The server starts again in each member that is specified
// (skipPrune), so that it loses the "abc" of examples 7 and 9.
func (r Rules) restarts(s *schema.Structural) bool {
	return r.semantics == schema.Deployed || s != nil && len(s.Properties) > 0
}

// restartsInArray is restarts for the elements of an array, which have no names: there the server
// goes on with skipPrune.
func (r Rules) restartsInArray(s *schema.Structural) bool {
	return r.semantics == schema.KEP && r.restarts(s)
}
