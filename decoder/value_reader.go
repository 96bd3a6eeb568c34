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

// A valueReader cuts a stream into JSON values, for a [Sequence]. It validates their grammar to
// find where they end.
type valueReader struct {
	src     io.Reader
	ctx     context.Context
	skip    skip.Skipper
	limits  Limits
	buf     []byte
	at      int // the index of the next byte in buf
	eof     bool
	readErr error // the error that came with the last bytes of the source
	total   int64 // how many bytes were read from the source
	lines   position.Counter
}

// Read reads from the source. Its errors have the offset at which they occurred.
func (v *valueReader) Read(p []byte) (int, error) {
	if err := checkContext(v.ctx, v.total); err != nil {
		return 0, err
	}
	n, err := v.src.Read(p)
	if n < 0 || n > len(p) {
		n, err = 0, errInvalidCount
	}
	v.total += int64(n)
	if err != nil && err != io.EOF {
		err = &errors.IOError{Op: "read", Offset: v.total, Err: err}
	}
	return n, err
}

// fill reads more into buf. If buf is full, it discards the bytes before keep. It returns by how
// many bytes the others have moved.
func (v *valueReader) fill(keep int) (moved int, err error) {
	if v.readErr != nil {
		return 0, v.readErr
	}
	if len(v.buf) == cap(v.buf) {
		if keep > 0 && keep == len(v.buf) && v.buf[keep-1] == '\r' {
			keep-- // see stream.slide
		}
		v.lines.Leave(keep)
		steps.Add(len(v.buf) - keep)
		v.buf = v.buf[:copy(v.buf, v.buf[keep:])]
		v.at -= keep
		moved = keep
		if len(v.buf) > cap(v.buf)/2 || cap(v.buf) < largeWindow {
			v.buf = append(make([]byte, 0, max(firstWindow, 2*cap(v.buf))), v.buf...)
		}
	}
	for range maxEmptyReads {
		n, err := v.Read(v.buf[len(v.buf):cap(v.buf)])
		v.buf = v.buf[:len(v.buf)+n]
		v.lines.Text = v.buf
		if v.eof = err == io.EOF; !v.eof {
			v.readErr = err
		}
		if n > 0 || v.eof {
			return moved, nil
		}
		if err != nil {
			return moved, err
		}
	}
	return moved, &errors.IOError{Op: "read", Offset: v.total, Err: io.ErrNoProgress}
}

// peek skips white space and returns the next byte, or 0 at the end.
func (v *valueReader) peek() (byte, error) {
	for {
		if v.at = jsonwire.Blanks(v.buf, v.at); v.at < len(v.buf) || v.eof {
			return jsonwire.At(v.buf, v.at), nil
		}
		if _, err := v.fill(v.at); err != nil {
			return 0, err
		}
	}
}

// atEnd reports whether the stream has ended and all of it was read.
func (v *valueReader) atEnd() bool { return v.eof && v.at >= len(v.buf) }

// value skips the value at v.at and returns its text, which is valid until more is read. The
// limit is the one on its length. Without a limit, which is 0, the value need not fit into
// memory, and its text is not returned.
func (v *valueReader) value(limit errors.Limit) ([]byte, error) {
	v.skip.Start()
	most := v.limits.of(limit)
	if limit == errors.LimitNameBytes {
		most += len(`""`)
	}
	from, i := v.at, v.at
	for {
		v.skip.EOF = v.eof
		end, st := v.skip.Skip(v.buf, i, 0, false)
		steps.Add(1)
		known := end // up to here it is known to be a value
		if st == skip.Cut {
			known = len(v.buf)
		}
		if limit != 0 && known-from > most {
			v.at = from
			if limit == errors.LimitHeldBytes {
				v.at += most
			}
			return nil, v.limitError(limit)
		}
		v.at, i = end, end
		if st == skip.Done {
			return v.buf[from:end], nil
		}
		if st != skip.Cut || v.eof {
			return nil, v.valueFault(from, st)
		}
		if limit == 0 {
			from = v.skip.Needed(i)
		}
		moved, err := v.fill(from)
		if err != nil {
			return nil, err
		}
		from, i = from-moved, i-moved
		v.skip.Leave(moved)
	}
}

// valueFault returns the error for a value in which the skipper has stopped with the status st.
// The part of the value that is in buf starts at from.
func (v *valueReader) valueFault(from int, st skip.Status) error {
	if st == skip.Overflow {
		return v.limitError(v.skip.Overflew)
	}
	v.lines.NotUTF8 = true
	if v.skip.OutOfRange {
		return &errors.SyntaxError{Msg: syntax.OutOfRange(v.buf, v.at), Position: v.position(v.at)}
	}
	in, expect := v.skip.Expects()
	// The bytes before from are left out, as another value may end there, without any space.
	r, msg := syntax.Resume(in, expect, v.buf[from:], v.at-from)
	r.At += from
	return v.syntaxError(&r, msg)
}

// fault returns the error for the token at v.at, which is not the one that is expected in a
// container of the kind in.
func (v *valueReader) fault(expect syntax.Expectation, in syntax.Container) error {
	r := syntax.Within(in, v.buf, v.at)
	_, msg := r.Token(expect)
	return v.syntaxError(&r, msg)
}

func (v *valueReader) syntaxError(r *syntax.Scanner, msg string) error {
	e := &errors.SyntaxError{Msg: msg, Position: v.position(r.At)}
	if r.At >= len(v.buf) {
		e.Err = io.ErrUnexpectedEOF
	}
	return e
}

func (v *valueReader) limitError(which errors.Limit) error {
	return &errors.LimitError{
		Limit: which, Max: int64(v.limits.of(which)), Position: v.position(v.at),
	}
}

// position returns the position of an index in buf. The indices of successive calls must ascend.
func (v *valueReader) position(at int) errors.Position { return v.lines.At(at) }
