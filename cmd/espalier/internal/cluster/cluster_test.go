package cluster

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/schema"
)

const (
	widgetsPath     = "/apis/example.com/v1/widgets"
	definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
)

// widgets is the definition of a kind. Its objects are stored in v1.
func widgets() *schema.CRD {
	return &schema.CRD{
		Name: "widgets.example.com", Group: "example.com", Kind: "Widget", Plural: "widgets", Scope: "Namespaced",
		Versions: []schema.Version{{Name: "v1alpha1", Served: true}, {Name: "v1", Served: true, Storage: true}},
	}
}

// A server answers as a kube-apiserver with a number of objects does.
type server struct {
	*httptest.Server
	objects []string
	// before may answer in its place.
	before func(w http.ResponseWriter, r *http.Request) (done bool)

	mu   sync.Mutex
	seen []*http.Request
}

// newServer starts a server with n objects. At its end it asserts that nothing but GET was sent.
func newServer(t *testing.T, n int) *server {
	s := &server{before: func(http.ResponseWriter, *http.Request) bool { return false }}
	for i := range n {
		s.objects = append(s.objects, fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w%d"}}`, i))
	}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.seen = append(s.seen, r)
		s.mu.Unlock()
		if !s.before(w, r) {
			s.list(w, r, 0)
		}
	}))
	t.Cleanup(func() {
		s.Close()
		for _, r := range s.requests() {
			assert.Equal(t, http.MethodGet, r.Method, r.URL.Path)
		}
	})
	return s
}

func (s *server) requests() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

// list answers with a page, of which the last bytes may be missing.
func (s *server) list(w http.ResponseWriter, r *http.Request, missing int) {
	q := r.URL.Query()
	from, _ := strconv.Atoi(q.Get("continue"))
	limit, _ := strconv.Atoi(q.Get("limit"))
	to, next := min(from+limit, len(s.objects)), ""
	if to < len(s.objects) {
		next = strconv.Itoa(to)
	}
	// The server writes the members in this order.
	body := fmt.Sprintf(`{"apiVersion":"example.com/v1","items":[%s],"kind":"WidgetList","metadata":{"continue":%q,"resourceVersion":"7"}}`,
		strings.Join(s.objects[from:to], ","), next)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write([]byte(body[:len(body)-missing]))
}

// refuse answers with a status.
func refuse(w http.ResponseWriter, code int, reason, message, token string) bool {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	text, _ := json.Marshal(message)
	fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","metadata":{"continue":%q},"status":"Failure","message":%s,"reason":%q,"code":%d}`, token, text, reason, code)
	return true
}

// kubeconfig writes a kubeconfig whose context prod leads to a server, and returns its name.
func kubeconfig(t *testing.T, host, user string) string {
	name := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(name, []byte(`
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "`+host+`"}}]
users: [{name: u, user: {`+user+`}}]
contexts:
- {name: prod, context: {cluster: c, user: u, namespace: ignored}}
- {name: staging, context: {cluster: c, user: u}}
current-context: prod
`), 0o600))
	return name
}

func open(t *testing.T, s *server) *Cluster {
	c, err := Open(kubeconfig(t, s.URL, ""), "prod")
	require.NoError(t, err)
	return c
}

// readAll returns the names of the objects of a list, and its error.
func readAll(t *testing.T, l *List) (names []string, err error) {
	for {
		object, err := l.Next()
		if err != nil {
			_, again := l.Next()
			assert.Equal(t, err, again)
			return names, err
		}
		var o struct{ Metadata struct{ Name string } }
		require.NoError(t, json.Unmarshal(object, &o), "%s", object)
		names = append(names, o.Metadata.Name)
	}
}

// wanted are the names of the first n objects.
func wanted(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("w%d", i))
	}
	return names
}

func TestOpen(t *testing.T) {
	name := kubeconfig(t, "http://127.0.0.1:1", "")
	c, err := Open(name, Current)
	require.NoError(t, err)
	assert.Equal(t, "prod", c.Context)
	assert.Equal(t, "cluster prod", c.String())

	_, err = Open(name, "test")
	assert.EqualError(t, err, `the kubeconfig has no context "test": name one of prod, staging`)
	_, err = Open(name+".missing", "test")
	assert.ErrorContains(t, err, "reading the kubeconfig: ")

	t.Setenv("KUBECONFIG", name)
	c, err = Open("", "staging")
	require.NoError(t, err)
	assert.Equal(t, "staging", c.Context)

	t.Setenv("KUBECONFIG", name+".missing")
	_, err = Open("", "prod")
	assert.EqualError(t, err, `the kubeconfig has no context "prod": it has none, or there is no such file`)
	_, err = Open("", Current)
	assert.EqualError(t, err, "the kubeconfig has no current context: it has none, or there is no such file")

	broken := filepath.Join(t.TempDir(), "broken")
	require.NoError(t, os.WriteFile(broken, []byte("contexts: [{name: prod, context: {cluster: gone}}]\n"), 0o600))
	_, err = Open(broken, "prod")
	assert.EqualError(t, err, `the kubeconfig has no cluster "gone", which its context "prod" names`)
	for _, wrong := range [][2]string{
		{"http://127.0.0.1:1", "client-certificate: /none, client-key: /none"},
		{"https://127.0.0.1:1", `exec: {apiVersion: v0, command: /none, interactiveMode: Never}`},
		{"http://[", ""},
	} {
		_, err = Open(kubeconfig(t, wrong[0], wrong[1]), "prod")
		assert.ErrorContains(t, err, "reading the kubeconfig: ", wrong[0])
	}
}

// TestOpenWritesNothing: client-go would copy a kubeconfig of an old name.
func TestOpenWritesNothing(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("KUBECONFIG", "")
	require.NoError(t, os.MkdirAll(filepath.Join(home, ".kube"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(home, ".kube", ".kubeconfig"), []byte("{}"), 0o600))
	_, err := Open("", "prod")
	require.Error(t, err)
	entries, err := os.ReadDir(filepath.Join(home, ".kube"))
	require.NoError(t, err)
	assert.Len(t, entries, 1)
}

// TestCredentials: a program of the kubeconfig is run for the credentials, as by kubectl.
func TestCredentials(t *testing.T) {
	s := newServer(t, 1)
	secure := httptest.NewTLSServer(s.Config.Handler) // others get no credentials
	defer secure.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}), 0o600))
	program := filepath.Join(t.TempDir(), "login")
	require.NoError(t, os.WriteFile(program, []byte(`#!/bin/sh
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"secret"}}'
`), 0o700))
	c, err := Open(kubeconfig(t, secure.URL+`", certificate-authority: "`+ca, `exec: {apiVersion: client.authentication.k8s.io/v1, command: "`+program+`", interactiveMode: Never}`), "prod")
	require.NoError(t, err)
	_, err = c.List(t.Context(), widgets(), Selection{}).Next()
	require.NoError(t, err)
	assert.Equal(t, "Bearer secret", s.requests()[0].Header.Get("Authorization"))
}

// TestOnlyGET: a request of any other method does not leave.
func TestOnlyGET(t *testing.T) {
	s := newServer(t, 0)
	c := open(t, s)
	assert.Empty(t, s.requests(), "nothing is sent before something is read")
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
		assert.ErrorContains(t, c.client.Verb(method).AbsPath(widgetsPath).Do(t.Context()).Error(), "a request "+method+" was not sent")
	}
	assert.Empty(t, s.requests())
}

// TestRedirects: credentials do not go to where an answer leads.
func TestRedirects(t *testing.T) {
	other, s := newServer(t, 1), newServer(t, 1)
	s.before = func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Location", other.URL+widgetsPath)
		w.WriteHeader(http.StatusTemporaryRedirect)
		return true
	}
	_, err := open(t, s).List(t.Context(), widgets(), Selection{}).Next()
	require.Error(t, err)
	assert.Empty(t, other.requests())
}

func TestDefinitions(t *testing.T) {
	s := newServer(t, 0)
	for i := range 1200 {
		// In a list, items do not say their type.
		s.objects = append(s.objects, fmt.Sprintf(`{"metadata":{"name":"k%d.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
			"names":{"plural":"k%[1]d","kind":"K%[1]d"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`, i))
	}
	s.before = func(w http.ResponseWriter, r *http.Request) bool {
		assert.Equal(t, definitionsPath, r.URL.Path)
		from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
		to := min(from+500, len(s.objects))
		next := ""
		if to < len(s.objects) {
			next = strconv.Itoa(to)
		}
		fmt.Fprintf(w, `{"kind":"CustomResourceDefinitionList","apiVersion":"apiextensions.k8s.io/v1","metadata":{"continue":%q},"items":[%s]}`, next, strings.Join(s.objects[from:to], ","))
		return true
	}
	var said []int
	all, err := open(t, s).Definitions(t.Context(), func(n int) { said = append(said, n) })
	require.NoError(t, err)
	require.Len(t, all, 1200)
	assert.Equal(t, []int{500, 1000, 1200}, said)
	assert.Equal(t, "k1199.example.com", all[1199].Name)
	assert.Equal(t, "cluster prod", all[1199].File)

	s.before = func(w http.ResponseWriter, _ *http.Request) bool {
		return refuse(w, http.StatusForbidden, "Forbidden", "not for you", "")
	}
	_, err = open(t, s).Definitions(t.Context(), func(int) {})
	assert.True(t, IsForbidden(err))
	s.before = func(w http.ResponseWriter, _ *http.Request) bool {
		fmt.Fprint(w, `{"kind":"CustomResourceDefinitionList","apiVersion":"apiextensions.k8s.io/v1","items":[{"spec":1}]}`)
		return true
	}
	_, err = open(t, s).Definitions(t.Context(), func(int) {})
	assert.ErrorContains(t, err, "items[0]")
}

// TestDefinitionsWithoutEnd: a server cannot fill the memory with definitions.
func TestDefinitionsWithoutEnd(t *testing.T) {
	defer func(was int) { maxDefinitionBytes = was }(maxDefinitionBytes)
	maxDefinitionBytes = 10 << 20
	s := newServer(t, 0)
	asked := 0
	s.before = func(w http.ResponseWriter, _ *http.Request) bool {
		asked++
		fmt.Fprintf(w, `{"kind":"CustomResourceDefinitionList","apiVersion":"apiextensions.k8s.io/v1","metadata":{"continue":"%d"},"items":[]%s}`, asked, strings.Repeat(" ", 1<<20))
		return true
	}
	_, err := open(t, s).Definitions(t.Context(), func(int) {})
	assert.EqualError(t, err, "there are too many: they have more than 10 MiB; name files of those that are needed with --crd")
	assert.Equal(t, 10, asked)
}
