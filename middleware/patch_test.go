package middleware_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/middleware"
	"github.com/espalier-dev/espalier/request"
)

func patch(query, contentType, body string) *http.Request {
	r := post(foosPath+"/n"+query, contentType, body)
	r.Method = http.MethodPatch
	return r
}

const (
	merge     = "application/merge-patch+json"
	apply     = "application/apply-patch+yaml"
	jsonPatch = "application/json-patch+json"
)

// A merge patch is pruned, its nulls stay to remove members, and nothing is defaulted.
func TestMergePatch(t *testing.T) {
	for _, c := range []struct {
		patch, want string
		warnings    []string
	}{
		{`{"spec":{"a":null,"size":null,"b":1}}`, `{"spec":{"a":null,"size":null}}`, []string{`299 - "unknown field \"spec.b\""`}},
		// Members that are removed are not in the result.
		{`{"spec":{"b":null,"c" : null}}`, `{"spec":{}}`, nil},
		{`{"spec":{"b":{"c":null}}}`, `{"spec":{}}`, []string{`299 - "unknown field \"spec.b\""`}},
		{`{"spec":{"labels":{"k":null}}}`, `{"spec":{"labels":{"k":null}}}`, nil},
		{`{"spec":{"list":[{"x":null,"y":null},null]}}`, `{"spec":{"list":[{"x":null},null]}}`, nil},
		{`{"metadata":{"labels":{"k":null},"annotations":null,"finalizers":null,"name":null,"generation":null}}`,
			`{"metadata":{"labels":{"k":null},"annotations":null,"finalizers":null,"name":null,"generation":null}}`, nil},
		{`{"metadata":{"junk":1}}`, `{"metadata":{}}`, []string{`299 - "unknown field \"metadata.junk\""`}},
		{`{"spec":{"a":"x","a":"y"}}`, `{"spec":{"a":"y"}}`, []string{`299 - "duplicate field \"spec.a\""`}},
		{`{"spec":null}`, `{"spec":null}`, nil},
		{`{}`, `{}`, nil},
	} {
		w, got := send(t, byPath(t), middleware.Options{}, patch("", merge+";charset=utf-8", c.patch))
		require.NotNil(t, got, "%s", w.Body)
		assert.Equal(t, c.want, got.body)
		assert.Equal(t, c.warnings, w.Header().Values("Warning"))
		assert.Equal(t, merge, got.Header.Get("Content-Type"))
	}
}

func TestMergePatchUndecodable(t *testing.T) {
	for _, c := range []struct {
		query, patch, message string
		code                  int
	}{
		{"", `{"spec":`, "invalid JSON patch", 400},
		{"", `null`, "Invalid JSON Patch", 400},
		{"", `[1]`, "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}", 400},
		{"?fieldValidation=Ignore", `[1]`, ` "" is invalid: patch: Invalid value: "[1]": 1:1: the document must be an object, not an array`, 422},
		{"?fieldValidation=Ignore", ` 7`, "Invalid JSON Patch", 400},
		{"", `{"spec":{"size":1e999}}`, "error decoding patch: json: cannot unmarshal number 1e999 into Go value of type float64", 400},
		{"", `{"metadata":{"labels":{"a":{}}}}`, ` "" is invalid: patch: Invalid value: "{\"metadata\":{\"labels\":{\"a\":{}}}}": json: cannot unmarshal object into Go struct field ObjectMeta.labels of type string`, 422},
	} {
		w, got := send(t, byPath(t), middleware.Options{}, patch(c.query, merge, c.patch))
		assert.Equal(t, c.message, refused(t, w, got, c.code).Message, c.patch)
	}
}

func TestMergePatchStrict(t *testing.T) {
	w, got := send(t, byPath(t), middleware.Options{}, patch("?fieldValidation=Strict", merge, `{"spec":{"b":1,"c":null}}`))
	s := refused(t, w, got, http.StatusUnprocessableEntity)
	assert.Equal(t, ` "" is invalid: patch: Invalid value: "{\"spec\":{\"b\":1,\"c\":null}}": strict decoding error: unknown field "spec.b"`, s.Message)
	assert.Equal(t, "Invalid", s.Reason)
	assert.Equal(t, "patch", s.Details.Causes[0].Field)

	_, got = send(t, byPath(t), middleware.Options{}, patch("?fieldValidation=Strict", merge, `{"spec":{"c":null}}`))
	assert.NotNil(t, got)
}

func TestApplyPatch(t *testing.T) {
	text := "apiVersion: example.com/v1\nkind: Foo\nspec: {a: null}\n"
	for _, query := range []string{"", "?fieldValidation=Ignore", "?fieldValidation=Strict"} {
		w, got := send(t, byPath(t), middleware.Options{}, patch(query, apply, text))
		require.NotNil(t, got, "%s", w.Body)
		assert.Equal(t, foo(`,"spec":{"a":null}`), got.body)
		assert.Equal(t, apply, got.Header.Get("Content-Type"))

		// An unknown field is refused in any case.
		w, got = send(t, byPath(t), middleware.Options{}, patch(query, apply, text+"junk: 1\n"))
		s := refused(t, w, got, http.StatusBadRequest)
		assert.Equal(t, `Foo in version "v1" cannot be handled as a Foo: strict decoding error: unknown field "junk"`, s.Message)
	}
	twice := text + "spec: {}\n"
	w, got := send(t, byPath(t), middleware.Options{}, patch("", apply, twice))
	require.NotNil(t, got)
	assert.Equal(t, []string{`299 - "duplicate field \"spec\""`}, w.Header().Values("Warning"))
	w, got = send(t, byPath(t), middleware.Options{}, patch("?fieldValidation=Ignore", apply, twice))
	require.NotNil(t, got)
	assert.Empty(t, w.Header().Values("Warning"))

	w, got = send(t, byPath(t), middleware.Options{}, patch("", apply, "kind: Foo\napiVersion: v1\n"))
	refused(t, w, got, http.StatusBadRequest)
}

// The effect of a JSON patch is not known without the object.
func TestOtherPatches(t *testing.T) {
	for _, contentType := range []string{jsonPatch, "application/strategic-merge-patch+json", "", "application/json", "Application/merge-patch+json", merge + " ;"} {
		w, got := send(t, byPath(t), middleware.Options{}, patch("", contentType, `[]`))
		s := refused(t, w, got, http.StatusUnsupportedMediaType)
		assert.Contains(t, s.Message, "accepted media types include: application/merge-patch+json, application/apply-patch+yaml")
		assert.Equal(t, "application/merge-patch+json, application/apply-patch+yaml", w.Header().Get("Accept-Patch"))

		r := patch("?fieldValidation=x", contentType, `[`)
		_, got = send(t, byPath(t), middleware.Options{Options: request.Options{Patches: request.PassPatches}}, r)
		require.NotNil(t, got)
		assert.Same(t, r, got.Request)
	}
	// ByKind finds no program for patches.
	w, got := send(t, request.ByKind(catalog(t)), middleware.Options{}, patch("", merge, foo("")))
	refused(t, w, got, http.StatusUnsupportedMediaType)
}
