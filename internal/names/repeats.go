package names

import (
	"bytes"
	"hash/maphash"
	"math/bits"
	"slices"

	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/steps"
)

// MaxPairwise is how many names are compared in pairs. More go through a filter
// and a table.
const MaxPairwise = 32

// hashes are what finds repetitions in objects with many names.
type hashes struct {
	seed   maphash.Seed
	filter []uint64
	shared []int32 // indices of names: of those that share a bit, then of those in the table
	few    []Name
	table  []uint32
}

func (s *Stack) equal(b []byte, x, y *Name) bool {
	steps.Add(1)
	if steps.On && x.Tag == y.Tag && x.Size == y.Size {
		steps.Add(x.Size)
	}
	return x.Tag == y.Tag && x.Size == y.Size && bytes.Equal(s.Text(b, x), s.Text(b, y))
}

// Repeats reports whether two of the names are equal.
func (s *Stack) Repeats(b []byte, names []Name) bool {
	if len(names) > MaxPairwise {
		return s.repeatsAmongMany(b, names)
	}
	for i := 1; i < len(names); i++ {
		steps.Add(i)
		for j := range i {
			if names[i].Tag == names[j].Tag && s.equal(b, &names[i], &names[j]) {
				return true
			}
		}
	}
	return false
}

// repeatsAmongMany compares only names that share a bit of the filter with
// others. The filter has 16 to 32 bits for each name. A name's bit is chosen by
// its tag. Where many tags collide, which a sender may have arranged, it is
// chosen by a hash with a secret seed, as places in the table always are.
func (s *Stack) repeatsAmongMany(b []byte, names []Name) bool {
	if s.Repeats(b, names[:4]) {
		return true // the usual attack repeats a single name
	}
	s.share(names)
	if len(s.shared) > len(names)/4 {
		for i := range names {
			s.hash(b, &names[i])
		}
		s.share(names)
	}
	if len(s.shared) == 0 {
		return false
	}
	if len(s.shared) <= len(names)/4 {
		s.few = s.few[:0]
		for _, i := range s.shared {
			s.few = append(memory.RoomForOne(s.account, s.few), names[i])
		}
		names = s.few
	}
	s.makeTable(len(names))
	for i := range names {
		s.hash(b, &names[i])
		if s.enter(b, names, i) >= 0 {
			return true
		}
	}
	return false
}

// hash replaces the tag of a name by one that no sender can foresee.
func (s *Stack) hash(b []byte, n *Name) {
	steps.Add(1 + n.Size)
	n.Tag = uint32(maphash.Bytes(s.seed, s.Text(b, n)))
}

// share finds the names that share a bit of the filter. It copies their tags,
// which it reads twice: many names do not fit into a cache. The copy uses the
// memory of the table, which is made later.
func (s *Stack) share(names []Name) {
	steps.Add(2 * len(names))
	words := 1 << bits.Len(uint(len(names)/4))
	s.filter = memory.Room(s.account, s.filter[:0], words)[:words]
	clear(s.filter)
	s.shared = s.shared[:0]
	tags := memory.Room(s.account, s.table[:0], len(names))[:len(names)]
	s.table = tags
	for i := range names {
		tag := names[i].Tag
		tags[i] = tag
		if word, bit := s.filtered(tag); *word&bit != 0 {
			s.shared = append(memory.RoomForOne(s.account, s.shared), int32(i))
		} else {
			*word |= bit
		}
	}
	if len(s.shared) == 0 {
		return
	}
	clear(s.filter)
	for _, i := range s.shared {
		word, bit := s.filtered(tags[i])
		*word |= bit
	}
	s.shared = s.shared[:0]
	for i, tag := range tags {
		if word, bit := s.filtered(tag); *word&bit != 0 {
			s.shared = append(memory.RoomForOne(s.account, s.shared), int32(i))
		}
	}
}

// filtered returns the bit of the filter for a tag, and its word.
//
//espalier:inline
func (s *Stack) filtered(tag uint32) (word *uint64, bit uint64) {
	return &s.filter[tag>>6&uint32(len(s.filter)-1)], 1 << (tag & 63)
}

// makeTable empties the table, and makes room for n names.
func (s *Stack) makeTable(n int) {
	size := 1 << bits.Len(uint(2*n))
	s.table = memory.Room(s.account, s.table[:0], size)[:size]
	steps.Add(size)
	clear(s.table)
	s.shared = s.shared[:0]
}

// enter puts a hashed name into the table, unless an equal one is there: then it
// returns the index of that one. Otherwise it returns -1. The table uses open
// addressing with linear probing, and less than half of it is in use. An entry is
// the number of a name among those that were entered, counted from 1, with as
// many of the upper bits of its hash as there is room for.
func (s *Stack) enter(b []byte, names []Name, i int) (equal int) {
	if len(s.shared)+1 >= len(s.table)/2 {
		s.growTable(names)
	}
	mask := uint32(len(s.table) - 1)
	number := mask >> 1 // no name has a larger one
	n := &names[i]
	at := n.Tag & mask
	for ; s.table[at] != 0; at = (at + 1) & mask {
		steps.Add(1)
		if x := s.table[at]; (x^n.Tag)&^number == 0 {
			if m := int(s.shared[x&number-1]); s.equal(b, n, &names[m]) {
				return m
			}
		}
	}
	s.shared = append(memory.RoomForOne(s.account, s.shared), int32(i))
	s.table[at] = n.Tag&^number | uint32(len(s.shared))
	return -1
}

// growTable doubles the table.
func (s *Stack) growTable(names []Name) {
	entered := s.shared
	s.makeTable(len(s.table))
	s.shared = entered
	mask := uint32(len(s.table) - 1)
	for k, i := range entered {
		tag := names[i].Tag
		at := tag & mask
		for ; s.table[at] != 0; at = (at + 1) & mask {
			steps.Add(1)
		}
		s.table[at] = tag&^(mask>>1) | uint32(k+1)
	}
}

// A Group is a name that an object has more than once.
type Group struct {
	First  int   // the index of the first member with the name
	Second Place // where the second one is
	Count  int   // how many there are after the first
	Last   int   // the index of the last one
}

// Collect finds all repetitions among the names from first on, for Groups and
// Name.Group. If superseded is not nil, it is called for each name that a later
// one replaces, with the indices where that name and the one after it start. Then
// no name must have left the window.
func (s *Stack) Collect(b []byte, first int, superseded func(at, next int)) {
	s.Groups = s.Groups[:0]
	names := s.Names[first:]
	many := len(names) > MaxPairwise
	if many {
		s.makeTable(MaxPairwise) // few of them may be distinct
	}
	tag := uint32(0) // of the name before
	for i := range names {
		n := &names[i]
		n.Group = 0
		var equal int // or -1
		switch {
		case i > 0 && n.Tag == tag && n.Size == names[i-1].Size &&
			bytes.Equal(s.Text(b, n), s.Text(b, &names[i-1])):
			equal = s.firstEqual(names, i-1) // senders who repeat names like one best
		case many:
			tag = n.Tag
			s.hash(b, n)
			equal = s.enter(b, names, i)
		default:
			tag = n.Tag
			equal = slices.IndexFunc(names[:i], func(m Name) bool { return s.equal(b, &m, n) })
		}
		if equal >= 0 {
			s.group(names, equal, i, superseded)
		}
	}
}

// firstEqual returns the index of the first name that is equal to the one with
// the index i.
func (s *Stack) firstEqual(names []Name, i int) int {
	if g := names[i].Group; g > 0 {
		return s.Groups[g-1].First
	}
	return i
}

// group puts the name with the index i into the group of the first name that is
// equal.
func (s *Stack) group(names []Name, first, i int, superseded func(at, next int)) {
	if names[first].Group == 0 {
		g := Group{First: first, Second: names[i].At, Last: first}
		s.Groups = append(memory.RoomForOne(s.account, s.Groups), g)
		names[first].Group = int32(len(s.Groups))
	}
	names[i].Group = names[first].Group
	g := &s.Groups[names[i].Group-1]
	g.Count++
	if superseded != nil {
		superseded(names[g.Last].At.Index(), names[g.Last+1].At.Index())
	}
	g.Last = i
}
