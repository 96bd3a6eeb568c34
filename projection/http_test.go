package projection_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/projection"
	"github.com/espalier-dev/espalier/schema"
)

// TestAccept says what is asked of the server for a rule's resource, and what passes.
func TestAccept(t *testing.T) {
	for accept, want := range map[string]struct{ sent, passed string }{
		"": {"", ""}, "application/json": {"application/json", ""}, "*/*": {"application/json", ""},
		"application/json, */*":                                                           {"application/json,application/json", ""},
		"application/vnd.kubernetes.protobuf,application/json":                            {"application/json", ""},
		"application/vnd.kubernetes.protobuf;stream=watch, application/json;stream=watch": {"application/json;stream=watch", ""},
		"application/cbor, application/*;q=0.5":                                           {"application/json", ""},
		"application/vnd.kubernetes.protobuf":                                             {"application/vnd.kubernetes.protobuf", "accept"},
		"application/json,,":                                                              {"application/json", ""},
		"application/yaml":                                                                {"application/yaml", "accept"},
		"application/json;;;":                                                             {"application/json;;;", "accept"},
		"application/json;as=Table;v=v1;g=meta.k8s.io,application/json":                   {"application/json;as=Table;v=v1;g=meta.k8s.io,application/json", "table"},
		";as=Table": {";as=Table", "accept"},
		"application/json;AS=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json": {"application/json;AS=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json", "table"},
	} {
		p := newProjection(t, projection.Options{}, widgetRule)
		var sent string
		next := roundTrip(func(r *http.Request) (*http.Response, error) {
			sent = strings.Join(r.Header["Accept"], "|")
			return respond(strings.NewReader(`{"items":[` + full + `]}`))(r)
		})
		var header []string
		if accept != "" {
			header = []string{"Accept", accept}
		}
		got, _, err := read(t, p, next, widgets, header...)
		require.NoError(t, err)
		assert.Equal(t, want.sent, sent, accept)
		if want.passed == "" {
			assert.JSONEq(t, `{"items":[`+projected+`]}`, string(got), accept)
			assert.Empty(t, p.Counts().Passed)
		} else {
			assert.JSONEq(t, `{"items":[`+full+`]}`, string(got), accept)
			assert.Equal(t, map[string]uint64{want.passed: 1}, p.Counts().Passed, accept)
		}
	}
}

// TestAcceptTwice has two headers. What is sent to the server has one of them, and the request of the
// caller has both.
func TestAcceptTwice(t *testing.T) {
	p := newProjection(t, projection.Options{}, widgetRule)
	r := httptest.NewRequest(http.MethodGet, "http://localhost"+widgets, nil)
	r.Header["Accept"] = []string{"application/json", "application/vnd.kubernetes.protobuf"}
	var sent []string
	resp, err := p.Transport(roundTrip(func(r *http.Request) (*http.Response, error) {
		sent = r.Header["Accept"]
		return respond(strings.NewReader(`{"items":[]}`))(r)
	})).RoundTrip(r)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, []string{"application/json"}, sent)
	assert.Equal(t, []string{"application/json", "application/vnd.kubernetes.protobuf"}, r.Header["Accept"])
}

// TestPasses says which requests and responses pass as they are, with their lengths.
func TestPasses(t *testing.T) {
	list := `{"items":[` + full + `]}`
	for name, test := range map[string]struct {
		request  []string // its headers
		response []string
		code     int
		passed   string
	}{
		"range":        {[]string{"Range", "bytes=0-10"}, nil, 200, "range"},
		"part":         {nil, []string{"Content-Range", "bytes 0-10/100"}, 200, "range"},
		"partial":      {nil, nil, 206, "status"},
		"websocket":    {[]string{"Upgrade", "websocket", "Connection", "Upgrade"}, nil, 200, "upgrade"},
		"error":        {nil, nil, 410, "status"},
		"redirect":     {nil, []string{"Location", "/"}, 307, "status"},
		"not modified": {nil, []string{"Etag", `"x"`}, 304, "status"},
		"protobuf":     {nil, []string{"Content-Type", "application/vnd.kubernetes.protobuf"}, 200, "type"},
		"table":        {nil, []string{"Content-Type", "application/json;as=Table"}, 200, "type"},
		"nothing said": {nil, []string{"Content-Type", "-"}, 200, "type"},
		"text":         {nil, []string{"Content-Type", "text/plain"}, 200, "type"},
		"no type":      {nil, []string{"Content-Type", ""}, 200, "type"},
		"charset":      {nil, []string{"Content-Type", "application/json; charset=utf-16"}, 200, "type"},
		"brotli":       {nil, []string{"Content-Encoding", "br"}, 200, "encoding"},
		"zipped twice": {nil, []string{"Content-Encoding", "gzip, gzip"}, 200, "encoding"},
		"nothing":      {nil, []string{"Content-Encoding", "identity"}, 200, ""},
		"utf-8":        {nil, []string{"Content-Type", `Application/JSON; Charset="UTF-8"; stream=watch`}, 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProjection(t, projection.Options{}, widgetRule)
			next := roundTrip(func(r *http.Request) (*http.Response, error) {
				resp, err := respond(strings.NewReader(list), test.response...)(r)
				if resp.StatusCode = test.code; resp.Header.Get("Content-Type") == "-" {
					delete(resp.Header, "Content-Type")
				}
				return resp, err
			})
			got, resp, err := read(t, p, next, widgets, test.request...)
			require.NoError(t, err)
			if test.passed == "" {
				assert.JSONEq(t, `{"items":[`+projected+`]}`, string(got))
				assert.Equal(t, int64(-1), resp.ContentLength)
				return
			}
			assert.JSONEq(t, list, string(got))
			assert.Equal(t, int64(7), resp.ContentLength, "as it was")
			assert.Equal(t, map[string]uint64{test.passed: 1}, p.Counts().Passed)
		})
	}
}

// TestHeaders sends a list with all that describes a body, with a trailer, over both versions of
// HTTP, in gzip that net/http asks for and in gzip that the client asks for.
func TestHeaders(t *testing.T) {
	list := `{"items":[` + full + `]}`
	for _, version := range []int{1, 2} {
		for _, own := range []bool{false, true} {
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				assert.Equal(t, "gzip", r.Header.Get("Accept-Encoding"))
				for name, value := range map[string]string{
					"Content-Type": "application/json", "Content-Encoding": "gzip", "Trailer": "X-After", "Etag": `"x"`, "Last-Modified": "now",
					"Content-Md5": "x", "Digest": "x", "Content-Digest": "x", "Repr-Digest": "x", "Accept-Ranges": "bytes", "Audit-Id": "id", "Warning": `299 - "w"`,
				} {
					w.Header().Set(name, value)
				}
				_, _ = w.Write(zip(t, []byte(list)))
				w.Header().Set("X-After", "after")
			}))
			s.EnableHTTP2 = version == 2
			s.StartTLS()
			p := newProjection(t, projection.Options{}, widgetRule)
			r, err := http.NewRequest(http.MethodGet, s.URL+widgets, nil)
			require.NoError(t, err)
			if own {
				r.Header.Set("Accept-Encoding", "gzip")
			}
			resp, err := (&http.Client{Transport: p.Transport(s.Client().Transport)}).Do(r)
			require.NoError(t, err)
			got, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			assert.JSONEq(t, `{"items":[`+projected+`]}`, string(got))
			assert.True(t, resp.Uncompressed)
			assert.Equal(t, int64(-1), resp.ContentLength)
			assert.Equal(t, "after", resp.Trailer.Get("X-After"))
			var names []string
			for _, name := range []string{"Content-Length", "Content-Encoding", "Etag", "Last-Modified", "Content-Md5", "Digest", "Content-Digest", "Repr-Digest", "Accept-Ranges", "Audit-Id", "Warning"} {
				if resp.Header.Get(name) != "" {
					names = append(names, name)
				}
			}
			assert.Equal(t, []string{"Audit-Id", "Warning"}, names)
			s.Close()
		}
	}
}

// TestOddExchanges sends what is no read, and what has no body.
func TestOddExchanges(t *testing.T) {
	p := newProjection(t, projection.Options{}, widgetRule)
	c, url := serve(t, p, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Method == http.MethodHead:
			w.Header().Set("Content-Length", "100")
		case r.URL.Query().Get("to") == "other":
			http.Redirect(w, r, "/other", http.StatusTemporaryRedirect)
		case r.URL.Query().Get("to") != "":
			http.Redirect(w, r, widgets+"/a", http.StatusTemporaryRedirect)
		case r.URL.Query().Get("limit") != "":
			w.Header().Set("Content-Length", "0")
		default:
			_, _ = io.WriteString(w, full)
		}
	})
	resp, err := c.Head(url + widgets)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, int64(100), resp.ContentLength)
	got, resp, err := get(t, c, url+widgets+"?limit=1")
	require.NoError(t, err)
	assert.Empty(t, got)
	assert.Equal(t, int64(0), resp.ContentLength)
	got, _, err = get(t, c, url+"/apis/example.com/v1/gadgets?to=widgets")
	require.NoError(t, err)
	assert.Equal(t, projected, got, "after a redirect to a rule's resource")
	r, err := http.NewRequest("", url+widgets+"/a", nil)
	require.NoError(t, err)
	r.Method = "" // is GET in a request of a client
	resp, err = c.Transport.RoundTrip(r)
	require.NoError(t, err)
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, projected, string(text))
	got, _, err = get(t, c, url+widgets+"?to=other")
	require.NoError(t, err)
	assert.Equal(t, full, got)
	for _, path := range []string{"/", "/api", "/apis", "/apis/example.com", "/apis/example.com/v1", "/healthz", "/api/v1/namespaces/n", "/openapi/v3"} {
		got, _, err = get(t, c, url+path)
		require.NoError(t, err)
		assert.Equal(t, full, got, path)
	}
}

// TestBareRequests sends what no http.Client sends.
func TestBareRequests(t *testing.T) {
	p := newProjection(t, projection.Options{}, widgetRule)
	r := httptest.NewRequest(http.MethodGet, "http://localhost"+widgets+"/a", nil)
	bare := &http.Request{URL: r.URL} // a GET
	resp, err := p.Transport(respond(strings.NewReader(full))).RoundTrip(bare)
	require.NoError(t, err)
	got, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, projected, string(got))
	for _, bare := range []*http.Request{
		{}, {Method: http.MethodPut}, {Method: http.MethodPost, URL: r.URL}, {Method: http.MethodPatch, URL: r.URL}, {Method: http.MethodPut, URL: r.URL},
		{Method: http.MethodPut, URL: &url.URL{Opaque: "//h/widgets"}}, {Method: http.MethodPut, URL: new(url.URL)}, {Method: http.MethodPut, URL: &url.URL{Opaque: "//h/%zz"}}, {URL: &url.URL{Opaque: "x"}},
	} {
		resp, err := p.Transport(respond(strings.NewReader(full))).RoundTrip(bare)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
	}
	_, err = p.Transport(http.DefaultTransport).RoundTrip(new(http.Request))
	require.ErrorContains(t, err, "nil Request.URL")
}

// TestNamespaces has rules for core resources, of which one is in the paths of others.
func TestNamespaces(t *testing.T) {
	p := newProjection(t, projection.Options{}, projection.Rule{Resource: "namespaces"}, projection.Rule{Resource: "pods"})
	for path, want := range map[string]string{
		"/api/v1/namespaces": "list", "/api/v1/namespaces/n": "object", "/api/v1/namespaces/n/status": "subresource", "/api/v1/namespaces/n/finalize": "subresource",
		"/api/v1/namespaces/n/pods": "list", "/api/v1/namespaces/n/pods/p": "object", "/api/v1/pods": "list", "/api/v1/namespaces/n/pods/p/log": "subresource",
		"/api/v1/namespaces/n/secrets": "", "/api/v1/watch/pods": "path", "/apis/v1/pods": "", "/apis/pods/v1/namespaces": "",
	} {
		before := p.Counts()
		text := `{"items":[{"spec":1}]}`
		_, _, err := read(t, p, respond(strings.NewReader(text)), path)
		require.NoError(t, err)
		after, got := p.Counts(), ""
		switch {
		case after.Lists > before.Lists:
			got = "list"
		case after.Objects > before.Objects:
			got = "object"
		}
		for why, n := range after.Passed {
			if n > before.Passed[why] {
				got = why
			}
		}
		assert.Equal(t, want, got, path)
	}
}

// TestNew refuses rules that mean nothing.
func TestNew(t *testing.T) {
	for want, rules := range map[string][]projection.Rule{
		`"" of group "": the name is not one`:         {{}},
		`"Widgets" of group "": the name is not one`:  {{Resource: "Widgets"}},
		`"a/b" of group "": the name is not one`:      {{Resource: "a/b"}},
		`"widgets" of group "/": the name is not one`: {{Resource: "widgets", Group: "/"}},
		"two rules for widgets.example.com":           {widgetRule, widgetRule},
		"two rules for pods":                          {{Resource: "pods"}, {Resource: "pods"}},
		"objects are not of type int":                 {{Resource: "pods", Type: reflect.TypeFor[int]()}},
		"has an index":                                {{Resource: "widgets", Keep: []string{"a[0]"}}},
		"spec.b: Invalid value: is not specified": {{Resource: "widgets", Keep: []string{"spec.a", "spec.b"}, Schema: &schema.Structural{
			Properties: map[string]*schema.Structural{"spec": {Properties: map[string]*schema.Structural{"a": {}}}},
		}}},
	} {
		_, err := projection.New(projection.Options{}, rules...)
		require.ErrorContains(t, err, want)
	}
	_, err := projection.New(projection.Options{MaxObjectBytes: -1})
	require.ErrorContains(t, err, "less than 0")
	_, err = projection.New(projection.Options{MaxListBytes: -1})
	require.ErrorContains(t, err, "less than 0")
	assert.Panics(t, func() { newProjection(t, projection.Options{}).Transport(nil) })
}

type idle struct {
	roundTrip
	closed bool
}

func (i *idle) CloseIdleConnections() { i.closed = true }

// TestWrapped says that what looks through transports finds the one below.
func TestWrapped(t *testing.T) {
	p := newProjection(t, projection.Options{}, widgetRule)
	lost := fmt.Errorf("no route")
	next := &idle{roundTrip: func(*http.Request) (*http.Response, error) { return nil, lost }}
	rt := p.Transport(next)
	(&http.Client{Transport: rt}).CloseIdleConnections()
	assert.True(t, next.closed)
	p.Transport(next.roundTrip).(interface{ CloseIdleConnections() }).CloseIdleConnections()
	assert.Same(t, next, rt.(interface{ WrappedRoundTripper() http.RoundTripper }).WrappedRoundTripper())
	_, err := rt.RoundTrip(httptest.NewRequest(http.MethodGet, "http://localhost"+widgets, nil))
	assert.Same(t, lost, err)
}

// TestCounts reads one of each.
func TestCounts(t *testing.T) {
	p := newProjection(t, projection.Options{}, widgetRule)
	list, event := `{"items":[`+full+`]}`, `{"type":"ADDED","object":`+full+"}\n"
	for path, text := range map[string]string{widgets: list, widgets + "/a": full, widgets + "?watch=1": event + event} {
		_, _, err := read(t, p, respond(strings.NewReader(text)), path)
		require.NoError(t, err)
	}
	left := len(full) - len(projected)
	c := p.Counts()
	assert.Equal(t, projection.Counts{
		Objects: 1, Lists: 1, Events: 2, Passed: map[string]uint64{},
		BytesRead: uint64(len(list) + len(full) + 2*len(event)),
		BytesKept: uint64(len(list) + len(full) + 2*len(event) - 4*left),
	}, c)
}
