package middleware_test

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/middleware"
	"github.com/espalier-dev/espalier/request"
)

// serve starts a server whose handler returns the request that arrives.
func serve(t *testing.T, opts middleware.Options, configure ...func(*httptest.Server)) *httptest.Server {
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		for name, values := range r.Trailer {
			w.Header()["Got-"+name] = values
		}
		w.Header().Set("Got-Length", fmt.Sprint(r.ContentLength))
		w.Header().Set("Got-Proto", r.Proto)
		_, _ = w.Write(body)
	})
	server := httptest.NewUnstartedServer(middleware.New(byPath(t), opts)(echo))
	for _, c := range configure {
		c(server)
	}
	if server.EnableHTTP2 {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	return server
}

// dial opens a connection and writes a request to it by hand.
func dial(t *testing.T, server *httptest.Server, text string) (net.Conn, *bufio.Reader) {
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	_, err = io.WriteString(conn, strings.ReplaceAll(text, "\n", "\r\n"))
	require.NoError(t, err)
	return conn, bufio.NewReader(conn)
}

func answer(t *testing.T, r *bufio.Reader) (*http.Response, string) {
	response, err := http.ReadResponse(r, nil)
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response, string(body)
}

var pruned = foo(`,"spec":{"size":1}`)

func TestChunkedBodyGetsLength(t *testing.T) {
	server := serve(t, middleware.Options{})
	body := foo(`,"spec":{"b":1}`)
	_, r := dial(t, server, "POST "+foosPath+" HTTP/1.1\nHost: x\nTransfer-Encoding: chunked\n\n"+
		fmt.Sprintf("%x\n%s\n%x\n%s\n0\n\n", 10, body[:10], len(body)-10, body[10:]))
	response, text := answer(t, r)
	assert.Equal(t, pruned, text)
	assert.Equal(t, fmt.Sprint(len(pruned)), response.Header.Get("Got-Length"))
}

// A body with trailers stays chunked, whether they were announced or not.
func TestTrailers(t *testing.T) {
	server := serve(t, middleware.Options{})
	body := foo(`,"spec":{"b":1}`)
	_, r := dial(t, server, "POST "+foosPath+" HTTP/1.1\nHost: x\nTransfer-Encoding: chunked\nTrailer: X-Sum\n\n"+
		fmt.Sprintf("%x\n%s\n0\nX-Sum: 7\n\n", len(body), body))
	response, text := answer(t, r)
	assert.Equal(t, pruned, text)
	assert.Equal(t, "7", response.Header.Get("Got-X-Sum"))
	assert.Equal(t, "-1", response.Header.Get("Got-Length"))
}

// A client that waits for 100 Continue is not asked for a body that would be refused.
func TestExpectContinue(t *testing.T) {
	server := serve(t, middleware.Options{})
	head := " " + foosPath + "%s HTTP/1.1\nHost: x\nExpect: 100-continue\nContent-Length: %d\nContent-Type: %s\n\n"
	for _, c := range []struct {
		method, query string
		length        int
		contentType   string
		code          int
	}{
		{"PATCH", "", 10, "application/json-patch+json", http.StatusUnsupportedMediaType},
		{"", "", 3<<20 + 1, "application/json", http.StatusRequestEntityTooLarge},
		{"", "", 10, "text/plain", http.StatusUnsupportedMediaType},
		{"", "?fieldValidation=x", 10, "application/json", http.StatusUnprocessableEntity},
	} {
		_, r := dial(t, server, fmt.Sprintf(cmp.Or(c.method, "POST")+head, c.query, c.length, c.contentType))
		response, _ := answer(t, r)
		assert.Equal(t, c.code, response.StatusCode)
	}

	body := foo(`,"spec":{"b":1}`)
	conn, r := dial(t, server, fmt.Sprintf("POST"+head, "", len(body), "application/json"))
	response, _ := answer(t, r)
	require.Equal(t, http.StatusContinue, response.StatusCode)
	_, err := io.WriteString(conn, body)
	require.NoError(t, err)
	response, text := answer(t, r)
	assert.Equal(t, http.StatusOK, response.StatusCode)
	assert.Equal(t, pruned, text)
}

func TestSlowClient(t *testing.T) {
	server := serve(t, middleware.Options{}, func(s *httptest.Server) { s.Config.ReadTimeout = time.Second })
	body := foo(`,"spec":{"b":1}`)
	conn, r := dial(t, server, fmt.Sprintf("POST %s HTTP/1.1\nHost: x\nContent-Length: %d\n\n", foosPath, len(body)))
	for _, b := range []byte(body) {
		_, err := conn.Write([]byte{b})
		require.NoError(t, err)
	}
	_, text := answer(t, r)
	assert.Equal(t, pruned, text)

	_, r = dial(t, server, fmt.Sprintf("POST %s HTTP/1.1\nHost: x\nContent-Length: %d\n\n%s", foosPath, len(body)+1, body))
	response, text := answer(t, r)
	assert.Equal(t, http.StatusRequestTimeout, response.StatusCode)
	assert.Contains(t, text, `"message":"the body of the request did not come in time","reason":"Timeout"`)
}

// A body that ends early is not passed on, though it may look complete.
func TestAbortedBody(t *testing.T) {
	observed := make(chan *request.StatusError, 1)
	server := serve(t, middleware.Options{Observer: observer(func(_ *http.Request, o request.Observation) { observed <- o.Refused })})
	conn, _ := dial(t, server, fmt.Sprintf("POST %s HTTP/1.1\nHost: x\nContent-Length: %d\n\n%s", foosPath, len(foo(""))+1, foo("")))
	require.NoError(t, conn.Close())
	refused := <-observed
	require.NotNil(t, refused)
	assert.Equal(t, http.StatusBadRequest, refused.Code)
	assert.ErrorIs(t, refused, io.ErrUnexpectedEOF)
}

func TestHTTP2(t *testing.T) {
	server := serve(t, middleware.Options{}, func(s *httptest.Server) { s.EnableHTTP2 = true })
	client := server.Client()
	defer client.CloseIdleConnections()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, server.URL+foosPath,
		io.MultiReader(strings.NewReader(foo(`,"spec":{"b":`)), strings.NewReader(`1}}`)))
	require.NoError(t, err)
	r.Body = io.NopCloser(io.MultiReader(strings.NewReader(strings.TrimSuffix(foo(`,"spec":{"b":1}`), "}")), strings.NewReader(`}`)))
	r.Trailer = http.Header{"X-Sum": {"7"}}
	response, err := client.Do(r)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	assert.Equal(t, "HTTP/2.0", response.Header.Get("Got-Proto"))
	assert.Equal(t, "7", response.Header.Get("Got-X-Sum"))
	assert.Equal(t, pruned, string(text))
	assert.Equal(t, []string{`299 - "unknown field \"spec.b\""`}, response.Header.Values("Warning"))

	response, err = client.Post(server.URL+foosPath, "application/json", strings.NewReader(foo("")+strings.Repeat(" ", 4<<20)))
	require.NoError(t, err)
	defer response.Body.Close()
	assert.Equal(t, http.StatusRequestEntityTooLarge, response.StatusCode)
}

// HEAD and GET may have bodies, which mean nothing.
func TestBodiesThatMeanNothing(t *testing.T) {
	server := serve(t, middleware.Options{})
	for _, method := range []string{"GET", "DELETE"} {
		_, r := dial(t, server, method+" "+foosPath+" HTTP/1.1\nHost: x\nContent-Length: 3\n\n{x}")
		response, text := answer(t, r)
		assert.Equal(t, http.StatusOK, response.StatusCode)
		assert.Equal(t, "{x}", text)
	}
}

func compressed(tb testing.TB, text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.WriteString(z, text)
	require.NoError(tb, err)
	require.NoError(tb, z.Close())
	return b.String()
}

func TestContentEncodings(t *testing.T) {
	withEncoding := func(encoding, body string) *http.Request {
		r := post(foosPath, "", body)
		r.Header.Set("Content-Encoding", encoding)
		return r
	}
	body := foo(`,"spec":{"b":1}`)
	for _, encoding := range []string{"gzip", "br", "identity, gzip", "gzip, gzip"} {
		w, got := send(t, byPath(t), middleware.Options{}, withEncoding(encoding, compressed(t, body)))
		refused(t, w, got, http.StatusUnsupportedMediaType)
		assert.Equal(t, "identity", w.Header().Get("Accept-Encoding"))
	}
	_, got := send(t, byPath(t), middleware.Options{}, withEncoding("identity", body))
	assert.NotNil(t, got)

	opts := middleware.Options{Options: request.Options{Gzip: true, MaxBytes: 1000}}
	for _, action := range []request.Action{request.Rewrite, request.Report} {
		opts.Action = action
		_, got = send(t, byPath(t), opts, withEncoding("GZIP", compressed(t, body)))
		require.NotNil(t, got)
		assert.Empty(t, got.Header.Values("Content-Encoding"))
		assert.EqualValues(t, len(got.body), got.ContentLength)
	}
	assert.Equal(t, body, got.body)
	w, got := send(t, byPath(t), opts, withEncoding("br", body))
	refused(t, w, got, http.StatusUnsupportedMediaType)
	assert.Equal(t, "gzip, identity", w.Header().Get("Accept-Encoding"))
	for name, text := range map[string]string{"none": body, "cut": compressed(t, body)[:40], "more": compressed(t, body) + "x"} {
		w, got = send(t, byPath(t), opts, withEncoding("gzip", text))
		refused(t, w, got, http.StatusBadRequest)
		assert.Contains(t, w.Body.String(), "cannot be read to its end", name)
	}
	// The limit is for the decompressed bytes.
	bomb := compressed(t, foo("")+strings.Repeat(" ", 1000))
	require.Less(t, len(bomb), 200)
	w, got = send(t, byPath(t), opts, withEncoding("gzip", bomb))
	refused(t, w, got, http.StatusRequestEntityTooLarge)
}

// A stream that never yields a byte is limited as well.
func TestEndlessGzip(t *testing.T) {
	var empty bytes.Buffer
	require.NoError(t, gzip.NewWriter(&empty).Close())
	members := bytes.Repeat(empty.Bytes(), 100)
	for _, stream := range []bool{false, true} {
		sent := 0
		endless := readerFunc(func(p []byte) (int, error) {
			n := copy(p, members[sent%len(members):])
			sent += n
			if sent > 1<<20 {
				return 0, errors.New("too much was read")
			}
			return n, nil
		})
		r := httptest.NewRequest(http.MethodPost, foosPath, endless)
		r.Header.Set("Content-Encoding", "gzip")
		w := httptest.NewRecorder()
		opts := middleware.Options{Options: request.Options{Gzip: true, MaxBytes: 1 << 10}, Stream: stream}
		handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.ReadAll(r.Body) })
		middleware.New(byPath(t), opts)(handler).ServeHTTP(w, r)
		assert.Equal(t, http.StatusRequestEntityTooLarge, w.Code, "%s", w.Body)
		assert.LessOrEqual(t, sent, 64<<10)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// A digest of the body that was sent is not one of the body that is passed on.
func TestDigests(t *testing.T) {
	names := []string{"Content-Md5", "Digest", "Content-Digest", "Repr-Digest"}
	for action, want := range map[request.Action]string{request.Rewrite: "", request.Report: "x"} {
		r := post(foosPath, "", foo(""))
		r.Header.Set("Content-Length", "43")
		for _, name := range names {
			r.Header.Set(name, "x")
		}
		_, got := send(t, byPath(t), middleware.Options{Options: request.Options{Action: action}}, r)
		require.NotNil(t, got)
		for _, name := range names {
			assert.Equal(t, want, got.Header.Get(name))
			assert.Equal(t, "x", r.Header.Get(name), "the request itself was changed")
		}
		assert.Equal(t, fmt.Sprint(len(got.body)), got.Header.Get("Content-Length"))
	}
	for _, stream := range []bool{false, true} {
		r := post(foosPath, "", foo(""))
		r.Trailer = http.Header{"Content-Digest": {"x"}, "X-Other": {"y"}}
		_, got := send(t, byPath(t), middleware.Options{Stream: stream}, r)
		require.NotNil(t, got)
		assert.Equal(t, http.Header{"X-Other": {"y"}}, got.Trailer)
		assert.Len(t, r.Trailer, 2, "the request itself was changed")
	}
}

// After it has returned, a handler cannot read the body: another request uses the memory.
func TestBodyAfterHandler(t *testing.T) {
	var kept io.ReadCloser
	handler := middleware.New(byPath(t), middleware.Options{})(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { kept = r.Body }))
	handler.ServeHTTP(httptest.NewRecorder(), post(foosPath, "", foo("")))
	n, err := kept.Read(make([]byte, 10))
	assert.Equal(t, 0, n)
	assert.ErrorIs(t, err, http.ErrBodyReadAfterClose)
}

type observer func(*http.Request, request.Observation)

func (o observer) Observe(r *http.Request, seen request.Observation) { o(r, seen) }
