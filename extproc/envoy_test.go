package extproc_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	filterv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/espalier-dev/espalier/extproc"
)

// The modes in which Envoy sends bodies.
const (
	none       = filterv3.ProcessingMode_NONE
	streamed   = filterv3.ProcessingMode_STREAMED
	buffered   = filterv3.ProcessingMode_BUFFERED
	partial    = filterv3.ProcessingMode_BUFFERED_PARTIAL
	fullDuplex = filterv3.ProcessingMode_FULL_DUPLEX_STREAMED
	grpcMode   = filterv3.ProcessingMode_GRPC
)

// maxHeaders is how many headers Envoy accepts by default, after mutations.
const maxHeaders = 100

// An envoy speaks to a processor as the documentation of ext_proc says that Envoy does, through the
// code that is generated from Envoy's definitions.
type envoy struct {
	client       extprocv3.ExternalProcessorClient
	conn         *grpc.ClientConn
	server       *http.Server
	mode         filterv3.ProcessingMode_BodySendMode
	responseMode filterv3.ProcessingMode_BodySendMode
	chunk        int // bytes of the parts of a body
}

// start serves a processor until the test has ended.
func start(t testing.TB, p *extproc.Processor) *envoy {
	t.Helper()
	server := extproc.NewServer(p)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20)))
	require.NoError(t, err)
	t.Cleanup(func() {
		conn.Close()
		server.Close()
		<-ended
	})
	return &envoy{client: extprocv3.NewExternalProcessorClient(conn), conn: conn, server: server, mode: buffered}
}

// as returns the same Envoy with other settings.
func (e *envoy) as(mode filterv3.ProcessingMode_BodySendMode, chunk int) *envoy {
	other := *e
	other.mode, other.chunk = mode, chunk
	return &other
}

// A call is a request of a client.
type call struct {
	method, target string
	header         []string // names and values in turn
	body           string
	trailers       []string
}

// A fate is what has become of a call.
type fate struct {
	// what the upstream server has seen
	reached  bool
	isWhole  bool // the body ended well
	header   http.Header
	body     string
	trailers http.Header
	// what the client has seen
	code     int
	answer   string
	response http.Header
}

func headerMap(pairs []string) *corev3.HeaderMap {
	m := new(corev3.HeaderMap)
	for i := 0; i+1 < len(pairs); i += 2 {
		m.Headers = append(m.Headers, &corev3.HeaderValue{Key: strings.ToLower(pairs[i]), RawValue: []byte(pairs[i+1])})
	}
	return m
}

func (e *envoy) config() *extprocv3.ProtocolConfiguration {
	return &extprocv3.ProtocolConfiguration{RequestBodyMode: e.mode, ResponseBodyMode: e.responseMode}
}

func headersMessage(c call, isLast bool) *extprocv3.ProcessingRequest {
	pairs := append([]string{":method", c.method, ":path", c.target, ":authority", "test", ":scheme", "http"}, c.header...)
	return &extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_RequestHeaders{
		RequestHeaders: &extprocv3.HttpHeaders{Headers: headerMap(pairs), EndOfStream: isLast}}}
}

func bodyMessage(text string, isLast bool) *extprocv3.ProcessingRequest {
	return &extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_RequestBody{
		RequestBody: &extprocv3.HttpBody{Body: []byte(text), EndOfStream: isLast}}}
}

func trailersMessage(pairs []string) *extprocv3.ProcessingRequest {
	return &extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_RequestTrailers{
		RequestTrailers: &extprocv3.HttpTrailers{Trailers: headerMap(pairs)}}}
}

func responseMessage() *extprocv3.ProcessingRequest {
	return &extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_ResponseHeaders{
		ResponseHeaders: &extprocv3.HttpHeaders{Headers: headerMap([]string{":status", "201", "warning", `299 - "upstream"`}), EndOfStream: true}}}
}

// send sends a call through Envoy, whose upstream server answers with 201.
func (e *envoy) send(ctx context.Context, c call) (fate, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	stream, err := e.client.Process(ctx)
	if err != nil {
		return fate{}, err
	}
	s := &session{envoy: e, stream: stream, call: c}
	s.header = http.Header{}
	for i := 0; i+1 < len(c.header); i += 2 {
		s.header.Add(c.header[i], c.header[i+1])
	}
	s.trailers = http.Header{}
	for i := 0; i+1 < len(c.trailers); i += 2 {
		s.trailers.Add(c.trailers[i], c.trailers[i+1])
	}
	err = s.run()
	if err == io.EOF {
		err = fmt.Errorf("the stream has ended before the request was over")
	}
	return s.fate, err
}

// A session is a call on its way.
type session struct {
	*envoy
	fate
	call   call
	stream extprocv3.ExternalProcessor_ProcessClient
}

func (s *session) run() error {
	hasBody := s.call.body != "" || len(s.call.trailers) > 0
	first := headersMessage(s.call, !hasBody)
	first.ProtocolConfig = s.config()
	if err := s.stream.Send(first); err != nil {
		return s.why(err)
	}
	var err error
	if s.mode == fullDuplex && hasBody {
		err = s.duplex()
	} else {
		err = s.inTurns(hasBody)
	}
	if err != nil || s.code != 0 {
		return err
	}
	return s.respond()
}

// why returns the status of a stream to which nothing can be sent.
func (s *session) why(err error) error {
	if err == io.EOF {
		_, err = s.stream.Recv()
	}
	return err
}

// chunks are the parts of the body, of which the last is told apart unless trailers follow.
func (s *session) chunks() (list []*extprocv3.ProcessingRequest) {
	rest, size := s.call.body, s.chunk
	if size == 0 || s.mode == buffered || s.mode == partial {
		size = max(1, len(rest))
	}
	for {
		n := min(size, len(rest))
		isLast := n == len(rest)
		list = append(list, bodyMessage(rest[:n], isLast && len(s.call.trailers) == 0))
		if rest = rest[n:]; isLast {
			return list
		}
	}
}

// inTurns sends messages, and waits for the answer to each.
func (s *session) inTurns(hasBody bool) error {
	answer, err := s.stream.Recv()
	if err != nil || s.isImmediate(answer) {
		return err
	}
	headers := answer.GetRequestHeaders()
	if headers == nil {
		return fmt.Errorf("headers were answered by %v", answer)
	}
	mutate(s.header, headers.GetResponse().GetHeaderMutation())
	s.reached = s.mode != buffered && s.mode != partial || !hasBody
	if !hasBody || s.mode == none {
		s.isWhole, s.fate.body, s.reached = true, s.call.body, true
		return nil
	}
	for _, message := range s.chunks() {
		if err := s.stream.Send(message); err != nil {
			return s.why(err)
		}
		answer, err := s.stream.Recv()
		if err != nil || s.isImmediate(answer) {
			return err
		}
		body := answer.GetRequestBody()
		if body == nil {
			return fmt.Errorf("a body was answered by %v", answer)
		}
		if s.mode == buffered {
			mutate(s.header, body.GetResponse().GetHeaderMutation())
		}
		switch m := body.GetResponse().GetBodyMutation().GetMutation().(type) {
		case nil:
			s.fate.body += string(message.GetRequestBody().GetBody())
		case *extprocv3.BodyMutation_Body:
			s.fate.body += string(m.Body)
		case *extprocv3.BodyMutation_ClearBody:
		default:
			return fmt.Errorf("a body was answered by %v", answer)
		}
	}
	if len(s.call.trailers) > 0 {
		if err := s.stream.Send(trailersMessage(s.call.trailers)); err != nil {
			return s.why(err)
		}
		answer, err := s.stream.Recv()
		if err != nil || s.isImmediate(answer) {
			return err
		}
		mutate(s.trailers, answer.GetRequestTrailers().GetHeaderMutation())
	}
	s.reached, s.isWhole = true, true
	return nil
}

// duplex sends the whole request at once, and takes what comes in the meantime.
func (s *session) duplex() error {
	var sending sync.WaitGroup
	sending.Go(func() {
		for _, message := range s.chunks() {
			if s.stream.Send(message) != nil {
				return
			}
		}
		if len(s.call.trailers) > 0 {
			_ = s.stream.Send(trailersMessage(s.call.trailers))
		}
	})
	defer sending.Wait()
	for {
		answer, err := s.stream.Recv()
		if err != nil || s.isImmediate(answer) {
			return err
		}
		switch {
		case answer.GetRequestHeaders() != nil && !s.reached:
			s.reached = true
			mutate(s.header, answer.GetRequestHeaders().GetResponse().GetHeaderMutation())
		case answer.GetRequestBody().GetResponse().GetBodyMutation().GetStreamedResponse() != nil && s.reached && !s.isWhole:
			piece := answer.GetRequestBody().GetResponse().GetBodyMutation().GetStreamedResponse()
			s.fate.body += string(piece.Body)
			s.isWhole = piece.EndOfStream
		case answer.GetRequestTrailers() != nil && s.reached && !s.isWhole:
			mutate(s.trailers, answer.GetRequestTrailers().GetHeaderMutation())
			s.isWhole = true
		default:
			return fmt.Errorf("in mode FULL_DUPLEX_STREAMED there came %v", answer)
		}
		if s.isWhole {
			return nil
		}
	}
}

// respond sends the response, and ends the stream.
func (s *session) respond() error {
	if err := s.stream.Send(responseMessage()); err != nil {
		return s.why(err)
	}
	answer, err := s.stream.Recv()
	if err != nil {
		return err
	}
	if answer.GetResponseHeaders() == nil {
		return fmt.Errorf("a response was answered by %v", answer)
	}
	s.code = http.StatusCreated
	s.response = http.Header{"Warning": {`299 - "upstream"`}}
	mutate(s.response, answer.GetResponseHeaders().GetResponse().GetHeaderMutation())
	if n := len(s.response["Warning"]); n > maxHeaders {
		return fmt.Errorf("the response has %d headers, for which Envoy answers with 500", n)
	}
	if err := s.stream.CloseSend(); err != nil {
		return err
	}
	if answer, err = s.stream.Recv(); err != io.EOF {
		return fmt.Errorf("after the response there came %v, %w", answer, err)
	}
	return nil
}

// isImmediate reports whether an answer is for the client.
func (s *session) isImmediate(answer *extprocv3.ProcessingResponse) bool {
	immediate := answer.GetImmediateResponse()
	if immediate == nil {
		return false
	}
	s.code = int(immediate.GetStatus().GetCode())
	s.answer = string(immediate.GetBody())
	s.response = http.Header{}
	mutate(s.response, immediate.GetHeaders())
	return true
}

// mutate changes headers.
func mutate(h http.Header, m *extprocv3.HeaderMutation) {
	for _, name := range m.GetRemoveHeaders() {
		h.Del(name)
	}
	for _, option := range m.GetSetHeaders() {
		name, value := option.GetHeader().GetKey(), string(option.GetHeader().GetRawValue())
		//nolint:staticcheck // it is what the processor sends: Envoy heeds it in all versions, before append_action
		if option.GetAppend().GetValue() {
			h.Add(name, value)
		} else {
			h.Set(name, value)
		}
	}
}

// post is a POST of a body to the resource of the tests.
func post(body string, header ...string) call {
	header = append([]string{"Content-Type", "application/json", "Content-Length", strconv.Itoa(len(body))}, header...)
	return call{method: "POST", target: plans, header: header, body: body}
}
