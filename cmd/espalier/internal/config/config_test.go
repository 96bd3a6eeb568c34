package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestConfigReach: the search for the configuration ends at the root of the repository.
func TestConfigReach(t *testing.T) {
	dir := write(t, map[string]string{FileName: "validate: strict\n", "repo/a/b/keep": "", "repo/.git/keep": "", "tree/a/keep": "", "tree/.git": "gitdir: x\n"})
	for folder, want := range map[string]string{"": FileName, "repo/a/b": "", "repo": "", "tree/a": ""} {
		name, err := find(filepath.Join(dir, folder))
		assert.NoError(t, err)
		if want != "" {
			want = filepath.Join(dir, want)
		}
		assert.Equal(t, want, name, folder)
	}
	inRoot := filepath.Join(dir, "repo", FileName)
	require.NoError(t, os.WriteFile(inRoot, nil, 0o666))
	name, err := find(filepath.Join(dir, "repo/a/b"))
	assert.NoError(t, err)
	assert.Equal(t, inRoot, name, "it may be in the root itself")
}

// TestREADMEConfiguration reads the configuration that docs/command.md shows.
func TestREADMEConfiguration(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/command.md")
	require.NoError(t, err)
	_, text, ok := strings.Cut(string(page), "```yaml\ncrd: ")
	require.True(t, ok)
	text, _, _ = strings.Cut(text, "```")
	name := filepath.Join(write(t, map[string]string{"config.yaml": "crd: " + text}), "config.yaml")
	values, err := read(name)
	require.NoError(t, err)
	overrides, err := (&File{name, values}).Overrides()
	require.NoError(t, err)
	require.Len(t, overrides, 1)
	assert.Equal(t, []string{"missing-schema", "invalid-value/required"}, overrides[0].IDs)
	assert.True(t, overrides[0].Paths[0].Match(filepath.Join(filepath.Dir(name), "test", "a.yaml")))
	assert.Equal(t, []any{"crds/"}, values["crd"])
	assert.Equal(t, true, values["ignoreMissingSchemas"])
}

// TestNumbers: a text is taken as it is, and a number as a whole one.
func TestNumbers(t *testing.T) {
	dir := write(t, map[string]string{"config.yaml": "jobs: 3\nskipKind: [\"v1.0\"]\n"})
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.String("config", "", "")
	jobs, kinds := flags.Int("jobs", 0, ""), flags.StringSlice("skip-kind", nil, "")
	name := filepath.Join(dir, "config.yaml")
	require.NoError(t, flags.Set("config", name))
	require.NoError(t, Apply(flags, name))
	assert.Equal(t, 3, *jobs)
	assert.Equal(t, []string{"v1.0"}, *kinds)
}

// write puts files into a new folder and returns it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o777))
		require.NoError(t, os.WriteFile(name, []byte(content), 0o666))
	}
	return dir
}
