package middleware_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/middleware"
	"github.com/espalier-dev/espalier/request"
	"github.com/espalier-dev/espalier/schema"
)

// If there is no room for what a body needs, the answer is 503: here a decompressor, and the
// result.
func TestNoRoom(t *testing.T) {
	body := foo(`,"spec":{"a":"` + strings.Repeat("x", 20<<10) + `"}`)
	opts := middleware.Options{Options: request.Options{Gzip: true, MaxHeldBytes: 40 << 10}}
	w, got := send(t, byPath(t), opts, post(foosPath, "", body))
	refused(t, w, got, http.StatusServiceUnavailable)

	var small bytes.Buffer
	z := gzip.NewWriter(&small)
	_, err := z.Write([]byte(foo("")))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	r := post(foosPath, "", small.String())
	r.Header.Set("Content-Encoding", "gzip")
	w, got = send(t, byPath(t), opts, r)
	refused(t, w, got, http.StatusServiceUnavailable)
}

// A finder may pass requests into whose body it cannot peek. A body that cannot be read is still
// refused.
func TestFinderIgnoresPeek(t *testing.T) {
	find := func(_ *request.Request, peek request.Peek) (*request.Resource, error) {
		_, _, _ = peek()
		return request.Pass, nil
	}
	w, got := send(t, find, middleware.Options{Options: request.Options{MaxBytes: 10}}, post("/", "", foo("")))
	refused(t, w, got, http.StatusRequestEntityTooLarge)
	_, got = send(t, find, middleware.Options{}, post("/", "", "{"))
	require.NotNil(t, got)
	assert.Equal(t, "{", got.body)
}

// fixed finds the same resource for all requests.
func fixed(t *testing.T, text string, opts ...schema.Option) request.Finder {
	s, err := schema.Parse([]byte(text))
	require.NoError(t, err)
	p, err := schema.Compile(s, opts...)
	require.NoError(t, err)
	limits := decoder.Limits{Findings: 1}
	return request.Always(&request.Resource{APIVersion: "example.com/v1", Kind: "Foo", Program: p, Decoder: []decoder.Option{limits}})
}

// An object of another type than the path says is refused for its type, not for its values.
func TestOtherTypeBeforeTypesOfValues(t *testing.T) {
	find := fixed(t, "{type: object, properties: {spec: {type: object}}}", schema.CheckTypes(true))
	w, got := send(t, find, middleware.Options{}, post("/", "", `{"apiVersion":"example.com/v1","kind":"Bar","spec":5}`))
	s := refused(t, w, got, http.StatusUnprocessableEntity)
	assert.Contains(t, s.Message, "must be Foo")
	w, got = send(t, find, middleware.Options{}, post("/", "", foo(`,"spec":5`)))
	s = refused(t, w, got, http.StatusBadRequest)
	assert.Contains(t, s.Message, "spec")
}

// Findings beyond the limit are counted in the answer.
func TestOmittedFindings(t *testing.T) {
	w, got := send(t, fixed(t, "{type: object}"), middleware.Options{}, post("/?fieldValidation=Strict", "", foo(`,"a":1,"b":2,"c":3`)))
	s := refused(t, w, got, http.StatusBadRequest)
	assert.True(t, strings.HasSuffix(s.Message, `unknown field "a" and 2 more`), s.Message)
}

// What is missing is refused when the middleware is made, or else by an answer when it is first
// needed.
func TestRefusedAtConstruction(t *testing.T) {
	p, err := schema.Compile(nil)
	require.NoError(t, err)
	find := byPath(t)
	for text, do := range map[string]func(){
		"middleware: New: the Finder is nil":                       func() { middleware.New(nil, middleware.Options{}) },
		"request: NewGate: there is no Action(7)":                  func() { middleware.New(find, middleware.Options{Options: request.Options{Action: 7}}) },
		"request: NewGate: there is no Patches(7)":                 func() { middleware.New(find, middleware.Options{Options: request.Options{Patches: 7}}) },
		"middleware: the handler is nil":                           func() { middleware.New(find, middleware.Options{})(nil) },
		"request: Always: the Resource is nil, or has no program":  func() { request.Always(nil) },
		"request: Always: the Resource is nil, or has no program ": func() { request.Always(&request.Resource{}) },
		"decoder: option 2 of 3 is nil": func() {
			request.Always(&request.Resource{Program: p, Decoder: []decoder.Option{nil}})
		},
		"request: Paths.Unknown is none of the constants": func() {
			request.Paths{Catalog: catalog(t), Unknown: request.PassUnknown + 1}.Finder()
		},
		"request: the Catalog is nil":              func() { request.ByPath(nil) },
		"request: the Catalog is nil ":             func() { request.ByKind(nil) },
		"decoder: there is no FieldValidation(9)":  func() { request.ByPath(catalog(t), decoder.FieldValidation(9)) },
		"decoder: there is no FieldValidation(9) ": func() { request.ByKind(catalog(t), decoder.FieldValidation(9)) },
	} {
		assert.PanicsWithValue(t, strings.TrimSuffix(text, " "), do)
	}
	without := func(*request.Request, request.Peek) (*request.Resource, error) {
		return &request.Resource{Kind: "Foo"}, nil
	}
	w, got := send(t, without, middleware.Options{}, post(foosPath, "", foo("")))
	refused(t, w, got, http.StatusInternalServerError)
	w, got = send(t, without, middleware.Options{Stream: true}, post(foosPath, "", foo("")))
	refused(t, w, got, http.StatusInternalServerError)
}

// A limit that a resource sets does not replace those that the middleware sets itself.
func TestLimitsOfResourcesMerge(t *testing.T) {
	for _, opts := range [][]decoder.Option{
		{decoder.Limits{Depth: 500}, decoder.ServerRequests},
		{decoder.ServerRequests, decoder.Limits{Depth: 500}},
	} {
		var kept []int
		seen := observer(func(_ *http.Request, o request.Observation) { kept = append(kept, len(o.Findings)) })
		many := ""
		for i := range 300 {
			many += fmt.Sprintf(`,"x%d":1`, i)
		}
		_, got := send(t, byPath(t, opts...), middleware.Options{Observer: seen}, post(foosPath, "", foo(many)))
		require.NotNil(t, got)
		assert.Equal(t, []int{256}, kept, "findings of 300")

		b := new(backend)
		w := httptest.NewRecorder()
		long := foo(`,"spec":{"a":"` + strings.Repeat("a", 2<<20) + `"}`)
		middleware.New(byPath(t, opts...), middleware.Options{Stream: true})(b).ServeHTTP(w, post(foosPath, "", long))
		require.Len(t, b.arrivals, 1)
		var e *ferrors.LimitError
		require.ErrorAs(t, b.arrivals[0].bodyErr, &e, "what a stream holds")
		assert.Equal(t, int64(1<<20), e.Max)
	}
}

// The type of an object is compared after its escapes were decoded.
func TestTypeWithEscapes(t *testing.T) {
	body := `{"apiVersion":"example.com\/v1","kind":"\u0046oo"}`
	_, got := send(t, byPath(t), middleware.Options{}, post(foosPath, "", body))
	require.NotNil(t, got)
	assert.Equal(t, body, got.body)
	w, got := send(t, byPath(t), middleware.Options{}, post(foosPath, "", strings.Replace(body, "oo", "o", 1)))
	assert.Contains(t, refused(t, w, got, http.StatusUnprocessableEntity).Message, "must be Foo")
}

// What only encoding/json accepts is refused when the finder peeks, for our reason.
func TestPeekRefusesSurrogates(t *testing.T) {
	w, got := send(t, request.ByKind(catalog(t)), middleware.Options{}, post("/", "", foo(`,"x":"\ud800"`)))
	assert.Contains(t, refused(t, w, got, http.StatusBadRequest).Message, "surrogate")
}

// Requests that no server produces.
func TestRequestsByHand(t *testing.T) {
	for _, opts := range []middleware.Options{{}, stream} {
		r := post(foosPath, "", "")
		r.Body = nil
		b, w := new(backend), httptest.NewRecorder()
		middleware.New(byPath(t), opts)(b).ServeHTTP(w, r)
		refused(t, w, nil, http.StatusBadRequest)
		assert.Len(t, b.arrivals, map[bool]int{true: 1}[opts.Stream])
	}

	r := post("/", "", foo(""))
	r.URL = &url.URL{Path: strings.TrimPrefix(foosPath, "/")}
	w, got := send(t, byPath(t), middleware.Options{}, r)
	assert.Contains(t, refused(t, w, got, http.StatusBadRequest).Message, "clean form")

	r = post(foosPath, "", foo(`,"spec":{}`))
	r.ContentLength, r.TransferEncoding = -1, []string{"chunked"}
	_, got = send(t, byPath(t), middleware.Options{}, r)
	require.NotNil(t, got)
	assert.EqualValues(t, len(pruned), got.ContentLength)
	assert.Empty(t, got.TransferEncoding)
}

// A handler before a stream has all of a http.ResponseWriter.
func TestStreamWriter(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		code int
	}{
		"right": {foo(`,"spec":{}`), http.StatusAccepted},
		"wrong": {foo(`,"spec":{"b":1}`), http.StatusBadRequest},
	} {
		server := httptest.NewServer(middleware.New(byPath(t), stream)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			control := http.NewResponseController(w)
			assert.NoError(t, control.SetWriteDeadline(time.Now().Add(time.Minute)), "the writer is not unwrapped")
			var text bytes.Buffer
			_, _ = text.ReadFrom(r.Body)
			w.Header().Set("Link", "</style.css>")
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusAccepted)
			w.WriteHeader(http.StatusTeapot) // too late
			w.(http.Flusher).Flush()
			assert.NoError(t, control.Flush())
		})))
		var hints []int
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got1xxResponse: func(code int, _ textproto.MIMEHeader) error {
			hints = append(hints, code)
			return nil
		}})
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+foosPath+"?fieldValidation=Strict", strings.NewReader(c.body))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/json")
		response, err := server.Client().Do(r)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, c.code, response.StatusCode, name)
		assert.Equal(t, []int{http.StatusEarlyHints}, hints, name)
		server.Close()
	}
}
