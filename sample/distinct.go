package sample

import (
	"github.com/espalier-dev/espalier/schema"
)

// distinct knows the elements of a list in which some must differ: those of sets and of lists with
// uniqueItems by their whole value, and those of maps by their keys.
type distinct struct {
	isSet bool
	keys  []string
	item  *schema.Structural
	seen  map[string]bool
}

func (b *builder) distinct(g *goal) *distinct {
	d := &distinct{seen: make(map[string]bool), item: g.element()[0]}
	s := g.core()
	if s.XListType != nil {
		d.isSet = *s.XListType == "set"
		if *s.XListType == "map" {
			d.keys = s.XListMapKeys
		}
	}
	for _, s := range g.all {
		d.isSet = d.isSet || s.UniqueItems
	}
	return d
}

// identity returns the same texts for elements that must differ. Where all may be equal, it is
// empty.
func (d *distinct) identity(e *value) []string {
	var texts []string
	if d.isSet {
		texts = append(texts, string(canonical(e.decoded())))
	}
	if len(d.keys) > 0 {
		var keys []byte
		for _, key := range d.keys {
			if m := e.member(key); m != nil {
				keys = append(keys, canonical(m.decoded())...)
			} else if p := d.item.Properties[key]; p != nil {
				keys = append(keys, p.Default...)
			}
			keys = append(keys, ',')
		}
		texts = append(texts, "map:"+string(keys))
	}
	return texts
}

func (d *distinct) has(e *value) bool {
	for _, id := range d.identity(e) {
		if d.seen[id] {
			return true
		}
	}
	return false
}

func (d *distinct) add(e *value) {
	for _, id := range d.identity(e) {
		d.seen[id] = true
	}
}
