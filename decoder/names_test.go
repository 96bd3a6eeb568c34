package decoder

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEscapedNamesAreLetGo asserts that names with escapes take memory only while their object is
// open.
func TestEscapedNamesAreLetGo(t *testing.T) {
	object := `{"` + strings.Repeat(`\u0061`, 20) + `":1,"` + strings.Repeat(`\u0062`, 20) + `":2},`
	doc := `{"raw":[` + strings.Repeat(object, 1000) + `{}],"map":` +
		strings.Repeat(object, 1)[:len(object)-1] + `}`
	d := New(compileYAML(t, testSchema))
	_, err := d.AppendJSON(nil, []byte(doc))
	require.NoError(t, err)
	assert.Less(t, d.walker.Held(), 10_000)
}

// TestFirstDuplicatesAreKept asserts that the first duplicates in the document are kept if there
// are too many, and not those whose objects close first.
func TestFirstDuplicatesAreKept(t *testing.T) {
	doc := `{"raw":{"a":1,"b":1,"b":2,"in":{"x":1,"y":2,"y":3,"x":4},"a":2},"zz":{"c":1,"c":2}}`
	inOrder := []string{`raw.b`, `raw.in.y`, `raw.in.x`, `raw.a`, `zz.c`}
	for kept := 1; kept <= len(inOrder); kept++ {
		d := New(compileYAML(t, testSchema), Limits{Findings: kept})
		_, err := d.AppendJSON(nil, []byte(doc))
		require.NoError(t, err)
		var paths []string
		for _, f := range d.Findings() {
			if f.Kind.String() == "duplicate field" {
				paths = append(paths, f.Path.String())
			}
		}
		assert.Equal(t, inOrder[:kept], paths)
		assert.Equal(t, len(inOrder)+1-kept, d.Omitted(), "zz is unknown, too")
	}
}

// TestNamesThatHaveLeft asserts that repetitions are the same findings whether or not the names,
// and the findings about them, have left the window of a stream.
func TestNamesThatHaveLeft(t *testing.T) {
	defer SetFirstWindow(64)()
	for _, gap := range []int{0, 50, 200, 1000} {
		long := `"` + strings.Repeat("long", gap/4) + `"`
		for _, doc := range []string{
			`{"":` + long + `,"":2}`,
			`{"zz":{"":1,"b":` + long + `,"":2}}`,
			`{"zz":{"a":1,"b":` + long + `,"a":2,"c":3,"c":` + long + `,"b":4,"a":5}}`,
			`{"u":` + long + `,"v":1,"v":2,"w":` + long + `,"v":3,"u":` + long + `,"w":4,"x":5,"x":6}`,
			`{"obj":{"u":` + long + `,"v":1,"v":2},"u":1,"n":` + `2,"w":` + long + `,"u":3,"u":` + long + `,"u":5}`,
		} {
			for _, size := range []int{1, 40, 1 << 20} {
				p := compileYAML(t, testSchema)
				d := New(p)
				_, err := d.AppendJSON(nil, []byte(doc))
				require.NoError(t, err)
				stream := New(p)
				_, err = io.Copy(io.Discard, stream.NewReader(&partsReader{[]byte(doc), nil, size}))
				require.NoError(t, err, doc)
				require.Equal(t, details(d.Findings()), details(stream.Findings()), fmt.Sprint(size, doc))
			}
		}
	}
}

// TestNamesThatDifferLittle has names of all lengths around the words in which names are compared,
// and names that differ from them in one bit. The latter are unknown, whatever is predicted.
func TestNamesThatDifferLittle(t *testing.T) {
	for length := 1; length < 80; length++ {
		name := strings.Repeat("abcdefghijklmno", 6)[:length]
		p := compileYAML(t, fmt.Sprintf(`
type: object
properties: {items: {type: array, items: {type: object, properties: {%s: {type: string}}}}}
`, name))
		var doc, want strings.Builder
		doc.WriteString(`{"items":[{"` + name + `":"0"}`)
		want.WriteString(doc.String())
		for at := range length {
			for bit := range 5 { // bits of letters, which stay printable
				other := []byte(name)
				other[at] ^= 1 << bit
				if c := other[at]; c == '`' || c > 'z' {
					continue
				}
				fmt.Fprintf(&doc, `,{"%s":"1"},{"%s":"2"}`, name, other)
				fmt.Fprintf(&want, `,{"%s":"1"},{}`, name)
			}
		}
		end := `]}` + strings.Repeat(" ", 100) // far enough from the end for the simple machine
		got, err := New(p).AppendJSON(nil, []byte(doc.String()+end))
		require.NoError(t, err)
		require.Equal(t, want.String()+"]}", string(got[:len(got)-100]), "%d bytes", length)
	}
}
