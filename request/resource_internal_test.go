package request

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/internal/corpus"
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

// TestByKindForgets holds that resources whose definitions were removed from a catalog are dropped.
func TestByKindForgets(t *testing.T) {
	crds, err := schema.ParseCRD([]byte(corpus.Testdata("request/foos.yaml")))
	require.NoError(t, err)
	catalog := schema.NewCatalog()
	require.NoError(t, catalog.Add(crds...))
	k := &kinds{catalog: catalog}
	first, err := k.find("example.com/v1", "Foo")
	require.NoError(t, err)
	again, err := k.find("example.com/v1", "Foo")
	require.NoError(t, err)
	assert.Same(t, first, again)

	catalog.ReplaceAll(schema.NewCatalog())
	_, err = k.find("example.com/v1", "Bar")
	require.Error(t, err)
	assert.Empty(t, k.made, "whichever type is asked for")

	require.NoError(t, catalog.Add(crds...))
	_, err = k.find("example.com/v1", "Foo")
	require.NoError(t, err)
	assert.Len(t, k.made, 1)
}
