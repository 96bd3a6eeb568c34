package request

import (
	"bytes"
	"compress/gzip"
	stderrors "errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
)

// streamBytes is the most that one stream holds besides its decoder: findings and their texts.
const streamBytes = 128 << 10

// ErrClosed is the error of reading a [Stream] that was closed before its end.
var ErrClosed = stderrors.New("request: the stream is closed")

// A Stream is a body that is decoded while it is read. If the body turns out to
// be refused, Read returns an error in place of the document's last byte, so
// that no reader that heeds errors takes a refused document for a whole one.
// State returns the refusal. One goroutine reads; others may close the Stream
// and ask for its state at the same time.
//
// A Stream differs from [Exchange.Decode] in these ways:
//
//   - A name that occurs twice in an object of the result is refused, as
//     decoder.Reader says.
//   - apiVersion and kind of the object are not compared with those of the
//     resource.
//   - Values are not validated: CanStream is false where they are to be.
//   - With decoder.ServerRequests the document is held, up to the limit
//     HeldBytes of the decoder, which is 1 MiB here by default.
type Stream struct {
	x    *Exchange
	pool *decoder.Pool

	mu     sync.Mutex
	d      *decoder.Decoder // nil after it was given back
	result *decoder.Reader
	source source
	limit  limited
	// held is the last byte of the result so far. Under Strict it is held back, because the
	// document may be refused after its last byte.
	held   byte
	isHeld bool
	err    error // returned by every later Read
	// refused is the answer if the document was refused. It is set when the document has ended.
	refused *StatusError
	ended   bool
}

// CanStream reports whether the request can be decoded as a stream after Find:
// its body is a JSON object that the finder has not read to its end, the action
// is Rewrite, and values are not validated: that needs the whole object.
func (x *Exchange) CanStream() bool {
	return x.resource != nil && x.refused == nil && !x.isRead && x.form == jsonObject &&
		x.gate.opts.Action == Rewrite && x.use() == stored
}

// Stream returns a stream of the result, which is decoded while it is read. Its
// length is not known, and neither the Content-Encoding nor the digests of the
// request apply to it. If there is no room for a decoder, the request is
// refused. Stream takes the place of Decode. It panics if CanStream returns
// false, and where Decode panics.
func (x *Exchange) Stream() (*Stream, *StatusError) {
	if !x.CanStream() {
		panic("request: Stream: the body cannot be decoded while it is read")
	}
	x.mustBeFound()
	x.isTaken = true
	needs := streamBytes
	if x.gzip {
		needs += gzipBytes
	}
	if !x.memory.charge(needs) {
		return nil, overloaded()
	}
	most := x.gate.opts.MaxBytes
	b := &Stream{x: x, pool: x.resource.pool(x.validation, stored)}
	b.limit = limited{from: x.r.Body, most: most}
	if x.isBegun {
		b.limit.from = io.MultiReader(bytes.NewReader(x.body), x.r.Body)
	}
	b.source.from = &b.limit
	if x.gzip {
		b.source.from = &gunzip{from: &b.limit, most: most}
	}
	if b.d = x.gate.budget.borrow(b.pool, &x.decoderMemory); b.d == nil {
		return nil, overloaded()
	}
	b.result = b.d.NewReader(&b.source)
	if x.r.Context != nil {
		b.result.SetContext(x.r.Context)
	}
	x.streamed = b
	return b, nil
}

// Read returns the next bytes of the result. At the end it returns io.EOF, or
// the error for which the document is refused. An error is returned again by
// every later call.
func (b *Stream) Read(p []byte) (n int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil || len(p) == 0 {
		return 0, b.err
	}
	start, waited := time.Now(), b.source.waited
	n, err = b.read(p)
	waited = b.source.waited - waited
	b.x.reading += waited
	b.x.decoding += time.Since(start) - waited
	b.x.sent += int64(n)
	if err != nil {
		b.end(err)
	}
	return n, b.err
}

// read reads the result. If one byte must be held back, it returns the held byte of the last read
// first.
func (b *Stream) read(p []byte) (int, error) {
	if b.x.validation != decoder.Strict {
		return b.result.Read(p)
	}
	var next [1]byte
	if !b.isHeld {
		if n, err := b.result.Read(next[:]); n == 0 {
			return 0, err
		}
		b.held, b.isHeld = next[0], true
	}
	rest := p[1:]
	if len(rest) == 0 {
		rest = next[:]
	}
	n, err := b.result.Read(rest)
	switch {
	case n > 0:
		p[0], b.held = b.held, rest[n-1]
		return n, nil
	case err == io.EOF:
		p[0] = b.held
		return 1, io.EOF
	}
	return 0, err
}

// end records how the document has ended, and gives the decoder back.
func (b *Stream) end(err error) {
	b.err, b.ended = err, true
	b.x.received = b.source.read
	b.x.findings, b.x.omitted = slices.Clone(b.d.Findings()), b.d.Omitted()
	b.refused = b.refusal(err)
	if b.refused == nil && b.x.validation == decoder.Warn {
		b.x.texts = b.x.listed(b.d)
	}
	b.giveBack()
}

func (b *Stream) refusal(err error) *StatusError {
	strict, isStrict := stderrors.AsType[*errors.StrictError](err)
	reading, isReading := stderrors.AsType[*errors.IOError](err)
	var refused *StatusError
	switch {
	case err == io.EOF:
		return nil
	case isStrict:
		refused = BadRequest(strict.Error())
	case stderrors.Is(err, errors.ErrBudget):
		return overloaded()
	case isReading:
		return unreadable(reading.Err)
	default:
		refused = BadRequest("the object provided cannot be decoded: " + err.Error())
	}
	refused.Err = err
	return refused
}

func (b *Stream) giveBack() {
	if b.d != nil {
		b.x.gate.budget.giveBack(b.pool, b.d, &b.x.decoderMemory)
		b.d, b.result = nil, nil
	}
}

// Close waits for a Read in progress and ends the stream. Later calls of Read
// return [ErrClosed], or the error that had ended the stream before. Close
// always returns nil.
func (b *Stream) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = ErrClosed
		b.x.received = b.source.read
	}
	b.giveBack()
	return nil
}

// ContentType returns the type of the bytes that are read, without parameters.
func (b *Stream) ContentType() string { return b.x.form.passedOnAs() }

// State reports whether the document has ended, and returns the reason if it is
// refused.
func (b *Stream) State() (ended bool, refused *StatusError) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ended, b.refused
}

// Warnings returns the warnings of the document, as those of a [Result]. There
// are none before the document has ended, or if it is refused.
func (b *Stream) Warnings() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return warnings(slices.Clone(b.x.texts))
}

// A source counts the bytes of a body that is read, and the time that reading takes.
type source struct {
	from   io.Reader
	read   int64
	waited time.Duration
}

func (s *source) Read(p []byte) (int, error) {
	start := time.Now()
	n, err := s.from.Read(p)
	s.waited += time.Since(start)
	s.read += int64(n)
	return n, err
}

// A gunzip decompresses what it reads, up to a limit, beginning with the first Read.
type gunzip struct {
	from io.Reader
	z    *gzip.Reader
	most int64
	read int64
}

func (g *gunzip) Read(p []byte) (n int, err error) {
	if g.z == nil {
		if g.z, err = gzip.NewReader(g.from); err != nil {
			return 0, err
		}
	}
	n, err = g.z.Read(p)
	if g.read += int64(n); g.read > g.most {
		return 0, &TooLargeError{g.most}
	}
	return n, err
}
