package terminal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWantsColor(t *testing.T) {
	assert.False(t, WantsColor("auto", new(strings.Builder)))
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	require.NoError(t, err)
	defer file.Close()
	assert.False(t, WantsColor("auto", file))
	assert.True(t, WantsColor("always", file))
	terminal, tty, err := pty.Open()
	require.NoError(t, err)
	defer terminal.Close()
	defer tty.Close()
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	assert.True(t, WantsColor("auto", tty))
	assert.False(t, WantsColor("never", tty))
	t.Setenv("NO_COLOR", "1")
	assert.False(t, WantsColor("auto", tty))
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "dumb")
	assert.False(t, WantsColor("auto", tty))
}
