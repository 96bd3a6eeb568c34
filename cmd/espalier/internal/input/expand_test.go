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
