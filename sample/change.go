package sample

import (
	"slices"

	"github.com/espalier-dev/espalier/schema"
)

// Changed returns an object, as JSON, that differs from old in a few places, so that the two are a
// pair of an old and a new object, as in an update. Members come, go and change, and elements move;
// apiVersion, kind, name and namespace stay. If old is valid, the new object is, too. Once in a
// while nothing changes.
//
// The error is about old where that is not JSON.
func (m *Maker) Changed(old, data []byte) ([]byte, error) {
	v, err := parse(old)
	if err != nil {
		return nil, err
	}
	b := m.builder(data)
	wasValid := m.isValid(v)
	for range 1 + b.below(4) {
		all := spots(v, []*schema.Structural{m.root})
		p := all[b.below(len(all))]
		kept := p.value.clone()
		b.change(p)
		if wasValid && !m.isValid(v) {
			*p.value = *kept
		}
	}
	return v.append(nil), nil
}

// change changes a value: a member or an element of it, or all of it.
func (b *builder) change(p spot) {
	v, s := p.value, p.given[0]
	b.open = []*schema.Structural{b.root}
	g, _ := b.resolve(p.given, 0)
	n := len(v.members)
	switch {
	case s.XEmbeddedResource && b.in(2):
		b.changeMetadata(v)
	case n > 0 && b.in(3) && !s.XEmbeddedResource:
		at := b.below(n)
		v.members = slices.Delete(v.members, at, at+1)
	case v.kind == '[' && b.in(3):
		b.shuffle(v.members)
	case v.kind == '[':
		v.members = slices.Insert(v.members, b.below(n+1), member{value: b.value(g.element())})
	case v.kind == '{':
		names := g.names()
		if s.AdditionalProperties != nil || preserves(s) {
			names = append(names, b.mapKey(n))
		}
		if len(names) == 0 {
			return
		}
		if name := names[b.below(len(names))]; !s.XEmbeddedResource || !isReserved(name) {
			v.set(name, b.value(g.member(name)))
		}
	default:
		*v = *b.value(p.given)
	}
}

// changeMetadata changes what an update may change: labels, annotations and the like.
func (b *builder) changeMetadata(resource *value) {
	if metadata := resource.member("metadata"); metadata != nil && metadata.kind == '{' {
		f := metadataFields[b.below(len(metadataFields))]
		metadata.set(f.name, f.make(b))
	}
}

// set sets the value of the last member with the name, or adds one.
func (v *value) set(name string, to *value) {
	for i, m := range slices.Backward(v.members) {
		if m.name == name {
			v.members[i].value = to
			return
		}
	}
	v.members = append(v.members, member{name, to})
}
