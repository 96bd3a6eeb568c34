package skip

import "github.com/espalier-dev/espalier/internal/jsonwire"

// A Cursor reads a JSON text in memory, for callers that look into some values and pass all others.
type Cursor struct {
	Text []byte
	At   int    // what is read next
	Path []Step // to the value that is read next, through the containers around it
}

// A Step leads to an element by its index, or to a member by its name, which is not nil then.
type Step struct {
	Name  []byte
	Index int
}

// Next passes blanks, and returns the byte after them, or 0 at the end.
func (c *Cursor) Next() byte {
	if b := jsonwire.At(c.Text, c.At); b > ' ' {
		return b
	}
	c.At = jsonwire.Blanks(c.Text, c.At)
	return jsonwire.At(c.Text, c.At)
}

// passes reports whether the next byte is this one, and passes it if it is.
func (c *Cursor) passes(token byte) bool {
	if c.Next() != token {
		return false
	}
	c.At++
	return true
}

// Value passes a value and returns it, which is a part of Text. It is not ok if function [Value] does
// not take it for one.
func (c *Cursor) Value() (value []byte, ok bool) {
	isString := c.Next() == '"' // as most values
	from := c.At
	if isString {
		end, _, status := jsonwire.ScanString(c.Text, from+1)
		c.At, ok = end+1, status == jsonwire.OK
	} else {
		c.At, ok = Value(c.Text, from)
	}
	if !ok {
		return nil, false
	}
	return c.Text[from:c.At], true
}

// Each reads the object or array that comes next, and calls read for each of its values, when that
// comes next. read has to pass the value. Each stops where read is not ok, or something else comes than
// JSON wants; then it is not ok, and the cursor of no further use.
func (c *Cursor) Each(read func(Step) (ok bool)) (ok bool) {
	closing := c.Next() + 2 // of both kinds
	c.At++
	c.Path = append(c.Path, Step{})
	last := len(c.Path) - 1
	if c.Next() != closing {
		for n := 0; ; n++ {
			step := Step{Index: n}
			if closing == '}' {
				if step, ok = c.name(); !ok {
					return false
				}
			}
			c.Path[last] = step
			if !read(step) {
				return false
			}
			if !c.passes(',') {
				break
			}
		}
	}
	c.Path = c.Path[:last]
	return c.passes(closing)
}

// name reads the name of a member, and the colon after it. Without escapes, the name is a part of Text.
func (c *Cursor) name() (s Step, ok bool) {
	if c.Next() != '"' {
		return s, false
	}
	if s.Name, c.At, ok = jsonwire.Text(c.Text, c.At); !ok {
		return s, false
	}
	return s, c.passes(':')
}
