package e2e

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
)

// A kubectl is the kubectl in the PATH, for one server and namespace.
type kubectl struct {
	path  string
	flags []string
	home  string
}

func newKubectl(t *testing.T, path string, config *rest.Config, namespace string) *kubectl {
	return &kubectl{path: path, home: t.TempDir(), flags: []string{"--server", startDiscovery(t, config), "--namespace", namespace}}
}

// startDiscovery starts a proxy that adds a list of the groups, which kubectl asks for and a
// cluster has. It also adds the credentials of the client.
func startDiscovery(t *testing.T, config *rest.Config) string {
	host, err := url.Parse(config.Host)
	require.NoError(t, err)
	transport, err := rest.TransportFor(config)
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(host)
	proxy.Transport = transport
	mux := http.NewServeMux()
	mux.Handle("/", proxy)
	answer := func(path, js string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, js)
		})
	}
	answer("/api", `{"kind":"APIVersions","versions":[]}`)
	answer("/apis", `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"garden.example.com",
		"versions":[{"groupVersion":"garden.example.com/v1","version":"v1"}],"preferredVersion":{"groupVersion":"garden.example.com/v1","version":"v1"}}]}`)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// run returns the output of the command, and whether it succeeds.
func (k *kubectl) run(stdin string, args ...string) (string, bool) {
	cmd := exec.Command(k.path, append(args, k.flags...)...)
	cmd.Env = append(os.Environ(), "HOME="+k.home, "KUBECONFIG="+filepath.Join(k.home, "none"))
	cmd.Stdin = strings.NewReader(stdin)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err == nil
}

// managed matches the entries of managed fields in a text that quotes JSON.
var managed = regexp.MustCompile(`(\\"managedFields\\":\[\{)(.*?)(\}\],\\"name\\")`)

// inOrder sorts the entries of managed fields. The server sorts them by their time in seconds first,
// so that their order depends on the second in which they were made.
func inOrder(text string) string {
	return managed.ReplaceAllStringFunc(text, func(list string) string {
		parts := managed.FindStringSubmatch(list)
		entries := strings.Split(parts[2], "},{")
		slices.Sort(entries)
		return parts[1] + strings.Join(entries, "},{") + parts[3]
	})
}

// compareKubectl runs the same commands at both endpoints.
func compareKubectl(t *testing.T, direct, proxied *rest.Config) {
	path, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("there is no kubectl in the PATH")
	}
	a, b := newKubectl(t, path, direct, "kubectl-direct"), newKubectl(t, path, proxied, "kubectl-proxied")
	const manifest = "apiVersion: garden.example.com/v1\nkind: Trellis\nmetadata: {name: NAME}\nspec:\n  rows: 1\n  rows: 3\n  q: 1\n  plants: [{name: pear, z: 1}]\n"
	const clean = "apiVersion: garden.example.com/v1\nkind: Trellis\nmetadata: {name: NAME}\nspec:\n  plants: [{name: pear}]\n"
	for _, c := range []struct {
		stdin string
		args  string
		fails bool
	}{
		{manifest, "create --validate=strict -f -", true},
		{manifest, "create --validate=warn -f -", false},
		{"", "get trellis NAME -o jsonpath={.spec}", false},
		{clean, "replace --validate=strict -f -", false},
		{"", "get trellis NAME -o jsonpath={.spec}", false},
		{"", `patch trellis NAME --type merge -p {"spec":{"rows":9,"q":1}}`, false},
		{"", `patch trellis NAME --type json -p [{"op":"remove","path":"/spec/plants"}]`, false},
		{"", "get trellis NAME -o jsonpath={.spec}", false},
		{manifest, "apply --validate=ignore -f -", false},
		{"", "get trellis NAME -o jsonpath={.spec}", false},
		{strings.Replace(clean, "plants: [{name: pear}]", "plants: {a: 1}", 1), "apply -f -", true},
		{"", "delete trellis NAME", false},
		{strings.Replace(clean, "{name: pear}", "{water: {}}, {}", 1), "create -f -", true},
	} {
		args := strings.Fields(strings.ReplaceAll(c.args, "NAME", "tree"))
		stdin := strings.ReplaceAll(c.stdin, "NAME", "tree")
		want, ok := a.run(stdin, args...)
		got, okToo := b.run(stdin, args...)
		mask := strings.NewReplacer(a.flags[1], "HOST", b.flags[1], "HOST", "kubectl-direct", "NAMESPACE", "kubectl-proxied", "NAMESPACE")
		assert.Equal(t, !c.fails, ok, "%s: %s", c.args, want)
		assert.Equal(t, ok, okToo, "%s: %s", c.args, got)
		normal := func(text string) string { return inOrder(volatile.ReplaceAllString(mask.Replace(text), "*")) }
		assert.Equal(t, normal(want), normal(got), c.args)
		t.Logf("%s\n%.300s", c.args, got)
	}
}
