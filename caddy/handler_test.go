package caddyespalier

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestVersions sends objects over HTTP/1.1, 2 and 3, held and streamed.
func TestVersions(t *testing.T) {
	u := startUpstream(t)
	cert, key, pool := certificate(t)
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writeFile(t, certFile, string(cert))
	writeFile(t, keyFile, string(key))
	for _, mode := range []string{"", "stream"} {
		s := start(t, u.URL, "")
		require.NoError(t, s.loadCaddyfile(fmt.Sprintf(
			"https://127.0.0.1:%d {\n\tbind 127.0.0.1\n\ttls %q %q\n\tespalier {\ncrd ../testdata/quickstart/crd.yaml\n\t%s\n\t}\n\treverse_proxy %s\n}\n",
			s.port, certFile, keyFile, mode, strings.TrimPrefix(u.URL, "http://"))))
		for version, client := range clients(t, pool) {
			what := fmt.Sprintf("HTTP/%d, %s", version, mode)
			url := fmt.Sprintf("https://127.0.0.1:%d%s", s.port, plansPath)
			response, text := do(t, client, "POST", url, "application/json", plan(`"schedul":"x","suspend":true`))
			assert.Equal(t, version, response.ProtoMajor)
			assert.Equal(t, http.StatusCreated, response.StatusCode, "%s: %s", what, text)
			assert.NotContains(t, text, "schedul\"", what)
			assert.Contains(t, text, `"monthly":12`, what)
			assert.Equal(t, []string{`299 - "unknown field \"spec.schedul\""`}, response.Header.Values("Warning"), what)
			assert.Equal(t, "POST "+plansPath+" application/json", response.Header.Get("Got"), what)
			assert.Equal(t, []string{text}, u.taken(), what)

			response, text = do(t, client, "POST", url+"?fieldValidation=Strict", "application/json", plan(`"schedul":"x"`))
			assert.Equal(t, http.StatusBadRequest, response.StatusCode, what)
			assert.Equal(t, "application/json", response.Header.Get("Content-Type"), what)
			assert.Contains(t, text, `strict decoding error: unknown field \"spec.schedul\"`, what)
			assert.Empty(t, u.taken(), what)

			for _, method := range []string{"post", "Post", "MERGE"} { // S4, over all versions
				response, _ = do(t, client, method, url, "application/json", plan(`"x":1`))
				assert.Equal(t, http.StatusMethodNotAllowed, response.StatusCode, "%s: %s", what, method)
			}
			assert.Empty(t, u.taken(), what)

			response, text = do(t, client, "PUT", url+"/a", "application/yaml", "apiVersion: backup.example.com/v1\nkind: BackupPlan\nspec: {x: 1}\n")
			assert.Equal(t, http.StatusCreated, response.StatusCode, what)
			assert.Equal(t, []string{text}, u.taken(), what)
			assert.NotContains(t, text, `"x"`, what)

			if version > 1 { // over 1.1, the client may still be writing when the connection ends
				response, _ = do(t, client, "POST", url, "application/json", plan(`"s":"`+strings.Repeat("x", 4<<20)+`"`))
				assert.Equal(t, http.StatusRequestEntityTooLarge, response.StatusCode, what)
				assert.Empty(t, u.taken(), what)
			}

			response, text = do(t, client, "POST", strings.Replace(url, "backup.example.com", "other.example.com", 1), "text/plain", "{")
			assert.Equal(t, http.StatusCreated, response.StatusCode, what)
			assert.Equal(t, "{", text, what)
			u.taken()
		}
	}
}

// TestErrorRoutes: Caddy's own error handling answers where a site has it.
func TestErrorRoutes(t *testing.T) {
	u := startUpstream(t)
	s := start(t, u.URL, "")
	other := freePort(t)
	for _, mode := range []string{"", "stream"} {
		require.NoError(t, s.loadCaddyfile(fmt.Sprintf(`
http://a.test:%[1]d, http://b.test:%[1]d {
	bind 127.0.0.1
	espalier {
		crd ../testdata/quickstart/crd.yaml
		%[4]s
	}
	reverse_proxy %[3]s
	handle_errors {
		header Content-Type {vars.espalier_content_type}
		respond "own page: {err.status_code} {vars.espalier_reason} {err.message} {vars.espalier_answer}"
	}
}
http://c.test:%[1]d {
	bind 127.0.0.1
	espalier {
		crd ../testdata/quickstart/crd.yaml
		%[4]s
		problem_details
	}
	reverse_proxy %[3]s
}
http://a.test:%[2]d {
	bind 127.0.0.1
	espalier {
		crd ../testdata/quickstart/crd.yaml
	}
	handle_errors 404 {
		respond "none"
	}
}
`, s.port, other, strings.TrimPrefix(u.URL, "http://"), mode)))
		send := func(port int, host, contentType, body string) (*http.Response, string) {
			r, err := http.NewRequest("POST", fmt.Sprintf("http://127.0.0.1:%d%s?fieldValidation=Strict", port, plansPath), strings.NewReader(body))
			require.NoError(t, err)
			r.Host = host
			r.Header.Set("Content-Type", contentType)
			response, err := once.Do(r)
			require.NoError(t, err)
			defer response.Body.Close()
			return response, readAll(t, response)
		}
		response, text := send(s.port, "b.test", "application/json", plan(`"x":1`))
		assert.Equal(t, http.StatusBadRequest, response.StatusCode)
		assert.Equal(t, "application/json", response.Header.Get("Content-Type"))
		assert.True(t, strings.HasPrefix(text, "own page: 400 BadRequest "), text)
		assert.Contains(t, text, `{"kind":"Status","apiVersion":"v1"`)
		assert.Contains(t, text, `unknown field "spec.x"`)

		response, text = send(s.port, "a.test", "text/plain", "")
		assert.Equal(t, http.StatusUnsupportedMediaType, response.StatusCode)
		assert.Contains(t, text, "own page: 415 UnsupportedMediaType")
		assert.Equal(t, "application/json, application/yaml", response.Header.Get("Accept"))

		response, text = send(s.port, "c.test", "application/json", plan(`"x":1`))
		assert.Equal(t, http.StatusBadRequest, response.StatusCode)
		assert.Equal(t, "application/problem+json", response.Header.Get("Content-Type"))
		assert.Contains(t, text, `"pointer":"/spec/x"`, "the error routes of another site are none of its own")

		response, _ = send(other, "a.test", "application/json", plan(`"x":1`))
		assert.Equal(t, http.StatusBadRequest, response.StatusCode, "no route is for this code")
		assert.Empty(t, u.taken())

		// Errors of others are Caddy's as ever.
		require.NoError(t, s.load("127.0.0.1:1", "espalier {\ncrd CRD\n}\nreverse_proxy UPSTREAM\nhandle_errors {\nrespond \"own page: {err.status_code}\"\n}"))
		response, text = s.post(plansPath, plan(""))
		assert.Equal(t, http.StatusBadGateway, response.StatusCode)
		assert.Equal(t, "own page: 502", text)
	}
	logged := s.logged()
	assert.Contains(t, logged, `"logger":"http.log.error`)
	assert.NotContains(t, logged, `"level":"panic"`)
}

// TestErrorRoutesThatProxy: what was refused does not reach a server by an error route either, whether
// its body had come or not.
func TestErrorRoutesThatProxy(t *testing.T) {
	u := startUpstream(t)
	for _, mode := range []string{"", "stream"} {
		s := start(t, u.URL, "espalier {\ncrd CRD\n"+mode+"\n}\nreverse_proxy UPSTREAM\nhandle_errors {\nreverse_proxy UPSTREAM\n}")
		for contentType, query := range map[string]string{"application/json": "?fieldValidation=Strict", "text/plain": ""} {
			response, text := do(t, once, "POST", s.url+plansPath+query, contentType, plan(`"x":1`))
			assert.Equal(t, http.StatusCreated, response.StatusCode, text) // of the server that the route asks
			assert.Equal(t, []string{""}, u.taken(), "%s, %s", contentType, mode)
		}
	}
}

// TestAnswersToRefusedStreams: a handler that answers by itself when it cannot read a body does not
// answer in place of the refusal, and an error that it returns is not that of the request.
func TestAnswersToRefusedStreams(t *testing.T) {
	for _, text := range []string{"", "handle_errors {\nrespond \"own page: {vars.espalier_reason}\"\n}"} {
		s := start(t, "", "espalier {\ncrd CRD\nstream\n}\nroute {\nanswering\n}\n"+text)
		for _, query := range []string{"", "&error"} {
			response, got := s.post(plansPath+"?fieldValidation=Strict"+query, plan(`"x":1`))
			assert.Equal(t, http.StatusBadRequest, response.StatusCode, got)
			if text == "" {
				assert.Contains(t, got, `unknown field \"spec.x\"`)
				assert.True(t, strings.HasSuffix(strings.TrimSpace(got), "}"), got)
			} else {
				assert.Equal(t, "own page: BadRequest", got)
			}
		}
	}
}

// answering is a handler that writes an answer of its own if it cannot read a body.
type answering struct{}

func init() {
	caddy.RegisterModule(answering{})
	httpcaddyfile.RegisterHandlerDirective("answering", func(httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
		return answering{}, nil
	})
}

func (answering) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.answering", New: func() caddy.Module { return answering{} }}
}

func (answering) ServeHTTP(w http.ResponseWriter, r *http.Request, _ caddyhttp.Handler) error {
	_, err := io.Copy(io.Discard, r.Body)
	if err != nil {
		http.Error(w, "I cannot read it", http.StatusInternalServerError)
	}
	if r.URL.Query().Has("error") {
		return err
	}
	return nil
}

// TestPaths: the directive sees paths as they are after rewrites, and before they are handled.
func TestPaths(t *testing.T) {
	u := startUpstream(t)
	for name, text := range map[string]string{
		"rewritten":     "uri strip_prefix /k8s\nreverse_proxy UPSTREAM\nespalier {\ncrd CRD\n}",
		"in a handle":   "uri strip_prefix /k8s\nhandle /apis/* {\nreverse_proxy UPSTREAM\n}\nespalier {\ncrd CRD\n}",
		"handle_path":   "handle_path /k8s/* {\nreverse_proxy UPSTREAM\nespalier {\ncrd CRD\n}\n}",
		"with matchers": "@writes method POST\nuri strip_prefix /k8s\nespalier @writes {\ncrd CRD\n}\nreverse_proxy UPSTREAM",
	} {
		s := start(t, u.URL, text)
		response, got := s.post("/k8s"+plansPath, plan(`"x":1`))
		assert.Equal(t, http.StatusCreated, response.StatusCode, name)
		assert.NotContains(t, got, `"x"`, name)
		assert.Equal(t, "POST "+plansPath+" application/json", response.Header.Get("Got"), name)
	}
	u.taken()
}

// TestOptions has the fields of the directive.
func TestOptions(t *testing.T) {
	u := startUpstream(t)
	t.Setenv("PLANS", "../testdata/quickstart/crd.yaml")
	s := start(t, u.URL, "espalier {\ncrd {env.PLANS}\nfind kind\naction report\npatches pass\nproblem_details\nkubernetes\ngzip\nmax_bytes 200B\n}\nreverse_proxy UPSTREAM")
	body := plan(`"x":1`)
	response, text := s.post("/hook", body)
	assert.Equal(t, body, text)
	assert.Len(t, response.Header.Values("Warning"), 1)
	response, text = do(t, once, "PATCH", s.url+"/hook", "application/json-patch+json", "[]")
	assert.Equal(t, http.StatusCreated, response.StatusCode)
	assert.Equal(t, "[]", text)
	response, text = s.post("/hook", plan(strings.Repeat(" ", 200)))
	assert.Equal(t, http.StatusRequestEntityTooLarge, response.StatusCode)
	assert.Contains(t, text, "limit is 200")

	require.NoError(t, s.load(u.URL, "espalier {\ncrd CRD\npass_unknown none\n}\nreverse_proxy UPSTREAM"))
	response, _ = s.post("/api/v1/namespaces/x/secrets", "{}")
	assert.Equal(t, http.StatusForbidden, response.StatusCode)
	require.NoError(t, s.load(u.URL, "espalier {\ncrd CRD\npass_unknown all\nmax_held_bytes 1KiB\n}\nreverse_proxy UPSTREAM"))
	response, _ = s.post("/apis/backup.example.com/v2/x", "{}")
	assert.Equal(t, http.StatusCreated, response.StatusCode)
	response, _ = s.post(plansPath, plan(""))
	assert.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
	assert.Equal(t, "1", response.Header.Get("Retry-After"))
}

// TestConfigurations that are refused.
func TestConfigurations(t *testing.T) {
	s := start(t, "", "espalier {\ncrd CRD\n}")
	for text, want := range map[string]string{
		"espalier":                     "crds: there is none",
		"espalier {\ncrd none.yaml\n}": "none.yaml",
		"espalier crds/":               "definitions are named by crd",
		"espalier /etc/crds":           "crds: there is none",
		"espalier {\ncrd ../testdata/quickstart/backupplan.yaml\n}": "there is no definition",
		"espalier {\ncrd CRD\nfind x\n}":                            `find: there is no "x"`,
		"espalier {\ncrd CRD\nfind\n}":                              "wrong argument count",
		"espalier {\ncrd CRD\naction x\npatches y\n}":               `patches: there is no "y"`,
		"espalier {\ncrd CRD\npass_unknown x\n}":                    `pass_unknown: there is no "x"`,
		"espalier {\ncrd CRD\nfind kind\npass_unknown none\n}":      "pass_unknown is by path",
		"espalier {\ncrd CRD\nstream yes\n}":                        "wrong argument count",
		"espalier {\ncrd CRD\nstream\nstream\n}":                    "stream is there twice",
		"espalier {\ncrd CRD\nmax_bytes -1\n}":                      `"-1" is no size`,
		"espalier {\ncrd CRD\nmax_bytes 0\n}":                       `"0" is no size`,
		"espalier {\ncrd CRD\nmax_held_bytes\n}":                    "wrong argument count",
		"espalier {\ncrd CRD\nreload_interval 0s\n}":                `"0s" is no duration`,
		"espalier {\ncrd CRD\nreload_interval\n}":                   "wrong argument count",
		"espalier {\ncrd CRD\ncrd\n}":                               "wrong argument count",
		"espalier {\ncrd CRD\nvalues\n}":                            "there is no values",
	} {
		assert.ErrorContains(t, s.load("", text), want, text)
	}
	for _, h := range []Handler{{CRDs: []string{"x"}, MaxBytes: -1}, {CRDs: []string{"x"}, MaxHeldBytes: -1}, {CRDs: []string{"x"}, ReloadInterval: -1}} {
		assert.Error(t, h.Validate())
	}
	response, _ := s.post(plansPath, plan(`"x":1`))
	assert.Equal(t, http.StatusOK, response.StatusCode, "the last configuration goes on")
}
