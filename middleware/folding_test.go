package middleware_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/middleware"
	"github.com/espalier-dev/espalier/request"
)

// A foldingServer reads a request in every way in which some server might read it otherwise than
// the middleware does.
type foldingServer struct {
	arrived bool
	body    string
	breach  string // how a body with an unknown field would reach the resource
}

// RoundTrip takes the place of sending the request from a ReverseProxy.
func (f *foldingServer) RoundTrip(r *http.Request) (*http.Response, error) {
	body := []byte{}
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
	}
	f.arrived, f.body = true, string(body)
	if strings.Contains(f.body, "EVIL") {
		for _, method := range methodsOf(r) {
			for _, target := range targetsOf(r) {
				for _, reading := range readings(target) {
					if isFoldedWrite(method) && resourcePaths.MatchString(reading) && f.breach == "" {
						f.breach = method + " " + reading
					}
				}
			}
		}
	}
	return &http.Response{StatusCode: 201, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}

// resourcePaths are the paths below which bodies are objects, for the folding server.
var resourcePaths = regexp.MustCompile(`^/apis/example\.com/v1/(namespaces/[^/]*/)?foos(/[^/]*(/status(/.*)?)?)?/?$`)

func isFoldedWrite(method string) bool {
	switch strings.ToUpper(strings.TrimSpace(method)) {
	case "GET", "HEAD", "DELETE", "OPTIONS":
		return false
	}
	return true // MERGE may be anything
}

// headersLike returns the values of headers whose names are among these after underscores were read
// as hyphens.
func headersLike(h http.Header, names ...string) (values []string) {
	for name, all := range h {
		for _, want := range names {
			if strings.EqualFold(strings.ReplaceAll(name, "_", "-"), want) {
				values = append(values, all...)
			}
		}
	}
	return values
}

func methodsOf(r *http.Request) []string {
	methods := append(headersLike(r.Header, "X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"), r.Method)
	return append(methods, r.URL.Query()["_method"]...)
}

func targetsOf(r *http.Request) []string {
	target := r.URL.RequestURI()
	targets := append(headersLike(r.Header, "X-Original-URL", "X-Original-URI", "X-Rewrite-URL", "X-Forwarded-Uri", "X-Forwarded-Path"), target)
	for _, prefix := range headersLike(r.Header, "X-Script-Name", "X-Forwarded-Prefix") {
		targets = append(targets, strings.TrimPrefix(target, prefix))
	}
	return targets
}

// unicodeFolds are the results of normal forms, case mappings, best fits and lenient decoders.
var unicodeFolds = func() *strings.Replacer {
	pairs := []string{
		"\u2024", ".", "\u2025", "..", "\ufe52", ".", "\u2215", "/", "\u2044", "/", "\ufe68", `\`, "\u2216", `\`,
		"\xc0\xae", ".", "\xe0\x80\xae", ".", "\xc0\xaf", "/", "\xe0\x80\xaf", "/", "\xc1\x9c", `\`,
		"%u002e", ".", "%u002f", "/", "%U002E", ".",
		"\u017f", "s", "\u0131", "i", "\u0130", "i", "\u212a", "k", "\u24d0", "a", "\u1d43", "a", "\u00aa", "a",
	}
	for c := rune('!'); c <= '~'; c++ {
		pairs = append(pairs, string(c-'!'+'\uff01'), string(c))
	}
	return strings.NewReplacer(pairs...)
}()

// readings returns every reading of the target of a request.
func readings(target string) (all []string) {
	if u, err := url.Parse(target); err == nil && u.Host != "" {
		target = u.EscapedPath()
	}
	target, _, _ = strings.Cut(target, "?")
	for range 4 { // one more decoding each time
		for options := range 16 {
			all = append(all, reading(target, func(i int) bool { return options>>i&1 != 0 }))
		}
		target = unescapeLeniently(target)
	}
	return all
}

func reading(p string, does func(int) bool) string {
	p = strings.ReplaceAll(unicodeFolds.Replace(p), `\`, "/")
	if does(0) {
		p, _, _ = strings.Cut(p, "\x00")
	}
	if does(1) {
		p = p[:min(len(p), strings.IndexAny(p+"?", "?#"))]
	}
	elements := strings.Split(p, "/")
	for i, e := range elements {
		if does(2) {
			e, _, _ = strings.Cut(e, ";")
		}
		e = strings.TrimFunc(e, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '+' || r == '\u00a0' })
		if strings.Trim(e, ".") != "" {
			e = strings.TrimRight(e, ".")
			// Of a version, and of the elements below it.
			for _, format := range []string{".json", ".yaml"} {
				if i >= 3 {
					e = strings.TrimSuffix(e, format)
				}
			}
		}
		elements[i] = e
	}
	p = strings.ToLower(strings.Join(elements, "/"))
	if does(3) {
		p = path.Clean("/" + p)
	}
	return p
}

// unescapeLeniently decodes escapes once, and leaves malformed ones.
func unescapeLeniently(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		var c byte
		if n, _ := fmt.Sscanf(s[i:min(len(s), i+3)], "%%%02x", &c); n == 1 && i+3 <= len(s) {
			b.WriteByte(c)
			i += 2
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// evil is a body with a field that no schema has.
var evil = foo(`,"spec":{"EVIL":1}`)

// through sends a request, in the form that it has on the wire, through a middleware and a reverse
// proxy. It reports in ok whether net/http accepts the request.
func through(tb testing.TB, find request.Finder, opts middleware.Options, text string) (f *foldingServer, code int, ok bool) {
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
	if err != nil {
		return nil, 0, false
	}
	f = new(foldingServer)
	upstream, err := url.Parse("http://upstream")
	require.NoError(tb, err)
	proxy := &httputil.ReverseProxy{Transport: f, Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(upstream) }}
	w := httptest.NewRecorder()
	middleware.New(find, opts)(proxy).ServeHTTP(w, r)
	return f, w.Code, true
}

func onWire(method, target, headers string) string {
	return method + " " + target + " HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n" + headers +
		fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(evil), evil)
}

// mutations are targets that somebody could mistake for target, by what was changed.
func mutations(target string) map[string]string {
	all := map[string]string{}
	add := func(what, mutated string) { all[what+": "+mutated] = mutated }
	around := []string{
		";", ";x", ";x=1", ";/", "%3b", "%253b", ".", "..", "%2e", "%252e", "%20", "%2520", "+", "%09", "%0a", "%0d", "%00", "%2500", "%7f", "%c2%a0",
		"\\", "%5c", "%255c", "%2f", "%252f", "%25252f", "%c0%af", "%e0%80%af", "%ef%bc%8f", "%e2%88%95", "%e2%81%84", "%ef%bc%bc",
		"?", "%3f", "%253f", "#", "%23", ".json", ".yaml", "~", ":", ":x", "@", "$", "&", "=", ",", "!", "*", "'", "(", "|", "\"", "<", "^", "{", "`", "%", "%25", "%zz", "%u002f",
	}
	between := []string{
		"/", "/./", "/x/../", "/x/..;/", "/x/..;x/", "/x/%2e%2e/", "/x/.%2e/", "/x/%252e%252e/", "/x/%25252e./", "/x/..%00/", "/x/..%20/", "/x/%20../", "/x/..%5c", "/x\\..\\",
		"/x/..%2f", "/x%2f..%2f", "/x%252f..%252f", "/x/%c0%ae%c0%ae/", "/x/%e0%80%ae./", "/x/%ef%bc%8e%ef%bc%8e/", "/x/%e2%80%a4./", "/x/%e2%80%a5/", "/x/%u002e%u002e/", "/x/%25u002e./", "/x/..+/", "/.%00/",
		"/%2e/", "/;/", "/%20/", "/%00/", "/x/..?/", "/x/..%3f/", "/x/..#/",
	}
	for i := range len(target) + 1 {
		atEdge := i == len(target) || target[i] == '/' || i > 0 && target[i-1] == '/'
		if atEdge {
			for _, s := range around {
				add("inserted "+s, target[:i]+s+target[i:])
			}
		}
		if i == len(target) {
			break
		}
		if target[i] == '/' {
			for _, s := range append(between, "%2f", "%252f", "%25252f", "\\", "%5c", "%255c", "%c0%af", "%ef%bc%8f", "%e2%88%95") {
				add("a slash is "+s, target[:i]+s+target[i+1:])
				add("a slash and "+s, target[:i]+"/"+strings.TrimPrefix(s, "/")+target[i+1:])
			}
			continue
		}
		c := target[i]
		for _, s := range []string{strings.ToUpper(string(c)), fmt.Sprintf("%%%02x", c), fmt.Sprintf("%%25%02x", c), fmt.Sprintf("%%2525%02x", c), url.PathEscape(string(rune(c) - '!' + '\uff01'))} {
			add("spelled", target[:i]+s+target[i+1:])
		}
		for _, s := range []string{"\u017f", "\u0131", "\u0130", "\u24d0", "\u1d43", "\u00aa"} {
			add("looks alike", target[:i]+url.PathEscape(s)+target[i+1:])
		}
	}
	for _, form := range []string{"http://evil", "HTTP://evil:80", "http:", "http://evil/x/..", "x:http://h", "h", "//h", "///", "/x", "", "*", "http://evil?", "http://u:p@evil"} {
		add("form", form+target)
		add("form", form)
	}
	return all
}

var writePaths = []string{
	"/apis/example.com/v1/foos", "/apis/example.com/v1/foos/n", "/apis/example.com/v1/foos/n/status",
	"/apis/example.com/v1/namespaces/x/foos", "/apis/example.com/v1/namespaces/x/foos/n", "/apis/example.com/v1/namespaces/x/foos/n/status",
	"/apis/example.com/v1/foos?watch=true", "/apis/example.com/v1/foos/",
}

// elsewhere are paths without a resource, from which somebody might get to the resource.
var elsewhere = []string{
	"/api/v1/nodes/n/proxy/", "/api/v1/namespaces/x/services/http:s:80/proxy/", "/apis/other.com/v1/things/n/", "/apis/other.com/v1/things/n/proxy/",
	"/apis/example.com/v1/foos/n/scale/", "/openapi/v3/", "/x/", "/",
}

// TestFoldingUpstreams sends every spelling of a resource's path to a server that reads it as that
// path.
func TestFoldingUpstreams(t *testing.T) {
	finders := map[string]request.Finder{
		"default": byPath(t), "groups": request.Paths{Catalog: catalog(t), Unknown: request.PassUnknownGroups}.Finder(),
	}
	for name, find := range finders {
		counts := map[string]int{}
		try := func(what, text string) {
			f, code, ok := through(t, find, middleware.Options{}, text)
			switch {
			case !ok:
				counts["no request"]++
			case !f.arrived:
				counts["refused"]++
				assert.GreaterOrEqual(t, code, 400, what)
			case strings.Contains(f.body, "EVIL"):
				counts["passed"]++
				assert.Empty(t, f.breach, "%s, with %s", what, name)
			default:
				counts["pruned"]++
			}
		}
		for _, p := range writePaths {
			for what, target := range mutations(p) {
				try(what, onWire("POST", target, ""))
			}
		}
		for _, from := range elsewhere {
			up := strings.Repeat("../", strings.Count(from, "/")-1)
			for what, climb := range mutations(up + "apis/example.com/v1/foos") {
				try(what, onWire("PUT", from+strings.TrimPrefix(climb, "/"), ""))
			}
		}
		t.Log(name, counts)
		for _, class := range []string{"no request", "refused", "passed", "pruned"} {
			assert.Greater(t, counts[class], 100, class)
		}
	}
}

// TestFoldingMethods has other spellings of methods, methods that a server may take for a write,
// and parameters and headers that override methods.
func TestFoldingMethods(t *testing.T) {
	for _, find := range []request.Finder{byPath(t), request.ByKind(catalog(t))} {
		for _, opts := range []middleware.Options{{}, {Options: request.Options{Patches: request.PassPatches}}} {
			for _, method := range []string{"post", "Post", "pOST", "PUT", "put", "patch", "Patch", "PRI", "MERGE", "QUERY", "PROPFIND", "PROPPATCH", "COPY", "MKCOL", "TRACE", "CONNECT", "LINK", "X", "GET", "Get", "HEAD", "DELETE", "delete", "OPTIONS"} {
				f, code, ok := through(t, find, opts, onWire(method, foosPath, ""))
				if ok && !f.arrived {
					assert.Contains(t, []int{http.StatusMethodNotAllowed, http.StatusBadRequest}, code, method)
				}
				for _, override := range []string{"X-HTTP-Method-Override", "x-http-method", "X-Method-Override", "X_HTTP_Method_Override", "X-HTTP_METHOD"} {
					f, _, ok := through(t, find, opts, onWire(method, foosPath, override+": POST\r\n"))
					assert.False(t, ok && f.arrived, "%s with %s", method, override)
				}
				for _, query := range []string{"?_method=PUT", "?a=b&_Method=PUT", "?%5fmethod=PUT", "?a;_method=PUT", "?%5F%6Dethod=PUT"} {
					f, _, ok := through(t, find, opts, onWire(method, foosPath+query, ""))
					assert.False(t, ok && f.arrived, "%s with %s", method, query)
				}
				if ok {
					assert.Empty(t, f.breach, method)
				}
			}
		}
	}
	w, got := send(t, byPath(t), middleware.Options{}, httptest.NewRequest("post", foosPath, strings.NewReader(evil)))
	s := refused(t, w, got, http.StatusMethodNotAllowed)
	assert.Equal(t, "MethodNotAllowed", s.Reason)
	assert.Equal(t, "GET, HEAD, DELETE, OPTIONS, POST, PUT, PATCH", w.Header().Get("Allow"))
	f, _, _ := through(t, byPath(t), middleware.Options{}, onWire("GET", foosPath+"?method=a&x=_method&%zz=1&my_method=2", ""))
	assert.True(t, f.arrived)
}

// TestHeadersOfOtherPaths: the upstream reads the path that was judged.
func TestHeadersOfOtherPaths(t *testing.T) {
	for _, header := range []string{
		"X-Original-URL: " + foosPath, "X-Rewrite-URL: " + foosPath, "X_Rewrite_URL: " + foosPath, "X-ORIGINAL-URI: " + foosPath, "X-Forwarded-Uri: " + foosPath,
		"X-Forwarded-Path: " + foosPath, "X-Script-Name: /x", "X-Forwarded-Prefix: /x", "X-Forwarded_Prefix: /x",
	} {
		f, _, ok := through(t, byPath(t), middleware.Options{}, onWire("POST", "/x"+foosPath, header+"\r\nX-Other: 1\r\n"))
		require.True(t, ok && f.arrived, header)
		assert.Contains(t, f.body, "EVIL", "the path is another one")
		assert.Empty(t, f.breach, header)
	}
	// Requests that only read may have them, because some are for links.
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("X-Forwarded-Prefix", "/x")
	_, got := send(t, byPath(t), middleware.Options{}, r)
	assert.Same(t, r, got.Request)
}

// Headers that frameworks made for CGI take for a header that was judged do not pass.
func TestHeadersWithUnderscores(t *testing.T) {
	r := post(foosPath, "application/json", evil)
	for _, name := range []string{"Content_Type", "Content-Type_", "Content_Encoding", "Transfer_Encoding", "Content_Length", "Content_Range", "Other_Name"} {
		r.Header[http.CanonicalHeaderKey(name)] = []string{"x"}
	}
	_, got := send(t, byPath(t), middleware.Options{}, r)
	require.NotNil(t, got)
	assert.Equal(t, http.Header{"Content-Type": {"application/json"}, "Content-Type_": {"x"}, "Other_name": {"x"}}, got.Header)
	assert.Len(t, r.Header, 8, "the request itself was changed")
}

// TestContentRange: a body that was decoded as a whole object must not be stored as a part of one.
func TestContentRange(t *testing.T) {
	for _, opts := range []middleware.Options{{}, {Options: request.Options{Action: request.Report}}, {Stream: true}} {
		r := post(foosPath, "application/json", evil)
		r.Header.Set("Content-Range", "bytes 0-10/100")
		w, got := send(t, byPath(t), opts, r)
		refused(t, w, got, http.StatusBadRequest)
		assert.Contains(t, w.Body.String(), "Content-Range")
	}
}

// TestConnectionOptions: a request cannot remove a header that says how the body is read.
func TestConnectionOptions(t *testing.T) {
	for _, option := range []string{"content-type", "close, Content-Type", "CONTENT-LENGTH", "x,, content-encoding", "Transfer-Encoding"} {
		for _, opts := range []middleware.Options{{}, {Options: request.Options{Action: request.Report}}, {Stream: true}, {Options: request.Options{Patches: request.PassPatches}}} {
			for _, method := range []string{"POST", "PUT", "PATCH"} {
				f, code, ok := through(t, byPath(t), opts, onWire(method, foosPath, "Connection: keep-alive\r\nConnection: "+option+"\r\n"))
				require.True(t, ok)
				assert.False(t, f.arrived, option)
				assert.Equal(t, http.StatusBadRequest, code)
			}
		}
	}
	for _, option := range []string{"close", "keep-alive, x-y", "TE", "upgrade", "HTTP2-Settings, Upgrade"} {
		f, _, ok := through(t, byPath(t), middleware.Options{}, onWire("POST", foosPath, "Connection: "+option+"\r\n"))
		assert.True(t, ok && f.arrived, option)
	}
}
