package yamlbridge

import (
	"bytes"
	"slices"

	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/steps"
)

// A nameSet has names of members in the output or in the side buffer, and says which are taken. A
// key that is a zero is taken if either zero is, or another key with its name.
//
// A slot in use has the upper 31 bits of a name's hash, a bit that says whether the name is taken,
// a bit for its buffer, and, in 31 bits, one more than its start there (see [Reader.isTooLong]).
// The set uses open addressing with linear probing, and at most half of the slots.
type nameSet struct {
	slots, spare []uint64
	count        int

	// The zeros that are taken: the name "0", the name "-0", and a float with either name.
	zero, minus, float bool
}

const (
	slotHash  = (1<<31 - 1) << 33
	slotTaken = 1 << 32
	slotSide  = 1 << 31
	slotAt    = slotSide - 1

	firstSlots = 16
)

// reset empties the set. Most sets are small, and so each starts with few slots.
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

// takeName marks a name in the output as taken. If onlyOf is set, it does so only if the set has
// it.
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

// isTaken reports whether a name, with its quotes, is taken.
func (r *Reader) isTaken(name []byte) bool {
	if zero, minus, float := zeroOf(name); zero || minus {
		s := &r.names
		return zero && s.zero || minus && s.minus || float && s.float
	}
	slot, _ := r.findName(name)
	return *slot&slotTaken != 0
}

// zeroOf reports whether a name is "0" or "-0", or the placeholder for one of these as a float.
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

// findName returns the slot of a name, which may be empty, and the hash of the name. Names are
// equal if their JSON is: there is one way to write each character.
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
		if (*slot^uint64(hash)<<32)&slotHash == 0 &&
			bytes.Equal(r.nameAt(int(*slot&slotAt)-1, *slot&slotSide != 0), name) {
			return slot, hash
		}
	}
}

// grow doubles the number of slots.
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
