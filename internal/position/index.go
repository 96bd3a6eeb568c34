package position

import (
	"slices"
	"unsafe"

	"github.com/espalier-dev/espalier/errors"
)

// blockBytes is how far apart places are whose lines an Index knows. To keep the start of each
// line would take eight times as much as a text of line feeds.
const blockBytes = 1 << 10

// An Index finds positions in a text of UTF-8 in any order. It remembers the lines of
// places that it has come past: what is asked for is a block away at most, and the text
// is counted once, as far as anybody asks. The zero Index is for a text that is none. It is
// for one goroutine at a time.
type Index struct {
	counter Counter
	lead    int
	passed  []line // at the start of each block that the Counter has reached
}

// Start makes the Index one for a text, whose first lead bytes are no characters: a byte
// order mark. It keeps the text, and its memory.
func (x *Index) Start(text []byte, lead int) {
	x.counter, x.lead, x.passed = Counter{Text: text}, lead, x.passed[:0]
}

// Forget lets go of the text, and keeps its memory.
func (x *Index) Forget() { x.Start(nil, 0) }

// Held is how many bytes of memory the Index keeps.
func (x *Index) Held() int { return cap(x.passed) * int(unsafe.Sizeof(line{})) }

// At returns the position of an offset in the text, or of its end if that is before.
func (x *Index) At(offset int) errors.Position {
	c := &x.counter
	offset = min(offset, len(c.Text))
	if len(x.passed) == 0 {
		x.passed = append(slices.Grow(x.passed, len(c.Text)/blockBytes+1), line{})
		c.at = min(x.lead, offset)
	}
	if block := offset / blockBytes; block >= len(x.passed) {
		x.pass(block)
	} else if !c.Reaches(offset) || c.at < block*blockBytes {
		x.enter(block)
	}
	return c.At(offset)
}

// pass counts up to a block, and remembers the lines on the way.
func (x *Index) pass(block int) {
	c, last := &x.counter, len(x.passed)-1
	if c.at < last*blockBytes {
		x.enter(last)
	}
	for last < block {
		last++
		c.At(last * blockBytes)
		x.passed = append(x.passed, c.line)
	}
}

// enter goes to the start of a block that was passed.
func (x *Index) enter(block int) {
	x.counter.at, x.counter.line = block*blockBytes, x.passed[block]
	if block == 0 {
		x.counter.at = x.lead
	}
}
