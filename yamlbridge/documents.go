package yamlbridge

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math"
	"math/bits"

	"github.com/espalier-dev/espalier/errors"
)

// A Document is one document of a YAML stream.
type Document struct {
	// Bytes is the text of the document with its directives and markers.
	Bytes []byte
	// Origin is where Bytes start in the stream.
	Origin errors.Position
}

// Documents cuts a YAML stream into its documents at the markers --- and ...
// (YAML 1.2, section 9.1). AppendJSON can read each of them by itself.
// Documents that are empty or hold only comments are left out.
//
// Documents are not parsed and may be malformed. Cutting does not depend on it:
// no scalar can contain a line that starts with a marker. Lines end with LF,
// CRLF or CR. Text with a marker after U+0085, U+2028 or U+2029 is a single
// Document here. A reader refuses it, except that [Server], to which these
// characters end lines, reads the first document in it.
//
// The Bytes of the documents alias src. [DocumentReader] does the same for
// streams that need not fit into memory.
func Documents(src []byte) iter.Seq[Document] {
	return func(yield func(Document) bool) {
		c := newCutter(src)
		for {
			p, ok := c.next()
			if !ok || !yield(p.document(src, 0)) {
				return
			}
		}
	}
}

// A piece is a document that a cutter has found. Its offsets are those of the cutter's text.
type piece struct {
	start, end int
	line       int // of start
}

// document returns the document. text starts at the offset at in the stream.
func (p piece) document(text []byte, at int64) Document {
	return Document{
		Bytes:  text[p.start:p.end:p.end],
		Origin: errors.Position{Offset: at + int64(p.start), Line: p.line, Column: 1, ByteColumn: 1},
	}
}

// A cutter reads a stream line by line. If it has only the first part of the stream, it stops where
// it needs more, and continues there after src was extended. The documents do not depend on the
// sizes of the parts.
type cutter struct {
	src  []byte
	eof  bool // the stream ends where src ends
	most int  // the most bytes of a document

	pos     int // where the next line starts
	line    int // its number
	scanned int // there is no line break from pos to here

	// The document that is being read.
	piece     piece
	inside    bool // after --- or the first content
	directive bool // there was one in the lines before the document
	content   bool
	tooLong   bool
}

func newCutter(src []byte) cutter {
	c := cutter{src: src, eof: true, most: math.MaxInt, line: 1}
	c.begin()
	return c
}

// begin starts a document with the next line.
func (c *cutter) begin() {
	c.piece = piece{start: c.pos, line: c.line}
	c.inside, c.directive, c.content = false, false, false
}

// finish ends the document before the next line.
func (c *cutter) finish() (p piece, ok bool) {
	p = c.piece
	p.end = c.pos
	c.begin()
	return p, true
}

// slide adapts the offsets after the first n bytes were removed from src.
func (c *cutter) slide(n int) {
	c.pos -= n
	c.scanned -= n
	c.piece.start -= n
}

// next returns the next document that is not empty. If there is none, either src is at its end or
// the document is too long.
func (c *cutter) next() (p piece, ok bool) {
	for c.pos < len(c.src) {
		if c.inside && c.content && c.scanned == c.pos {
			c.passContent()
		}
		text, end, whole := c.peekLine()
		if !whole && len(text) < len("--- ") {
			return p, false
		}
		if c.inside && marker(text) == '-' {
			if c.content {
				return c.finish()
			}
			c.begin()
		}
		// An incomplete line only gets longer.
		if c.tooLong = end-c.piece.start > c.most; c.tooLong || !whole {
			return p, false
		}
		if c.readLine(text, end) {
			return c.finish()
		}
	}
	// The parser refuses directives without a document.
	if c.eof && (c.content || c.directive && !c.inside) {
		return c.finish()
	}
	return p, false
}

// passContent passes and counts lines that start no document, within a document that has content. It
// leaves lines that start with three dashes or dots, the one that makes the document too long, and some
// of the last ones of src.
//
//espalier:nocalls
func (c *cutter) passContent() {
	src, most := c.src, c.most
	i := c.pos
lines:
	for i+8 <= len(src) {
		if b := src[i]; (b == '-' || b == '.') && src[i+1] == b && src[i+2] == b {
			break
		}
		end := i
		for {
			if end+8 > len(src) {
				break lines
			}
			w := binary.LittleEndian.Uint64(src[end : end+8])
			lf, cr := w^'\n'*ones, w^'\r'*ones
			if m := ((lf-ones)&^lf | (cr-ones)&^cr) & highs; m != 0 {
				end += bits.TrailingZeros64(m) >> 3
				break
			}
			end += 8
		}
		if src[end] == '\r' && end+1 < len(src) && src[end+1] == '\n' {
			end++
		}
		if end++; end == len(src) || end-c.piece.start > most {
			break
		}
		i = end
		c.line++
	}
	c.pos, c.scanned = i, i
}

// readLine reads a line, and reports whether it ends the document.
func (c *cutter) readLine(text []byte, end int) (ends bool) {
	c.pos, c.scanned = end, end
	c.line++
	if !c.inside {
		text = bytes.TrimPrefix(text, []byte(bom))
	}
	switch m := marker(text); {
	case m == '-':
		c.inside, c.content = true, !isBlank(text[len("---"):])
	case m == '.':
		if c.content || c.directive && !c.inside || !isBlank(text[len("..."):]) {
			return true
		}
		c.begin()
	case c.inside:
		c.content = c.content || !isBlank(text)
	case len(text) > 0 && text[0] == '%':
		c.directive = true
	case !isBlank(text):
		c.inside, c.content = true, true
	}
	return false
}

// peekLine returns the next line without its break, and the start of the line after it. If src ends
// within the line, it returns the part that is there.
func (c *cutter) peekLine() (text []byte, end int, whole bool) {
	i := bytes.IndexAny(c.src[c.scanned:], "\r\n")
	if i < 0 {
		c.scanned = len(c.src)
		return c.src[c.pos:], len(c.src), c.eof
	}
	c.scanned += i
	end = c.scanned + 1
	if c.src[c.scanned] == '\r' {
		switch {
		case end == len(c.src):
			return c.src[c.pos:c.scanned], end, c.eof
		case c.src[end] == '\n':
			end++
		}
	}
	return c.src[c.pos:c.scanned], end, true
}

// marker returns '-' or '.' for a line that starts with a document marker, or 0.
func marker(line []byte) byte {
	if bytes.HasPrefix(line, []byte("---")) || bytes.HasPrefix(line, []byte("...")) {
		if len(line) == 3 || line[3] == ' ' || line[3] == '\t' {
			return line[0]
		}
	}
	return 0
}

// isBlank reports whether a line is empty, or has only a comment.
func isBlank(line []byte) bool {
	line = bytes.TrimLeft(line, " \t")
	return len(line) == 0 || line[0] == '#'
}
