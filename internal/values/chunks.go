package values

// NOTE: The strings and numbers of a result are cut out of chunks, as to allocate each by
// itself costs more than all else that is done to it. Whoever keeps one of them keeps its
// chunk: so chunks are small, and long strings are not in them.

const (
	textChunk  = 16 << 10 // bytes of strings that are allocated together, at most
	boxChunk   = 250      // strings or numbers in interface values, 4 KB of strings
	longLength = 1 << 10  // bytes, from which on a string is allocated by itself
	maxShared  = 255      // the largest integer for which Go allocates nothing
)

// chunks have the strings and numbers of one result.
type chunks struct {
	separate bool // each is allocated by itself

	text             []byte // of all short strings and names
	strings, numbers int    // how many may be to come

	cutting        string // the current chunk, a copy of text from cutFrom to cutTo
	cutFrom, cutTo int
	boxes          boxes
}

func (c *chunks) start(separate bool) {
	c.separate = separate
	c.strings, c.numbers = 0, 0
	c.cutFrom, c.cutTo = 0, 0
}

// end lets go of the result.
func (c *chunks) end() {
	c.cutting = ""
	c.boxes = boxes{}
}

// cut returns a part of the text, which starts where the last part ended, as a string. A chunk
// is copied at once and before it is used: a map that hashes a name right after it was
// written waits for the memory.
//
//espalier:inline
func (c *chunks) cut(from, to int) string {
	if c.separate {
		return string(c.text[from:to])
	}
	if to > c.cutTo {
		c.cutFrom, c.cutTo = from, min(from+textChunk, len(c.text))
		c.cutting = string(c.text[from:c.cutTo])
	}
	return c.cutting[from-c.cutFrom : to-c.cutFrom]
}
