package sample

import (
	"slices"

	"github.com/espalier-dev/espalier/schema"
)

// odd makes a value that need not have anything to do with its schema.
func (b *builder) odd(s *schema.Structural) *value {
	if s.Nullable || b.in(2) {
		return null()
	}
	return b.any(3)
}

// any makes any value of at most the depth.
func (b *builder) any(depth int) *value {
	b.size++
	kinds := 8
	if depth == 0 || b.size > maxSize {
		kinds = 6
	}
	switch b.below(kinds) {
	case 1:
		return boolean(b.in(2))
	case 2:
		return text(b.words(0, 40))
	case 3:
		return number(one(&b.choices, "0", "1", "-1", "7", "123456", "-9223372036854775808", "9223372036854775807"))
	case 4:
		return number(one(&b.choices, "1.5", "-0.25", "1e3", "2E-2", "0.0", "9007199254740993", "18446744073709551616"))
	case 6:
		v := array()
		for range b.below(4) {
			v.members = append(v.members, member{value: b.any(depth - 1)})
		}
		return v
	case 7:
		v := object()
		for i := range b.below(4) {
			v.members = append(v.members, member{b.mapKey(i), b.any(depth - 1)})
		}
		return v
	}
	return null()
}

// disorder adds mistakes to an object: unknown, misspelled and repeated names, in any order.
func (b *builder) disorder(v *value, g *goal) {
	known := g.names()
	for b.in(4) && b.size < maxSize {
		name := b.unknownName(known)
		v.members = append(v.members, member{name, b.strange(g.member(name))})
	}
	for len(v.members) > 0 && b.in(8) {
		again := v.members[b.below(len(v.members))]
		again.value = one(&b.choices, again.value.clone(), null(), b.strange(g.member(again.name)))
		v.members = append(v.members, again)
	}
	if b.in(2) {
		b.shuffle(v.members)
	}
}

// strange makes a value for a member whose name is not declared, or repeats.
func (b *builder) strange(given []*schema.Structural) *value {
	if len(b.open) < maxDepth && b.in(2) {
		return b.value(given)
	}
	return b.any(3)
}

// unknownName returns a name that is not declared, as a rule: one of another place, or a misspelled
// one.
func (b *builder) unknownName(known []string) string {
	if len(known) > 0 && b.in(3) {
		name := known[b.below(len(known))]
		return one(&b.choices, name+"s", name+"X", name+" ", name+".a", name[:len(name)/2], name)
	}
	if b.in(4) && len(b.fieldNames) > 0 {
		return b.fieldNames[b.below(len(b.fieldNames))]
	}
	return one(&b.choices, "x", "unknown", "unknown-and-longer-than-sixteen-bytes", "exactly-16-bytes", "metadata", "kind", "apiVersion", "name", "spec",
		"status", "labels", "items", "", "é", "🌳", "a.b", "[0]", " ", "q\"t", "back\\slash", "line\nbreak", "\u202e", "nul\x00", "*")
}

func (b *builder) shuffle(members []member) {
	for i := range slices.Backward(members) {
		j := b.below(i + 1)
		members[i], members[j] = members[j], members[i]
	}
}
