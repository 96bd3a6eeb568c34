package adversarial_test

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"math/bits"
	"runtime"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/internal/adversarial"
	"github.com/espalier-dev/espalier/internal/steps"
	"github.com/espalier-dev/espalier/schema"
)

func program(t testing.TB) *schema.Program {
	s, err := schema.Parse([]byte(adversarial.Schema))
	require.NoError(t, err)
	p, err := schema.Compile(s)
	require.NoError(t, err)
	return p
}

// size is the size of the documents of tests. Some families have one unit in it.
const size = 100_000

// TestFamilies asserts that documents have about the size that was asked for, and are read to their
// end.
func TestFamilies(t *testing.T) {
	p := program(t)
	names := make(map[string]bool)
	for _, f := range adversarial.Families() {
		require.False(t, names[f.Name], f.Name)
		names[f.Name] = true
		src := f.Make(size)
		require.Greater(t, len(src), size/2, f.Name)
		require.Less(t, len(src), size+100_000, f.Name)
		d := decoder.New(p)
		_, err := d.AppendJSON(nil, src)
		if f.YAML {
			_, err = d.AppendYAML(nil, src)
		}
		if !f.Fatal {
			require.NoError(t, err, f.Name)
			continue
		}
		require.Error(t, err, f.Name)
	}
	require.Greater(t, len(names), 100)
}

// TestCollisions asserts that the names of such a family are distinct and have the same hash.
func TestCollisions(t *testing.T) {
	hashes := map[string]func(name string) uint64{
		"FNV-1a": func(name string) uint64 {
			h := fnv.New64a()
			h.Write([]byte(name))
			return h.Sum64() & (1<<24 - 1)
		},
		"xxh64":  xxh64,
		"CRC-32": func(name string) uint64 { return uint64(crc32.ChecksumIEEE([]byte(name))) },
		"CRC-32C": func(name string) uint64 {
			return uint64(crc32.Checksum([]byte(name), crc32.MakeTable(crc32.Castagnoli)))
		},
		"the same ends": func(name string) uint64 { require.Regexp(t, "^the same.*the same$", name); return uint64(len(name)) },
	}
	for _, f := range adversarial.Families() {
		of, ok := strings.CutPrefix(f.Name, "names with one hash, ")
		if !ok {
			continue
		}
		var doc struct {
			Map map[string]string `json:"map"`
		}
		require.NoError(t, json.Unmarshal(f.Make(size), &doc), "no name stands twice in %s", f.Name)
		delete(doc.Map, "")
		require.Greater(t, len(doc.Map), 1000, f.Name)
		all := make(map[uint64]bool)
		for name := range doc.Map {
			all[hashes[of](name)] = true
		}
		require.Len(t, all, 1, f.Name)
		delete(hashes, of)
	}
	require.Empty(t, hashes)
}

// xxh64 is the hash of a text of less than 32 bytes, with seed 0.
func xxh64(text string) uint64 {
	const p1, p2, p3, p4, p5 = 0x9e3779b185ebca87, 0xc2b2ae3d27d4eb4f, 0x165667b19e3779f9, 0x85ebca77c2b2ae63, 0x27d4eb2f165667c5
	h := p5 + uint64(len(text))
	b := []byte(text)
	for ; len(b) >= 8; b = b[8:] {
		h = bits.RotateLeft64(h^bits.RotateLeft64(binary.LittleEndian.Uint64(b)*p2, 31)*p1, 27)*p1 + p4
	}
	for ; len(b) >= 4; b = b[4:] {
		h = bits.RotateLeft64(h^uint64(binary.LittleEndian.Uint32(b))*p1, 23)*p2 + p3
	}
	for _, c := range b {
		h = bits.RotateLeft64(h^uint64(c)*p5, 11) * p1
	}
	h = (h ^ h>>33) * p2
	h = (h ^ h>>29) * p3
	return h ^ h>>32
}

func TestXXH64(t *testing.T) {
	require.Equal(t, "ef46db3751d8e999 d24ec4f1a98c6e5b 44bc2cf5ad770999", fmt.Sprintf("%x %x %x", xxh64(""), xxh64("a"), xxh64("abc")))
}

// mostSteps is how many steps there may be for each byte that is read, written or reported.
const mostSteps = 32

// TestSteps asserts, where steps are counted, that the families cost at most mostSteps, and that
// twice the document costs twice the steps.
func TestSteps(t *testing.T) {
	if !steps.On {
		t.Skip("built without the tag steps")
	}
	p := program(t)
	for _, f := range adversarial.Families() {
		src, twice := f.Make(size), f.Make(2*size)
		for _, entry := range f.EntryPoints() {
			run := entry.Start(p)
			steps.Take()
			out, _ := run(src)
			small := float64(steps.Take()) / float64(len(src)+out)
			out, _ = run(twice)
			large := float64(steps.Take()) / float64(len(twice)+out)
			t.Logf("%.2f %.2f %s: %s", small, large, f.Name, entry.Name)
			if small > mostSteps || large > mostSteps || large > 1.4*small+1.5 {
				t.Errorf("%s, %s: %.2f steps for each byte, of twice as many %.2f", f.Name, entry.Name, small, large)
			}
		}
	}
}

// The bytes that may be allocated for each byte that is read, written or reported, beyond fewBytes:
// mostFirst by a new decoder, whose buffers grow, and mostAgain by a decoder that was used before.
const (
	fewBytes  = 16 << 10
	mostFirst = 64
	mostAgain = 8
)

// mostOf has the families and entry points that need more. A map takes some fifty bytes at least
// for each of {"":{}}. The keys that the server finds to be there already are in a map. Metadata is
// decoded to Go values and encoded again.
var mostOf = map[string]struct{ first, again int }{
	"map":                             {mostFirst, 40},
	"YAML: nested merge keys":         {80, mostAgain},
	"YAML: merge keys around anchors": {80, mostAgain},
	// The three bytes {}, take 32 in a list that doubles again and again.
	"YAML: a list to merge of mappings and aliases": {144, mostAgain},
	"YAML: a wide mapping that is merged":           {mostFirst, 16},
	"YAML: keys that are zero":                      {mostFirst, 16},
	"YAML: keys that are equal as strings":          {mostFirst, 16},
	"owners":                                        {mostFirst, 16},
}

// TestAllocations asserts that entry points allocate no more than that for documents of each
// family.
func TestAllocations(t *testing.T) {
	p := program(t)
	for _, f := range adversarial.Families() {
		src := f.Make(size)
		result := 0 // of the first entry point, as JSON
		for i, entry := range f.EntryPoints() {
			run := entry.Start(p)
			first, out := allocated(run, src)
			again, _ := allocated(run, src)
			if i == 0 {
				result = out
			}
			n := len(src) + max(result, out)
			most := mostOf[f.Name]
			if most.first == 0 {
				most = mostOf[entry.Name]
			}
			if most.first == 0 {
				most.first, most.again = mostFirst, mostAgain
			}
			t.Logf("%.1f %.1f %s: %s", float64(first-fewBytes)/float64(n), float64(again-fewBytes)/float64(n), f.Name, entry.Name)
			assert.LessOrEqual(t, first, fewBytes+most.first*n, "%s, %s, the first time", f.Name, entry.Name)
			assert.LessOrEqual(t, again, fewBytes+most.again*n, "%s, %s, again", f.Name, entry.Name)
		}
	}
}

// allocated returns how many bytes are allocated for a document, and how many run returns.
func allocated(run func([]byte) (int, error), src []byte) (n, out int) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	out, _ = run(src)
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc), out
}
