package decoder

import (
	"context"
	stderrors "errors"
	"io"
	"math"
	"strings"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/position"
	"github.com/espalier-dev/espalier/internal/skip"
	"github.com/espalier-dev/espalier/internal/syntax"
)

// firstWindow is the length of a window at first, so that a short stream costs little. A window
// doubles if one read fills it, up to largeWindow, and wherever a token does not fit. Tests
// change firstWindow.
var firstWindow = 512

const largeWindow = 32 << 10

// A stream walks over a document in a window. It is the common part of [Reader] and [Writer]:
// they put bytes into the window and take output out.
type stream struct {
	d   *Decoder
	ctx context.Context
	// whole says that the document is held and decoded when all of it is there.
	whole, yaml bool
	out         []byte // output that is decided
	taken       int    // how many bytes of out were taken
	total       int64  // how many bytes were put
	filled      bool   // the last put has filled the window
	free        int    // how many bytes of the window are not needed any more
	compactor   compactor
	err         error  // io.EOF after everything was decoded
	use         uint64 // d.uses at the start
}

// start makes the stream ready for a document. It allocates no memory if the decoder has a
// window.
func (s *stream) start(d *Decoder) {
	d.begin() // a call that is at work would lose its findings
	defer d.end()
	*s = stream{d: d, ctx: s.ctx, out: d.output[:0], yaml: s.yaml}
	s.whole = s.yaml || d.server != Standalone || d.expected != (objectType{}) || d.validatesWhole()
	w := &d.walker
	d.prepare()
	s.use = d.uses
	w.Streaming = true
	if d.validateValues != AcceptValues && !s.whole {
		w.Judge = (*judge)(d)
		d.parts.start()
	}
	w.Start(nil)
	d.lines = position.From(nil, d.origin)
	d.stream = d.stream[:0]
	if cap(d.stream) == 0 {
		// The budget is charged for it when the next buffer grows.
		d.stream = make([]byte, 0, min(firstWindow, d.limits.HeldBytes))
	}
}

var errSuperseded = stderrors.New(
	"decoder: its Decoder was used for another document before this one had ended")

// checkUse returns an error if the decoder has begun another document, which its buffers belong
// to now.
func (s *stream) checkUse() error {
	if s.use != s.d.uses {
		s.err = errSuperseded
		return s.err
	}
	return nil
}

// room returns the part of the window that the next bytes go to.
func (s *stream) room() ([]byte, error) {
	if s.d.account.Budget() != nil {
		return s.roomWithinBudget()
	}
	return s.makeRoom()
}

// makeRoom is room. It panics if the budget has no room, and roomWithinBudget recovers.
func (s *stream) makeRoom() ([]byte, error) {
	d := s.d
	if err := s.checkUse(); err != nil {
		return nil, err
	}
	if cap(d.stream)-len(d.stream) < max(1, cap(d.stream)/4) {
		s.slide()
		if err := s.grow(); err != nil {
			return nil, err
		}
	}
	return d.stream[len(d.stream):min(cap(d.stream), len(d.stream)+largeWindow)], nil
}

// slide moves the window to the first byte that is still needed.
func (s *stream) slide() {
	b := s.d.stream
	n := s.free
	if n > 0 && n == len(b) && b[n-1] == '\r' {
		n-- // if a line feed follows, both are one line break
	}
	if n > 0 {
		s.d.linesToWindow()
		s.d.walker.Leave(n, (*locator)(s.d))
		s.d.lines.Leave(n)
		s.d.stream = b[:copy(b, b[n:])]
		s.free -= n
	}
}

// grow makes the window larger if too little of it is free, up to the limit.
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

// put walks on over n bytes, which were put into the room. With eof they are the last.
func (s *stream) put(n int, eof bool) {
	if s.d.account.Budget() != nil {
		s.putWithinBudget(n, eof)
		return
	}
	s.walkOn(n, eof)
}

// walkOn is put. It panics if the budget has no room, and putWithinBudget recovers.
func (s *stream) walkOn(n int, eof bool) {
	d := s.d
	d.begin()
	defer d.end()
	if s.checkUse() != nil {
		return // the source of a Reader has used the decoder
	}
	if s.total > int64(math.MaxInt-n) {
		s.err = d.streamLimitError(errors.LimitStreamBytes)
		return
	}
	s.filled = n == cap(d.stream)-len(d.stream)
	d.stream = d.stream[:len(d.stream)+n]
	s.total += int64(n)
	d.parts.read = int(min(s.total, math.MaxInt))
	if s.whole {
		if eof {
			s.decodeWhole()
		}
		return
	}
	if !eof && s.total < int64(len(syntax.ByteOrderMark)) &&
		strings.HasPrefix(syntax.ByteOrderMark, string(d.stream)) {
		return // a byte order mark has to be whole to be called so in the error
	}
	s.run(eof)
}

// run runs the machines over the window.
func (s *stream) run(eof bool) {
	d, w := s.d, &s.d.walker
	if s.taken == len(s.out) {
		s.out, s.taken = s.out[:0], 0
	}
	before := len(s.out)
	w.Out = s.out
	switch st := w.Run(d.stream, eof); {
	case w.Judge != nil && d.parts.exceeded:
		s.err = d.stepsError()
	case st == skip.Cut:
		s.free = w.Emit()
	case st == skip.Done:
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
		d.releaseIdle(len(d.stream))
	}
}

// finish ends a document that was read to its end, and returns its error, or io.EOF.
func (s *stream) finish() error {
	d, w := s.d, &s.d.walker
	d.linesToWindow()
	w.LocateBefore(len(d.stream), (*locator)(d))
	switch {
	case w.Judge == nil:
	case w.Found.Mismatches > 0: // then nothing is validated
		w.Found.RetractInvalid(w.Found.Invalid, func(*errors.ValueError) bool { return true })
	default:
		d.finishParts()
	}
	d.finish()
	w.Found.FinishInvalid()
	if w.Found.Mismatches > 0 {
		return w.Found.TypeError()
	}
	w.EmitRest()
	if err := d.verdict(); err != nil {
		return err
	}
	return io.EOF
}

// decodeWhole decodes a document that is held as a whole.
func (s *stream) decodeWhole() {
	text := s.d.stream
	if s.yaml {
		s.out, s.err = s.d.appendYAML(s.out[:0], text)
	} else {
		s.out, s.err = s.d.appendJSON(s.out[:0], text)
	}
	if s.err == errors.ErrBudget {
		s.out = nil // the decoder has let go of the buffer, and has returned it to the budget
	}
	s.keepOutput()
	s.use = s.d.uses
	if s.err == nil {
		s.err = io.EOF
	}
}

// keepOutput gives the memory of the output back to the decoder.
func (s *stream) keepOutput() {
	s.d.account.Own(cap(s.out) - cap(s.d.output))
	s.d.output = s.out
}

// take copies output into p.
func (s *stream) take(p []byte) int {
	if s.taken == len(s.out) || s.checkUse() != nil {
		return 0
	}
	n := copy(p, s.out[s.taken:])
	s.taken += n
	return n
}

// writeTo writes all output to w, which has got offset bytes before.
func (s *stream) writeTo(w io.Writer, offset int64) (int, error) {
	p := s.out[s.taken:]
	if len(p) == 0 {
		return 0, nil
	}
	if err := s.checkUse(); err != nil {
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
