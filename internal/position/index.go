package position

import (
	"slices"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/memory"
)

// blockBytes is the distance of the places whose lines an Index keeps. To keep the start of each
// line would take eight times the memory of a text of line feeds.
const blockBytes = 1 << 10

// An Index finds positions in a text of UTF-8 in any order. It keeps the lines of places at equal
// distances. So an answer counts one block at most, and the text is counted once, as far as offsets
// reach. The zero Index has no text. An Index is for one goroutine at a time.
type Index struct {
	counter Counter
	lead    int
	passed  []line // at the start of each block that the Counter has reached
}

// Start gives the Index a text, whose first lead bytes are a byte order mark and no characters. It
// keeps the text.
func (x *Index) Start(text []byte, lead int) {
	x.counter, x.lead, x.passed = Counter{Text: text}, lead, x.passed[:0]
}

// Forget drops the text. The Index keeps its memory.
func (x *Index) Forget() { x.Start(nil, 0) }

// Held returns how many bytes of memory the Index keeps.
func (x *Index) Held() int { return memory.Held(x.passed) }

// At returns the position of an offset in the text, or of its end if that is before the offset.
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

// pass counts up to a block, and keeps the lines on the way.
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

// enter goes to the start of a block that has been counted.
func (x *Index) enter(block int) {
	x.counter.at, x.counter.line = block*blockBytes, x.passed[block]
	if block == 0 {
		x.counter.at = x.lead
	}
}
