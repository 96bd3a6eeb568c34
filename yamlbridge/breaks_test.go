package yamlbridge_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/yamlbridge"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// oldBreaks are the line breaks that only YAML 1.1 has.
var oldBreaks = []string{"\u0085", "\u2028", "\u2029"}

// everyReader returns readers that refuse these line breaks outside quotes.
func everyReader() []*yamlbridge.Reader {
	return []*yamlbridge.Reader{{}, {Dialect: yamlbridge.Core}}
}

// TestOldBreaks: wherever readers of YAML 1.1 and 1.2 see different lines, the document is refused,
// with the place. Each ^ is replaced by such a line break.
func TestOldBreaks(t *testing.T) {
	for _, src := range []string{
		"spec: # ^( {a: \"\nEVIL: 1\n#\"}",              // a comment
		"# c^EVIL: 1\na: 1",                             // before the first node
		"a: 1 # c^",                                     // at the end
		"a: 1^",                                         // at the end of a plain scalar
		"a: 1\n^",                                       // on an empty line
		"^a: 1",                                         // at the start
		"a: x^EVIL: 1",                                  // in a plain scalar
		"a: x\n y^ z",                                   // in a later line of a plain scalar
		"a^b: 1",                                        // in a key
		"? a^b\n: 1",                                    // in an explicit key
		"{a: x^y}", "{a^: 1}", "[^1]", "[a,^b]", "[a^]", // between brackets
		"a: |\n x^ y\n", "a: >\n x^EVIL: 1\n", "a: |^ x\n", "a: |\n x\n^", "a: |-2 # c^\n  x\n", // block scalars
		"a:^b: 1", "-^a", "?^ a", "a: 1\n?^", "? ^", "a: &x^ 1", "&x^a: 1", "a: !!str^ 1", "a: &x 1\nb: *x^", // between tokens
		"a: !x^y 1",                                  // in a tag
		"%YAML 1.1^---\na: 1", "%YAML 1.1\n---^a: 1", // around markers
		"a: 1\n...^", "a: 1\n... # ^", "a: 1\n---\n# ^", // after the document
		"a: 'x'^", "a: \"x\" # ^", "a: 'x' ^ # 'y'", "? 'x'^\n: 1", "{? \"x\"^ : 1}", // after quotes
	} {
		for _, br := range oldBreaks {
			at := strings.IndexByte(src, '^')
			text := strings.Replace(src, "^", br, 1)
			if strings.Contains(src, "^(") {
				text = strings.Replace(src, "^(", br, 1)
			}
			line := 1 + strings.Count(src[:at], "\n")
			for _, r := range everyReader() {
				out, err := r.AppendJSON([]byte("as it was"), []byte(text))
				assert.Equal(t, "as it was", string(out))
				var fault *errors.SyntaxError
				if assert.ErrorAs(t, err, &fault, "%q, dialect %d", text, r.Dialect) && src != "a: !x^y 1" {
					assert.Contains(t, fault.Msg, fmt.Sprintf("%U outside quotes", []rune(br)[0]), "%q", text)
					assert.Equal(t, int64(at), fault.Position.Offset, "%q", text)
					assert.Equal(t, line, fault.Position.Line, "%q", text)
				}
			}
		}
	}
}

// TestOldBreaksInQuotes: all readers agree on the end of a scalar in quotes. Its content is that of
// the dialect, but names are one name, and no escape is read in two ways.
func TestOldBreaksInQuotes(t *testing.T) {
	const inName, escape = "in a name", "found unknown escape character"
	for _, c := range []struct{ src, kubernetes, core string }{
		{"'a\u2028 b\u0085\u2029c'", `"a` + "\u2028b\u2029" + `c"`, `"a` + "\u2028 b\u0085\u2029" + `c"`},
		{"a: 'x\u0085 y'", `{"a":"x y"}`, "{\"a\":\"x\u0085 y\"}"},
		{"a: \"x\u2028 y\"\nb: 'z'", "{\"a\":\"x\u2028y\",\"b\":\"z\"}", "{\"a\":\"x\u2028 y\",\"b\":\"z\"}"},
		{"{\"a\": \"x\u2028y\", b: ['\u2029']}", "{\"a\":\"x\u2028y\",\"b\":[\"\u2029\"]}", "{\"a\":\"x\u2028y\",\"b\":[\"\u2029\"]}"},
		{`"\N\L\P"`, `"` + "\u0085\u2028\u2029" + `"`, `"` + "\u0085\u2028\u2029" + `"`},
		{"'it''s\u2028' # c", "\"it's\u2028\"", "\"it's\u2028\""},
		{"? 'a\u0085b'\n: 1", inName, inName},
		{"? \"a\u2028b\"\n: 1", inName, inName},
		{"{? 'a\u2029b' : 1}", inName, inName},
		{"{'a\u2029b': 1}", inName, inName},
		{"{\"a\u2029b\": 1}", inName, inName},
		{"'a\u0085b': 1", "on one line", "{\"a\u0085b\":1}"},
		{"a: \"x\\\u0085y\"", escape + ": U+0085 ends a line", escape},
		{"a: \"x\\\u2028y\"", escape + ": U+2028 ends a line", escape},
		{"a: \"\u2028\\q\"", escape, escape},
		{"a: \"\u2028", "found unexpected end of stream in a quoted scalar", "found unexpected end of stream in a quoted scalar"},
		{"a: '\u2028'\nb: \u2028", "2:4: U+2028 outside quotes", "2:4: U+2028 outside quotes"},
	} {
		for want, r := range map[*string]*yamlbridge.Reader{&c.kubernetes: {}, &c.core: {Dialect: yamlbridge.Core}} {
			out, err := r.AppendJSON(nil, []byte(c.src))
			if err != nil {
				assert.Contains(t, err.Error(), *want, "%q, dialect %d", c.src, r.Dialect)
				continue
			}
			assert.Equal(t, *want, string(out), "%q, dialect %d", c.src, r.Dialect)
		}
	}
}

// TestOldBreaksOfServer: the server's dialect reads them as the server does.
func TestOldBreaksOfServer(t *testing.T) {
	for src, want := range map[string]string{
		"a: x\u0085b: c": `{"a":"x","b":"c"}`,
		"a\u0085b\u2028c\u2029\u2028d\u0085\u0085e": `"a b` + "\u2028c\u2029\u2028" + `d\ne"`,
		"|\n a\u0085 b\u2028 c\u2029\u2029 d\r\n":   `"a\nb` + "\u2028c\u2029\u2029d" + `\n"`,
		"|+\n a\u2028\u2029\n":                      `"a` + "\u2028\u2029" + `\n"`,
		"|-\n a\u2028":                              `"a"`,
		">-\n a\u2028 b\u0085 c\n\n":                `"a` + "\u2028" + `b c"`,
		"a: |\n x\u2029 y":                          "{\"a\":\"x\u2029y\"}",
		"? 'a\u0085b'\n: \"x\\\u2028y\"":            `{"a b":"xy"}`,
		"spec: # \u2028 {a: \"\nEVIL: 1\n#\"}":      `{"spec":{"a":" EVIL: 1 #"}}`,
	} {
		r := yamlbridge.Reader{Dialect: yamlbridge.Server}
		out, err := r.AppendJSON(nil, []byte(src))
		require.NoError(t, err, "%q", src)
		assert.Equal(t, want, string(out), "%q", src)
	}
}

// TestOldBreaksFirst: faults before a line break are reported first.
func TestOldBreaksFirst(t *testing.T) {
	for _, r := range everyReader() {
		_, err := r.AppendJSON(nil, []byte("a: 'x\u2028'\nb: ]\nc: \u2028"))
		require.ErrorContains(t, err, "2:4: ")
		require.NotContains(t, err.Error(), "outside")
		_, err = r.AppendJSON(nil, []byte("a: 'x\u2028'\nc: \u2028\nb: ]"))
		require.ErrorContains(t, err, "2:4: U+2028 outside quotes")
	}
}
