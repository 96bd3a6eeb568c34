package input

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestExpandUnreadable: a folder that cannot be read does not hide the files after it.
func TestExpandUnreadable(t *testing.T) {
	if os.Getuid() <= 0 {
		t.Skip("skipped: everything can be read here")
	}
	dir := t.TempDir()
	closed := filepath.Join(dir, "closed")
	require.NoError(t, os.Mkdir(closed, 0))
	for _, name := range []string{"a.yaml", "z.yaml"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o666))
	}
	names, errs := Expand([]string{dir}, true)
	assert.Equal(t, []string{filepath.Join(dir, "a.yaml"), filepath.Join(dir, "z.yaml")}, names)
	require.Len(t, errs, 1)
	assert.ErrorIs(t, errs[0], os.ErrPermission)
	assert.ErrorContains(t, errs[0], closed)
}

// TestGlob: ** stands for folders at any depth, and leads to what a folder would, too.
func TestGlob(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"a.yaml", "b/c/d.YML", "b/c/e.txt", "b/.git/f.yaml", "b/.g.yaml"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o777))
		require.NoError(t, os.WriteFile(name, nil, 0o666))
	}
	require.NoError(t, os.Symlink("..", filepath.Join("b", "up")))
	for pattern, want := range map[string][]string{
		"**":          {"a.yaml", "b/c/d.YML"},
		"**/*":        {"a.yaml", "b/c/d.YML"},
		"b/**":        {"b/c/d.YML"},
		"**/*.txt":    {"b/c/e.txt"},
		"./**/?.YML":  {"b/c/d.YML"},
		"**/c/*.yaml": nil,
		"*":           {"a.yaml", "b"},
	} {
		got, err := Glob(filepath.FromSlash(pattern))
		for i := range got {
			got[i] = filepath.ToSlash(filepath.Clean(got[i]))
		}
		assert.Equal(t, want, got, pattern)
		if want == nil {
			assert.EqualError(t, err, pattern+": no file matches the pattern")
		} else {
			assert.NoError(t, err, pattern)
		}
	}
	assert.True(t, MatchBelow("**/*.yaml", "a.yaml"))
	assert.True(t, MatchBelow("b/**", "b/c/d.YML"))
	assert.False(t, MatchBelow("**/*.yaml", "b/.git/f.yaml"))
	assert.False(t, MatchBelow("**", "b/c/e.txt"))
	_, err := Glob("a/**/[")
	assert.ErrorContains(t, err, "a/**/[: ")
	_, err = Glob("**/a/**/b/**/c")
	assert.EqualError(t, err, "**/a/**/b/**/c: has ** more than 2 times: name a folder")
	assert.True(t, MatchBelow("**/a/**/c.yaml", "x/a/b/c.yaml"))
	assert.False(t, MatchBelow("**/a/**/b/**/c.yaml", "x/a/b/c.yaml"))
}
