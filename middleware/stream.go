package middleware

import (
	"compress/gzip"
	stderrors "errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
)

// streamBytes is what one stream holds besides its decoder, at most: findings, and what is said about them.
const streamBytes = 128 << 10

// A streamBody is the body of a request that is decoded while the handler reads it. What
// has gone wrong is an error of Read, so that the handler never sees a whole document
// that is to be refused, and the answer in place of the handler's.
type streamBody struct {
	e    *exchange
	out  *http.Request
	pool *decoder.Pool

	mu     sync.Mutex
	d      *decoder.Decoder // nil when it was given back
	result *decoder.Reader
	source source
	// held is kept back where the document may turn out to be refused behind its last
	// byte: under Strict.
	held   byte
	isHeld bool
	err    error // of every Read from now on
	// refused is the answer if err is one, and is set once the document has ended.
	refused *StatusError
	ended   bool
}

// stream returns the request with a body that is decoded when it is read.
func (e *exchange) stream(w http.ResponseWriter) (*http.Request, *StatusError) {
	needs := streamBytes
	if e.gzip {
		needs += gzipBytes
	}
	if !e.loan.charge(needs) {
		return nil, overloaded()
	}
	b := &streamBody{e: e, pool: e.resource.pool(e.validation, false)}
	b.source = source{from: http.MaxBytesReader(w, e.r.Body, e.h.opts.MaxBytes)}
	if e.gzip {
		b.source.from = &gunzip{from: b.source.from, most: e.h.opts.MaxBytes}
	}
	if b.d = e.h.held.borrow(b.pool, &e.work); b.d == nil {
		return nil, overloaded()
	}
	b.result = b.d.NewReader(&b.source)
	b.result.SetContext(e.r.Context())
	e.streamed = b
	b.out = e.passOn(b, true)
	b.out.Header.Set("Content-Type", e.form.passedOnAs())
	return b.out, nil
}

// Read returns the next bytes of the result.
func (b *streamBody) Read(p []byte) (n int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil || len(p) == 0 {
		return 0, b.err
	}
	start, waited := time.Now(), b.source.waited
	n, err = b.read(p)
	waited = b.source.waited - waited
	b.e.reading += waited
	b.e.decoding += time.Since(start) - waited
	b.e.sent += int64(n)
	if err != nil {
		b.end(err)
	}
	return n, b.err
}

// read reads, and where one byte must be kept back, returns that of the read before first.
func (b *streamBody) read(p []byte) (int, error) {
	if b.e.validation != decoder.Strict {
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

// end notes how the document has ended, and gives the decoder back.
func (b *streamBody) end(err error) {
	b.err, b.ended = err, true
	b.e.received = b.source.read
	b.e.findings, b.e.omitted = slices.Clone(b.d.Findings()), b.d.Omitted()
	b.refused = b.refusal(err)
	if b.refused == nil {
		b.out.Trailer = safeTrailers(b.e.r.Trailer, b.e.trailers, true)
		if b.e.validation == decoder.Warn {
			b.e.warnings = b.e.texts(nil)
		}
	}
	b.giveBack()
}

func (b *streamBody) refusal(err error) *StatusError {
	strict, isStrict := stderrors.AsType[*errors.StrictError](err)
	reading, isReading := stderrors.AsType[*errors.IOError](err)
	var refused *StatusError
	switch {
	case err == io.EOF:
		return nil
	case isStrict:
		refused = badRequest(strict.Error())
	case stderrors.Is(err, errors.ErrBudget):
		return overloaded()
	case isReading:
		return unreadable(reading.Err)
	default:
		refused = badRequest("the object provided cannot be decoded: " + err.Error())
	}
	refused.Err = err
	return refused
}

func (b *streamBody) giveBack() {
	if b.d != nil {
		b.e.h.held.giveBack(b.pool, b.d, &b.e.work)
		b.d, b.result = nil, nil
	}
}

// Close waits for a Read that is under way. Nothing can be read after it.
func (b *streamBody) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = http.ErrBodyReadAfterClose
		b.e.received = b.source.read
	}
	b.giveBack()
	return nil
}

// state returns whether the document has ended, and why it is refused, if it is.
func (b *streamBody) state() (ended bool, refused *StatusError) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ended, b.refused
}

// A source reads a body, and notes how much, and how long that took.
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

// A gunzip decompresses what it reads, up to a limit, from its first Read on.
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
		return 0, &http.MaxBytesError{Limit: g.most}
	}
	return n, err
}

// A streamWriter writes the answer to a request whose body is decoded while it is
// read: warnings if these are known when the handler answers, and in place of its answer
// the refusal of what turned out to be wrong.
type streamWriter struct {
	http.ResponseWriter
	body    *streamBody
	wrote   bool // the status
	dropped bool // the handler's answer is
}

// Unwrap is for http.ResponseController.
func (w *streamWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader answers.
func (w *streamWriter) WriteHeader(code int) {
	if code < 200 && code != http.StatusSwitchingProtocols {
		w.ResponseWriter.WriteHeader(code)
		return
	}
	if w.wrote {
		return
	}
	w.wrote = true
	ended, refused := w.body.state()
	if refused != nil {
		w.dropped = true
		clear(w.Header()) // what the handler says about an answer that is not sent
		w.body.e.answer(w.ResponseWriter, refused)
		return
	}
	if ended {
		addWarnings(w.Header(), w.body.e.warnings)
	}
	w.ResponseWriter.WriteHeader(code)
}

// Write writes the body of the answer.
func (w *streamWriter) Write(p []byte) (int, error) {
	if !w.wrote {
		w.WriteHeader(http.StatusOK)
	}
	if w.dropped {
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

// FlushError is for http.ResponseController.
func (w *streamWriter) FlushError() error {
	if !w.wrote {
		w.WriteHeader(http.StatusOK)
	}
	if w.dropped {
		return nil
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Flush is for handlers that ask for an http.Flusher.
func (w *streamWriter) Flush() { _ = w.FlushError() }

// finish answers if the handler did not, but should not have the last word.
func (w *streamWriter) finish() {
	if _, refused := w.body.state(); !w.wrote && refused != nil {
		w.WriteHeader(http.StatusOK)
	}
}
