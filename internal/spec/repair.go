package spec

import (
	kjson "sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/schema"
)

// repairMetadata does to resources what the server does to those in defaults and in its storage
// (objectmeta.Coerce with DropInvalidFields), and to those in requests, where all fits: apiVersion
// and kind are strings or go, but at the root; and metadata takes the round trip through ObjectMeta,
// from which only comes what fits. Metadata that is no object stays, for checkTypes to refuse. By
// KEP-575 null is a value, which stays, too.
func (r Rules) repairMetadata(v Value, s *schema.Structural, isRoot bool) Value {
	if s == nil {
		return v
	}
	switch v := v.(type) {
	case Object:
		return v.filter(func(m *Member) bool {
			_, isString := m.Value.(string)
			_, isObject := m.Value.(Object)
			child, _ := specified(s, m.Name)
			switch {
			case !s.XEmbeddedResource || !isReserved(m.Name):
				m.Value = r.repairMetadata(m.Value, child, false)
			case m.Name != "metadata":
				return isString || isRoot
			case isObject || m.Value == nil && r.semantics == schema.Deployed:
				m.Value = roundTrip(m.Value)
			}
			return true
		})
	case Array:
		return v.each(func(_ int, e Value) Value { return r.repairMetadata(e, items(s), false) })
	}
	return v
}

// roundTrip returns metadata as it is after the server has read it into an ObjectMeta and written
// that (objectmeta.GetObjectMetaWithOptions with DropMalformedFields, SetObjectMeta). Where it
// does not fit as a whole, each member is tried alone.
func roundTrip(metadata Value) Value {
	var m ObjectMeta
	if fit(metadata, &m) != nil {
		m = ObjectMeta{}
		for _, member := range metadata.(Object) {
			if alone := (Object{member}); fit(alone, new(ObjectMeta)) == nil {
				_ = fit(alone, &m)
			}
		}
	}
	return mustParse(Text(m))
}

// fit reads metadata into m. Its numbers have been read before, so that 1.0 is read as 1.
func fit(metadata Value, m *ObjectMeta) error {
	return kjson.UnmarshalCaseSensitivePreserveInts(Text(readNumbers(metadata)), m)
}
