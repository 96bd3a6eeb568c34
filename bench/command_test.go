package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// TestManifests: the manifests have valid values, and each of the rules refuses some.
func TestManifests(t *testing.T) {
	js, err := manifestSchema()
	require.NoError(t, err)
	s, err := schema.Parse(js)
	require.NoError(t, err)
	program, err := schema.Compile(s, withValues)
	require.NoError(t, err)
	d := decoder.New(program, decoder.Strict, decoder.ValidateCreate)
	invalid := func(doc []byte) (n int) {
		_, _ = d.AppendJSON(nil, doc)
		for _, f := range d.Findings() {
			if f.Kind == errors.InvalidValue {
				n++
			}
		}
		return n
	}
	for seed := range uint64(50) {
		assert.Zero(t, invalid(itemsDocument(1000+seed, 20, 5)), d.Findings())
	}
	doc := string(itemsDocument(1000, 20, 5))
	for old, changed := range map[string]string{
		`"replicas":3`: `"replicas":-3`, `"path":"/`: `"path":"`, `"containerPort":`: `"containerPort":99`, `"image":"`: `"imag":"`,
	} {
		require.Contains(t, doc, old)
		assert.Positive(t, invalid([]byte(strings.Replace(doc, old, changed, 1))), changed)
	}
}
