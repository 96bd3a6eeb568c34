package schema

// A hashed is a hash table from 64-bit hashes to numbers: open addressing with linear probing. It
// is emptied in constant time, and is therefore used here instead of a map. Compiling mostly looks
// up whether a schema was seen, and clearing a map that a large schema has grown takes longer than
// a small schema.
type hashed struct {
	slots []hashedSlot // a power of two; at most half of them are in use
	used  int
	now   uint32 // slots with another value are free
}

type hashedSlot struct {
	hash uint64
	time uint32
	at   int32
}

// reset empties the table.
func (t *hashed) reset() {
	t.used = 0
	if t.now++; t.now == 0 || t.slots == nil {
		t.slots, t.now = make([]hashedSlot, 64), 1
	}
}

// next returns the number of the next entry with the hash, and the probe to continue with. The
// first probe is 0. ok is false if there is no further entry.
func (t *hashed) next(hash uint64, probe int) (at int32, following int, ok bool) {
	mask := len(t.slots) - 1
	for {
		s := &t.slots[(int(hash>>32)+probe)&mask]
		probe++
		if s.time != t.now {
			return 0, probe, false
		}
		if s.hash == hash {
			return s.at, probe, true
		}
	}
}

// add adds an entry. Others may have the same hash.
func (t *hashed) add(hash uint64, at int32) {
	if t.used++; 2*t.used > len(t.slots) {
		old := t.slots
		t.slots = make([]hashedSlot, 2*len(old))
		for _, s := range old {
			if s.time == t.now {
				t.put(s)
			}
		}
	}
	t.put(hashedSlot{hash, t.now, at})
}

func (t *hashed) put(s hashedSlot) {
	mask := len(t.slots) - 1
	i := int(s.hash>>32) & mask
	for t.slots[i].time == t.now {
		i = (i + 1) & mask
	}
	t.slots[i] = s
}
