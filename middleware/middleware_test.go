package middleware_test

import (
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/middleware"
	"github.com/espalier-dev/espalier/request"
)

func TestRewrite(t *testing.T) {
	for _, method := range []string{http.MethodPost, http.MethodPut} {
		r := post(foosPath, "", foo(`,"spec":{"a":"x","b":1}`))
		r.Method = method
		w, got := send(t, byPath(t), middleware.Options{}, r)
		require.NotNil(t, got)
		want := foo(`,"spec":{"a":"x","size":1}`)
		assert.Equal(t, want, got.body)
		assert.EqualValues(t, len(want), got.ContentLength)
		assert.Equal(t, []string{`299 - "unknown field \"spec.b\""`}, w.Header().Values("Warning"))
	}
}

func TestYAMLIsPassedOnAsJSON(t *testing.T) {
	for _, contentType := range []string{"application/yaml", "Application/YAML; charset=utf-8"} {
		_, got := send(t, byPath(t), middleware.Options{}, post(foosPath, contentType, "apiVersion: example.com/v1\nkind: Foo\nspec: {b: 1}\n"))
		require.NotNil(t, got)
		assert.Equal(t, foo(`,"spec":{"size":1}`), got.body)
		assert.Equal(t, []string{"application/json"}, got.Header.Values("Content-Type"))
	}
}

// Report leaves the body as it is.
func TestReport(t *testing.T) {
	body := "apiVersion: example.com/v1\nkind: Foo\nspec: {b: 1} # a comment\n"
	w, got := send(t, byPath(t), middleware.Options{Options: request.Options{Action: request.Report}}, post(foosPath, "application/yaml", body))
	require.NotNil(t, got)
	assert.Equal(t, body, got.body)
	assert.Equal(t, "application/yaml", got.Header.Get("Content-Type"))
	assert.Equal(t, []string{`299 - "unknown field \"spec.b\""`}, w.Header().Values("Warning"))

	w, got = send(t, byPath(t), middleware.Options{Options: request.Options{Action: request.Report}}, post(foosPath+"?fieldValidation=Strict", "application/yaml", body))
	refused(t, w, got, http.StatusBadRequest)
}

// TestOldLineBreaks: a body that readers of YAML 1.1 and 1.2 read differently is refused under both
// actions. Under Report the body itself is passed on.
func TestOldLineBreaks(t *testing.T) {
	const body = "apiVersion: example.com/v1\nkind: Foo\nspec: # \u2028 {a: \"\nEVIL: 1\n#\"}\n"
	for _, action := range []request.Action{request.Rewrite, request.Report} {
		w, got := send(t, byPath(t), middleware.Options{Options: request.Options{Action: action}}, post(foosPath, "application/yaml", body))
		refused(t, w, got, http.StatusBadRequest)
		assert.Contains(t, w.Body.String(), "3:9")
		assert.Contains(t, w.Body.String(), "U+2028 outside quotes")
	}
}

// TestReportPassesNoServerYAML holds that Report refuses the same bodies whatever the options of
// the decoder are. With decoder.ServerRequests a decoder accepts YAML that others read differently.
func TestReportPassesNoServerYAML(t *testing.T) {
	const object = "apiVersion: example.com/v1\nkind: Foo\n"
	utf16 := []byte("\xff\xfe")
	for _, c := range []byte(object) {
		utf16 = append(utf16, c, 0)
	}
	for name, body := range map[string]string{
		"line break of YAML 1.1": object + "spec: # \u2028 {a: \"\nEVIL: 1\n#\"}\n",
		"second document":        object + "---\nEVIL: 1\n",
		"UTF-16":                 string(utf16),
		"tag":                    object + "spec: !php/object {a: b}\n",
	} {
		find := byPath(t, decoder.ServerRequests)
		w, got := send(t, find, middleware.Options{Options: request.Options{Action: request.Report}}, post(foosPath, "application/yaml", body))
		refused(t, w, got, http.StatusBadRequest)
		_, got = send(t, find, middleware.Options{}, post(foosPath, "application/yaml", body))
		require.NotNil(t, got, name)
		assert.NotContains(t, got.body, `"EVIL"`)
	}
	_, got := send(t, byPath(t, decoder.ServerRequests), middleware.Options{Options: request.Options{Action: request.Report}}, post(foosPath, "application/yaml", object))
	assert.Equal(t, object, got.body)
}

// TestNoLimits holds that the largest number means no limit, whatever is added to it.
func TestNoLimits(t *testing.T) {
	for _, stream := range []bool{false, true} {
		opts := middleware.Options{Options: request.Options{MaxBytes: math.MaxInt64, MaxHeldBytes: math.MaxInt64}, Stream: stream}
		_, got := send(t, byPath(t), opts, post(foosPath, "", foo(`,"spec":{"b":1}`)))
		require.NotNil(t, got)
		assert.Equal(t, foo(`,"spec":{"size":1}`), got.body)
	}
}

func TestFieldValidation(t *testing.T) {
	body := foo(`,"spec":{"a":"x","a":"y","b":1}`)
	warned := []string{`299 - "duplicate field \"spec.a\""`, `299 - "unknown field \"spec.b\""`}
	for query, warnings := range map[string][]string{
		"": warned, "?fieldValidation=": warned, "?fieldValidation=Warn": warned,
		"?fieldValidation=Warn&fieldValidation=Strict": warned, "?fieldValidation=Ignore": nil,
	} {
		w, got := send(t, byPath(t), middleware.Options{}, post(foosPath+query, "", body))
		require.NotNil(t, got, query)
		assert.Equal(t, foo(`,"spec":{"a":"y","size":1}`), got.body)
		assert.Equal(t, warnings, w.Header().Values("Warning"), query)
	}
	w, got := send(t, byPath(t), middleware.Options{}, post(foosPath+"?fieldValidation=Strict", "", body))
	s := refused(t, w, got, http.StatusBadRequest)
	assert.Equal(t, `Foo in version "v1" cannot be handled as a Foo: strict decoding error: duplicate field "spec.a", unknown field "spec.b"`, s.Message)
	assert.Equal(t, "BadRequest", s.Reason)
	assert.Nil(t, s.Details)
}

func TestOtherFieldValidation(t *testing.T) {
	for method, kind := range map[string]string{
		http.MethodPost: "CreateOptions", http.MethodPut: "UpdateOptions", http.MethodPatch: "PatchOptions",
	} {
		r := post(foosPath+"?fieldValidation=strict", "application/json", foo(""))
		if r.Method = method; method == http.MethodPatch {
			r.Header.Set("Content-Type", "application/merge-patch+json")
		}
		w, got := send(t, byPath(t), middleware.Options{}, r)
		s := refused(t, w, got, http.StatusUnprocessableEntity)
		assert.Equal(t, kind+`.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "strict": supported values: "", "Ignore", "Strict", "Warn"`, s.Message)
		assert.Equal(t, "Invalid", s.Reason)
		require.Len(t, s.Details.Causes, 1)
		assert.Equal(t, "FieldValueNotSupported", s.Details.Causes[0].Reason)
		assert.Equal(t, "fieldValidation", s.Details.Causes[0].Field)
	}
}

// The texts are those of a kube-apiserver v0.37, if it refuses the body as well.
func TestUndecodable(t *testing.T) {
	unrecognized := "the object provided is unrecognized (must be of type Foo): "
	for _, c := range []struct{ name, contentType, body, message string }{
		{"empty", "", "", unrecognized + "couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)"},
		{"cut", "", `{"kind":`, unrecognized + `couldn't get version/kind; json parse error: unexpected end of JSON input ({"kind":)`},
		{"array", "", `[]`, unrecognized + "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" } (5b5d)"},
		{"long", "", `{"apiVersion":"example.com/v1",]`, unrecognized + `couldn't get version/kind; json parse error: invalid character ']' looking for beginning of object key string ({"apiVersion":"example.com/v1" ...)`},
		{"trailing", "", foo("") + "x", unrecognized + `couldn't get version/kind; json parse error: invalid character 'x' after top-level value ({"apiVersion":"example.com/v1" ...)`},
		{"no kind", "", `{"apiVersion":"example.com/v1"}`, unrecognized + `Object 'Kind' is missing in '{"apiVersion":"example.com/v1"}' ({"apiVersion":"example.com/v1" ...)`},
		{"kind is a number", "", `{"kind":5}`, unrecognized + `couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string ({"kind":5})`},
		{"number", "", foo(`,"spec":{"size":-1e400}`), `Foo in version "v1" cannot be handled as a Foo: json: cannot unmarshal number -1e400 into Go value of type float64`},
		{"apiVersion", "", `{"kind":"Foo","apiVersion":"a/b/c"}`, unrecognized + `unexpected GroupVersion string: a/b/c ({"kind":"Foo","apiVersion":"a/ ...)`},
		{"null", "", `null`, unrecognized + `Object 'Kind' is missing in 'null' (6e756c6c)`},
		{"YAML", "application/yaml", "a: [", unrecognized + "1:5: did not find the end of the collection"},
		{"UTF-8", "", foo(`,"x":"` + "\xff" + `"`), `Foo in version "v1" cannot be handled as a Foo: 1:`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, got := send(t, byPath(t), middleware.Options{}, post(foosPath, c.contentType, c.body))
			s := refused(t, w, got, http.StatusBadRequest)
			assert.True(t, strings.HasPrefix(s.Message, c.message), "%s\n%s", s.Message, c.message)
			assert.Equal(t, "BadRequest", s.Reason)
		})
	}
}

// Under Ignore the server misses the kind later.
func TestKindlessUnderIgnore(t *testing.T) {
	for body, text := range map[string]string{"null\n": "null", ` {"apiVersion":"example.com/v1"} `: `{"apiVersion":"example.com/v1"}`, "{}": "{}"} {
		w, got := send(t, byPath(t), middleware.Options{}, post(foosPath+"?fieldValidation=Ignore", "", body))
		s := refused(t, w, got, http.StatusBadRequest)
		assert.Equal(t, `Foo in version "v1" cannot be handled as a Foo: Object 'Kind' is missing in '`+text+`'`, s.Message)
	}
}

func TestMetadataTexts(t *testing.T) {
	for metadata, reason := range map[string]string{
		`{"labels":5,"finalizers":"x"}`: "json: cannot unmarshal string into Go struct field ObjectMeta.finalizers of type []string",
		`{"labels":{"a":1}}`:            "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string",
		`"x"`:                           "json: cannot unmarshal string into Go value of type v1.ObjectMeta",
	} {
		for _, find := range []request.Finder{byPath(t), byPath(t, decoder.ServerRequests)} {
			w, got := send(t, find, middleware.Options{}, post(foosPath, "", foo(`,"metadata":`+metadata)))
			s := refused(t, w, got, http.StatusBadRequest)
			assert.Equal(t, `Foo in version "v1" cannot be handled as a Foo: `+reason, s.Message)
		}
	}
	// In the metadata of embedded resources the path matters more than the server's text.
	w, got := send(t, byPath(t, decoder.ServerRequests), middleware.Options{}, post(foosPath, "", foo(`,"spec":{"template":{"apiVersion":"v1","kind":"Pod","metadata":{"deletionTimestamp":"x"}}}`)))
	assert.Contains(t, refused(t, w, got, http.StatusBadRequest).Message, `in "spec.template.metadata"`)

	// Only Kubernetes reads times.
	w, got = send(t, byPath(t, decoder.ServerRequests), middleware.Options{}, post(foosPath, "", foo(`,"metadata":{"deletionTimestamp":"x"}`)))
	s := refused(t, w, got, http.StatusBadRequest)
	assert.Equal(t, `Foo in version "v1" cannot be handled as a Foo: parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"`, s.Message)
}

// The text of a body that an answer repeats is bounded.
func TestEchoesAreBounded(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	for _, body := range []string{
		`{"a":"` + long + `"}`, `{"kind":"` + long + `"}`, `{"kind":"Foo","apiVersion":"` + long + `"}`, `{"kind":"Foo","apiVersion":"a/` + long + `/c"}`,
		foo(`,"metadata":{"name":"`+long+`"}`) + long, `{"apiVersion":"example.com/v1","kind":"Bar","metadata":{"name":"` + long + `"}}`,
		`{"kind":` + strings.Repeat("1", 100_000) + `}`, `{"kind":"` + long + `","metadata":{"labels":1}}`,
	} {
		w, got := send(t, byPath(t), middleware.Options{}, post(foosPath, "", body))
		assert.Nil(t, got)
		assert.Less(t, w.Body.Len(), 140_000, body[:20])
	}
}

func TestOtherType(t *testing.T) {
	w, got := send(t, byPath(t), middleware.Options{}, post(foosPath, "", `{"kind":"Foo","apiVersion":"example.com/v2"}`))
	s := refused(t, w, got, http.StatusBadRequest)
	assert.Equal(t, "the API version in the data (example.com/v2) does not match the expected API version (example.com/v1)", s.Message)

	w, got = send(t, byPath(t), middleware.Options{}, post(foosPath, "", `{"kind":"Foo"}`))
	s = refused(t, w, got, http.StatusBadRequest)
	assert.Equal(t, "the API version in the data () does not match the expected API version (example.com/v1)", s.Message)

	// The type may come last, and have escapes.
	w, got = send(t, byPath(t), middleware.Options{}, post(foosPath, "", `{"metadata":{"name":"n"},"k\u0069nd":"Bar","apiVersion":"example.com\/v1"}`))
	s = refused(t, w, got, http.StatusUnprocessableEntity)
	assert.Equal(t, `Bar.example.com "n" is invalid: kind: Invalid value: "Bar": must be Foo`, s.Message)
	assert.Equal(t, "n", s.Details.Name)

	_, got = send(t, byPath(t), middleware.Options{}, post(foosPath, "", ` { "metadata" : {} , "k\u0069nd" : "Foo" , "apiVersion" : "example.com\/v1" } `))
	assert.NotNil(t, got)
}

func TestTooLarge(t *testing.T) {
	body := foo("")
	for _, length := range []int64{int64(len(body)), -1} {
		for _, short := range []int64{0, 1} {
			r := post(foosPath, "", body)
			r.ContentLength = length
			w, got := send(t, byPath(t), middleware.Options{Options: request.Options{MaxBytes: int64(len(body)) - short}}, r)
			if short == 0 {
				assert.NotNil(t, got)
				continue
			}
			s := refused(t, w, got, http.StatusRequestEntityTooLarge)
			assert.Equal(t, "Request entity too large: limit is 43", s.Message)
			assert.Equal(t, "RequestEntityTooLarge", s.Reason)
		}
	}
}

// The default limit is that of the server, to the byte.
func TestDefaultLimit(t *testing.T) {
	body := foo("")
	body += strings.Repeat(" ", 3<<20-len(body))
	_, got := send(t, byPath(t), middleware.Options{}, post(foosPath, "", body))
	assert.NotNil(t, got)
	w, got := send(t, byPath(t), middleware.Options{}, post(foosPath, "", body+" "))
	s := refused(t, w, got, http.StatusRequestEntityTooLarge)
	assert.Equal(t, "Request entity too large: limit is 3145728", s.Message)
}

func TestMediaTypes(t *testing.T) {
	accepted := "application/json, application/yaml"
	for _, contentType := range []string{"text/plain", "application/jsonp", "application/cbor", ";", "application/json-patch+json", "application/json; charset"} {
		w, got := send(t, byPath(t), middleware.Options{}, post(foosPath, contentType, foo("")))
		s := refused(t, w, got, http.StatusUnsupportedMediaType)
		assert.Equal(t, "the body of the request was in an unknown format - accepted media types include: "+accepted, s.Message)
		assert.Equal(t, accepted, w.Header().Get("Accept"))
	}
	// In another charset this would be another object: in UTF-7, +ACI- is a quotation mark.
	for _, contentType := range []string{"", "application/json", "APPLICATION/json;charset=latin1", "application/json; charset=utf-7"} {
		for _, stream := range []bool{false, true} {
			_, got := send(t, byPath(t), middleware.Options{Stream: stream}, post(foosPath, contentType, foo(`,"spec":{"a":"+ACI-,+ACI-b+ACI-:+ACI-"}`)))
			require.NotNil(t, got, contentType)
			assert.Equal(t, "application/json", got.Header.Get("Content-Type"))
		}
	}
	// The recipient might read the second one.
	r := post(foosPath, "", foo(""))
	r.Header["Content-Type"] = []string{"application/json", "application/yaml"}
	w, got := send(t, byPath(t), middleware.Options{}, r)
	refused(t, w, got, http.StatusUnsupportedMediaType)
}

func TestOtherMethodsPassUntouched(t *testing.T) {
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodDelete, http.MethodOptions} {
		r := httptest.NewRequest(method, foosPath+"?fieldValidation=x", strings.NewReader("no {json"))
		r.Header.Set("Content-Type", "text/plain")
		_, got := send(t, byPath(t), middleware.Options{}, r)
		require.NotNil(t, got)
		assert.Same(t, r, got.Request)
		assert.Equal(t, "no {json", got.body)
	}
}

func TestProblemDetails(t *testing.T) {
	w, got := send(t, byPath(t), middleware.Options{Options: request.Options{ProblemDetails: true}}, post(foosPath+"?fieldValidation=Strict", "", foo(`,"spec":{"b/c":1}`)))
	require.Nil(t, got)
	assert.Equal(t, "application/problem+json", w.Header().Get("Content-Type"))
	assert.JSONEq(t, `{
		"type": "about:blank", "title": "Bad Request", "status": 400, "reason": "BadRequest",
		"detail": "Foo in version \"v1\" cannot be handled as a Foo: strict decoding error: unknown field \"spec.b/c\"",
		"errors": [{"detail": "unknown field \"spec.b/c\"", "pointer": "/spec/b~1c", "line": 1, "column": 53}]}`, w.Body.String())

	w, _ = send(t, byPath(t), middleware.Options{Options: request.Options{ProblemDetails: true}}, post(foosPath, "", foo(`,"spec":{"a":x}`)))
	assert.Contains(t, w.Body.String(), `"pointer":"/spec/a","line":1,"column":57`)
}
