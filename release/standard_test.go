package release

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestStandardLibrary builds and tests the packages that read JSON with encoding/json/v2 and
// encoding/json/jsontext in place of github.com/go-json-experiment/json. It changes the import
// paths in the files that import it, as will be done when Go 1.27 is required.
func TestStandardLibrary(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped with -short: it compiles the standard library of another Go")
	}
	dir, err := filepath.Abs("..")
	require.NoError(t, err)
	run := func(args ...string) (string, error) {
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOTOOLCHAIN=go1.27.4")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run("version"); err != nil {
		t.Skipf("there is no Go 1.27 to be had: %v: %s", err, out)
	}

	paths := strings.NewReplacer(
		`"github.com/go-json-experiment/json/jsontext"`, `"encoding/json/jsontext"`,
		`"github.com/go-json-experiment/json"`, `"encoding/json/v2"`,
	)
	var overlay struct{ Replace map[string]string }
	overlay.Replace = make(map[string]string)
	for _, name := range []string{"internal/jsonv2/jsonv2.go", "tokens/tokens.go"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		// The constraint gives the file the new language version, as the line "go 1.27" in go.mod
		// will.
		text = []byte("//go:build go1.27\n\n" + paths.Replace(string(text)))
		to := filepath.Join(t.TempDir(), filepath.Base(name))
		require.NoError(t, os.WriteFile(to, text, 0o600))
		overlay.Replace[filepath.Join(dir, name)] = to
	}
	text, err := json.Marshal(overlay)
	require.NoError(t, err)
	overlaid := filepath.Join(t.TempDir(), "overlay.json")
	require.NoError(t, os.WriteFile(overlaid, text, 0o600))

	packages := []string{"./schema/...", "./decoder", "./tokens"}
	out, err := run(append([]string{"list", "-overlay", overlaid, "-deps"}, packages...)...)
	require.NoError(t, err, out)
	assert.Contains(t, out, "encoding/json/v2\n")
	assert.NotContains(t, out, "go-json-experiment")
	out, err = run(append([]string{"test", "-short", "-overlay", overlaid, "-run", "JSON|Unmarshal|Parse|CRD|Cases|Example|TestReader|TestStrict|TestSource|TestContext"}, packages...)...)
	require.NoError(t, err, out)
}
