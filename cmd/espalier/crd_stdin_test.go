package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/command"
)

// TestDefinitionsOfStandardInput: positions lead into the text, although it cannot be read again.
func TestDefinitionsOfStandardInput(t *testing.T) {
	content, err := os.ReadFile(crd)
	require.NoError(t, err)
	for _, args := range [][]string{{"check", plan}, {"prune", plan}, {"explain", plan, "spec.retention.dayly"}} {
		want, wantErr, wantCode := espalier("", append(args, "--crd", crd)...)
		stdout, stderr, code := espalier(string(content), append(args, "--crd", "-")...)
		assert.Equal(t, wantCode, code, args)
		assert.Equal(t, strings.ReplaceAll(want, crd, "<stdin>"), stdout, args)
		assert.Equal(t, wantErr, stderr, args)
	}
	for stdin, want := range map[string]string{
		" \n":          "error: reading definitions: <stdin>: is empty: has the command that writes to it failed?\n",
		"kind: x":      "error: --crd -: there are no custom resource definitions\n",
		"{":            "error: reading definitions: <stdin>: document 1: ",
		"# " + large(): "error: reading definitions: <stdin>: is longer than the limit of 67108864 bytes\n",
	} {
		_, stderr, code := espalier(stdin, "check", "--crd", "-", plan)
		assert.GreaterOrEqual(t, code, command.ExitUsage)
		assert.True(t, strings.HasPrefix(stderr, want), stderr)
	}
	for _, args := range []string{"check --crd - -", "prune --crd -", "explain --crd - - spec"} {
		_, stderr, code := espalier("", strings.Fields(args)...)
		assert.Equal(t, command.ExitUsage, code, args)
		assert.Contains(t, stderr, "--crd -: standard input has the definitions, and cannot have objects as well: name files for one of them\n")
	}
	// In the configuration it is a file.
	t.Chdir(write(t, map[string]string{".espalier.yaml": "crd: ['-']\n", "-": string(content), "plan.yaml": planNamed("a")}))
	_, stderr, code := espalier("", "prune", "plan.yaml")
	assert.Equal(t, command.ExitClean, code, stderr)
}

// large returns a text that is longer than what is read of definitions. It is no variable, which would be made
// for each command that a script starts.
func large() string { return strings.Repeat("x", 64<<20) }
