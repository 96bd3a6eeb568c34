//go:build unix

package terminal

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestProgress: a line says how far the work has come, but not at once, and not
// anywhere but on a terminal.
func TestProgress(t *testing.T) {
	terminal, tty, err := pty.Open()
	require.NoError(t, err)
	defer terminal.Close()
	p := NewProgress(tty, 2000)
	for range 1000 {
		p.Step()
	}
	p.Clear()
	p.next = time.Now().Add(-time.Millisecond)
	for range 16 {
		p.Step()
	}
	p.Clear()
	p.Clear()
	tty.Close()
	out, _ := io.ReadAll(terminal)
	assert.Equal(t, "\r\x1b[K1008 of 2000 files\r\x1b[K", string(out))

	terminal, tty, err = pty.Open()
	require.NoError(t, err)
	defer terminal.Close()
	p = NewProgress(tty, 2)
	p.Count("a/widgets") // too early
	p.Count("a/widgets")
	for _, input := range []string{"a/widgets", "b\x1b"} {
		p.next = time.Now().Add(-time.Millisecond)
		p.Count(input)
	}
	p.Count("b\x1b") // too soon after the last one
	p.Clear()
	tty.Close()
	out, _ = io.ReadAll(terminal)
	assert.Equal(t, "\r\x1b[Kobjects of a/widgets: 3\r\x1b[Kobjects of \"b\\x1b\": 1\r\x1b[K", string(out))

	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	require.NoError(t, err)
	defer file.Close()
	p = NewProgress(file, 1)
	p.next = time.Now().Add(-time.Hour)
	p.Step()
	p.Clear()
	info, err := file.Stat()
	require.NoError(t, err)
	assert.Zero(t, info.Size())
}
