package skip

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestCursor reads an object with blanks around all tokens.
func TestCursor(t *testing.T) {
	c := Cursor{Text: []byte("\n{ \"a\" :\t\"x\\\"é\" ,\r\"\\u0062\": [1, \"]\"] , \"\":\"\" , \"n\":-1.5 }  ")}
	assert.Equal(t, byte('{'), c.Next())
	var names, values []string
	for open := byte('{'); c.Next() == open; open = ',' {
		c.At++
		name, ok := c.Name()
		assert.True(t, ok)
		assert.NotNil(t, name)
		value, ok := c.Value()
		assert.True(t, ok)
		names, values = append(names, string(name)), append(values, string(value))
	}
	assert.Equal(t, []string{"a", "b", "", "n"}, names)
	assert.Equal(t, []string{`"x\"é"`, `[1, "]"]`, `""`, "-1.5"}, values)
	assert.Equal(t, byte('}'), c.Next())
	c.At++
	assert.Equal(t, byte(0), c.Next())
	assert.Equal(t, len(c.Text), c.At)
}

// TestCursorRefuses has texts that begin with no name, and with no value.
func TestCursorRefuses(t *testing.T) {
	for _, text := range []string{``, ` `, `a`, `1:`, `"a`, `"a"`, `"a" 1`, `"\x":`, "\"\xff\":", `[":`} {
		_, ok := (&Cursor{Text: []byte(text)}).Name()
		assert.False(t, ok, "%q", text)
	}
	for _, text := range []string{``, ` `, `"a`, ` "\x"`, "\"\xff\"", `[`, `{"a":}`, `tru`, `]`, `1e999`} {
		_, ok := (&Cursor{Text: []byte(text)}).Value()
		assert.False(t, ok, "%q", text)
	}
}
