package api

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write what is exported now")

// TestAPI compares the exported API with testdata/api. If the API is meant to change,
//
//	go test ./api -update
//
// in internal/tools rewrites it. The difference belongs into the commit, and CHANGELOG.md says what
// users have to do.
func TestAPI(t *testing.T) {
	const root = "../../.."
	for name, dir := range map[string]string{
		"errors": ".", "schema": ".", "sample": ".", "schema/validation": ".", "decoder": ".", "tokens": ".", "yamlbridge": ".", "request": ".", "middleware": ".", "projection": ".", "kube": "kube", "kube/controllerruntime/admission": "kube/controllerruntime", "kube/controllerruntime/fakes": "kube/controllerruntime", "kube/controllerruntime/projected": "kube/controllerruntime", "cel": "cel", "caddy": "caddy", "schema/reload": ".", "extproc": "extproc",
	} {
		t.Run(name, func(t *testing.T) {
			path := strings.TrimPrefix(strings.TrimPrefix("./"+name, "./"+dir), "/")
			lines, err := List(filepath.Join(root, dir), "./"+path)
			require.NoError(t, err)
			got := strings.Join(lines, "\n") + "\n"
			golden := filepath.Join(root, "testdata", "api", strings.ReplaceAll(name, "/", "-")+".txt")
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o666))
			}
			if name != "tokens" {
				assert.NotContains(t, got, "jsontext.", "package tokens alone has types of a module that has no releases")
				assert.NotContains(t, got, "jsonv2.")
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Equal(t, string(want), got)
		})
	}
}
