package main

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTargets runs each target for a while, with its own mutator. Most of what it makes must be of use.
func TestTargets(t *testing.T) {
	for name, g := range targets {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			in, useful := input{}, 0
			for range 2000 {
				next, ok := parseInput(g.mutateInput(in, r).append(nil))
				if !ok {
					continue
				}
				in = next
				if in.structural() != nil && len(in.text) > 0 {
					useful++
				}
				g.check(t, in)
				require.False(t, t.Failed(), "how %d, schema %s, text %q", in.how, in.schema, in.text)
			}
			assert.Greater(t, useful, 1500)
		})
	}
}

// TestFailure: what a law says of a broken one reaches libFuzzer.
func TestFailure(t *testing.T) {
	assert.PanicsWithValue(t, "1 is not 2", func() { (&failure{}).Errorf("%d is not %d", 1, 2) })
	assert.Panics(t, func() { require.Equal(&failure{}, 1, 2) })
	in := input{how: 1, schema: []byte("{}"), text: []byte("a\x00b")}
	back, ok := parseInput(in.append(nil))
	require.True(t, ok)
	assert.Equal(t, in, back)
	_, ok = parseInput(nil)
	assert.False(t, ok)
}

// TestEdited: equal edits make equal inputs, and each edit counts.
func TestEdited(t *testing.T) {
	made := make(map[string]bool)
	for edit := range 256 {
		edits := []byte{1, byte(edit)}
		in := edited(targets["json"], 1, 7, edits)
		assert.Equal(t, in, edited(targets["json"], 1, 7, edits))
		made[string(in.append(nil))] = true
	}
	assert.Greater(t, len(made), 200)
	long := make([]byte, 100)
	assert.Equal(t, edited(targets["json"], 1, 7, long[:maxEdits]), edited(targets["json"], 1, 7, long))
}
