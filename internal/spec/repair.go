package spec

import (
	"encoding/json"

	kjson "sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/schema"
)

// repairMetadata does to resources what the server does to those in defaults and in its storage
// (objectmeta.Coerce with DropInvalidFields), and to those in requests, where all fits: apiVersion
// and kind are strings or go, and metadata takes the round trip through ObjectMeta, from which only
// comes what fits. Metadata that is no object stays as it is. By KEP-575 null is a value, which
// stays, too.
func (r Rules) repairMetadata(v Value, s *schema.Structural) Value {
	if s == nil {
		return v
	}
	switch v := v.(type) {
	case Object:
		left := Object{}
		for _, m := range v {
			_, isString := m.Value.(string)
			_, isObject := m.Value.(Object)
			child, _ := specified(s, m.Name)
			switch {
			case !s.XEmbeddedResource || !isReserved(m.Name):
				m.Value = r.repairMetadata(m.Value, child)
			case m.Name != "metadata" && !isString:
				continue
			case m.Name != "metadata":
			case isObject || m.Value == nil && r.semantics == schema.Deployed:
				m.Value = roundTrip(m.Value)
			}
			left = append(left, m)
		}
		return left
	case Array:
		all := Array{}
		for _, e := range v {
			all = append(all, r.repairMetadata(e, items(s)))
		}
		return all
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
	v, err := Parse(Text(m))
	if err != nil {
		panic(err) // it was written just now
	}
	return v
}

// fit reads metadata into m. The server has numbers as int64 or float64 by then, so that 1.0 is
// read as 1.
func fit(metadata Value, m *ObjectMeta) error {
	var v any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(Text(metadata), &v); err != nil {
		return err
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return kjson.UnmarshalCaseSensitivePreserveInts(text, m)
}
