package decoder

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/schema"
)

// TestSequenceOfManyKinds asserts that a Sequence decodes objects of many kinds, in any order, as
// decoders of their own do, and that the states that it keeps for programs do not become more.
func TestSequenceOfManyKinds(t *testing.T) {
	const kinds = 4 * maxRecent
	var programs [kinds]*schema.Program
	for i := range programs {
		programs[i] = compileYAML(t, fmt.Sprintf(`
type: object
properties:
  f%d: {type: integer, default: %[1]d}
  odd: {type: number, default: 1e%[2]d}
  gone: {type: string, default: null}
  metadata: {type: object, properties: {name: {type: string, default: "n%[1]d"}}}
  common: {type: array, items: {type: object, properties: {g%[1]d: {type: string}}}}
`, i, i%3))
	}
	r := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	var order []int
	for i := range 4 * kinds {
		kind := r.IntN(kinds)
		if i >= 2*kinds {
			kind = i % kinds // no state is kept until its kind comes again
		}
		order = append(order, kind)
		fmt.Fprintf(&text, `{"apiVersion":"v1","kind":"%d","metadata":{},"f%d":%d,`+
			`"common":[{"g%[1]d":"x","g0":"y"}],"gone":null,"x%[3]d":1}`, kind, r.IntN(kinds), i)
		text.WriteByte('\n')
	}
	lookup := func(_, kind string) (*schema.Program, error) {
		var i int
		_, err := fmt.Sscan(kind, &i)
		return programs[i], err
	}
	for _, opts := range [][]Option{{}, {Strict, Compact(true)}, {ServerRequests}, {ServerStorage}} {
		s := NewSequence(strings.NewReader(text.String()), lookup, opts...)
		for _, kind := range order {
			require.NoError(t, s.Next())
			require.Empty(t, s.Findings())
			out, err := s.AppendJSON(nil)
			alone := New(programs[kind], opts...)
			want, wantErr := alone.AppendJSON(nil, s.Raw())
			require.Equal(t, string(want), string(out))
			require.Equal(t, fmt.Sprint(wantErr), fmt.Sprint(err))
			require.Equal(t, len(alone.Findings()), len(s.Findings()))
			for i, f := range s.Findings() {
				require.Equal(t, alone.Findings()[i].Path, f.Path)
			}
			require.LessOrEqual(t, len(s.programs.recent)+len(s.programs.older), 2*maxRecent)
		}
		assert.Len(t, s.programs.older, maxRecent)
	}
}

// TestSequenceAsServer asserts that a sequence looks at the defaults of its programs as a decoder does.
func TestSequenceAsServer(t *testing.T) {
	p := compileYAML(t, `{"type":"object","properties":{"f":{"type":"number","default":1.0}}}`)
	lookup := func(string, string) (*schema.Program, error) { return p, nil }
	for opt, want := range map[Option]string{Standalone: `{"kind":"K","f":1.0}`, ServerRequests: `{"kind":"K","f":1}`} {
		s := NewSequence(strings.NewReader(`{"kind":"K"}`), lookup, opt)
		require.NoError(t, s.Next())
		out, err := s.AppendJSON(nil)
		require.NoError(t, err)
		assert.Equal(t, want, string(out))
	}
}
