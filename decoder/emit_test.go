package decoder

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDefaultsBeforeWhiteSpace asserts that defaults follow the last member that is kept, before
// the white space at the end of their object.
func TestDefaultsBeforeWhiteSpace(t *testing.T) {
	// There is one default, there are two with a field between them, or more than a word has bits.
	for _, defaults := range []int{1, 2, 70} {
		var s strings.Builder
		var all []string
		s.WriteString(`
type: object
properties:
  o:
    type: object
    properties:
      a0: {type: integer}
      a1x: {type: integer}
`)
		for i := range defaults {
			fmt.Fprintf(&s, "      a%dd: {type: integer, default: %d}\n", i, i)
			all = append(all, fmt.Sprintf(`"a%dd":%d`, i, i))
		}
		p := compileYAML(t, s.String())
		inserted := map[int]string{1: `"a0d":0`, 2: `"a0d":0,"a1d":1`}[defaults]
		if inserted == "" {
			out, err := New(p).AppendJSON(nil, []byte(`{"o":{}}`))
			require.NoError(t, err)
			inserted = strings.TrimSuffix(strings.TrimPrefix(string(out), `{"o":{`), "}}")
			require.ElementsMatch(t, all, strings.Split(inserted, ","))
		}
		for src, want := range map[string]string{
			`{"o":{}}`:                        `{"o":{$}}`,
			`{"o":{ }}`:                       `{"o":{$ }}`,
			"{\"o\":{\n\t}\n}":                "{\"o\":{$\n\t}\n}",
			`{"o":{"a0":1}}`:                  `{"o":{"a0":1,$}}`,
			"{\"o\":{\"a0\":1 \r\n}}":         "{\"o\":{\"a0\":1,$ \r\n}}",
			`{"o":{"a0":1,"u":2}}`:            `{"o":{"a0":1,$}}`,
			`{"o":{ "u":2 }}`:                 `{"o":{$ }}`,
			`{"o":{ "u":2 , "a0":1 }, "u":3}`: `{"o":{ "a0":1,$ }}`,
		} {
			want = strings.Replace(want, "$", inserted, 1)
			out, err := New(p).AppendJSON(nil, []byte(src))
			require.NoError(t, err)
			assert.Equal(t, want, string(out), "%d, %q", defaults, src)
			// The room in dst is too small for all of it, or large enough.
			for _, room := range []int{4, 4096} {
				out, err = New(p).AppendJSON(make([]byte, 3, room), []byte(src))
				require.NoError(t, err)
				assert.Equal(t, want, string(out[3:]), "%d, %q", defaults, src)
			}
			// The limit of defaults is one byte too small, exact, or larger.
			for room := len(inserted) - 1; room < len(inserted)+3; room++ {
				fits := len(inserted) + 1 // with the comma
				if !strings.Contains(want, ","+inserted) {
					fits--
				}
				_, err = New(p, Limits{DefaultBytes: room}).AppendJSON(nil, []byte(src))
				assert.Equal(t, room < fits, err != nil, "%d, %q, room for %d: %v", defaults, src, room, err)
			}
		}
	}
}

// TestDefaultsOfAbsentFields has every subset of the fields.
func TestDefaultsOfAbsentFields(t *testing.T) {
	const fields = 6
	var s strings.Builder
	for i := range fields {
		fmt.Fprintf(&s, "f%d: {type: integer, default: %d}, ", i, i)
	}
	d := New(compileYAML(t, "{type: object, properties: {"+s.String()+"}}"))
	for there := range 1 << fields {
		var present, all []string
		for i := range fields {
			if there>>i&1 != 0 {
				present = append(present, fmt.Sprintf(`"f%d":1%d`, i, i))
			}
		}
		all = append(all, present...)
		for i := range fields {
			if there>>i&1 == 0 {
				all = append(all, fmt.Sprintf(`"f%d":%d`, i, i))
			}
		}
		out, err := d.AppendJSON(make([]byte, 0, 100), []byte("{"+strings.Join(present, ",")+"}"))
		require.NoError(t, err)
		require.Equal(t, "{"+strings.Join(all, ",")+"}", string(out))
	}
}

// TestOutputLimitBoundsMemory asserts that the decoder does not make much more of a result than the
// limit allows.
func TestOutputLimitBoundsMemory(t *testing.T) {
	const size = 1 << 20
	p := compileYAML(t, testSchema+"  large: {type: object, properties: {a: {default: "+
		strings.Repeat("x", size)+"}}}\n")
	long := `"` + strings.Repeat("x", size) + `"`
	for name, src := range map[string]string{
		"kept whole": `{"raw":{"a":` + long + `},"u":1,"s":""}`, "kept": `{"s":` + long + `,"u":1,"n":1}`,
		"defaults": `{"list":[` + strings.Repeat("{},", size/3) + `{}]}`, "a default": `{"large":{}}`,
	} {
		d := New(p, Limits{OutputBytes: 100})
		doc := []byte(src)
		_, err := d.AppendJSON(nil, doc) // grows the decoder's buffers
		require.ErrorContains(t, err, "size of the result", name)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = d.AppendJSON(nil, doc)
		runtime.ReadMemStats(&after)
		require.ErrorContains(t, err, "size of the result", name)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(size/8), name)
	}
}
