package schema

// MergePatch returns the schema for decoding merge patches (RFC 7386) of
// objects of s. It has no defaults, and every field may be null, because a null
// removes the field. A member of a merge patch that s does not declare is also
// unknown in the patched object. MergePatch does not change s, which may
// contain itself. The result for a nil schema is nil.
func (s *Structural) MergePatch() *Structural { return mergePatches{}.of(s) }

// mergePatches has the results that were made so far, complete or not, by their sources.
type mergePatches map[*Structural]*Structural

func (made mergePatches) of(s *Structural) *Structural {
	if s == nil || made[s] != nil {
		return made[s]
	}
	p := new(*s)
	made[s] = p
	p.Default, p.Nullable = nil, true
	if s.Properties != nil {
		p.Properties = make(map[string]*Structural, len(s.Properties))
		for name, property := range s.Properties {
			p.Properties[name] = made.of(property)
		}
	}
	if s.AdditionalProperties != nil {
		p.AdditionalProperties = new(*s.AdditionalProperties)
		p.AdditionalProperties.Schema = made.of(s.AdditionalProperties.Schema)
	}
	if s.Items != nil && s.Items.Schema != nil {
		p.Items = &SchemaOrArray{Schema: made.of(s.Items.Schema)}
	}
	return p
}
