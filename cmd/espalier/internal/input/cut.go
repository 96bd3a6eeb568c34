package input

// This file finds values in a JSON text in memory.

import (
	"math"

	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/skip"
)

// A cutter reads a JSON text from its start on.
type cutter struct {
	text []byte
	at   int
	skip skip.Skipper
}

// maxDepth is that of jsontext.
const maxDepth = 10_000

func newCutter(text []byte) *cutter {
	c := &cutter{text: text}
	c.skip.Bounds = skip.Bounds{Depth: maxDepth, NameBytes: math.MaxInt, NumberBytes: math.MaxInt}
	c.skip.EOF = true
	return c
}

// peek passes over white space and returns the next byte, or 0 at the end.
func (c *cutter) peek() byte {
	c.at = jsonwire.Blanks(c.text, c.at)
	return jsonwire.At(c.text, c.at)
}

// passes reports whether the next byte is this one, and passes over it.
func (c *cutter) passes(token byte) bool {
	if c.peek() != token {
		return false
	}
	c.at++
	return true
}

// value returns the value that comes next. It is not ok if there is none that is valid JSON; then at
// stays where it is, but for white space.
func (c *cutter) value() (value []byte, ok bool) {
	c.peek()
	c.skip.Start()
	end, status := c.skip.Skip(c.text, c.at, 0, false)
	if status != skip.Done {
		return nil, false
	}
	value = c.text[c.at:end]
	c.at = end
	return value, true
}
