package extproc_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	filterv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding/gzip"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/espalier-dev/espalier/extproc"
	"github.com/espalier-dev/espalier/request"
)

// answers sends messages at once, and returns what comes back and the status of the stream.
func (e *envoy) answers(t *testing.T, messages ...*extprocv3.ProcessingRequest) ([]*extprocv3.ProcessingResponse, error) {
	stream, err := e.client.Process(t.Context())
	require.NoError(t, err)
	for _, m := range messages {
		if stream.Send(m) != nil {
			break
		}
	}
	require.NoError(t, stream.CloseSend())
	var list []*extprocv3.ProcessingResponse
	for {
		answer, err := stream.Recv()
		if err == io.EOF {
			return list, nil
		}
		if err != nil {
			return list, err
		}
		list = append(list, answer)
	}
}

// first is the first message about a call.
func (e *envoy) first(c call, isLast bool) *extprocv3.ProcessingRequest {
	m := headersMessage(c, isLast)
	m.ProtocolConfig = e.config()
	return m
}

func responseBody(text string, isLast bool) *extprocv3.ProcessingRequest {
	return &extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_ResponseBody{
		ResponseBody: &extprocv3.HttpBody{Body: []byte(text), EndOfStream: isLast}}}
}

// TestFailsClosed holds that a stream that does not do what Envoy does ends with an error, for which
// Envoy refuses the request. It never ends well before the request was judged.
func TestFailsClosed(t *testing.T) {
	e := start(t, extproc.New(request.ByPath(catalog(t)), extproc.Options{}))
	good := post(plan(""))
	passing := call{method: "POST", target: "/healthz", body: "x"}
	observed := func(m *extprocv3.ProcessingRequest) *extprocv3.ProcessingRequest {
		m.ObservabilityMode = true
		return m
	}
	double := func(name string) *extprocv3.ProcessingRequest {
		m := e.first(good, false)
		h := m.GetRequestHeaders().GetHeaders()
		for _, v := range h.GetHeaders() {
			if v.GetKey() == name {
				h.Headers = append(h.Headers, v)
				break
			}
		}
		return m
	}
	changed := bodyMessage(good.body, true)
	changed.ProtocolConfig = e.as(buffered, 0).config()
	drained := bodyMessage("{", false)
	drained.GetRequestBody().DrainComplete = true
	many := e.first(good, false)
	for i := range 1001 {
		h := many.GetRequestHeaders().GetHeaders()
		h.Headers = append(h.Headers, headerMap([]string{fmt.Sprint("x-", i), "y"}).Headers...)
	}
	for name, test := range map[string]struct {
		mode     filterv3.ProcessingMode_BodySendMode
		messages []*extprocv3.ProcessingRequest
		code     codes.Code
	}{
		"a body without headers":              {buffered, []*extprocv3.ProcessingRequest{bodyMessage("{}", true)}, codes.FailedPrecondition},
		"a response without a request":        {buffered, []*extprocv3.ProcessingRequest{responseMessage()}, codes.FailedPrecondition},
		"trailers without headers":            {buffered, []*extprocv3.ProcessingRequest{trailersMessage(nil)}, codes.FailedPrecondition},
		"nothing about how bodies are sent":   {buffered, []*extprocv3.ProcessingRequest{headersMessage(good, false)}, codes.FailedPrecondition},
		"a message about nothing":             {buffered, []*extprocv3.ProcessingRequest{{ProtocolConfig: e.config()}}, codes.InvalidArgument},
		"observability mode":                  {buffered, []*extprocv3.ProcessingRequest{observed(e.first(good, false))}, codes.FailedPrecondition},
		"observability mode with a body":      {streamed, []*extprocv3.ProcessingRequest{e.as(streamed, 0).first(good, false), observed(bodyMessage(good.body, true))}, codes.FailedPrecondition},
		"no end of the body":                  {streamed, []*extprocv3.ProcessingRequest{e.as(streamed, 0).first(good, false), bodyMessage(good.body, false)}, codes.InvalidArgument},
		"no end of the body, full duplex":     {fullDuplex, []*extprocv3.ProcessingRequest{e.as(fullDuplex, 0).first(good, false), bodyMessage(good.body, false)}, codes.InvalidArgument},
		"no body":                             {buffered, []*extprocv3.ProcessingRequest{e.first(good, false)}, codes.InvalidArgument},
		"headers in place of the body":        {buffered, []*extprocv3.ProcessingRequest{e.first(good, false), e.first(good, false)}, codes.InvalidArgument},
		"a body that goes on":                 {buffered, []*extprocv3.ProcessingRequest{e.first(good, false), bodyMessage(good.body, true), bodyMessage("x", true)}, codes.InvalidArgument},
		"a body after none":                   {buffered, []*extprocv3.ProcessingRequest{e.first(call{method: "GET", target: plans}, true), bodyMessage("x", true)}, codes.InvalidArgument},
		"trailers after the end":              {buffered, []*extprocv3.ProcessingRequest{e.first(good, false), bodyMessage(good.body, true), trailersMessage(nil)}, codes.InvalidArgument},
		"a passing body that goes on":         {buffered, []*extprocv3.ProcessingRequest{e.first(passing, false), bodyMessage("x", true), bodyMessage("x", true)}, codes.InvalidArgument},
		"a passing body without an end":       {streamed, []*extprocv3.ProcessingRequest{e.as(streamed, 0).first(call{method: "GET", target: plans}, false), bodyMessage("x", false)}, 0},
		"two responses":                       {buffered, []*extprocv3.ProcessingRequest{e.first(good, false), bodyMessage(good.body, true), responseMessage(), responseMessage()}, codes.InvalidArgument},
		"a response before the request":       {fullDuplex, []*extprocv3.ProcessingRequest{e.as(fullDuplex, 0).first(good, false), responseMessage()}, codes.InvalidArgument},
		"another mode":                        {streamed, []*extprocv3.ProcessingRequest{e.as(streamed, 0).first(good, false), changed}, codes.InvalidArgument},
		"another mode, full duplex":           {fullDuplex, []*extprocv3.ProcessingRequest{e.as(fullDuplex, 0).first(good, false), changed}, codes.InvalidArgument},
		"the same mode once more":             {buffered, []*extprocv3.ProcessingRequest{e.first(good, false), changed}, 0},
		"a drain that nobody has asked for":   {fullDuplex, []*extprocv3.ProcessingRequest{e.as(fullDuplex, 0).first(good, false), drained}, codes.FailedPrecondition},
		"two methods":                         {buffered, []*extprocv3.ProcessingRequest{double(":method")}, codes.InvalidArgument},
		"two paths":                           {buffered, []*extprocv3.ProcessingRequest{double(":path")}, codes.InvalidArgument},
		"no method":                           {buffered, []*extprocv3.ProcessingRequest{e.first(call{target: plans}, true)}, codes.InvalidArgument},
		"no path":                             {buffered, []*extprocv3.ProcessingRequest{e.first(call{method: "GET"}, true)}, codes.InvalidArgument},
		"a header without a name":             {buffered, []*extprocv3.ProcessingRequest{e.first(post("", "", "x"), true)}, codes.InvalidArgument},
		"too many headers":                    {buffered, []*extprocv3.ProcessingRequest{many}, codes.ResourceExhausted},
		"headers that are too large":          {buffered, []*extprocv3.ProcessingRequest{e.first(post("", "x", strings.Repeat("y", 129<<10)), true)}, codes.ResourceExhausted},
		"an attribute that is not needed":     {buffered, []*extprocv3.ProcessingRequest{withAttributes(e.first(good, false)), bodyMessage(good.body, true)}, 0},
		"a good request that has no response": {buffered, []*extprocv3.ProcessingRequest{e.first(good, false), bodyMessage(good.body, true)}, 0},
	} {
		list, err := e.as(test.mode, 0).answers(t, test.messages...)
		if name == "a passing body without an end" {
			continue // the client is gone: nothing was to be judged
		}
		assert.Equal(t, test.code, status.Code(err), "%s: %v after %v", name, err, list)
		for _, answer := range list {
			assert.Nil(t, answer.GetImmediateResponse(), name)
		}
	}
	_, err := e.answers(t)
	require.NoError(t, err, "a stream about nothing")
}

func withAttributes(m *extprocv3.ProcessingRequest) *extprocv3.ProcessingRequest {
	unknown := []byte{0xfa, 0x7f, 0x05, 1, 2, 3, 4, 5, 0xf5, 0x7f, 1, 2, 3, 4, 0xf1, 0x7f, 1, 2, 3, 4, 5, 6, 7, 8, 0xf0, 0x7f, 1}
	m.ProtoReflect().SetUnknown(unknown)
	return m
}

// TestModesThatHideBodies holds that a write is refused if its body is not seen, or not all of it.
func TestModesThatHideBodies(t *testing.T) {
	e := start(t, extproc.New(request.ByPath(catalog(t)), extproc.Options{}))
	good := post(plan(""))
	for name, test := range map[string]struct {
		messages []*extprocv3.ProcessingRequest
		code     int
	}{
		"NONE":    {[]*extprocv3.ProcessingRequest{e.as(none, 0).first(good, false)}, 500},
		"GRPC":    {[]*extprocv3.ProcessingRequest{e.as(grpcMode, 0).first(good, false)}, 500},
		"a new":   {[]*extprocv3.ProcessingRequest{e.as(77, 0).first(good, false)}, 500},
		"cut off": {[]*extprocv3.ProcessingRequest{e.as(partial, 0).first(good, false), bodyMessage(good.body, false)}, 413},
		"buffered, with trailers": {[]*extprocv3.ProcessingRequest{e.first(good, false), bodyMessage(good.body, false),
			trailersMessage(nil)}, 400},
		"buffered, with trailers alone": {[]*extprocv3.ProcessingRequest{e.first(good, false), trailersMessage(nil)}, 400},
		"streamed, with trailers": {[]*extprocv3.ProcessingRequest{e.as(streamed, 0).first(good, false), bodyMessage(good.body, false),
			trailersMessage(nil)}, 400},
	} {
		list, err := e.answers(t, test.messages...)
		require.NoError(t, err, name)
		require.NotEmpty(t, list, name)
		immediate := list[len(list)-1].GetImmediateResponse()
		assert.EqualValues(t, test.code, immediate.GetStatus().GetCode(), "%s: %v", name, list)
		assert.Contains(t, string(immediate.GetBody()), `"kind":"Status"`, name)
	}
	got, err := e.as(none, 0).send(t.Context(), call{method: "POST", target: "/healthz", body: "x"})
	require.NoError(t, err)
	assert.True(t, got.reached, "what has no schema passes in mode NONE")
}

// TestMalformedMessages holds that no bytes do harm, cut off anywhere and changed in each byte.
func TestMalformedMessages(t *testing.T) {
	e := start(t, extproc.New(request.ByPath(catalog(t)), extproc.Options{}))
	frame := func(m proto.Message) []byte {
		b, err := proto.Marshal(m)
		require.NoError(t, err)
		return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(b))), b...)
	}
	headers, body := frame(e.first(post(plan("")), false)), frame(bodyMessage(plan(`,"a":1`), true))
	all := append(append([]byte{}, headers...), body...)
	p := extproc.New(request.ByPath(catalog(t)), extproc.Options{})
	serve := func(text []byte) (string, string) {
		r := httptest.NewRequest(http.MethodPost, "/envoy.service.ext_proc.v3.ExternalProcessor/Process", strings.NewReader(string(text)))
		r.ProtoMajor, r.ProtoMinor = 2, 0
		r.Header.Set("Content-Type", "application/grpc")
		w := httptest.NewRecorder()
		p.ServeHTTP(w, r)
		return w.Result().Trailer.Get("Grpc-Status"), w.Body.String()
	}
	code, answer := serve(all)
	require.Equal(t, "0", code)
	require.Contains(t, answer, `"monthly":12`)
	for i := range all {
		if i > 0 && i < len(all) {
			code, _ = serve(all[:i])
			require.NotEqual(t, "0", code, "cut off at %d", i)
		}
		for _, change := range []byte{all[i] ^ 1, all[i] ^ 0x80, 0xff, 0} {
			changed := append([]byte{}, all...)
			changed[i] = change
			code, answer := serve(changed)
			require.NotEmpty(t, code)
			require.NotContains(t, answer, `"a":1`)
		}
	}
	for name, text := range map[string]string{
		"a length beyond the message": "\x00\x00\x00\x00\x02\x12\x7f",
		"a length of 64 bits":         "\x00\x00\x00\x00\x0b\x22\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
		"a varint that is too long":   "\x00\x00\x00\x00\x0c\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
		"a message of 4 GiB":          "\x00\xff\xff\xff\xff",
		"compressed":                  "\x01\x00\x00\x00\x00",
		"field number 0":              "\x00\x00\x00\x00\x02\x02\x00",
		"a group":                     "\x00\x00\x00\x00\x02\x0b\x0c",
		"headers that are a number":   "\x00\x00\x00\x00\x02\x10\x01",
		"responses that are a number": "\x00\x00\x00\x00\x02\x18\x01",
		"a config that is a number":   "\x00\x00\x00\x00\x02\x58\x01",
		"a flag that is text":         "\x00\x00\x00\x00\x02\x52\x00",
		"a long fixed field":          "\x00\x00\x00\x00\x02\x79\x00",
		"two things":                  "\x00\x00\x00\x00\x04\x12\x00\x12\x00",
	} {
		code, _ := serve([]byte(text))
		assert.NotEqual(t, "0", code, name)
	}
	twice := []byte{0x0a, 1, '{', 0x0a, 1, '}', 0x10, 1} // a body that occurs twice
	text := append([]byte{0x22, byte(len(twice))}, twice...)
	code, _ = serve(append(append([]byte{}, headers...), append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(text))), text...)...))
	assert.Equal(t, "3", code)
}

// TestStreams holds that with Options.Stream the result is passed on while the body comes, and that
// an incomplete one never looks complete.
func TestStreams(t *testing.T) {
	for _, find := range []request.Finder{request.ByPath(catalog(t)), request.ByKind(catalog(t))} {
		testStreams(t, find)
	}
}

func testStreams(t *testing.T, find request.Finder) {
	e := start(t, extproc.New(find, extproc.Options{Stream: true, Options: request.Options{MaxBytes: 1 << 20}}))
	for _, mode := range []filterv3.ProcessingMode_BodySendMode{buffered, streamed, fullDuplex} {
		for _, chunk := range []int{1, 50, 4 << 10, 1 << 20} {
			c := post(plan(`,"zz":[1,{"a":2}],"suspend":true`))
			if chunk >= 4<<10 {
				c = post(plan(`,"zz":"` + strings.Repeat("x", 100<<10) + `","suspend":true`))
			}
			got, err := e.as(mode, chunk).send(t.Context(), c)
			require.NoError(t, err)
			require.True(t, got.isWhole)
			require.Equal(t, 201, got.code, got.answer)
			assert.NotContains(t, got.body, "zz")
			want := through(t, find, request.Options{MaxBytes: 1 << 20}, c)
			assert.JSONEq(t, want.body, got.body, "%s by %d", mode, chunk)
			assert.Contains(t, strings.Join(got.response["Warning"], " "), `unknown field \"spec.zz\"`)
			assert.Equal(t, "application/json", got.header.Get("Content-Type"))

			c.target += "?fieldValidation=Strict"
			got, err = e.as(mode, chunk).send(t.Context(), c)
			require.NoError(t, err)
			assert.Equal(t, 400, got.code)
			assert.False(t, got.isWhole)
			assert.False(t, json.Valid([]byte(got.body)))

			c = post(plan("") + "x")
			got, err = e.as(mode, chunk).send(t.Context(), c)
			require.NoError(t, err)
			assert.Equal(t, 400, got.code)
			assert.False(t, json.Valid([]byte(got.body)))
		}
	}
	got, err := e.as(fullDuplex, 1000).send(t.Context(), post(plan(`,"zz":"`+strings.Repeat("x", 1<<20)+`"`)))
	require.NoError(t, err)
	assert.Equal(t, 413, got.code)
	assert.False(t, got.isWhole)
}

// TestTrailers holds that in mode FULL_DUPLEX_STREAMED those trailers pass that were announced and
// by which nobody reads a request.
func TestTrailers(t *testing.T) {
	for _, isStream := range []bool{false, true} {
		e := start(t, extproc.New(request.ByPath(catalog(t)), extproc.Options{Stream: isStream}))
		c := post(plan(`,"zz":1`), "Trailer", "X-Good, Content-Type,Digest", "Trailer", "content-length")
		c.trailers = []string{"x-good", "1", "content-type", "text/plain", "digest", "z", "x-bad", "2", "content-length", "3"}
		got, err := e.as(fullDuplex, 10).send(t.Context(), c)
		require.NoError(t, err)
		require.True(t, got.isWhole, got.answer)
		assert.Equal(t, http.Header{"X-Good": {"1"}}, got.trailers)
		assert.Contains(t, got.body, `"monthly":12`)

		c.target = "/healthz"
		for _, mode := range []filterv3.ProcessingMode_BodySendMode{streamed, fullDuplex} {
			got, err = e.as(mode, 10).send(t.Context(), c)
			require.NoError(t, err)
			require.True(t, got.isWhole)
			assert.Len(t, got.trailers, 5, "what has no schema passes untouched")
			assert.Equal(t, c.body, got.body)
		}
	}
}

// TestResponses holds that responses pass untouched, in each mode, also before the body has ended.
func TestResponses(t *testing.T) {
	for _, isStream := range []bool{false, true} {
		e := start(t, extproc.New(request.ByPath(catalog(t)), extproc.Options{Stream: isStream}))
		text := strings.Repeat("response ", 5000)
		trailers := &extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_ResponseTrailers{
			ResponseTrailers: &extprocv3.HttpTrailers{Trailers: headerMap([]string{"a", "b"})}}}
		e.responseMode = fullDuplex
		good := post(plan(""))
		list, err := e.answers(t, e.first(good, false), bodyMessage(good.body, true), responseMessage(),
			responseBody(text, false), responseBody("", false), responseBody("end", true))
		require.NoError(t, err)
		var got string
		for i, answer := range list[3:] {
			piece := answer.GetResponseBody().GetResponse().GetBodyMutation().GetStreamedResponse()
			require.NotNil(t, piece, answer)
			got += string(piece.GetBody())
			assert.Equal(t, i == len(list)-4, piece.GetEndOfStream())
		}
		assert.Equal(t, text+"end", got)

		e.responseMode = streamed
		list, err = e.as(streamed, 0).answers(t, e.as(streamed, 0).first(good, false), bodyMessage(good.body[:9], false), responseMessage(),
			responseBody(text, false), bodyMessage(good.body[9:], true), trailers)
		require.NoError(t, err)
		require.Len(t, list, 6)
		assert.NotNil(t, list[0].GetRequestHeaders())
		assert.NotNil(t, list[1].GetRequestBody())
		assert.NotNil(t, list[2].GetResponseHeaders())
		assert.NotNil(t, list[3].GetResponseBody())
		assert.Nil(t, list[3].GetResponseBody().GetResponse().GetBodyMutation())
		assert.NotNil(t, list[4].GetRequestBody())
		assert.NotNil(t, list[5].GetResponseTrailers())
	}
}

// TestFinderThatPasses holds what becomes of bodies that a finder has looked into before it lets them
// pass.
func TestFinderThatPasses(t *testing.T) {
	kinds := request.ByKind(catalog(t))
	find := func(r *request.Request, peek request.Peek) (*request.Resource, error) {
		if _, kind, err := peek(); err == nil && kind == "Pod" {
			return request.Pass, nil
		}
		return kinds(r, peek)
	}
	e := start(t, extproc.New(find, extproc.Options{}))
	c := post(`{"apiVersion":"v1","kind":"Pod"}`)
	for _, mode := range []filterv3.ProcessingMode_BodySendMode{buffered, fullDuplex} {
		got, err := e.as(mode, 7).send(t.Context(), c)
		require.NoError(t, err)
		require.True(t, got.isWhole, got.answer)
		assert.Equal(t, c.body, got.body)
		assert.Equal(t, "application/json", got.header.Get("Content-Type"))
	}
	got, err := e.as(streamed, 7).send(t.Context(), c)
	require.NoError(t, err)
	assert.Equal(t, 500, got.code)
	assert.False(t, got.isWhole)
}

// TestProtocol holds what the server makes of calls that are not those of Envoy.
func TestProtocol(t *testing.T) {
	p := extproc.New(request.ByPath(catalog(t)), extproc.Options{})
	e := start(t, p)
	health := healthv1.NewHealthClient(e.conn)
	for _, service := range []string{"", "envoy.service.ext_proc.v3.ExternalProcessor"} {
		answer, err := health.Check(t.Context(), &healthv1.HealthCheckRequest{Service: service})
		require.NoError(t, err)
		assert.Equal(t, healthv1.HealthCheckResponse_SERVING, answer.GetStatus())
	}
	_, err := health.Check(t.Context(), &healthv1.HealthCheckRequest{Service: "other"})
	assert.Equal(t, codes.NotFound, status.Code(err))
	_, err = health.List(t.Context(), &healthv1.HealthListRequest{})
	assert.Equal(t, codes.Unimplemented, status.Code(err))
	stream, err := e.client.Process(t.Context(), grpc.UseCompressor(gzip.Name))
	require.NoError(t, err)
	require.NoError(t, stream.Send(e.first(post(plan("")), false)))
	_, err = stream.Recv()
	assert.Equal(t, codes.Unimplemented, status.Code(err))
	p.Drain()
	answer, err := health.Check(t.Context(), &healthv1.HealthCheckRequest{})
	require.NoError(t, err)
	assert.Equal(t, healthv1.HealthCheckResponse_NOT_SERVING, answer.GetStatus())

	for code, change := range map[int]func(*http.Request){
		http.StatusHTTPVersionNotSupported: func(r *http.Request) { r.ProtoMajor = 1 },
		http.StatusUnsupportedMediaType:    func(r *http.Request) { r.Header.Set("Content-Type", "application/grpc-web") },
	} {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.ProtoMajor = 2
		r.Header.Set("Content-Type", "application/grpc")
		change(r)
		w := httptest.NewRecorder()
		p.ServeHTTP(w, r)
		assert.Equal(t, code, w.Code)
	}
	for text, ok := range map[string]bool{"1S": true, "99999999H": true, "5m": true, "1u": true, "1n": true, "1M": true, "": true, "S": false, "-1S": false, "123456789S": false, "1x": false} {
		r := httptest.NewRequest(http.MethodPost, "/grpc.health.v1.Health/Other", nil)
		r.ProtoMajor = 2
		r.Header.Set("Content-Type", "application/grpc+proto")
		r.Header.Set("Grpc-Timeout", text)
		w := httptest.NewRecorder()
		p.ServeHTTP(w, r)
		assert.Equal(t, map[bool]string{true: "12", false: "3"}[ok], w.Result().Trailer.Get("Grpc-Status"), text)
	}
}

// TestPanics holds that a panic of a finder ends its stream, with an error, and nothing else.
func TestPanics(t *testing.T) {
	byPath := request.ByPath(catalog(t))
	find := func(r *request.Request, peek request.Peek) (*request.Resource, error) {
		if r.Header.Values("Panic") != nil {
			panic(http.ErrAbortHandler) // which is not logged
		}
		return byPath(r, peek)
	}
	p := extproc.New(find, extproc.Options{})
	e := start(t, p)
	other, err := e.client.Process(t.Context())
	require.NoError(t, err)
	good := post(plan(""))
	require.NoError(t, other.Send(e.first(good, false)))
	_, err = other.Recv()
	require.NoError(t, err)
	_, err = e.send(t.Context(), post(plan(""), "Panic", "1"))
	require.Error(t, err)
	assert.NotEqual(t, codes.OK, status.Code(err))
	require.NoError(t, other.Send(bodyMessage(good.body, true)))
	answer, err := other.Recv()
	require.NoError(t, err)
	assert.NotNil(t, answer.GetRequestBody())
	assert.Eventually(t, func() bool { held, _ := p.Held(); return held == 0 }, time.Minute, time.Millisecond)
}

// TestDeadlines holds that a body that is late is refused, and that a client's deadline ends a
// stream.
func TestDeadlines(t *testing.T) {
	p := extproc.New(request.ByPath(catalog(t)), extproc.Options{BodyTimeout: 50 * time.Millisecond})
	e := start(t, p).as(streamed, 0)
	stream, err := e.client.Process(t.Context())
	require.NoError(t, err)
	require.NoError(t, stream.Send(e.first(post(plan("")), false)))
	_ = stream.Send(bodyMessage("{", false)) // the time may be over before
	var last *extprocv3.ProcessingResponse
	for {
		answer, err := stream.Recv()
		if err != nil {
			require.Equal(t, io.EOF, err)
			break
		}
		last = answer
	}
	assert.EqualValues(t, 408, last.GetImmediateResponse().GetStatus().GetCode())

	p = extproc.New(request.ByPath(catalog(t)), extproc.Options{})
	e = start(t, p)
	_, err = e.send(t.Context(), post(plan(""))) // from now on there is a connection
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var answer *extprocv3.ProcessingResponse
	stream, err = e.client.Process(ctx)
	if err == nil {
		_ = stream.Send(e.first(post(plan("")), false))
	}
	for err == nil && answer.GetImmediateResponse() == nil {
		answer, err = stream.Recv()
	}
	// Either side may notice first.
	if err == nil {
		assert.EqualValues(t, 408, answer.GetImmediateResponse().GetStatus().GetCode())
	} else {
		assert.Equal(t, codes.DeadlineExceeded, status.Code(err))
	}
	assert.Eventually(t, func() bool { held, _ := p.Held(); return held == 0 }, time.Minute, time.Millisecond)
}

// TestNew holds that mistakes are found at the start.
func TestNew(t *testing.T) {
	assert.Panics(t, func() { extproc.New(nil, extproc.Options{}) })
	server := extproc.NewServer(extproc.New(request.ByPath(catalog(t)), extproc.Options{}))
	assert.True(t, server.Protocols.UnencryptedHTTP2())
}
