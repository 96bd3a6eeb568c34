package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	potsPath     = "/apis/example.com/v1/namespaces/default/pots"
	anythingPath = "/apis/any.example.com/v1/anythings"
	racksPath    = "/apis/any.example.com/v1/racks"
)

// anyCRD returns the definition of a kind in the group any.example.com. The schema is in flow style.
func anyCRD(kind, schema string) []byte {
	return fmt.Appendf(nil, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]ss.any.example.com}
spec:
  group: any.example.com
  names: {kind: %[2]s, plural: %[1]ss}
  scope: Cluster
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: %[3]s}
`, strings.ToLower(kind), kind, schema)
}

const (
	anythingSchema = `{type: object, x-kubernetes-preserve-unknown-fields: true}` // has no rules
	rackSchema     = `{type: object, properties: {spec: {
      type: object, properties: {shelves: {type: integer}, pots: {type: integer}},
      x-kubernetes-validations: [{rule: self.pots <= 4 * self.shelves, message: a shelf has room for four pots, fieldPath: .pots, reason: FieldValueForbidden}]}}}`
)

// A recorder is an upstream server that records the bodies which reach it, and answers as one that
// creates whatever it gets.
type recorder struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
}

func recording(t *testing.T) *recorder {
	u := new(recorder)
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		u.mu.Lock()
		u.bodies = append(u.bodies, string(body))
		u.mu.Unlock()
		w.WriteHeader(http.StatusCreated)
	}))
	t.Cleanup(u.Close)
	return u
}

// taken returns the bodies since the last call.
func (u *recorder) taken() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	bodies := u.bodies
	u.bodies = nil
	return bodies
}

// startValidating runs a proxy that knows four kinds from two files and a folder.
func startValidating(t *testing.T, upstream string, args ...string) *proxied {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "anything.yaml"), anyCRD("Anything", anythingSchema), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "rack.yaml"), anyCRD("Rack", rackSchema), 0o600))
	return startProxy(t, upstream, append([]string{"--crd", dir, "--crd", "../../../../testdata/request/pots.yaml"}, args...)...)
}

// plan returns a valid BackupPlan with all defaults, with more members of its spec.
func plan(spec string) string {
	return `{"apiVersion":"backup.example.com/v1","kind":"BackupPlan","metadata":{"name":"orders"},"spec":{"schedule":"0 2 * * *",` +
		`"sources":[{"claim":"db","paths":["/"],"compression":"zstd"}],"target":{"bucket":"b","region":"r","port":1},` +
		`"retention":{"daily":7,"monthly":12},"suspend":false` + spec + `}}`
}

func pot(spec string) string {
	return `{"apiVersion":"example.com/v1","kind":"Pot","metadata":{"name":"a"},"spec":` + spec + `}`
}

func rack(spec string) string {
	return `{"apiVersion":"any.example.com/v1","kind":"Rack","metadata":{"name":"a"},"spec":` + spec + `}`
}

// inYAML returns an object in YAML: in block style at the root, with a comment.
func inYAML(t *testing.T, js string) string {
	var members map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(js), &members))
	text := "# YAML\n"
	for name, value := range members {
		text += name + ": " + string(value) + "\n"
	}
	return text
}

// status returns a metav1.Status with the reason Invalid as the API server writes it. The causes are
// in JSON.
func status(kind, group, name, message, causes string) string {
	return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":%q,"reason":"Invalid",`+
		`"details":{"name":%q,"group":%q,"kind":%q,"causes":[%s]},"code":422}`+"\n",
		fmt.Sprintf("%s.%s %q is invalid: %s", kind, group, name, message), name, group, kind, causes)
}

const tooManyLitres = `Invalid value: 10: spec.litres in body should be less than or equal to 9`

// tooLarge is the answer to a Pot of ten litres.
var tooLarge = status("Pot", "example.com", "a", "spec.litres: "+tooManyLitres,
	`{"reason":"FieldValueInvalid","message":"`+tooManyLitres+`","field":"spec.litres"}`)

// TestProxyValues holds that an object with invalid values is answered as by the server, which never
// sees it, and that all others pass as they do without validation.
func TestProxyValues(t *testing.T) {
	upstream := recording(t)
	validating, accepting := startValidating(t, upstream.URL, "--values"), startValidating(t, upstream.URL)
	exact := startValidating(t, upstream.URL, "--values", "--kubernetes", "--patches", "pass")
	noTarget := strings.Replace(plan(""), `"target":{"bucket":"b","region":"r","port":1},`, "", 1)
	for name, c := range map[string]struct {
		method, target, media, body string
		answer                      string // or "" for a body that passes
	}{
		"valid":         {"POST", plansPath, "", plan(""), ""},
		"YAML":          {"POST", plansPath, "application/yaml", inYAML(t, plan("")), ""},
		"unknown":       {"POST", plansPath, "", plan(`,"x":1`), ""},
		"status":        {"POST", potsPath, "", strings.Replace(pot(`{}`), `"spec"`, `"status":{"litres":0},"spec"`, 1), ""},
		"no rules":      {"POST", anythingPath, "", `{"apiVersion":"any.example.com/v1","kind":"Anything","metadata":{"name":"a"},"spec":{"litres":10}}`, ""},
		"other groups":  {"POST", "/apis/other.example.com/v1/things", "", `{"spec":{"litres":10}}`, ""},
		"update":        {"PUT", potsPath + "/a", "", pot(`{"litres":10}`), ""},
		"status update": {"PUT", potsPath + "/a/status", "", strings.Replace(pot(`{}`), `"spec"`, `"status":{"litres":0},"spec"`, 1), ""},
		"merge patch":   {"PATCH", potsPath + "/a", "application/merge-patch+json", `{"spec":{"litres":10}}`, ""},
		"apply patch":   {"PATCH", potsPath + "/a", "application/apply-patch+yaml", inYAML(t, pot(`{"litres":10}`)), ""},

		"required": {"POST", plansPath, "", noTarget, status("BackupPlan", "backup.example.com", "orders", "spec.target: Required value",
			`{"reason":"FieldValueRequired","message":"Required value","field":"spec.target"}`)},
		"invalid":             {"POST", potsPath, "", pot(`{"litres":10}`), tooLarge},
		"invalid, YAML":       {"POST", potsPath, "application/yaml", inYAML(t, pot(`{"litres":10}`)), tooLarge},
		"invalid, dry run":    {"POST", potsPath + "?dryRun=All", "", pot(`{"litres":10}`), tooLarge},
		"invalid, Ignore":     {"POST", potsPath + "?fieldValidation=Ignore", "", pot(`{"litres":10,"x":1}`), tooLarge},
		"invalid, Strict":     {"POST", potsPath + "?fieldValidation=Strict", "", pot(`{"litres":10}`), tooLarge},
		"invalid and unknown": {"POST", potsPath, "", pot(`{"litres":10,"x":1}`), tooLarge},
		"several": {"POST", potsPath, "", pot(`{"names":["x","x"],"light":"moon"}`), status("Pot", "example.com", "a",
			`[spec.names[1]: Duplicate value: "x", spec.light: Unsupported value: "moon": supported values: "sun", "shade"]`,
			`{"reason":"FieldValueDuplicate","message":"Duplicate value: \"x\"","field":"spec.names[1]"},`+
				`{"reason":"FieldValueNotSupported","message":"Unsupported value: \"moon\": supported values: \"sun\", \"shade\"","field":"spec.light"}`)},
		"a rule": {"POST", racksPath, "", rack(`{"shelves":2,"pots":8}`), ""},
		"a broken rule": {"POST", racksPath, "", rack(`{"shelves":2,"pots":9}`), status("Rack", "any.example.com", "a",
			"spec.pots: Forbidden: a shelf has room for four pots",
			`{"reason":"FieldValueForbidden","message":"Forbidden: a shelf has room for four pots","field":"spec.pots"}`)},
		"no name": {"POST", anythingPath, "", `{"apiVersion":"any.example.com/v1","kind":"Anything"}`,
			strings.Replace(status("Anything", "any.example.com", "", "metadata.name: Required value: name or generateName is required",
				`{"reason":"FieldValueRequired","message":"Required value: name or generateName is required","field":"metadata.name"}`), `"name":"",`, "", 1)},
	} {
		media := c.media
		if media == "" {
			media = "application/json"
		}
		send := func(p *proxied) (*http.Response, string, []string) {
			response, text := do(t, http.DefaultClient, c.method, p.url+c.target, media, c.body)
			return response, text, upstream.taken()
		}
		_, _, want := send(accepting)
		require.Len(t, want, 1, name)
		if name == "valid" || name == "other groups" {
			assert.Equal(t, []string{c.body}, want, name)
		}
		for _, p := range []*proxied{validating, exact} {
			response, text, got := send(p)
			if c.answer == "" {
				assert.Equal(t, http.StatusCreated, response.StatusCode, "%s: %s", name, text)
				if p == validating {
					assert.Equal(t, want, got, name)
				} else {
					assert.Len(t, got, 1, name)
				}
				continue
			}
			assert.Equal(t, http.StatusUnprocessableEntity, response.StatusCode, name)
			assert.Equal(t, "application/json", response.Header.Get("Content-Type"), name)
			assert.Equal(t, c.answer, text, name)
			assert.Empty(t, got, name)
			assert.Equal(t, name == "invalid and unknown", response.Header.Get("Warning") == `299 - "unknown field \"spec.x\""`, name)
		}
	}

	// What is wrong with the fields comes first.
	response, text := do(t, http.DefaultClient, "POST", validating.url+potsPath+"?fieldValidation=Strict", "application/json", pot(`{"litres":10,"x":1}`))
	assert.Equal(t, http.StatusBadRequest, response.StatusCode)
	assert.Contains(t, text, `strict decoding error: unknown field \"spec.x\"`)
	assert.Empty(t, upstream.taken())
}

// TestProxyValuesReported holds that nothing is refused for its values where findings are only
// reported, and that problem details have places.
func TestProxyValuesReported(t *testing.T) {
	upstream := recording(t)
	body := "# Ten litres.\n" + inYAML(t, pot(`{"litres":10}`))
	p := startValidating(t, upstream.URL, "--values", "--action", "report")
	for _, query := range []string{"", "?fieldValidation=Strict", "?fieldValidation=Ignore"} {
		response, text := do(t, http.DefaultClient, "POST", p.url+potsPath+query, "application/yaml", body)
		assert.Equal(t, http.StatusCreated, response.StatusCode, text)
		assert.Equal(t, []string{`299 - "spec.litres: ` + tooManyLitres + `"`}, response.Header.Values("Warning"))
		assert.Equal(t, []string{body}, upstream.taken())
	}
	_, text := do(t, http.DefaultClient, "GET", p.admin+"/metrics", "", "")
	assert.Contains(t, text, `espalier_bodies_total{api_version="example.com/v1",kind="Pot",field_validation="Strict",result="passed"} 1`+"\n")
	assert.Contains(t, text, `espalier_findings_total{api_version="example.com/v1",kind="Pot",finding="invalid value"} 3`+"\n")
	checkExposition(t, text)

	// By kind, each POST is a creation.
	p = startValidating(t, upstream.URL, "--values", "--find", "kind", "--problem-details")
	body = "apiVersion: example.com/v1\nkind: Pot\nmetadata: {name: a}\nspec:\n  litres: 10\n"
	response, text := do(t, http.DefaultClient, "POST", p.url+"/hook", "application/yaml", body)
	assert.Equal(t, http.StatusUnprocessableEntity, response.StatusCode)
	assert.Equal(t, "application/problem+json", response.Header.Get("Content-Type"))
	assert.Contains(t, text, `"errors":[{"detail":"spec.litres: `+tooManyLitres+`","pointer":"/spec/litres","line":5,"column":11}]`)
	assert.Empty(t, upstream.taken())
	response, text = do(t, http.DefaultClient, "PUT", p.url+"/hook", "application/yaml", body)
	assert.Equal(t, http.StatusCreated, response.StatusCode, text)
}

// TestProxyValuesObserved holds that metrics count invalid values, and that no value is logged.
func TestProxyValuesObserved(t *testing.T) {
	p := startValidating(t, recording(t).URL, "--values")
	do(t, http.DefaultClient, "POST", p.url+potsPath, "application/json", pot(`{"litres":10,"light":"moon","x":1}`))
	_, text := do(t, http.DefaultClient, "GET", p.admin+"/metrics", "", "")
	assert.Contains(t, text, `espalier_bodies_total{api_version="example.com/v1",kind="Pot",field_validation="Warn",result="422"} 1`+"\n")
	assert.Contains(t, text, `espalier_findings_total{api_version="example.com/v1",kind="Pot",finding="invalid value"} 2`+"\n")
	assert.Contains(t, text, `espalier_findings_total{api_version="example.com/v1",kind="Pot",finding="unknown field"} 1`+"\n")
	checkExposition(t, text)
	assert.NotContains(t, text, "moon")
	assert.NotContains(t, p.stop(), "moon")
}

// TestProxyValuesWithinBudget holds that there is an answer about invalid values only within the
// memory for all requests, and that none reaches the server.
func TestProxyValuesWithinBudget(t *testing.T) {
	upstream := recording(t)
	body := pot(`{"light":"` + strings.Repeat("moon", 50_000) + `"}`)
	codes := map[int]int{}
	for limit := 256 << 10; limit <= 64<<20; limit *= 4 {
		p := startValidating(t, upstream.URL, "--values", "--max-held-bytes", fmt.Sprint(limit))
		response, _ := do(t, http.DefaultClient, "POST", p.url+potsPath, "application/json", body)
		codes[response.StatusCode]++
		p.stop()
	}
	assert.Len(t, codes, 2, codes)
	assert.Positive(t, codes[http.StatusUnprocessableEntity])
	assert.Positive(t, codes[http.StatusServiceUnavailable])
	assert.Empty(t, upstream.taken())
}

// TestProxyValuesOfKubectl holds that kubectl says of an invalid object what it says if the server
// refuses it.
func TestProxyValuesOfKubectl(t *testing.T) {
	path, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("there is no kubectl in the PATH")
	}
	answers := map[string]string{
		"/api": `{"kind":"APIVersions","versions":[]}`,
		"/apis": `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"example.com","versions":[{"groupVersion":"example.com/v1","version":"v1"}],` +
			`"preferredVersion":{"groupVersion":"example.com/v1","version":"v1"}}]}`,
		"/apis/example.com/v1": `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"example.com/v1","resources":[{"name":"pots","singularName":"pot",` +
			`"namespaced":true,"kind":"Pot","verbs":["create","get"]}]}`,
	}
	var created []string
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := answers[r.URL.Path]
		switch {
		case r.Method == http.MethodPost:
			body, _ := io.ReadAll(r.Body)
			created, answer = append(created, string(body)), string(body)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusCreated)
		case answer == "":
			w.WriteHeader(http.StatusNotFound)
		default:
			w.Header().Set("Content-Type", "application/json")
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(upstream.Close)
	p := startValidating(t, upstream.URL, "--values")
	home := t.TempDir()
	create := func(manifest string) (string, error) {
		cmd := exec.Command(path, "create", "--validate=ignore", "-f", "-", "--server", p.url, "--namespace", "default")
		cmd.Env = append(os.Environ(), "HOME="+home, "KUBECONFIG="+filepath.Join(home, "none"))
		cmd.Stdin = strings.NewReader(manifest)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Run()
		return out.String(), err
	}
	out, err := create(inYAML(t, pot(`{"litres":10}`)))
	require.Error(t, err)
	assert.Equal(t, `The Pot "a" is invalid: spec.litres: `+tooManyLitres+"\n", out)
	assert.Empty(t, created)

	out, err = create(inYAML(t, pot(`{"litres":9}`)))
	require.NoError(t, err, out)
	assert.Equal(t, "pot.example.com/a created\n", out)
	assert.Len(t, created, 1)
}
