package yamlbridge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/yamlbridge"
)

func asServer(src string) (string, error) {
	r := yamlbridge.Reader{Dialect: yamlbridge.Server}
	out, err := r.AppendJSON(nil, []byte(src))
	return string(out), err
}

// Documents that the default refuses, or reads differently.
func TestAsServer(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		// The text after the first document, or after its root, is ignored.
		{"a: 1\n---\nb: 2", `{"a":1}`},
		{"a: 1\n...\n}", `{"a":1}`},
		{"[a] b", `["a"]`},
		{"[a]\n]", `["a"]`},
		{"a\n: b", `"a"`},
		{"a\nb\n: c", `"a b"`},
		{"  a: 'b\n'c", `{"a":"b "}`},
		{"---\n---\na: 1", "null"},
		{"a: 1\n%YAML 1.2\n---\nb", `{"a":1}`},
		// A merge key overwrites members before it.
		{"{a: 9, <<: {a: 1, b: 2}}", `{"a":9,"a":1,"b":2}`},
		{"{<<: {a: 1, b: 2}, a: 9}", `{"a":1,"b":2,"a":9}`},
		{"{<<: [{a: 1, b: 1}, {a: 2, c: 2}]}", `{"a":2,"c":2,"a":1,"b":1}`},
		{"{x: &x {a: 1}, u: {b: 2, <<: *x, a: 3}}", `{"x":{"a":1},"u":{"b":2,"a":1,"a":3}}`},
		{"{<<: {}, a: 1, <<: [{}, {}]}", `{"a":1}`},
		{"{<<: &m {a: &v 1, b: {<<: {c: *v}}}, d: *m, e: *v}", `{"a":1,"b":{"c":1},"d":{"a":1,"b":{"c":1}},"e":1}`},
		// Tags that are not core ones.
		{"!foo 1", `"1"`},
		{"!!map 1", `"1"`},
		{"!foo {a: !!seq {}}", `{"a":{}}`},
		{"!!merge a", `"a"`},
		{"a: !!binary /w==", `{"a":"\ufffd"}`},
		{"a: !!binary //8=", `{"a":"\ufffd\ufffd"}`},
		{"a: 1e400", `{"a":"1e400"}`},
		{"1e400: a", `{"1e400":"a"}`},
		{"a: 0x" + strings.Repeat("0", 2000) + "1", `{"a":1}`},
		// UTF-16.
		{"\xff\xfea\x00:\x00 \x00\x3d\xd8\x00\xde", `{"a":"😀"}`},
		{"\xfe\xff\x00a\x00:\x00 \x00b", `{"a":"b"}`},
		{"\xff\xfe", "null"},
	} {
		got, err := asServer(c.src)
		require.NoError(t, err, "%q", c.src)
		assert.Equal(t, c.want, strings.ReplaceAll(got, "\uFFFD", `\ufffd`), "%q", c.src)
	}
	for src, text := range map[string]string{
		"%YAML 1.2\n---\na":       "incompatible YAML document",
		`"\/"`:                    "unknown escape character",
		`"\ud83d\ude00"`:          "invalid Unicode character escape code",
		"...":                     "node content",
		"a: 1\n%FOO\n":            "unknown directive name",
		"\xff\xfe\x00\xd8a\x00":   "invalid UTF-8",
		"\xff\xfea\x00\x00\xd8":   "invalid UTF-8",
		"a\n\x01":                 "control character",
		"k: a\n b\n : c":          "did not find expected key",
		"- a\n  b\n  : c":         "did not find expected '-' indicator",
		"\xff\xfea\x00:\x00 ":     "invalid UTF-8",
		"{a: 1, <<: 5}":           "map merge requires",
		"{x: &x [], y: {<<: *x}}": "map merge requires",
	} {
		_, err := asServer(src)
		require.ErrorContains(t, err, text, "%q", src)
	}
}

func TestTrailing(t *testing.T) {
	for src, want := range map[string]bool{
		"a: 1": false, "a: 1\n# b\n": false, "---\na": false, "a: 1\n...\n": true, "a: 1\n---\n": true,
		"[a] b": true, "a: 1\n---\nb": true, "a\n: b": true, "[a]\nb": true,
	} {
		r := yamlbridge.Reader{Dialect: yamlbridge.Server}
		_, err := r.AppendJSON(nil, []byte(src))
		require.NoError(t, err, src)
		assert.Equal(t, want, r.Trailing(), "%q", src)
	}
}

func TestServerDuplicates(t *testing.T) {
	for _, c := range []struct {
		src  string
		want []string
	}{
		{"a: 1\nb: 2", nil},
		{"a: 1\nb: 2\na: 3\na: 4", []string{`line 3: key "a" already set in map`, `line 4: key "a" already set in map`}},
		// The line is that of the value, which for a mapping is the line of its first key.
		{"a: 1\na:\n\n  b: 1", []string{`line 4: key "a" already set in map`}},
		{"a: 1\na:\n- b", []string{`line 3: key "a" already set in map`}},
		{"a: 1\n? a\n: b", []string{`line 3: key "a" already set in map`}},
		{"a: 1\na:\nb: 2", []string{`line 2: key "a" already set in map`}},
		// Without a colon, it is the line of the text that follows.
		{"? a\n? a\n", []string{`line 3: key "a" already set in map`}},
		{"    ? a\n    ? a\n ", []string{`line 3: key "a" already set in map`}},
		{"    ? a\n    ? a\n   ", []string{`line 3: key "a" already set in map`}},
		{"    ? a\n    ? a\n    ", []string{`line 4: key "a" already set in map`}},
		{"    ? a\n    ? a\n     ", []string{`line 4: key "a" already set in map`}},
		// Nested ones come first.
		{"a: 1\na:\n  b: 1\n  b: 2", []string{`line 4: key "b" already set in map`, `line 3: key "a" already set in map`}},
		// Keys that are equal only as strings are two keys.
		{"1: a\n'1': b\n1.0: c\ntrue: a\n'true': b", nil},
		{"1: a\n0x1: b\nyes: a\non: b\n1.5: a\n15e-1: b", []string{
			"line 2: key 1 already set in map", "line 4: key true already set in map", "line 6: key 1.5 already set in map"}},
		{".nan: a\n.nan: b", nil},
		{"1.5: a\n1.53125: b", nil},
		{"0.0: a\n-0.0: b\n0: c", []string{"line 2: key -0 already set in map"}},
		{"\"a\\n\": 1\n\"a\\x0a\": 2", []string{`line 2: key "a\n" already set in map`}},
		// A member that a merge key overwrites is a duplicate, on the line of its definition.
		{"x: &x\n  a: 1\ny:\n  a: 2\n  <<: *x", []string{`line 2: key "a" already set in map`}},
		{"x: &x {a: 1}\ny:\n  <<: *x\n  a: 2", []string{`line 4: key "a" already set in map`}},
		{"y:\n  a: 2\n  <<:\n    a: 1", []string{`line 4: key "a" already set in map`}},
		// An alias has the line of its own place, and a member within its value has the line of the
		// value.
		{"x: &x 1\nu: 2\nu: *x", []string{`line 3: key "u" already set in map`}},
		{"x: &x\n  a: 1\n  a: 2\ny: *x", []string{`line 3: key "a" already set in map`, `line 3: key "a" already set in map`}},
		// This also holds if all of it came through merge keys within merge keys.
		{"<<:\n  q: &z\n    k: 1\n    k: 2\n  s: {<<: {b: *z}}", []string{`line 4: key "k" already set in map`, `line 4: key "k" already set in map`}},
		// Keys that are not UTF-8 are compared as bytes.
		{"? !!binary /w==\n: 1\n? !!binary /g==\n: 2\n? \uFFFD\n: 3", nil},
		{"? &x !!binary /w==\n: 1\n? !!binary /w==\n: 2\n? *x\n: 3", []string{`line 4: key "\xff" already set in map`, `line 6: key "\xff" already set in map`}},
		// Merged through merge keys.
		{"- &x {1: a}\n- &y {<<: *x}\n- &z {<<: *y}\n- {0x1: b,\n <<: *z}", []string{"line 1: key 1 already set in map"}},
		{"- &x {a: [b], c: {d: 1, d: 2}}\n- &y\n  <<: *x\n- &z {q: 1,\n <<: *y}\n- {a: 1,\n <<: *z}", []string{
			`line 1: key "d" already set in map`, `line 1: key "d" already set in map`, `line 1: key "d" already set in map`,
			`line 1: key "a" already set in map`, `line 1: key "d" already set in map`}},
		{"- &x {a: 1}\n- &y\n  <<: *x\n  c: 3\n- c: 1\n  <<: *y", []string{`line 4: key "c" already set in map`}},
		{"- &a {x: 1}\n- <<:\n    <<:\n      <<:\n        p: *a\n        k: 1\n        k: 2", []string{`line 7: key "k" already set in map`}},
		// What was merged before them may take more memory aside than in the result.
		{"- <<: {<<: {<<: {" + strings.Repeat("p", 100) + ": 1}}}\n- &a {1: 1}\n- <<:\n    p: *a\n    k: 1\n    k: 2", []string{`line 6: key "k" already set in map`}},
		// Line breaks of YAML 1.1 count.
		{"# b\u0085a: 1\u2028a: 2", []string{`line 3: key "a" already set in map`}},
	} {
		r := yamlbridge.Reader{Dialect: yamlbridge.Server}
		out, err := r.AppendJSON([]byte("before"), []byte(c.src))
		require.NoError(t, err, "%q", c.src)
		assert.Equal(t, c.want, r.ServerDuplicates(out[len("before"):]), "%q", c.src)
	}
	r := yamlbridge.Reader{Dialect: yamlbridge.Server, Origin: errors.Position{Line: 10}}
	out, err := r.AppendJSON(nil, []byte("a: 1\na: 2"))
	require.NoError(t, err)
	assert.Equal(t, []string{`line 11: key "a" already set in map`}, r.ServerDuplicates(out))
}

func TestDefinition(t *testing.T) {
	const src = "x: &x {a: 1, b: [2, 3]}\nu: *x\nz: {<<: *x}\nv: {<<: {c: 4}}\nw: [*x]\n&k 1.5: *k"
	var r yamlbridge.Reader
	out, err := r.AppendJSON(nil, []byte(src))
	require.NoError(t, err)
	require.Equal(t, `{"x":{"a":1,"b":[2,3]},"u":{"a":1,"b":[2,3]},"z":{"a":1,"b":[2,3]},"v":{"c":4},"w":[{"a":1,"b":[2,3]}],"1.5":1.5}`, string(out))
	var here, there []string
	at := func(offset int) (string, string) {
		line := func(offset int64) string { return src[offset:][:strings.IndexAny(src[offset:]+"\n", "\n,}]")] }
		return line(r.Position(offset).Offset), line(r.Definition(offset).Offset)
	}
	for i := 0; ; {
		next := strings.Index(string(out[i:]), `3]`)
		if next < 0 {
			break
		}
		h, d := at(i + next)
		here, there = append(here, h), append(there, d)
		i += next + 1
	}
	assert.Equal(t, []string{"3", "*x", "*x", "*x"}, here)
	assert.Equal(t, []string{"3", "3", "3", "3"}, there)
	h, d := at(strings.Index(string(out), `4`))
	assert.Equal(t, []string{"4", "4"}, []string{h, d})
	h, d = at(len(out) - len("1.5}"))
	assert.Equal(t, []string{"*k", "&k 1.5: *k"}, []string{h, d})
	assert.False(t, (&yamlbridge.Reader{}).Definition(0).IsValid())
}

// TestDefinitionAtEdges asks for offsets next to copies.
func TestDefinitionAtEdges(t *testing.T) {
	for _, c := range []struct {
		src, json string
		lines     []int // for each byte of the JSON
	}{
		{"- &a x\n- *a\n- b", `["x","x","b"]`, []int{1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 3, 3, 3}},
		{"{<<: &m {\na: 1},\nb: *m }", `{"b":{"a":1},"a":1}`, []int{1, 3, 3, 3, 3, 1, 2, 2, 2, 2, 2, 2, 3, 2, 2, 2, 2, 2, 2}},
	} {
		var r yamlbridge.Reader
		out, err := r.AppendJSON(nil, []byte(c.src))
		require.NoError(t, err)
		require.Equal(t, c.json, string(out))
		var lines []int
		for i := range out {
			lines = append(lines, r.Definition(i).Line)
		}
		assert.Equal(t, c.lines, lines, c.src)
	}
}
