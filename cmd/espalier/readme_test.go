package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestREADME runs the commands of the README's console blocks, each from the
// root of the repository, and compares what they print with what stands there.
func TestREADME(t *testing.T) {
	t.Chdir("../..")
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	commands := 0
	for block := range strings.SplitSeq(string(readme), "```console\n$ ") {
		block, _, ok := strings.Cut(block, "```")
		line, want, _ := strings.Cut(block, "\n")
		args, isCommand := strings.CutPrefix(line, "go run ./cmd/espalier ")
		switch {
		case !ok, strings.HasPrefix(block, "# Espalier"):
			continue
		case line == "make test":
			makefile, err := os.ReadFile("Makefile")
			require.NoError(t, err)
			assert.Contains(t, string(makefile), "\ntest:")
			continue
		}
		require.True(t, isCommand, "%s: what does it do?", line)
		// A terminal shows both streams in the order in which they are written.
		var terminal bytes.Buffer
		code := run(strings.Fields(args), strings.NewReader(""), &terminal, &terminal)
		if code != exitClean {
			fmt.Fprintf(&terminal, "exit status %d\n", code) // as go run says
		}
		assert.Equal(t, want, terminal.String(), line)
		commands++
	}
	assert.Equal(t, 4, commands)
}

// TestREADMEReport compares the names that the README has for the members of a finding
// with those that there are.
func TestREADMEReport(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	_, text, ok := strings.Cut(string(readme), "A finding in JSON has ")
	require.True(t, ok)
	text, _, _ = strings.Cut(text, ",\nas far as")
	var listed, members []string
	for _, m := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(text, -1) {
		listed = append(listed, m[1])
	}
	for f := range reflect.TypeFor[jsonFinding]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		members = append(members, name)
	}
	assert.Equal(t, members, listed)
	assert.Contains(t, string(readme), "`apiVersion: "+reportVersion+"`")
}

// TestREADMEConfiguration reads the configuration that the README shows.
func TestREADMEConfiguration(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	_, text, ok := strings.Cut(string(readme), "```yaml\ncrd: ")
	require.True(t, ok)
	text, _, _ = strings.Cut(text, "```")
	values, err := readConfig(filepath.Join(write(t, map[string]string{"config.yaml": "crd: " + text}), "config.yaml"))
	require.NoError(t, err)
	assert.Equal(t, []any{"crds/"}, values["crd"])
	assert.Equal(t, true, values["ignoreMissingSchemas"])
}
