package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/command"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/config"
)

// TestWriteReach: --write edits the files that its arguments name or hold, and not the targets
// of links that lead out of them.
func TestWriteReach(t *testing.T) {
	crd, err := filepath.Abs(writeCRD)
	require.NoError(t, err)
	const unpruned = tree + "x: 1\n"
	make := func(t *testing.T) {
		dir := write(t, map[string]string{"repo/a.yaml": unpruned, "repo/sub/b.yaml": unpruned, "out/secret.yaml": unpruned, "repository/c.yaml": unpruned})
		t.Chdir(dir)
		require.NoError(t, os.Symlink("../out/secret.yaml", "repo/link.yaml"))
		require.NoError(t, os.Symlink("../repository/c.yaml", "repo/prefix.yaml"))
		require.NoError(t, os.Symlink("sub/b.yaml", "repo/inner.yaml"))
		require.NoError(t, os.Symlink("../../out", "repo/sub/out"))
		require.NoError(t, os.Symlink("repo", "alias"))
	}
	outside := []string{"out/secret.yaml", "repository/c.yaml"}
	for argument, want := range map[string][]string{
		"repo":            {"repo/a.yaml", "repo/sub/b.yaml"},
		"alias":           {"repo/a.yaml", "repo/sub/b.yaml"},
		"repo/":           {"repo/a.yaml", "repo/sub/b.yaml"},
		"repo/*.yaml":     {"repo/a.yaml", "repo/sub/b.yaml"},
		"repo/*/*.yaml":   {"repo/sub/b.yaml"},
		"repo/sub/*/*":    {},
		"repo/link.yaml":  {"out/secret.yaml"},
		"repo/sub/out/":   {"out/secret.yaml"},
		"./repo/../repo/": {"repo/a.yaml", "repo/sub/b.yaml"},
	} {
		t.Run(argument, func(t *testing.T) {
			make(t)
			_, stderr, _ := espalier("", "prune", "--crd", crd, "--validate", "ignore", "--write", argument)
			for _, name := range append([]string{"repo/a.yaml", "repo/sub/b.yaml"}, outside...) {
				content := unpruned
				for _, w := range want {
					if w == name {
						content = tree
					}
				}
				assert.Equal(t, content, read(t, name), "%s\n%s", name, stderr)
			}
		})
	}
	make(t)
	_, stderr, code := espalier("", "prune", "--crd", crd, "--validate", "ignore", "--write", "repo")
	assert.Equal(t, command.ExitClean, code)
	target, err := filepath.EvalSymlinks("out/secret.yaml")
	require.NoError(t, err)
	assert.Contains(t, stderr, filepath.Join("repo", "link.yaml")+": warning: leads out of the folder to "+target+", and is not edited: name it as an argument to have it edited [edit]\n")
	assert.NotContains(t, stderr, "inner")

	// --list-changed and --diff show the files that are edited, each once.
	make(t)
	edits := filepath.FromSlash("repo/a.yaml\nrepo/inner.yaml\n")
	for _, args := range [][]string{{"--list-changed"}, {"--write", "--list-changed"}} {
		stdout, stderr, _ := espalier("", append([]string{"prune", "--crd", crd, "--validate", "ignore", "repo"}, args...)...)
		assert.Equal(t, edits, stdout, args)
		assert.Contains(t, stderr, "leads out of the folder", args)
	}
	make(t)
	stdout, _, _ := espalier("", "prune", "--crd", crd, "--validate", "ignore", "--diff", "repo")
	assert.Equal(t, 2, strings.Count(stdout, "\n+++ b/"), stdout)
}

// TestConfigOwner: the configuration of another user is not read unless it is named.
func TestConfigOwner(t *testing.T) {
	if runtime.GOOS == "windows" || os.Getuid() != 0 {
		t.Skip("skipped: only root can give files away")
	}
	dir := write(t, map[string]string{config.FileName: "validate: strict\n", "mine/a": "", "a.yaml": planNamed("a")})
	crd, err := filepath.Abs(crd)
	require.NoError(t, err)
	name := filepath.Join(dir, config.FileName)
	require.NoError(t, os.Chown(name, 1234, 1234))
	t.Chdir(dir)
	_, stderr, code := espalier("", "check", "--crd", crd, "a.yaml")
	assert.Equal(t, command.ExitUsage, code)
	assert.Contains(t, stderr, config.FileName+" belongs to another user and is not read: name it with --config if you trust it, or use none with --config=")
	for _, args := range [][]string{{"--config", config.FileName}, {"--config="}} {
		_, stderr, code = espalier("", append([]string{"check", "--crd", crd, "--values=false", "a.yaml"}, args...)...)
		assert.Equal(t, command.ExitClean, code, stderr)
	}
	// A link of somebody else is no better.
	require.NoError(t, os.Chown(name, 0, 0))
	link := filepath.Join(dir, "mine", config.FileName)
	require.NoError(t, os.Symlink(name, link))
	require.NoError(t, os.Lchown(link, 1234, 1234))
	t.Chdir("mine")
	_, stderr, code = espalier("", "check", "--crd", crd, "../a.yaml")
	assert.Equal(t, command.ExitUsage, code)
	assert.Contains(t, stderr, "belongs to another user")
}
