package decoder

import (
	"context"
	stderrors "errors"
	"io"

	"github.com/espalier-dev/espalier/errors"
)

// A Writer prunes a JSON document that is written to it, in chunks of any size,
// and writes the result to another writer. It is the counterpart of [Reader]:
// it holds the same things and has the same errors. It must not be used by
// several goroutines at the same time.
type Writer struct {
	dst    io.Writer
	closed bool
	// failed is the first error, which all later calls return.
	failed  error
	written int64
	stream
}

// NewWriter returns a writer that takes a JSON document and writes the result
// to w. Close must be called at the end. A decoder works on one document at a
// time: any other use of it ends the writer. If w is nil, Reset must be called
// before Write.
func (d *Decoder) NewWriter(w io.Writer) *Writer {
	writer := new(Writer)
	writer.start(d)
	writer.dst = w
	return writer
}

// Reset makes the writer take another document with the same decoder and write
// the result to dst. It allocates nothing. The context of SetContext remains.
func (w *Writer) Reset(dst io.Writer) {
	w.dst, w.closed, w.failed, w.written = dst, false, nil, 0
	w.start(w.d)
}

// SetContext makes the writer stop when the context is done, with the error
// that [Reader.SetContext] describes: at the next call, or within a call before
// it walks another 64 KiB.
func (w *Writer) SetContext(ctx context.Context) { w.ctx = ctx }

// Findings returns the findings of the document: see [Decoder.Findings]. They
// are complete when Close has returned nil, an [*errors.StrictError] or an
// [*errors.InvalidError].
func (w *Writer) Findings() errors.List { return w.d.Findings() }

// Omitted returns the number of omitted findings: see [Decoder.Omitted]. It is
// final when Findings is complete.
func (w *Writer) Omitted() int { return w.d.Omitted() }

// flushAt is the size from which on output is written before Flush or Close.
const flushAt = 32 << 10

var errNoTarget = stderrors.New("decoder: a Writer has nothing to write to before Reset")

var errClosed = stderrors.New("decoder: write to a Writer that is closed")

// Write takes the next bytes of the document and does not keep p. It returns
// how many bytes of p were taken before an error. The result is written when
// enough of it is decided, and by Flush and Close.
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

// Flush writes the part of the result that is decided: everything except the
// member or token that is being read, and the last byte of the document.
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

// Close ends the document and writes the rest of the result. It returns nil if
// the result is complete, and an [*errors.StrictError] if the result is
// complete but has findings. With any other error the result is incomplete.
// Close does not close the writer that the result goes to.
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
	if end != io.EOF && !isComplete(end) {
		w.failed = end
		return end
	}
	if w.flush(); w.failed == nil && end != io.EOF {
		w.failed = end
	}
	return w.failed
}
