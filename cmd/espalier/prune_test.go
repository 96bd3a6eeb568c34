package main

import (
	"bytes"
	stderrors "errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/command"
)

const (
	quickstart = "../../testdata/quickstart/"
	crd        = quickstart + "crd.yaml"
	plan       = quickstart + "backupplan.yaml"
)

// espalier runs the command as a shell would.
func espalier(stdin string, args ...string) (stdout, stderr string, code int) {
	var out, errs bytes.Buffer
	code = command.Run(args, strings.NewReader(stdin), &out, &errs)
	return out.String(), errs.String(), code
}

// write puts files into a new folder and returns it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o777))
		require.NoError(t, os.WriteFile(name, []byte(content), 0o666))
	}
	return dir
}

// planNamed is a complete BackupPlan, on which nothing is to be done.
func planNamed(name string) string {
	return `{"apiVersion":"backup.example.com/v1","kind":"BackupPlan","metadata":{"name":"` + name + `"}}`
}

func TestPruneYAML(t *testing.T) {
	stdout, stderr, code := espalier("", "prune", "--crd", crd, "-f", plan)
	assert.Equal(t, command.ExitClean, code)
	assert.Equal(t, `apiVersion: backup.example.com/v1
kind: BackupPlan
metadata:
  name: databases
  namespace: prod
  labels:
    app.kubernetes.io/part-of: billing
spec:
  schedule: "0 2 * * *"
  retention:
    daily: 7
    monthly: 12
  sources:
    - claim: orders-db
      paths:
        - /var/lib/postgresql
      compression: zstd
    - claim: ledger-db
      compression: none
      paths:
        - /
  target:
    bucket: backups
    region: eu-west-1
    port: https
  podLabels:
    team: storage
  suspend: false
`, stdout)
	assert.Equal(t, plan+`:11:5: warning: unknown field "spec.retention.dayly", did you mean "daily"? (BackupPlan prod/databases) [unknown-field]
`+plan+`:17:5: warning: unknown field "spec.sources[1].pahts", did you mean "paths"? (BackupPlan prod/databases) [unknown-field]
`+plan+`:21:5: warning: duplicate field "spec.target.region", first at 20:5 (BackupPlan prod/databases) [duplicate-field]
`, stderr)

	again, stderr, code := espalier(stdout, "prune", "--crd", crd, "--validate", "strict")
	assert.Equal(t, command.ExitClean, code)
	assert.Equal(t, stdout, again, "what was pruned stays as it is")
	assert.Empty(t, stderr)
}

func TestPruneStrictJSON(t *testing.T) {
	content, err := os.ReadFile(plan)
	require.NoError(t, err)
	stdout, stderr, code := espalier(string(content), "prune", "--crd", crd, "--validate=strict", "-o", "ndjson")
	assert.Equal(t, command.ExitFindings, code)
	assert.Equal(t, `{"apiVersion":"backup.example.com/v1","kind":"BackupPlan",`+
		`"metadata":{"name":"databases","namespace":"prod","labels":{"app.kubernetes.io/part-of":"billing"}},`+
		`"spec":{"schedule":"0 2 * * *","retention":{"daily":7,"monthly":12},`+
		`"sources":[{"claim":"orders-db","paths":["/var/lib/postgresql"],"compression":"zstd"},`+
		`{"claim":"ledger-db","compression":"none","paths":["/"]}],`+
		`"target":{"bucket":"backups","region":"eu-west-1","port":"https"},`+
		`"podLabels":{"team":"storage"},"suspend":false}}`+"\n", stdout)
	assert.Equal(t, `<stdin>:11:5: error: unknown field "spec.retention.dayly", did you mean "daily"? (BackupPlan prod/databases) [unknown-field]
<stdin>:17:5: error: unknown field "spec.sources[1].pahts", did you mean "paths"? (BackupPlan prod/databases) [unknown-field]
<stdin>:21:5: error: duplicate field "spec.target.region", first at 20:5 (BackupPlan prod/databases) [duplicate-field]
`, stderr)
}

func TestPruneIgnore(t *testing.T) {
	stdout, stderr, code := espalier("", "prune", "--crd", crd, "--validate", "ignore", plan)
	assert.Equal(t, command.ExitClean, code)
	assert.Empty(t, stderr)
	assert.NotContains(t, stdout, "dayly")
}

// TestPruneBadDocuments has one bad document of each kind in one stream. Each is named by its
// line in the file, and the good ones are written.
func TestPruneBadDocuments(t *testing.T) {
	stdout, stderr, code := espalier(`# The stream of a generator.
---
`+planNamed("first")+`
---
apiVersion: backup.example.com/v1
kind: BackupPlan
metadata: {name: [oops}
---
kind: BackupPlan
---
apiVersion: backup.example.com/v2
kind: BackupPlan
---
apiVersion: backup.example.com/v1
kind: BackupPlan
metadata:
  name: last
  nmae: x
`, "prune", "--crd", crd, "-f", "-")
	assert.Equal(t, command.ExitInput, code)
	assert.Equal(t, `apiVersion: backup.example.com/v1
kind: BackupPlan
metadata:
  name: first
---
apiVersion: backup.example.com/v1
kind: BackupPlan
metadata:
  name: last
`, stdout)
	lines := strings.Split(stderr, "\n")
	require.Len(t, lines, 5)
	assert.Regexp(t, `^<stdin>:7:\d+: error: document 2: `, lines[0])
	assert.Equal(t, `<stdin>:8:1: error: document 3: object has no apiVersion or no kind (BackupPlan) [missing-type]`, lines[1])
	assert.Regexp(t, `^<stdin>:10:1: error: no matches for kind "BackupPlan" in version "backup\.example\.com/v2"`, lines[2])
	assert.Equal(t, `<stdin>:18:3: warning: unknown field "metadata.nmae", did you mean "name"? (BackupPlan last) [unknown-field]`, lines[3])
}

func TestPruneConcatenatedJSON(t *testing.T) {
	stdout, stderr, code := espalier(planNamed("a")+"\n"+`  {"apiVersion": "backup.example.com/v1",
 "kind": "BackupPlan", "extra": 1}`+planNamed("b")+" nonsense", "prune", "--crd", crd, "-o", "ndjson")
	assert.Equal(t, command.ExitInput, code)
	assert.Equal(t, planNamed("a")+"\n"+`{"apiVersion":"backup.example.com/v1","kind":"BackupPlan"}`+"\n"+planNamed("b")+"\n", stdout)
	warning, failure, _ := strings.Cut(stderr, "\n")
	assert.Equal(t, `<stdin>:3:24: warning: unknown field "extra" (BackupPlan) [unknown-field]`, warning)
	// The second line of the second object: 34 characters, and the third object.
	assert.Regexp(t, `^<stdin>:3:\d+: error: document 4: `, failure)
}

func TestPruneList(t *testing.T) {
	list := `{"kind": "List", "apiVersion": "v1", "metadata": {}, "items": [
  ` + planNamed("a") + `,
  {"apiVersion": "backup.example.com/v1", "kind": "BackupPlan", "spek": {}},
  {"apiVersion": "v1", "kind": "Secret"}
]}`
	stdout, stderr, code := espalier(list, "prune", "--crd", crd, "--kubernetes-version", "none", "-o", "ndjson")
	assert.Equal(t, command.ExitInput, code)
	assert.Equal(t, planNamed("a")+"\n"+`{"apiVersion":"backup.example.com/v1","kind":"BackupPlan"}`+"\n", stdout)
	assert.Equal(t, `<stdin>:3:65: warning: unknown field "spek", did you mean "spec"? (BackupPlan) [unknown-field]
<stdin>:4:3: error: no matches for kind "Secret" in version "v1"; built-in kinds are not known because of --kubernetes-version none (Secret) [missing-schema]
`, stderr)

	stdout, stderr, code = espalier(`apiVersion: backup.example.com/v1
kind: BackupPlanList
items:
- apiVersion: backup.example.com/v1
  kind: BackupPlan
  spek: {}
`, "prune", "--crd", crd)
	assert.Equal(t, command.ExitClean, code)
	assert.Equal(t, "apiVersion: backup.example.com/v1\nkind: BackupPlan\n", stdout)
	assert.Equal(t, `<stdin>:6:3: warning: unknown field "spek", did you mean "spec"? (BackupPlan) [unknown-field]`+"\n", stderr)
}

// TestPruneListEnvelope: findings in a List itself are reported as well.
func TestPruneListEnvelope(t *testing.T) {
	stdout, stderr, code := espalier(`{"kind": "List", "metadata": {}, "extra": 1,
 "metadata": {}, "items": [`+planNamed("b")+`]}`, "prune", "--crd", crd, "-o", "ndjson", "--validate", "strict")
	assert.Equal(t, command.ExitFindings, code)
	assert.Equal(t, planNamed("b")+"\n", stdout)
	assert.Contains(t, stderr, `<stdin>:2:2: error: duplicate field "metadata", first at 1:18`)
	assert.Contains(t, stderr, `error: unknown field "extra"`)
}

func TestPruneMissingSchemas(t *testing.T) {
	const secret = `{"apiVersion": "v1", "kind": "Secret", "data": {"a": "eA=="}, "data": {"b": "eQ=="}}`
	stdout, stderr, code := espalier(secret, "prune", "--crd", crd, "--kubernetes-version", "none", "-o", "ndjson")
	assert.Equal(t, command.ExitInput, code)
	assert.Empty(t, stdout)
	assert.Equal(t, `<stdin>:1:1: error: no matches for kind "Secret" in version "v1"; built-in kinds are not known because of --kubernetes-version none (Secret) [missing-schema]`+"\n", stderr)

	stdout, stderr, code = espalier(secret, "prune", "--crd", crd, "--kubernetes-version", "none", "-o", "ndjson", "--ignore-missing-schemas")
	assert.Equal(t, command.ExitClean, code)
	assert.Equal(t, `{"apiVersion":"v1","kind":"Secret","data":{"b":"eQ=="}}`+"\n", stdout)
	assert.Equal(t, `<stdin>:1:63: warning: duplicate field "data", first at 1:40 (Secret) [duplicate-field]`+"\n", stderr)
}

func TestPruneFolders(t *testing.T) {
	dir := write(t, map[string]string{
		"b.json":      planNamed("b"),
		"a/x.yaml":    planNamed("ax"),
		"a/y.yml":     planNamed("ay"),
		"a/notes.txt": "no manifest",
		"plain":       planNamed("plain"),
		"crds/crd.yaml": `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": {
			"group": "backup.example.com", "names": {"kind": "BackupPlan", "plural": "backupplans"}, "scope": "Namespaced",
			"versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}]}}`,
		"crds/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n",
	})
	stdout, stderr, code := espalier(planNamed("stdin"), "prune", "--crd", dir+"/crds", "-o", "ndjson",
		dir+"/plain", "-f", dir+"/b.json", "--filename", dir+"/a", "-")
	assert.Equal(t, command.ExitClean, code)
	assert.Empty(t, stderr)
	assert.Equal(t, planNamed("b")+"\n"+planNamed("ax")+"\n"+planNamed("ay")+"\n"+planNamed("plain")+"\n"+planNamed("stdin")+"\n", stdout)
}

func TestPruneSemantics(t *testing.T) {
	const wrong = `{"apiVersion": "backup.example.com/v1", "kind": "BackupPlan", "spec": {"suspend": "yes", "podLabels": null}}`
	stdout, stderr, code := espalier(wrong, "prune", "--crd", crd, "-o", "ndjson")
	assert.Equal(t, command.ExitClean, code, "types are left to validation")
	assert.Equal(t, `{"apiVersion":"backup.example.com/v1","kind":"BackupPlan","spec":{"suspend":"yes","retention":{"daily":7,"monthly":12}}}`+"\n", stdout)
	assert.Empty(t, stderr)

	stdout, stderr, code = espalier(wrong, "prune", "--crd", crd, "-o", "ndjson", "--semantics", "kep")
	assert.Equal(t, command.ExitInput, code)
	assert.Empty(t, stdout)
	assert.Equal(t, `<stdin>:1:83: error: field "spec.suspend" must be a boolean, not a string (BackupPlan) [type-mismatch]`+"\n", stderr)
}

func TestExitCodes(t *testing.T) {
	dir := write(t, map[string]string{"broken.yaml": "a: [", "empty.yaml": "", "empty.json": "", "unknown.json": `{"apiVersion":"backup.example.com/v1","kind":"BackupPlan","x":1}`})
	for _, test := range []struct {
		name   string
		code   int
		stderr string
		args   []string
	}{
		{"nothing to do", command.ExitClean, "", []string{dir + "/empty.yaml"}},
		{"warning", command.ExitClean, "warning", []string{dir + "/unknown.json"}},
		{"strict", command.ExitFindings, "error", []string{"--validate=strict", dir + "/unknown.json"}},
		{"strict, and an input that is missing", command.ExitInput, "none.json", []string{"--validate=strict", dir + "/unknown.json", dir + "/none.json"}},
		{"no JSON", command.ExitInput, "empty.json:1:1: error: ", []string{dir + "/empty.json"}},
		{"no such definitions", command.ExitInput, "none.yaml", []string{"--crd", dir + "/none.yaml"}},
		{"broken definitions", command.ExitInput, "broken.yaml", []string{"--crd", dir + "/broken.yaml"}},
		{"wrong output", command.ExitUsage, "must be yaml, json, ndjson", []string{"-o", "xml"}},
		{"wrong mode", command.ExitUsage, "must be strict, warn, ignore", []string{"--validate", "Strict"}},
		{"wrong semantics", command.ExitUsage, "must be deployed, kep", []string{"--semantics", "v1"}},
		{"unknown flag", command.ExitUsage, "--bogus", []string{"--bogus"}},
	} {
		_, stderr, code := espalier("", append([]string{"prune", "--crd", crd}, test.args...)...)
		assert.Equal(t, test.code, code, "%s: %s", test.name, stderr)
		assert.Contains(t, stderr, test.stderr, test.name)
	}
	for _, args := range [][]string{{"prune", "--kubernetes-version", "none"}, {"bogus"}, {"version", "x"}} {
		stdout, stderr, code := espalier("", args...)
		assert.Equal(t, command.ExitUsage, code, args)
		assert.Empty(t, stdout, args)
		assert.Contains(t, stderr, "--help", args)
	}
}

// A brokenWriter takes some bytes and then no more.
type brokenWriter struct {
	room  int
	short bool // without saying so
}

func (w *brokenWriter) Write(p []byte) (int, error) {
	n := min(w.room, len(p))
	w.room -= n
	if n < len(p) && !w.short {
		return n, stderrors.New("broken pipe")
	}
	return n, nil
}

func TestOutputFails(t *testing.T) {
	for _, w := range []*brokenWriter{{}, {room: 150}, {room: 150, short: true}} {
		var stderr bytes.Buffer
		in := strings.Repeat(planNamed("a")+"\n", 5)
		code := command.Run([]string{"prune", "--crd", crd, "-o", "ndjson"}, strings.NewReader(in), w, &stderr)
		assert.Equal(t, command.ExitInput, code)
		assert.Regexp(t, `^error: writing the output: (broken pipe|short write)\n$`, stderr.String(), "once")
	}
}

// TestOutputFailsAll: every command notices that its output cannot be written.
func TestOutputFailsAll(t *testing.T) {
	for _, args := range [][]string{
		{"check"}, {"check", "-o", "json"}, {"check", "-o", "sarif"}, {"check", "-o", "github"}, {"check", "-o", "junit"}, {"check", "-o", "tap"},
		{"default"}, {"prune", "--diff"}, {"explain", "-", "spec"}, {"schema", "list"}, {"schema", "show", "BackupPlan"},
		{"schema", "example", "BackupPlan"}, {"schema", "example", "--smallest", "-o", "json", "BackupPlan"},
	} {
		var stderr bytes.Buffer
		in := strings.NewReader(strings.Replace(planNamed("a"), "{", `{"unknown":1,`, 1))
		code := command.Run(append(args, "--crd", crd), in, &brokenWriter{}, &stderr)
		assert.Equal(t, command.ExitInput, code, args)
		assert.Contains(t, stderr.String(), "broken pipe", args)
	}
}

func TestHelp(t *testing.T) {
	stdout, stderr, code := espalier("", "prune", "--help")
	assert.Equal(t, command.ExitClean, code)
	assert.Empty(t, stderr)
	for _, part := range []string{"espalier prune --crd crd.yaml -f backupplan.yaml", "espalier prune --crd crds/ --write manifests/", "Exit codes:", "--ignore-missing-schemas", "strict|warn|ignore"} {
		assert.Contains(t, stdout, part)
	}
	stdout, _, code = espalier("", "completion", "bash")
	assert.Equal(t, command.ExitClean, code)
	assert.Contains(t, stdout, "bash completion V2 for espalier")
}

func TestVersion(t *testing.T) {
	stdout, _, code := espalier("", "version")
	assert.Equal(t, command.ExitClean, code)
	assert.Regexp(t, `^espalier \S+, go1\.`, stdout)
}

// TestParallel: the output does not depend on the number of workers.
func TestParallel(t *testing.T) {
	files := map[string]string{}
	for i := range 200 {
		text := strings.Repeat(planNamed(fmt.Sprint("plan-", i))+"\n", 1+i%40) + strings.Repeat(" ", i*100)
		if i%3 == 0 {
			text += `{"apiVersion":"backup.example.com/v1","kind":"BackupPlan","unknown":1}`
		}
		files[fmt.Sprintf("%d.json", i)] = text
	}
	dir := write(t, files)
	for _, verb := range [][]string{{"prune", "-o", "yaml"}, {"check", "-o", "json"}, {"check", "-o", "junit"}, {"prune", "--diff"}} {
		t.Setenv("SOURCE_DATE_EPOCH", "0")
		args := append(verb, "--crd", crd, dir)
		stdout, stderr, code := espalier("", append(args, "-j", "1")...)
		for _, n := range []string{"2", "16"} {
			stdout2, stderr2, code2 := espalier("", append(args, "-j", n)...)
			assert.Equal(t, code, code2, verb)
			assert.True(t, stdout == stdout2, "%s: stdout differs", verb)
			assert.True(t, stderr == stderr2, "%s: stderr differs", verb)
		}
	}
}
