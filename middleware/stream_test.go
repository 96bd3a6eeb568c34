package middleware_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/middleware"
	"github.com/espalier-dev/espalier/request"
)

var stream = middleware.Options{Stream: true}

func TestStream(t *testing.T) {
	for _, query := range []string{"", "?fieldValidation=Strict", "?fieldValidation=Ignore"} {
		for name, body := range map[string]io.Reader{
			"whole": strings.NewReader(foo(`,"spec":{"a":"x"}`)),
			"bytes": iotest.OneByteReader(strings.NewReader(foo(`,"spec":{"a":"x"}`))),
		} {
			r := httptest.NewRequest(http.MethodPost, foosPath+query, body)
			r.Header.Set("Content-Length", "1")
			_, got := send(t, byPath(t), stream, r)
			require.NotNil(t, got, name)
			assert.Equal(t, foo(`,"spec":{"a":"x","size":1}`), got.body)
			assert.EqualValues(t, -1, got.ContentLength)
			assert.Empty(t, got.Header.Get("Content-Length"))
		}
	}
	w, got := send(t, byPath(t), stream, post(foosPath, "", foo(`,"spec":{"b":1}`)))
	require.NotNil(t, got)
	assert.Equal(t, []string{`299 - "unknown field \"spec.b\""`}, w.Header().Values("Warning"))
}

// Reading byte by byte gives the same as reading at once, even if a byte is held back.
func TestStreamByBytes(t *testing.T) {
	for _, query := range []string{"", "?fieldValidation=Strict"} {
		handler := middleware.New(byPath(t), stream)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			text, err := io.ReadAll(iotest.OneByteReader(r.Body))
			assert.NoError(t, err)
			assert.Equal(t, pruned, string(text))
			n, err := r.Body.Read(make([]byte, 1))
			assert.Equal(t, 0, n)
			assert.Equal(t, io.EOF, err)
		}))
		handler.ServeHTTP(httptest.NewRecorder(), post(foosPath+query, "", foo(`,"spec":{}`)))
	}
}

// A document that is refused in the end never looks complete, and the answer is not the handler's.
func TestStreamRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		query, body, message string
		code                 int
	}{
		"strict":    {"?fieldValidation=Strict", foo(`,"spec":{"b":1}`), `strict decoding error: unknown field \"spec.b\"`, 400},
		"syntax":    {"", foo(`,"spec":{"a":x}`), `the object provided cannot be decoded: 1:57: invalid character 'x'`, 400},
		"cut":       {"", strings.TrimSuffix(foo(""), "}"), `unexpected end of input`, 400},
		"trailing":  {"", foo("") + "x", `something follows the document`, 400},
		"duplicate": {"", foo(`,"spec":{"a":"x","a":"y"}`), `duplicate field \"spec.a\"`, 400},
		"large":     {"", foo("") + strings.Repeat(" ", 1000), `Request entity too large: limit is 1000`, 413},
	} {
		for _, early := range []bool{false, true} {
			var got string
			handler := middleware.New(byPath(t), middleware.Options{Options: request.Options{MaxBytes: 1000}, Stream: true})(
				http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if early {
						w.WriteHeader(http.StatusAccepted)
					}
					text, err := io.ReadAll(r.Body)
					got = string(text)
					assert.Error(t, err, name)
					_, again := r.Body.Read(make([]byte, 1))
					assert.Equal(t, err, again)
					w.Header().Set("Etag", "x")
					fmt.Fprint(w, "created")
				}))
			w := httptest.NewRecorder()
			r := post(foosPath+c.query, "", c.body)
			r.ContentLength = -1
			handler.ServeHTTP(w, r)
			assert.False(t, strings.HasSuffix(got, "}") && strings.Count(got, "{") == strings.Count(got, "}"), "%s: %s", name, got)
			if early {
				assert.Equal(t, http.StatusAccepted, w.Code)
				continue
			}
			assert.Equal(t, c.code, w.Code, name)
			assert.Contains(t, w.Body.String(), c.message)
			assert.NotContains(t, w.Body.String(), "created")
			assert.Empty(t, w.Header().Get("Etag"))
		}
	}
}

// If a handler gives up without an answer, the middleware answers.
func TestStreamHandlerReturns(t *testing.T) {
	handler := middleware.New(byPath(t), stream)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
	}))
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, post(foosPath, "", "{"))
	assert.Equal(t, http.StatusBadRequest, w.Code)

	// A handler that reads nothing has its own answer.
	handler = middleware.New(byPath(t), stream)(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		assert.NoError(t, http.NewResponseController(w).Flush())
	}))
	w = httptest.NewRecorder()
	handler.ServeHTTP(w, post(foosPath, "", "{"))
	assert.Equal(t, http.StatusOK, w.Code)
	assert.True(t, w.Flushed)

	// One that has read all, and flushes, has answered: with the warnings.
	handler = middleware.New(byPath(t), stream)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		assert.NoError(t, http.NewResponseController(w).Flush())
	}))
	w = httptest.NewRecorder()
	handler.ServeHTTP(w, post(foosPath, "", foo(`,"spec":{"b":1}`)))
	assert.Equal(t, []string{`299 - "unknown field \"spec.b\""`}, w.Result().Header["Warning"])
}

func TestStreamChecksFirst(t *testing.T) {
	w, got := send(t, byPath(t), stream, post(foosPath, "text/plain", "{}"))
	refused(t, w, got, http.StatusUnsupportedMediaType)
	r := post(foosPath, "", "{}")
	r.ContentLength = 4 << 20
	w, got = send(t, byPath(t), stream, r)
	refused(t, w, got, http.StatusRequestEntityTooLarge)
	w, got = send(t, byPath(t), middleware.Options{Options: request.Options{MaxHeldBytes: 1}, Stream: true}, post(foosPath, "", "{}"))
	refused(t, w, got, http.StatusServiceUnavailable)
	// YAML and patches are held.
	_, got = send(t, byPath(t), stream, post(foosPath, "application/yaml", foo("")))
	require.NotNil(t, got)
	assert.EqualValues(t, len(got.body), got.ContentLength)
	_, got = send(t, byPath(t), stream, patch("", merge, "{}"))
	assert.NotNil(t, got)
}

// TestStreamByKind holds an object up to its type. The rest comes when the handler asks for it.
func TestStreamByKind(t *testing.T) {
	called := false
	handler := middleware.New(request.ByKind(catalog(t)), stream)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		called = true
		text, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		assert.Equal(t, pruned, string(text))
	}))
	start, rest := foo(`,"spec":{`), strings.NewReader("}}")
	start = strings.TrimSuffix(start, "}")
	body := io.MultiReader(strings.NewReader(start), readerFunc(func(p []byte) (int, error) {
		assert.True(t, called, "it is read before the handler is called")
		return rest.Read(p)
	}))
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", body))
	assert.True(t, called)
}

// TestStreamClosesConnection sends a body that is too large, after which the server reads no more.
func TestStreamClosesConnection(t *testing.T) {
	server := httptest.NewServer(middleware.New(byPath(t), middleware.Options{Options: request.Options{MaxBytes: 1000}, Stream: true})(new(backend)))
	defer server.Close()
	response, err := server.Client().Post(server.URL+foosPath, "application/json", io.MultiReader(strings.NewReader(foo("")), strings.NewReader(strings.Repeat(" ", 1000))))
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, http.StatusRequestEntityTooLarge, response.StatusCode)
	assert.True(t, response.Close)
}

func TestStreamGzip(t *testing.T) {
	opts := middleware.Options{Options: request.Options{Gzip: true, MaxBytes: 1000}, Stream: true}
	for text, code := range map[string]int{
		compressed(t, foo(`,"spec":{"b":1}`)):                 http.StatusCreated,
		compressed(t, foo("")+strings.Repeat(" ", 1000)):      http.StatusRequestEntityTooLarge,
		compressed(t, foo(""))[:30]:                           http.StatusBadRequest,
		foo(""):                                               http.StatusBadRequest,
		compressed(t, strings.Repeat(foo(""), 1)) + "garbage": http.StatusBadRequest,
	} {
		b := new(backend)
		w := httptest.NewRecorder()
		r := post(foosPath, "", text)
		r.Header.Set("Content-Encoding", "gzip")
		middleware.New(byPath(t), opts)(b).ServeHTTP(w, r)
		assert.Equal(t, code, w.Code, "%s", w.Body)
		require.Len(t, b.arrivals, 1)
		assert.Equal(t, code == http.StatusCreated, b.arrivals[0].bodyErr == nil)
	}
}

func TestStreamObserver(t *testing.T) {
	var seen []request.Observation
	opts := middleware.Options{Stream: true, Observer: observer(func(_ *http.Request, o request.Observation) { seen = append(seen, o) })}
	body := foo(`,"spec":{"b":1}`)
	send(t, byPath(t), opts, post(foosPath, "", body))
	middleware.New(byPath(t), opts)(new(backend)).ServeHTTP(httptest.NewRecorder(), post(foosPath+"?fieldValidation=Strict", "", body))
	middleware.New(byPath(t), opts)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, err := r.Body.Read(make([]byte, 1))
		assert.NoError(t, err)
	})).ServeHTTP(httptest.NewRecorder(), post(foosPath, "", body))
	require.Len(t, seen, 3)
	assert.EqualValues(t, len(body), seen[2].BytesIn, "of a handler that leaves before the end")
	assert.EqualValues(t, 1, seen[2].BytesOut)
	assert.Nil(t, seen[0].Refused)
	assert.Equal(t, []int64{int64(len(body)), int64(len(pruned))}, []int64{seen[0].BytesIn, seen[0].BytesOut})
	require.Len(t, seen[0].Findings, 1)
	assert.Positive(t, seen[0].Decoding)
	require.NotNil(t, seen[1].Refused)
	assert.Len(t, seen[1].Findings, 1)
}

// elements returns an object with a list of n elements, which is not in memory as a whole.
func elements(n int) io.Reader {
	const element = `{"x":1,"y":"` + "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy" + `"},`
	list := io.LimitReader(repeated(element), int64(n*len(element)))
	return io.MultiReader(strings.NewReader(`{"apiVersion":"example.com/v1","kind":"Foo","spec":{"list":[`), list, strings.NewReader(`{}]}}`))
}

// A repeated is a text that repeats without end.
type repeated string

func (r repeated) Read(p []byte) (int, error) {
	n := 0
	for len(p)-n >= len(r) {
		n += copy(p[n:], r)
	}
	if n == 0 {
		n = copy(p, r) // the limit cuts it there
	}
	return n, nil
}

// Memory does not depend on the length of the body.
func TestStreamMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("100 MB")
	}
	var largest uint64
	handler := middleware.New(byPath(t), middleware.Options{Options: request.Options{MaxBytes: 1 << 40}, Stream: true})(
		http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			buf := make([]byte, 1<<20)
			for i := 0; ; i++ {
				_, err := io.ReadFull(r.Body, buf)
				if i%8 == 0 {
					var m runtime.MemStats
					runtime.GC()
					runtime.ReadMemStats(&m)
					largest = max(largest, m.HeapAlloc)
				}
				if errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF {
					return
				}
				if !assert.NoError(t, err) {
					return
				}
			}
		}))
	r := httptest.NewRequest(http.MethodPost, foosPath+"?fieldValidation=Ignore", elements(1_000_000))
	handler.ServeHTTP(httptest.NewRecorder(), r)
	assert.Less(t, largest, uint64(64<<20))
}

// Through a proxy, a refused document does not arrive as a whole, and the connection to the server
// is cut off.
func TestStreamThroughProxy(t *testing.T) {
	var whole atomic.Int64
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(w, r.Body); err == nil {
			whole.Add(1)
		}
	}))
	target, err := url.Parse(upstream.URL)
	require.NoError(t, err)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	proxy := &httputil.ReverseProxy{
		Transport:    transport,
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	server := httptest.NewServer(middleware.New(byPath(t), stream)(proxy))
	defer server.Close()
	for body, code := range map[string]int{
		foo(`,"spec":{"b":1}`):  http.StatusOK,
		foo(`,"spec":{"a":1`):   http.StatusBadRequest,
		foo(`,"spec":{"a":1}}`): http.StatusBadRequest,
	} {
		response, err := http.Post(server.URL+foosPath, "application/json", strings.NewReader(body))
		require.NoError(t, err)
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		response.Body.Close()
		assert.Equal(t, code, response.StatusCode, "%s", text)
		if code == http.StatusOK {
			assert.Equal(t, pruned, string(text))
		}
	}
	upstream.Close() // and wait for its handlers
	assert.EqualValues(t, 1, whole.Load())
}
