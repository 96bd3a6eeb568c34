//go:build !purego

package values

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLongStrings has strings and names of about the length from which each is allocated by itself.
func TestLongStrings(t *testing.T) {
	m, root := makerFor(t, anything, nameBytes)
	const count = 20
	for n := longLength - 3; n <= longLength+3; n++ {
		x := strings.Repeat("x", n)
		for _, c := range []struct{ raw, says string }{{x, x}, {x[2:] + `\n`, x[2:] + "\n"}, {`\u00e9` + x[6:], "é" + x[6:]}, {`\\` + x[2:], `\` + x[2:]}} {
			doc := padded("[" + strings.Repeat(`"`+c.raw+`",`, count) + `{"` + c.raw + `":true}]`)
			var v any
			decode := func() { v, _ = m.Make(doc, root) }
			decode()
			list := v.([]any)
			for _, s := range list[:count] {
				require.Equal(t, c.says, s)
			}
			require.Equal(t, map[string]any{c.says: true}, list[count])
			single := 0
			if len(c.raw) >= longLength {
				single += count
			}
			if len(c.says) >= longLength {
				single += count // the interface value
			}
			assert.InDelta(t, single, testing.AllocsPerRun(10, decode), count/2, "%d bytes for %d", len(c.raw), len(c.says))
		}
	}
}

// TestAllocations asserts that the content of a chunk costs no more than one string.
func TestAllocations(t *testing.T) {
	m, root := makerFor(t, anything, nameBytes)
	allocations := func(doc string) float64 {
		src := padded(doc)
		return testing.AllocsPerRun(10, func() { m.Make(src, root) })
	}
	one := allocations(`["ab"]`)
	for _, doc := range []string{`["ab","c"]`, `["","a","bc",""]`, `["ab","\u0062","c"]`, "[" + strings.Repeat(`"abc",`, boxChunk-1) + `"d"]`} {
		assert.InDelta(t, one, allocations(doc), 0.1, doc)
	}
	assert.InDelta(t, allocations(`[256]`), allocations(`[256,1.5,-1]`), 0.1)
}
