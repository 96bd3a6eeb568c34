package proxy

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"
)

// minBodyRate is how many bytes per second a body must have on average, after the time that any
// body may take.
const minBodyRate = 1 << 10

// A timedBody is the body of a request with a time limit. A body that is decoded must arrive in
// time. A body that passes untouched may take as long as it needs, but must neither pause for
// so long nor trickle. A timeout of the server would apply to the handler as well, and would
// end requests that watch.
type timedBody struct {
	io.ReadCloser
	control  *http.ResponseController
	timeout  time.Duration
	start    time.Time
	passes   bool
	atEnd    bool
	received int64

	mu       sync.Mutex
	deadline time.Time
	ended    bool
}

// passingBody is the key for a body that passes untouched in the context of its request.
type passingBody struct{}

// withBodyTimeout returns a handler with the middleware decode in front of next, and limits how
// long both may wait for bodies.
func withBodyTimeout(timeout time.Duration, decode func(http.Handler) http.Handler, next http.Handler) http.Handler {
	decoding := decode(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if b, ok := r.Body.(*timedBody); ok {
			b.passes = true
			r = r.WithContext(context.WithValue(r.Context(), passingBody{}, b))
		} else {
			_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
		}
		next.ServeHTTP(w, r)
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == http.NoBody { // the server already watches the connection, and a deadline would end the request
			decoding.ServeHTTP(w, r)
			return
		}
		b := &timedBody{ReadCloser: r.Body, control: http.NewResponseController(w), timeout: timeout, start: time.Now()}
		defer b.end()
		b.setDeadline(b.start.Add(timeout))
		timed := new(http.Request) // r keeps the server's body, by which the server decides whether the connection can be used again
		*timed = *r
		timed.Body = b
		decoding.ServeHTTP(w, timed)
	})
}

// Read waits until the deadline. After the end of the body there is none: the server watches
// the connection then.
func (b *timedBody) Read(p []byte) (int, error) {
	if b.atEnd {
		return 0, io.EOF
	}
	if b.passes {
		slowest := b.start.Add(b.timeout + time.Duration(b.received/minBodyRate)*time.Second)
		if idle := time.Now().Add(b.timeout); idle.Before(slowest) {
			slowest = idle
		}
		b.setDeadline(slowest)
	}
	n, err := b.ReadCloser.Read(p)
	b.received += int64(n)
	if b.atEnd = err == io.EOF; b.atEnd {
		b.setDeadline(time.Time{}) // the response may take longer
	}
	return n, err
}

// setDeadline has no effect after the handler has returned. By then the connection belongs to
// the next request, but a transport may still be reading. The writers of net/http support
// deadlines.
func (b *timedBody) setDeadline(t time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.deadline = t; !b.ended {
		_ = b.control.SetReadDeadline(t)
	}
}

// isLate reports whether the deadline has passed. A server that fails to read cancels the
// request, so the error of the request may be known before that of the body.
func (b *timedBody) isLate() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.deadline.IsZero() && !time.Now().Before(b.deadline)
}

func (b *timedBody) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
}
