package values

import (
	"math/bits"

	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/program"
)

// NOTE: A document that was not walked is read by the same machine as a result, but judging. It is
// then not known to be JSON, and to be as the schema wants it. Whatever the schema might change,
// but for defaults that are missing, and whatever might be wrong, is a doubt. Nothing is refused
// here, and nothing reported: with a doubt the document is walked.

const (
	// MostTaken is the length up to which documents are taken.
	MostTaken = 32 << 10
	// MostDepth is how many containers may be open in one.
	MostDepth = 1000
	// MostDefaults is how many bytes of defaults are inserted into one that is taken.
	MostDefaults = 64 << 10
	// NumberBytes is the length up to which numbers are taken.
	NumberBytes = 300
)

// Take returns the value of a document of up to MostTaken bytes, with Padding zeros after it, as
// Make returns that of the result of a walk. It reports whether it is sure of it. It is not if the
// document may not be valid JSON, if a walk might drop, replace or report a part of it, or if the
// limits above do not allow it. The node root, which is not nil, governs the document.
func (m *Maker) Take(src []byte, root *program.Node) (v any, ok bool) {
	m.src, m.judging = src, true
	m.chunks.start(m.Separate)
	if m.read(root) && jsonwire.Blanks(src, m.cursor.pos) == len(src)-Padding {
		v, ok = m.make()
	}
	m.chunks.end()
	m.src, m.judging, m.defaults = nil, false, defaults{}
	return v, ok
}

// defaults are those of the object that ends at an index of the source, while they are read.
type defaults struct {
	source   []byte // nil if none are being read
	end      int
	inserted int // bytes, for all objects of the document
}

// nextDefault goes to the next missing default of the innermost object, or back to the source.
func (m *Maker) nextDefault() (place int, ok bool) {
	top := &m.open[m.cursor.depth]
	missing := top.node.Defaulted &^ top.seen
	if missing == 0 {
		m.src, m.cursor.pos = m.defaults.source, m.defaults.end
		m.judging, m.defaults.source = true, nil
		return readAfter, true
	}
	f := &top.node.Fields[bits.TrailingZeros64(missing)]
	top.seen |= f.Bit
	m.defaults.inserted += len(",") + len(f.Key) + len(f.Default)
	if m.defaults.inserted > MostDefaults || len(f.Default) >= longLength {
		return 0, false // a long string would be read in the source later
	}
	m.defaulted = append(append(m.defaulted[:0], f.Default...), padding[:]...)
	m.chunks.text = append(m.chunks.text, m.defaulted...) // room for its texts
	m.note(entryField, top.node.Index(f), 0)              // a value leaves room for a name after it
	m.src, m.cursor.pos, m.cursor.node, m.cursor.cell = m.defaulted, 0, f.Node, f.Cell
	return readValue, true
}

var padding [Padding]byte

// isNumber reports whether what is between the cursor and end is a number, and any number may be there.
func (m *Maker) isNumber(end int) bool {
	if m.cursor.node.Types != program.Any {
		return false
	}
	valid, _, _, s := jsonwire.ScanNumber(m.src, m.cursor.pos)
	return s == jsonwire.OK && valid == end && end-m.cursor.pos <= NumberBytes
}
