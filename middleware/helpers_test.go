package middleware_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/middleware"
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

// An arrival is a request as the handler after the middleware sees it.
type arrival struct {
	*http.Request
	body    string
	bodyErr error
}

// A backend records the requests that arrive at it.
type backend struct{ arrivals []arrival }

func (b *backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	b.arrivals = append(b.arrivals, arrival{r, string(body), err})
	w.WriteHeader(http.StatusCreated)
}

// send sends a request through a middleware. It returns the answer, and the request that has
// arrived unless none has.
func send(tb testing.TB, find request.Finder, opts middleware.Options, r *http.Request) (*httptest.ResponseRecorder, *arrival) {
	b := new(backend)
	w := httptest.NewRecorder()
	middleware.New(find, opts)(b).ServeHTTP(w, r)
	require.LessOrEqual(tb, len(b.arrivals), 1)
	if len(b.arrivals) == 0 {
		return w, nil
	}
	require.Equal(tb, http.StatusCreated, w.Code)
	require.NoError(tb, b.arrivals[0].bodyErr)
	return w, &b.arrivals[0]
}

// post returns a POST of an object, unless the Content-Type says otherwise.
func post(target, contentType, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, target, strings.NewReader(body))
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	return r
}

// foo returns a Foo with more members.
func foo(members string) string {
	return `{"apiVersion":"example.com/v1","kind":"Foo"` + members + `}`
}

// A status is an answer as metav1.Status.
type status struct {
	Kind, APIVersion, Status, Message, Reason string
	Code                                      int
	Details                                   *struct {
		Name, Group, Kind string
		Causes            []struct{ Reason, Message, Field string }
	}
}

// refused asserts that an answer is a Status with the code, and returns it.
func refused(tb testing.TB, w *httptest.ResponseRecorder, arrived *arrival, code int) status {
	require.Nil(tb, arrived, "it was passed on")
	require.Equal(tb, code, w.Code, "%s", w.Body)
	assert.Equal(tb, "application/json", w.Header().Get("Content-Type"))
	assert.Empty(tb, w.Header().Values("Warning"))
	var s status
	require.NoError(tb, json.Unmarshal(w.Body.Bytes(), &s))
	assert.Equal(tb, []any{"Status", "v1", "Failure", code}, []any{s.Kind, s.APIVersion, s.Status, s.Code})
	return s
}
