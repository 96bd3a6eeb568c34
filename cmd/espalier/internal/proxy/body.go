package proxy

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"
)

// minBodyRate is how many bytes a second a body has at least, on average, once the time has passed
// that a body may take in any case.
const minBodyRate = 1 << 10

// A timedBody is the body of a request. One that is decoded must be there in time. One that passes as it
// comes may take as long as it needs, but neither stop for so long nor trickle. A timeout
// of the server would hold for the handler, too, and end requests that watch.
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

// passingBody is the key of a context for the body that passes as it comes.
type passingBody struct{}

// withBodyTimeout puts a middleware in front of a handler, and limits how long they may wait for bodies.
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
		if r.Body == http.NoBody { // the server watches the connection already: a deadline would end the request
			decoding.ServeHTTP(w, r)
			return
		}
		b := &timedBody{ReadCloser: r.Body, control: http.NewResponseController(w), timeout: timeout, start: time.Now()}
		defer b.end()
		b.setDeadline(b.start.Add(timeout))
		timed := new(http.Request) // the server decides by the body of its own whether the connection can go on
		*timed = *r
		timed.Body = b
		decoding.ServeHTTP(w, timed)
	})
}

// Read waits until the deadline. After the end the server watches the connection, with no deadline.
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
		b.setDeadline(time.Time{}) // the answer may take longer
	}
	return n, err
}

// setDeadline has no effect when the handler has ended: the connection is that of the next request
// then, and a transport may still want to read. Writers of net/http support it.
func (b *timedBody) setDeadline(t time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.deadline = t; !b.ended {
		_ = b.control.SetReadDeadline(t)
	}
}

// isLate reports whether the deadline is over. A server that reads an error cancels the request, so
// that who waits for an answer may learn of that before the error of the body.
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
