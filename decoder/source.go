package decoder

import (
	"context"
	"io"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/position"
	"github.com/espalier-dev/espalier/internal/skip"
	"github.com/espalier-dev/espalier/internal/steps"
	"github.com/espalier-dev/espalier/internal/syntax"
)

// A source cuts a stream into JSON values, for a [Sequence]: it validates their grammar,
// to find where they end.
type source struct {
	src    io.Reader
	ctx    context.Context
	skip   skip.Skipper
	limits Limits
	buf    []byte
	at     int // where buf was read up to
	eof    bool
	failed error // of the source, with which its last bytes came
	total  int64 // of bytes that were read
	lines  position.Counter
}

// Read reads from the source below, and says of an error where it was.
func (s *source) Read(p []byte) (int, error) {
	if err := checkContext(s.ctx, s.total); err != nil {
		return 0, err
	}
	n, err := s.src.Read(p)
	if n < 0 || n > len(p) {
		n, err = 0, errInvalidCount
	}
	s.total += int64(n)
	if err != nil && err != io.EOF {
		err = &errors.IOError{Op: "read", Offset: s.total, Err: err}
	}
	return n, err
}

// fill reads more, and returns by how much what was in buf has moved. What is before
// keep goes.
func (s *source) fill(keep int) (moved int, err error) {
	if s.failed != nil {
		return 0, s.failed
	}
	if len(s.buf) == cap(s.buf) {
		if keep > 0 && keep == len(s.buf) && s.buf[keep-1] == '\r' {
			keep-- // see stream.leave
		}
		s.lines.Leave(keep)
		steps.Add(len(s.buf) - keep)
		s.buf = s.buf[:copy(s.buf, s.buf[keep:])]
		s.at -= keep
		moved = keep
		if len(s.buf) > cap(s.buf)/2 || cap(s.buf) < largeWindow {
			s.buf = append(make([]byte, 0, max(firstWindow, 2*cap(s.buf))), s.buf...)
		}
	}
	for range maxEmptyReads {
		n, err := s.Read(s.buf[len(s.buf):cap(s.buf)])
		s.buf = s.buf[:len(s.buf)+n]
		s.lines.Text = s.buf
		if s.eof = err == io.EOF; !s.eof {
			s.failed = err
		}
		if n > 0 || s.eof {
			return moved, nil
		}
		if err != nil {
			return moved, err
		}
	}
	return moved, &errors.IOError{Op: "read", Offset: s.total, Err: io.ErrNoProgress}
}

// peek passes white space and returns the next byte, or 0 at the end.
func (s *source) peek() (byte, error) {
	for {
		if s.at = jsonwire.Blanks(s.buf, s.at); s.at < len(s.buf) || s.eof {
			return jsonwire.At(s.buf, s.at), nil
		}
		if _, err := s.fill(s.at); err != nil {
			return 0, err
		}
	}
}

func (s *source) atEnd() bool { return s.eof && s.at >= len(s.buf) }

// value passes the value at s.at and returns its text, until more is read. The limit is
// that of its length, or 0: then it need not fit into memory, and is not returned.
func (s *source) value(limit errors.Limit) ([]byte, error) {
	s.skip.Start()
	most := s.limits.of(limit)
	if limit == errors.LimitNameBytes {
		most += len(`""`)
	}
	from, i := s.at, s.at
	for {
		s.skip.EOF = s.eof
		end, st := s.skip.Skip(s.buf, i, 0, false)
		steps.Add(1)
		known := end // up to where it is known to be one
		if st == skip.Cut {
			known = len(s.buf)
		}
		if limit != 0 && known-from > most {
			s.at = from
			if limit == errors.LimitHeldBytes {
				s.at += most
			}
			return nil, s.overflow(limit)
		}
		s.at, i = end, end
		if st == skip.Done {
			return s.buf[from:end], nil
		}
		if st != skip.Cut || s.eof {
			return nil, s.faultWithin(from, st)
		}
		if limit == 0 {
			from = s.skip.Needed(i)
		}
		moved, err := s.fill(from)
		if err != nil {
			return nil, err
		}
		from, i = from-moved, i-moved
		s.skip.Leave(moved)
	}
}

// faultWithin returns the error for a value that the machine has not passed, of which
// there is what starts at from.
func (s *source) faultWithin(from int, st skip.Status) error {
	if st == skip.Overflow {
		return s.overflow(s.skip.Overflew)
	}
	s.lines.NotUTF8 = true
	if s.skip.OutOfRange {
		return &errors.SyntaxError{Msg: syntax.OutOfRange(s.buf, s.at), Position: s.position(s.at)}
	}
	in, expect := s.skip.Expects()
	r, msg := syntax.Resume(in, expect, s.buf[from:], s.at-from) // the value before may end where this one starts
	r.At += from
	return s.syntaxError(&r, msg)
}

// fault returns the error for the token at s.at, which is not what is expected in a
// container of the kind in.
func (s *source) fault(expect syntax.Expectation, in syntax.Container) error {
	r := syntax.Within(in, s.buf, s.at)
	_, msg := r.Token(expect)
	return s.syntaxError(&r, msg)
}

func (s *source) syntaxError(r *syntax.Scanner, msg string) error {
	e := &errors.SyntaxError{Msg: msg, Position: s.position(r.At)}
	if r.At >= len(s.buf) {
		e.Err = io.ErrUnexpectedEOF
	}
	return e
}

func (s *source) overflow(which errors.Limit) error {
	return &errors.LimitError{Limit: which, Max: int64(s.limits.of(which)), Position: s.position(s.at)}
}

// position returns the position of an index in buf; these must ascend.
func (s *source) position(at int) errors.Position {
	s.lines.Text = s.buf
	return s.lines.At(at)
}
