package decoder_test

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"math/bits"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
)

// testCollidingNames asserts that names which were made to collide in a known hash are told apart
// like others. That it takes no quadratic time is held by TestSteps of internal/adversarial.
func testCollidingNames(t *testing.T) {
	count := 50_000
	if testing.Short() {
		count /= 5
	}
	p := compile(t, openSchema)
	for hash, names := range map[string][]string{
		"FNV-1a": fnvNames(count), "CRC-32": crcNames(count), "xxh64": xxhNames(count / 10),
		"the same ends": sameEnds(count),
	} {
		for _, place := range []string{"zz", "raw"} {
			var b strings.Builder
			b.WriteString(`{"` + place + `":{`)
			first := b.Len()
			for _, name := range names {
				text, err := jsontext.AppendQuote(nil, name)
				require.NoError(t, err)
				b.Write(text)
				b.WriteString(`:1,`)
			}
			last := b.Len()
			text, _ := jsontext.AppendQuote(nil, names[0])
			doc := b.String() + `"last":1}}`
			repeated := b.String() + string(text) + `:2}}`

			d := decoder.New(p)
			out, err := d.AppendJSON(nil, []byte(doc))
			require.NoError(t, err)
			require.Zero(t, d.Findings().Count(ferrors.DuplicateField), "%s", hash)
			if place == "raw" {
				require.Equal(t, doc, string(out))
			}
			_, err = d.AppendJSON(nil, []byte(repeated))
			require.NoError(t, err)
			require.Equal(t, 1, d.Findings().Count(ferrors.DuplicateField), "%s", hash)
			f := d.Findings()[0]
			require.Equal(t, []int64{int64(first), int64(last)}, []int64{f.First.Offset, f.Position.Offset})
		}
	}
}

// sameEnds returns names of one length with the same first and last eight bytes, which are all that
// package names hashes without a seed.
func sameEnds(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("the same%06dthe same", i)
	}
	return names
}

// fnvNames returns names with one FNV-1a hash of 32 bits. Each step is a choice between two texts
// that lead from one state to the same next one (Joux, Multicollisions in Iterated Hash Functions,
// 2004).
func fnvNames(n int) []string {
	const hexDigits = "0123456789abcdef"
	names := []string{""}
	state := uint32(2166136261)
	for len(names) < n {
		seen := make(map[uint32]int, 1<<17)
		for i := 0; ; i++ {
			next := state
			for shift := 16; shift >= 0; shift -= 4 {
				next = (next ^ uint32(hexDigits[i>>shift&15])) * 16777619
			}
			if other, ok := seen[next]; ok {
				longer := make([]string, 0, 2*len(names))
				for _, name := range names {
					longer = append(longer, fmt.Sprintf("%s%05x", name, i), fmt.Sprintf("%s%05x", name, other))
				}
				names, state = longer, next
				break
			}
			seen[next] = i
		}
	}
	return oneHash(names[:n], func(name string) uint64 {
		h := fnv.New32a()
		h.Write([]byte(name))
		return uint64(h.Sum32())
	})
}

// crcNames returns names with one CRC-32. The checksum is linear: some combinations of single-bit
// changes do not change it.
func crcNames(n int) []string {
	base := strings.Repeat("a", 16)
	changed := func(mask uint64) string { // mask has the lower four bits of each letter
		name := []byte(base)
		for i := range name {
			name[i] ^= byte(mask >> (4 * i) & 15)
		}
		return string(name)
	}
	sum := func(name string) uint32 { return crc32.ChecksumIEEE([]byte(name)) }
	type row struct {
		change uint32
		mask   uint64
	}
	var pivots [32]row
	var nothing []uint64 // changes of names that keep the sum
	for i := range 64 {
		r := row{sum(changed(1<<i)) ^ sum(base), 1 << i}
		for r.change != 0 && pivots[bits.Len32(r.change)-1].change != 0 {
			p := pivots[bits.Len32(r.change)-1]
			r = row{r.change ^ p.change, r.mask ^ p.mask}
		}
		if r.change == 0 {
			nothing = append(nothing, r.mask)
		} else {
			pivots[bits.Len32(r.change)-1] = r
		}
	}
	names := make([]string, n)
	for i := range names {
		mask := uint64(0)
		for bit, change := range nothing {
			if i>>bit&1 != 0 {
				mask ^= change
			}
		}
		names[i] = changed(mask)
	}
	return oneHash(names, func(name string) uint64 { return uint64(sum(name)) })
}

// xxhNames returns names of 16 bytes with one xxh64 of seed 0. Its steps can be undone: for any
// first half there is a second half that leads to a given state.
func xxhNames(n int) []string {
	const (
		prime1 = 0x9e3779b185ebca87
		prime2 = 0xc2b2ae3d27d4eb4f
		prime4 = 0x85ebca77c2b2ae63
		prime5 = 0x27d4eb2f165667c5
	)
	round := func(lane uint64) uint64 { return bits.RotateLeft64(lane*prime2, 31) * prime1 }
	step := func(h, lane uint64) uint64 { return bits.RotateLeft64(h^round(lane), 27)*prime1 + prime4 }
	inverse := func(x uint64) uint64 { // the inverse modulo 2^64
		y := x
		for range 6 {
			y *= 2 - x*y
		}
		return y
	}
	undo1, undo2 := inverse(prime1), inverse(prime2)
	const start = prime5 + 16
	const target = 0x0123456789abcdef // the state before the final mix
	var names []string
	for i := uint64(0); len(names) < n; i++ {
		first := binary.LittleEndian.Uint64(fmt.Appendf(nil, "%08x", i))
		second := bits.RotateLeft64((step(start, first)^target)*undo1, -31) * undo2
		if second&0x8080808080808080 == 0 { // the half is ASCII
			name := binary.LittleEndian.AppendUint64(nil, first)
			names = append(names, string(binary.LittleEndian.AppendUint64(name, second)))
		}
	}
	return oneHash(names, func(name string) uint64 { // without the final mix
		text := []byte(name)
		return step(step(start, binary.LittleEndian.Uint64(text)), binary.LittleEndian.Uint64(text[8:]))
	})
}

// oneHash returns the names if they have one hash, and panics otherwise.
func oneHash(names []string, hash func(string) uint64) []string {
	for _, name := range names {
		if hash(name) != hash(names[0]) {
			panic(fmt.Sprintf("%q and %q have different hashes", name, names[0]))
		}
	}
	return names
}
