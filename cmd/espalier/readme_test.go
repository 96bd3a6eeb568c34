package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/command"
)

// TestREADME runs the commands of the console blocks in the README and in the pages of docs/,
// each from the root of the repository, and compares their output with the page.
func TestREADME(t *testing.T) {
	t.Chdir("../..")
	pages, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
	commands := 0
	for _, page := range append(pages, "README.md") {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		blocks := strings.Split(string(text), "```console\n")
		for _, block := range blocks[1:] {
			block, _, ok := strings.Cut(block, "```")
			require.True(t, ok, page)
			if runBlock(t, page, block) {
				commands++
			}
		}
	}
	assert.Equal(t, 9, commands)
}

// runBlock runs the command of a block and compares its output. It reports whether the command
// is one of espalier.
func runBlock(t *testing.T, page, block string) bool {
	line, want, _ := strings.Cut(strings.TrimPrefix(block, "$ "), "\n")
	if line == "make test" {
		makefile, err := os.ReadFile("Makefile")
		require.NoError(t, err)
		assert.Contains(t, string(makefile), "\ntest:")
		return false
	}
	args, ok := strings.CutPrefix(line, "go run ./cmd/espalier ")
	require.True(t, ok, "%s: %s: what does it do?", page, line)
	// A terminal shows both streams in the order in which they are written.
	var terminal bytes.Buffer
	code := command.Run(strings.Fields(args), strings.NewReader(""), &terminal, &terminal)
	if code != command.ExitClean {
		fmt.Fprintf(&terminal, "exit status %d\n", code) // as go run says
	}
	assert.Equal(t, want, terminal.String(), "%s: %s", page, line)
	return true
}
