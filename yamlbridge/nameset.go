package yamlbridge

import (
	"bytes"
	"slices"

	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/steps"
)

// A nameSet has names of members that are in the output or in the side buffer, and says which are
// taken. A key that is a zero is taken if either is, or another of its name.
//
// A slot in use has the upper 31 bits of a name's hash, whether it is taken, in which buffer it is,
// and where it starts there, plus one, in 31 bits (see [Reader.isTooLong]): in open addressing with linear
// probing, where at most half of the slots are in use.
type nameSet struct {
	slots, spare []uint64
	count        int

	// Of the zeros, which are their names or stand for them: the strings, and either float.
	zero, minus, float bool
}

const (
	slotHash  = (1<<31 - 1) << 33
	slotTaken = 1 << 32
	slotSide  = 1 << 31
	slotAt    = slotSide - 1

	firstSlots = 16
)

// reset makes the set empty. Most are small, so that each starts with few slots.
func (s *nameSet) reset() {
	s.slots = slices.Grow(s.slots[:0], firstSlots)[:firstSlots]
	clear(s.slots)
	s.count = 0
	s.zero, s.minus, s.float = false, false, false
}

// enterName adds the name that starts at at, with its quotes, unless the set has it.
func (r *Reader) enterName(at int, inSide bool) *uint64 {
	s := &r.names
	if 2*s.count >= len(s.slots) {
		s.grow(&r.account)
	}
	slot, hash := r.findName(r.nameAt(at, inSide))
	if *slot == 0 {
		*slot = uint64(hash)<<32&slotHash | uint64(at+1)
		if inSide {
			*slot |= slotSide
		}
		s.count++
	}
	return slot
}

// takeName notes that a name in the output is taken; with onlyOf, if the set has it.
func (r *Reader) takeName(at int, onlyOf bool) {
	name := r.nameAt(at, false)
	if zero, minus, float := zeroOf(name); zero || minus {
		s := &r.names
		s.zero, s.minus, s.float = s.zero || zero, s.minus || minus, s.float || float
		return
	}
	var slot *uint64
	if onlyOf {
		if slot, _ = r.findName(name); *slot == 0 {
			return
		}
	} else {
		slot = r.enterName(at, false)
	}
	*slot |= slotTaken
}

// isTaken reports whether a name, with its quotes, is.
func (r *Reader) isTaken(name []byte) bool {
	if zero, minus, float := zeroOf(name); zero || minus {
		s := &r.names
		return zero && s.zero || minus && s.minus || float && s.float
	}
	slot, _ := r.findName(name)
	return *slot&slotTaken != 0
}

// zeroOf says whether a name is "0" or "-0", or stands for one of these as a float.
func zeroOf(name []byte) (zero, minus, float bool) {
	switch string(name) {
	case `"0"`:
		return true, false, false
	case `"-0"`:
		return false, true, false
	case `"` + plusZero + `"`:
		return true, false, true
	case `"` + minusZero + `"`:
		return false, true, true
	}
	return false, false, false
}

// nameAt returns the name that starts at at, with its quotes.
func (r *Reader) nameAt(at int, inSide bool) []byte {
	json := r.side
	if !inSide {
		json = r.out[r.base:]
	}
	return json[at:skipJSON(json, at)]
}

// findName returns the slot of a name, which may be empty, and the name's hash. Names are the same if their JSON
// is: appendContent and what passes for it have one way to write each character.
func (r *Reader) findName(name []byte) (slot *uint64, hash uint32) {
	s := &r.names
	hash = r.byName.hash(name)
	mask := len(s.slots) - 1
	for at := int(hash>>1) & mask; ; at = (at + 1) & mask {
		steps.Add(1)
		slot := &s.slots[at]
		if *slot == 0 {
			return slot, hash
		}
		if (*slot^uint64(hash)<<32)&slotHash == 0 && bytes.Equal(r.nameAt(int(*slot&slotAt)-1, *slot&slotSide != 0), name) {
			return slot, hash
		}
	}
}

// grow doubles the slots.
func (s *nameSet) grow(account *memory.Account) {
	size := 2 * len(s.slots)
	steps.Add(size)
	next := memory.Room(account, s.spare[:0], size)[:size]
	clear(next)
	for _, slot := range s.slots {
		if slot == 0 {
			continue
		}
		at := int(slot>>33) & (size - 1)
		for next[at] != 0 {
			at = (at + 1) & (size - 1)
		}
		next[at] = slot
	}
	s.slots, s.spare = next, s.slots
}
