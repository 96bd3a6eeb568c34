package yamlbridge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// The documents of this file are so large that work which is done again, for each name, for each
// mapping or at each depth, would be many times the work for all of the rest.

// TestManyMergedNames: names of large mappings are found in a table.
func TestManyMergedNames(t *testing.T) {
	const n = 20_000
	src := "- &x {" + numbered(n, "a%d: 1, ") + "b: 1}\n- {<<: [*x, *x], " + numbered(n, "a%d: 2, ") + "c: 2}"
	want := "[{" + numbered(n, `"a%d":1,`) + `"b":1},{` + numbered(n, `"a%d":2,`) + `"c":2,"b":1}]`
	requireJSON(t, src, want)
}

// TestNestedMerges: what a mapping with a merge key has within is not read again for those around it.
func TestNestedMerges(t *testing.T) {
	const n = 9000
	src := "- &x {z: 1}\n- " + strings.Repeat("{<<: *x, b: {<<: *x}, a: ", n) + "1" + strings.Repeat("}", n)
	want := `[{"z":1},` + strings.Repeat(`{"b":{"z":1},"a":`, n) + "1" + strings.Repeat(`,"z":1}`, n) + "]"
	requireJSON(t, src, want)
}

// TestSourcesAreCharged: a list of many aliases of a mapping is refused before all its names are read,
// whatever the result is appended to.
func TestSourcesAreCharged(t *testing.T) {
	src := "- &x {" + numbered(1000, "name%d: 1, ") + "}\n- &y {z: 1}\n- {<<: [" + strings.Repeat("*x,", 5000) + "*y]}"
	for _, dst := range [][]byte{nil, make([]byte, 32<<20, 33<<20)} {
		r := yamlbridge.Reader{AliasFactor: 1}
		_, err := r.AppendJSON(dst, []byte(src))
		var limit *errors.LimitError
		require.ErrorAs(t, err, &limit)
		assert.Equal(t, errors.LimitAliasBytes, limit.Limit)
		assert.Equal(t, 1000, r.NamesKept(), "those of the first source, behind %d bytes", len(dst))
	}
}
