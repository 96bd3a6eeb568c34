package decoder

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/position"
	"github.com/espalier-dev/espalier/internal/skip"
	"github.com/espalier-dev/espalier/internal/spec"
	"github.com/espalier-dev/espalier/schema"
)

// items returns the schema for the elements of arrays, or nil.
func items(s *schema.Structural) *schema.Structural {
	if s == nil || s.Items == nil {
		return nil
	}
	return s.Items.Schema
}

// valuesOf returns the schema for members that are not declared, or nil.
func valuesOf(s *schema.Structural) *schema.Structural {
	if s == nil || s.AdditionalProperties == nil {
		return nil
	}
	return s.AdditionalProperties.Schema
}

func isReserved(name string) bool {
	return name == "apiVersion" || name == "kind" || name == "metadata"
}

// A writer writes random documents that mostly conform to a schema.
type writer struct {
	*rand.Rand
	b      strings.Builder
	repeat bool // names may repeat
	typed  bool // values are of the schema's types
}

func (w *writer) one(texts ...string) string { return texts[w.IntN(len(texts))] }

func (w *writer) blank() {
	if w.IntN(8) == 0 {
		w.b.WriteString(w.one(" ", "\n", "\t", "\r\n", "          ", "  \n            "))
	}
}

func (w *writer) name(text string) {
	w.b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			w.b.WriteString(`\` + string(r))
		case w.IntN(40) == 0 && r < 0x10000:
			fmt.Fprintf(&w.b, `\u%04x`, r)
		default:
			w.b.WriteRune(r)
		}
	}
	w.b.WriteByte('"')
}

func (w *writer) value(s *schema.Structural, depth int) {
	w.blank()
	defer w.blank()
	if s == nil {
		s = &schema.Structural{Type: w.one("object", "array", "string", "integer", "null", "number",
			"boolean")}
	}
	kind := s.Type
	if !w.typed && w.IntN(12) == 0 || kind == "" {
		kind = w.one("object", "array", "string", "integer", "boolean", "number", "null", "null")
	}
	if s.XIntOrString {
		kind = w.one("integer", "string")
	}
	if w.IntN(12) == 0 {
		kind = "null"
	}
	if depth > 6 && (kind == "object" || kind == "array") {
		w.b.WriteString(w.one("{}", "[ ]", "{ }", "[]"))
		return
	}
	switch kind {
	case "object":
		w.object(s, depth)
	case "array":
		w.b.WriteByte('[')
		w.blank()
		for i := range w.IntN(4) {
			if i > 0 {
				w.b.WriteByte(',')
			}
			w.value(items(s), depth+1)
		}
		w.b.WriteByte(']')
	case "string":
		w.name(w.one("", "a", "hello", "é\"\\", "sixteen bytes 16",
			"longer than sixteen bytes, by a few", "日本語", "🌳"))
	case "integer":
		w.b.WriteString(w.one("0", "-1", "7", "123456", "9223372036854775807", "-9223372036854775808"))
	case "number":
		w.b.WriteString(w.one("1.5", "-0.25", "1e3", "2E-2", "0.0"))
	case "boolean":
		w.b.WriteString(w.one("true", "false"))
	default:
		w.b.WriteString("null")
	}
}

func (w *writer) object(s *schema.Structural, depth int) {
	known := []string{}
	for name := range s.Properties {
		known = append(known, name)
	}
	slices.Sort(known)
	var names []string
	for range w.IntN(7) {
		if len(known) > 0 && w.IntN(4) > 0 {
			names = append(names, known[w.IntN(len(known))])
		} else {
			names = append(names, w.one("x", "y", "unknown", "unknown-and-longer-than-sixteen", "é", "",
				"a.b", "kinds", "metadatas"))
		}
	}
	if w.IntN(100) == 0 {
		for i := range 40 {
			names = append(names, fmt.Sprint("many", i))
		}
	}
	if !w.repeat {
		slices.Sort(names)
		names = slices.Compact(names)
		w.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	}
	w.b.WriteByte('{')
	w.blank()
	for i, name := range names {
		if i > 0 {
			w.b.WriteByte(',')
			w.blank()
		}
		w.name(name)
		w.blank()
		w.b.WriteByte(':')
		below := s.Properties[name]
		if below == nil {
			below = valuesOf(s)
		}
		switch {
		case (depth == 0 || s.XEmbeddedResource) && name == "metadata":
			w.blank()
			w.b.WriteString(w.one(`{"name":"n"}`, `{"evil":{"a":1},"labels":{"a":"b"}}`,
				`{"name":"n","junk":[1]}`))
		case (depth == 0 || s.XEmbeddedResource) && isReserved(name):
			w.blank()
			w.b.WriteString(w.one(`"v1"`, `"Kind"`))
		default:
			w.value(below, depth+1)
		}
	}
	w.b.WriteByte('}')
}

func randomDocument(r *rand.Rand, s *schema.Structural) string {
	w := writer{Rand: r, repeat: r.IntN(3) == 0}
	w.object(s, 0)
	return w.b.String()
}

// unlimited keeps all findings.
var unlimited = Limits{Findings: 1 << 20, FindingBytes: 1 << 30, DefaultBytes: 1 << 16}

var randomPairs = flag.Int("pairs", 20_000, "how many random `documents` TestAgainstSpec compares")

// TestAgainstSpec compares random documents with the specification.
func TestAgainstSpec(t *testing.T) {
	s, err := schema.Parse([]byte(testSchema))
	require.NoError(t, err)
	for _, semantics := range []schema.Semantics{schema.Deployed, schema.KEP} {
		p, err := schema.Compile(s, semantics)
		require.NoError(t, err)
		rules := spec.NewRules(s, semantics, true)
		d := New(p, unlimited)
		quiet := New(p, Ignore)
		mismatched := 0
		for seed := range uint64(*randomPairs) {
			src := []byte(randomDocument(rand.New(rand.NewPCG(seed, 1)), s))
			if seed%2 == 0 {
				src = append(src, strings.Repeat(" ", 2*skip.Slack)...) // so that all of it can be simple
			}
			out, err := d.AppendJSON(nil, src)
			difference := rules.Difference(src, out, d.Findings(), err)
			require.Empty(t, difference, "seed %d, %s: %s", seed, semantics, src)
			if err != nil {
				mismatched++
				continue
			}
			again, err := quiet.AppendJSON([]byte("before"), src)
			require.NoError(t, err, "%s", src)
			require.Equal(t, "before"+string(out), string(again),
				"Ignore must not change the result of %s", src)
		}
		if semantics == schema.KEP {
			require.Greater(t, mismatched, *randomPairs/20)
			require.Less(t, mismatched, *randomPairs/10*9)
		} else {
			require.Zero(t, mismatched)
		}
	}
}

// TestCuts cuts documents at every byte and lets the walker go on.
func TestCuts(t *testing.T) {
	s, err := schema.Parse([]byte(testSchema))
	require.NoError(t, err)
	p, err := schema.Compile(s)
	require.NoError(t, err)
	d := New(p)
	compared := 0
	defer func() { require.Greater(t, compared, 150) }()
	for seed := range uint64(300) {
		src := []byte(randomDocument(rand.New(rand.NewPCG(seed, 2)), s))
		want, err := d.AppendJSON(nil, src)
		require.NoError(t, err)
		if d.walker.HasRepeats() {
			continue // the walk stops by itself
		}
		compared++
		findings := details(d.Findings())
		for at := range len(src) {
			got, list := walkInParts(t, d, src, at)
			require.Equal(t, string(want), got, "cut at %d of %s", at, src)
			require.Equal(t, findings, list)
		}
		every := make([]int, len(src))
		for i := range every {
			every[i] = i
		}
		got, list := walkInParts(t, d, src, every...)
		require.Equal(t, string(want), got, "cut everywhere in %s", src)
		require.Equal(t, findings, list)
	}
}

func walkInParts(t *testing.T, d *Decoder, src []byte, cuts ...int) (string, []string) {
	w := &d.walker
	w.Report = true
	w.Start(nil)
	d.lines, d.fromYAML = position.Counter{Text: src}, false
	for _, at := range cuts {
		require.Equal(t, skip.Cut, w.Run(src[:at:at], false), "cut at %d of %s", at, src)
	}
	require.Equal(t, skip.Done, w.Run(src, true), "cut at %d of %s", cuts, src)
	w.Found.Locate((*locator)(d))
	d.finish()
	return string(w.Out), details(w.Found.List)
}
