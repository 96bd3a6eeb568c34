package request_test

import (
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/request"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// streamByKind sends a body through a stream that is found by its kind. It returns the result, and how
// many bytes of the body were read before the kind was known. If it cannot be streamed, it is decoded.
func streamByKind(t *testing.T, find request.Finder, opts request.Options, r request.Request) (body string, before int, isStream bool, refused *request.StatusError) {
	gate := request.NewGate(opts)
	counted := &counter{from: r.Body}
	r.Body, r.Stream = counted, true
	x := gate.Begin(r)
	defer func() {
		x.Close()
		held, _ := gate.Held()
		assert.Zero(t, held, "it was not given back")
	}()
	if _, refused = x.Find(find); refused != nil {
		return "", counted.n, false, refused
	}
	before = counted.n
	if !x.CanStream() {
		result, refused := x.Decode()
		return string(result.Body), before, false, refused
	}
	s, refused := x.Stream()
	require.Nil(t, refused)
	text, err := io.ReadAll(s)
	_, refused = s.State()
	assert.Equal(t, refused == nil, err == nil)
	return string(text), before, true, refused
}

type counter struct {
	from io.Reader
	n    int
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += n
	return n, err
}

// TestByKindDecidesEarly holds that a stream is decoded as soon as its kind has passed, wherever it
// is, and with the result of a body that is decoded as a whole.
func TestByKindDecidesEarly(t *testing.T) {
	find := request.ByKind(catalog(t))
	rest := `"spec":{"a":"` + strings.Repeat("x", 100<<10) + `","b":{"kind":"no"},"list":[{"kind":"no"},{"x":2}]}`
	for name, test := range map[string]struct {
		body  string
		early bool
	}{
		"first":                 {`{"apiVersion":"example.com/v1","kind":"Foo",` + rest + `}`, true},
		"with blanks":           {"\n { \"kind\" : \"Foo\" ,\t\"apiVersion\" :\"example.com/v1\", " + rest + "}", true},
		"with escapes":          {`{"api\u0056ersion":"example.com\/v1","\u006bind":"F\u006fo",` + rest + `}`, true},
		"after others":          {`{"metadata":{"name":"\"kind\":{","kind":"no"},"x":[{"kind":"no"},["apiVersion"]],"kind":"Foo","apiVersion":"example.com/v1",` + rest + `}`, true},
		"kind is also a value":  {`{"y":"kind","z":"apiVersion","kind":"Foo","apiVersion":"example.com/v1",` + rest + `}`, true},
		"last":                  {`{` + rest + `,"kind":"Foo","apiVersion":"example.com/v1"}`, false},
		"one of them last":      {`{"kind":"Foo",` + rest + `,"apiVersion":"example.com/v1"}`, false},
		"after another of them": {`{"kind":1,` + rest + `,"kind":"Foo","apiVersion":"example.com/v1"}`, false},
	} {
		want := judge(t, find, request.Options{}, post(t, "/", "", test.body))
		for how, from := range map[string]func(io.Reader) io.Reader{
			"at once": func(r io.Reader) io.Reader { return r }, "byte by byte": iotest.OneByteReader, "half": iotest.HalfReader,
		} {
			r := post(t, "/", "", test.body)
			r.Body = from(r.Body)
			body, before, _, refused := streamByKind(t, find, request.Options{}, r)
			if name == "after another of them" {
				require.NotNil(t, refused, "a stream refuses what occurs twice")
				continue
			}
			require.Nil(t, refused, "%s, %s: %v", name, how, refused)
			require.JSONEq(t, want.body, body, "%s, %s", name, how)
			assert.Equal(t, test.early, before < 40<<10, "%s, %s: %d bytes were read before", name, how, before)
			if how == "byte by byte" && test.early {
				assert.Less(t, before, 200)
			}
		}
	}
}

// TestByKindNeverDecidesTwice holds that a type that comes later than the one that has decided does
// not pass.
func TestByKindNeverDecidesTwice(t *testing.T) {
	find := request.ByKind(catalog(t))
	for _, validation := range []string{"Warn", "Strict", "Ignore"} {
		for _, more := range []string{`,"kind":"Other"`, `,"apiVersion":"v1"`, `,"\u006bind":"Other"`, `,"kind":"Foo"`} {
			body := foo(`,"spec":{"a":"` + strings.Repeat("x", 50<<10) + `"}` + more)
			text, _, isStream, refused := streamByKind(t, find, request.Options{}, post(t, "/?fieldValidation="+validation, "", body))
			require.True(t, isStream)
			require.NotNil(t, refused, more)
			assert.Equal(t, 400, refused.Code)
			assert.NotContains(t, text, "Other")
		}
	}
}

// TestByKindRefuses holds that what has no type that is known is refused with the same answer as when
// it is not streamed.
func TestByKindRefuses(t *testing.T) {
	find := request.ByKind(catalog(t))
	for _, body := range []string{
		"", "{", "[]", "[1", "1", `"kind"`, "{}", `{"kind":"Foo"}`, `{"kind":1,"apiVersion":"example.com/v1"}`, `{"kind":{"kind":"Foo"},"apiVersion":"example.com/v1"}`,
		`{"apiVersion":"example.com/v1","kind":"Bar"}`, `{"apiVersion":"v1","kind":"Foo","x":`, `{"apiVersion":"example.com/v1","kind":"` + strings.Repeat("F", 2000) + `"}`,
		`{"Kind":"Foo","apiversion":"example.com/v1"}`, `]]{"kind":"Foo","apiVersion":"example.com/v1"`, `{"a":}"kind":"Foo"`, `{"kind":"\x","apiVersion":"a"}`,
		foo(`,"x":"` + strings.Repeat("x", 5000) + `"`), foo(""), foo("") + "x", foo(`,"spec":1`),
	} {
		want := judge(t, find, request.Options{MaxBytes: 4 << 10}, post(t, "/", "", body))
		text, _, isStream, refused := streamByKind(t, find, request.Options{MaxBytes: 4 << 10}, post(t, "/", "", body))
		if want.refused == nil {
			require.Nil(t, refused, body)
			assert.Equal(t, want.body, text)
			continue
		}
		require.NotNil(t, refused, body)
		assert.Equal(t, want.refused.Code, refused.Code, body)
		// A type that is not known is refused at once, whatever comes after it.
		if !isStream && !strings.HasPrefix(refused.Message, "no matches for kind") {
			assert.Equal(t, want.refused.Message, refused.Message, body)
		}
	}
}

// TestByKindThenWhole holds that a body of which the start was read can still be decoded as a whole,
// or pass.
func TestByKindThenWhole(t *testing.T) {
	long := foo(`,"metadata":{"name":"a"},"spec":{"a":"` + strings.Repeat("x", 50<<10) + `"}`)
	c := schema.NewCatalog(validation.Values())
	crds, err := schema.ParseCRD([]byte(fooCRD))
	require.NoError(t, err)
	require.NoError(t, c.Add(crds...))
	body, before, isStream, refused := streamByKind(t, request.ByKind(c, decoder.ValidateCreate), request.Options{}, post(t, "/", "", long))
	require.Nil(t, refused)
	assert.False(t, isStream)
	assert.Less(t, before, 40<<10)
	assert.Equal(t, judge(t, request.ByKind(catalog(t)), request.Options{}, post(t, "/", "", long)).body, body)

	passes := func(_ *request.Request, peek request.Peek) (*request.Resource, error) {
		for range 2 {
			apiVersion, kind, err := peek()
			require.NoError(t, err)
			assert.Equal(t, "example.com/v1 Foo", apiVersion+" "+kind)
		}
		return request.Pass, nil
	}
	body, before, _, refused = streamByKind(t, passes, request.Options{}, post(t, "/", "", long))
	require.Nil(t, refused)
	assert.Less(t, before, 40<<10)
	assert.Equal(t, long, body)

	r := post(t, "/", "", long)
	r.Body = io.MultiReader(strings.NewReader(long[:20<<10]), iotest.ErrReader(io.ErrUnexpectedEOF))
	_, _, _, refused = streamByKind(t, passes, request.Options{}, r)
	require.NotNil(t, refused)
	assert.Equal(t, 400, refused.Code)
}

// TestScreen holds what the headers of a request say, beside the tests of package middleware.
func TestScreen(t *testing.T) {
	no := func() bool { return false }
	s, refused := request.Screen("POST", "", map[string][]string{"Upgrade": {"SPDY/3.1"}}, no)
	require.Nil(t, refused)
	assert.Equal(t, request.Screening{Write: true, Upgrade: true}, s)
	s, refused = request.Screen("GET", "a=b", map[string][]string{"Upgrade": {"websocket"}, "Http2-Settings": {"x"}}, no)
	require.Nil(t, refused)
	assert.False(t, s.Upgrade)
	assert.ElementsMatch(t, []string{"Upgrade", "Http2-Settings"}, s.Drop)
	_, refused = request.Screen("GET", "", map[string][]string{"X_http_Method_override": {"POST"}}, no)
	require.NotNil(t, refused)
	assert.Equal(t, 400, refused.Code)
	_, refused = request.Screen("Get", "", nil, no)
	require.NotNil(t, refused)
	assert.Equal(t, 405, refused.Code)
	assert.Contains(t, request.Stale(true), "Content-Digest")
	assert.NotContains(t, request.Stale(false), "Content-Encoding")
}

// TestOutlook holds what is known before a body was judged, and that adapters can charge what they hold.
func TestOutlook(t *testing.T) {
	for _, test := range []struct {
		opts      request.Options
		r         request.Request
		media     string
		isChanged bool
	}{
		{request.Options{}, post(t, foosPath, "application/yaml", ""), "application/json", true},
		{request.Options{Action: request.Report}, post(t, foosPath, "application/yaml", ""), "application/yaml", false},
		{request.Options{Action: request.Report, Gzip: true}, send(t, "POST", foosPath, "", "Content-Encoding", "gzip"), "application/json", true},
		{request.Options{}, post(t, "/", "application/yaml", ""), "", false},
		{request.Options{}, post(t, foosPath, "text/plain", ""), "", false},
		{request.Options{}, send(t, "PATCH", foosPath+"/a", "", "Content-Type", "application/merge-patch+json"), "application/merge-patch+json", true},
	} {
		gate := request.NewGate(test.opts)
		x := gate.Begin(test.r)
		_, _ = x.Find(byPath(t))
		media, isChanged := x.Outlook()
		assert.Equal(t, test.media, media)
		assert.Equal(t, test.isChanged, isChanged)
		assert.True(t, x.Hold(1000))
		assert.True(t, x.Hold(-200))
		held, _ := gate.Held()
		assert.EqualValues(t, 800, held)
		assert.False(t, x.Hold(math.MaxInt))
		x.Close()
	}
	assert.Equal(t, 503, request.Overloaded().Code)
}
