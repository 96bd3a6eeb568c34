package adapters_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttputil"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/espalier-dev/espalier/examples/adapters"
	"github.com/espalier-dev/espalier/request"
	"github.com/espalier-dev/espalier/schema"
)

const plans = "/apis/backup.example.com/v1/namespaces/default/backupplans"

func catalog(t *testing.T) *schema.Catalog {
	c := schema.NewCatalog()
	require.NoError(t, c.AddPath("../../testdata/quickstart/crd.yaml"))
	return c
}

func plan(members string) string {
	return `{"apiVersion":"backup.example.com/v1","kind":"BackupPlan","spec":{"schedule":"0 3 * * *"` + members + `}}`
}

func TestFastHTTP(t *testing.T) {
	for _, isStream := range []bool{false, true} {
		gate := request.NewGate(request.Options{MaxBytes: 4 << 10})
		seen := make(chan *fasthttp.Request, 1)
		server := &fasthttp.Server{
			StreamRequestBody: isStream,
			Handler: adapters.FastHTTP(gate, request.ByPath(catalog(t)), func(c *fasthttp.RequestCtx) {
				r := new(fasthttp.Request)
				c.Request.CopyTo(r)
				seen <- r
				c.SetStatusCode(201)
			}),
		}
		listener := fasthttputil.NewInmemoryListener()
		ended := make(chan error, 1)
		go func() { ended <- server.Serve(listener) }()
		client := &fasthttp.Client{DisablePathNormalizing: true, Dial: func(string) (net.Conn, error) { return listener.Dial() }}
		send := func(method, target, body string, headers ...string) (answer *fasthttp.Response, arrived *fasthttp.Request) {
			answer = new(fasthttp.Response)
			var r fasthttp.Request
			r.URI().DisablePathNormalizing = true
			r.SetRequestURI("http://test" + target)
			r.Header.SetMethod(method)
			r.Header.SetContentType("application/json")
			for i := 0; i+1 < len(headers); i += 2 {
				r.Header.Set(headers[i], headers[i+1])
			}
			r.SetBodyString(body)
			require.NoError(t, client.Do(&r, answer))
			select {
			case arrived = <-seen:
			default:
			}
			return answer, arrived
		}
		answer, arrived := send("POST", plans, plan(`,"zz":1`), "X-Original-Url", "/x", "Digest", "d")
		require.NotNil(t, arrived)
		assert.Contains(t, string(arrived.Body()), `"monthly":12`)
		assert.NotContains(t, string(arrived.Body()), "zz")
		assert.Equal(t, len(arrived.Body()), arrived.Header.ContentLength())
		assert.Empty(t, arrived.Header.Peek("X-Original-Url"))
		assert.Empty(t, arrived.Header.Peek("Digest"))
		assert.Contains(t, string(answer.Header.Peek("Warning")), "spec.zz")

		for target, code := range map[string]int{
			plans + "?fieldValidation=Strict":                400,
			"/apis/backup.example.com/v1/BackupPlans":        400,
			"/x/../apis/backup.example.com/v1/backupplans":   400,
			"/apis/backup.example.com/v1/others":             403,
			"/apis/backup.example.com/v1/backupplans%20":     400,
			"/apis/backup.example.com/v1/%2562ackupplans":    400,
			"/apis/backup.example.com/v1/backupplans/a/scal": 403,
		} {
			answer, arrived = send("POST", target, plan(`,"zz":1`))
			assert.Nil(t, arrived, target)
			assert.Equal(t, code, answer.StatusCode(), target)
			assert.Contains(t, string(answer.Body()), `"kind":"Status"`)
		}
		answer, arrived = send("POST", plans, plan(`,"zz":"`+strings.Repeat("x", 5<<10)+`"`))
		assert.Nil(t, arrived)
		assert.Equal(t, 413, answer.StatusCode())
		answer, _ = send("GET", plans, "", "X-HTTP-Method-Override", "POST")
		assert.Equal(t, 400, answer.StatusCode())
		_, arrived = send("POST", "/healthz", "anything")
		require.NotNil(t, arrived)
		assert.Equal(t, "anything", string(arrived.Body()))
		_, arrived = send("DELETE", plans+"/a", "anything")
		require.NotNil(t, arrived)

		// Trailers are headers for fasthttp, and come after the headers were screened.
		conn, err := listener.Dial()
		require.NoError(t, err)
		text := plan("")
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"+
			"%x\r\n%s\r\n0\r\nX-Http-Method-Override: PUT\r\nX-Original-Url: /x\r\n\r\n", plans, len(text), text)
		var read fasthttp.Response
		require.NoError(t, read.Read(bufio.NewReader(conn)))
		require.NoError(t, conn.Close())
		require.Equal(t, 201, read.StatusCode())
		arrived = <-seen
		assert.Empty(t, arrived.Header.Peek("X-Http-Method-Override"))
		assert.Empty(t, arrived.Header.Peek("X-Original-Url"))
		assert.Contains(t, string(arrived.Body()), `"monthly":12`)

		held, _ := gate.Held()
		assert.Zero(t, held)
		client.CloseIdleConnections()
		require.NoError(t, server.Shutdown())
		require.NoError(t, <-ended)
	}
}

// A store is a service of gRPC that takes objects as bytes. Generated code would do the same.
var store = grpc.ServiceDesc{
	ServiceName: "example.Store", HandlerType: (*any)(nil),
	Methods: []grpc.MethodDesc{{MethodName: "Put", Handler: func(
		_ any, ctx context.Context, decode func(any) error, intercept grpc.UnaryServerInterceptor,
	) (any, error) {
		in := new(wrapperspb.BytesValue)
		if err := decode(in); err != nil {
			return nil, err
		}
		put := func(_ context.Context, in any) (any, error) { return in, nil } // what is stored
		return intercept(ctx, in, &grpc.UnaryServerInfo{FullMethod: "/example.Store/Put"}, put)
	}}},
}

func TestGRPC(t *testing.T) {
	gate := request.NewGate(request.Options{MaxBytes: 4 << 10})
	server := grpc.NewServer(grpc.UnaryInterceptor(adapters.GRPC(gate, request.ByKind(catalog(t)))))
	server.RegisterService(&store, nil)
	listener := bufconn.Listen(1 << 20)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	conn, err := grpc.NewClient("passthrough:///test", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	require.NoError(t, err)
	put := func(text string) (string, metadata.MD, error) {
		var out wrapperspb.BytesValue
		var header metadata.MD
		err := conn.Invoke(t.Context(), "/example.Store/Put", wrapperspb.Bytes([]byte(text)), &out, grpc.Header(&header))
		return string(out.GetValue()), header, err
	}
	stored, header, err := put(plan(`,"zz":1`))
	require.NoError(t, err)
	assert.Contains(t, stored, `"monthly":12`)
	assert.NotContains(t, stored, "zz")
	assert.Contains(t, strings.Join(header["warning"], ""), "spec.zz")
	for text, code := range map[string]codes.Code{
		"{":                                   codes.InvalidArgument,
		`{"apiVersion":"v1","kind":"Secret"}`: codes.InvalidArgument,
		plan(`,"zz":"` + strings.Repeat("x", 5<<10) + `"`): codes.ResourceExhausted,
	} {
		_, _, err := put(text)
		assert.Equal(t, code, status.Code(err), err)
	}
	held, _ := gate.Held()
	assert.Zero(t, held)
	require.NoError(t, conn.Close())
	server.GracefulStop()
	require.NoError(t, <-ended)
}
