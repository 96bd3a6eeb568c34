package e2e

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/client-go/rest"
)

// A clusterReader runs the command with a context that leads to the server.
type clusterReader struct {
	*testing.T
	command, kubeconfig string

	mu       sync.Mutex
	requests []*http.Request
	before   func(*http.Request) // is called for each of them
}

func newClusterReader(t *testing.T, config *rest.Config) *clusterReader {
	host, err := url.Parse(config.Host)
	require.NoError(t, err)
	transport, err := rest.TransportFor(config)
	require.NoError(t, err)
	c := &clusterReader{T: t, command: buildCommand(t), kubeconfig: filepath.Join(t.TempDir(), "config"), before: func(*http.Request) {}}
	server := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			c.mu.Lock()
			c.requests = append(c.requests, r.In)
			c.mu.Unlock()
			c.before(r.In)
			r.SetURL(host)
		},
		Transport: transport,
	})
	t.Cleanup(server.Close)
	require.NoError(t, os.WriteFile(c.kubeconfig, []byte(`{apiVersion: v1, kind: Config, clusters: [{name: c, cluster: {server: "`+server.URL+`"}}],
contexts: [{name: test, context: {cluster: c}}], current-context: test}`), 0o600))
	return c
}

// run runs the command, and asserts that it only reads.
func (c *clusterReader) run(args ...string) (stdout, stderr string, code int) {
	c.Helper()
	c.requests = nil
	cmd := exec.Command(c.command, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run()
	for _, r := range c.requests {
		assert.Equal(c, http.MethodGet, r.Method, r.URL)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// limits returns the limits that the requests for a resource had.
func (c *clusterReader) limits(resource string) (limits []string) {
	for _, r := range c.requests {
		if strings.HasSuffix(r.URL.Path, "/"+resource) {
			limits = append(limits, r.URL.Query().Get("limit"))
		}
	}
	return limits
}

// TestCluster reads definitions and objects from the server.
func TestCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	config, _, storage := startServer(t, "--watch-cache=false")
	createCRD(t, config)
	const objects = 1200
	createTrellises(t, config, objects)
	c := newClusterReader(t, config)

	manifest := filepath.Join(t.TempDir(), "trellis.yaml")
	require.NoError(t, os.WriteFile(manifest, []byte("apiVersion: garden.example.com/v1\nkind: Trellis\nmetadata: {name: a}\nspec: {row: 1, rows: x}\n"), 0o600))
	byFile, wantErr, wantCode := c.run("check", "--crd", crdFile, manifest)
	stdout, stderr, code := c.run("check", "--context", "test", manifest)
	assert.Equal(t, 1, wantCode, byFile)
	assert.Equal(t, 2, strings.Count(byFile, "\n"), byFile)
	assert.Equal(t, byFile, stdout)
	assert.Equal(t, wantErr, stderr)
	assert.Equal(t, wantCode, code)
	assert.Len(t, c.requests, 1)

	stdout, stderr, code = c.run("check", "--context", ".", "--get", "trellises")
	assert.Zero(t, code, stdout)
	assert.Equal(t, "1200 objects in 1 list of cluster test: nothing found\n", stderr)
	assert.Equal(t, []string{"500", "500", "500"}, c.limits("trellises"))

	// The server has stored rows for each, by default.
	text, err := os.ReadFile(crdFile)
	require.NoError(t, err)
	without := filepath.Join(t.TempDir(), "crd.yaml")
	require.NoError(t, os.WriteFile(without, bytes.Replace(text, []byte("rows: {type: integer, default: 2}"), nil, 1), 0o600))
	stdout, _, code = c.run("check", "--crd", without, "--context", "test", "--get", "trellises")
	assert.Equal(t, 1, code)
	assert.Equal(t, objects, strings.Count(stdout, `error: unknown field "spec.rows" (Trellis `))
	assert.Contains(t, stdout, "(Trellis odd/t1199)")

	_, stderr, code = c.run("check", "--context", "test", "--get", "all", "-n", "odd", "-l", "third=yes")
	assert.Zero(t, code)
	assert.Equal(t, "200 objects in 1 list of cluster test: nothing found\n", stderr)
	_, stderr, _ = c.run("check", "--context", "test", "--get", "all", "--field-selector", "metadata.name=t7")
	assert.Equal(t, "1 object in 1 list of cluster test: nothing found\n", stderr)

	t.Run("compaction", func(t *testing.T) { c.readWhileForgetting(t, config, storage) })
}

// createTrellises creates objects in two namespaces.
func createTrellises(t *testing.T, config *rest.Config, n int) {
	client := newEndpoint(t, "even", config).client
	for i := range n {
		third := map[bool]string{true: "yes", false: "no"}[i%3 == 0]
		namespace := []string{"even", "odd"}[i%2]
		body := fmt.Sprintf(`{"apiVersion":"garden.example.com/v1","kind":"Trellis","metadata":{"name":"t%d","labels":{"third":%q}},"spec":{}}`, i, third)
		require.NoError(t, client.Post().AbsPath("/apis/garden.example.com/v1/namespaces/"+namespace+"/trellises").Body([]byte(body)).Do(t.Context()).Error())
	}
}

// readWhileForgetting reads a list of whose state etcd forgets the history after the first page, and of which an object is
// deleted meanwhile.
func (c *clusterReader) readWhileForgetting(t *testing.T, config *rest.Config, storage generic.RESTOptionsGetter) {
	options, err := storage.GetRESTOptions(schema.GroupResource{Group: "garden.example.com", Resource: "trellises"}, nil)
	require.NoError(t, err)
	etcd := options.StorageConfig.Transport.ServerList[0]
	client := newEndpoint(t, "odd", config).client
	var once sync.Once
	c.before = func(r *http.Request) {
		if r.URL.Query().Has("continue") {
			once.Do(func() {
				assert.NoError(t, client.Delete().AbsPath("/apis/garden.example.com/v1/namespaces/odd/trellises/t1199").Do(context.Background()).Error())
				assert.NoError(t, compact(etcd))
			})
		}
	}
	stdout, stderr, code := c.run("check", "--context", "test", "--get", "trellises")
	assert.Zero(t, code, stdout)
	assert.Equal(t, "warning: test/trellises.garden.example.com: after 500 objects the server had forgotten the state at which the list began, "+
		"and went on from a later one: objects made or deleted meanwhile may be missing\n1199 objects in 1 list of cluster test: nothing found\n", stderr)
	assert.Equal(t, []string{"500", "500", "500", "500"}, c.limits("trellises"))
}

// compact makes etcd forget all revisions but the present one.
func compact(etcd string) error {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{etcd}, Logger: zap.NewNop()})
	if err != nil {
		return err
	}
	defer client.Close()
	now, err := client.Get(context.Background(), "any")
	if err != nil {
		return err
	}
	_, err = client.Compact(context.Background(), now.Header.Revision, clientv3.WithCompactPhysical())
	return err
}
