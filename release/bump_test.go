package release

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestBump sets the version of all modules by one command, in every place where it is written.
func TestBump(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skipf("skipped: %v", err)
	}
	tree := newCheckout(t)
	old := required(t, tree.modules(t))
	before := make(map[string]string)
	dir := t.TempDir()
	for name := range strings.Lines(tree.git(t, "ls-tree", "-r", "--name-only", tree.commit)) {
		name = strings.TrimSpace(name)
		switch path.Base(name) {
		case "go.mod", "go.work", "README.md", "check.md", "action.yml", "gateway.yaml", "sidecar.yaml", "definitions.yaml", "bump":
		default:
			continue
		}
		before[name] = tree.git(t, "show", tree.commit+":"+name) + "\n"
		to := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
		require.NoError(t, os.WriteFile(to, []byte(before[name]), 0o755))
	}
	bump := func(version string) (string, error) {
		out, err := exec.Command("bash", filepath.Join(dir, ".ci", "bump"), version).CombinedOutput()
		return string(out), err
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		require.NoError(t, err)
		return string(text)
	}

	// Other modules may have the same version, as github.com/kr/pretty has.
	ours := regexp.MustCompile(`espalier-dev/espalier(/[a-z/]+)?[ @:]` + regexp.QuoteMeta(old) + `\b|(version|rev): ` + regexp.QuoteMeta(old) + `\b`)
	const next = "v12.34.56-rc.1"
	out, err := bump(next)
	require.NoError(t, err, out)
	changed := 0
	for name, text := range before {
		if name == ".ci/bump" {
			continue
		}
		assert.Equal(t, ours.ReplaceAllStringFunc(text, func(s string) string { return strings.Replace(s, old, next, 1) }),
			strings.ReplaceAll(read(name), "such as "+next, "such as "+old), name)
		if strings.Contains(read(name), next) {
			changed++
		}
	}
	assert.GreaterOrEqual(t, changed, 10)

	// And back.
	out, err = bump(old)
	require.NoError(t, err, out)
	for name, text := range before {
		assert.Equal(t, text, read(name), name)
	}

	for _, bad := range []string{"", "0.2.0", "v0.2", "latest", "v0.2.0/../x"} {
		_, err := bump(bad)
		assert.Error(t, err, bad)
	}
	for name, text := range before {
		assert.Equal(t, text, read(name), name)
	}
}

// TestTags tags a clone as a release if its changelog says that it is one.
func TestTags(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skipf("skipped: %v", err)
	}
	dir := t.TempDir()
	run := func(words ...string) (string, error) {
		command := exec.Command(words[0], words[1:]...)
		command.Dir = dir
		command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull,
			"GIT_AUTHOR_NAME=test", "GIT_AUTHOR_EMAIL=test@example.com", "GIT_COMMITTER_NAME=test", "GIT_COMMITTER_EMAIL=test@example.com")
		out, err := command.CombinedOutput()
		return string(out), err
	}
	must := func(words ...string) string {
		t.Helper()
		out, err := run(words...)
		require.NoError(t, err, out)
		return out
	}
	script, err := os.ReadFile("../.ci/tags")
	require.NoError(t, err)
	put := func(name, text string) {
		to := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
		require.NoError(t, os.WriteFile(to, []byte(text), 0o755))
	}
	put(".ci/tags", string(script))
	put("cmd/espalier/go.mod", "module "+root+"/cmd/espalier\n\nrequire (\n\t"+root+" v0.3.0\n)\n")
	must("git", "init", "--quiet")

	for heading, want := range map[string]string{
		"0.3.0 (unreleased)": "is to begin with",
		"0.2.0 (2027-03-01)": "is to begin with",
		"0.3.0":              "is to begin with",
	} {
		put("CHANGELOG.md", "# Changelog\n\n## "+heading+"\n")
		must("git", "add", "-A")
		must("git", "commit", "--quiet", "-m", heading)
		out, err := run("bash", ".ci/tags")
		require.Error(t, err, heading)
		assert.Contains(t, out, want, heading)
	}
	put("CHANGELOG.md", "# Changelog\n\n## 0.3.0 (2027-03-01)\n")
	put("README.md", "**Status:** version 0.3.0 is being prepared.\n")
	out, err := run("bash", ".ci/tags")
	require.Error(t, err)
	assert.Contains(t, out, "not committed")
	assert.Empty(t, must("git", "tag"))

	must("git", "add", "-A")
	must("git", "commit", "--quiet", "-m", "0.3.0")
	out, err = run("bash", ".ci/tags")
	require.Error(t, err)
	assert.Contains(t, out, "say how to install it")
	assert.Empty(t, must("git", "tag"))

	put("README.md", "`go install example.com/cmd@v0.3.0` installs it.\n")
	must("git", "commit", "--quiet", "-a", "-m", "README")
	must("bash", ".ci/tags")
	assert.Equal(t, []string{"caddy/v0.3.0", "cel/v0.3.0", "cmd/espalier/v0.3.0", "examples/apiserver/v0.3.0", "extproc/v0.3.0", "kube/controllerruntime/v0.3.0", "kube/v0.3.0", "v0.3.0"},
		strings.Fields(must("git", "tag", "--points-at", "HEAD")))
}
