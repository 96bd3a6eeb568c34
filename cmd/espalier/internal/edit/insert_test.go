package edit

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// insertNew inserts new: [1, a] into each object of a document that has no member
// called new, and puts 5 in the place of nulls.
func insertNew(t *testing.T, text string, isYAML bool) (string, error) {
	t.Helper()
	json := []byte(text)
	if isYAML {
		var err error
		json, err = yamlbridge.AppendJSON(nil, []byte(text))
		require.NoError(t, err)
	}
	root, err := parseTree(json)
	require.NoError(t, err)
	var insertions []Insertion
	var visit func(n *tree)
	visit = func(n *tree) {
		switch json[n.from] {
		case 'n':
			insertions = append(insertions, Insertion{At: n.from, Value: []byte(`5`)})
		case '{':
			if !strings.Contains(string(json[n.from:n.to]), `"new"`) || len(n.values) > 1 {
				insertions = append(insertions, Insertion{At: n.from, Name: "new", Value: []byte(`[1,"a"]`), Lines: "new:\n  - 1\n  - a\n"})
			}
		}
		for _, v := range n.values {
			visit(v)
		}
	}
	visit(root)
	add := InsertJSON
	if isYAML {
		add = InsertYAML
	}
	edits, err := add([]byte(text), insertions)
	for _, e := range edits {
		require.Contains(t, []string{"", "null", "Null", "NULL", "~"}, text[e.From:e.To], "nothing else is taken away")
	}
	return string(Apply([]byte(text), edits)), err
}

func TestInsertYAML(t *testing.T) {
	for name, test := range map[string]struct{ in, want string }{
		"one":             {"a: 1\n", "a: 1\nnew:\n  - 1\n  - a\n"},
		"no line break":   {"a: 1", "a: 1\nnew:\n  - 1\n  - a"},
		"CRLF":            {"a: 1\r\n", "a: 1\r\nnew:\r\n  - 1\r\n  - a\r\n"},
		"comment":         {"a: 1 # why\n\n# end\n", "a: 1 # why\nnew:\n  - 1\n  - a\n\n# end\n"},
		"nested":          {"a:\n    b: 1\nc: 2\n", "a:\n    b: 1\n    new:\n      - 1\n      - a\nc: 2\nnew:\n  - 1\n  - a\n"},
		"both at the end": {"a:\n  b: 1\n", "a:\n  b: 1\n  new:\n    - 1\n    - a\nnew:\n  - 1\n  - a\n"},
		"behind a dash":   {"- a: 1\n- b: 2\n", "- a: 1\n  new:\n    - 1\n    - a\n- b: 2\n  new:\n    - 1\n    - a\n"},
		"a sequence last": {"a:\n- 1\n- 2\n", "a:\n- 1\n- 2\nnew:\n  - 1\n  - a\n"},
		"a block scalar":  {"a: |\n  x\n\n  # y\n", "a: |\n  x\n\n  # y\nnew:\n  - 1\n  - a\n"},
		"in brackets":     {"{a: 1}\n", "{a: 1, \"new\": [1,\"a\"]}\n"},
		"empty":           {"a: {}\n", "a: {\"new\": [1,\"a\"]}\nnew:\n  - 1\n  - a\n"},
		"a comma":         {"{a: 1,}\n", "{a: 1, \"new\": [1,\"a\"]}\n"},
		"several lines":   {"{\n  a: 1\n}\n", "{\n  a: 1,\n  \"new\": [1,\"a\"]\n}\n"},
		"null":            {"[null, ~, {a: , b: 1}]\n", "[5, 5, {a: 5, b: 1, \"new\": [1,\"a\"]}]\n"},
		"nothing":         {"a:\nb: # c\n", "a: 5\nb: 5 # c\nnew:\n  - 1\n  - a\n"},
		"tags":            {"a: !!map\n  b: 1\n", "a: !!map\n  b: 1\n  new:\n    - 1\n    - a\nnew:\n  - 1\n  - a\n"},
		"a document":      {"--- # x\na: 1\n...\n", "--- # x\na: 1\nnew:\n  - 1\n  - a\n...\n"},
	} {
		got, err := insertNew(t, test.in, true)
		assert.NoError(t, err, name)
		assert.Equal(t, test.want, got, name)
	}
}

// TestInsertFails: insertions that would change something else are refused.
func TestInsertFails(t *testing.T) {
	for name, text := range map[string]string{
		"an alias":      "a: &x {b: 1}\nc: *x\n",
		"a kept line":   "a: |+\n  x\n\n",
		"a merged null": "x: &x {a: null}\ny:\n  <<: *x\n  b: 1\n",
	} {
		_, err := insertNew(t, text, true)
		assert.Equal(t, errNotInserted, err, name)
	}
}

func TestInsertJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{}`:                      `{"new": [1,"a"]}`,
		`{"a": 1}`:                `{"a": 1, "new": [1,"a"]}`,
		`{"a":null}`:              `{"a":5, "new": [1,"a"]}`,
		"{\n\t\"a\": {\n\t}\n}\n": "{\n\t\"a\": {\"new\": [1,\"a\"]\n\t},\n\t\"new\": [1,\"a\"]\n}\n",
	} {
		got, err := insertNew(t, in, false)
		assert.NoError(t, err, in)
		assert.Equal(t, want, got, in)
		assert.True(t, jsonv2.Value(got).IsValid())
	}
}

// TestInsertGenerated adds to documents of all styles. That the result is right is made
// sure by what is tested.
func TestInsertGenerated(t *testing.T) {
	documents := 0
	for seed := range uint64(1_000) {
		w := writer{Rand: rand.New(rand.NewPCG(seed, 1))}
		b, _ := w.block("", 4, false)
		lineBreak := w.one("\n", "\n", "\r\n")
		// A block scalar that ends with the text would be another with a line break.
		text := strings.Join(b.whole, lineBreak) + lineBreak
		if _, err := yamlbridge.AppendJSON(nil, []byte(text)); err != nil {
			continue
		}
		documents++
		_, err := insertNew(t, text, true)
		require.NoError(t, err, "seed %d\n%s", seed, text)
	}
	assert.Greater(t, documents, 900)
}
