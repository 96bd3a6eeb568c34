package yamlbridge

import (
	"bytes"
	stderrors "errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/espalier-dev/espalier/errors"
)

// MaxDocumentBytes is the maximum length of one document of a stream, unless
// [DocumentReader.Limit] sets another: 256 MiB.
const MaxDocumentBytes = 256 << 20

// A DocumentReader cuts a stream into its documents, as [Documents] does, and
// holds one of them at a time. Whatever the length of the stream, its memory is
// at most twice the longest document, and three times that while its buffer
// grows. The sizes in which the stream arrives make no difference to the
// documents. A DocumentReader must not be used by several goroutines at the
// same time.
type DocumentReader struct {
	// Limit is the maximum length of a document in bytes, with the comments
	// before it. 0 means MaxDocumentBytes.
	Limit int

	r   io.Reader
	cut cutter
	at  int64 // where cut.src starts in the stream
	err error // why there is nothing more to read
}

// NewDocumentReader returns a reader for the documents in r.
func NewDocumentReader(r io.Reader) *DocumentReader {
	d := new(DocumentReader)
	d.Reset(r)
	return d
}

// Reset makes the reader read another stream from its start, with the same
// Limit. It keeps its buffer, which is as long as the longest document needed.
// The Bytes of earlier documents are no longer valid.
func (d *DocumentReader) Reset(r io.Reader) {
	d.r, d.at, d.err = r, 0, nil
	d.cut = newCutter(d.cut.src[:0])
	d.cut.eof = false
}

// Next returns the next document. Its Bytes are valid until the next call.
//
// At the end of the stream the error is io.EOF itself. It is an
// [*errors.LimitError] if a document is too long. Otherwise it wraps the error
// of the source, or io.ErrNoProgress if the source keeps returning nothing.
// After an error there are no more documents, and the document with the error
// is not returned.
func (d *DocumentReader) Next() (Document, error) {
	d.cut.most = d.Limit
	if d.cut.most <= 0 {
		d.cut.most = MaxDocumentBytes
	}
	for {
		if p, ok := d.cut.next(); ok {
			return p.document(d.cut.src, d.at), nil
		}
		if _, known := d.err.(*errors.LimitError); d.cut.tooLong && !known {
			d.err = d.limitError()
		}
		if d.err != nil {
			return Document{}, d.err
		}
		d.fill()
	}
}

// maxEmptyReads is how many reads in a row may return nothing (as in bufio).
const maxEmptyReads = 100

// fill reads from r after the bytes that are there.
func (d *DocumentReader) fill() {
	c := &d.cut
	if len(c.src) == cap(c.src) {
		// No byte is moved twice, except when the buffer grows.
		n := c.piece.start
		d.at += int64(n)
		rest := c.src[n:]
		if n == 0 {
			c.src = make([]byte, 0, max(2*cap(c.src), 64<<10))
		}
		c.src = append(c.src[:0], rest...)
		c.slide(n)
	}
	for range maxEmptyReads {
		n, err := d.r.Read(c.src[len(c.src):cap(c.src)])
		c.src = c.src[:len(c.src)+n]
		switch {
		case err == io.EOF:
			d.err, c.eof = err, true
			return
		case err != nil:
			d.err = d.readError(err)
			return
		case n > 0:
			return
		}
	}
	d.err = d.readError(io.ErrNoProgress)
}

// readError says where r has failed. Callers take io.EOF for the end of the stream, even if
// errors.Is finds it. So a cause that matches io.EOF is not wrapped.
func (d *DocumentReader) readError(cause error) error {
	if stderrors.Is(cause, io.EOF) {
		cause = fmt.Errorf("%w: %v", io.ErrUnexpectedEOF, cause) //nolint:errorlint // see above
	}
	return fmt.Errorf("reading line %d: %w", d.cut.line, cause)
}

// limitError returns the error for a document that is too long, with the position of the first
// character beyond the limit, which is in the next line.
func (d *DocumentReader) limitError() error {
	c := &d.cut
	off := c.piece.start + c.most
	for off > c.pos && !utf8.RuneStart(c.src[off]) {
		off--
	}
	line := c.src[c.pos:off]
	return &errors.LimitError{
		Limit: errors.LimitDocumentBytes,
		Max:   int64(c.most),
		Position: errors.Position{
			Offset:     d.at + int64(off),
			Line:       c.line,
			Column:     1 + utf8.RuneCount(bytes.TrimPrefix(line, []byte(bom))),
			ByteColumn: 1 + len(line),
		},
	}
}
