package request

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/schema"
)

// TestBrokenResourceTakesNoSlots holds that requests for a resource whose options make no sense
// panic, and leave all slots for others.
func TestBrokenResourceTakesNoSlots(t *testing.T) {
	program, err := schema.Compile(&schema.Structural{Type: "object"})
	require.NoError(t, err)
	broken := &Resource{Program: program, Decoder: []decoder.Option{nil}}
	g := NewGate(Options{})
	free := g.budget.small.free
	for range free + 1 {
		assert.Panics(t, func() {
			judge(g, func(*Request, Peek) (*Resource, error) { return broken, nil }, strings.NewReader("{}"), -1, nil)
		})
	}
	assert.Equal(t, free, g.budget.small.free)
	assert.Zero(t, inUse(g.budget))
}
