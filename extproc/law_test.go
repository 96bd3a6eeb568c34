package extproc_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	filterv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/extproc"
	"github.com/espalier-dev/espalier/middleware"
	"github.com/espalier-dev/espalier/request"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// plans is the path of the resource of the tests.
const plans = "/apis/backup.example.com/v1/namespaces/default/backupplans"

func catalog(t testing.TB, opts ...schema.Option) *schema.Catalog {
	c := schema.NewCatalog(opts...)
	require.NoError(t, c.AddPath("../testdata/quickstart/crd.yaml"))
	return c
}

// plan returns an object with more members of its spec.
func plan(members string) string {
	return `{"apiVersion":"backup.example.com/v1","kind":"BackupPlan","metadata":{"name":"a"},"spec":{"schedule":"0 3 * * *",` +
		`"sources":[{"claim":"data"}],"target":{"bucket":"b"}` + members + `}}`
}

func gzipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return b.String()
}

// through returns what has become of a call that went through middleware.
func through(t testing.TB, find request.Finder, opts request.Options, c call) (f fate) {
	next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		f.reached, f.isWhole, f.body, f.header = true, err == nil, string(body), r.Header
		w.Header().Add("Warning", `299 - "upstream"`)
		w.WriteHeader(http.StatusCreated)
	})
	r := httptest.NewRequest(http.MethodGet, "/", strings.NewReader(c.body))
	r.Method = c.method
	r.URL = mustParse(t, c.target)
	for i := 0; i+1 < len(c.header); i += 2 {
		r.Header.Add(c.header[i], c.header[i+1])
	}
	if length := r.Header.Get("Content-Length"); length != "" { // as a server does
		n, err := strconv.ParseInt(length, 10, 64)
		require.NoError(t, err)
		r.ContentLength = n
	}
	w := httptest.NewRecorder()
	middleware.New(find, middleware.Options{Options: opts})(next).ServeHTTP(w, r)
	f.code, f.response = w.Code, w.Header()
	if w.Code != http.StatusCreated {
		f.answer = w.Body.String()
	}
	return f
}

// calls are requests of all sorts: good ones, and those by which attackers got past other proxies.
func calls() map[string]call {
	with := func(method, target, body string, header ...string) call {
		return call{method: method, target: target, header: header, body: body}
	}
	json := func(method, target, body string, header ...string) call {
		return with(method, target, body, append([]string{"Content-Type", "application/json"}, header...)...)
	}
	var many strings.Builder
	for i := range 200 {
		fmt.Fprintf(&many, `,"a%d":1`, i)
	}
	list := map[string]call{
		"many unknown fields":   json("POST", plans, plan(many.String())),
		"good":                  json("POST", plans, plan("")),
		"unknown fields":        json("POST", plans, plan(`,"a":1,"b":2`)),
		"strict":                json("POST", plans+"?fieldValidation=Strict", plan(`,"a":1`)),
		"strict and good":       json("POST", plans+"?fieldValidation=Strict", plan("")),
		"ignored":               json("POST", plans+"?fieldValidation=Ignore", plan(`,"a":1`)),
		"no such validation":    json("POST", plans+"?fieldValidation=strict", plan("")),
		"repeated names":        json("PUT", plans+"/a", plan(`,"suspend":true,"suspend":false`)),
		"status":                json("PUT", plans+"/a/status", plan("")),
		"malformed":             json("POST", plans, plan("")+"}"),
		"cut off":               json("POST", plans, plan("")[:20]),
		"no body":               json("POST", plans, ""),
		"another kind":          json("POST", plans, strings.Replace(plan(""), "BackupPlan", "Other", 1)),
		"invalid values":        json("POST", plans, plan(`,"retention":{"daily":-1}`)),
		"too large":             json("POST", plans, plan(`,"a":"`+strings.Repeat("x", 5<<10)+`"`)),
		"too large by length":   json("POST", plans, plan(""), "Content-Length", "999999"),
		"YAML":                  with("POST", plans, "apiVersion: backup.example.com/v1\nkind: BackupPlan\nspec: {schedule: x, z: 1}\n", "Content-Type", "application/yaml"),
		"aliases":               with("POST", plans, "a: &a [x,x,x,x,x,x,x,x]\n"+strings.Repeat("b: [*a,*a,*a,*a]\n", 9), "Content-Type", "application/yaml"),
		"merge patch":           with("PATCH", plans+"/a", `{"spec":{"suspend":null,"z":1}}`, "Content-Type", "application/merge-patch+json"),
		"apply patch":           with("PATCH", plans+"/a", `{"apiVersion":"backup.example.com/v1","kind":"BackupPlan","spec":{}}`, "Content-Type", "application/apply-patch+yaml"),
		"JSON patch":            with("PATCH", plans+"/a", `[]`, "Content-Type", "application/json-patch+json"),
		"no type":               with("POST", plans, plan("")),
		"two types":             json("POST", plans, plan(""), "Content-Type", "application/yaml"),
		"a list of types":       with("POST", plans, plan(""), "Content-Type", "application/json, text/plain"),
		"another type":          with("POST", plans, plan(""), "Content-Type", "text/plain"),
		"charset":               with("POST", plans, plan(""), "Content-Type", "application/json; charset=utf-7"),
		"gzip":                  json("POST", plans, gzipped(plan("")), "Content-Encoding", "gzip"),
		"gzip that is none":     json("POST", plans, plan(""), "Content-Encoding", "gzip"),
		"two encodings":         json("POST", plans, plan(""), "Content-Encoding", "identity", "Content-Encoding", "br"),
		"range":                 json("POST", plans, plan(""), "Content-Range", "bytes 0-1/2"),
		"digests":               json("POST", plans, plan(""), "Digest", "x", "Content-Md5", "y", "X-Other", "z"),
		"GET":                   with("GET", plans, ""),
		"GET with a body":       json("GET", plans, "anything"),
		"DELETE with a body":    json("DELETE", plans+"/a", `{"kind":"DeleteOptions"}`),
		"unknown group":         json("POST", "/apis/other.example.com/v1/things", "anything", "Content-Encoding", "br"),
		"outside of the API":    json("POST", "/healthz", "anything"),
		"core":                  json("POST", "/api/v1/namespaces/default/pods", `{"kind":"Pod"}`),
		"unknown resource":      json("POST", "/apis/backup.example.com/v1/others", "{}"),
		"scale":                 json("PUT", plans+"/a/scale", `{"kind":"Scale"}`),
		"override":              json("GET", plans, "", "X-HTTP-Method-Override", "POST"),
		"override by method":    json("POST", plans, plan(""), "X-Http-Method", "PUT"),
		"override, underscores": json("GET", plans, "", "x_http_method_override", "POST"),
		"override by query":     json("GET", plans+"?%5Fmethod=post", ""),
		"another path":          json("POST", plans, plan(""), "X-Original-URL", "/x", "X-Rewrite-Url", "/y", "X-Other", "z"),
		"underscores":           json("POST", plans, plan(""), "content_type", "text/plain", "content_length", "3"),
		"upgrade":               json("POST", plans, plan(""), "Upgrade", "h2c", "Connection", "upgrade, http2-settings", "HTTP2-Settings", "x"),
		"upgrade of a GET":      json("GET", plans, "", "Upgrade", "h2c"),
		"websocket":             json("GET", plans, "", "Upgrade", "websocket"),
		"websocket elsewhere":   json("GET", "/api/v1/namespaces/a/pods/b/exec", "", "Upgrade", "websocket", "Connection", "Upgrade"),
		"connection":            json("POST", plans, plan(""), "Connection", "close, Content-Type"),
		"expect":                json("POST", plans, plan(""), "Expect", "100-continue"),
	}
	for _, path := range []string{
		"/apis/backup.example.com/v1/BackupPlans", "/APIS/backup.example.com/v1/backupplans", "/apis/backup.example.com/v1/backupplans;x=1",
		"/apis;x/backup.example.com/v1/backupplans", "/x/..;/apis/backup.example.com/v1/backupplans", "/apis%5cbackup.example.com/v1/backupplans",
		"/apis/backup.example.com/v1/backupplans%20", "/apis/backup.example.com/v1/backupplans%00", "/apis/backup.example.com/v1/%2562ackupplans",
		"//apis/backup.example.com/v1/backupplans", "/x/../apis/backup.example.com/v1/backupplans", "/apis/backup.example.com/v1/./backupplans",
		"http://host/apis/backup.example.com/v1/backupplans", "/apis/backup.example.com/v1/backupplans?x", "/%61pis/backup.example.com/v1/backupplans",
	} {
		list["path "+path] = json("POST", path, plan(`,"a":1`))
	}
	for _, method := range []string{"post", "Post", "PRI", "MERGE", "CONNECT", "TRACE", "PATCH ", "QUERY"} {
		list["method "+method] = json(method, plans, plan(`,"a":1`))
	}
	return list
}

// TestLaw holds that a request has the same fate as in middleware, whatever the mode is and however
// its body is divided.
func TestLaw(t *testing.T) {
	values := catalog(t, validation.Values())
	for name, config := range map[string]struct {
		find request.Finder
		opts request.Options
	}{
		"by path": {request.ByPath(catalog(t)), request.Options{MaxBytes: 4 << 10}},
		"as the server, with gzip and values": {
			request.ByPath(values, decoder.ServerRequests, decoder.ValidateCreate), request.Options{MaxBytes: 4 << 10, Gzip: true}},
		"report":          {request.ByPath(catalog(t)), request.Options{MaxBytes: 4 << 10, Action: request.Report, Gzip: true, ProblemDetails: true}},
		"by kind":         {request.ByKind(catalog(t)), request.Options{MaxBytes: 4 << 10}},
		"patches pass":    {request.ByPath(catalog(t)), request.Options{MaxBytes: 4 << 10, Patches: request.PassPatches}},
		"nothing unknown": {request.Paths{Catalog: catalog(t), Unknown: request.PassNothing}.Finder(), request.Options{MaxBytes: 4 << 10}},
	} {
		t.Run(name, func(t *testing.T) {
			e := start(t, extproc.New(config.find, extproc.Options{Options: config.opts}))
			for name, c := range calls() {
				want := through(t, config.find, config.opts, c)
				for _, mode := range []filterv3.ProcessingMode_BodySendMode{buffered, partial, streamed, fullDuplex} {
					for _, chunk := range []int{1, 7, 100, 1 << 20} {
						if chunk < 1<<20 && (mode == buffered || mode == partial) || chunk == 1 && len(c.body) > 1<<10 {
							continue
						}
						what := fmt.Sprintf("%s, %s by %d", name, mode, chunk)
						got, err := e.as(mode, chunk).send(t.Context(), c)
						require.NoError(t, err, what)
						same(t, want, got, mode, what)
					}
				}
			}
		})
	}
}

// same asserts that a call has the fate that it has in middleware.
func same(t *testing.T, want, got fate, mode filterv3.ProcessingMode_BodySendMode, what string) {
	require.Equal(t, want.code, got.code, "%s: %s", what, got.answer)
	require.Equal(t, want.answer, got.answer, what)
	require.Equal(t, want.reached, got.reached && got.isWhole, what)
	if !want.reached {
		for _, name := range []string{"Content-Type", "Retry-After", "Allow", "Accept", "Accept-Patch", "Warning", "X-Content-Type-Options"} {
			assert.Equal(t, want.response[name], got.response[name], "%s: %s", what, name)
		}
		return
	}
	require.Equal(t, want.body, got.body, what)
	warnings := func(h http.Header) string {
		var others []string
		for _, w := range h["Warning"] {
			if w != `299 - "upstream"` {
				others = append(others, w)
			}
		}
		return strings.Join(others, ", ") // which means the same
	}
	assert.Equal(t, warnings(want.response), warnings(got.response), what)
	assert.Contains(t, got.response["Warning"], `299 - "upstream"`, what)
	if length := got.header.Get("Content-Length"); length != "" && want.body != "" {
		assert.Equal(t, fmt.Sprint(len(want.body)), length, what)
	}
	want.header.Del("Content-Length") // Envoy knows the length in mode BUFFERED alone
	got.header.Del("Content-Length")
	want.header.Del("Connection") // Envoy makes its own
	got.header.Del("Connection")
	assert.Equal(t, want.header, got.header, what)
}

func mustParse(t testing.TB, target string) *url.URL {
	u, err := url.ParseRequestURI(target)
	require.NoError(t, err)
	return u
}
