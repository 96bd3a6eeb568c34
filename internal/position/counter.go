// Package position turns offsets in a text into lines and columns, in the form of errors.Position:
// LF, CRLF and CR end a line, and columns count characters.
//
// A Counter only goes forwards, and can forget the text that it has passed. It is for streams, and
// for offsets in the order of the text. An Index answers in any order, and needs the whole text.
//
// The package reads texts without changing them. It knows neither JSON nor YAML.
package position

import (
	"bytes"
	"unicode/utf8"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/kernel"
	"github.com/espalier-dev/espalier/internal/steps"
)

// A Counter counts lines and characters from the place of its last answer. The zero Counter has no
// text.
type Counter struct {
	// Text is the text that offsets refer to. It may be replaced by a longer one that starts with
	// it.
	Text []byte
	// NotUTF8 says that bytes which are not UTF-8 count as one character each. Without it, the
	// characters are the bytes that do not continue a character.
	NotUTF8 bool

	base int64 // the offset of Text in the document
	at   int   // the text before it has been counted
	line line
}

// A line is a line that has been counted up to a place within it.
type line struct {
	before int // number of lines before it
	start  int // its offset
	chars  int // number of characters in it before the place
}

// From returns a Counter for a text that starts at origin. If origin is not valid, the text is a
// document of its own.
func From(text []byte, origin errors.Position) Counter {
	c := Counter{Text: text}
	if origin.IsValid() {
		c.base = origin.Offset
		c.line = line{origin.Line - 1, 1 - origin.ByteColumn, origin.Column - 1}
	}
	return c
}

// Within returns the position in a document of the place p in a part of it that starts at origin.
func Within(p, origin errors.Position) errors.Position {
	p.Offset += origin.Offset
	if p.Line == 1 {
		p.Column += max(origin.Column-1, 0)
		p.ByteColumn += max(origin.ByteColumn-1, 0)
	}
	p.Line += max(origin.Line-1, 0)
	return p
}

// Reaches reports whether the offset is not before the Counter, so that At may be called with it.
func (c *Counter) Reaches(offset int) bool { return c.at <= offset }

// At returns the position of an offset in the text. Offsets must not decrease. A kernel counts blocks up
// to the first carriage return. In what is left, text without control characters is counted in one
// step. Where there are some, a step is four times as long as the one before.
func (c *Counter) At(offset int) errors.Position {
	steps.Add(1 + offset - c.at)
	if kernel.Strings && !c.NotUTF8 && offset-c.at >= 64 {
		c.countBlocks(offset)
	}
	for step := 64; c.at < offset; {
		run := c.run(offset)
		if run > step {
			step = 64
		}
		if c.at < offset {
			c.count(min(offset, c.at+step), offset)
			step *= 4
		}
	}
	return errors.Position{
		Offset:     c.base + int64(offset),
		Line:       c.line.before + 1,
		Column:     c.line.chars + 1,
		ByteColumn: offset - c.line.start + 1,
	}
}

// countBlocks counts blocks of 64 bytes up to offset, or before the first carriage return.
func (c *Counter) countBlocks(offset int) {
	size, lines, start, chars := kernel.Lines(c.Text[c.at:offset])
	if lines > 0 {
		c.line = line{c.line.before + lines, c.at + start, 0}
	}
	c.line.chars += chars
	c.at += size
}

// run counts the text before the next control character, up to offset, and returns its length.
func (c *Counter) run(offset int) (n int) {
	text, chars := c.Text[c.at:offset], 0
	if c.NotUTF8 {
		n = jsonwire.PlainRun(text)
		chars = n
	} else {
		n, chars = jsonwire.CharRun(text)
	}
	c.at += n
	c.line.chars += chars
	return n
}

// Leave counts the text before n and gives it up. From now on the text starts there; it is to be
// replaced.
func (c *Counter) Leave(n int) {
	c.At(n)
	c.at = 0
	c.line.start -= n
	c.base += int64(n)
}

var lineFeed = []byte{'\n'}

// count counts up to to, and beyond that the rest of a character that ends before end.
func (c *Counter) count(to, end int) {
	text := c.Text[c.at:to]
	if bytes.IndexByte(text, '\r') >= 0 {
		c.countAnyBreaks(to)
	} else if n := bytes.Count(text, lineFeed); n > 0 {
		c.at += bytes.LastIndexByte(text, '\n') + 1
		c.line = line{c.line.before + n, c.at, 0}
	}
	if c.NotUTF8 {
		for c.at < to {
			_, n := utf8.DecodeRune(c.Text[c.at:end])
			c.at += n
			c.line.chars++
		}
		return
	}
	c.line.chars += jsonwire.CountChars(c.Text[c.at:to])
	c.at = to
}

// countAnyBreaks counts lines that end in LF, CRLF or CR.
func (c *Counter) countAnyBreaks(to int) {
	for i := c.at; i < to; i++ {
		switch c.Text[i] {
		case '\r':
			if i+1 < len(c.Text) && c.Text[i+1] == '\n' {
				continue
			}
		case '\n':
		default:
			continue
		}
		c.at = i + 1
		c.line = line{c.line.before + 1, i + 1, 0}
	}
}
