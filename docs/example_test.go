package docs

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/middleware"
	"github.com/espalier-dev/espalier/request"
	"github.com/espalier-dev/espalier/schema"
)

// The code of http.md.
func pruning(handler http.Handler) (http.Handler, error) {
	catalog := schema.NewCatalog()
	if err := catalog.AddPath("crds/"); err != nil {
		return nil, err
	}
	find := request.ByPath(catalog)
	handler = middleware.New(find, middleware.Options{})(handler)
	return handler, nil
}

// The code of library.md.
func Example_options() {
	crds, err := schema.ParseCRD([]byte(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {group: backup.example.com,
  names: {kind: BackupPlan}, versions: [{name: v1, schema: {openAPIV3Schema: {type: object}}}]}}`))
	if err != nil {
		panic(err)
	}
	program, err := crds[0].Program("v1")
	if err != nil {
		panic(err)
	}
	d := decoder.New(program, decoder.Strict, decoder.Limits{Depth: 50}, decoder.ExpectType("backup.example.com/v1", "BackupPlan"))
	d.SetOrigin(errors.Position{Line: 7, Column: 1, ByteColumn: 1})
	_, err = d.AppendJSON(nil, []byte(`{"apiVersion":"v1","kind":"Secret"}`))
	fmt.Println(err)
	// Output: 7:15: apiVersion is "v1", where "backup.example.com/v1" is expected in "apiVersion"
}

// TestPruning runs the code of http.md in a folder that has definitions.
func TestPruning(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(folder, "crds"), os.DirFS("../testdata/quickstart")))
	t.Chdir(folder)
	var got string
	handler, err := pruning(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		got = string(body)
	}))
	require.NoError(t, err)
	r := httptest.NewRequest(http.MethodPost, "/apis/backup.example.com/v1/namespaces/n/backupplans", strings.NewReader(`{"apiVersion":"backup.example.com/v1","kind":"BackupPlan","x":1}`))
	handler.ServeHTTP(httptest.NewRecorder(), r)
	require.JSONEq(t, `{"apiVersion":"backup.example.com/v1","kind":"BackupPlan"}`, got)
}

// TestFuzzing runs the fuzz test of fuzzing.md, which finds the fault of the webhook. It is limited
// by executions, because a machine may be slow: it takes about a thousand.
func TestFuzzing(t *testing.T) {
	if testing.Short() || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("it builds a test with coverage, which go test -fuzz can on amd64 and arm64 alone")
	}
	folder := t.TempDir() // the input that fails is written there
	require.NoError(t, os.CopyFS(folder, os.DirFS("../sample/testdata/webhook")))
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	mod, err := os.ReadFile("../go.mod")
	require.NoError(t, err)
	const module = "github.com/espalier-dev/espalier"
	mod = append(bytes.Replace(mod, []byte("module "+module), []byte("module webhook"), 1),
		fmt.Sprintf("\nrequire %s v0.0.0\nreplace %[1]s => %s\n", module, root)...)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "go.mod"), mod, 0o666))
	sum, err := os.ReadFile("../go.sum")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "go.sum"), sum, 0o666))
	fuzz := exec.Command("go", "test", "-mod=mod", "-run", "^$", "-fuzz", "FuzzAdmit", "-fuzztime", "100000x", "-test.fuzzcachedir", folder, ".")
	fuzz.Dir, fuzz.Env = folder, append(os.Environ(), "GOWORK=off")
	out, err := fuzz.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "panic: interface conversion: interface {} is string, not int64")
}
