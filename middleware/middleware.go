package middleware

import (
	"io"
	"net/http"
	"slices"
	"strconv"

	"github.com/espalier-dev/espalier/request"
)

// Options configure a middleware. The zero value of each field is its default.
type Options struct {
	// Options are those of the gate that judges the bodies.
	request.Options
	// Stream decodes JSON objects while the handler reads them, so that
	// their length does not matter to memory. Objects that the
	// [request.Finder] has read to their end are excepted, and so are those
	// whose values are validated, and requests that announce trailers which
	// are passed on. With request.ByKind an object is held up to its
	// apiVersion and kind. MaxBytes applies.
	// [request.Stream] describes what is different; in addition:
	//
	//   - The handler is called before anything is known of the body. If
	//     the body is refused in the end, Read returns an error in place of
	//     the document's last byte, and the middleware writes the answer,
	//     unless the handler has answered before. A handler must therefore
	//     not act on a body that does not end in io.EOF.
	//     httputil.ReverseProxy does not: it cuts off the connection to its
	//     server.
	//   - Warnings are sent if the handler has read the whole body before
	//     it answers.
	Stream bool
	// Observer is told of each body, unless it is nil.
	Observer Observer
	// Refuse answers refused requests in place of the middleware, unless it
	// is nil. An embedding server can use it to handle them as its own
	// errors. Refuse may write what refused.Answer returns, or anything
	// else, at once or after ServeHTTP has returned. The goroutine that
	// serves the request calls it. It must send the headers of refused,
	// such as Retry-After, itself.
	//
	// With Stream, Refuse is called when the handler answers a request
	// whose body it could not read, or has returned without an answer. What
	// the handler writes after that is dropped.
	Refuse func(w http.ResponseWriter, r *http.Request, refused *request.StatusError)
}

// An Observer is told what became of bodies, for metrics. The goroutines of the
// requests call it, several of them at the same time.
type Observer interface {
	// Observe is called once for each body for which a resource was found,
	// and once for each request that was refused. It is called before the
	// wrapped handler is called or the answer is written, and with
	// Options.Stream after that.
	Observe(r *http.Request, o request.Observation)
}

// New returns a middleware that decodes the bodies of requests by the resources
// that find returns. The middleware can wrap several handlers, which then share
// the budget of Options.MaxHeldBytes. New panics if find is nil, and where
// request.NewGate does. The middleware panics if the handler is nil.
func New(find request.Finder, opts Options) func(http.Handler) http.Handler {
	if find == nil {
		panic("middleware: New: the Finder is nil")
	}
	gate := request.NewGate(opts.Options)
	opts.Options = gate.Options()
	return func(next http.Handler) http.Handler {
		if next == nil {
			panic("middleware: the handler is nil")
		}
		return &handler{next: next, find: find, opts: opts, gate: gate}
	}
}

type handler struct {
	next http.Handler
	find request.Finder
	opts Options
	gate *request.Gate
}

// ServeHTTP decodes the body of the request, and passes it on or answers.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r, isWrite, refused := h.guard(r)
	if refused == nil && !isWrite {
		h.next.ServeHTTP(w, r)
		return
	}
	if r.Body == nil { // a server sets it
		r.Body = http.NoBody
	}
	e := exchange{h: h, r: r, w: w, trailers: announced(r)}
	e.begin()
	defer e.close()
	var out *http.Request
	var warnings []string
	if refused == nil {
		out, warnings, refused = e.decode()
	}
	if e.streamed != nil {
		e.serveStream(w, out)
		return
	}
	e.observe(refused)
	if refused != nil {
		h.answer(w, r, e.x, refused)
		return
	}
	if len(warnings) == 0 {
		h.next.ServeHTTP(w, out)
		return
	}
	addWarnings(w.Header(), warnings)
	warned := &warningWriter{ResponseWriter: w, warnings: slices.Clone(w.Header()["Warning"])}
	h.next.ServeHTTP(warned, out)
	warned.restore()
}

// begin starts the judgement of a request.
func (e *exchange) begin() {
	seen := seenAs(e.r)
	if e.h.opts.Stream {
		e.source = &source{e.r.Body}
		seen.Body, seen.Stream = e.source, true
	}
	e.x = e.h.gate.Begin(seen)
}

// A source is the body of a request that may be streamed. For a stream its reader is replaced.
type source struct{ io.Reader }

// seenAs returns a request as finders see it.
func seenAs(r *http.Request) request.Request {
	return request.Request{
		Context: r.Context(), Method: r.Method, Host: r.Host, URL: r.URL, Header: r.Header,
		ContentLength: r.ContentLength, Body: r.Body,
	}
}

// announced returns the names of the trailers that a request has announced.
func announced(r *http.Request) (names []string) {
	for name := range r.Trailer {
		names = append(names, name)
	}
	return names
}

// An exchange is one request on its way through the middleware. It is not on the heap.
type exchange struct {
	h *handler
	r *http.Request
	w http.ResponseWriter
	x *request.Exchange
	// source is the body, with Options.Stream.
	source *source
	// trailers were announced. Reading the body may add others.
	trailers []string
	passed   *replay
	streamed *streamed
}

// decode returns the request to pass on, with the warnings about it.
func (e *exchange) decode() (*http.Request, []string, *request.StatusError) {
	if _, refused := e.x.Find(e.h.find); refused == nil && e.canStream() {
		out, refused := e.stream()
		return out, nil, refused
	}
	result, refused := e.x.Decode()
	switch {
	case refused != nil:
		return nil, nil, inHTTP(refused)
	case result.Untouched:
		return e.r, nil, nil
	}
	return e.request(result), result.Warnings, nil
}

// canStream reports whether the body may be decoded while the handler reads it. A body with trailers
// to pass on is not: the handler may have copied the request before they come, and would not see
// them in its copy.
func (e *exchange) canStream() bool {
	return e.h.opts.Stream && e.x.CanStream() && len(safeTrailers(e.r.Trailer, e.trailers, true)) == 0
}

// serveStream calls the handler with a body that is decoded while the handler reads it.
func (e *exchange) serveStream(w http.ResponseWriter, out *http.Request) {
	stream, answer := e.streamed.body.Stream, &e.streamed.answer
	*answer = streamWriter{ResponseWriter: w, h: e.h, r: e.r, x: e.x, stream: stream}
	e.h.next.ServeHTTP(answer, out)
	stream.Close()
	answer.finish()
	_, refused := answer.state()
	e.observe(refused)
}

// observe tells the observer, if there is one, of a body that has a resource or was refused.
func (e *exchange) observe(refused *request.StatusError) {
	o := e.x.Observation(refused)
	if e.h.opts.Observer != nil && (o.Resource != nil || refused != nil) {
		e.h.opts.Observer.Observe(e.r, o)
	}
}

// answer answers a request that is refused.
func (h *handler) answer(
	w http.ResponseWriter, r *http.Request, x *request.Exchange, refused *request.StatusError,
) {
	if h.opts.Refuse != nil {
		h.opts.Refuse(w, r, x.Refuse(refused))
		return
	}
	WriteAnswer(w, x.Answer(refused))
}

// close ends the exchange. The body that was passed on cannot be read any more.
func (e *exchange) close() {
	if e.passed != nil {
		e.passed.Close()
	}
	e.x.Close()
}

// WriteAnswer writes the answer to a refused request to w, as the middleware
// does.
func WriteAnswer(w http.ResponseWriter, a request.Answer) {
	header := w.Header()
	for name, value := range a.Header {
		header[name] = []string{value}
	}
	header.Set("Content-Length", strconv.Itoa(len(a.Body)))
	w.WriteHeader(a.Code)
	_, _ = w.Write(a.Body) // a client that is gone needs no answer
}

// addWarnings adds values, at least one, to the headers Warning.
func addWarnings(header http.Header, values []string) {
	if have := header["Warning"]; len(have) > 0 {
		values = append(have, values...)
	}
	header["Warning"] = slices.Clip(values)
}
