package edit

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/yamlbridge"
)

// TestStrictFlow: edits in brackets leave text that readers of YAML 1.2 accept.
func TestStrictFlow(t *testing.T) {
	for text, want := range map[string]string{
		"m: {x:\n      y, # c\n      q: \"b\"}\n":   "m: { # c\n      q: \"b\"}\n",
		"m: {x: 1, # c\n  q: b}\n":                  "m: { # c\n  q: b}\n",
		"m: {x: 1,\t# c\n  q: b}\n":                 "m: {\t# c\n  q: b}\n",
		"m: {a: {x: 1, # c\n  q: b}, # d\n c: e}\n": "m: {a: { # c\n  q: b}, # d\n c: e}\n",
		"m: {q: b, x: 1 # c\n}\n":                   "m: {q: b # c\n}\n",
		"m: {q: b, x: 1, # c\n}\n":                  "m: {q: b, # c\n}\n",
	} {
		got, _, err := removeX(t, text)
		assert.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
}

// flowText writes a mapping in brackets with line breaks and comments wherever they may
// be. Names that start with x are to go.
func flowText(r *rand.Rand, b *bytes.Buffer, depth int) {
	blank := func() {
		b.WriteString([]string{"", "", " ", "  ", "\t", "\n  ", " # c,{\n  ", "\n\n  # d\n   ", " #e\n "}[r.IntN(9)])
	}
	b.WriteString("{")
	n := r.IntN(4)
	for i := range n {
		blank()
		b.WriteString([]string{"x", "k", "'x'", "\"k", "x"}[r.IntN(3)])
		b.WriteString(string(rune('a'+i)) + string(rune('a'+r.IntN(26))) + string(rune('a'+depth)))
		b.WriteString(": ")
		switch {
		case depth > 0 && r.IntN(3) == 0:
			flowText(r, b, depth-1)
		case r.IntN(6) == 0:
			b.WriteString("[")
			blank()
			b.WriteString("v")
			blank()
			b.WriteString("]")
		default:
			b.WriteString([]string{"v", "\"}#\"", "'it''s #'", "a#b", "1"}[r.IntN(5)])
		}
		blank()
		if i < n-1 || r.IntN(3) == 0 {
			b.WriteString(",")
		}
	}
	blank()
	b.WriteString("}")
}

// TestStrictGenerated: no comment touches what is before it, and no line starts with a
// comma that did not, as a look at the whole text finds it.
func TestStrictGenerated(t *testing.T) {
	edited := 0
	for seed := range uint64(30_000) {
		r := rand.New(rand.NewPCG(seed, 3))
		var b bytes.Buffer
		b.WriteString("m: ")
		flowText(r, &b, 2)
		b.WriteString("\n")
		js, err := yamlbridge.AppendJSON(nil, b.Bytes())
		if err != nil {
			continue
		}
		names := xNames(js)
		edits, _, err := YAML(b.Bytes(), names)
		if err != nil || len(names) == 0 {
			continue
		}
		edited++
		got := Apply(b.Bytes(), edits)
		s := scanner{text: got}
		for kind, _ := s.next(); kind != 0; kind, _ = s.next() {
			if at := s.at - 1; kind == '}' && isBlank(got[bytes.LastIndexByte(got[:at], '\n')+1:at]) {
				require.NotEqual(t, byte('\n'), got[at-1], "a bracket is less indented than the mapping\n%s->\n%s", b.Bytes(), got)
			}
			if s.at < len(got) && got[s.at] == '#' && bytes.IndexByte([]byte("{}[],\"'"), got[s.at-1]) >= 0 {
				require.Fail(t, "a comment touches something", "%s->\n%s", b.Bytes(), got)
			}
		}
	}
	assert.Greater(t, edited, 5_000)
}

// TestStrict: a text that only some would read is none.
func TestStrict(t *testing.T) {
	for _, test := range []struct {
		text, gone string
		want       bool
	}{
		{"{x: 1, # c\n a: 1}", "x: 1, ", false},
		{"{x: 1, # c\n a: 1}", "x: 1,", true},
		{"{a: 1\n x: 2, b: 3}", "x: 2", false},
		{"{a: 1, x: 2\n, b: 3}", " x: 2\n,", true},
		{"{a: \"b\" # c\n}", "\"b\" ", true},
	} {
		from := bytes.Index([]byte(test.text), []byte(test.gone))
		e := newEditor([]byte(test.text), nil, nil)
		assert.Equal(t, test.want, e.isStrict([]Edit{{From: from, To: from + len(test.gone)}}), "%q without %q", test.text, test.gone)
	}
}
