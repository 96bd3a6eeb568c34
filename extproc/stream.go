package extproc

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/espalier-dev/espalier/request"
)

// A mode is a ProcessingMode.BodySendMode.
type mode uint64

const (
	none mode = iota
	streamed
	buffered
	bufferedPartial
	fullDuplex
)

// pieceBytes is the size of the pieces of a body that passes through a stream. A larger piece would
// be memory that no budget knows.
const pieceBytes = 16 << 10

var pieces = sync.Pool{New: func() any { return new([pieceBytes]byte) }}

// errEnded ends the reading of a body whose refusal, or whose error, is in the stream.
var errEnded = errors.New("extproc: the body is refused")

// A stream is one request on its way through Envoy, with its response.
type stream struct {
	p   *Processor
	in  *reader
	out *writer

	r        request.Request
	header   http.Header
	drop     []string  // of the headers of the request
	deadline time.Time // of the stream, or zero
	x        *request.Exchange

	hasBody    bool // the request has a body, or trailers
	isPassing  bool // no schema judges the body
	isAnswered bool // the headers of the request were
	isPending  bool // a message with a part of the body was not answered
	isStarted  bool // a part of the body was passed on
	inChunk    bool
	atEnd      bool // of the body
	output     []byte
	announced  string   // type that was passed on with the headers
	trailers   []header // that have ended the body
	hasTrailer bool

	refused  *request.StatusError // why the body cannot be read
	err      error                // why the stream cannot go on
	warnings []string
	answered [responseTrailers + 1]bool
}

// run serves the stream. Its error is the status of the stream. Without one, Envoy goes on with a
// request that was not judged: a stream must not end well before that.
func (s *stream) run(ctx context.Context) error {
	switch err := s.in.next(); {
	case err == io.EOF:
		return nil
	case err != nil:
		return err
	case s.in.kind != requestHeaders:
		return failed("the stream does not start with the headers of a request: set request_header_mode to SEND")
	case s.in.config == nil:
		return failed("the stream does not say how bodies are sent: use an Envoy that sends protocol_config")
	}
	s.atEnd, s.hasBody = s.in.isLast, !s.in.isLast
	if err := s.see(ctx); err != nil {
		return err
	}
	isOver, err := s.request()
	if isOver || err != nil {
		return err
	}
	return s.rest()
}

// see sets the request as finders see it.
func (s *stream) see(ctx context.Context) error {
	pseudo := map[string]string{}
	plain := s.in.headers[:0]
	for _, h := range s.in.headers {
		if !strings.HasPrefix(h.name, ":") {
			plain = append(plain, h)
			continue
		}
		if _, ok := pseudo[h.name]; ok {
			return malformed("the header " + h.name + " occurs twice")
		}
		pseudo[h.name] = h.value
	}
	u, err := url.ParseRequestURI(pseudo[":path"])
	if err != nil || pseudo[":method"] == "" {
		return malformed("the request has no method, or no path that can be parsed")
	}
	s.header = canonical(plain)
	s.r = request.Request{
		Context: ctx, Method: pseudo[":method"], URL: u, Header: s.header,
		Host: cmp.Or(pseudo[":authority"], s.header.Get("Host")), ContentLength: -1,
	}
	if n, err := strconv.ParseInt(s.header.Get("Content-Length"), 10, 64); err == nil && n >= 0 {
		s.r.ContentLength = n
	}
	return nil
}

// request judges the request and answers the messages about it. The stream is over if it is refused.
func (s *stream) request() (isOver bool, err error) {
	passes := func() bool { return s.p.find.Passes(&s.r) }
	screening, refused := request.Screen(s.r.Method, s.r.URL.RawQuery, s.header, passes)
	s.drop = screening.Drop
	if !screening.Upgrade && len(s.drop) > 0 && s.header["Connection"] != nil {
		s.drop = append(s.drop, "Connection") // it may name a header that is dropped
	}
	if refused == nil && !screening.Write {
		s.isPassing = true
		return false, s.answerHeaders(mutation{})
	}
	s.r.Body = body{s}
	s.r.Stream = s.p.opts.Stream && s.hasBody && (s.in.config.request == streamed || s.in.config.request == fullDuplex)
	s.x = s.p.gate.Begin(s.r)
	defer func() {
		s.x.Close()
		s.output = nil // which is not charged any more, and the response may take long
	}()
	s.setReadTimeout(s.p.opts.BodyTimeout)
	var result request.Result
	if refused == nil {
		result, refused = s.judge()
	}
	if s.refused != nil {
		refused = s.refused
	}
	s.setReadTimeout(0)
	s.observe(refused)
	switch {
	case s.err != nil:
		return true, s.err
	case refused != nil:
		return true, s.out.immediate(s.x.Answer(refused))
	case s.isStarted: // it was passed on while it was decoded
		return false, nil
	}
	s.warnings = result.Warnings
	return s.pass(result)
}

// judge returns what to pass on. A body that is decoded as a stream has been passed on then.
func (s *stream) judge() (request.Result, *request.StatusError) {
	if _, refused := s.x.Find(s.p.find); refused != nil {
		return request.Result{}, refused
	}
	if s.r.Stream && s.x.CanStream() {
		return request.Result{}, s.decodeStream()
	}
	return s.x.Decode()
}

// observe tells the observer, if there is one, of a body that has a resource or was refused.
func (s *stream) observe(refused *request.StatusError) {
	o := s.x.Observation(refused)
	if s.p.opts.Observe != nil && (o.Resource != nil || refused != nil) {
		s.p.opts.Observe(o)
	}
}

// pass passes on a body that was judged as a whole.
func (s *stream) pass(result request.Result) (isOver bool, err error) {
	m := s.mutation(result.ContentType, result.Changed)
	if result.Untouched {
		s.isPassing = true
		return false, s.answerHeaders(mutation{})
	}
	switch {
	case !s.hasBody && len(result.Body) > 0, s.isAnswered && s.announced != "" && result.ContentType == "":
		// Neither can be passed on: a body in place of none, and another type than was announced.
		refused := &request.StatusError{Code: http.StatusInternalServerError, Reason: "InternalError",
			Message: "Internal error occurred: the body of the request cannot be passed on as it was judged"}
		return true, s.out.immediate(s.x.Answer(refused))
	case !s.hasBody:
		return false, s.answerHeaders(mutation{})
	case s.in.config.request == fullDuplex:
		if err := s.answerHeaders(m); err != nil {
			return false, err
		}
		if err := s.pieces(result.Body); err != nil {
			return false, err
		}
		return false, s.answerTrailers(result.Changed)
	case s.in.config.request == buffered:
		if s.header["Content-Length"] != nil {
			m.remove = slices.DeleteFunc(m.remove, func(name string) bool { return name == "Content-Length" })
			m.set = append(m.set, header{"Content-Length", strconv.Itoa(len(result.Body))})
		}
		return false, s.out.body(requestBody, m, result.Body)
	}
	return false, s.out.body(requestBody, mutation{}, result.Body)
}

// pieces passes on a body in mode FULL_DUPLEX_STREAMED.
func (s *stream) pieces(text []byte) error {
	for {
		n := min(len(text), pieceBytes)
		isLast := n == len(text)
		if err := s.out.piece(requestBody, text[:n], isLast && !s.hasTrailer); err != nil || isLast {
			return err
		}
		text = text[n:]
	}
}

// mutation returns what changes in the headers of a request with a judged body.
func (s *stream) mutation(contentType string, isChanged bool) (m mutation) {
	for _, name := range request.Stale(isChanged) {
		if s.header[name] != nil {
			m.remove = append(m.remove, name)
		}
	}
	if contentType != "" {
		m.set = append(m.set, header{"Content-Type", contentType})
	}
	return m
}

// answerHeaders answers the headers of the request.
func (s *stream) answerHeaders(m mutation) error {
	s.isAnswered = true
	m.remove = append(m.remove, s.drop...)
	return s.out.headers(requestHeaders, m)
}

// answerTrailers answers the trailers of the request, if they have ended its body. Those that may
// not pass are removed.
func (s *stream) answerTrailers(isChanged bool) error {
	if !s.hasTrailer {
		return nil
	}
	var announced []string
	for _, value := range s.header["Trailer"] {
		for name := range strings.SplitSeq(value, ",") {
			announced = append(announced, http.CanonicalHeaderKey(strings.TrimSpace(name)))
		}
	}
	safe := request.SafeTrailers(announced, isChanged)
	var m mutation
	for _, t := range s.trailers {
		if !slices.Contains(safe, http.CanonicalHeaderKey(t.name)) {
			m.remove = append(m.remove, t.name)
		}
	}
	return s.out.trailers(requestTrailers, m)
}

// setReadTimeout limits how long messages may take, if d is not zero.
func (s *stream) setReadTimeout(d time.Duration) {
	deadline := s.deadline
	if own := time.Now().Add(d); d > 0 && (deadline.IsZero() || own.Before(deadline)) {
		deadline = own
	}
	_ = s.out.control.SetReadDeadline(deadline) // all transports of HTTP/2 support it
}

// rest answers the messages that come after the request was judged: its body, if that passes, and
// the response.
func (s *stream) rest() error {
	for {
		if err := s.in.next(); err != nil {
			if err == io.EOF && !(s.isPassing || s.atEnd) {
				err = io.ErrUnexpectedEOF
			}
			if err == io.EOF {
				return nil
			}
			return err
		}
		if err := s.relay(); err != nil {
			return err
		}
	}
}

// relay answers a message about what passes untouched.
func (s *stream) relay() error {
	about := s.in.kind
	isRequest := about == requestBody || about == requestTrailers
	switch {
	case about == requestHeaders, isRequest && (!s.isPassing || s.atEnd), !s.isAnswered,
		about != requestBody && about != responseBody && s.answered[about]:
		return malformed("a message is out of order")
	}
	s.answered[about] = true
	switch about {
	case requestBody:
		err := s.echo(s.in.config.request)
		s.atEnd = s.in.isLast
		return err
	case responseBody:
		return s.echo(s.in.config.response)
	case responseHeaders:
		var m mutation
		if len(s.warnings) > 0 {
			// In one header (RFC 9110, section 5.3): Envoy accepts 100 by default, and answers with
			// 500 if there are more, although the request was carried out.
			m.add = []header{{"Warning", strings.Join(s.warnings, ", ")}}
		}
		s.warnings = nil
		return s.out.headers(about, m)
	case requestTrailers:
		s.atEnd = true
	}
	return s.out.trailers(about, mutation{})
}

// echo answers a message with a part of a body that passes. It needs no memory for that, so that
// neither a request without a schema nor a response fails for want of it.
func (s *stream) echo(as mode) error {
	about := s.in.kind
	if as != fullDuplex {
		if err := s.in.finish(); err != nil {
			return err
		}
		return s.out.untouched(about)
	}
	buffer := pieces.Get().(*[pieceBytes]byte)
	defer pieces.Put(buffer)
	for {
		n, err := io.ReadFull(&s.in.chunk, buffer[:])
		isEnd := err == io.EOF || err == io.ErrUnexpectedEOF && s.in.chunk.left == 0
		if err != nil && !isEnd {
			return err
		}
		isLast := false
		if isEnd {
			if err := s.in.finish(); err != nil {
				return err
			}
			isLast = s.in.isLast
		}
		if n > 0 || isLast {
			if err := s.out.piece(about, buffer[:n], isLast); err != nil {
				return err
			}
		}
		if isEnd {
			return nil
		}
	}
}
