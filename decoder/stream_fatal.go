package decoder

// This file explains fatal errors of streams, for which what was read is gone: the state
// of the machines says what they expected, and their stacks are the path.

import (
	"io"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/fieldpath"
	"github.com/espalier-dev/espalier/internal/jsonwire"
)

// streamError returns the error for how a walk ended. Unlike fatal, it does not read
// the document again: what the walker was in the middle of says what it expected.
func (d *Decoder) streamError(st status) error {
	w := &d.walker
	b, at := w.b, min(w.pos, len(w.b))
	d.look()
	if st == repeated {
		return d.duplicateError()
	}
	d.lines.NotUTF8 = true // what ends in a string may end in a character
	w.findings.reset()
	path := w.openPath()
	if st == overflow {
		return &errors.LimitError{Limit: w.overflew, Max: int64(w.limits.of(w.overflew)), Position: d.lines.At(at), Path: path}
	}
	if w.outOfRange {
		return &errors.SyntaxError{Msg: outOfRange(b, at), Position: d.lines.At(at), Path: path}
	}
	r, msg := w.resume(b, at)
	e := &errors.SyntaxError{Msg: msg, Position: d.lines.At(r.at), Path: path}
	if r.at >= len(b) && w.eof {
		e.Err = io.ErrUnexpectedEOF
	}
	return e
}

// duplicateError is for a name that stands twice in what a stream keeps. It is the
// only record.
func (d *Decoder) duplicateError() error {
	w := &d.walker
	r := w.records[0]
	w.lastPaths = string(w.paths)
	e := &errors.DuplicateError{Path: w.pathOf(&r), First: r.firstPosition, Position: r.position}
	if !e.First.IsValid() && r.first >= 0 {
		e.First = d.lines.At(r.first)
	}
	if !e.Position.IsValid() {
		e.Position = d.lines.At(r.at)
	}
	w.findings.reset()
	return e
}

// openPath returns the way to what the machines are in. In what is skipped without
// regard to names, it ends there.
func (w *walker) openPath() errors.Path {
	depth := w.sp
	if w.frames[depth].kind == inObject && w.frames[depth].cur == noName {
		depth--
	}
	levels := 0
	if w.st == inKept || w.st == inDropped {
		levels = len(w.levels)
	}
	var leaf *name
	if levels > 0 && w.levels[levels-1].index < 0 {
		switch {
		case w.skipAt == inName:
			w.addName(w.b, w.nameFrom+1, w.pos, true)
		case w.skipAt == atName || w.levels[levels-1].names == len(w.names):
			levels-- // no name yet
		}
		if len(w.names) > 0 {
			leaf = &w.names[len(w.names)-1]
		}
	}
	level := w.levelSegment(leaf)
	return errors.PathOf(fieldpath.Encode(depth+levels, func(i int) ([]byte, int) {
		if i < depth {
			return w.frameSegment(i)
		}
		return level(i - depth)
	}))
}

// resume reads the token at which the walker has stopped, and returns what is wrong
// with it, and where.
func (w *walker) resume(b []byte, at int) (r reader, fault string) {
	st := w.st
	top := &w.frames[w.sp]
	kind, first := top.kind, top.kind == inArray && top.cur == 0
	if (st == inKept || st == inDropped) && w.depth > 0 {
		kind, first = inArray, false
		if w.stack&1 != 0 {
			kind = inObject
		}
	}
	if st == inKept || st == inDropped {
		st = w.skipAt
	}
	r = newReader(b, at, kind)
	expect := aValue
	switch st {
	case inString, inName:
		r.at--
		fault = r.string()
		return r, fault
	case atFirstElement:
		expect = aFirstElement
	case atFirstName:
		expect = aFirstName
	case atName:
		expect = aName
	case atColon:
		expect = aColon
	case afterMember, afterElement, atEnd:
		expect = aComma
	default:
		if first {
			expect = aFirstElement
		}
		for r.at > 0 && isTokenByte(b[r.at-1]) {
			r.at-- // to where the number or literal starts
		}
	}
	_, fault = r.token(expect)
	return r, fault
}

// isTokenByte reports whether numbers and literals are made of it.
func isTokenByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'E'
}

func outOfRange(b []byte, at int) string {
	end, _, _, _ := jsonwire.ScanNumber(b, at)
	return "number " + excerpt(b[at:end]) + " is beyond the range of float64"
}
