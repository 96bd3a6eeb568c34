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
