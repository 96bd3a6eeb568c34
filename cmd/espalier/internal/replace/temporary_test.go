package replace

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTemporaryFiles: files are ended once, and the rest is removed with the process.
func TestTemporaryFiles(t *testing.T) {
	var u temporaryFiles
	dir := t.TempDir()
	a, err := u.create(dir)
	require.NoError(t, err)
	b, err := u.create(dir)
	require.NoError(t, err)
	require.NoError(t, a.Close())
	require.NoError(t, b.Close())
	require.NoError(t, u.end(a.Name(), os.Remove))
	require.NoError(t, u.end(a.Name(), os.Remove))
	u.removeAll()
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
	_, err = new(temporaryFiles).create(filepath.Join(dir, "none"))
	assert.Error(t, err)
}
