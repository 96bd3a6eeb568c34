package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	yaml "gopkg.in/yaml.v3"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/command"
	"github.com/espalier-dev/espalier/internal/jsonv2"
)

// A fakeCluster has lists of objects by the paths of their resources, and statuses for others.
type fakeCluster struct {
	lists   map[string][]string
	refused map[string]int
	expires bool // after the first page
	written atomic.Bool
}

const (
	definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	plansPath       = "/apis/backup.example.com/v1/backupplans"
	cratesPath      = "/apis/store.example.com/v2/crates"
)

// newCluster returns a cluster with the definition of the README's example, and with one more.
func newCluster(t *testing.T) *fakeCluster {
	content, err := os.ReadFile(crd)
	require.NoError(t, err)
	var definition any
	require.NoError(t, yaml.Unmarshal(content, &definition))
	plans, err := jsonv2.Marshal(definition)
	require.NoError(t, err)
	return &fakeCluster{
		refused: map[string]int{},
		lists: map[string][]string{
			definitionsPath: {string(plans), `{"metadata": {"name": "crates.store.example.com"}, "spec": {"group": "store.example.com",
				"scope": "Cluster", "names": {"plural": "crates", "kind": "Crate"}, "versions": [{"name": "v2", "served": true, "storage": true,
				"schema": {"openAPIV3Schema": {"type": "object"}}}]}}`},
			plansPath: {
				`{"apiVersion": "backup.example.com/v1", "kind": "BackupPlan", "metadata": {"name": "a", "namespace": "prod"}, "spec": {"shedule": "x",
				"schedule": "0 2 * * *", "sources": [{"claim": "c"}], "target": {"bucket": "b"}}}`,
				`{"apiVersion": "backup.example.com/v1", "kind": "BackupPlan", "metadata": {"name": "b", "namespace": "prod"}, "spec": {
				"schedule": "0 2 * * *", "sources": [{"claim": "c"}], "target": {"bucket": "b"}}}`,
			},
			cratesPath: {`{"apiVersion": "store.example.com/v2", "kind": "Crate", "metadata": {"name": "c"}, "spec": 1}`},
		},
	}
}

// start starts the cluster and points KUBECONFIG to it: its context is called prod. At the end it asserts that nothing
// but GET was sent.
func (c *fakeCluster) start(t *testing.T) {
	server := httptest.NewServer(c)
	t.Cleanup(func() {
		server.Close()
		assert.False(t, c.written.Load())
	})
	dir := write(t, map[string]string{"kubeconfig": `{apiVersion: v1, kind: Config, clusters: [{name: c, cluster: {server: "` + server.URL + `"}}],
contexts: [{name: prod, context: {cluster: c}}], current-context: prod}`})
	t.Setenv("KUBECONFIG", filepath.Join(dir, "kubeconfig"))
}

// ServeHTTP answers with a page.
func (c *fakeCluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	all, isThere := c.lists[r.URL.Path]
	code := c.refused[r.URL.Path]
	from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	switch {
	case r.Method != http.MethodGet:
		c.written.Store(true)
		code = http.StatusMethodNotAllowed
	case code == 0 && !isThere:
		code = http.StatusNotFound
	case c.expires && from > 0 && !strings.HasPrefix(r.URL.Query().Get("continue"), "0"):
		code = http.StatusGone
	}
	w.Header().Set("Content-Type", "application/json")
	if code != 0 {
		reason := map[int]string{http.StatusForbidden: "Forbidden", http.StatusGone: "Expired", http.StatusNotFound: "NotFound"}[code]
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "metadata": {"continue": "0%d"}, "code": %d, "reason": %q, "message": "no \u001b[2Jthanks"}`, from, code, reason)
		return
	}
	to, next := min(from+limit, len(all)), ""
	if to < len(all) {
		next = strconv.Itoa(to)
	}
	kind := "List"
	if r.URL.Path == definitionsPath {
		kind = "CustomResourceDefinitionList"
	}
	fmt.Fprintf(w, `{"apiVersion": "apiextensions.k8s.io/v1", "items": [%s], "kind": %q, "metadata": {"continue": %q}}`, strings.Join(all[from:to], ","), kind, next)
}

// TestClusterDefinitions: the definitions in a cluster do what those in files do.
func TestClusterDefinitions(t *testing.T) {
	newCluster(t).start(t)
	for _, args := range [][]string{
		{"check", "--values=false", plan}, {"prune", plan}, {"default", plan},
		{"explain", plan, "spec.retention.dayly"}, {"schema", "example", "BackupPlan"},
	} {
		want, wantErr, wantCode := espalier("", append(args, "--crd", crd)...)
		for _, context := range []string{"prod", "."} {
			stdout, stderr, code := espalier("", append(args, "--context", context)...)
			assert.Equal(t, wantCode, code, args)
			assert.Equal(t, wantErr, stderr, args)
			if args[0] == "explain" {
				// Nobody can look up a line of what a server has sent.
				assert.Contains(t, stdout, "in cluster prod\n    cluster prod: the root: type object")
				continue
			}
			assert.Equal(t, want, stdout, args)
		}
	}
	stdout, _, _ := espalier("", "schema", "list", "--context", "prod", "--kubernetes-version", "none")
	assert.Contains(t, stdout, "backup.example.com/v1")
	assert.Contains(t, stdout, "cluster prod")
}

// TestClusterAndFiles: what --crd defines takes precedence, as a change is checked before it is made. Definitions that
// are only found among the inputs do not.
func TestClusterAndFiles(t *testing.T) {
	newCluster(t).start(t)
	dir := write(t, map[string]string{"crd.yaml": `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: backupplans.backup.example.com}
spec:
  group: backup.example.com
  scope: Namespaced
  names: {plural: backupplans, kind: BackupPlan}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {schedule: {type: string}}}}}}
`})
	stdout, _, code := espalier("", "check", "--crd", filepath.Join(dir, "crd.yaml"), "--context", "prod", "--get", "backupplans")
	assert.Equal(t, command.ExitFindings, code)
	assert.Equal(t, 5, strings.Count(stdout, "unknown field"), stdout)

	want, _, wantCode := espalier("", "check", "--crd", crd, "--values=false", dir, plan)
	stdout, _, code = espalier("", "check", "--context", "prod", "--values=false", dir, plan)
	assert.Equal(t, wantCode, code)
	assert.Equal(t, want, stdout)
}

// TestCheckCluster: the objects in a cluster are checked without positions, and what cannot be read is said.
func TestCheckCluster(t *testing.T) {
	c := newCluster(t)
	c.start(t)
	const found = `prod/backupplans.backup.example.com: error: unknown field "spec.shedule", did you mean "schedule"? (BackupPlan prod/a) [unknown-field]` + "\n"
	for _, resource := range []string{"backupplans", "backupplan", "BackupPlan", "backupplans.backup.example.com"} {
		stdout, stderr, code := espalier("", "check", "--context", "prod", "--get", resource)
		assert.Equal(t, command.ExitFindings, code)
		assert.Equal(t, found, stdout)
		assert.Equal(t, "2 objects in 1 list of cluster prod: 1 error\n", stderr)
	}
	const crate = `prod/crates.store.example.com: error: unknown field "spec" (Crate c) [unknown-field]` + "\n"
	stdout, stderr, code := espalier("", "check", "--context", "prod", "--get", "all", "--get", "crates", plan)
	assert.Equal(t, command.ExitFindings, code)
	assert.True(t, strings.HasSuffix(stdout, found+crate), stdout)
	assert.Equal(t, "4 objects in 1 file and 2 lists of cluster prod: 5 errors\n", stderr)

	stdout, _, code = espalier("", "check", "--context", "prod", "--get", "backupplans", "-o", "json")
	assert.Equal(t, command.ExitFindings, code)
	assert.Contains(t, stdout, `"file": "prod/backupplans.backup.example.com"`)
	assert.NotContains(t, stdout, `"line"`)

	c.refused[plansPath] = http.StatusForbidden
	stdout, stderr, code = espalier("", "check", "--context", "prod", "--get", "all")
	assert.Equal(t, command.ExitInput, code)
	assert.Equal(t, `prod/backupplans.backup.example.com: error: no \x1b[2Jthanks: ask for the right to list them, or name a namespace with --namespace where you have it [unreadable]`+"\n"+crate, stdout)
	assert.Equal(t, "1 object in 2 lists of cluster prod: 2 errors\n", stderr)

	// With a namespace, kinds are left out whose objects are in none.
	c.lists["/apis/backup.example.com/v1/namespaces/prod/backupplans"] = c.lists[plansPath][:1]
	stdout, stderr, code = espalier("", "check", "--context", "prod", "--get", "all", "-n", "prod")
	assert.Equal(t, command.ExitFindings, code)
	assert.Equal(t, found, stdout)
	assert.Equal(t, "1 object in 1 list of cluster prod: 1 error\n", stderr)
}

// TestAuditCluster: audit reads the objects whose definitions change.
func TestAuditCluster(t *testing.T) {
	c := newCluster(t)
	c.lists[plansPath][0] = strings.Replace(c.lists[plansPath][0], `"shedule": "x",`, `"podLabels": {"team": "a"},`, 1)
	c.start(t)
	const found = `BackupPlan (backup.example.com): 2 of 2 objects affected
  v1 spec.podLabels is lost: 1 object
    prod/backupplans.backup.example.com: prod/a: {"team":"a"}
  v1 spec.target.checksums gets a default: 2 objects
    prod/backupplans.backup.example.com: prod/a: none, then true
    prod/backupplans.backup.example.com: prod/b: none, then true
`
	const next = "../../testdata/readme/next.yaml"
	for _, args := range [][]string{{}, {"--get", "backupplans"}, {"--from", crd}} {
		stdout, stderr, code := espalier("", append([]string{"audit", "--context", "prod", "--to", next}, args...)...)
		assert.Equal(t, command.ExitFindings, code, args)
		assert.Equal(t, found, stdout, args)
		assert.Equal(t, "2 objects: 1 loses fields, 2 get other defaults\n", stderr, args)
	}
	stdout, stderr, code := espalier("", "audit", "--context", "prod", "--to", crd)
	assert.Equal(t, command.ExitClean, code, "the definition is the one in the cluster")
	assert.Empty(t, stdout)
	assert.Contains(t, stderr, "0 objects: none is affected")

	c.refused[plansPath] = http.StatusForbidden
	_, stderr, code = espalier("", "audit", "--context", "prod", "--to", next)
	assert.Equal(t, command.ExitInput, code)
	assert.Contains(t, stderr, `ask for the right to list them`)
	_, stderr, code = espalier("", "audit", "--context", "prod", "--to", next, "--get", "gears")
	assert.Equal(t, command.ExitUsage, code)
	assert.Contains(t, stderr, "--get gears: there is no definition of it in the cluster")
	_, _, code = espalier("", "audit", "--context", "stage", "--to", next)
	assert.Equal(t, command.ExitUsage, code)
}

// TestForbiddenDefinitions: without the right to read definitions, those of files are enough, but it is said.
func TestForbiddenDefinitions(t *testing.T) {
	c := newCluster(t)
	c.refused[definitionsPath] = http.StatusForbidden
	c.start(t)
	const said = `error: reading definitions: cluster prod: no \x1b[2Jthanks: name files with --crd, or ask for the right to list definitions` + "\n"
	stdout, stderr, code := espalier("", "check", "--context", "prod", "--get", "backupplans", "--crd", crd)
	assert.Equal(t, command.ExitInput, code)
	assert.Equal(t, 1, strings.Count(stdout, "\n"), stdout)
	assert.Equal(t, said+"2 objects in 1 list of cluster prod: 1 error\n", stderr)

	stdout, stderr, code = espalier("", "check", "--context", "prod", plan)
	assert.Equal(t, command.ExitInput, code)
	assert.Empty(t, stdout)
	assert.Equal(t, said, stderr)

	const next = "../../testdata/readme/next.yaml"
	stdout, stderr, code = espalier("", "audit", "--context", "prod", "--from", crd, "--to", next)
	assert.Equal(t, command.ExitInput, code)
	assert.Contains(t, stdout, "2 of 2 objects affected")
	assert.Contains(t, stderr, "name files with --from")
	stdout, stderr, code = espalier("", "audit", "--context", "prod", "--to", next)
	assert.Equal(t, command.ExitInput, code)
	assert.Empty(t, stdout)
	assert.Equal(t, strings.Replace(said, "--crd", "--from", 1), stderr)
}

// TestCompleteContext: the contexts are those of the kubeconfig.
func TestCompleteContext(t *testing.T) {
	newCluster(t).start(t)
	stdout, _, code := espalier("", "__complete", "audit", "--context", "")
	assert.Equal(t, command.ExitClean, code)
	assert.Equal(t, "prod\n.\n:4\n", stdout)
	stdout, _, code = espalier("", "__complete", "check", "--kubeconfig", "missing", "--context", "")
	assert.Equal(t, command.ExitClean, code)
	assert.Equal(t, ".\n:4\n", stdout)
}

// TestMixedList: it is said if a list has objects of several states.
func TestMixedList(t *testing.T) {
	c := newCluster(t)
	for i := range 1000 {
		c.lists[plansPath] = append(c.lists[plansPath], strings.ReplaceAll(c.lists[plansPath][1], `"b"`, fmt.Sprintf(`"b%d"`, i)))
	}
	c.expires = true
	c.start(t)
	stdout, stderr, code := espalier("", "check", "--context", "prod", "--get", "backupplans")
	assert.Equal(t, command.ExitFindings, code)
	assert.Equal(t, 1, strings.Count(stdout, "\n"))
	assert.Equal(t, "warning: prod/backupplans.backup.example.com: after 1000 objects the server had forgotten the state at which the list began, "+
		"and went on from a later one: objects made or deleted meanwhile may be missing\n1002 objects in 1 list of cluster prod: 1 error\n", stderr)
}

func TestClusterArguments(t *testing.T) {
	newCluster(t).start(t)
	for _, test := range []struct {
		args, want string
	}{
		{"check --context=", "--context: the name is empty: name a context, or . for the current one"},
		{"check --context dev", `--context: the kubeconfig has no context "dev": name one of prod`},
		{"prune --kubeconfig x", "--kubeconfig does nothing without --context: name a context, or . for the current one"},
		{"check --get x", "--get reads from a cluster: name its context with --context, or . for the current one"},
		{"check -n x", "--namespace, --selector and --field-selector choose among the objects of --get: add --get RESOURCE"},
		{"check --context . --get crates -l a=!", `"a=!" is no selector of labels: `},
		{"check --context . --get crats", "--get crats: there is no definition of it in the cluster, did you mean crates?"},
		{"check --context . --get xyz", "--get xyz: there is no definition of it in the cluster\n"},
	} {
		stdout, stderr, code := espalier("", strings.Fields(test.args)...)
		assert.Equal(t, command.ExitUsage, code, test.args)
		assert.Empty(t, stdout, test.args)
		assert.True(t, strings.HasPrefix(stderr, "error: "+test.want), "%s: %s", test.args, stderr)
	}
}

// TestAmbiguousResource: a name that two kinds have leads to neither.
func TestAmbiguousResource(t *testing.T) {
	c := newCluster(t)
	c.lists[definitionsPath] = append(c.lists[definitionsPath], strings.ReplaceAll(c.lists[definitionsPath][1], "store.example.com", "shop.example.com"))
	c.start(t)
	_, stderr, code := espalier("", "check", "--context", "prod", "--get", "crates")
	assert.Equal(t, command.ExitUsage, code)
	assert.Equal(t, "error: --get crates: this is crates.store.example.com and crates.shop.example.com: name one with its group\n", stderr)
}

// TestConfigNamesNoCluster: a kubeconfig names programs to run, so a repository has no say in it.
func TestConfigNamesNoCluster(t *testing.T) {
	for _, line := range []string{"context: prod", "kubeconfig: evil", "get: [all]", "namespace: x"} {
		dir := write(t, map[string]string{".espalier.yaml": line + "\n", "evil": "{}"})
		t.Chdir(dir)
		_, stderr, code := espalier("", "check", dir)
		assert.Equal(t, command.ExitUsage, code, line)
		assert.Contains(t, stderr, "unknown field", line)
	}
}
