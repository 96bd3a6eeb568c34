package tokens

import (
	"io"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
)

// A source is the reader of a jsontext.Decoder for the result. If the result ends in an
// errors.StrictError, the source holds the last byte back. Otherwise whoever reads a value, and
// does not read on to the end, would never see the error. Without that byte the document is not
// complete.
//
// The source reads one byte ahead to find the last one. Nobody waits for that: a decoder.Reader
// returns the last byte of a result only after the document has ended, and from then on it has
// everything that it returns.
type source struct {
	reader   *decoder.Reader
	document document
	next     [1]byte // read ahead, or the last one
	state    state
	err      error // of the reader, once it is known
}

type state uint8

const (
	passing  state = iota
	ahead          // next is the next byte
	holding        // next is the last byte
	released       // next may be read
	finished       // next was read, and the result ends: a number is not complete before that
)

// of returns the reader that the document r is to be read from.
func (s *source) of(r io.Reader) io.Reader {
	if r == nil {
		return nil
	}
	s.document.Reader = r
	return &s.document
}

// Read is [decoder.Reader.Read], up to the last byte. p is not empty, because a jsontext.Decoder
// asks for something.
func (s *source) Read(p []byte) (n int, err error) {
	switch {
	case s.state == released:
		s.state = finished
		return copy(p, s.next[:]), nil
	case s.state == finished:
		return 0, io.EOF // of which cause makes s.err
	case s.err != nil:
		return 0, s.err
	case s.state == ahead:
		s.state = passing
		n = copy(p, s.next[:])
	}
	var more int
	more, s.err = s.reader.Read(p[n:])
	n += more
	if s.err == nil && s.document.ended {
		s.lookAhead()
	}
	if hasResult(s.err) && n > 0 {
		n--
		s.next[0], s.state = p[n], holding
	}
	if n > 0 {
		return n, nil
	}
	return 0, s.err
}

// lookAhead reads one byte, or the error that takes its place.
func (s *source) lookAhead() {
	var n int
	if n, s.err = s.reader.Read(s.next[:]); n > 0 {
		s.state = ahead
	}
}

// release frees the last byte, for callers who will see the error after it. It reports whether the
// byte was held.
func (s *source) release() bool {
	if s.state != holding {
		return false
	}
	s.state = released
	return true
}

// A document is an io.Reader that records whether it has ended.
type document struct {
	io.Reader
	ended bool
}

func (d *document) Read(p []byte) (int, error) {
	n, err := d.Reader.Read(p)
	d.ended = d.ended || err != nil
	return n, err
}

// hasResult reports whether the error comes with a complete result.
func hasResult(err error) bool {
	switch err.(type) {
	case *errors.StrictError, *errors.InvalidError:
		return true
	}
	return false
}
