package decoder

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/schema"
)

// builderFor returns the builder of a decoder for a schema, with a text that is ready to be read.
func builderFor(t *testing.T, schemaText, text string, opts ...Option) *builder {
	d := New(compileYAML(t, schemaText, schema.ResourceRoot(false)), opts...)
	b := &d.builder
	b.program, b.predicted, b.nameBytes = d.walker.program, d.walker.predicted, d.walker.limits.NameBytes
	b.src = append([]byte(text), zeros[:]...)
	return b
}

// TestReadAtOnce holds that what is common is read without leaving scan, when there is room and names are predicted.
func TestReadAtOnce(t *testing.T) {
	const anything = "x-kubernetes-preserve-unknown-fields: true"
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
			b := builderFor(t, c.schema, c.text, Limits{NameBytes: 32 - len(`"":`)})
			b.read(b.program.Root)
			want, texts := slices.Clone(b.entries[:b.reading.entries]), string(b.text)

			b.reading = reading{pos: strings.IndexAny(c.text, `["{`), entries: 1, node: b.program.Root}
			b.entries[0], b.text = entry{}, b.text[:len(b.src)]
			require.Equal(t, readNothing, b.scan(readValue), "at %d", b.pos)
			assert.Equal(t, want, b.entries[:b.reading.entries])
			assert.Equal(t, texts, string(b.text[:b.texts]))
		})
	}
}

// TestReadCounts holds that reading counts what making needs room for, and nothing besides: names, and integers for which
// Go allocates nothing, need none.
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
		b := builderFor(t, "x-kubernetes-preserve-unknown-fields: true", c.text)
		b.chunks.start()
		b.read(b.program.Root)
		assert.Equal(t, c.strings, b.strings, c.text)
		assert.Equal(t, c.numbers, b.numbers, c.text)
		assert.Equal(t, c.texts, string(b.text), c.text)
	}
}

// TestUnmarshalNames holds that declared names are the schema's strings, however they are written, wherever the schema knows
// them.
func TestUnmarshalNames(t *testing.T) {
	d := New(compileYAML(t, `
type: object
properties:
  a: {type: object, additionalProperties: {type: object, properties: {b: {type: integer}, longer-than-sixteen-bytes: {type: integer}}}}
  list: {type: array, items: {type: object, properties: {b: {type: integer}, c: {type: array, items: {type: object, properties: {b: {type: integer}}}}}}}
  open: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {b: {type: integer}}}
  both: {type: object, properties: {b: {type: integer}}, additionalProperties: {type: object, properties: {c: {type: integer}}}}
  longer-than-thirty-two-bytes-with-quotes: {type: integer}
`, schema.ResourceRoot(false)))
	declared := make(map[string]map[*byte]bool)
	for _, n := range d.walker.program.Nodes {
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
			var v any
			require.NoError(t, d.Unmarshal([]byte(doc), &v))
			require.Equal(t, 15, check(v), doc)
		}
	}
}

// TestUnmarshalNamesThatDifferLittle has pairs of declared names that differ in one byte, wherever that is, in turns.
func TestUnmarshalNamesThatDifferLittle(t *testing.T) {
	for _, length := range []int{1, 12, 13, 14, 15, 28, 29, 30, 31, 45, 60} {
		for at := range length {
			x := strings.Repeat("abcdefghijklmno", 4)[:length]
			y := x[:at] + "-" + x[at+1:]
			d := New(compileYAML(t, fmt.Sprintf("{type: array, items: {type: object, properties: {%s: {type: integer}, ? %q\n: {type: integer}}}}", x, y), schema.ResourceRoot(false)))
			doc := fmt.Sprintf(`[{"%s":1},{"%s":2},{"%s":3},{"%s":4,"%s":5},{"%s":6,"%s":7}]`, x, y, x, y, x, y, x)
			var v any
			require.NoError(t, d.Unmarshal([]byte(doc), &v))
			require.Equal(t, []any{
				map[string]any{x: int64(1)}, map[string]any{y: int64(2)}, map[string]any{x: int64(3)},
				map[string]any{y: int64(4), x: int64(5)}, map[string]any{y: int64(6), x: int64(7)},
			}, v)
		}
	}
}

// placeOf tells texts that are shared from copies.
func placeOf(s string) *byte { return unsafe.StringData(s) } //nolint:gosec // only compared
