package skip

import "github.com/espalier-dev/espalier/internal/jsonwire"

// A Cursor reads a JSON text in memory, for callers that look into some values and pass all others.
type Cursor struct {
	Text []byte
	At   int // what is read next
}

// Next passes blanks, and returns the byte after them, or 0 at the end.
func (c *Cursor) Next() byte {
	if b := jsonwire.At(c.Text, c.At); b > ' ' {
		return b
	}
	c.At = jsonwire.Blanks(c.Text, c.At)
	return jsonwire.At(c.Text, c.At)
}

// Name reads the name of a member, and the colon after it. Without escapes, the name is a part of Text.
func (c *Cursor) Name() (name []byte, ok bool) {
	if c.Next() != '"' {
		return nil, false
	}
	if name, c.At, ok = jsonwire.Text(c.Text, c.At); !ok || c.Next() != ':' {
		return nil, false
	}
	c.At++
	return name, true
}

// Value passes a value, which is a part of Text. What is a value, [Value] says.
func (c *Cursor) Value() (value []byte, ok bool) {
	if c.Next() != '"' {
		from := c.At
		c.At, ok = Value(c.Text, from)
		return c.Text[from:c.At], ok
	}
	from := c.At
	end, _, status := jsonwire.ScanString(c.Text, from+1) // most values are strings
	if c.At = end; status != jsonwire.OK {
		return nil, false
	}
	c.At++
	return c.Text[from:c.At], true
}
