package program

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
)

// A table finds a field by its name: a perfect hash, by hash and displace, over
// the length of the name and its first and last eight bytes. A lookup hashes a
// few bytes and compares at most the fields of one slot; a slot has more than
// one only where the schema has names that agree in all of these, so that no
// input can make lookups slow.
type table struct {
	displace []uint16 // by the low bits of the hash
	slots    []*Field // by the high bits and the displacement
	shift    uint
}

func (t *table) find(name []byte) *Field {
	if len(t.slots) == 0 {
		return nil
	}
	h := hashName(name)
	f := t.slots[t.slot(h, t.displace[h&uint64(len(t.displace)-1)])]
	for ; f != nil; f = f.next {
		if string(name) == f.Name {
			return f
		}
	}
	return nil
}

func (t *table) slot(h uint64, d uint16) uint64 {
	return ((h ^ uint64(d)*0x9e3779b97f4a7c15) * 0xd6e8feb86659fd93) >> t.shift
}

// hashName hashes the length, the first and the last eight bytes.
func hashName(name []byte) uint64 {
	var first, last uint64
	n := len(name)
	switch {
	case n >= 8:
		first = binary.LittleEndian.Uint64(name)
		last = binary.LittleEndian.Uint64(name[n-8:])
	case n >= 4:
		first = uint64(binary.LittleEndian.Uint32(name))
		last = uint64(binary.LittleEndian.Uint32(name[n-4:]))
	case n > 0:
		first = uint64(name[0]) | uint64(name[n/2])<<8 | uint64(name[n-1])<<16
	}
	h := (first ^ bits.RotateLeft64(last, 29) ^ uint64(n)<<57) * 0x9fb21c651e98df25
	return h ^ h>>32
}

func (t *table) build(fields []Field) {
	if len(fields) == 0 {
		return
	}
	// Fields with the same hash share a slot, whatever is displaced.
	slots := 1 << bits.Len(uint(2*len(fields)-1))
	t.displace = make([]uint16, max(1, slots/4))
	buckets := make([][]*Field, len(t.displace))
	heads := make(map[uint64]*Field, len(fields))
	for i := range fields {
		f := &fields[i]
		h := hashName([]byte(f.Name))
		if head := heads[h]; head != nil {
			f.next, head.next = head.next, f
			continue
		}
		heads[h] = f
		at := h & uint64(len(t.displace)-1)
		buckets[at] = append(buckets[at], f)
	}
	// Large buckets first, while there is room. Half of the slots are free, so
	// that more of them are hardly ever needed.
	order := make([]int, len(buckets))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(buckets[b]), len(buckets[a])) })
	for !t.fill(slots, order, buckets) {
		slots *= 2
	}
}

func (t *table) fill(slots int, order []int, buckets [][]*Field) bool {
	t.shift = uint(64 - bits.Len(uint(slots-1)))
	t.slots = make([]*Field, slots)
	for _, at := range order {
		if !t.place(at, buckets[at]) {
			return false
		}
	}
	return true
}

// place finds a displacement that puts each field of a bucket into a free slot.
func (t *table) place(at int, bucket []*Field) bool {
	if len(bucket) == 0 {
		return true
	}
	for d := range 1 << 16 {
		if t.try(uint16(d), bucket) {
			t.displace[at] = uint16(d)
			return true
		}
	}
	return false
}

func (t *table) try(d uint16, bucket []*Field) bool {
	for i, f := range bucket {
		s := t.slot(hashName([]byte(f.Name)), d)
		if t.slots[s] != nil {
			for _, g := range bucket[:i] {
				t.slots[t.slot(hashName([]byte(g.Name)), d)] = nil
			}
			return false
		}
		t.slots[s] = f
	}
	return true
}
