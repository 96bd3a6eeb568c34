package schema

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMergePatch has each place that a schema can be in, and a schema that contains itself.
func TestMergePatch(t *testing.T) {
	assert.Nil(t, (*Structural)(nil).MergePatch())
	const text = `{"type":"object","properties":{"a":{"type":"string","default":"x"},
		"m":{"type":"object","additionalProperties":{"type":"integer","default":1}},
		"f":{"type":"object","additionalProperties":false},
		"l":{"type":"array","items":{"type":"object","properties":{"b":{"type":"boolean","default":true}}}}}}`
	s, err := Parse([]byte(text))
	require.NoError(t, err)
	got, err := s.MergePatch().MarshalJSON()
	require.NoError(t, err)
	assert.JSONEq(t, `{"type":"object","nullable":true,"properties":{"a":{"type":"string","nullable":true},
		"m":{"type":"object","nullable":true,"additionalProperties":{"type":"integer","nullable":true}},
		"f":{"type":"object","nullable":true,"additionalProperties":false},
		"l":{"type":"array","nullable":true,"items":{"type":"object","nullable":true,"properties":{"b":{"type":"boolean","nullable":true}}}}}}`, string(got))
	same, err := s.MarshalJSON()
	require.NoError(t, err)
	assert.JSONEq(t, text, string(same), "what it was made of is not changed")

	loop := &Structural{Type: "object"}
	loop.Properties = map[string]*Structural{"in": loop}
	p := loop.MergePatch()
	assert.Same(t, p, p.Properties["in"])
}
