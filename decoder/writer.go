package decoder

import (
	"context"
	stderrors "errors"
	"io"

	"github.com/espalier-dev/espalier/errors"
)

// A Writer is a [Reader] turned round: chunks of a JSON document of any size are
// written to it, and it writes the result to another writer. It holds what a Reader
// holds and has the same errors.
type Writer struct {
	dst    io.Writer
	closed bool
	// failed is the first error, and that of every later call.
	failed  error
	written int64
	stream
}

// NewWriter returns a writer that writes the result for the JSON document that is
// written to it to w. Close must be called at the end. Any other use of the decoder ends
// what came before. Where w is nil, Reset has to come before Write.
func (d *Decoder) NewWriter(w io.Writer) *Writer {
	writer := new(Writer)
	writer.start(d)
	writer.dst = w
	return writer
}

// Reset makes the writer work on another document, with the same decoder and without
// allocating. The context stays.
func (w *Writer) Reset(dst io.Writer) {
	w.dst, w.closed, w.failed, w.written = dst, false, nil, 0
	w.start(w.d)
}

// SetContext makes the writer stop as soon as the context is done, with the error of [Reader.SetContext]:
// at the next call, or within one before another 64 KiB of it are read.
func (w *Writer) SetContext(ctx context.Context) { w.ctx = ctx }

// Findings is [Decoder.Findings], for when Close has returned nil or an
// errors.StrictError.
func (w *Writer) Findings() errors.List { return w.d.Findings() }

// Omitted is [Decoder.Omitted], as Findings is.
func (w *Writer) Omitted() int { return w.d.Omitted() }

// flushAt is how much output is kept back for a larger write.
const flushAt = 32 << 10

var errNoTarget = stderrors.New("decoder: a Writer has nothing to write to before Reset")

var errClosed = stderrors.New("decoder: write to a Writer that is closed")

// Write takes the next bytes of the document; it does not keep p. It returns how much
// of p was taken before an error. What is decided is written when there is much of it, or by Flush and Close.
func (w *Writer) Write(p []byte) (n int, err error) {
	if w.closed {
		return 0, errClosed
	}
	for n < len(p) && w.failed == nil {
		if w.failed = checkContext(w.ctx, w.total); w.failed != nil {
			break
		}
		var room []byte
		if room, w.failed = w.room(); w.failed != nil {
			break
		}
		took := copy(room, p[n:])
		w.put(took, false)
		n += took
		if w.failed = w.stream.err; w.failed == nil && len(w.out) >= flushAt {
			w.flush()
		}
	}
	return n, w.failed
}

// Flush writes what is decided so far: all but the member or token that is being read, and
// the last byte of the document.
func (w *Writer) Flush() error {
	if w.failed == nil {
		w.flush()
	}
	return w.failed
}

func (w *Writer) flush() {
	if w.dst == nil {
		w.failed = errNoTarget
		return
	}
	n, err := w.writeTo(w.dst, w.written)
	w.written += int64(n)
	w.failed = err
}

// Close says that the document has ended, and writes the rest of the result. It
// returns nil if the result is complete, and an errors.StrictError if it is complete, too,
// but has findings; with every other error it is not. It does not close the writer
// below.
func (w *Writer) Close() error {
	if w.closed {
		return w.failed
	}
	w.closed = true
	if w.failed != nil {
		return w.failed
	}
	if _, w.failed = w.room(); w.failed != nil {
		return w.failed
	}
	w.put(0, true)
	end := w.stream.err
	if _, isStrict := end.(*errors.StrictError); end != io.EOF && !isStrict {
		w.failed = end
		return end
	}
	if w.flush(); w.failed == nil && end != io.EOF {
		w.failed = end
	}
	return w.failed
}
