package yamlbridge

import (
	"bytes"
	"sort"
	"unicode/utf8"

	"github.com/espalier-dev/espalier/errors"
)

// A SourceMap leads from offsets in the JSON that [AppendJSON] appended, counted
// from the first byte it appended, to positions in the YAML it read.
//
// The zero value is ready for use, and can be used for one document after the
// other. It keeps a reference to the YAML until its next use. Position may be
// called concurrently, AppendJSON with the same map not.
type SourceMap struct {
	// Origin is where the document starts in its file, for callers who have cut
	// a stream with [Documents]. The zero Origin is the start of the file.
	// AppendJSON reads it for the positions of errors and does not change it.
	Origin errors.Position

	src   []byte
	lines []int // offsets at which lines start, the first one included
	marks []mark
}

// A mark says that what starts at an offset of the JSON stands at one of the
// YAML. Marks are sorted by json; what is copied through aliases makes yaml go
// back.
type mark struct{ json, yaml int }

// Position returns the position of the name or value that holds the given offset
// of the JSON: the last one that starts there or before. It is the zero Position
// if m holds no document.
//
// A name stands where its key starts, a value where its node starts, tag and
// anchor included. All that was copied through an alias stands where the alias
// does. A member that came through a merge key stands where the alias does that
// was merged, or in the mapping given there.
//
// A byte order mark is no column, but counts in Offset and ByteColumn.
func (m *SourceMap) Position(offset int) errors.Position {
	if len(m.marks) == 0 {
		return errors.Position{}
	}
	i := sort.Search(len(m.marks), func(i int) bool { return m.marks[i].json > offset })
	return m.at(m.marks[max(i-1, 0)].yaml)
}

// Forget drops the document, and with it the reference to the YAML. What memory
// the map has grown stays for the next one.
func (m *SourceMap) Forget() {
	m.src = nil
	m.lines, m.marks = m.lines[:0], m.marks[:0]
}

// Cap returns how many bytes of memory the map holds for use.
func (m *SourceMap) Cap() int { return 8*cap(m.lines) + 16*cap(m.marks) }

func (m *SourceMap) reset(src []byte) {
	m.src = src
	m.lines = appendLines(m.lines[:0], src, false)
	m.marks = m.marks[:0]
}

// at returns the position of an offset in the YAML.
func (m *SourceMap) at(off int) errors.Position {
	line := sort.SearchInts(m.lines, off+1)
	start := m.lines[line-1]
	p := errors.Position{
		Offset:     m.Origin.Offset + int64(off),
		Line:       line,
		Column:     1 + utf8.RuneCount(bytes.TrimPrefix(m.src[start:off], []byte(bom))),
		ByteColumn: 1 + off - start,
	}
	if line == 1 {
		p.Column += max(m.Origin.Column-1, 0)
		p.ByteColumn += max(m.Origin.ByteColumn-1, 0)
	}
	p.Line += max(m.Origin.Line-1, 0)
	return p
}

func (m *SourceMap) syntaxError(off int, msg string) *errors.SyntaxError {
	return &errors.SyntaxError{Msg: msg, Position: m.at(off)}
}

// appendLines appends the offsets at which the lines of text start, by the line
// breaks of YAML 1.2 (section 5.4), or also those of YAML 1.1: U+0085, U+2028
// and U+2029.
func appendLines(lines []int, text []byte, yaml11 bool) []int {
	lines = append(lines, 0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n':
		case c == '\r':
			if i+1 < len(text) && text[i+1] == '\n' {
				i++
			}
		case c < utf8.RuneSelf || !yaml11:
			continue
		case c == 0xC2 && i+1 < len(text) && text[i+1] == 0x85:
			i++
		case c == 0xE2 && i+2 < len(text) && text[i+1] == 0x80 && text[i+2]&^1 == 0xA8:
			i += 2
		default:
			continue
		}
		lines = append(lines, i+1)
	}
	return lines
}

// A cursor finds the offsets of yaml.v3's lines and columns. It is quick for
// positions that come in the order of the document: a document of one line is
// not counted again for each of its nodes.
type cursor struct {
	text  []byte // what yaml.v3 reads
	base  int    // where text starts in the source
	lines []int  // as yaml.v3 counts them

	// The place found last: column of line is at off.
	line, column, off int
}

func newCursor(text []byte, base int) cursor {
	return cursor{text: text, base: base, lines: appendLines(nil, text, true)}
}

// offset returns the offset in the source of a line and a column, both from 1.
// Columns are code points.
func (c *cursor) offset(line, column int) int {
	line = min(max(line, 1), len(c.lines))
	if line != c.line || column < c.column {
		c.line, c.column, c.off = line, 1, c.lines[line-1]
	}
	for c.column < column && c.off < len(c.text) {
		_, size := utf8.DecodeRune(c.text[c.off:])
		c.off += size
		c.column++
	}
	return c.base + c.off
}
