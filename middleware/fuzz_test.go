package middleware_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/middleware"
	"github.com/espalier-dev/espalier/schema"
)

// FuzzMiddleware holds that a body is passed on exactly if a decoder decodes it and it is of the
// right type, and then as the decoder's result. Any other body is refused with a status that says
// why.
func FuzzMiddleware(f *testing.F) {
	corpus.AddSeeds(f)
	for _, body := range []string{
		foo(`,"spec":{"a":"x","b":1}`), foo(`,"spec":{"a":1,"a":2}`), foo(`,"metadata":{"labels":{"a":5}}`), foo("") + "x",
		`{"kind":"Bar","apiVersion":"example.com/v1"}`, `{"apiVersion":"example.com/v1","spec":{},"k\u0069nd":"Foo"}`,
		"apiVersion: example.com/v1\nkind: Foo\nspec: {a: x, a: y}\n", "a: [", "null", "", "\xff", `{"kind":5}`, `{"kind":"Foo","apiVersion":"a/b/c"}`,
	} {
		for how := range byte(24) {
			f.Add([]byte(body), how)
		}
	}
	program, err := catalog(f).Lookup("example.com/v1", "Foo")
	require.NoError(f, err)
	validations := []decoder.FieldValidation{decoder.Warn, decoder.Strict, decoder.Ignore}
	f.Fuzz(func(t *testing.T, body []byte, how byte) {
		validation := validations[how%3]
		contentType := []string{"application/json", "application/yaml"}[how/3%2]
		var opts []decoder.Option
		if how/6%2 == 1 {
			opts = []decoder.Option{decoder.ServerRequests}
		}
		isStream := how/12%2 == 1
		b := new(backend)
		w := httptest.NewRecorder()
		middleware.New(byPath(t, opts...), middleware.Options{Stream: isStream})(b).
			ServeHTTP(w, post(foosPath+"?fieldValidation="+validation.String(), contentType, string(body)))
		isStream = isStream && contentType == "application/json"

		want, findings, err := decodeAlone(program, body, contentType, append(opts, validation))
		if isStream {
			require.Len(t, b.arrivals, 1)
			checkStreamed(t, w, b.arrivals[0], want, err)
			return
		}
		isOurs := err == nil && isFoo(want)
		assert.Equal(t, isOurs, len(b.arrivals) == 1, "%v", err)
		if !isOurs {
			checkStatus(t, w)
			return
		}
		assert.Equal(t, want, b.arrivals[0].body)
		if warnings := w.Header().Values("Warning"); validation == decoder.Warn && len(findings) > 0 {
			assert.NotEmpty(t, warnings)
		} else {
			assert.Empty(t, warnings)
		}
	})
}

// decodeAlone does what the middleware should do, without it.
func decodeAlone(p *schema.Program, body []byte, contentType string, opts []decoder.Option) (string, ferrors.List, error) {
	d := decoder.New(p, opts...)
	var out []byte
	var err error
	if contentType == "application/yaml" {
		out, err = d.AppendYAML(nil, body)
	} else {
		out, err = d.AppendJSON(nil, body)
	}
	return string(out), slices.Clone(d.Findings()), err
}

func isFoo(js string) bool {
	apiVersion, kind, err := decoder.PeekType([]byte(js))
	return err == nil && apiVersion == "example.com/v1" && kind == "Foo"
}

// checkStreamed checks the result of a stream: it is the same value, unless a name occurs twice
// where it would be in the result. Its type does not matter.
func checkStreamed(t *testing.T, w *httptest.ResponseRecorder, got arrival, want string, err error) {
	var duplicate *ferrors.DuplicateError
	switch {
	case err == nil && got.bodyErr == nil:
		assert.JSONEq(t, want, got.body)
	case err == nil:
		assert.True(t, errors.As(got.bodyErr, &duplicate), "%v", got.bodyErr)
		checkStatus(t, w)
	default:
		assert.Error(t, got.bodyErr)
		assert.False(t, json.Valid([]byte(got.body)) && strings.HasSuffix(got.body, "}"), got.body)
		checkStatus(t, w)
	}
}

func checkStatus(t *testing.T, w *httptest.ResponseRecorder) {
	assert.Contains(t, []int{http.StatusBadRequest, http.StatusUnprocessableEntity}, w.Code)
	var s status
	if assert.NoError(t, json.Unmarshal(w.Body.Bytes(), &s)) {
		assert.Equal(t, w.Code, s.Code)
		assert.NotEmpty(t, s.Message)
	}
}
