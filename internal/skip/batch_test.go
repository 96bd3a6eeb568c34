//go:build amd64 && !purego

package skip

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/kernel"
	"github.com/espalier-dev/espalier/internal/names"
)

// TestNamesOfKernel asserts that a name has the same tag whether a kernel makes it or the portable
// code, which records other names of the same object.
func TestNamesOfKernel(t *testing.T) {
	needKernels(t)
	var tokens kernel.Tokens
	for n := 1; n < 100; n++ {
		text := strings.Repeat("apiVersion", 10)[:n]
		b := []byte(`{"` + text + `":"` + strings.Repeat(" ", 8) + `"}`)
		count, _, slashes := tokens.Find(b, 1)
		found := tokens.Names(b, count, slashes)
		require.Len(t, found, 1)
		from, size, tag := found[0].Split()
		require.Equal(t, text, string(b[from:from+size]))
		require.Equal(t, names.TagOf([]byte(text)), tag, text)
	}
}

// TestBatchPlaces asserts that a batch takes the names up to the ^. It stops before a name of which
// a kernel knows nothing. It also stops before the end of an object with two names of one tag, with
// many that may have one, or that was open before.
func TestBatchPlaces(t *testing.T) {
	needKernels(t)
	members := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"name%d":%d`, i, i)
		}
		return b.String()
	}
	for _, text := range []string{
		`"a":1,"b":{"c":2,"d":{}},"e":[{"f":3},{"f":4}],"g":{"h":{"i":5^`, `"a":{"b":1},"c":2^}`, `"a":1,"b":{"c":2},^"d" :3,`, `"a":{^"":1},`,
		`"a":{"member":1,"next":2,"member":3^},"b":4,`, `"a":{"member":1,"next":2},"member":{"member":3},"b":4^`,
		`"a":{"first":1` + members(names.MaxPairwise-1) + `},"b":1^`, // some share a bit
		`"a":{"first":1` + members(names.MaxPairwise) + `^},"b":1`, `"a":1` + members(names.MaxPairwise) + `,"b":2^`, `"a":{"b":{"member":1,"member":2^}}`,
	} {
		for shift := range 64 {
			before, after, _ := strings.Cut(tokenPrefix('{', shift)+text, "^")
			b := []byte(before + after + strings.Repeat(" ", 16))
			c := &block{Tokens: new(kernel.Tokens), b: b}
			c.count, c.size, c.slashes = c.Find(b, 2)
			s := new(batch)
			s.found = append(s.found, c.Names(b, c.count, c.slashes)...)
			stopped := s.track(c, 0, c.count)
			end := len(b) - 16
			if stopped < c.count {
				end = c.Pos(stopped)
			}
			require.Equal(t, before, string(b[:end]), "%d %s", shift, text)
			require.Equal(t, strings.Count(before, "{")-strings.Count(before, "}"), s.depth)
			require.Equal(t, strings.Count(before, `":`), s.next, text)
		}
	}
}
