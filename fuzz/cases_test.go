package fuzz

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/schema"
)

// maxCaseBytes excludes cases that are long to be adversarial: the server takes minutes for them,
// or we elide their paths. Deep cases are within it.
const maxCaseBytes = 32 << 10

// TestCases compares the cases under testdata, so that their expectations are what the server does.
// Cases for the semantics of Kubernetes are compared by default, and those for a server mode in
// that mode.
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
				k, what, detail := caseComparer(t, &c, newComparer).compare(c.JSON)
				assert.NotEqual(t, differs, k, "%s\n%.2000s", what, detail)
			})
		}
	}
	assert.Greater(t, compared, 100)
}

// TestYAMLCases compares YAML cases. Each difference in the reading has a class.
func TestYAMLCases(t *testing.T) {
	compared := 0
	for _, c := range corpus.Load(t, "*/*") {
		if c.YAML == nil || c.ValueRoot || len(c.YAML) >= ferrors.MaxPathBytes { // paths of findings are elided
			continue
		}
		compared++
		t.Run(c.Name, func(t *testing.T) {
			for _, m := range kubernetesModes {
				k, what, detail := m.compare(c.YAML, nil)
				require.NotEqual(t, differs, k, "%s\n%.2000s", what, detail)
				if m != asServer || k != same || !slices.Contains(c.Semantics, corpus.Server) || isRandom(c.YAML) {
					continue
				}
				k, what, detail = caseComparer(t, &c, inYAML(newExactComparer)).compare(c.YAML)
				assert.NotEqual(t, differs, k, "%s\n%.2000s", what, detail)
			}
		})
	}
	assert.Greater(t, compared, 50)
}

// isRandom reports whether the server's reading of a text is random.
func isRandom(src []byte) bool {
	answer, err := ReadYAML(src)
	if err != nil {
		return false
	}
	_, random := CouldBe(src, answer.Value)
	return random
}

// caseComparer returns a comparer for the schema of a case.
func caseComparer(t *testing.T, c *corpus.Case, newComparer maker) *comparer {
	s, err := schema.Parse(c.Schema)
	require.NoError(t, err)
	p, err := newComparer(s, marshal(s))
	require.NoError(t, err)
	if p.exact && c.KindOptional {
		p.server.AnyType = true
		p.decoder = decoder.New(p.program, decoder.ServerTypedRequests)
	}
	return p
}
