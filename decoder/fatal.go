package decoder

import (
	"io"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/skip"
	"github.com/espalier-dev/espalier/internal/syntax"
)

// NOTE: the errors that end a walk. The walker says only where it stopped. Of a whole
// document, package syntax reads what is before that again, for the path and the
// reason. Of a stream it is gone: there, the state of the machines says what they
// expected, and their stacks are the path.

// fatal returns the error for how a walk over src ended.
func (d *Decoder) fatal(src []byte, st skip.Status) error {
	w := &d.walker
	at := min(w.Pos(), len(src))
	if st == skip.Overflow {
		return d.limitError(src, w.Overflew(), at)
	}
	d.startLines(true) // what ends in a string may end in a character
	r := syntax.New(src, 0, w.Depth()+1)
	if w.OutOfRange() {
		r.Scan(at)
		return &errors.SyntaxError{Msg: syntax.OutOfRange(src, at), Position: d.position(at), Path: r.Path()}
	}
	msg := r.Scan(len(src) + 1)
	e := &errors.SyntaxError{Msg: msg, Position: d.position(r.At), Path: r.Path()}
	if r.At >= len(src) {
		e.Err = io.ErrUnexpectedEOF
	}
	return e
}

// limitError returns the error for a limit that was passed at an index of src.
func (d *Decoder) limitError(src []byte, which errors.Limit, at int) error {
	d.startLines(true) // as for fatal
	r := syntax.New(src, 0, d.walker.Depth()+1)
	r.Scan(at)
	return &errors.LimitError{Limit: which, Max: int64(d.limits.of(which)), Position: d.position(at), Path: r.Path()}
}

// streamError returns the error for how the walk of a stream ended.
func (d *Decoder) streamError(st skip.Status) error {
	w := &d.walker
	d.look()
	switch st {
	case skip.Repeated:
		e := w.Found.DuplicateError((*locator)(d))
		w.Found.Reset()
		return e
	case skip.Overflow:
		return d.streamLimitError(w.Overflew())
	}
	d.lines.NotUTF8 = true
	w.Found.Reset()
	b, eof := w.Window()
	at, path := w.At(), w.OpenPath()
	if w.OutOfRange() {
		return &errors.SyntaxError{Msg: syntax.OutOfRange(b, at), Position: d.lines.At(at), Path: path}
	}
	in, expect := w.Expects()
	r, msg := syntax.Resume(in, expect, b, at)
	e := &errors.SyntaxError{Msg: msg, Position: d.lines.At(r.At), Path: path}
	if r.At >= len(b) && eof {
		e.Err = io.ErrUnexpectedEOF
	}
	return e
}

// streamLimitError returns the error for a limit that a stream has passed.
func (d *Decoder) streamLimitError(which errors.Limit) error {
	w := &d.walker
	d.look()
	d.lines.NotUTF8 = true
	w.Found.Reset()
	path := w.OpenPath()
	return &errors.LimitError{Limit: which, Max: int64(d.limits.of(which)), Position: d.lines.At(w.At()), Path: path}
}

// look turns the counter of lines to the window.
func (d *Decoder) look() { d.lines.Text, _ = d.walker.Window() }
