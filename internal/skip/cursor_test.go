package skip

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/espalier-dev/espalier/internal/jsonv2"
)

// readAll reads a value and all that is in it, and returns what it has seen.
func readAll(c *Cursor, seen *strings.Builder) bool {
	for _, s := range c.Path {
		if s.Name != nil {
			fmt.Fprintf(seen, ".%s", s.Name)
		} else {
			fmt.Fprintf(seen, "[%d]", s.Index)
		}
	}
	if b := c.Next(); b == '{' || b == '[' {
		fmt.Fprintf(seen, "=%c ", b)
		return c.Each(func(Step) bool { return readAll(c, seen) })
	}
	value, ok := c.Value()
	fmt.Fprintf(seen, "=%s ", value)
	return ok
}

// TestCursor reads a text with blanks around all tokens.
func TestCursor(t *testing.T) {
	c := Cursor{Text: []byte("\n{ \"a\" :\t\"x\\\"é\" ,\r\"\\u0062\": [1, \"]\" , { } , [ ] ,[\n{\"c\" : null}]] , \"\":\"\" , \"n\":-1.5 }  ")}
	var seen strings.Builder
	assert.True(t, readAll(&c, &seen))
	assert.Equal(t, `={ .a="x\"é" .b=[ .b[0]=1 .b[1]="]" .b[2]={ .b[3]=[ .b[4]=[ .b[4][0]={ .b[4][0].c=null .=""`+" .n=-1.5 ", seen.String())
	assert.Empty(t, c.Path)
	assert.False(t, c.passes(0x01))
	assert.Equal(t, byte(0), c.Next())
	assert.Equal(t, len(c.Text), c.At)
	for range 2 {
		_, ok := c.Value()
		assert.False(t, ok)
		c.At++ // beyond the end
	}
}

// TestCursorGrammar puts each of some bytes at each place of a text, and cuts the text there. What is
// read to its end is JSON, and all JSON is.
func TestCursorGrammar(t *testing.T) {
	const text = `{"a": [1, "b\n", {}], "": {"c": [[], null]}, "d": -1.5}`
	var right, wrong int
	for i := range len(text) {
		all := []string{text[:i], text[i:]}
		for _, b := range []byte("{}[],:\"\\ 1\xff\x00n") {
			all = append(all, text[:i]+string([]byte{b})+text[i:], text[:i]+string([]byte{b})+text[i+1:])
		}
		for _, one := range all {
			d := jsonv2.NewDecoder(bytes.NewReader([]byte(one)), jsonv2.AllowDuplicateNames(true))
			_, err := d.ReadValue()
			c := Cursor{Text: []byte(one)}
			ok := readAll(&c, new(strings.Builder))
			assert.Equal(t, err == nil, ok, "%q", one)
			if ok {
				assert.Equal(t, int(d.InputOffset()), c.At, "%q", one)
				right++
			} else {
				wrong++
			}
		}
	}
	assert.Greater(t, right, 100)
	assert.Greater(t, wrong, 500)
}

// TestCursorStops wants Each to stop where read does.
func TestCursorStops(t *testing.T) {
	c, n := Cursor{Text: []byte(`[1,2,3]`)}, 0
	assert.False(t, c.Each(func(Step) bool { _, ok := c.Value(); n++; return ok && n < 2 }))
	assert.Equal(t, 2, n)
}
