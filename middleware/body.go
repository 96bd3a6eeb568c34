package middleware

import (
	"compress/gzip"
	stderrors "errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
)

// firstBuffer is what a request gets before it has sent anything, whatever length it announces.
const firstBuffer = 32 << 10

// gzipBytes is what decompressing one body holds, roughly: a window and tables.
const gzipBytes = 64 << 10

// maxEmptyReads is how many reads in a row may return nothing.
const maxEmptyReads = 100

// read reads the body to its end.
func (e *exchange) read() *StatusError {
	most := e.h.opts.MaxBytes
	src := io.Reader(e.r.Body)
	if e.gzip {
		if !e.loan.charge(gzipBytes) {
			return overloaded()
		}
		// What is compressed has the limit, too: empty blocks and members have no end.
		z, err := gzip.NewReader(http.MaxBytesReader(nil, e.r.Body, most))
		if err != nil {
			return unreadable(err)
		}
		src = z
	}
	size := smallestBuffer
	if e.r.ContentLength > 0 {
		size = int(min(e.r.ContentLength+1, firstBuffer))
	}
	for empty := 0; ; {
		if len(e.body) == cap(e.body) {
			if !e.grow(max(size, 2*cap(e.body))) {
				return overloaded()
			}
		}
		room := e.body[len(e.body) : min(int64(cap(e.body))-1, most)+1]
		n, err := src.Read(room)
		e.body = e.body[:len(e.body)+n]
		e.received += int64(n)
		switch {
		case int64(len(e.body)) > most:
			return tooLarge(most)
		case err == io.EOF:
			return nil
		case err != nil:
			return unreadable(err)
		case n > 0:
			empty = 0
		default:
			if empty++; empty == maxEmptyReads {
				return unreadable(io.ErrNoProgress)
			}
		}
	}
}

// grow moves the body to a larger buffer, if there is room for it.
func (e *exchange) grow(size int) bool {
	b := e.h.held.buffer(size, &e.loan)
	if b == nil {
		return false
	}
	b = append(b, e.body...)
	e.free(&e.body)
	e.body = b
	return true
}

// unreadable is the answer to a body that does not come to its end. Its sender is gone
// in most cases.
func unreadable(err error) *StatusError {
	refused := badRequest("the body of the request cannot be read to its end")
	var max *http.MaxBytesError
	switch {
	case stderrors.As(err, &max):
		refused = tooLarge(max.Limit)
	case stderrors.Is(err, os.ErrDeadlineExceeded):
		refused = &StatusError{Code: http.StatusRequestTimeout, Reason: "Timeout",
			Message: "the body of the request did not come in time"}
	}
	refused.Err = err
	return refused
}

// request returns the request with a text for a body. changed says that it is not what
// was sent.
func (e *exchange) request(text []byte, changed bool) *http.Request {
	e.passed = &replay{text: text}
	e.sent = int64(len(text))
	r := e.passOn(e.passed, changed)
	// With trailers the body must stay chunked (RFC 9112 section 6.5 and 7.1).
	if len(r.Trailer) == 0 {
		r.ContentLength = e.sent
		r.TransferEncoding = nil
		if e.r.Header.Get("Content-Length") != "" {
			r.Header.Set("Content-Length", strconv.Itoa(len(text)))
		}
	}
	return r
}

// passOn returns the request with another body, whose length is not known.
func (e *exchange) passOn(body io.ReadCloser, changed bool) *http.Request {
	r := new(http.Request)
	*r = *e.r
	r.Body, r.GetBody, r.ContentLength = body, nil, -1
	r.Header = e.r.Header.Clone()
	delete(r.Header, "Expect") // it is met when the body is read
	delete(r.Header, "Content-Length")
	dropUpgrade(r.Header)
	if changed {
		delete(r.Header, "Content-Encoding")
		for _, name := range digests {
			delete(r.Header, name)
		}
	}
	r.Trailer = safeTrailers(e.r.Trailer, e.trailers, changed)
	return r
}

// digests are of what was sent.
var digests = []string{"Content-Md5", "Digest", "Content-Digest", "Repr-Digest"}

// A replay is the body of a request that was read. Its text may be used by another
// request as soon as it is closed: a transport may still want to read it then.
type replay struct {
	mu     sync.Mutex
	text   []byte
	at     int
	closed bool
}

// Read returns the next bytes.
func (b *replay) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return 0, http.ErrBodyReadAfterClose
	case b.at == len(b.text):
		return 0, io.EOF
	}
	n := copy(p, b.text[b.at:])
	b.at += n
	return n, nil
}

// Close waits for a Read that is under way.
func (b *replay) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.text = nil
	return nil
}
