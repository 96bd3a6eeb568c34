//go:build unix

package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/command"
)

// onTerminal runs the command in a pseudo-terminal and returns its screen.
func onTerminal(t *testing.T, env []string, args ...string) (screen string, code int) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, args...)
	cmd.Args[0] = "espalier"
	cmd.Env = append(append(os.Environ(), "ESPALIER_TEST_MAIN=1", "TERM=xterm", "NO_COLOR="), env...)
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 200})
	require.NoError(t, err)
	defer terminal.Close()
	// A terminal whose other end is closed is an error of reading on Linux.
	out, _ := io.ReadAll(terminal)
	_ = cmd.Wait()
	return strings.ReplaceAll(string(out), "\r\n", "\n"), cmd.ProcessState.ExitCode()
}

func TestTerminal(t *testing.T) {
	long := `{"apiVersion": "backup.example.com/v1", "kind": "BackupPlan", "metadata": {"annotations": {"a": "` + strings.Repeat("x", 200) + `"}}, "wrong": "` + strings.Repeat("y", 200) + `"}`
	dir := write(t, map[string]string{
		"plan.yaml": "apiVersion: backup.example.com/v1\nkind: BackupPlan\nmetadata: {name: a}\nspec:\n  shedule: x # why\n  suspend: 1\n" +
			"  sources:\n  - {claim: \"日本\", 'pahts': []}\n  日本: 1\n",
		"long.json": long,
		"none.yaml": "apiVersion: backup.example.com/v1\nkind: BackupPlan\n",
	})
	crd, err := filepath.Abs(crd)
	require.NoError(t, err)
	t.Chdir(dir)

	// Each finding with its line, and a caret under its place, in the cells of a terminal.
	screen, code := onTerminal(t, nil, "check", "--crd", crd, "--values=false", "plan.yaml")
	assert.Equal(t, command.ExitFindings, code)
	assert.Equal(t, "\x1b[1mplan.yaml:5:3:\x1b[m \x1b[31merror:\x1b[m unknown field \"spec.shedule\", did you mean \"schedule\"? (BackupPlan a) \x1b[36m[unknown-field]\x1b[m\n"+
		"    5 |   shedule: x # why\n"+
		"      |   \x1b[31m^~~~~~~\x1b[m\n"+
		"\x1b[1mplan.yaml:6:12:\x1b[m \x1b[31merror:\x1b[m field \"spec.suspend\" must be a boolean, not a number (BackupPlan a) \x1b[36m[type-mismatch]\x1b[m\n"+
		"    6 |   suspend: 1\n"+
		"      |            \x1b[31m^\x1b[m\n"+
		"\x1b[1mplan.yaml:8:19:\x1b[m \x1b[31merror:\x1b[m unknown field \"spec.sources[0].pahts\", did you mean \"paths\"? (BackupPlan a) \x1b[36m[unknown-field]\x1b[m\n"+
		"    8 |   - {claim: \"日本\", 'pahts': []}\n"+
		"      |                     \x1b[31m^~~~~~~\x1b[m\n"+
		"\x1b[1mplan.yaml:9:3:\x1b[m \x1b[31merror:\x1b[m unknown field \"spec.日本\" (BackupPlan a) \x1b[36m[unknown-field]\x1b[m\n"+
		"    9 |   日本: 1\n"+
		"      |   \x1b[31m^~~~\x1b[m\n"+
		"1 object in 1 file: 4 errors\n", screen)

	// Without colors if that is said.
	for _, how := range [][]string{{"NO_COLOR=1"}, {"TERM=dumb"}, nil} {
		args := []string{"check", "--crd", crd, "--values=false", "long.json"}
		if how == nil {
			args = append(args, "--color=never")
		}
		screen, _ = onTerminal(t, how, args...)
		assert.Equal(t, "long.json:1:"+strconv.Itoa(1+strings.Index(long, `"wrong"`))+": error: unknown field \"wrong\" (BackupPlan) [unknown-field]\n"+
			"    1 | ..."+strings.Repeat("x", 80-len(`"}}, `))+`"}}, "wrong": "`+strings.Repeat("y", 80-len(`"wrong": "`))+"\n"+
			"      |    "+strings.Repeat(" ", 80)+"^~~~~~~\n"+
			"1 object in 1 file: 1 error\n", screen, how)
	}

	// A diff is colored, and machines are not spared colors where somebody asks for them.
	screen, code = onTerminal(t, nil, "prune", "--crd", crd, "--diff", "plan.yaml", "--validate=ignore")
	assert.Equal(t, command.ExitFindings, code)
	assert.Contains(t, screen, "\x1b[31m-  shedule: x # why\x1b[m\n")
	screen, _ = onTerminal(t, nil, "explain", "--crd", crd, "plan.yaml", "spec.shedule")
	assert.Contains(t, screen, "\x1b[31mis pruned\x1b[m\n")

	// Nobody waits for a terminal to be typed into.
	screen, code = onTerminal(t, nil, "check", "--crd", crd)
	assert.Equal(t, command.ExitUsage, code)
	assert.Contains(t, screen, "nothing to read: name files or folders, or - to type it here")
}
