package edit

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// allNames returns where the names in a JSON text start.
func allNames(json []byte) (names []int) {
	dec := newDecoder(json)
	for {
		kind, n := dec.StackIndex(dec.StackDepth())
		at := tokenStart(json, int(dec.InputOffset()))
		if _, err := dec.ReadToken(); err != nil {
			return names
		}
		if kind == '{' && n%2 == 0 && json[at] == '"' {
			names = append(names, at)
		}
	}
}

// xNames returns where the names start that start with x.
func xNames(json []byte) []int {
	return slices.DeleteFunc(allNames(json), func(at int) bool { return json[at+1] != 'x' })
}

// removeX removes the members from a document whose names start with x, and returns the
// comments that were kept.
func removeX(t testing.TB, text string) (got string, kept []string, err error) {
	t.Helper()
	js, err := yamlbridge.AppendJSON(nil, []byte(text))
	require.NoError(t, err, "%q", text)
	edits, at, err := YAML([]byte(text), xNames(js))
	for _, at := range at {
		comment, _, _ := strings.Cut(text[at:], "\n")
		kept = append(kept, comment)
	}
	return string(Apply([]byte(text), edits)), kept, err
}

// edited are documents with their edited texts.
var edited = []struct{ name, text, want string }{
	{"nothing", "a: 1\n", "a: 1\n"},
	{"first, last and between", "x1: 0\na: 1\nx2: 2\nb: 3\nx3: 4\n", "a: 1\nb: 3\n"},
	{"no break at the end", "a: 1\nx: 2", "a: 1\n"},
	{"no break at the end that stays", "x: 2\na: 1", "a: 1"},
	{"CRLF", "a: 1\r\nx: 2\r\n# b\r\nb: 3\r\n", "a: 1\r\n# b\r\nb: 3\r\n"},
	{"byte order mark", "\uFEFFx: 1\na: 2\n", "\uFEFFa: 2\n"},
	{"comments", "# head\n\n# about x\n# more\nx: # behind\n  - 1\n  # in\n  # below\n# about b\nb: 3\n# end\n", "# head\n\n# about b\nb: 3\n# end\n"},
	{"comments of other depths", "a:\n# about nothing\n  x: 1\n    # below\n # about nothing\n  b: 2\n", "a:\n# about nothing\n # about nothing\n  b: 2\n"},
	{"comments of elements", "a:\n# about the element\n- x: 1\n  # about b\n  b: 2\n", "a:\n# about the element\n- # about b\n  b: 2\n"},
	{"no comment", "a: \"\n\n# text\"\nx: 1\nb: |\n  # text\nx2: 2\n", "a: \"\n\n# text\"\nb: |\n  # text\n"},

	{"blank lines on both sides", "a: 1\n\nx: 1\n\nb: 2\n\n\nx2: 3\n\n\nx3: 3\n\nc: 3\n\nx4: 4\n", "a: 1\n\nb: 2\n\n\nc: 3\n"},
	{"blank lines on one side", "a: 1\nx: 1\n\nb: 2\n\nx2: 3\nc: 3\n", "a: 1\n\nb: 2\n\nc: 3\n"},
	{"blank lines at the start", "x0: 1\n\na:\n  x: 1\n\n  b: 2\n", "a:\n  b: 2\n"},
	{"blank lines in a text", "x: |\n  a\n\n  b\n\nb: |+\n  a\n\nx2: 2\n\nc: 3\n", "b: |+\n  a\n\nc: 3\n"},

	{"mapping", "a: # c\n  x: 1\n  # about x2\n  x2: 2\nb: 2\n", "a: {} # c\nb: 2\n"},
	{"mapping with properties", "a: &a\n  x: 1\nb: !!map # c\n\n  x: 1\nc: *a\n", "a: &a {}\nb: !!map {} # c\n\nc: *a\n"},
	{"mapping below a key in quotes", "'a # b': \n  x: 1\n\"c: # d\": # e\n  x: 1\n", "'a # b': {}\n\"c: # d\": {} # e\n"},
	{"sequence", "a:\n- x: 1\n  b: 2\n- x: 1\n- c: 1\n  x:\n  - 1\n  - 2\n-\n  x: 1\n-   # c\n  x: 1\n", "a:\n- b: 2\n- {}\n- c: 1\n- {}\n- {}   # c\n"},
	{"first members of an element", "-   x1: 1\n    # about x2\n    x2: 2\n\n    # alone\n\n    x3: 3\n    b: 2\n", "-   # alone\n\n    b: 2\n"},
	{"all members of an element", "- x1: 1\n  # about x2\n  x2: 2\n  # end\n- a\n", "- {}\n  # end\n- a\n"},
	{"sequence of sequences", "a:\n  - - x: 1\n      b: 2\n    - x: 1\n", "a:\n  - - b: 2\n    - {}\n"},
	{"values of several lines", "x1: >-\n  a\n\n  b\nc: 'a\n  b'\nx2: \"a\nb: c\n\"\nx3: a\n  b\nx4: [\n{a: b},\n'[']\nd: e\n", "c: 'a\n  b'\nd: e\n"},
	{"values in brackets", "a:\n  x: {\n  b: 1\n} # c\n  c: 2\n", "a:\n  c: 2\n"},
	{"empty values", "x1:\na:\nx2: # c\n'b':\n- x: !!null\n- x: &a\n  y: 1\n", "a:\n'b':\n- {}\n- y: 1\n"},
	{"names in quotes, with properties", "'x1': 1\n\"x\\x32\": 2\n!!str x3: 3\n&x x4: 4\na: 5\n", "a: 5\n"},

	{"brackets", "a: {b: 1, x: 2, c: 3}\n", "a: {b: 1, c: 3}\n"},
	{"brackets, first", "a: {x: 2, c: 3}\n", "a: {c: 3}\n"},
	{"brackets, last", "a: {c: 3, x: 2}\n", "a: {c: 3}\n"},
	{"brackets, last ones", "a: { c: 3, x: 2, x3: 4 }\n", "a: { c: 3 }\n"},
	{"brackets, all", "a: {x: {}, x2: []} # c\n", "a: {} # c\n"},
	{"brackets, comma at the end", "a: { b: 1, x: 2, }\n", "a: { b: 1, }\n"},
	{"brackets, text", "a: {b: it's, x: \"}\", c: a \"b, 'd,': 'it''s}', x2: !<tag:yaml.org,2002:str> e, f: &a a#b, x3: *a}\n", "a: {b: it's, c: a \"b, 'd,': 'it''s}', f: &a a#b}\n"},
	{"brackets, no values", "a: {b, x, \"c\":d, ? x2 : e, f: , x3: , g}\n", "a: {b, \"c\":d, f: , g}\n"},
	{"brackets, line by line", "{\n  a: 1, # c\n  # about x\n  x: {\n    b: c },\n\n  d: e,\n}\n", "{\n  a: 1, # c\n\n  d: e,\n}\n"},
	{"brackets, line by line, last", "{\n  a: 1, # c\n  # about x\n  x: {\n    b: c } # d\n}\n", "{\n  a: 1 # c\n}\n"},
	{"brackets, some lines", "a: {b: 1, x1: 2,\n  c: 3, x2: 4, # c\n  x3: 5, d: 6, x4: 7\n}\n", "a: {b: 1,\n  c: 3, # c\n  d: 6\n}\n"},
	{"brackets, comma in front", "a: {\n    x: 1\n  , b: 2\n  , x2: 3\n}\n", "a: {\n    b: 2\n}\n"},
	{"brackets in brackets", "[{a: {x: 1}, x: {x: 1}, b: [{x: 1, x2: {}}]}]\n", "[{a: {}, b: [{}]}]\n"},
	{"JSON", "{\"a\":1,\"x\":{\"b\":[1,\"}\"]},\n  \"c\":\"\\\"x\"}", "{\"a\":1,\n  \"c\":\"\\\"x\"}"},

	{"alias of what stays", "a: &a\n  x: 1\n  b: 2\nc: *a\n", "a: &a\n  b: 2\nc: *a\n"},
	{"merge key", "a: &a {x: 1, b: 2}\nc:\n  <<: *a\n  x: 2\n  d: 3\n", "a: &a {b: 2}\nc:\n  <<: *a\n  d: 3\n"},
	{"markers and directives", "%YAML 1.1\n# c\n---\nx: 1\na: 2\n...\n", "%YAML 1.1\n# c\n---\na: 2\n...\n"},
	{"all there is, behind a marker", "--- # c\nx: 1\n", "--- {} # c\n"},
}

func TestYAML(t *testing.T) {
	for _, test := range edited {
		got, kept, err := removeX(t, test.text)
		assert.NoError(t, err, test.name)
		assert.Equal(t, test.want, got, test.name)
		assert.Empty(t, kept, test.name)
	}
}

// refused are documents whose text alone does not tell how to edit it.
var refused = []struct{ name, text, want string }{
	{"anchor that is needed", "x: &b {c: 1}\na: *b\n", `could not be read any more, unknown anchor "b"; remove them by hand`},
	{"anchor of a mapping", "x: &b # b\n  c: 1 # d\na: *b # c\n", `unknown anchor "b"`},
	{"anchor of a name", "&x x4: 4\na: *x\n", `unknown anchor "x"`},
	{"anchor for a merge key", "xb: &b {e: 2}\nc:\n  <<: *b\n  z: 3\n", `unknown anchor "b"`},
	{"another anchor of the name", "a: &b 1\nx: &b 2\nc: *b\n", "would change something else"},
	{"member that is merged", "a: {<<: {x: 1, b: 2}, c: 3}\n", "would change something else"},
	{"tags", "%TAG !e! tag:yaml.org,2002:\n---\nx: &a !e!str b\nc: *a\n", `unknown anchor "a"`},
}

func TestRefused(t *testing.T) {
	for _, test := range refused {
		got, _, err := removeX(t, test.text)
		assert.ErrorContains(t, err, test.want, test.name)
		assert.ErrorContains(t, err, "its text cannot be edited: ", test.name)
		assert.Equal(t, test.text, got, test.name)
	}
}

// explicit are documents with question marks, and such as lose all that they have.
var explicit = []struct{ name, text, want string }{
	{"explicit key", "? x\n: 1\n\n# about a\n? a\n: 2\n", "# about a\n? a\n: 2\n"},
	{"no value", "a: 1\n? x\n? x2\n:\nb: 2\n", "a: 1\nb: 2\n"},
	{"values of several lines", "s:\n  ? 'x'\n  : - 1\n    - 2\n  ? x2 # c\n  :\n    a: b\n  # about k\n  ? k\n  : >\n    a\n\nb: 2\n", "s:\n  # about k\n  ? k\n  : >\n    a\n\nb: 2\n"},
	{"all of a mapping", "s:\n  ? x\n  : 1\nb: 2\n", "s: {}\nb: 2\n"},
	{"all there is", "# c\n\nx: 1\n", "# c\n{}\n"},
}

func TestExplicit(t *testing.T) {
	for _, test := range explicit {
		got, _, err := removeX(t, test.text)
		assert.NoError(t, err, test.name)
		assert.Equal(t, test.want, got, test.name)
	}
}

// TestBlankLines: a mapping that becomes {} keeps the blank line below it.
func TestBlankLines(t *testing.T) {
	for text, want := range map[string]string{
		"a:\n  x: 1\n\nb: 2\n":                         "a: {}\n\nb: 2\n",
		"a:\n  x: 1\n  x2: 1\n\n\nb: 2\n":              "a: {}\n\n\nb: 2\n",
		"a:\n\n  x: 1\n\nb: 2\n":                       "a: {}\n\nb: 2\n",
		"a:\n  b:\n    x: 1\n\n  c: 1\n":               "a:\n  b: {}\n\n  c: 1\n",
		"a:\n- x: 1\n  x2:\n    y: 1\n\n- b: 2\n":      "a:\n- {}\n\n- b: 2\n",
		"a:\n-\n  x: 1\n\n- b: 2\n":                    "a:\n- {}\n\n- b: 2\n",
		"a:\n  x: 1\n\n  b: 2\n":                       "a:\n  b: 2\n",
		"a:\r\n  x: 1\r\n\r\nb: 2\r\n":                 "a: {}\r\n\r\nb: 2\r\n",
		"a: {\n  x: 1\n}\n\nb: 2\n":                    "a: {}\n\nb: 2\n",
		"a:\n  # about x\n  x: 1\n\n  # end\n\nb: 2\n": "a: {}\n\n  # end\n\nb: 2\n",
	} {
		got, _, err := removeX(t, text)
		assert.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
}

func TestJSON(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{`{"x": 1, "a": "'#", "b": [{"x": 2}, {"x": {"x": 1}, "c": "\"},"}]}`, `{"a": "'#", "b": [{}, {"c": "\"},"}]}`},
		{"{\r\n\t\"a\": {\r\n\t\t\"x\": 1\r\n\t},\r\n\t\"x\": 1\r\n}", "{\r\n\t\"a\": {}\r\n}"},
		{"{\n  \"x\":\n    1,\n  \"a\": \"\\ud800\xff\",\n  \"x2\": [\n  ]\n}\n", "{\n  \"a\": \"\\ud800\xff\"\n}\n"},
		{`{"a":1,"a":2,"x":3,"x":4}`, `{"a":1,"a":2}`},
	} {
		edits, err := JSON([]byte(test.text), xNames([]byte(test.text)))
		assert.NoError(t, err)
		assert.Equal(t, test.want, string(Apply([]byte(test.text), edits)))
	}
	_, err := JSON([]byte("{"), nil)
	assert.Error(t, err)
}

// TestCopies: members that come through an alias are removed if they are from
// wherever it brings them, and else nowhere.
func TestCopies(t *testing.T) {
	text := []byte("# c\na: &a {d: 1, e: {f: 2}}\nb: *a\nc:\n  <<: *a # merge\n  g: 3\n")
	js, err := yamlbridge.AppendJSON(nil, text)
	require.NoError(t, err)
	require.Equal(t, `{"a":{"d":1,"e":{"f":2}},"b":{"d":1,"e":{"f":2}},"c":{"g":3,"d":1,"e":{"f":2}}}`, string(js))
	at := func(name string, n int) int {
		i := -1
		for range n {
			i += 1 + bytes.Index(js[i+1:], []byte(name))
		}
		return i
	}
	for line, names := range map[int][]int{3: {at(`"d"`, 2)}, 5: {at(`"f"`, 3)}} {
		_, _, err := YAML(text, names)
		assert.ErrorContains(t, err, fmt.Sprintf("a field to be removed comes to line %d from line 2 of the document", line))
	}
	edits, _, err := YAML(text, []int{at(`"d"`, 1), at(`"d"`, 2), at(`"d"`, 3)})
	assert.NoError(t, err)
	assert.Equal(t, "# c\na: &a {e: {f: 2}}\nb: *a\nc:\n  <<: *a # merge\n  g: 3\n", string(Apply(text, edits)))
}

// FuzzYAML holds that edits are in the text and lead to the JSON of the document
// without the members, whatever the document is.
func FuzzYAML(f *testing.F) {
	corpus.AddSeeds(f)
	for _, test := range slices.Concat(edited, refused, explicit) {
		f.Add([]byte(test.text), uint64(1))
	}
	f.Fuzz(func(t *testing.T, text []byte, which uint64) {
		js, err := yamlbridge.AppendJSON(nil, text)
		if err != nil {
			return
		}
		var names []int
		for i, at := range allNames(js) {
			if which>>(i%64)&1 != 0 {
				names = append(names, at)
			}
		}
		_, want, err := without(js, names)
		if err != nil {
			t.Fatal(err)
		}
		edits, _, err := YAML(text, names)
		if err != nil {
			return
		}
		at := 0
		for _, e := range edits {
			if e.From < at || e.To < e.From || e.To > len(text) {
				t.Fatalf("edits %v", edits)
			}
			at = e.To
		}
		got, err := yamlbridge.AppendJSON(nil, Apply(text, edits))
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%s, %v; want %s", got, err, want)
		}
	})
}
