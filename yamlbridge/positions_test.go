package yamlbridge_test

import (
	"strings"
	"testing"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/yamlbridge"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPositions(t *testing.T) {
	const nel, ls, ps = "\u0085", "\u2028", "\u2029"
	server := yamlbridge.Reader{Dialect: yamlbridge.Server}
	_, err := server.AppendJSON(nil, []byte("# x"+ps+"\nb: 2"))
	require.NoError(t, err)
	assert.Equal(t, errors.Position{Offset: 7, Line: 2, Column: 1, ByteColumn: 1}, server.Position(len("{")), "PS in a comment")
	for _, test := range []struct {
		name, src string
		json      string          // the text that is looked up, in the output
		want      errors.Position // its place
	}{
		{"root", "a: 1", `{`, errors.Position{Offset: 0, Line: 1, Column: 1, ByteColumn: 1}},
		{"LF", "a: 1\nb: 2\n", `"b"`, errors.Position{Offset: 5, Line: 2, Column: 1, ByteColumn: 1}},
		{"LF value", "a: 1\nb: 2\n", `2`, errors.Position{Offset: 8, Line: 2, Column: 4, ByteColumn: 4}},
		{"CRLF", "a: 1\r\nb: 2\r\n", `"b"`, errors.Position{Offset: 6, Line: 2, Column: 1, ByteColumn: 1}},
		{"CR", "a: 1\rb: 2\r", `"b"`, errors.Position{Offset: 5, Line: 2, Column: 1, ByteColumn: 1}},
		{"blank lines", "\n\r\n\r\n a: 1\n\n b: 2", `"b"`, errors.Position{Offset: 13, Line: 6, Column: 2, ByteColumn: 2}},
		{"tab", "a:\t2", `2`, errors.Position{Offset: 3, Line: 1, Column: 4, ByteColumn: 4}},
		{"multi-byte", "é😀: {ü: 2}", `"ü"`, errors.Position{Offset: 9, Line: 1, Column: 6, ByteColumn: 10}},
		{"multi-byte value", "é😀: {ü: 2}", `2`, errors.Position{Offset: 13, Line: 1, Column: 9, ByteColumn: 14}},
		{"BOM", "\uFEFFa: 1\nb: 2", `"a"`, errors.Position{Offset: 3, Line: 1, Column: 1, ByteColumn: 4}},
		{"BOM value", "\uFEFFa: 1\nb: 2", `1`, errors.Position{Offset: 6, Line: 1, Column: 4, ByteColumn: 7}},
		{"BOM next line", "\uFEFFa: 1\nb: 2", `"b"`, errors.Position{Offset: 8, Line: 2, Column: 1, ByteColumn: 1}},
		{"NEL", "a: 'x" + nel + " y'\nb: 2", `"b"`, errors.Position{Offset: 11, Line: 2, Column: 1, ByteColumn: 1}},
		{"LS", "a: 'x" + ls + " y'\nb: 2", `"b"`, errors.Position{Offset: 12, Line: 2, Column: 1, ByteColumn: 1}},
		{"PS", "a: 'x" + ps + " y'\nb: 2", `"b"`, errors.Position{Offset: 12, Line: 2, Column: 1, ByteColumn: 1}},
		{"after NEL in line", "[a, 'x" + nel + " y', 7]", `7`, errors.Position{Offset: 13, Line: 1, Column: 13, ByteColumn: 14}},
		{"element", "- a\n-   b\n", `"b"`, errors.Position{Offset: 8, Line: 2, Column: 5, ByteColumn: 5}},
		{"mapping in sequence", "- a\n- b: 2\n", `{"b"`, errors.Position{Offset: 6, Line: 2, Column: 3, ByteColumn: 3}},
		{"sequence at the column of its key", "a:\n- 7\n", `[7`, errors.Position{Offset: 3, Line: 2, Column: 1, ByteColumn: 1}},
		{"explicit key", "? >-\n  kind\n: v", `"kind"`, errors.Position{Offset: 2, Line: 1, Column: 3, ByteColumn: 3}},
		{"value of explicit key", "? a\n: v", `"v"`, errors.Position{Offset: 6, Line: 2, Column: 3, ByteColumn: 3}},
		{"block scalar", "a: |\n  x\nb: 2", `"x\n"`, errors.Position{Offset: 3, Line: 1, Column: 4, ByteColumn: 4}},
		{"after a block scalar", "a: |\r\n  x\r\n\r\nb: 2", `"b"`, errors.Position{Offset: 13, Line: 4, Column: 1, ByteColumn: 1}},
		{"tagged collection", "a: !!map\n  b: 2", `{"b"`, errors.Position{Offset: 3, Line: 1, Column: 4, ByteColumn: 4}},
		{"tag and anchor", "a: !!str &x y", `"y"`, errors.Position{Offset: 3, Line: 1, Column: 4, ByteColumn: 4}},
		{"mapping without brackets", "[a, &b !!str c: d]", `{`, errors.Position{Offset: 4, Line: 1, Column: 5, ByteColumn: 5}},
		{"literal with an anchor", "a: &x |\n b\n", `"b`, errors.Position{Offset: 3, Line: 1, Column: 4, ByteColumn: 4}},
		{"lines with an anchor", "a: &x\n  b\n  c\n", `"b`, errors.Position{Offset: 3, Line: 1, Column: 4, ByteColumn: 4}},
		{"empty element", "- a\n-\n- c", `null`, errors.Position{Offset: 5, Line: 2, Column: 2, ByteColumn: 2}},
		{"empty element before a comment", "- a\n- # b\n- c", `null`, errors.Position{Offset: 5, Line: 2, Column: 2, ByteColumn: 2}},
		{"empty value", "a:\nb: 2", `null`, errors.Position{Offset: 2, Line: 1, Column: 3, ByteColumn: 3}},
		{"document start", "%YAML 1.2\n--- # c\na: 1", `"a"`, errors.Position{Offset: 18, Line: 3, Column: 1, ByteColumn: 1}},
		{"value on the marker", "--- {a: 1}", `"a"`, errors.Position{Offset: 5, Line: 1, Column: 6, ByteColumn: 6}},
		{"past an empty document", "---\n---\na: 1", `"a"`, errors.Position{Offset: 8, Line: 3, Column: 1, ByteColumn: 1}},
		{"alias", "a: &x [1]\nb: *x", `[1]}`, errors.Position{Offset: 13, Line: 2, Column: 4, ByteColumn: 4}},
		{"inside an alias", "a: &x [1, 7]\nb: *x", `7]}`, errors.Position{Offset: 16, Line: 2, Column: 4, ByteColumn: 4}},
		{"after an alias", "a: &x [1]\nb: [*x, 7]", `7`, errors.Position{Offset: 18, Line: 2, Column: 9, ByteColumn: 9}},
		{"alias as a key", "&k a: 1\n*k : 2", `"a":2`, errors.Position{Offset: 8, Line: 2, Column: 1, ByteColumn: 1}},
		{"merged alias", "x: &x {a: 1}\ny: {<<: *x, b: 2}", `"a":1}}`, errors.Position{Offset: 21, Line: 2, Column: 9, ByteColumn: 9}},
		{"merged mapping", "y:\n  <<: {a: 1}\n  b: 2", `"a"`, errors.Position{Offset: 10, Line: 2, Column: 8, ByteColumn: 8}},
		{"merged value", "y:\n  <<: {a: 1}\n  b: 2", `1}`, errors.Position{Offset: 13, Line: 2, Column: 11, ByteColumn: 11}},
		{"escaped JSON", `{"a": "\/", "b": [{"c" :  7}]}`, `7`, errors.Position{Offset: 26, Line: 1, Column: 27, ByteColumn: 27}},
		{"escaped JSON name", "{\"a\": \"\\/\"\n, \"b\": 7}", `"b"`, errors.Position{Offset: 13, Line: 2, Column: 3, ByteColumn: 3}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var m yamlbridge.Reader
			out, err := m.AppendJSON([]byte("prefix"), []byte(test.src))
			require.NoError(t, err)
			json := strings.TrimPrefix(string(out), "prefix")
			at := strings.LastIndex(json, test.json)
			require.GreaterOrEqual(t, at, 0, json)
			assert.Equal(t, test.want, m.Position(at), "%s at %d", json, at)
		})
	}
}

func TestPositionInsideToken(t *testing.T) {
	var m yamlbridge.Reader
	assert.Equal(t, errors.Position{}, m.Position(0), "no document")
	out, err := m.AppendJSON(nil, []byte("name: value"))
	require.NoError(t, err)
	require.Equal(t, `{"name":"value"}`, string(out))
	for off := range out {
		want := 1
		if off >= strings.Index(string(out), `"value"`) {
			want = 7
		}
		assert.Equal(t, want, m.Position(off).Column, "offset %d", off)
	}
	assert.Equal(t, 1, m.Position(-1).Column)
	assert.Equal(t, 7, m.Position(1000).Column)
}

func TestReaderReuse(t *testing.T) {
	var m yamlbridge.Reader
	_, err := m.AppendJSON(nil, []byte("\n\na: [1, 2, 3]"))
	require.NoError(t, err)
	_, err = m.AppendJSON(nil, []byte("b: 1"))
	require.NoError(t, err)
	assert.Equal(t, 1, m.Position(1).Line)
	dst, err := m.AppendJSON([]byte("kept"), []byte("b: [1"))
	require.Error(t, err)
	assert.Equal(t, "kept", string(dst))
	assert.False(t, m.Position(0).IsValid(), "positions of a document that was refused")
}

// TestPositionOfNothing: an empty document is at the end of the text, whatever the reader has read before.
func TestPositionOfNothing(t *testing.T) {
	for kind, r := range readers() {
		for _, src := range []string{"", "# c\n", "\n\n", "---\n", "--- # c\n"} {
			for _, before := range []string{"a:\nb:\n- c\n-", "[a, ? , b]", "d: &x\n"} {
				_, _ = r.AppendJSON(nil, []byte(before))
				out, err := r.AppendJSON(nil, []byte(src))
				require.NoError(t, err, "%s: %q", kind, src)
				require.Equal(t, "null", string(out), "%s: %q", kind, src)
				assert.Equal(t, len(src), int(r.Position(0).Offset), "%s: %q", kind, src)
			}
		}
	}
}

func TestOrigin(t *testing.T) {
	m := yamlbridge.Reader{Origin: errors.Position{Offset: 100, Line: 10, Column: 5, ByteColumn: 6}}
	_, err := m.AppendJSON(nil, []byte("a: 1\nb: 2"))
	require.NoError(t, err)
	assert.Equal(t, errors.Position{Offset: 100, Line: 10, Column: 5, ByteColumn: 6}, m.Position(0))
	assert.Equal(t, errors.Position{Offset: 105, Line: 11, Column: 1, ByteColumn: 1}, m.Position(7))
	_, err = m.AppendJSON(nil, []byte("a: 1\nb: .inf"))
	var syntax *errors.SyntaxError
	require.ErrorAs(t, err, &syntax)
	assert.Equal(t, errors.Position{Offset: 108, Line: 11, Column: 4, ByteColumn: 4}, syntax.Position)
}

func TestReaderErrors(t *testing.T) {
	for _, test := range []struct {
		src          string
		line, column int
		text         string
	}{
		{"a: b: c", 1, 5, "mapping values are not allowed"},
		{"x: 1\n y: 2\n", 2, 3, "mapping values are not allowed"},
		{"x: 1\na: 'abc\n", 2, 4, "unexpected end of stream"},
		{"x: 1\r\n\r\na: [1,\r\nb: }", 4, 4, "expected ',' or ']'"},
		{"- a\nb: c\n", 2, 1, "'-' indicator"},
		{"a: }", 1, 4, "cannot start any token"},
		{"a: |2\n  x\n y", 3, 2, "expected key"},
		{"%YAML 2.0\n---\na: 1", 1, 1, "incompatible YAML document"},
		{"# *x\nb: 1\nc: [1, *x]", 3, 8, `unknown anchor "x"`},
		{"a: 1\x01", 1, 5, "control character U+0001"},
		{"a: 1\nb: \u009f", 2, 4, "control character U+009F"},
		{"a: é\xc3(", 1, 5, "invalid UTF-8"},
		{"a: \xed\xa0\x80", 1, 4, "invalid UTF-8"},
		{"a: '\uFEFF'", 1, 5, "byte order mark inside"},
		{"\uFEFF\uFEFFa: 1", 1, 1, "byte order mark inside"},
	} {
		requireSyntaxError(t, test.src, test.line, test.column, test.text)
	}
}

// TestErrorPaths holds that an error has the path of the value that it is in, also if a part of
// that was written before.
func TestErrorPaths(t *testing.T) {
	for src, path := range map[string]string{
		"a: |\n \tfoo":               "a",
		"a:\n- x\n- b: >\n \tx":      "a[1].b",
		"a: x\n  y: z":               "a",
		"a:\n- x\n- y\n  z: 1":       "a[1]",
		"a:\n- x\n- |\n \tx":         "a[1]",
		"a:\n- |\n \tx":              "a[0]",
		"- x\n- y\n  z: 1":           "[1]",
		"|\n \tx":                    "",
		"a: 1\nb: |0\n":              "b",
		"a: &x\n  b\n  c: d":         "a",
		"a: !!str\n  b\n  c: d":      "a",
		"a: [x, .inf]":               "a[1]",
		"a: [.inf]":                  "a[0]",
		"a: [x, !foo y]":             "a[1]",
		"a: [x, !foo {}]":            "a[1]",
		"a: [x, {b: !foo []}]":       "a[1].b",
		"a: [x, *y]":                 "a[1]",
		"a: [{}, []}":                "a[2]",
		"a: {\"b\\\"\": [1, .nan]}":  `a["b\""][1]`,
		"a: ['x', \"y":               "a[1]",
		"-0.0: {0.0: [1, .inf]}":     "-0.0[1]",
		"- &a x\n- b\n- {*a : .inf}": "[2].x",
	} {
		requireSyntaxPath(t, src, path)
	}
}

func requireSyntaxPath(t *testing.T, src, path string) {
	t.Helper()
	_, err := convert(src)
	var syntax *errors.SyntaxError
	require.ErrorAs(t, err, &syntax, src)
	assert.Equal(t, path, syntax.Path.String(), "%q: %v", src, err)
}

// TestPositionsOfMerged: values of an alias in a list have the place of the alias, also if the list has
// an anchor.
func TestPositionsOfMerged(t *testing.T) {
	for _, anchor := range []string{"", "&l "} {
		var r yamlbridge.Reader
		out, err := r.AppendJSON(nil, []byte("- &x {a: 1}\n- &y {b: 2}\n- <<: "+anchor+"[*x,\n  *y,\n  {c: 3}]"))
		require.NoError(t, err)
		require.Equal(t, `[{"a":1},{"b":2},{"a":1,"b":2,"c":3}]`, string(out))
		for name, line := range map[string]int{"a": 3, "b": 4, "c": 5} {
			at := strings.LastIndex(string(out), `"`+name+`":`)
			assert.Equal(t, line, r.Position(at).Line, name)
			assert.Equal(t, line, r.Position(at+len(`"a":`)).Line, "the value of "+name)
		}
	}
}
