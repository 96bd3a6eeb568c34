package middleware

import (
	"errors"
	"io"
	"net/http"

	"github.com/espalier-dev/espalier/request"
)

// streamed has the body for the handler of a streamed request, and the writer of the answer.
type streamed struct {
	body   streamBody
	answer streamWriter
}

// stream returns the request with a body that is decoded when it is read.
func (e *exchange) stream() (*http.Request, *request.StatusError) {
	// The server closes the connection when the limit is exceeded.
	e.source.Reader = http.MaxBytesReader(e.w, e.r.Body, e.h.opts.MaxBytes)
	stream, refused := e.x.Stream()
	if refused != nil {
		return nil, refused
	}
	e.streamed = &streamed{body: streamBody{stream}}
	out := e.passOn(&e.streamed.body, true)
	out.Header.Set("Content-Type", stream.ContentType())
	return out, nil
}

// A streamBody is a request.Stream as the body of a request, with the errors of net/http.
type streamBody struct{ *request.Stream }

// Read returns the next bytes of the result.
func (b *streamBody) Read(p []byte) (int, error) {
	n, err := b.Stream.Read(p)
	switch {
	case err == nil || err == io.EOF:
	case err == request.ErrClosed:
		err = http.ErrBodyReadAfterClose
	default:
		if large, ok := errors.AsType[*request.TooLargeError](err); ok {
			err = &http.MaxBytesError{Limit: large.Limit}
		}
	}
	return n, err
}

// A streamWriter writes the answer to a request whose body is decoded while it is read. It adds the
// warnings that are known when the handler answers. If the body was refused, it writes the refusal
// in place of the handler's answer.
type streamWriter struct {
	http.ResponseWriter
	h       *handler
	r       *http.Request
	x       *request.Exchange
	stream  *request.Stream
	wrote   bool // the status was written
	dropped bool // the handler's answer is dropped
}

func (w *streamWriter) state() (ended bool, refused *request.StatusError) {
	ended, refused = w.stream.State()
	return ended, inHTTP(refused)
}

// Unwrap is for http.ResponseController.
func (w *streamWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader writes the status, with warnings, or the refusal.
func (w *streamWriter) WriteHeader(code int) {
	if code < 200 && code != http.StatusSwitchingProtocols {
		w.ResponseWriter.WriteHeader(code)
		return
	}
	if w.wrote {
		return
	}
	w.wrote = true
	ended, refused := w.state()
	if refused != nil {
		w.dropped = true
		clear(w.Header()) // they describe an answer that is not sent
		w.h.answer(w.ResponseWriter, w.r, w.x, refused)
		return
	}
	if ended {
		if warnings := w.stream.Warnings(); len(warnings) > 0 {
			addWarnings(w.Header(), warnings)
		}
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

// finish writes the refusal if the handler has not answered.
func (w *streamWriter) finish() {
	if _, refused := w.state(); !w.wrote && refused != nil {
		w.WriteHeader(http.StatusOK)
	}
}
