package request_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/request"
)

const (
	merge = "application/merge-patch+json"
	apply = "application/apply-patch+yaml"
)

func zipped(t *testing.T, text string) string {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, err := io.WriteString(w, text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return z.String()
}

// TestPasses has the requests that pass, and the results.
func TestPasses(t *testing.T) {
	unknown := foo(`,"spec":{"a":"x","b":1}`)
	pruned := foo(`,"spec":{"a":"x","size":1}`)
	lines := "apiVersion: example.com/v1\nkind: Foo\nspec: {a: x, b: 1}\n"
	warned := []string{`299 - "unknown field \"spec.b\""`}
	report := request.Options{Action: request.Report}
	for name, c := range map[string]struct {
		request  request.Request
		opts     request.Options
		body     string
		media    string
		changed  bool
		warnings []string
	}{
		"JSON":            {post(t, foosPath, "application/json", unknown), request.Options{}, pruned, "application/json", true, warned},
		"without a type":  {post(t, foosPath, "", unknown), request.Options{}, pruned, "application/json", true, warned},
		"PUT":             {send(t, "PUT", foosPath+"/n", unknown), request.Options{}, pruned, "application/json", true, warned},
		"status":          {send(t, "PUT", foosPath+"/n/status", unknown), request.Options{}, pruned, "application/json", true, warned},
		"YAML":            {post(t, foosPath, "application/yaml; charset=utf-8", lines), request.Options{}, pruned, "application/json", true, warned},
		"Warn":            {post(t, foosPath+"?fieldValidation=Warn", "", unknown), request.Options{}, pruned, "application/json", true, warned},
		"Ignore":          {post(t, foosPath+"?fieldValidation=Ignore", "", unknown), request.Options{}, pruned, "application/json", true, nil},
		"Strict":          {post(t, foosPath+"?fieldValidation=Strict", "", pruned), request.Options{}, pruned, "application/json", true, nil},
		"merge patch":     {send(t, "PATCH", foosPath+"/n", `{"spec":{"a":null,"b":1}}`, "Content-Type", merge), request.Options{}, `{"spec":{"a":null}}`, merge, true, warned},
		"apply patch":     {send(t, "PATCH", foosPath+"/n", foo(""), "Content-Type", apply), request.Options{}, foo(""), apply, true, nil},
		"gzip":            {send(t, "POST", foosPath, zipped(t, unknown), "Content-Encoding", "gzip"), request.Options{Gzip: true}, pruned, "application/json", true, warned},
		"reported":        {post(t, foosPath, "application/yaml", lines), report, lines, "application/yaml", false, warned},
		"reported, gzip":  {send(t, "POST", foosPath, zipped(t, unknown), "Content-Encoding", "gzip"), request.Options{Action: request.Report, Gzip: true}, unknown, "application/json", true, warned},
		"one byte a time": {withBody(post(t, foosPath, "", ""), iotest.OneByteReader(strings.NewReader(unknown))), request.Options{}, pruned, "application/json", true, warned},
		"as large as may": {post(t, foosPath, "", unknown), request.Options{MaxBytes: int64(len(unknown))}, pruned, "application/json", true, warned},
	} {
		j := judge(t, byPath(t), c.opts, c.request)
		require.Nil(t, j.refused, "%s: %v", name, j.refused)
		assert.False(t, j.Untouched, name)
		assert.Equal(t, c.body, j.body, name)
		assert.Equal(t, c.media, j.ContentType, name)
		assert.Equal(t, c.changed, j.Changed, name)
		assert.Equal(t, c.warnings, j.Warnings, name)
		// The observation agrees.
		assert.Equal(t, "Foo", j.Resource.Kind, name)
		assert.Len(t, j.Findings, len(c.warnings), name)
		assert.Equal(t, int64(len(c.body)), j.BytesOut, name)
		assert.Positive(t, j.BytesIn, name)
	}
}

func withBody(r request.Request, body io.Reader) request.Request {
	r.Body = body
	return r
}

// TestUntouched has requests for which there is no schema.
func TestUntouched(t *testing.T) {
	for name, r := range map[string]request.Request{
		"GET":           send(t, "GET", foosPath, "{"),
		"HEAD":          send(t, "HEAD", foosPath, ""),
		"DELETE":        send(t, "DELETE", foosPath, "{"),
		"OPTIONS":       send(t, "OPTIONS", "/apis//", ""),
		"another path":  send(t, "POST", "/apis/example.org/v1/bars", "{", "Content-Type", "text/plain"),
		"not of theAPI": send(t, "POST", "/hook?fieldValidation=x", "{"),
	} {
		r.Body = iotest.ErrReader(errors.New("it was read"))
		j := judge(t, byPath(t), request.Options{}, r)
		require.Nil(t, j.refused, name)
		assert.Equal(t, request.Result{Untouched: true}, j.Result, name)
		assert.Nil(t, j.Resource, name)
	}
	passed := request.Options{Patches: request.PassPatches}
	j := judge(t, byPath(t), passed, send(t, "PATCH", foosPath+"/n", `[]`, "Content-Type", "application/json-patch+json"))
	assert.True(t, j.Untouched)
	j = judge(t, request.ByKind(catalog(t)), passed, send(t, "PATCH", "/", `[]`))
	assert.True(t, j.Untouched, "the finder does not look into patches that pass")
	assert.Equal(t, 400, refused(t, judge(t, byPath(t), passed, send(t, "PATCH", "/apis//", "")), 400).Code)

	// If the finder reads the body, the result has it.
	peeks := func(_ *request.Request, peek request.Peek) (*request.Resource, error) {
		_, kind, err := peek()
		assert.Equal(t, "Bar", kind)
		return request.Pass, err
	}
	j = judge(t, peeks, request.Options{}, post(t, "/", "application/yaml", "kind: Bar # a comment"))
	require.Nil(t, j.refused)
	assert.Equal(t, "kind: Bar # a comment", j.body)
	assert.False(t, j.Untouched || j.Changed || j.ContentType != "")
}

// TestRefused has each reason to refuse a request, with the server's text.
func TestRefused(t *testing.T) {
	const unknownFormat = "the body of the request was in an unknown format - accepted media types include: "
	unknown := foo(`,"spec":{"b":1}`)
	for name, c := range map[string]struct {
		request request.Request
		opts    request.Options
		code    int
		reason  string
		message string
		header  map[string]string
	}{
		"method": {send(t, "post", foosPath, unknown), request.Options{}, 405, "MethodNotAllowed", "methods are in capitals",
			map[string]string{"Allow": "GET, HEAD, DELETE, OPTIONS, POST, PUT, PATCH"}},
		"path":       {send(t, "POST", "/apis//example.com/v1/foos", unknown), request.Options{}, 400, "BadRequest", "clean form", nil},
		"media type": {post(t, foosPath, "text/plain", unknown), request.Options{}, 415, "UnsupportedMediaType", unknownFormat, map[string]string{"Accept": "application/json, application/yaml"}},
		"two types": {send(t, "POST", foosPath, unknown, "Content-Type", "application/json", "Content-Type", "application/yaml"), request.Options{}, 415,
			"UnsupportedMediaType", unknownFormat, map[string]string{"Accept": "application/json, application/yaml"}},
		"charset": {post(t, foosPath, "application/json; charset=utf-16", unknown), request.Options{Action: request.Report}, 415, "UnsupportedMediaType", unknownFormat,
			map[string]string{"Accept": "application/json, application/yaml"}},
		"gzip": {send(t, "POST", foosPath, zipped(t, unknown), "Content-Encoding", "gzip"), request.Options{}, 415, "UnsupportedMediaType", "the content encoding",
			map[string]string{"Accept-Encoding": "identity"}},
		"other encodings": {send(t, "POST", foosPath, unknown, "Content-Encoding", "br"), request.Options{Gzip: true}, 415, "UnsupportedMediaType", "the content encoding",
			map[string]string{"Accept-Encoding": "gzip, identity"}},
		"not gzip":      {send(t, "POST", foosPath, unknown, "Content-Encoding", "gzip"), request.Options{Gzip: true}, 400, "BadRequest", "cannot be read to its end", nil},
		"content range": {send(t, "POST", foosPath, unknown, "Content-Range", "bytes 0-1/2"), request.Options{}, 400, "BadRequest", "Content-Range", nil},
		"JSON patch": {send(t, "PATCH", foosPath+"/n", "[]", "Content-Type", "application/json-patch+json"), request.Options{}, 415, "UnsupportedMediaType", unknownFormat + merge,
			map[string]string{"Accept-Patch": merge + ", " + apply}},
		"apply patch":       {send(t, "PATCH", foosPath+"/n?fieldValidation=Ignore", unknown, "Content-Type", apply), request.Options{}, 400, "BadRequest", `unknown field "spec.b"`, nil},
		"merge patch":       {send(t, "PATCH", foosPath+"/n?fieldValidation=Strict", `{"spec":{"b":1}}`, "Content-Type", merge), request.Options{}, 422, "Invalid", `unknown field "spec.b"`, nil},
		"fieldValidation":   {post(t, foosPath+"?fieldValidation=strict", "", unknown), request.Options{}, 422, "Invalid", `Unsupported value: "strict"`, nil},
		"strict":            {post(t, foosPath+"?fieldValidation=Strict", "", unknown), request.Options{}, 400, "BadRequest", `Foo in version "v1" cannot be handled as a Foo: strict decoding error: unknown field "spec.b"`, nil},
		"syntax":            {post(t, foosPath, "", "{"), request.Options{}, 400, "BadRequest", "json parse error", nil},
		"empty":             {withBody(post(t, foosPath, "", ""), nil), request.Options{}, 400, "BadRequest", "(<empty>)", nil},
		"apiVersion":        {post(t, foosPath, "", `{"apiVersion":"v1","kind":"Foo"}`), request.Options{}, 400, "BadRequest", "does not match the expected API version", nil},
		"kind":              {post(t, foosPath, "", `{"apiVersion":"example.com/v1","kind":"Bar"}`), request.Options{}, 422, "Invalid", "must be Foo", nil},
		"type in metadata":  {post(t, foosPath, "", foo(`,"metadata":{"name":1}`)), request.Options{}, 400, "BadRequest", "ObjectMeta.name of type string", nil},
		"too large":         {post(t, foosPath, "", unknown), request.Options{MaxBytes: int64(len(unknown)) - 1}, 413, "RequestEntityTooLarge", "limit is", nil},
		"too large, gzip":   {send(t, "POST", foosPath, zipped(t, unknown+strings.Repeat(" ", 9000)), "Content-Encoding", "gzip"), request.Options{Gzip: true, MaxBytes: 9000}, 413, "RequestEntityTooLarge", "limit is 9000", nil},
		"announced":         {announced(post(t, foosPath, "", unknown), 3<<20+1), request.Options{}, 413, "RequestEntityTooLarge", "limit is 3145728", nil},
		"no room":           {post(t, foosPath, "", unknown), request.Options{MaxHeldBytes: 1}, 503, "ServiceUnavailable", "please try again later", map[string]string{"Retry-After": "1"}},
		"no room for gzip":  {send(t, "POST", foosPath, zipped(t, unknown), "Content-Encoding", "gzip"), request.Options{Gzip: true, MaxHeldBytes: 1}, 503, "ServiceUnavailable", "please try again later", map[string]string{"Retry-After": "1"}},
		"late":              {withBody(post(t, foosPath, "", ""), iotest.ErrReader(os.ErrDeadlineExceeded)), request.Options{}, 408, "Timeout", "did not come in time", nil},
		"cut off":           {withBody(post(t, foosPath, "", ""), iotest.ErrReader(io.ErrUnexpectedEOF)), request.Options{}, 400, "BadRequest", "cannot be read to its end", nil},
		"without a content": {post(t, foosPath, "application/yaml", "# nothing\n"), request.Options{}, 400, "BadRequest", "", nil},
	} {
		j := judge(t, byPath(t), c.opts, c.request)
		r := refused(t, j, c.code)
		assert.Equal(t, c.reason, r.Reason, name)
		assert.Contains(t, r.Message, c.message, name)
		assert.Equal(t, c.header, r.Header, name)
		assert.Zero(t, j.BytesOut, name)

		// The answer is the server's, with its headers.
		answer := r.Answer(false)
		var status struct {
			Kind, APIVersion, Status, Message, Reason string
			Code                                      int
			Details                                   *request.Details
		}
		require.NoError(t, json.Unmarshal(answer.Body, &status), name)
		assert.Equal(t, []any{"Status", "v1", "Failure", c.code, c.code, c.reason}, []any{status.Kind, status.APIVersion, status.Status, status.Code, answer.Code, status.Reason}, name)
		assert.Equal(t, r.Message, status.Message, name)
		assert.Equal(t, r.Details, status.Details, name)
		assert.Equal(t, "application/json", answer.Header["Content-Type"], name)
		assert.Equal(t, "nosniff", answer.Header["X-Content-Type-Options"], name)
		for header, value := range c.header {
			assert.Equal(t, value, answer.Header[header], name)
		}
	}
}

func announced(r request.Request, length int64) request.Request {
	r.ContentLength = length
	return r
}

// TestYAMLDuplicates: with decoder.ServerRequests, repeated names in YAML are listed as the server
// lists them, by lines. It has none for names that are equal only as strings.
func TestYAMLDuplicates(t *testing.T) {
	const labels = "apiVersion: example.com/v1\nkind: Foo\nspec:\n  labels: {1: a, '1': b}\n"
	const twice = "  a: x\n  a: y\n  b: 1\n"
	const label, a, b = `duplicate field "spec.labels.1"`, `duplicate field "spec.a"`, `unknown field "spec.b"`
	const line = `line 6: key "a" already set in map`
	server := byPath(t, decoder.ServerRequests)
	for name, c := range map[string]struct {
		find   request.Finder
		body   string
		warned []string
		strict string // the end of the answer
	}{
		"strings":            {byPath(t), labels, []string{label}, label},
		"strings, server":    {server, labels, nil, ""},
		"all":                {byPath(t), labels + twice, []string{label, a, b}, label + ", " + a + ", " + b},
		"all, server":        {server, labels + twice, []string{line, b}, "yaml: unmarshal errors:\n  " + line + ", " + b},
		"no field, server":   {server, labels + "  b: 1\n", []string{b}, b},
		"server, no finding": {server, "apiVersion: example.com/v1\nkind: Foo\n", nil, ""},
	} {
		j := judge(t, c.find, request.Options{}, post(t, foosPath, "application/yaml", c.body))
		require.Nil(t, j.refused, name)
		var warned []string
		for _, text := range c.warned {
			warned = append(warned, "299 - "+strconv.Quote(text))
		}
		assert.Equal(t, warned, j.Warnings, name)

		j = judge(t, c.find, request.Options{}, post(t, foosPath+"?fieldValidation=Strict", "application/yaml", c.body))
		if c.strict == "" {
			assert.Nil(t, j.refused, name)
			continue
		}
		why := refused(t, j, 400)
		assert.True(t, strings.HasSuffix(why.Message, "strict decoding error: "+c.strict), "%s: %s", name, why.Message)
	}
}

// TestAnswer: the answer is charged, and has the form that the options select.
func TestAnswer(t *testing.T) {
	r := func() request.Request { return post(t, foosPath+"?fieldValidation=Strict", "", foo(`,"spec":{"b":1}`)) }
	gate := request.NewGate(request.Options{ProblemDetails: true})
	x := gate.Begin(r())
	_, why := x.Judge(byPath(t))
	require.NotNil(t, why)
	answer := x.Answer(why)
	assert.Equal(t, "application/problem+json", answer.Header["Content-Type"])
	assert.JSONEq(t, `{"type":"about:blank","title":"Bad Request","status":400,"reason":"BadRequest",
		"detail":"Foo in version \"v1\" cannot be handled as a Foo: strict decoding error: unknown field \"spec.b\"",
		"errors":[{"detail":"unknown field \"spec.b\"","pointer":"/spec/b","line":1,"column":53}]}`, string(answer.Body))
	held, _ := gate.Held()
	assert.Equal(t, int64(cap(answer.Body)), held)
	x.Close()
	held, _ = gate.Held()
	assert.Zero(t, held)

	// A form of somebody else has the same room, until Close.
	x = gate.Begin(r())
	_, why = x.Judge(byPath(t))
	assert.Same(t, why, x.Refuse(why))
	held, _ = gate.Held()
	assert.Greater(t, held, int64(len(why.Message)))
	x.Close()

	// If there is no room for the answer, the answer is 503.
	gate = request.NewGate(request.Options{MaxHeldBytes: 1000})
	x = gate.Begin(r())
	defer x.Close()
	long := request.BadRequest(strings.Repeat("x", 1000))
	assert.Equal(t, 503, x.Refuse(long).Code)
	assert.Equal(t, 503, x.Answer(long).Code)
	assert.Equal(t, 400, x.Answer(request.BadRequest("x")).Code)
}

// TestFailsClosed: a body that was refused, or that nobody has found, is neither passed on nor
// decoded.
func TestFailsClosed(t *testing.T) {
	gate := request.NewGate(request.Options{})
	x := gate.Begin(post(t, foosPath, "text/plain", foo("")))
	defer x.Close()
	assert.PanicsWithValue(t, "request: Find comes before Decode and Stream", func() { _, _ = x.Decode() })
	assert.PanicsWithValue(t, "request: Stream: the body cannot be decoded while it is read", func() { _, _ = x.Stream() })
	found, why := x.Find(byPath(t))
	assert.Nil(t, found)
	require.NotNil(t, why)
	result, again := x.Decode()
	assert.Same(t, why, again)
	assert.Zero(t, result)
	assert.False(t, x.CanStream())

	// Nothing is judged twice, or after the end.
	const taken = "request: the body was decoded already, or the Exchange is closed"
	x = gate.Begin(post(t, foosPath, "", foo("")))
	_, no := x.Judge(byPath(t))
	require.Nil(t, no)
	assert.PanicsWithValue(t, "request: Find is called once", func() { x.Judge(byPath(t)) })
	assert.PanicsWithValue(t, taken, func() { x.Decode() })
	x.Close()
	x = gate.Begin(post(t, foosPath, "", foo("")))
	_, no = x.Find(byPath(t))
	require.Nil(t, no)
	_, no = x.Stream()
	require.Nil(t, no)
	assert.PanicsWithValue(t, taken, func() { x.Stream() })
	x.Close()
	x = gate.Begin(post(t, foosPath, "", foo("")))
	x.Close()
	assert.PanicsWithValue(t, "request: Find is called once", func() { x.Judge(byPath(t)) })
	assert.PanicsWithValue(t, taken, func() { x.Decode() })
	requests, _ := gate.Held()
	assert.Zero(t, requests)

	// A finder that ignores the error of peek makes nothing pass.
	for _, res := range []*request.Resource{request.Pass, resource(t)} {
		heedless := func(_ *request.Request, peek request.Peek) (*request.Resource, error) {
			_, _, err := peek()
			assert.Error(t, err)
			_, _, again := peek()
			assert.Equal(t, err, again)
			return res, nil
		}
		r := withBody(post(t, "/", "", ""), iotest.ErrReader(errors.New("reset")))
		refused(t, judge(t, heedless, request.Options{}, r), 400)
		refused(t, judge(t, heedless, request.Options{}, post(t, "/", "text/plain", "{}")), 415)
	}
	// A finder whose error is a nil refusal makes nothing pass.
	for _, res := range []*request.Resource{nil, request.Pass, resource(t)} {
		confused := func(*request.Request, request.Peek) (*request.Resource, error) {
			return res, (*request.StatusError)(nil)
		}
		for _, r := range []request.Request{post(t, "/", "", "{}"), send(t, "PATCH", "/", "{}")} {
			for _, opts := range []request.Options{{}, {Patches: request.PassPatches}, {ProblemDetails: true}} {
				refused(t, judge(t, confused, opts, r), 500)
			}
		}
	}

	// A finder that has missed a case makes nothing pass, and neither does one without a program.
	for _, res := range []*request.Resource{nil, {Kind: "Foo"}} {
		forgetful := func(*request.Request, request.Peek) (*request.Resource, error) { return res, nil }
		for _, opts := range []request.Options{{}, {Patches: request.PassPatches}} {
			refused(t, judge(t, forgetful, opts, post(t, "/", "", "{}")), 500)
		}
	}
	forgetful := func(*request.Request, request.Peek) (*request.Resource, error) { return nil, nil }
	refused(t, judge(t, forgetful, request.Options{Patches: request.PassPatches}, send(t, "PATCH", "/", "{}")), 500)
	assert.PanicsWithValue(t, "request: Begin: the URL of the Request is nil", func() { gate.Begin(request.Request{Method: "POST"}) })
}

func resource(t *testing.T) *request.Resource {
	program, err := catalog(t).Lookup("example.com/v1", "Foo")
	require.NoError(t, err)
	return &request.Resource{APIVersion: "example.com/v1", Kind: "Foo", Program: program}
}

// TestStream has requests that are decoded while they are read, with the same judgement in the end.
func TestStream(t *testing.T) {
	strict := "?fieldValidation=Strict"
	for name, c := range map[string]struct {
		query, body, want, message string
		opts                       request.Options
		warnings                   []string
	}{
		"clean":     {strict, foo(`,"spec":{"a":"x"}`), foo(`,"spec":{"a":"x","size":1}`), "", request.Options{}, nil},
		"warned":    {"", foo(`,"spec":{"b":1}`), foo(`,"spec":{"size":1}`), "", request.Options{}, []string{`299 - "unknown field \"spec.b\""`}},
		"strict":    {strict, foo(`,"spec":{"b":1}`), "", `unknown field "spec.b"`, request.Options{}, nil},
		"syntax":    {"", foo("") + "x", "", "something follows the document", request.Options{}, nil},
		"too large": {"", foo("") + strings.Repeat(" ", 1000), "", "limit is 1000", request.Options{MaxBytes: 1000}, nil},
	} {
		for _, gzip := range []bool{false, true} {
			r := post(t, foosPath+c.query, "", c.body)
			if gzip {
				r = send(t, "POST", foosPath+c.query, zipped(t, c.body), "Content-Encoding", "gzip")
			}
			r.Context = t.Context()
			c.opts.Gzip = gzip
			gate := request.NewGate(c.opts)
			x := gate.Begin(r)
			_, why := x.Find(byPath(t))
			require.Nil(t, why)
			require.True(t, x.CanStream())
			s, why := x.Stream()
			require.Nil(t, why)
			assert.Equal(t, "application/json", s.ContentType())
			ended, _ := s.State()
			assert.False(t, ended, name)
			text, err := io.ReadAll(s)
			ended, why = s.State()
			assert.True(t, ended, name)
			assert.Equal(t, c.warnings, s.Warnings(), name)
			if c.message == "" {
				require.NoError(t, err)
				require.Nil(t, why)
				assert.Equal(t, c.want, string(text), name)
			} else {
				require.Error(t, err)
				require.NotNil(t, why)
				assert.Contains(t, why.Message, c.message, name)
				assert.False(t, json.Valid(text), name)
				assert.Equal(t, why.Code, x.Answer(why).Code)
			}
			if large, ok := errors.AsType[*request.TooLargeError](err); name == "too large" && assert.True(t, ok) {
				assert.Equal(t, "the body of the request has more than 1000 bytes", large.Error())
			}
			_, again := s.Read(make([]byte, 1))
			assert.Error(t, again)
			o := x.Observation(why)
			assert.Equal(t, int64(len(text)), o.BytesOut, name)
			x.Close()
			held, _ := gate.Held()
			assert.Zero(t, held)
		}
	}
	// A closed stream reads nothing more, and its decoder was given back.
	gate := request.NewGate(request.Options{})
	x := gate.Begin(post(t, foosPath, "", foo("")))
	_, _ = x.Find(byPath(t))
	s, _ := x.Stream()
	x.Close()
	_, err := s.Read(make([]byte, 1))
	assert.Equal(t, request.ErrClosed, err)
	held, _ := gate.Held()
	assert.Zero(t, held)
}

// TestNoStream has requests whose body must be held whole.
func TestNoStream(t *testing.T) {
	for name, c := range map[string]struct {
		find    request.Finder
		opts    request.Options
		request request.Request
	}{
		"YAML":          {byPath(t), request.Options{}, post(t, foosPath, "application/yaml", foo(""))},
		"a patch":       {byPath(t), request.Options{}, send(t, "PATCH", foosPath+"/n", "{}", "Content-Type", merge)},
		"reported":      {byPath(t), request.Options{Action: request.Report}, post(t, foosPath, "", foo(""))},
		"peeked into":   {request.ByKind(catalog(t)), request.Options{}, post(t, "/", "", foo(""))},
		"not found":     {byPath(t), request.Options{}, post(t, "/", "", foo(""))},
		"PassedPatches": {byPath(t), request.Options{Patches: request.PassPatches}, send(t, "PATCH", foosPath+"/n", "{}")},
	} {
		gate := request.NewGate(c.opts)
		x := gate.Begin(c.request)
		_, why := x.Find(c.find)
		require.Nil(t, why, name)
		assert.False(t, x.CanStream(), name)
		_, why = x.Decode()
		assert.Nil(t, why, name)
		x.Close()
	}
}

// TestFinderPasses has paths of requests that ask for another protocol.
func TestFinderPasses(t *testing.T) {
	for path, want := range map[string]bool{"/hook": true, foosPath: false, "/apis//x": false} {
		r := send(t, "GET", path, "")
		assert.Equal(t, want, byPath(t).Passes(&r), path)
		assert.False(t, request.ByKind(catalog(t)).Passes(&r), "it would have to look into the body")
	}
}

// TestRefusedAtConstruction: options that make no sense are refused when they are given.
func TestRefusedAtConstruction(t *testing.T) {
	for text, do := range map[string]func(){
		"request: NewGate: there is no Action(7)":  func() { request.NewGate(request.Options{Action: 7}) },
		"request: NewGate: there is no Patches(7)": func() { request.NewGate(request.Options{Patches: 7}) },
	} {
		assert.PanicsWithValue(t, text, do)
	}
	opts := request.NewGate(request.Options{MaxBytes: -1, Gzip: true}).Options()
	assert.EqualValues(t, request.DefaultMaxHeldBytes, opts.Budget.Limit())
	opts.Budget = nil
	assert.Equal(t, request.Options{MaxBytes: request.DefaultMaxBytes, MaxHeldBytes: request.DefaultMaxHeldBytes, Gzip: true}, opts)
}

// TestObservation: findings are handed over once, because the recipient of the body may take long.
func TestObservation(t *testing.T) {
	x := request.NewGate(request.Options{}).Begin(post(t, foosPath, "", foo(`,"spec":{"a":"x","a":"y","b":1}`)))
	defer x.Close()
	_, why := x.Judge(byPath(t, decoder.Compact(true)))
	require.Nil(t, why)
	o := x.Observation(why)
	assert.Equal(t, 1, o.Findings.Count(ferrors.UnknownField))
	assert.Equal(t, 1, o.Findings.Count(ferrors.DuplicateField))
	assert.Equal(t, decoder.Warn, o.FieldValidation)
	assert.Positive(t, o.Decoding)
	assert.Empty(t, x.Observation(why).Findings)
}
