package middleware

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
)

const (
	// DefaultMaxBytes is the limit of a kube-apiserver for the body of a request.
	DefaultMaxBytes = 3 << 20
	// DefaultMaxHeldBytes has room for some 20 requests of the default size, their results and what decoding them takes.
	DefaultMaxHeldBytes = 256 << 20
)

// An Action is what becomes of bodies that are accepted.
type Action uint8

const (
	// Rewrite passes on the result: pruned, defaulted and in JSON. To prune alone, use programs
	// of schemas without defaults.
	Rewrite Action = iota
	// Report passes on the body as it was sent, decompressed where it was compressed. What is
	// found is reported, and what cannot be decoded is refused, as with Rewrite. YAML that yamlbridge.Server reads and
	// yamlbridge.Kubernetes refuses is refused whatever the options of the decoder: others may read something else in it.
	Report
)

// Patches says what becomes of the bodies of PATCH.
type Patches uint8

const (
	// CheckPatches decodes merge patches and apply patches by [Resource].Patch, and refuses
	// all others, JSON patches among them: what these make of an object cannot be known without
	// it.
	//
	// A merge patch is pruned, its nulls stay, and nothing is defaulted. What is found in it is what
	// the API server finds in the result, which an object that was pruned when it
	// was stored adds nothing to. Findings under Strict are a 422 as there, in which the text of
	// the patch, up to 1 KiB, stands for that of the result.
	//
	// An apply patch with an unknown field is refused whatever fieldValidation says, as in the API
	// server, but with 400 instead of its 500. Others are passed on as JSON, which is YAML.
	CheckPatches Patches = iota
	// PassPatches passes all patches on untouched, but for those that the [Finder] refuses without looking
	// into them. It is for handlers that prune the patched object, as an API server does.
	PassPatches
)

// Options say how a middleware works. The zero value of each is its default.
type Options struct {
	Action  Action
	Patches Patches
	// MaxBytes limits one body, before and after decompression: DefaultMaxBytes. Results may be
	// larger by what defaults insert: see decoder.Limits.
	MaxBytes int64
	// MaxHeldBytes limits what all requests hold together, in bodies, results, decoders and answers:
	// DefaultMaxHeldBytes. Requests for which there is no room are answered with 503.
	MaxHeldBytes int64
	// Stream decodes JSON objects while the handler reads them, so that their length does not
	// matter to memory; but for those that the [Finder] has peeked into. MaxBytes holds. What is different:
	//
	//   - The handler is called before anything is known of the body. If that is refused in the
	//     end, Read returns an error in place of the document's last byte, and the answer is
	//     that of the middleware, unless the handler has answered before: it must not act on a
	//     body that does not end in io.EOF. httputil.ReverseProxy does not; a
	//     connection to a server is cut off.
	//   - There are warnings if the handler has read all of the body before it answers.
	//   - A name that stands twice is refused where the handler would get it, as
	//     decoder.Reader says.
	//   - apiVersion and kind of the object are not compared with those of the resource.
	//   - With decoder.ServerRequests the document is held, up to the limit HeldBytes of the decoder.
	//     That limit is 1 MiB here where nothing else is set.
	Stream bool
	// Gzip accepts bodies that are compressed with gzip. They are passed on decompressed.
	Gzip bool
	// ProblemDetails answers with problem details (RFC 9457) instead of metav1.Status.
	// They have a member errors, which says where in the body something is wrong.
	ProblemDetails bool
	// Observer is told of each body, if there is one.
	Observer Observer
}

// An Observer is told what became of bodies, for metrics. It is called by the goroutines of the
// requests.
type Observer interface {
	// Observe is called once for each body that a resource was found for, and for each
	// request that was refused: before the handler behind the middleware is called, or the answer is
	// written; with Options.Stream after that.
	Observe(r *http.Request, o Observation)
}

// An Observation is what became of a body.
type Observation struct {
	// Resource is what the body was decoded by, or nil if it was refused before one was found.
	Resource   *Resource
	Validation decoder.FieldValidation
	// Refused is why the request was refused, or nil if it was passed on.
	Refused *StatusError
	// Findings were found in the body; Omitted counts those beyond the limits.
	Findings errors.List
	Omitted  int
	// BytesIn are those of the body, after decompression, as far as it was read.
	// BytesOut are those that were passed on.
	BytesIn, BytesOut int64
	// Reading is how long it took until the body was there, Decoding what came after that.
	Reading, Decoding time.Duration
}

// New returns a middleware that decodes the bodies of requests by the resources that find
// finds. It may be used for several handlers, which then share Options.MaxHeldBytes. It panics without a finder, for an
// action or a treatment of patches that does not exist, and what it returns panics without a handler.
func New(find Finder, opts Options) func(http.Handler) http.Handler {
	switch {
	case find == nil:
		panic("middleware: New: the Finder is nil")
	case opts.Action > Report:
		panic(fmt.Sprintf("middleware: New: there is no Action(%d)", opts.Action))
	case opts.Patches > PassPatches:
		panic(fmt.Sprintf("middleware: New: there is no Patches(%d)", opts.Patches))
	}
	if opts.MaxBytes <= 0 {
		opts.MaxBytes = DefaultMaxBytes
	}
	if opts.MaxHeldBytes <= 0 {
		opts.MaxHeldBytes = DefaultMaxHeldBytes
	}
	held := newLedger(opts.MaxHeldBytes)
	return func(next http.Handler) http.Handler {
		if next == nil {
			panic("middleware: the handler is nil")
		}
		return &handler{next: next, find: find, opts: opts, held: held}
	}
}

type handler struct {
	next http.Handler
	find Finder
	opts Options
	held *ledger
}

// ServeHTTP decodes the body of the request, and passes it on or answers.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r, refused := h.guard(r)
	if refused == nil && !isWrite(r.Method) {
		h.next.ServeHTTP(w, r)
		return
	}
	if r.Body == nil { // which a server never has
		r.Body = http.NoBody
	}
	e := &exchange{h: h, r: r, loan: loan{from: h.held}, work: loan{from: h.held}, trailers: slices.Collect(maps.Keys(r.Trailer))}
	defer e.release()
	var out *http.Request
	switch {
	case refused != nil:
	case r.Method == http.MethodPatch && h.opts.Patches == PassPatches:
		out, refused = e.passPatch()
	default:
		out, refused = e.decode(w)
	}
	if e.streamed != nil {
		e.serveStream(w, out)
		return
	}
	if e.resource != nil || refused != nil {
		e.observe(refused)
	}
	if refused != nil {
		e.refuse(w, refused)
		return
	}
	if len(e.warnings) == 0 {
		h.next.ServeHTTP(w, out)
		return
	}
	addWarnings(w.Header(), e.warnings)
	e.findings, e.warnings = nil, nil // the handler may take long
	warned := &warningWriter{ResponseWriter: w, warnings: slices.Clone(w.Header()["Warning"])}
	h.next.ServeHTTP(warned, out)
	warned.restore()
}

// serveStream has the body decoded while the handler reads it.
func (e *exchange) serveStream(w http.ResponseWriter, out *http.Request) {
	answer := &streamWriter{ResponseWriter: w, body: e.streamed}
	e.h.next.ServeHTTP(answer, out)
	e.streamed.Close()
	answer.finish()
	_, refused := e.streamed.state()
	e.observe(refused)
}
