package yamlbridge

import (
	"bytes"
	"hash/maphash"
	"math/bits"

	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/steps"
)

// An anchorTable finds anchors by their names if there are many. It uses open addressing with
// linear probing, and at most half of the slots. The upper half of a slot in use is the hash of a
// name. Its lower half is one more than the index of the last anchor with that name. Anchors are
// entered when an alias is looked up, all new ones together, so that the processor can ask for
// several slots at a time.
type anchorTable struct {
	seed  maphash.Seed // no sender knows it
	slots []uint64
	count int // how many of the anchors are in the table
}

// hash returns the hash of a name, of an anchor or of a member in a nameSet.
func (t *anchorTable) hash(name []byte) uint32 {
	if t.seed == (maphash.Seed{}) {
		t.seed = maphash.MakeSeed()
	}
	steps.Add(len(name))
	return uint32(maphash.Bytes(t.seed, name))
}

// manyAnchors is the number of anchors from which on the table is used.
const manyAnchors = 16

// findAnchor returns the index of the last anchor with the name, or -1.
func (r *Reader) findAnchor(name []byte) int {
	if len(r.anchors) <= manyAnchors {
		for i := len(r.anchors) - 1; i >= 0; i-- {
			steps.Add(1)
			if bytes.Equal(r.anchorName(i), name) {
				return i
			}
		}
		return -1
	}
	r.enterAnchors()
	slot := r.slotOf(r.byName.hash(name), name)
	return int(uint32(*slot)) - 1
}

// anchorName returns the name of the anchor with the index i.
func (r *Reader) anchorName(i int) []byte {
	name := r.anchors[i].name
	return r.text[name.start:name.end]
}

// slotOf returns the slot of the anchors with the name, which may be empty.
func (r *Reader) slotOf(hash uint32, name []byte) *uint64 {
	slots := r.byName.slots
	mask := len(slots) - 1
	for at := int(hash) & mask; ; at = (at + 1) & mask {
		steps.Add(1)
		slot := &slots[at]
		if *slot == 0 ||
			uint32(*slot>>32) == hash && bytes.Equal(r.anchorName(int(uint32(*slot))-1), name) {
			return slot
		}
	}
}

// enterAnchors enters the anchors that are not in the table yet.
func (r *Reader) enterAnchors() {
	t := &r.byName
	if t.count == 0 || 2*len(r.anchors) > len(t.slots) {
		size := 1 << bits.Len(uint(2*len(r.anchors)))
		steps.Add(size)
		t.slots = memory.Room(&r.account, t.slots[:0], size)[:size]
		clear(t.slots)
		t.count = 0
	}
	for i := t.count; i < len(r.anchors); i++ {
		hash := r.anchors[i].hash
		*r.slotOf(hash, r.anchorName(i)) = uint64(hash)<<32 | uint64(i+1)
	}
	t.count = len(r.anchors)
}
