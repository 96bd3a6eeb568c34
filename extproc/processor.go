package extproc

import (
	"context"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/espalier-dev/espalier/request"
)

// Options configure a [Processor]. The zero value of each field is its default.
type Options struct {
	// Options are those of the gate that judges the bodies.
	request.Options
	// Stream decodes JSON objects while they arrive, in the modes STREAMED
	// and FULL_DUPLEX_STREAMED, so that their length does not matter to
	// memory. [request.Stream] describes what is different. The headers of
	// a request have then been passed on before anything is known of its
	// body. If the body is refused in the end, the answer is the refusal,
	// unless the upstream server has answered before, and the request to
	// that server is cut off before its last byte.
	Stream bool
	// BodyTimeout limits how long a body may take that is judged. It
	// includes the time for which Envoy collects it. Zero means no limit.
	BodyTimeout time.Duration
	// Observe is told what became of each body for which a resource was
	// found, and of each request that was refused, unless it is nil. The
	// goroutines of the requests call it, several of them at the same time,
	// before the body is passed on, and with Stream after that.
	Observe func(request.Observation)
}

// A Processor is an external processor for Envoy: an http.Handler for gRPC over
// HTTP/2. It serves the method Process of the service
// envoy.service.ext_proc.v3.ExternalProcessor, and the method Check of
// grpc.health.v1.Health. Any number of goroutines can use it. [NewServer]
// returns a server for it.
type Processor struct {
	find       request.Finder
	opts       Options
	gate       *request.Gate
	isDraining atomic.Bool
}

// New returns a processor that judges bodies by the resources that find
// returns. It panics if find is nil, and where request.NewGate does.
func New(find request.Finder, opts Options) *Processor {
	if find == nil {
		panic("extproc: New: the Finder is nil")
	}
	gate := request.NewGate(opts.Options)
	opts.Options = gate.Options()
	return &Processor{find: find, opts: opts, gate: gate}
}

// Held returns how many bytes of Options.MaxHeldBytes requests hold, and how
// many are kept for later requests.
func (p *Processor) Held() (requests, idle int64) { return p.gate.Held() }

// Drain makes the health check answer NOT_SERVING from now on, so that Envoy
// sends no further requests. Requests are still processed: http.Server.Shutdown
// waits for them.
func (p *Processor) Drain() { p.isDraining.Store(true) }

const (
	processMethod = "/envoy.service.ext_proc.v3.ExternalProcessor/Process"
	checkMethod   = "/grpc.health.v1.Health/Check"
	service       = "envoy.service.ext_proc.v3.ExternalProcessor"
)

// ServeHTTP serves one call of gRPC. Requests that are none are answered with
// 415, and with 505 if they are not in HTTP/2. A panic, such as one of a
// finder, ends the call alone.
func (p *Processor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	contentType := r.Header.Get("Content-Type")
	switch {
	case r.ProtoMajor != 2:
		http.Error(w, "gRPC needs HTTP/2", http.StatusHTTPVersionNotSupported)
		return
	case r.Method != http.MethodPost || contentType != "application/grpc" && contentType != "application/grpc+proto":
		http.Error(w, "this is a server for gRPC", http.StatusUnsupportedMediaType)
		return
	}
	w.Header().Set("Content-Type", contentType)
	code, message := statusOf(p.call(w, r))
	w.Header().Set(http.TrailerPrefix+"Grpc-Status", strconv.Itoa(code))
	if message != "" {
		w.Header().Set(http.TrailerPrefix+"Grpc-Message", message) // none needs escapes
	}
}

// call serves a call, whose status is the error.
func (p *Processor) call(w http.ResponseWriter, r *http.Request) error {
	out := &writer{w, http.NewResponseController(w)}
	ctx := r.Context()
	var deadline time.Time
	if text := r.Header.Get("Grpc-Timeout"); text != "" {
		timeout, ok := parseTimeout(text)
		if !ok {
			return malformed("the header grpc-timeout is malformed")
		}
		deadline = time.Now().Add(timeout)
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline)
		defer cancel()
		_ = out.control.SetReadDeadline(deadline)
		// What is written late resets the stream with INTERNAL_ERROR, which hides the status.
		_ = out.control.SetWriteDeadline(deadline.Add(lastWord))
	}
	switch r.URL.Path {
	case processMethod:
		s := &stream{p: p, in: newReader(r.Body), out: out, deadline: deadline}
		return s.run(ctx)
	case checkMethod:
		return p.check(out, r.Body)
	}
	return &statusError{unimplemented, "there is no such method"}
}

// check answers a health check.
func (p *Processor) check(out *writer, body io.Reader) error {
	const most = 1 << 10
	text, err := io.ReadAll(io.LimitReader(body, most))
	if err != nil {
		return err
	}
	ofService := "\x0a" + string(rune(len(service))) + service
	switch asked := strings.TrimPrefix(string(text), "\x00\x00\x00\x00"); {
	case len(text) < 5:
		return malformed("the message is malformed")
	case asked != "\x00" && asked != string(rune(len(ofService)))+ofService:
		return &statusError{notFound, "there is no such service"}
	}
	const serving, notServing = "\x08\x01", "\x08\x02"
	if p.isDraining.Load() {
		return out.send([]byte(notServing), nil)
	}
	return out.send([]byte(serving), nil)
}

// lastWord is how long the status of a call whose time is over may take.
const lastWord = time.Second

// parseTimeout parses the header Grpc-Timeout: at most eight digits and a unit.
func parseTimeout(text string) (time.Duration, bool) {
	units := map[byte]time.Duration{
		'H': time.Hour, 'M': time.Minute, 'S': time.Second,
		'm': time.Millisecond, 'u': time.Microsecond, 'n': time.Nanosecond,
	}
	if len(text) < 2 || len(text) > 9 {
		return 0, false
	}
	unit, ok := units[text[len(text)-1]]
	n, err := strconv.ParseUint(text[:len(text)-1], 10, 32)
	if !ok || err != nil {
		return 0, false
	}
	most := math.MaxInt64 / 2 / uint64(unit)
	return time.Duration(min(n, most)) * unit, true
}

// The windows of HTTP/2 are what a server holds of messages that nobody has read yet, which no
// budget counts. Within its window a stream need not wait for the server. The other is the largest
// that net/http accepts.
const (
	streamWindow     = 256 << 10
	connectionWindow = 4<<20 - 1
	// maxStreams is how many requests one connection may have in progress. Envoy opens another one
	// then.
	maxStreams = 1000
)

// NewServer returns a server for a processor, with and without TLS, which the
// caller may configure further: it has no address. Its windows bound what waits
// in memory that is not counted: at most 4 MiB for each connection.
func NewServer(p *Processor) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler:           p,
		Protocols:         protocols,
		ReadHeaderTimeout: 10 * time.Second,
		MaxHeaderBytes:    16 << 10,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams:          maxStreams,
			MaxReceiveBufferPerStream:     streamWindow,
			MaxReceiveBufferPerConnection: connectionWindow,
			SendPingTimeout:               30 * time.Second,
			PingTimeout:                   15 * time.Second,
			WriteByteTimeout:              30 * time.Second,
		},
	}
}
