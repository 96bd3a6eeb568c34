package values

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/schema"
)

const (
	anything  = "x-kubernetes-preserve-unknown-fields: true"
	nameBytes = 50_000 // as in a decoder
)

// makerFor returns a Maker for a schema, whose fields are not predicted yet, and the node of the
// root.
func makerFor(t *testing.T, schemaText string, nameBytes int) (*Maker, *program.Node) {
	t.Helper()
	p := compile(t, schemaText)
	return makerOf(p, nameBytes), p.Root
}

func makerOf(p *program.Program, nameBytes int) *Maker {
	m := &Maker{Predicted: make([]*program.Field, p.Cells), NameBytes: nameBytes}
	for i := range m.Predicted {
		m.Predicted[i] = program.NoField
	}
	return m
}

func compile(t *testing.T, schemaText string) *program.Program {
	t.Helper()
	s, err := schema.Parse([]byte(schemaText))
	require.NoError(t, err)
	p, err := schema.Compile(s, schema.ResourceRoot(false))
	require.NoError(t, err)
	return program.Of(p)
}

// padded returns a text with zeros after it.
func padded(text string) []byte { return append([]byte(text), make([]byte, Padding)...) }

// TestReadAtOnce asserts that common texts are read without leaving scan, if there is room and
// names are predicted.
func TestReadAtOnce(t *testing.T) {
	var strs, names, fields []string
	for n := range 100 {
		strs = append(strs, `"`+strings.Repeat("s", n)+`"`)
		names = append(names, fmt.Sprintf(`"%s": "%d"`, strings.Repeat("m", n), n))
	}
	declared := "{type: object, properties: {"
	for n := 1; n <= 32-len(`"":`); n++ {
		name := strings.Repeat("f", n)
		fields = append(fields, fmt.Sprintf(`"%s" : %d`, name, n))
		declared += name + ": {type: integer}, "
	}
	for name, c := range map[string]struct{ schema, text string }{
		"strings":      {anything, "[" + strings.Join(strs, ",") + "]"},
		"one string":   {anything, strs[20]},
		"long strings": {anything, `["` + strings.Repeat("x", longLength-1) + `","","` + strings.Repeat("y", longLength-1) + `"]`},
		"others":       {anything, ` [ 0 , 1234567 , true , false , null , [ ] , { } ] `},
		"maps":         {anything, "{" + strings.Join(names, ",") + "}"},
		"typed maps":   {"{type: object, additionalProperties: {type: string}}", "{" + strings.Join(names, ",") + "}"},
		"fields":       {declared + "}}", strings.ReplaceAll("{"+strings.Join(fields, ",")+"}", " ", "")},
	} {
		t.Run(name, func(t *testing.T) {
			m, root := makerFor(t, c.schema, 32-len(`"":`))
			m.src = padded(c.text)
			m.read(root)
			want, texts := slices.Clone(m.entries[:m.cursor.entries]), string(m.chunks.text)

			m.cursor = cursor{pos: strings.IndexAny(c.text, `["{`), entries: 1, node: root}
			m.entries[0], m.chunks.text = entry{}, m.chunks.text[:len(m.src)]
			require.Equal(t, readNothing, m.scan(readValue), "at %d", m.cursor.pos)
			assert.Equal(t, want, m.entries[:m.cursor.entries])
			assert.Equal(t, texts, string(m.chunks.text[:m.cursor.texts]))
		})
	}
}

// TestReadCounts asserts that reading counts exactly what making allocates. Names need nothing, nor
// do integers for which Go allocates nothing.
func TestReadCounts(t *testing.T) {
	for _, c := range []struct {
		text             string
		strings, numbers int
		texts            string
	}{
		{`[0, 255, 10, -0]`, 0, 0, ""},
		{`[256, 12345678, 123456789012345678901, -1, 1.5, 1e2, -0.0]`, 0, 7, ""},
		{`["a", "\u0062", {"c": "d", "\u0065": true}]`, 3, 0, "abcde"},
		{`"` + strings.Repeat("x", longLength-1) + `"`, 1, 0, strings.Repeat("x", longLength-1)},
		{`"` + strings.Repeat("x", longLength) + `"`, 1, 0, ""},
		{`"\n` + strings.Repeat("x", longLength-3) + `"`, 1, 0, "\n" + strings.Repeat("x", longLength-3)},
		{`"\n` + strings.Repeat("x", longLength-2) + `"`, 1, 0, ""},
	} {
		m, root := makerFor(t, anything, nameBytes)
		m.src = padded(c.text)
		m.chunks.start(false)
		m.read(root)
		assert.Equal(t, c.strings, m.chunks.strings, c.text)
		assert.Equal(t, c.numbers, m.chunks.numbers, c.text)
		assert.Equal(t, c.texts, string(m.chunks.text), c.text)
	}
}

// TestNames asserts that declared names are the schema's strings, however they are spelled,
// wherever the schema knows them.
func TestNames(t *testing.T) {
	p := compile(t, `
type: object
properties:
  a: {type: object, additionalProperties: {type: object, properties: {b: {type: integer}, longer-than-sixteen-bytes: {type: integer}}}}
  list: {type: array, items: {type: object, properties: {b: {type: integer}, c: {type: array, items: {type: object, properties: {b: {type: integer}}}}}}}
  open: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {b: {type: integer}}}
  both: {type: object, properties: {b: {type: integer}}, additionalProperties: {type: object, properties: {c: {type: integer}}}}
  longer-than-thirty-two-bytes-with-quotes: {type: integer}
`)
	m, root := makerOf(p, nameBytes), p.Root
	declared := make(map[string]map[*byte]bool)
	for _, n := range p.Nodes {
		for i := range n.Fields {
			name := n.Fields[i].Name()
			if declared[name] == nil {
				declared[name] = make(map[*byte]bool)
			}
			declared[name][placeOf(name)] = true
		}
	}
	var check func(v any) int
	check = func(v any) (names int) {
		switch v := v.(type) {
		case map[string]any:
			for name, member := range v {
				if declared[name] != nil {
					assert.True(t, declared[name][placeOf(name)], "%s is a copy", name)
					names++
				}
				names += check(member)
			}
		case []any:
			for _, element := range v {
				names += check(element)
			}
		}
		return names
	}
	for _, doc := range []string{
		`{"a":{"k":{"b":1},"l":{"b":2,"longer-than-sixteen-bytes":3}},"list":[{"b":1,"c":[{"b":2},{"b":3}]}],"open":{"b":1},"both":{"b":1,"k":{"c":1}},"longer-than-thirty-two-bytes-with-quotes":4}`,
		`{"\u0061":{"k":{"\u0062":1},"l":{"b" :2, "longer-than-sixteen-bytes" : 3}},"list" :[ { "b" :1,"c":[{"b":2},{"b":3}]}], "o\u0070en":{"\u0062":1},"both":{"b":1,"k":{"c":1}},"longer-than-thirty-two-bytes-with-quotes":4}`,
		`{"longer-than-thirty-two-bytes-with-quotes":4,"open":{"b":1},"list":[{"c":[{"b":2},{"b":3}],"b":1}],"a":{"k":{"b":1},"l":{"longer-than-sixteen-bytes":3,"b":2}},"both":{"k":{"c":1},"b":1}}`,
	} {
		for range 2 {
			require.Equal(t, 15, check(mustMake(m, doc, root)), doc)
		}
	}
}

// TestNamesThatDifferLittle has pairs of declared names that differ in one byte, wherever it is, in
// turns.
func TestNamesThatDifferLittle(t *testing.T) {
	for _, length := range []int{1, 12, 13, 14, 15, 28, 29, 30, 31, 45, 60} {
		for at := range length {
			x := strings.Repeat("abcdefghijklmno", 4)[:length]
			y := x[:at] + "-" + x[at+1:]
			m, root := makerFor(t, fmt.Sprintf("{type: array, items: {type: object, properties: {%s: {type: integer}, ? %q\n: {type: integer}}}}", x, y), nameBytes)
			doc := fmt.Sprintf(`[{"%s":1},{"%s":2},{"%s":3},{"%s":4,"%s":5},{"%s":6,"%s":7}]`, x, y, x, y, x, y, x)
			require.Equal(t, []any{
				map[string]any{x: int64(1)}, map[string]any{y: int64(2)}, map[string]any{x: int64(3)},
				map[string]any{y: int64(4), x: int64(5)}, map[string]any{y: int64(6), x: int64(7)},
			}, mustMake(m, doc, root))
		}
	}
}

// placeOf tells strings that share memory from copies.
func placeOf(s string) *byte { return unsafe.StringData(s) } //nolint:gosec // only compared
