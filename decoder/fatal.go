package decoder

import (
	"io"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/skip"
	"github.com/espalier-dev/espalier/internal/syntax"
)

// NOTE: this file makes the errors that end a walk. The walker says only where it stopped. For
// a whole document, package syntax reads the text up to there again and finds the path and the
// reason. The text of a stream is gone by then: the states of the machines say what they
// expected, and their stacks are the path.

// fatal returns the error for a walk over src that ended with the status st.
func (d *Decoder) fatal(src []byte, st skip.Status) error {
	w := &d.walker
	at := min(w.Pos(), len(src))
	if st == skip.Overflow {
		return d.limitError(src, w.Overflew(), at)
	}
	d.startLines(true) // a document that ends in a string may end within a character
	r := syntax.New(src, 0, w.Depth()+1)
	if w.OutOfRange() {
		r.Scan(at)
		return &errors.SyntaxError{
			Msg: syntax.OutOfRange(src, at), Position: d.position(at), Path: r.Path(),
		}
	}
	msg := r.Scan(len(src) + 1)
	e := &errors.SyntaxError{Msg: msg, Position: d.position(r.At), Path: r.Path()}
	if r.At >= len(src) {
		e.Err = io.ErrUnexpectedEOF
	}
	return e
}

// limitError returns the error for a limit that was exceeded at an index of src.
func (d *Decoder) limitError(src []byte, which errors.Limit, at int) *errors.LimitError {
	r := syntax.New(src, 0, d.walker.Depth()+1)
	r.Scan(at)
	return &errors.LimitError{
		Limit: which, Max: int64(d.limits.of(which)), Position: d.position(at), Path: r.Path(),
	}
}

// streamError returns the error for a walk over a stream that ended with the status st.
func (d *Decoder) streamError(st skip.Status) error {
	w := &d.walker
	d.linesToWindow()
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
		return &errors.SyntaxError{
			Msg: syntax.OutOfRange(b, at), Position: d.lines.At(at), Path: path,
		}
	}
	in, expect := w.Expects()
	r, msg := syntax.Resume(in, expect, b, at)
	e := &errors.SyntaxError{Msg: msg, Position: d.lines.At(r.At), Path: path}
	if r.At >= len(b) && eof {
		e.Err = io.ErrUnexpectedEOF
	}
	return e
}

// streamLimitError returns the error for a limit that a stream has exceeded.
func (d *Decoder) streamLimitError(which errors.Limit) error {
	w := &d.walker
	d.linesToWindow()
	w.Found.Reset()
	path := w.OpenPath()
	return &errors.LimitError{
		Limit: which, Max: int64(d.limits.of(which)), Position: d.lines.At(w.At()), Path: path,
	}
}

// stepsError returns the error for a stream whose validation takes too many steps.
func (d *Decoder) stepsError() error {
	e := d.streamLimitError(errors.LimitValidationSteps).(*errors.LimitError)
	e.Max = int64(validationSteps(d.parts.read))
	return e
}

// linesToWindow makes d.lines count in the window of the stream.
func (d *Decoder) linesToWindow() { d.lines.Text, _ = d.walker.Window() }
