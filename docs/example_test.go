package docs

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
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
