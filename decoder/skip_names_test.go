//go:build amd64 && !purego

package decoder

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/kernel"
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
		names := tokens.Names(b, count, slashes)
		require.Len(t, names, 1)
		from, size, tag := names[0].Split()
		require.Equal(t, text, string(b[from:from+size]))
		require.Equal(t, tagOf([]byte(text)), tag, text)
	}
}

// TestSketch has objects of all sizes, some with a name that stands twice, after names of which some kernels
// know nothing, within one stretch and across several.
func TestSketch(t *testing.T) {
	needKernels(t)
	subjects := newSkimSubjects(t)
	for _, members := range []int{0, 1, 5, 31, 32, 70} {
		for _, twice := range []string{"", `,"n0":1`, `,"n\u0030" : 1`, `,"" :1,"":2`} {
			var b strings.Builder
			for i := range members {
				fmt.Fprintf(&b, `"n%d":{"a":%d,"b":{}},`, i, i)
			}
			object := `{` + b.String() + `"last":[]` + twice + `}`
			for _, text := range []string{object, `[` + object + `,` + object + `]`, `{"a":` + object + `,"b" :{"c":` + object + `}}`} {
				for i := range subjects {
					subjects[i].check(t, text, 100)
				}
			}
		}
	}
}

// TestSketchPlaces says up to where a sketch of the names in an object gets, up to ^: before a name of which nothing is known, and
// before what closes an object with two names of one tag, or with many that may be, or one that was open before.
func TestSketchPlaces(t *testing.T) {
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
		`"a":{"first":1` + members(maxPairwise-1) + `},"b":1^`, // some have a bit in common
		`"a":{"first":1` + members(maxPairwise) + `^},"b":1`, `"a":1` + members(maxPairwise) + `,"b":2^`, `"a":{"b":{"member":1,"member":2^}}`,
	} {
		for shift := range 64 {
			before, after, _ := strings.Cut(skimPrefix('{', shift)+text, "^")
			b := []byte(before + after + strings.Repeat(" ", 16))
			c := &stretch{Tokens: new(kernel.Tokens), b: b}
			c.count, c.size, c.slashes = c.Find(b, 2)
			s := new(sketch)
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
