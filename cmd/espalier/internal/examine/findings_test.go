package examine

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/schemas"
	"github.com/espalier-dev/espalier/decoder"
)

// TestShortened wants the middle of long messages left out, between characters.
func TestShortened(t *testing.T) {
	assert.Equal(t, "abc", shortened("abc", 3))
	assert.Equal(t, "abcd[... 91 bytes ...]vw", shortened("abcd"+strings.Repeat("x", 91)+"vw", 6))
	for most := 6; most < 12; most++ {
		text := shortened(strings.Repeat("ä", 100), most)
		assert.True(t, utf8.ValidString(text), text)
		assert.Less(t, len(text), 40)
	}
	// What is deep has a path as long as the document.
	deep := []byte(`{"apiVersion":"v1","kind":"Deep","a":` + strings.Repeat(`{"a":`, 20_000))
	s, err := schemas.Load(schemas.Sources{})
	require.NoError(t, err)
	e := New(&Settings{Loaded: s, Validation: decoder.Strict})
	e.IgnoreMissing = true
	e.Input("deep.json", bytes.NewReader(deep), func(o *Object) bool {
		require.Len(t, o.Findings, 1)
		assert.Equal(t, finding.RuleLimit, o.Findings[0].Rule)
		assert.Less(t, len(o.Findings[0].Message), 400)
		return true
	})
}
