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

// TestNamesOfKernel asserts that a name has the same tag whoever makes it: a kernel, or the portable
// code that notes the other names of its object.
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

// TestBatchPlaces says up to where a batch of the names in an object gets, up to ^: before a name of which nothing is known, and
// before what closes an object with two names of one tag, or with many that may be, or one that was open before.
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
		`"a":{"first":1` + members(names.MaxPairwise-1) + `},"b":1^`, // some have a bit in common
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
