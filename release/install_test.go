package release

import (
	"crypto/tls"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestInstall fetches each module by its version on a machine without this repository, without
// replace and without a workspace.
func TestInstall(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped with -short: it builds much of Kubernetes")
	}
	tree := newCheckout(t)
	files := tree.modules(t)
	version := required(t, files)
	for dir, f := range files {
		assert.Empty(t, f.Replace, "%s: replace does not count for who requires the module; go.work has them", dir)
	}
	m := newMachine(t, tree.publish(t, files, version))

	t.Run("decoder", func(t *testing.T) {
		dir := m.program(t, root, version, "decoder")
		assert.Equal(t, "1:10: unknown field \"spec.replcas\"\n{\"spec\":{\"replicas\":1}} <nil>\n", m.run(t, dir, "go", "run", "."))
		testWeight(t, m, dir)
	})
	t.Run("kube", func(t *testing.T) {
		dir := m.program(t, root+"/kube", version, "kube")
		assert.Equal(t, "strict decoding error: unknown field \"bad\"\n", m.run(t, dir, "go", "run", "."))
		assert.NotContains(t, m.run(t, dir, "go", "list", "-deps", "."), root+"/middleware")
	})
	t.Run("cel", func(t *testing.T) {
		dir := m.program(t, root+"/cel", version, "cel")
		assert.Equal(t, "spec: Invalid value: \"a\": failed rule: self == 'b'\n", m.run(t, dir, "go", "run", "."))
	})
	t.Run("extproc", func(t *testing.T) {
		dir := m.program(t, root+"/extproc", version, "extproc")
		assert.Equal(t, "{HTTP2,UnencryptedHTTP2}\n", m.run(t, dir, "go", "run", "."))
		assert.NotContains(t, m.run(t, dir, "go", "list", "-deps", "."), "google.golang.org/grpc", "it is for tests")
	})
	t.Run("admission", func(t *testing.T) {
		dir := m.program(t, root+"/kube/controllerruntime", version, "admission")
		assert.Equal(t, "Widget strict decoding error: unknown field \"bad\"\n", m.run(t, dir, "go", "run", "."))
	})
	t.Run("caddy", func(t *testing.T) {
		dir := m.program(t, root+"/caddy", version, "caddy")
		// It takes minutes to build, and the tests of the module build as much.
		packages := strings.Fields(m.run(t, dir, "go", "list", "-deps", "."))
		assert.Contains(t, packages, root+"/middleware")
		assert.NotContains(t, packages, root+"/cel")
	})
	t.Run("command", func(t *testing.T) {
		m.run(t, t.TempDir(), "go", "install", root+"/cmd/espalier@"+version)
		quickstart, err := filepath.Abs("../testdata/quickstart")
		require.NoError(t, err)
		espalier := filepath.Join(m.bin, "espalier")
		assert.Contains(t, m.run(t, quickstart, espalier, "version"), "espalier "+version+",")
		out := m.run(t, quickstart, espalier, "prune", "--validate", "ignore", "--crd", "crd.yaml", "-f", "backupplan.yaml")
		assert.Contains(t, out, "monthly: 12\n")
		assert.NotContains(t, out, "dayly")
	})
	t.Run("example", func(t *testing.T) {
		m.run(t, t.TempDir(), "go", "install", root+"/examples/apiserver@"+version)
		testServer(t, filepath.Join(m.bin, "apiserver"))
	})
}

// testWeight asserts that an importer of the decoder gets, beside the standard library, only what
// the decoder needs: as modules in go.mod, whose versions bind the program, and as linked packages.
func testWeight(t *testing.T, m machine, dir string) {
	lines := func(words ...string) []string { return strings.Fields(m.run(t, dir, words...)) }
	modules := lines("go", "list", "-m", "-f", "{{if not .Main}}{{.Path}}{{end}}", "all")
	t.Logf("go list -m all:\n%s", m.run(t, dir, "go", "list", "-m", "all"))
	t.Logf("go mod graph:\n%s", m.run(t, dir, "go", "mod", "graph"))
	for _, name := range modules {
		assert.Contains(t, []string{
			root,
			"github.com/go-json-experiment/json",
			"golang.org/x/sys", // features of the processor, for kernels
			"sigs.k8s.io/json",
			// These are for tests, and for the YAML that the command writes. They are not linked.
			"github.com/stretchr/testify",
			"github.com/davecgh/go-spew", "github.com/pmezard/go-difflib", // of testify
			"gopkg.in/yaml.v3", "go.yaml.in/yaml/v3",
			"github.com/kr/pretty", "github.com/kr/text", "gopkg.in/check.v1", // of yaml.v3
		}, name)
	}
	linked := lines("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".")
	slices.Sort(linked)
	assert.Equal(t, []string{"example.com/program", root, "github.com/go-json-experiment/json", "golang.org/x/sys", "sigs.k8s.io/json"}, slices.Compact(linked))

	packages := len(lines("go", "list", "-deps", "."))
	m.run(t, dir, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", "program", ".")
	program, err := os.Stat(filepath.Join(dir, "program"))
	require.NoError(t, err)
	t.Logf("a program that imports decoder, schema and fmt: %d packages, %d bytes stripped", packages, program.Size())
	assert.Less(t, packages, 112, "docs.TestWeight says which those of decoder are")
	assert.Less(t, program.Size(), int64(4_400_000))
}

// testServer starts the API server of the example, and asks it whether it is healthy.
func testServer(t *testing.T, name string) {
	server := exec.Command(name)
	server.Dir = t.TempDir()
	require.NoError(t, server.Start())
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	defer func() {
		_ = server.Process.Kill()
		<-ended
	}()
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // its certificate is made when it starts
	}}
	var last error
	for range 100 {
		answer, err := client.Get("https://127.0.0.1:8443/version")
		if last = err; err == nil {
			_ = answer.Body.Close()
			return
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("the server has ended: %v", err)
		case <-time.After(100 * time.Millisecond):
		}
	}
	t.Fatalf("the server does not answer: %v", last)
}
