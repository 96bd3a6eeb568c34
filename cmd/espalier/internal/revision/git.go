package revision

// This file runs git. A repository may come from anybody. So nothing in it is run: no hook, no
// filter, no transport. What users and repositories name is never taken for an option or a pattern.

import (
	"bytes"
	stderrors "errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// settings come before the command of git. A bare repository could be part of a work tree, and have
// settings of its own.
var settings = []string{
	"-c", "safe.bareRepository=explicit", "-c", "core.fsmonitor=false",
	"-c", "core.hooksPath=" + os.DevNull,
}

// added are variables for git: pathspecs have no patterns, objects are those that their names say,
// nothing is fetched, and nobody is asked. Git knows GIT_NO_LAZY_FETCH from 2.44 on; before, fetching
// fails, because no protocol is allowed.
var added = []string{
	"GIT_LITERAL_PATHSPECS=1", "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none",
	"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C",
}

// dropped are variables that say which repository it is. Git sets them for its hooks. Here the
// arguments say so.
var dropped = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_GRAFT_FILE", "GIT_SHALLOW_FILE",
	"GIT_REPLACE_REF_BASE", "GIT_ICASE_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_IMPLICIT_WORK_TREE",
}

// command returns a command of git in a folder.
func command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("git", slices.Concat([]string{"-C", dir, "--no-pager"}, settings, args)...)
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(dropped, name)
	}), added...)
	return cmd
}

// output returns what a command of git prints.
func output(dir string, args ...string) (string, error) {
	cmd := command(dir, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	return string(out), failure(err, stderr.String())
}

// failure returns the error of a command of git that has ended. Git says the reason in the first
// line, and may go on with advice.
func failure(err error, stderr string) error {
	switch first, _, _ := strings.Cut(strings.TrimSpace(stderr), "\n"); {
	case err == nil:
		return nil
	case stderrors.Is(err, exec.ErrNotFound):
		return stderrors.New("git is not installed, or not in PATH")
	case first != "":
		return fmt.Errorf("git: %s", strings.TrimPrefix(first, "fatal: "))
	}
	return fmt.Errorf("git: %w", err)
}

// line returns the only line of an output. Names of folders may contain line feeds.
func line(out string, err error) (string, error) { return strings.TrimSuffix(out, "\n"), err }
