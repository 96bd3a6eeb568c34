package request_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/request"
	"github.com/espalier-dev/espalier/schema"
)

// fooCRD defines Foo.
var fooCRD = corpus.Testdata("request/foos.yaml")

const foosPath = "/apis/example.com/v1/namespaces/default/foos"

func catalog(tb testing.TB) *schema.Catalog {
	crds, err := schema.ParseCRD([]byte(fooCRD))
	require.NoError(tb, err)
	c := schema.NewCatalog()
	require.NoError(tb, c.Add(crds...))
	return c
}

func byPath(tb testing.TB, opts ...decoder.Option) request.Finder {
	return request.ByPath(catalog(tb), opts...)
}

// foo returns a Foo with more members.
func foo(members string) string {
	return `{"apiVersion":"example.com/v1","kind":"Foo"` + members + `}`
}

// A header has the headers of a protocol other than HTTP.
type header map[string][]string

func (h header) Values(name string) []string { return h[name] }

// send returns a request with a method, a target, a body, and headers: names and values in turn.
func send(tb testing.TB, method, target, body string, headers ...string) request.Request {
	u, err := url.ParseRequestURI(target)
	require.NoError(tb, err, target)
	h := header{}
	for i := 0; i+1 < len(headers); i += 2 {
		h[headers[i]] = append(h[headers[i]], headers[i+1])
	}
	return request.Request{Method: method, URL: u, Header: h, ContentLength: -1, Body: strings.NewReader(body)}
}

// post returns a POST of a body, with a media type unless it is empty.
func post(tb testing.TB, target, contentType, body string) request.Request {
	if contentType == "" {
		return send(tb, "POST", target, body)
	}
	return send(tb, "POST", target, body, "Content-Type", contentType)
}

// A judgement is a result after its exchange was closed.
type judgement struct {
	request.Result
	body    string
	refused *request.StatusError
	request.Observation
}

// judge judges one request with a gate of its own, and asserts that all memory is given back.
func judge(tb testing.TB, find request.Finder, opts request.Options, r request.Request) (j judgement) {
	gate := request.NewGate(opts)
	x := gate.Begin(r)
	j.Result, j.refused = x.Judge(find)
	j.body = string(j.Body)
	j.Observation = x.Observation(j.refused)
	x.Close()
	held, _ := gate.Held()
	assert.Zero(tb, held, "it was not given back")
	return j
}

// refused asserts that a request is refused with a code, and returns the refusal.
func refused(tb testing.TB, j judgement, code int) *request.StatusError {
	require.NotNil(tb, j.refused, "it passes: %s", j.body)
	require.Equal(tb, code, j.refused.Code, j.refused.Message)
	assert.Zero(tb, j.Result)
	return j.refused
}
