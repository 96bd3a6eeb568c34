package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/command"
)

// oneFile returns the path of a file in a folder of its own.
func oneFile(t *testing.T, content string) string {
	t.Helper()
	return filepath.Join(write(t, map[string]string{"a.yaml": content}), "a.yaml")
}

// alone makes sure that there is nothing beside a file.
func alone(t *testing.T, name string) {
	t.Helper()
	left, err := os.ReadDir(filepath.Dir(name))
	require.NoError(t, err)
	assert.Len(t, left, 1)
}

// TestReplaceLinks: a file of several names stays one file.
func TestReplaceLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("skipped: names are not counted there")
	}
	a := oneFile(t, tree+"x: 1\n")
	b := filepath.Join(t.TempDir(), "b.yaml")
	require.NoError(t, os.Link(a, b))
	_, stderr, code := espalier("", "prune", "--crd", writeCRD, "--write", "--validate", "ignore", a)
	assert.Equal(t, command.ExitInput, code)
	assert.Equal(t, a+": error: the file has 2 names (hard links), and all but one would keep the old content: make a copy of it first [unwritable]\n", stderr)
	assert.Equal(t, tree+"x: 1\n", read(t, a))
	infoA, err := os.Stat(a)
	require.NoError(t, err)
	infoB, err := os.Stat(b)
	require.NoError(t, err)
	assert.True(t, os.SameFile(infoA, infoB))
	alone(t, a)
}

// startMain starts the command in a process of its own.
func startMain(t *testing.T, args ...string) (cmd *exec.Cmd, stderr *bytes.Buffer) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd, stderr = exec.Command(self, args...), new(bytes.Buffer)
	cmd.Env = append(os.Environ(), "ESPALIER_TEST_MAIN=1")
	cmd.Stderr = stderr
	require.NoError(t, cmd.Start())
	return cmd, stderr
}
