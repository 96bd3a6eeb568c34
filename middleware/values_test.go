package middleware_test

import (
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
	"github.com/espalier-dev/espalier/schema/validation"
)

// TestValues holds that the handler never sees an object with invalid values, whether bodies are
// streamed or not, and that the answer has the warnings.
func TestValues(t *testing.T) {
	catalog := schema.NewCatalog(validation.Values())
	crds, err := schema.ParseCRD([]byte(corpus.Testdata("request/pots.yaml")))
	require.NoError(t, err)
	require.NoError(t, catalog.Add(crds...))
	for _, stream := range []bool{false, true} {
		called := false
		find := request.ByPath(catalog, decoder.ValidateCreate)
		handler := middleware.New(find, middleware.Options{Stream: stream})(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			called = true
			w.WriteHeader(http.StatusCreated)
		}))
		for _, c := range []struct {
			body     string
			code     int
			warnings []string
		}{
			{`"metadata":{"name":"a"},"spec":{"litres":1}`, 201, nil},
			{`"metadata":{"name":"a","finalizers":["a.b/c","b"]},"spec":{"litres":1}`, 201,
				[]string{`299 - "metadata.finalizers: \"b\": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers"`}},
			{`"metadata":{"name":"a"},"spec":{"litres":10,"a":1,"b":1}`, 422, []string{`299 - "unknown field \"spec.a\"", 299 - "unknown field \"spec.b\""`}},
		} {
			called = false
			w := httptest.NewRecorder()
			body := strings.NewReader(`{"apiVersion":"example.com/v1","kind":"Pot",` + c.body + `}`)
			handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/apis/example.com/v1/namespaces/default/pots", body))
			assert.Equal(t, c.code, w.Code, c.body)
			assert.Equal(t, c.code == http.StatusCreated, called, c.body)
			assert.Equal(t, c.warnings, w.Header().Values("Warning"), c.body)
		}
	}
}
