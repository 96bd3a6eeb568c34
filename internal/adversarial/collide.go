package adversarial

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/bits"
	"strings"
	"sync"

	"github.com/espalier-dev/espalier/internal/jsonwire"
)

// collisions returns families of names that have one hash, for hash functions without a seed.
func collisions() []Family {
	var list []Family
	add := func(hash string, names func() func(i int) string) {
		names = sync.OnceValue(names)
		member := func(i int) string { return string(append(jsonwire.AppendQuoted(nil, names()(i)), `:"",`...)) }
		list = append(list,
			Family{Name: "names with one hash, " + hash, Make: fill(`{"map":{`, `"":""}}`, member)},
			Family{Name: "small objects of names with one hash, " + hash, Make: fill(`{"zz":[{`, `"":""}]}`, func(i int) string {
				if i%32 == 31 {
					return `"":""},{`
				}
				return member(i)
			})})
	}
	add("FNV-1a", fnvNames)
	add("xxh64", xxhNames)
	add("CRC-32", func() func(int) string { return crcNames(crc32.IEEE) })
	add("CRC-32C", func() func(int) string { return crcNames(crc32.Castagnoli) })
	// Packages decoder and program hash the length and the first and last eight bytes.
	add("the same ends", func() func(int) string {
		return func(i int) string { return fmt.Sprintf("the same%06dthe same", i) }
	})
	return list
}

const (
	fnvBasis = 0xcbf29ce484222325
	fnvPrime = 0x100000001b3
	fnvMask  = 1<<24 - 1
)

func fnv(h uint64, text string) uint64 {
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * fnvPrime
	}
	return h
}

// fnvNames returns names whose 64-bit FNV-1a hashes have the same lower 24 bits. Tables of so many
// names look at fewer bits, and the lower bits depend on no higher ones. Each step is a choice
// between two texts that lead from one state to the same next one, so n steps make 2^n names (Joux,
// "Multicollisions in iterated hash functions", 2004).
func fnvNames() func(i int) string {
	const steps = 17
	var choices [steps][2]string
	h := uint64(fnvBasis)
	for step := range choices {
		seen := make(map[uint64]string)
		for i := 0; ; i++ {
			text := fmt.Sprintf("%04x", i)
			next := fnv(h, text)
			if other, ok := seen[next&fnvMask]; ok {
				choices[step], h = [2]string{other, text}, next
				break
			}
			seen[next&fnvMask] = text
		}
	}
	return func(i int) string {
		var b strings.Builder
		for step := range choices {
			b.WriteString(choices[step][i>>step&1])
		}
		return b.String()
	}
}

const (
	xxhPrime1 = 0x9e3779b185ebca87
	xxhPrime2 = 0xc2b2ae3d27d4eb4f
	xxhPrime4 = 0x85ebca77c2b2ae63
	xxhPrime5 = 0x27d4eb2f165667c5
)

// inverse returns the factor by which an odd number is to be multiplied to get 1.
func inverse(x uint64) uint64 {
	y := x
	for range 6 { // Newton's method: each step doubles the number of bits that are right
		y *= 2 - x*y
	}
	return y
}

// xxhNames returns names of 16 bytes with the same xxh64 of seed 0. Each step of the hash can be
// undone: for any first half there is a second half that leads to a given state.
func xxhNames() func(i int) string {
	undo1, undo2 := inverse(xxhPrime1), inverse(xxhPrime2)
	mix := func(lane uint64) uint64 { return bits.RotateLeft64(lane*xxhPrime2, 31) * xxhPrime1 }
	const target = 0x0123456789abcdef // the state before its last rotation
	start := uint64(xxhPrime5)
	start += 16
	count := uint64(0)
	var names []string
	next := func() string {
		for {
			var name [16]byte
			const letters = "abcdefghijklmnop"
			for i := range 8 {
				name[i] = letters[count>>(4*i)&15]
			}
			count++
			h := bits.RotateLeft64(start^mix(binary.LittleEndian.Uint64(name[:])), 27)*xxhPrime1 + xxhPrime4
			lane := bits.RotateLeft64((h^target)*undo1, -31) * undo2
			if lane&0x8080808080808080 == 0 { // it is ASCII
				binary.LittleEndian.PutUint64(name[8:], lane)
				return string(name[:])
			}
		}
	}
	return func(i int) string {
		for i >= len(names) {
			names = append(names, next())
		}
		return names[i]
	}
}

// crcNames returns names with the same checksum. After any text, some four bytes lead to a given
// checksum.
func crcNames(polynomial uint32) func(i int) string {
	table := crc32.MakeTable(polynomial)
	var byTop [256]byte // the index of the table's entry with a top byte
	for i, entry := range table {
		byTop[entry>>24] = byte(i)
	}
	const target = 0xcafe
	var names []string
	count := 0
	next := func() string {
		for {
			count++
			prefix := fmt.Sprintf("%07x", count)
			// Four steps back from the target tell which entries are used. Four steps forward tell
			// which bytes use them.
			var entries [4]byte
			for i, h := 3, ^uint32(target); i >= 0; i-- {
				entries[i] = byTop[h>>24]
				h = (h ^ table[entries[i]]) << 8
			}
			h := ^crc32.Checksum([]byte(prefix), table)
			var suffix [4]byte
			ascii := true
			for i, entry := range entries {
				suffix[i] = entry ^ byte(h)
				ascii = ascii && suffix[i] < 0x80
				h = h>>8 ^ table[entry]
			}
			if ascii {
				return prefix + string(suffix[:])
			}
		}
	}
	return func(i int) string {
		for i >= len(names) {
			names = append(names, next())
		}
		return names[i]
	}
}
