package yamlbridge

import (
	"bytes"
	"iter"

	"github.com/espalier-dev/espalier/errors"
)

// A Document is one document of a YAML stream.
type Document struct {
	// Bytes is the text of the document with its directives and markers. It
	// aliases the stream.
	Bytes []byte
	// Origin is where Bytes start in the stream, for [SourceMap.Origin].
	Origin errors.Position
}

// Documents cuts a YAML stream into its documents at the markers --- and ...
// (YAML 1.2 section 9.1). Each can be read by [AppendJSON] alone. Documents that
// hold nothing or only comments are left out.
//
// Documents are not parsed and may be malformed. This is no obstacle to cutting:
// no scalar can hold a line that starts with a marker. Bytes of the documents
// alias src.
func Documents(src []byte) iter.Seq[Document] {
	return func(yield func(Document) bool) {
		c := newCutter(src)
		for {
			p, ok := c.next()
			if !ok {
				return
			}
			d := Document{
				Bytes:  src[p.start:p.end:p.end],
				Origin: errors.Position{Offset: int64(p.start), Line: p.line, Column: 1, ByteColumn: 1},
			}
			if !yield(d) {
				return
			}
		}
	}
}

// A piece is a document that a cutter found.
type piece struct {
	start, end int
	line       int // of start
	open       int // offset of the line with its ---, or else of its first content
	version    int // offset of the text after %YAML, or -1
}

// A cutter goes through a stream line by line.
type cutter struct {
	src  []byte
	pos  int // where the next line starts
	line int // its number
}

func newCutter(src []byte) cutter { return cutter{src: src, line: 1} }

// next returns the next document that is not empty.
func (c *cutter) next() (p piece, ok bool) {
	var (
		inside    bool // past --- or the first content
		directive bool // in the lines before the document
		content   bool
	)
	begin := func(pos, line int) {
		p, inside, directive = piece{start: pos, line: line, open: pos, version: -1}, false, false
	}
	begin(c.pos, c.line)
	for c.pos < len(c.src) {
		pos, line := c.pos, c.line
		text := c.readLine()
		lineEnd := pos + len(text)
		if !inside {
			text = bytes.TrimPrefix(text, []byte(bom))
		}
		m := marker(text)
		switch {
		case m == '-' && content:
			c.pos, c.line, p.end = pos, line, pos
			return p, true
		case m == '-':
			if inside {
				begin(pos, line)
			}
			inside, p.open = true, pos
			content = !isBlank(text[len("---"):])
		case m == '.' && (content || directive && !inside || !isBlank(text[len("..."):])):
			if !inside {
				p.open = pos
			}
			p.end = c.pos
			return p, true
		case m == '.':
			begin(c.pos, c.line)
		case inside:
			content = content || !isBlank(text)
		case len(text) > 0 && text[0] == '%':
			directive = true
			if v, ok := bytes.CutPrefix(text, []byte("%YAML")); ok && p.version < 0 {
				p.version = lineEnd - len(v)
			}
		case !isBlank(text):
			inside, content, p.open = true, true, pos
		}
	}
	p.end = len(c.src)
	// Directives without a document are left to the parser to refuse.
	return p, content || directive && !inside
}

// readLine returns the next line without its break.
func (c *cutter) readLine() []byte {
	rest := c.src[c.pos:]
	c.line++
	i := bytes.IndexAny(rest, "\r\n")
	if i < 0 {
		i = len(rest)
	}
	next := i
	if next < len(rest) && rest[next] == '\r' {
		next++
	}
	if next < len(rest) && rest[next] == '\n' {
		next++
	}
	c.pos += next
	return rest[:i]
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

// isBlank reports whether a line holds nothing, or only a comment.
func isBlank(line []byte) bool {
	line = bytes.TrimLeft(line, " \t")
	return len(line) == 0 || line[0] == '#'
}
