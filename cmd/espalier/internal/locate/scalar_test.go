package locate

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// TestInScalar finds each character of a value in texts of all styles.
func TestInScalar(t *testing.T) {
	for _, text := range []string{
		"self.a == 1 && b", "self.é  == '🌳'", "'it''s ''x'' é'", `"a \"b\" \u00e9 \U0001F333 \x41\t\n/ z"`, `"a \
    b
    c

    d"`,
		"a  b\n  c\n\n\n  d e", "'a\n  b\n\n  c'",
		"|\n  a &&\n  b\n", "|-\n  a\n\n    more\n  b c", "|\n\n  a\n  b", ">\n  a\n  b\n\n  c\n", ">-\n  a\n    more\n  b",
		"|\r\n  a\r\n  b\r\n", "|  # comment\n  a\n  b", "|\n   a  \n   b",
	} {
		doc := "key: " + text
		var value struct{ Key string }
		require.NoError(t, yaml.Unmarshal([]byte(doc), &value), "%q", text)
		want := strings.ReplaceAll(value.Key, "\r", "")
		line, column := 1, 1
		for _, r := range want {
			at, ok := InScalar([]byte(doc), 5, want, line, column)
			if assert.True(t, ok, "%q, %d:%d", text, line, column) && r > ' ' {
				rest := doc[at:]
				assert.True(t, strings.HasPrefix(rest, string(r)) || rest[0] == '\\', "%q, %d:%d: %q", text, line, column, rest)
			}
			if column++; r == '\n' {
				line, column = line+1, 1
			}
		}
	}
	for _, text := range []string{"", "!!str abc", "&a abc", "|1\n abc", "|", "|\n", `"a\`, `"a\u12`, `"\q`, "x\nabc", "'a", "abd", "a", "\"a\nx", ">\n  a\n  x", `"a`} {
		_, ok := InScalar([]byte(text), 0, "abcé", 1, 4)
		assert.False(t, ok, "%q", text)
	}
	at, ok := InScalar([]byte(`"\ud83c\udf33x"`), 0, "🌳x", 1, 2) // as in JSON
	assert.True(t, ok)
	assert.Equal(t, 13, at)
	_, ok = InScalar([]byte("abc"), 0, "abc", 2, 1)
	assert.False(t, ok)
	_, ok = InScalar([]byte("abc"), 0, "abc", 1, 9)
	assert.False(t, ok)
}
