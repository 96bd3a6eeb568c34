package replace

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestReplaceAttributes: a file keeps its extended attributes.
func TestReplaceAttributes(t *testing.T) {
	a := oneFile(t, "a")
	if err := unix.Setxattr(a, "user.origin", []byte("here"), 0); err != nil {
		t.Skipf("skipped: the file system has no attributes: %v", err)
	}
	require.NoError(t, unix.Setxattr(a, "user.empty", nil, 0))
	require.NoError(t, replaceFile(a, []byte("b")))
	f, err := os.Open(a)
	require.NoError(t, err)
	defer f.Close()
	assert.ElementsMatch(t, []string{"user.origin", "user.empty"}, extended(f))
	value, err := attribute(f, "user.origin")
	require.NoError(t, err)
	assert.Equal(t, "here", string(value))
	// Attributes that the other file does not have are removed.
	require.NoError(t, unix.Setxattr(a, "user.more", []byte("x"), 0))
	bare, err := os.Open(oneFile(t, "c"))
	require.NoError(t, err)
	defer bare.Close()
	require.NoError(t, keepExtended(f, bare))
	assert.Empty(t, extended(f))
}
