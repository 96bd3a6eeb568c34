//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/command"
)

// TestReplaceSignals: a process that is told to end while it writes leaves the file as it
// is, and nothing beside it.
func TestReplaceSignals(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		a := oneFile(t, tree+"x: 1\n")
		crd, err := filepath.Abs(writeCRD)
		require.NoError(t, err)
		// It waits for whoever holds the file, when all is written beside it.
		held, err := os.OpenFile(a, os.O_RDWR, 0)
		require.NoError(t, err)
		require.NoError(t, syscall.Flock(int(held.Fd()), syscall.LOCK_EX))
		cmd, stderr := startMain(t, "prune", "--crd", crd, "--write", a)
		found := func() []string {
			names, err := filepath.Glob(filepath.Join(filepath.Dir(a), ".espalier-*"))
			require.NoError(t, err)
			return names
		}
		require.Eventually(t, func() bool { return len(found()) == 1 }, 30*time.Second, time.Millisecond, stderr)
		require.NoError(t, cmd.Process.Signal(s))
		_ = cmd.Wait()
		status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
		require.True(t, ok)
		assert.True(t, status.Signaled() && status.Signal() == s, "%s: %v %s", s, cmd.ProcessState, stderr)
		assert.Empty(t, found(), s)
		assert.Equal(t, tree+"x: 1\n", read(t, a))
		require.NoError(t, held.Close())
	}
}

// TestReplaceWaits: of two processes that edit a file at the same time, none loses the edits of
// the other.
func TestReplaceWaits(t *testing.T) {
	a := oneFile(t, tree+"x: 1\n")
	crd, err := filepath.Abs(writeCRD)
	require.NoError(t, err)
	held, err := os.OpenFile(a, os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, syscall.Flock(int(held.Fd()), syscall.LOCK_EX))
	cmd, stderr := startMain(t, "prune", "--crd", crd, "--write", a)
	require.Eventually(t, func() bool {
		names, err := filepath.Glob(filepath.Join(filepath.Dir(a), ".espalier-*"))
		return err == nil && len(names) == 1
	}, 30*time.Second, time.Millisecond, stderr)
	writeFile(t, a+".new", tree+"# theirs\n")
	require.NoError(t, os.Rename(a+".new", a))
	require.NoError(t, held.Close())
	assert.Error(t, cmd.Wait())
	assert.Equal(t, command.ExitInput, cmd.ProcessState.ExitCode())
	assert.Contains(t, stderr.String(), a+": error: somebody else has changed it meanwhile, and it is left as it is now: run the command again [unwritable]\n")
	assert.Equal(t, tree+"# theirs\n", read(t, a))
	alone(t, a)
}

// TestPipe: a reader that goes away ends the command without a message, as it ends others.
func TestPipe(t *testing.T) {
	crd, err := filepath.Abs(crd)
	require.NoError(t, err)
	many := oneFile(t, strings.Repeat(planNamed("a")+"\n---\n", 20_000))
	for _, verb := range []string{"check", "prune"} {
		self, err := os.Executable()
		require.NoError(t, err)
		var stderr bytes.Buffer
		cmd := exec.Command(self, verb, "--crd", crd, "-o", map[string]string{"check": "tap", "prune": "ndjson"}[verb], many)
		cmd.Env = append(os.Environ(), "ESPALIER_TEST_MAIN=1")
		cmd.Stderr = &stderr
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		_, err = bufio.NewReader(out).ReadString('\n')
		require.NoError(t, err)
		require.NoError(t, out.Close())
		assert.Error(t, cmd.Wait())
		assert.Equal(t, command.ExitPipe, cmd.ProcessState.ExitCode(), verb)
		assert.Empty(t, stderr.String(), verb)
	}
}

// TestReplaceStrangers: a shared file does not change hands.
func TestReplaceStrangers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("skipped: only root can make files of others")
	}
	dir, err := os.MkdirTemp("", "espalier") //nolint:usetesting // what t.TempDir is in is closed to others
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o777))
	a, crd := filepath.Join(dir, "a.yaml"), filepath.Join(dir, "crd.yaml")
	writeFile(t, a, tree+"x: 1\n")
	writeFile(t, crd, read(t, writeCRD))
	require.NoError(t, os.Chmod(a, 0o666))
	require.NoError(t, os.Chmod(crd, 0o644))
	self, err := os.Executable()
	require.NoError(t, err)
	program := filepath.Join(dir, "espalier")
	writeFile(t, program, read(t, self))
	require.NoError(t, os.Chmod(program, 0o755))
	cmd := exec.Command(program, "prune", "--crd", crd, "--write", a)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "ESPALIER_TEST_MAIN=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 1234, Gid: 1234}}
	out, err := cmd.CombinedOutput()
	assert.Error(t, err)
	assert.Contains(t, string(out), "a.yaml: error: the file belongs to user 0 and group 0, and the edited file would not: run the command as its owner [unwritable]")
	assert.Equal(t, tree+"x: 1\n", read(t, a))
	names, err := filepath.Glob(filepath.Join(dir, ".espalier-*"))
	require.NoError(t, err)
	assert.Empty(t, names)
}
