package decoder

import (
	"flag"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/position"
	"github.com/espalier-dev/espalier/internal/respell"
	"github.com/espalier-dev/espalier/internal/skip"
	"github.com/espalier-dev/espalier/internal/spec"
	"github.com/espalier-dev/espalier/sample"
	"github.com/espalier-dev/espalier/schema"
)

// longText matches names and texts that are elided in paths, or that make tests slow that cut at
// each byte.
var longText = regexp.MustCompile(`"[^"]{60}`)

// randomDocument returns a document that mostly follows the schema.
func randomDocument(r *rand.Rand, s *schema.Structural) string {
	m := sample.New(s, "example.com/v1", "Trellis")
	for {
		if made := m.Mutated(sample.Bytes(r.Uint64())); !longText.Match(made) {
			return strings.TrimSpace(string(respell.RandomStyle(r).Append(nil, made, r)))
		}
	}
}

// unlimited keeps all findings.
var unlimited = Limits{Findings: 1 << 20, FindingBytes: 1 << 30, DefaultBytes: 1 << 16}

var randomPairs = flag.Int("pairs", 20_000, "how many random `documents` TestAgainstSpec compares")

// TestAgainstSpec compares random documents with the specification.
func TestAgainstSpec(t *testing.T) {
	s, err := schema.Parse([]byte(testSchema))
	require.NoError(t, err)
	pairs := Fewer(*randomPairs)
	for _, semantics := range []schema.Semantics{schema.Deployed, schema.KEP} {
		p, err := schema.Compile(s, semantics)
		require.NoError(t, err)
		rules := spec.NewRules(s, semantics, true)
		d := New(p, unlimited)
		quiet := New(p, Ignore)
		mismatched := 0
		for seed := range uint64(pairs) {
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
		t.Logf("%s: %d of %d are refused for a type", semantics, mismatched, pairs)
		require.Greater(t, mismatched, pairs/100)
		require.Less(t, mismatched, pairs/2)
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
	for seed := range uint64(400) {
		src := []byte(randomDocument(rand.New(rand.NewPCG(seed, 2)), s))
		want, err := d.AppendJSON(nil, src)
		if err != nil || d.walker.HasRepeats() {
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
