package schema

// MergePatch returns the schema by which merge patches (RFC 7386) for objects of s are decoded: nothing is
// defaulted, and every field may be null, as that removes it. What a merge patch has that s does not declare
// is unknown in the patched object, too. s is not changed, and may hold itself; of nil it is nil.
func (s *Structural) MergePatch() *Structural { return mergePatches{}.of(s) }

// mergePatches are those that were made so far, or are on the way, by what they are made of.
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
