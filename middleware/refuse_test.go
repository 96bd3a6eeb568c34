package middleware_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/middleware"
	"github.com/espalier-dev/espalier/request"
)

// A chain is a server whose handlers return errors, which it answers in its own way, as Caddy does.
type chain struct {
	middle func(http.Handler) http.Handler
}

type refusal struct{}

func newChain(t *testing.T, opts middleware.Options) chain {
	opts.Refuse = func(_ http.ResponseWriter, r *http.Request, refused *request.StatusError) {
		*r.Context().Value(refusal{}).(*error) = refused
	}
	return chain{middleware.New(byPath(t), opts)}
}

func (c chain) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var err error
	r = r.WithContext(context.WithValue(r.Context(), refusal{}, &err))
	c.middle(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("X-Handler", "1")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, "created")
	})).ServeHTTP(w, r)
	if refused, ok := errors.AsType[*request.StatusError](err); ok {
		for name, value := range refused.Header {
			w.Header().Set(name, value)
		}
		http.Error(w, "own page: "+refused.Reason, refused.Code)
	}
}

// TestRefuse: the embedding server answers every refusal, and nothing else is written.
func TestRefuse(t *testing.T) {
	unknown := foo(`,"spec":{"b":1}`)
	for name, c := range map[string]struct {
		request *http.Request
		opts    middleware.Options
		code    int
		header  [2]string
	}{
		"strict":      {post(foosPath+"?fieldValidation=Strict", "", unknown), middleware.Options{}, 400, [2]string{}},
		"media type":  {post(foosPath, "text/plain", unknown), middleware.Options{}, 415, [2]string{"Accept", "application/json, application/yaml"}},
		"guard":       {httptest.NewRequest("MERGE", foosPath, nil), middleware.Options{}, 405, [2]string{"Allow", "GET, HEAD, DELETE, OPTIONS, POST, PUT, PATCH"}},
		"no room":     {post(foosPath, "", unknown), middleware.Options{Options: request.Options{MaxHeldBytes: 1}}, 503, [2]string{"Retry-After", "1"}},
		"stream":      {post(foosPath+"?fieldValidation=Strict", "", unknown), middleware.Options{Stream: true}, 400, [2]string{}},
		"passes":      {post(foosPath, "", foo("")), middleware.Options{}, 201, [2]string{"X-Handler", "1"}},
		"stream, too": {post(foosPath, "", foo("")), middleware.Options{Stream: true}, 201, [2]string{"X-Handler", "1"}},
	} {
		w := httptest.NewRecorder()
		newChain(t, c.opts).ServeHTTP(w, c.request)
		require.Equal(t, c.code, w.Code, name)
		if c.code != http.StatusCreated {
			assert.True(t, strings.HasPrefix(w.Body.String(), "own page: "), "%s: %s", name, w.Body)
			assert.Empty(t, w.Header().Get("X-Handler"), name)
		}
		if c.header[0] != "" {
			assert.Equal(t, c.header[1], w.Header().Get(c.header[0]), name)
		}
	}
}

// TestTitles: package request does not import net/http, and has the same names for status codes.
func TestTitles(t *testing.T) {
	for code := 400; code < 600; code++ {
		answer := (&request.StatusError{Code: code}).Answer(true)
		assert.Contains(t, string(answer.Body), `"title":`+strconv.Quote(http.StatusText(code)), code)
	}
}

// TestLimitInFront: a body that somebody has limited before the middleware is refused with that
// limit, and a handler that reads a stream gets the errors of net/http.
func TestLimitInFront(t *testing.T) {
	for _, opts := range []middleware.Options{{}, {Stream: true}} {
		var readErr error
		handler := middleware.New(byPath(t), opts)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, readErr = io.Copy(io.Discard, r.Body)
		}))
		w := httptest.NewRecorder()
		r := post(foosPath, "", foo(""))
		r.Body = http.MaxBytesReader(w, r.Body, 10)
		handler.ServeHTTP(w, r)
		assert.Contains(t, refused(t, w, nil, http.StatusRequestEntityTooLarge).Message, "limit is 10")
		if opts.Stream {
			large, ok := errors.AsType[*http.MaxBytesError](readErr)
			require.True(t, ok, "%v", readErr)
			assert.Equal(t, int64(10), large.Limit)
		}
	}
	opts := middleware.Options{Refuse: func(_ http.ResponseWriter, _ *http.Request, refused *request.StatusError) {
		large, ok := errors.AsType[*http.MaxBytesError](refused.Err)
		require.True(t, ok, "%v", refused.Err)
		assert.Equal(t, int64(10), large.Limit)
		assert.Equal(t, http.StatusRequestEntityTooLarge, refused.Code)
	}}
	r := post(foosPath, "", foo(""))
	r.Body = http.MaxBytesReader(httptest.NewRecorder(), r.Body, 10)
	middleware.New(byPath(t), opts)(new(backend)).ServeHTTP(httptest.NewRecorder(), r)

	// A body that is too large after decompression is refused as well.
	var readErr error
	opts = middleware.Options{Options: request.Options{Gzip: true, MaxBytes: 1000}, Stream: true}
	handler := middleware.New(byPath(t), opts)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, readErr = io.Copy(io.Discard, r.Body)
	}))
	r = post(foosPath, "", compressed(t, foo("")+strings.Repeat(" ", 1000)))
	r.Header.Set("Content-Encoding", "gzip")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	assert.Contains(t, refused(t, w, nil, http.StatusRequestEntityTooLarge).Message, "limit is 1000")
	large, ok := errors.AsType[*http.MaxBytesError](readErr)
	require.True(t, ok, "%v", readErr)
	assert.Equal(t, int64(1000), large.Limit)
}

// TestStreamAfterHandler: the body of a stream yields nothing after the handler has returned.
func TestStreamAfterHandler(t *testing.T) {
	var kept io.Reader
	handler := middleware.New(byPath(t), stream)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { kept = r.Body }))
	handler.ServeHTTP(httptest.NewRecorder(), post(foosPath, "", foo("")))
	_, err := kept.Read(make([]byte, 1))
	assert.Equal(t, http.ErrBodyReadAfterClose, err)
}

// TestWarningsOfOthers: warnings from before the middleware stay, and come before ours.
func TestWarningsOfOthers(t *testing.T) {
	const ours, theirs = `299 - "unknown field \"spec.b\""`, `299 - "theirs"`
	for _, opts := range []middleware.Options{{}, {Stream: true}} {
		handler := middleware.New(byPath(t), opts)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.WriteHeader(http.StatusCreated)
		}))
		w := httptest.NewRecorder()
		w.Header().Set("Warning", theirs)
		handler.ServeHTTP(w, post(foosPath, "", foo(`,"spec":{"b":1}`)))
		assert.Equal(t, []string{theirs, ours}, w.Header()["Warning"])
	}
}

// TestWriteAnswer: the length of the body is in the header, whatever net/http would add.
func TestWriteAnswer(t *testing.T) {
	w := httptest.NewRecorder()
	middleware.WriteAnswer(w, request.Answer{Code: 422, Header: map[string]string{"X-A": "b"}, Body: []byte("too large")})
	assert.Equal(t, 422, w.Code)
	assert.Equal(t, http.Header{"X-A": {"b"}, "Content-Length": {"9"}}, w.Header())
	assert.Equal(t, "too large", w.Body.String())
}
