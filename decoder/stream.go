package decoder

import (
	"context"
	stderrors "errors"
	"io"
	"strings"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/position"
	"github.com/espalier-dev/espalier/internal/skip"
	"github.com/espalier-dev/espalier/internal/syntax"
)

// A window has this length at first, so that a stream of few bytes costs little. It
// doubles when it is filled at once, up to largeWindow; and where a token does not fit.
// It is a variable for tests.
var firstWindow = 512

const largeWindow = 32 << 10

// A stream walks a document through a window. It is what [Reader] and [Writer] have
// in common: bytes are put into the window, and output is taken out.
type stream struct {
	d   *Decoder
	ctx context.Context
	// whole says that the document is decoded when all of it is there.
	whole, yaml bool
	out         []byte // is decided, and was not taken yet
	taken       int    // of out
	total       int64  // of bytes that were put
	filled      bool   // by the last put
	free        int    // bytes of the window that are not needed any more
	// ended says that the value has ended. Its last byte, or all of a number, is not
	// written before it is known that all is well, so that no document looks complete that
	// is not.
	ended     bool
	last      []byte
	compactor compactor
	err       error  // io.EOF when all was decoded
	use       uint64 // of the decoder, at the start
}

func (s *stream) start(d *Decoder) {
	d.begin() // what it has found so far would be gone
	defer d.end()
	*s = stream{d: d, ctx: s.ctx, out: d.output[:0], last: s.last[:0], yaml: s.yaml}
	s.whole = s.yaml || d.server != Standalone || d.expected != (objectType{})
	w := &d.walker
	d.prepare()
	s.use = d.uses
	w.Streaming = true
	w.Start(nil)
	d.lines = position.From(nil, d.origin)
	d.stream = d.stream[:0]
	if cap(d.stream) == 0 {
		d.stream = make([]byte, 0, min(firstWindow, d.limits.HeldBytes)) // is charged with what grows next
	}
}

var errSuperseded = stderrors.New("decoder: its Decoder was used for another document before this one had ended")

// check reports an error if the decoder has gone on to another document: its
// buffers are not those of this one any more.
func (s *stream) check() error {
	if s.use != s.d.uses {
		s.taken = len(s.out)
		s.err = errSuperseded
		return s.err
	}
	return nil
}

// room returns where the next bytes go.
func (s *stream) room() ([]byte, error) {
	if s.d.account.Budget() != nil {
		return s.roomWithin()
	}
	return s.makeRoom()
}

func (s *stream) makeRoom() ([]byte, error) {
	d := s.d
	if err := s.check(); err != nil {
		return nil, err
	}
	if cap(d.stream)-len(d.stream) < max(1, cap(d.stream)/4) {
		s.leave()
		if err := s.grow(); err != nil {
			return nil, err
		}
	}
	return d.stream[len(d.stream):min(cap(d.stream), len(d.stream)+largeWindow)], nil
}

// leave moves the window to what is not decided.
func (s *stream) leave() {
	b := s.d.stream
	n := s.free
	if n > 0 && n == len(b) && b[n-1] == '\r' {
		n-- // a line feed may follow, with which it is one line break
	}
	if n > 0 {
		s.d.look()
		s.d.walker.Leave(n, (*locator)(s.d))
		s.d.lines.Leave(n)
		s.d.stream = b[:copy(b, b[n:])]
		s.free -= n
	}
}

// grow makes the window larger where too little of it is free, up to the limit.
func (s *stream) grow() error {
	d := s.d
	most := d.limits.HeldBytes - d.walker.OpenBytes()
	if len(d.stream) > cap(d.stream)/2 || s.filled && cap(d.stream) < largeWindow {
		if size := min(2*cap(d.stream), most); size > cap(d.stream) {
			d.stream = memory.Resized(&d.account, d.stream, size)
		}
	}
	if len(d.stream) >= min(most, cap(d.stream)) {
		return d.streamLimitError(errors.LimitHeldBytes)
	}
	return nil
}

// put walks on, when n bytes have been put into the room. With eof there will be no
// more.
func (s *stream) put(n int, eof bool) {
	if s.d.account.Budget() != nil {
		s.putWithin(n, eof)
		return
	}
	s.walkOn(n, eof)
}

func (s *stream) walkOn(n int, eof bool) {
	d, w := s.d, &s.d.walker
	d.begin()
	defer d.end()
	if s.check() != nil {
		return // the source has used the decoder
	}
	if s.total > int64(maxInt-n) {
		s.err = d.streamLimitError(errors.LimitStreamBytes)
		return
	}
	s.filled = n == cap(d.stream)-len(d.stream)
	d.stream = d.stream[:len(d.stream)+n]
	s.total += int64(n)
	if s.whole {
		if eof {
			s.decodeWhole()
		}
		return
	}
	if !eof && s.total < int64(len(syntax.ByteOrderMark)) && strings.HasPrefix(syntax.ByteOrderMark, string(d.stream)) {
		return // to be refused by its name it has to be whole
	}
	if s.taken == len(s.out) {
		s.out, s.taken = s.out[:0], 0
	}
	before := len(s.out)
	w.Out = s.out
	switch st := w.Run(d.stream, eof); st {
	case skip.Cut:
		s.emit()
	case skip.Done:
		s.err = s.finish()
	default:
		s.err = d.streamError(st)
	}
	s.out, w.Out = w.Out, nil
	s.keepOutput()
	if d.compact {
		s.out = s.compactor.compact(s.out, before)
	}
	if s.err != nil {
		d.release(len(d.stream))
	}
}

// emit writes what is decided after a cut.
func (s *stream) emit() {
	var last []byte
	s.free, s.ended, last = s.d.walker.Emit(!s.ended)
	s.last = append(s.last, last...)
}

// finish ends a document that was read to its end, and says how.
func (s *stream) finish() error {
	d, w := s.d, &s.d.walker
	d.look()
	w.LocateBefore(len(d.stream), (*locator)(d))
	d.finish()
	if w.Found.Mismatches > 0 {
		return w.Found.TypeError()
	}
	if s.ended {
		w.Out = append(w.Out, s.last...)
	} else {
		w.EmitRest()
	}
	if d.validation == Strict && w.Found.Strict > 0 {
		return w.Found.StrictError()
	}
	return io.EOF
}

// decodeWhole decodes a document that could not be decoded in parts.
func (s *stream) decodeWhole() {
	text := s.d.stream
	if s.yaml {
		s.out, s.err = s.d.appendYAML(s.out[:0], text)
	} else {
		s.out, s.err = s.d.appendJSON(s.out[:0], text)
	}
	if s.err == errors.ErrBudget {
		s.out = nil // the decoder has let the buffer go, and is not charged for it any more
	}
	s.keepOutput()
	s.use = s.d.uses
	if s.err == nil {
		s.err = io.EOF
	}
}

// keepOutput leaves the output's memory to the decoder.
func (s *stream) keepOutput() {
	s.d.account.Own(cap(s.out) - cap(s.d.output))
	s.d.output = s.out
}

// take copies output into p.
func (s *stream) take(p []byte) int {
	if s.taken == len(s.out) || s.check() != nil {
		return 0
	}
	n := copy(p, s.out[s.taken:])
	s.taken += n
	return n
}

// writeTo writes all output to w. offset is how much went there before.
func (s *stream) writeTo(w io.Writer, offset int64) (int, error) {
	p := s.out[s.taken:]
	if len(p) == 0 {
		return 0, nil
	}
	if err := s.check(); err != nil {
		return 0, err
	}
	n, err := w.Write(p)
	switch {
	case n < 0 || n > len(p):
		n, err = 0, errInvalidCount
	case n < len(p) && err == nil:
		err = io.ErrShortWrite
	}
	s.taken += n
	if err != nil {
		err = &errors.IOError{Op: "write", Offset: offset + int64(n), Err: err}
	}
	return n, err
}
