package recognize_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/espalier-dev/espalier/internal/recognize"
)

// TestMatcher runs an automaton for ^a+$|^a+b: two states, three classes.
func TestMatcher(t *testing.T) {
	class := [256]uint8{'a': 1, 'b': 2}
	const start, after = recognize.First, recognize.First + 3
	m := recognize.NewMatcher(class, []recognize.State{
		0, 0,
		recognize.Doubt, after, recognize.Doubt,
		recognize.Doubt, after, recognize.Sure,
	}, start, after)
	for text, want := range map[string]bool{
		"": false, "a": true, "aa": true, "b": false, "ab": true, "aabé": true, "aac": false, "é": false,
	} {
		assert.Equal(t, want, m.Match([]byte(text)), "%q", text)
	}
	assert.Equal(t, 256+2*8, m.Size())
	assert.True(t, recognize.NewMatcher(class, nil, recognize.Sure, recognize.First).Match(nil))
}
