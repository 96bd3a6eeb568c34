package fuzz

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/schema"
)

// maxCaseBytes leaves out what is long to be hostile: it takes the server minutes.
const maxCaseBytes = 4096

// TestCases compares the cases under testdata, so that what they expect is what the
// server does: those for the semantics of Kubernetes by default, and those for a
// decoder that stands in for a server with that.
func TestCases(t *testing.T) {
	makers := map[string]maker{
		corpus.Kubernetes: newComparer,
		corpus.Server:     newExactComparer,
		corpus.Storage:    newStorageComparer,
	}
	compared := 0
	for _, c := range corpus.Load(t, "*/*") {
		if c.JSON == nil || c.ValueRoot || len(c.JSON) > maxCaseBytes {
			continue
		}
		for semantics, newComparer := range makers {
			if !slices.Contains(c.Semantics, semantics) {
				continue
			}
			compared++
			t.Run(c.Name+"/"+semantics, func(t *testing.T) {
				s, err := schema.Parse(c.Schema)
				require.NoError(t, err)
				p, err := newComparer(s, marshal(s))
				require.NoError(t, err)
				k, what, detail := p.compare(c.JSON)
				assert.NotEqual(t, differs, k, "%s\n%.2000s", what, detail)
			})
		}
	}
	assert.Greater(t, compared, 100)
}
