package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/command"
)

// TestOldOrder: runs with one worker to nine have one output, whether the old state is a folder or
// a revision, and names from outside forge no line of it.
func TestOldOrder(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("skipped: git is not installed")
	}
	runs := 27 // each number of goroutines three times
	if testing.Short() {
		runs = 5
	}
	crd, err := filepath.Abs("../../testdata/quickstart/crd.yaml")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	write := func(dir, spec, uid string) {
		for i := range 40 {
			name := fmt.Sprintf("%s/%d\n::error::forged\x1b[31m.yaml", dir, i)
			require.NoError(t, os.MkdirAll(dir, 0o777))
			manifest := fmt.Sprintf("apiVersion: backup.example.com/v1\nkind: BackupPlan\nmetadata: {name: p%d, uid: %q}\nspec: {%s}\n", i%20, uid, spec)
			require.NoError(t, os.WriteFile(name, []byte(manifest), 0o666))
		}
	}
	write("m", "retention: {daily: -1}", "u\n::warning::x")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "x"}} {
		out, err := exec.Command("git", args...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	require.NoError(t, os.Rename("m", "old"))
	write("m", "retention: {daily: -1, monthly: -2}", "v")
	for _, old := range [][]string{{"--old", "old"}, {"--old-rev", "main"}} {
		var want string
		for i := range runs {
			var stdout, stderr bytes.Buffer
			args := append([]string{"check", "--config=", "--crd", crd, "-j", fmt.Sprint(1 + i%9)}, append(old, "m")...)
			assert.Equal(t, command.ExitFindings, command.Run(args, strings.NewReader(""), &stdout, &stderr))
			got := stdout.String() + stderr.String()
			if i == 0 {
				want = got
				assert.Equal(t, 201, strings.Count(got, "\n"))
				assert.True(t, strings.HasSuffix(got, ", 40 compared with old ones: 200 errors\n"))
				assert.False(t, strings.Contains(got, "\x1b"))
				assert.False(t, strings.Contains(got, "daily: Invalid"), "it was invalid before")
			}
			require.True(t, want == got, "run %d has another output", i)
		}
	}
}
