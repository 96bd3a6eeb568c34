package values

// NOTE: The strings and numbers of a result are cut out of chunks. An allocation for each would
// cost more than all other work on it. A string or number keeps its whole chunk alive, so chunks
// are small, and long strings have memory of their own.

const (
	textChunk  = 16 << 10 // bytes of strings that are allocated together, at most
	boxChunk   = 250      // strings or numbers in interface values, 4 KB of strings
	longLength = 1 << 10  // bytes; a string of this length or more is allocated by itself
	maxShared  = 255      // the largest integer for which Go allocates nothing
)

// chunks have the strings and numbers of one result.
type chunks struct {
	separate bool // each string and number is allocated by itself

	text             []byte // of all short strings and names
	strings, numbers int    // at most so many are still to come

	cutting        string // the current chunk, a copy of text from cutFrom to cutTo
	cutFrom, cutTo int
	boxes          boxes
}

func (c *chunks) start(separate bool) {
	c.separate = separate
	c.strings, c.numbers = 0, 0
	c.cutFrom, c.cutTo = 0, 0
}

// end drops the result.
func (c *chunks) end() {
	c.cutting = ""
	c.boxes = boxes{}
}

// cut returns the part of the text between two offsets as a string. It starts where the last part
// ended. A chunk is copied as a whole before it is used: a map that hashes a name right after it
// was written waits for the memory.
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
