package schema_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// TestCopiesOfCommonNodes holds that copies of nodes that all programs with validations share allow
// the types that these did before they had rules.
func TestCopiesOfCommonNodes(t *testing.T) {
	s, err := schema.Parse([]byte(`{type: object, properties: {e: {type: object, x-kubernetes-embedded-resource: true, properties: {
  metadata: {type: object, properties: {annotations: {type: object, nullable: true}}},
}}}}`))
	require.NoError(t, err)
	const js = `{"e":{"apiVersion":"v1","kind":"K","metadata":{"annotations":{"a":null}}}}`
	for _, opts := range [][]schema.Option{nil, {validation.Values()}} {
		p, err := schema.Compile(s, opts...)
		require.NoError(t, err)
		out, err := decoder.New(p).AppendJSON(nil, []byte(js))
		require.NoError(t, err)
		assert.Equal(t, js, string(out))
	}
}
