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
	"github.com/espalier-dev/espalier/errors"
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

// TestLineAt wants as much of a line as is shown, however long the line is: a file may be one line
// with many findings.
func TestLineAt(t *testing.T) {
	for _, tt := range []struct{ before, here, after string }{
		{"", "x: 1", ""},
		{"a: 1\n", "x: 1", "\nb: 2"},
		{"a: 1\r\n", "  x: 1", "\r\nb: 2"},
		{"", "", "\n"},
	} {
		line, at := lineAt([]byte(tt.before+tt.here+tt.after), len(tt.before)+len(tt.here), 100)
		assert.Equal(t, tt.here, string(line))
		assert.Equal(t, len(tt.here), at)
	}
	var text strings.Builder
	for i := range 1000 {
		text.WriteRune(rune(0x4E00 + i)) // three bytes each
	}
	const after = 100
	for i := range 1000 {
		here := text.String()[3*i:]
		line, at := lineAt([]byte(text.String()), 3*i, after)
		assert.LessOrEqual(t, len(line), maxExcerpt+after+2*utf8.UTFMax)
		assert.True(t, strings.HasPrefix(here, string(line[at:])))
		source, cut := excerpt(line, errors.Position{Column: i + 1}, at)
		assert.True(t, strings.HasPrefix(text.String()[3*cut:], source))
		assert.LessOrEqual(t, cut, i)
	}
}
