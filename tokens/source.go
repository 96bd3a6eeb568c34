package tokens

import (
	"io"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
)

// A source is what a jsontext.Decoder reads the result from. Of one that comes with an errors.StrictError it
// holds the last byte back: who reads a value need not read on to the end, and would never see the
// error. Without that byte the document is not complete.
//
// Which byte is the last one it knows by reading one more. That makes nobody wait: a decoder.Reader returns the last byte of a
// result only when the document has ended, and from then on all that it returns is there.
type source struct {
	reader   *decoder.Reader
	document document
	next     [1]byte // was read ahead, or is the last one
	state    state
	err      error // of the reader, as soon as it is known
}

type state uint8

const (
	passing  state = iota
	ahead          // next comes next
	holding        // next is the last byte
	released       // it may go
)

// of returns what the reader is to read the document r from.
func (s *source) of(r io.Reader) io.Reader {
	if r == nil {
		return nil
	}
	s.document.Reader = r
	return &s.document
}

// Read is [decoder.Reader.Read], up to that byte. p is not empty, as a jsontext.Decoder asks for something.
func (s *source) Read(p []byte) (n int, err error) {
	switch {
	case s.state == released:
		s.state = passing
		return copy(p, s.next[:]), nil
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
	if _, isStrict := s.err.(*errors.StrictError); isStrict && n > 0 {
		n--
		s.next[0], s.state = p[n], holding
	}
	if n > 0 {
		return n, nil
	}
	return 0, s.err
}

// lookAhead reads one byte, or why there is none.
func (s *source) lookAhead() {
	var n int
	if n, s.err = s.reader.Read(s.next[:]); n > 0 {
		s.state = ahead
	}
}

// release lets the last byte go, for who is going to see the error after it, and reports whether it was held.
func (s *source) release() bool {
	if s.state != holding {
		return false
	}
	s.state = released
	return true
}

// A document is an io.Reader that remembers whether it has ended.
type document struct {
	io.Reader
	ended bool
}

func (d *document) Read(p []byte) (int, error) {
	n, err := d.Reader.Read(p)
	d.ended = d.ended || err != nil
	return n, err
}
