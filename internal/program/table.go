package program

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
)

// A table finds a field by its name. It uses open addressing with linear probing, and a hash of the
// length of the name and its first and last eight bytes. A slot has some bits of the hash, so that
// a name is rarely compared with another field than its own. Nodes with few fields have no table.
//
// The table is made from the schema alone, and is at most half full: no document can make a lookup
// longer than the longest run of used slots. If the names of a schema agree in the hashed bytes, so
// that a run would be long, the table uses a hash of all bytes.
type table struct {
	slots []uint32 // the upper bits of the hash, and the index of a field plus one
	shift uint8
	whole bool // all bytes are hashed
}

// longestRun is how many used slots may follow each other if not all bytes are hashed.
const longestRun = 16

// seed is for hashes of all bytes.
var seed = maphash.MakeSeed()

// indexBits is how many lower bits of a slot have the index.
const indexBits = 20

// maxLinear is how many fields a node may have without a table.
const maxLinear = 4

// Find returns the field with the name, or nil.
func (n *Node) Find(name []byte) *Field {
	t := &n.table
	if len(t.slots) == 0 {
		for i := range n.Fields {
			if f := &n.Fields[i]; f.is(name) {
				return f
			}
		}
		return nil
	}
	h := t.hash(name)
	tag := uint32(h) &^ (1<<indexBits - 1)
	for at := h >> t.shift; ; at++ {
		s := t.slots[at&uint64(len(t.slots)-1)]
		if s == 0 {
			return nil
		}
		if s&^(1<<indexBits-1) == tag {
			if f := &n.Fields[s&(1<<indexBits-1)-1]; f.is(name) {
				return f
			}
		}
	}
}

func (t *table) hash(name []byte) uint64 {
	if t.whole {
		return maphash.Bytes(seed, name)
	}
	return hashName(name)
}

// hashName hashes the length, and the first and last eight bytes.
func hashName[S string | []byte](name S) uint64 {
	var first, last uint64
	n := len(name)
	switch {
	case n >= 8:
		first = binary.LittleEndian.Uint64([]byte(name[:8]))
		last = binary.LittleEndian.Uint64([]byte(name[n-8:]))
	case n >= 4:
		first = uint64(binary.LittleEndian.Uint32([]byte(name[:4])))
		last = uint64(binary.LittleEndian.Uint32([]byte(name[n-4:])))
	case n > 0:
		first = uint64(name[0]) | uint64(name[n/2])<<8 | uint64(name[n-1])<<16
	}
	h := (first ^ bits.RotateLeft64(last, 29) ^ uint64(n)<<57) * 0x9fb21c651e98df25
	return (h ^ h>>32) * 0xd6e8feb86659fd93
}

// build makes the table of the fields, in slots taken from room. It returns the rest of the room.
func (t *table) build(fields []Field, room []uint32) []uint32 {
	if len(fields) <= maxLinear {
		return room
	}
	size := 1 << bits.Len(uint(2*len(fields)-1))
	if len(room) < size {
		room = make([]uint32, max(size, 1024))
	}
	t.slots, room = room[:size:size], room[size:]
	t.shift = uint8(64 - bits.Len(uint(size-1)))
	if !t.fill(fields) {
		clear(t.slots)
		t.whole = true
		t.fill(fields)
	}
	return room
}

// fill enters the fields into the slots. If that makes a long run that another hash may avoid, it
// stops and reports false.
func (t *table) fill(fields []Field) bool {
	for i := range fields {
		var h uint64
		if t.whole {
			h = maphash.String(seed, fields[i].Name())
		} else {
			h = hashName(fields[i].Name())
		}
		at, run := h>>t.shift, 0
		for t.slots[at] != 0 {
			at = (at + 1) & uint64(len(t.slots)-1)
			if run++; run > longestRun && !t.whole {
				return false
			}
		}
		t.slots[at] = uint32(h)&^(1<<indexBits-1) | uint32(i+1)
	}
	return true
}
