package bounded

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a")
	require.NoError(t, os.WriteFile(name, []byte("12345"), 0o666))
	b, err := ReadFile(name, 5)
	assert.NoError(t, err)
	assert.Equal(t, "12345", string(b))
	_, err = ReadFile(name, 4)
	assert.EqualError(t, err, name+": is longer than the limit of 4 bytes")
	_, err = ReadFile(dir, 4)
	assert.EqualError(t, err, dir+": is a folder and no regular file, and is not read")
	_, err = ReadFile(filepath.Join(dir, "b"), 4)
	assert.ErrorIs(t, err, fs.ErrNotExist)
	if info, err := os.Stat("/dev/zero"); err == nil && info.Mode()&fs.ModeDevice != 0 {
		link := filepath.Join(dir, "zero.yaml")
		require.NoError(t, os.Symlink("/dev/zero", link))
		_, err = ReadFile(link, 4)
		assert.EqualError(t, err, link+": is a device and no regular file, and is not read")
	}
}

// TestReadFS has files whose size is wrong, and some that are not regular.
func TestReadFS(t *testing.T) {
	fsys := fstest.MapFS{
		"a":    {Data: []byte("12345")},
		"pipe": {Mode: fs.ModeNamedPipe},
		"sock": {Mode: fs.ModeSocket},
	}
	b, err := ReadFS(fsys, "a", 5)
	assert.NoError(t, err)
	assert.Equal(t, "12345", string(b))
	_, err = ReadFS(fsys, "a", 4)
	assert.EqualError(t, err, "a: is longer than the limit of 4 bytes")
	_, err = ReadFS(fsys, "pipe", 5)
	assert.EqualError(t, err, "pipe: is a pipe and no regular file, and is not read")
	_, err = ReadFS(fsys, "sock", 5)
	assert.EqualError(t, err, "sock: is something else and no regular file, and is not read")
}

func TestContains(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a")
	const text = "needle"
	for n := 64<<10 - len(text); n <= 64<<10+len(text); n++ {
		for _, c := range []struct {
			content string
			want    bool
		}{{strings.Repeat("n", n) + text + "x", true}, {strings.Repeat("n", n) + "needl" + "x", false}, {strings.Repeat("n", n) + text, true}} {
			require.NoError(t, os.WriteFile(name, []byte(c.content), 0o666))
			got, err := Contains(name, text)
			require.NoError(t, err)
			assert.Equal(t, c.want, got, n)
		}
	}
	require.NoError(t, os.WriteFile(name, nil, 0o666))
	got, err := Contains(name, text)
	require.NoError(t, err)
	assert.False(t, got)
	_, err = Contains(dir, text)
	require.ErrorContains(t, err, "is a folder")
	_, err = Contains(filepath.Join(dir, "none"), text)
	require.ErrorIs(t, err, fs.ErrNotExist)
}
