package middleware_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/middleware"
	"github.com/espalier-dev/espalier/request"
	"github.com/espalier-dev/espalier/schema"
)

// A request without a resource passes as it is, whatever it is.
func TestNoResource(t *testing.T) {
	r := post("/apis/example.org/v1/bars?fieldValidation=x", "text/plain", "{")
	_, got := send(t, byPath(t), middleware.Options{}, r)
	require.NotNil(t, got)
	assert.Same(t, r, got.Request)
	assert.Equal(t, "{", got.body)

	// It also passes if the finder has read the body.
	peeks := func(_ *request.Request, peek request.Peek) (*request.Resource, error) {
		_, kind, err := peek()
		assert.Equal(t, "Bar", kind)
		return request.Pass, err
	}
	_, got = send(t, peeks, middleware.Options{}, post("/", "application/yaml", "kind: Bar # a comment"))
	require.NotNil(t, got)
	assert.Equal(t, "kind: Bar # a comment", got.body)
	assert.Equal(t, "application/yaml", got.Header.Get("Content-Type"))
}

func TestByKind(t *testing.T) {
	find := request.ByKind(catalog(t))
	for contentType, body := range map[string]string{
		"application/json": foo(`,"spec":{"b":1}`),
		"application/yaml": "spec: {b: 1}\nkind: Foo\napiVersion: example.com/v1\n",
	} {
		w, got := send(t, find, middleware.Options{}, post("/anywhere", contentType, body))
		require.NotNil(t, got)
		assert.Contains(t, got.body, `"spec":{"size":1}`)
		assert.Len(t, w.Header().Values("Warning"), 1)
	}
	for body, message := range map[string]string{
		`{"kind":"Bar","apiVersion":"example.com/v1"}`: `no matches for kind "Bar" in version "example.com/v1"`,
		`{"kind":"Foo","apiVersion":"example.com/v0"}`: `no matches for kind "Foo" in version "example.com/v0": the version is not served, v1 is`,
		`{}`: `no matches for kind "" in version ""`,
		`{`:  "couldn't get version/kind; json parse error: unexpected end of JSON input",
	} {
		w, got := send(t, find, middleware.Options{}, post("/", "", body))
		assert.Equal(t, message, refused(t, w, got, http.StatusBadRequest).Message)
	}
	w, got := send(t, find, middleware.Options{}, post("/", "application/yaml", "a: [\n"))
	refused(t, w, got, http.StatusBadRequest)
	w, got = send(t, find, middleware.Options{}, post("/", "text/plain", ""))
	refused(t, w, got, http.StatusUnsupportedMediaType)
}

// YAML that only the server reads is accepted if the decoder does as the server does.
func TestByKindLikeServer(t *testing.T) {
	const documents = "kind: Foo\napiVersion: example.com/v1\n---\nkind: Bar\n"
	_, got := send(t, request.ByKind(catalog(t), decoder.ServerRequests), middleware.Options{}, post("/", "application/yaml", documents))
	require.NotNil(t, got)
	assert.JSONEq(t, foo(""), got.body)
	w, got := send(t, request.ByKind(catalog(t)), middleware.Options{}, post("/", "application/yaml", documents))
	refused(t, w, got, http.StatusBadRequest)
}

// An error that the client has not caused is not told to it.
func TestFinderFails(t *testing.T) {
	fails := func(*request.Request, request.Peek) (*request.Resource, error) { return nil, errors.New("secret") }
	w, got := send(t, fails, middleware.Options{}, post("/", "", foo("")))
	s := refused(t, w, got, http.StatusInternalServerError)
	assert.Equal(t, "InternalError", s.Reason)
	assert.NotContains(t, s.Message, "secret")

	busy := &request.StatusError{Code: http.StatusTooManyRequests, Reason: "TooManyRequests", Message: "later"}
	fails = func(*request.Request, request.Peek) (*request.Resource, error) { return nil, busy }
	w, got = send(t, fails, middleware.Options{}, post("/", "", foo("")))
	assert.Equal(t, "later", refused(t, w, got, http.StatusTooManyRequests).Message)
}

// A resource need not be one of Kubernetes.
func TestAlways(t *testing.T) {
	s, err := schema.Parse([]byte(`{"type":"object","properties":{"a":{"type":"string","default":"x"}}}`))
	require.NoError(t, err)
	program, err := schema.Compile(s, schema.ResourceRoot(false))
	require.NoError(t, err)
	find := request.Always(&request.Resource{Program: program})
	_, got := send(t, find, middleware.Options{}, post("/", "", `{"b":1}`))
	require.NotNil(t, got)
	assert.Equal(t, `{"a":"x"}`, got.body)
	w, got := send(t, find, middleware.Options{}, post("/?fieldValidation=Strict", "", `{"b":1}`))
	assert.Equal(t, `strict decoding error: unknown field "b"`, refused(t, w, got, http.StatusBadRequest).Message)
	w, got = send(t, find, middleware.Options{}, post("/", "", `{"kind":"X","b":`))
	assert.Equal(t, "couldn't get version/kind; json parse error: unexpected end of JSON input", refused(t, w, got, http.StatusBadRequest).Message)
}

func TestObserver(t *testing.T) {
	var seen []request.Observation
	opts := middleware.Options{Observer: observer(func(_ *http.Request, o request.Observation) { seen = append(seen, o) })}
	body := foo(`,"spec":{"a":"x","a":"y","b":1}`)
	send(t, byPath(t), opts, post(foosPath, "", body))
	send(t, byPath(t), opts, post(foosPath+"?fieldValidation=Strict", "", body))
	send(t, byPath(t), opts, post(foosPath, "text/plain", body))
	send(t, byPath(t), opts, post("/apis/other/v1/foos", "", body))
	send(t, byPath(t), opts, post("/apis//v1/foos", "", body))
	require.Len(t, seen, 4)
	passed := foo(`,"spec":{"a":"y","size":1}`)
	assert.Nil(t, seen[0].Refused)
	assert.Equal(t, []int64{int64(len(body)), int64(len(passed))}, []int64{seen[0].BytesIn, seen[0].BytesOut})
	for i, code := range map[int]int{1: 400, 2: 415, 3: 400} {
		assert.Equal(t, code, seen[i].Refused.Code)
		assert.Zero(t, seen[i].BytesOut)
	}
	for _, o := range seen[:2] {
		assert.Equal(t, "Foo", o.Resource.Kind)
		require.Len(t, o.Findings, 2)
		assert.Equal(t, "spec.b", o.Findings[1].Path.String())
		assert.Positive(t, o.Decoding)
	}
	assert.Nil(t, seen[3].Resource)
	// An observation has no values.
	assert.NotContains(t, seen[1].Refused.Error()+strings.Join([]string{seen[0].Findings[0].Detail()}, ""), `"y"`)
}
