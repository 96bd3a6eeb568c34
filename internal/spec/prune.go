package spec

import "github.com/espalier-dev/espalier/schema"

// prune returns v without the fields that are not specified by s, which is nil where nothing is
// (KEP-2332, proposal 2; schema/pruning/algorithm.go). isExcluded says that v is below
// x-kubernetes-preserve-unknown-fields and pruning has not started again (KEP-2332, Excluding
// values from Pruning).
//
// The type of s does not matter: an object where the schema says integer is pruned as well, by
// the properties that the schema does not have.
func (r Rules) prune(v Value, s *schema.Structural, isExcluded bool, at place, f *findings) Value {
	switch {
	case s == nil && isExcluded:
		return v // example 6
	case s == nil:
		s = &schema.Structural{} // example 1
	}
	isExcluded = isExcluded || preserves(s)

	switch v := v.(type) {
	case Object:
		left := Object{}
		for _, m := range v {
			here := at.field(m.Name)
			child, ok := specified(s, m.Name)
			switch {
			case s.XEmbeddedResource && isReserved(m.Name):
				// Proposal 4, and example 10. pruneMetadata looks into metadata.
			case ok:
				m.Value = r.prune(m.Value, child, isExcluded && !r.restarts(child), here, f)
			case isExcluded:
			default:
				f.unknown(here)
				continue
			}
			left = append(left, m)
		}
		return left
	case Array:
		all := Array{}
		isExcluded = isExcluded && !r.restartsInArray(items(s))
		for i, e := range v {
			all = append(all, r.prune(e, items(s), isExcluded, at.element(i), f))
		}
		return all
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
// KEP-2332 has it start again "if Y is specified by properties". In examples 7 and 9 it does not,
// though Y is a property, or is specified by additionalProperties; in example 8 it does, as Y has
// properties of its own. The server starts again in each member that is specified (skipPrune), so
// that it loses the "abc" of examples 7 and 9.
func (r Rules) restarts(s *schema.Structural) bool {
	return r.semantics == schema.Deployed || s != nil && len(s.Properties) > 0
}

// restartsInArray is restarts for the elements of an array, which have no names: the server goes on
// with skipPrune.
func (r Rules) restartsInArray(s *schema.Structural) bool {
	return r.semantics == schema.KEP && r.restarts(s)
}
