package middleware_test

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/middleware"
	"github.com/espalier-dev/espalier/request"
)

// TestUpgrades: a request may switch to a protocol of the list if there is no schema for its path.
func TestUpgrades(t *testing.T) {
	const exec = "/api/v1/namespaces/x/pods/p/exec"
	path, strict := byPath(t), request.Paths{Catalog: catalog(t), Unknown: request.PassUnknownGroups}.Finder()
	for _, c := range []struct {
		find             request.Finder
		method, target   string
		protocols        []string
		isPassed, isKept bool
	}{
		{path, "GET", exec, []string{"websocket"}, true, true},
		{path, "GET", exec, []string{"WebSocket"}, true, true},
		{path, "GET", exec, []string{"SPDY/3.1"}, true, true},
		{path, "POST", exec, []string{"SPDY/3.1"}, true, true},
		{strict, "POST", exec, []string{"SPDY/3.1"}, true, true},
		{path, "POST", exec, []string{"websocket"}, true, false},
		{path, "PUT", exec, []string{"SPDY/3.1"}, true, false},
		{path, "DELETE", exec, []string{"websocket"}, true, false},
		{path, "GET", exec, []string{"h2c"}, true, false},
		{path, "POST", exec, []string{"h2c"}, true, false},
		{path, "OPTIONS", "/", []string{"h2c"}, true, false},
		{path, "GET", exec, []string{"websocket, h2c"}, true, false},
		{path, "GET", exec, []string{"websocket", "h2c"}, true, false},
		{path, "GET", exec, []string{"TLS/1.0"}, true, false},
		{path, "GET", exec, []string{""}, true, false},
		{path, "GET", exec, []string{" websocket"}, true, false}, // a server has trimmed it
		{path, "GET", foosPath, []string{"websocket"}, true, false},
		{path, "POST", foosPath, []string{"SPDY/3.1"}, true, false},
		{path, "GET", strings.ToUpper(foosPath), []string{"websocket"}, true, false},
		{path, "POST", strings.ToUpper(foosPath), []string{"SPDY/3.1"}, false, false},
		{path, "GET", "/x/..;/" + foosPath, []string{"websocket"}, true, false},
		{strict, "GET", "/apis/example.com/v1/bars/n/exec", []string{"websocket"}, true, false},
		{strict, "POST", "/apis/example.com/v1/bars/n/exec", []string{"SPDY/3.1"}, false, false},
		{request.ByKind(catalog(t)), "GET", exec, []string{"websocket"}, true, false},
		{request.ByKind(catalog(t)), "POST", exec, []string{"SPDY/3.1"}, true, false},
		{func(*request.Request, request.Peek) (*request.Resource, error) { return request.Pass, nil }, "GET", exec, []string{"websocket"}, true, true}, // a finder of nothing
	} {
		for _, opts := range []middleware.Options{{}, {Options: request.Options{Action: request.Report}}, {Stream: true}, {Options: request.Options{Patches: request.PassPatches}}} {
			r := httptest.NewRequest(c.method, c.target, strings.NewReader(foo("")))
			r.Header["Upgrade"] = c.protocols
			r.Header["Connection"] = []string{"keep-alive, Upgrade", "HTTP2-Settings"}
			r.Header["Http2-Settings"] = []string{"AAMAAABkAAQAAP__"}
			w, got := send(t, c.find, opts, r)
			if !c.isPassed {
				assert.Nil(t, got, "%s %s %q", c.method, c.target, c.protocols)
				assert.GreaterOrEqual(t, w.Code, 400)
				continue
			}
			require.NotNil(t, got, "%s %s %q", c.method, c.target, c.protocols)
			assert.Empty(t, got.Header["Http2-Settings"])
			if c.isKept {
				assert.Equal(t, c.protocols, got.Header["Upgrade"])
				assert.Equal(t, []string{"keep-alive, Upgrade", "HTTP2-Settings"}, got.Header["Connection"])
			} else {
				assert.Empty(t, got.Header["Upgrade"], "%s %s %q", c.method, c.target, c.protocols)
				assert.Equal(t, []string{"keep-alive"}, got.Header["Connection"])
			}
			assert.Equal(t, c.protocols, r.Header["Upgrade"], "the request itself was changed")
		}
	}
	r := httptest.NewRequest("GET", "/", nil)
	r.Header = http.Header{"Upgrade": {"h2c"}, "Connection": {"upgrade"}}
	_, got := send(t, path, middleware.Options{}, r)
	assert.Empty(t, got.Header)
}

// TestReportPassesNoCharset: a body that passes as it was sent is read as it was judged.
func TestReportPassesNoCharset(t *testing.T) {
	report := middleware.Options{Options: request.Options{Action: request.Report}}
	body := foo(`,"spec":{"a":"+ACI-,+ACI-b+ACI-:+ACI-"}`) // in UTF-7, +ACI- is a quotation mark
	for contentType, want := range map[string]string{
		"": "application/json", "application/json": "application/json", "Application/JSON; charset=UTF-8; x=y": "application/json",
		`application/json; charset="utf8"`: "application/json", "application/json;": "application/json", "application/yaml;charset=utf-8": "application/yaml",
	} {
		_, got := send(t, byPath(t), report, post(foosPath+"?fieldValidation=Strict", contentType, body))
		require.NotNil(t, got, contentType)
		assert.Equal(t, []string{want}, got.Header["Content-Type"], contentType)
		assert.Equal(t, body, got.body)
	}
	for _, contentType := range []string{
		"application/json; charset=utf-7", "application/json; charset=utf-16", "application/yaml; charset=latin1", "application/json; CHARSET=UTF-7",
		"application/json; charset*=utf-8''utf-7", "application/json; charset*0=ut; charset*1=f-7",
	} {
		w, got := send(t, byPath(t), report, post(foosPath+"?fieldValidation=Strict", contentType, body))
		refused(t, w, got, http.StatusUnsupportedMediaType)
	}
	for contentType, isPassed := range map[string]bool{
		"application/merge-patch+json": true, "application/merge-patch+json; charset=utf-8": true, "application/merge-patch+json; charset=utf-7": false,
		"application/merge-patch+json; charset=utf-8; charset=utf-7": false, "application/apply-patch+yaml; charset=utf-16": false, "application/apply-patch+yaml;x=y": true,
	} {
		r := post(foosPath+"/n", contentType, body)
		r.Method = http.MethodPatch
		_, got := send(t, byPath(t), report, r)
		assert.Equal(t, isPassed, got != nil, contentType)
		if got != nil {
			plain, _, _ := strings.Cut(contentType, ";")
			assert.Equal(t, []string{plain}, got.Header["Content-Type"])
		}
	}
}

// TestClientTrailers: trailers pass if they were announced and nobody reads the request by them.
func TestClientTrailers(t *testing.T) {
	for _, opts := range []middleware.Options{{}, {Stream: true}, {Options: request.Options{Action: request.Report}}} {
		body := foo("")
		text := "POST " + foosPath + " HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n" +
			"Trailer: X-Sum, Authorization, Content-Encoding, Content-Digest, X_HTTP_Method_Override, If-Match, X-Original-URL, Cookie, Impersonate-User\r\n\r\n" +
			fmt.Sprintf("%x\r\n%s\r\n0\r\n", len(body), body) +
			"X-Sum: 7\r\nAuthorization: Bearer x\r\nContent-Encoding: gzip\r\nContent-Digest: x\r\nX_HTTP_Method_Override: DELETE\r\nIf-Match: x\r\nX-Original-URL: /\r\nCookie: a\r\nImpersonate-User: x\r\n" +
			"X-Other: 1\r\nContent-Length: 3\r\nTransfer-Encoding: gzip\r\nHost: evil\r\n\r\n"
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
		require.NoError(t, err)
		_, got := send(t, byPath(t), opts, r)
		require.NotNil(t, got)
		want := http.Header{"X-Sum": {"7"}}
		if opts.Action == request.Report {
			want["Content-Digest"] = []string{"x"}
		}
		assert.Equal(t, want, got.Trailer)

		// If no trailer is announced, the length is known.
		text = "POST " + foosPath + " HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n0\r\nContent-Length: 3\r\nX-Sum: 7\r\n\r\n", len(body), body)
		r, err = http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
		require.NoError(t, err)
		_, got = send(t, byPath(t), opts, r)
		require.NotNil(t, got)
		assert.Empty(t, got.Trailer)
		if !opts.Stream {
			assert.EqualValues(t, len(body), got.ContentLength)
		}
	}
}

// The observer is also told of requests that are refused before anything else.
func TestGuardIsObserved(t *testing.T) {
	var seen []request.Observation
	opts := middleware.Options{Observer: observer(func(_ *http.Request, o request.Observation) { seen = append(seen, o) })}
	w, got := send(t, byPath(t), opts, httptest.NewRequest("post", foosPath, nil))
	refused(t, w, got, http.StatusMethodNotAllowed)
	require.Len(t, seen, 1)
	assert.Equal(t, http.StatusMethodNotAllowed, seen[0].Refused.Code)
	assert.Nil(t, seen[0].Resource)
}

// TestPassedPatches: requests that are refused for their path are also refused where patches pass.
func TestPassedPatches(t *testing.T) {
	opts := middleware.Options{Options: request.Options{Patches: request.PassPatches}}
	fails := func(*request.Request, request.Peek) (*request.Resource, error) { return nil, errors.New("x") }
	for _, c := range []struct {
		find request.Finder
		path string
		code int
	}{
		{byPath(t), foosPath + "/n", 0},
		{byPath(t), "/api/v1/nodes/n", 0},
		{byPath(t), "/APIS/example.com/v1/foos/n", 400},
		{request.Paths{Catalog: catalog(t), Unknown: request.PassNothing}.Finder(), "/api/v1/nodes/n", 403},
		{request.ByKind(catalog(t)), "/x", 0},
		{fails, "/x", 500},
	} {
		r := post(c.path, "application/json-patch+json", "[]")
		r.Method = http.MethodPatch
		w, got := send(t, c.find, opts, r)
		if c.code != 0 {
			refused(t, w, got, c.code)
			continue
		}
		require.NotNil(t, got, c.path)
		assert.Same(t, r, got.Request)
	}
}
