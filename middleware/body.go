package middleware

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"

	"github.com/espalier-dev/espalier/request"
)

// request returns the request to pass on for a result.
func (e *exchange) request(out request.Result) *http.Request {
	e.passed = &replay{text: out.Body}
	r := e.passOn(e.passed, out.Changed)
	if out.ContentType != "" {
		r.Header.Set("Content-Type", out.ContentType)
	}
	// With trailers the body must stay chunked (RFC 9112 section 6.5 and 7.1).
	if len(r.Trailer) == 0 {
		r.ContentLength = int64(len(out.Body))
		r.TransferEncoding = nil
		if e.r.Header.Get("Content-Length") != "" {
			r.Header.Set("Content-Length", strconv.Itoa(len(out.Body)))
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
	for _, name := range request.Stale(changed) {
		delete(r.Header, name)
	}
	dropOptions(r.Header)
	r.Trailer = safeTrailers(e.r.Trailer, e.trailers, changed)
	return r
}

// inHTTP returns a refusal with the limit of a http.MaxBytesReader that somebody has wrapped around
// the body.
func inHTTP(refused *request.StatusError) *request.StatusError {
	if refused == nil || refused.Err == nil || refused.Code != http.StatusBadRequest { // not of reading
		return refused
	}
	large, ok := errors.AsType[*http.MaxBytesError](refused.Err)
	if !ok {
		return refused
	}
	inHTTP := request.TooLarge(large.Limit)
	inHTTP.Err = refused.Err
	return inHTTP
}

// A replay is the body of a request that was read before. After Close, another request may use its
// memory, although a transport may still try to read it.
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

// Close waits for a Read in progress.
func (b *replay) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.text = nil
	return nil
}
