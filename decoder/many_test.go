package decoder

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// TestManyFields has more fields than a word has bits. Every other field has a default, and these
// have the lower bits.
func TestManyFields(t *testing.T) {
	const fields = 300
	var s strings.Builder
	s.WriteString("type: object\nproperties:\n")
	for i := range fields {
		fmt.Fprintf(&s, "  f%03d: {type: integer", i)
		if i%2 == 0 {
			fmt.Fprintf(&s, ", default: %d", i)
		}
		s.WriteString("}\n")
	}
	p := compileYAML(t, s.String())
	d := New(p, Compact(true))
	for _, every := range []int{1, 2, 3, 5, 7, 64, 65, 1000} { // every how many fields one is there
		var src, want []string
		for i := 0; i < fields; i += every {
			src = append(src, fmt.Sprintf(`"f%03d":1%d`, i, i))
		}
		want = append(want, src...)
		for i := 0; i < fields; i += 2 {
			if i%every != 0 {
				want = append(want, fmt.Sprintf(`"f%03d":%d`, i, i))
			}
		}
		out, err := d.AppendJSON(nil, []byte("{"+strings.Join(src, ",")+"}"))
		require.NoError(t, err)
		require.Equal(t, "{"+strings.Join(want, ",")+"}", string(out), "every %d", every)
		require.Empty(t, d.Findings())

		// Each field is repeated once and then occurs alone: names of one object are not taken for those
		// of the next.
		for i := 0; i < fields; i += every {
			name := fmt.Sprintf("f%03d", i)
			_, err = d.AppendJSON(nil, fmt.Appendf(nil, `{%s,"%s":1}`, strings.Join(src, ","), name))
			require.NoError(t, err)
			require.Len(t, d.Findings(), 1, name)
			require.Equal(t, `duplicate field "`+name+`"`, d.Findings()[0].Error())
		}
	}

	// The limit is exceeded by the first default that does not fit.
	all, err := d.AppendJSON(nil, []byte("{}"))
	require.NoError(t, err)
	size := len(all) - len("{}") + len(",")
	for _, room := range []int{size, size - 1, size / 2, 30 * len(`,"f000":1`), 1} {
		d := New(p, Limits{DefaultBytes: room})
		_, err := d.AppendJSON(nil, []byte(`{"f001":1}`))
		if room == size {
			require.NoError(t, err)
			continue
		}
		var limit *ferrors.LimitError
		require.ErrorAs(t, err, &limit)
		assert.Equal(t, ferrors.LimitDefaultBytes, limit.Limit)
	}
}

// TestManyFieldsOfMany asserts that the names of an object with many fields are forgotten when the
// object ends.
func TestManyFieldsOfMany(t *testing.T) {
	var fields strings.Builder
	for i := range 65 {
		fmt.Fprintf(&fields, "f%d: {type: integer}, ", i)
	}
	d := New(compileYAML(t, `
type: object
properties: {list: {type: array, items: {type: object, properties: {`+fields.String()+`}}}}
`))
	_, err := d.AppendJSON(nil, []byte(`{"list":[`+strings.Repeat(`{"f64":1},`, 1000)+`{}]}`))
	require.NoError(t, err)
	assert.Empty(t, d.Findings())
	assert.Less(t, d.walker.Held(), 5000, "1000 objects would need a word each")
}

// TestManyRepeatedObjects asserts that repeated objects with repeated names give one finding for
// each path, as on the server, however many there are.
func TestManyRepeatedObjects(t *testing.T) {
	d := New(compileYAML(t, testSchema), Limits{Findings: 10_000, FindingBytes: 1 << 20})
	for _, n := range []int{1, 2, 31, 33, 127, 128, 129, 400} {
		var members []string
		for i := range n {
			members = append(members, fmt.Sprintf(`"k%d":1,"k%d":2`, i, i))
		}
		object := `"raw":{` + strings.Join(members, ",") + `}`
		_, err := d.AppendJSON(nil, []byte("{"+object+","+object+","+object+"}"))
		require.NoError(t, err)
		found := d.Findings()
		require.Len(t, found, n+1)
		for i, f := range found[:n] {
			require.Equal(t, fmt.Sprintf("raw.k%d", i), f.Path.String())
			require.Equal(t, 3, f.Count)
		}
		require.Equal(t, "raw", found[n].Path.String())
		require.Equal(t, 2, found[n].Count)
	}
}

// TestOrderOfLongPaths asserts that findings are sorted by their paths even if these are too long
// to be kept as a whole.
func TestOrderOfLongPaths(t *testing.T) {
	const depth = 40
	name := strings.Repeat("x", 60)
	for inner, c := range map[string]struct{ doc, path string }{
		"{type: object}": {`{"b":1,"c":2,"a":3}`, name + "."},
		"{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}": {
			`{"apiVersion":"v1","kind":"K","metadata":{"b":1,"c":2,"a":3}}`, name + ".metadata."},
	} {
		p := compileYAML(t, strings.Repeat("{type: object, additionalProperties: ", depth)+inner+
			strings.Repeat("}", depth), schema.ResourceRoot(false))
		for _, d := range []*Decoder{New(p), New(p, ServerRequests)} {
			_, err := d.AppendJSON(nil, []byte(strings.Repeat(`{"`+name+`":`, depth)+c.doc+
				strings.Repeat("}", depth)))
			require.NoError(t, err)
			found := d.Findings()
			require.Len(t, found, 3)
			for i, last := range []string{"a", "b", "c"} {
				path := found[i].Path.String()
				assert.Less(t, len(path), depth*len(name), "it is not whole")
				assert.True(t, strings.HasSuffix(path, c.path+last), path)
			}
		}
	}
}
