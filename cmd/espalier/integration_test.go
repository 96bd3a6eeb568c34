package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/command"
)

// readYAML reads a file of the repository.
func readYAML(t *testing.T, name string, v any) {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	require.NoError(t, d.Decode(v))
}

// TestPreCommitHooks runs the hooks as pre-commit does: the entry with the files.
func TestPreCommitHooks(t *testing.T) {
	var hooks []struct {
		ID, Name, Description, Language, Entry string
		Dependencies                           []string `yaml:"additional_dependencies"`
		TypesOr                                []string `yaml:"types_or"`
		RequireSerial                          bool     `yaml:"require_serial"`
		Exclude                                string
	}
	readYAML(t, "../../.pre-commit-hooks.yaml", &hooks)
	codes := map[string]int{"espalier-check": command.ExitFindings, "espalier-prune": command.ExitClean}
	assert.Len(t, hooks, len(codes))
	crd, err := filepath.Abs(crd)
	require.NoError(t, err)
	for _, h := range hooks {
		assert.Equal(t, "golang", h.Language)
		// In a clone of the repository, pre-commit installs ./..., which is the library, and these.
		assert.Equal(t, []string{"./cmd/espalier"}, h.Dependencies)
		// As in folders, files whose names start with a dot are not manifests.
		assert.NotRegexp(t, h.Exclude, "a/b.c.yaml")
		for _, name := range []string{".espalier.yaml", ".github/workflows/ci.yaml", "a/.b/c.yaml"} {
			assert.Regexp(t, h.Exclude, name)
		}
		// check passes over templates of charts by itself.
		assert.Equal(t, h.ID == "espalier-prune", regexp.MustCompile(h.Exclude).MatchString("charts/a/templates/b.yaml"), h.ID)
		words := strings.Fields(h.Entry)
		assert.Equal(t, "espalier", words[0])
		t.Chdir(write(t, map[string]string{"plan.yaml": "apiVersion: backup.example.com/v1\nkind: BackupPlan\na: 1\n", ".espalier.yaml": "crd: [" + crd + "]\n",
			// What is no object of Kubernetes, or has no schema, does not keep anybody from committing.
			"compose.yaml": "services: {}\n", "secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n"}))
		_, stderr, code := espalier("", append(words[1:], "compose.yaml", "secret.yaml")...)
		assert.Equal(t, command.ExitClean, code, "%s: %s", h.ID, stderr)
		stdout, stderr, code := espalier("", append(words[1:], "plan.yaml")...)
		want, ok := codes[h.ID]
		assert.True(t, ok, h.ID)
		assert.Equal(t, want, code, "%s: %s", h.ID, stderr)
		assert.Contains(t, stdout, "plan.yaml", h.ID)
	}
}

// TestAction runs the script of the action for GitHub with its defaults, and with all
// inputs.
func TestAction(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skipf("skipped: %v", err)
	}
	var action struct {
		Name, Description, Author string
		Branding                  map[string]string
		Inputs                    map[string]struct{ Description, Default string }
		Runs                      struct {
			Using string
			Steps []struct {
				If, Uses, Shell, Run string
				With, Env            map[string]string
			}
		}
	}
	readYAML(t, "../../action.yml", &action)
	step := action.Runs.Steps[len(action.Runs.Steps)-1]
	temp := t.TempDir()
	// Without a version the action is compiled from its own files.
	assert.Empty(t, action.Inputs["version"].Default)
	install := exec.Command(bash, "--noprofile", "--norc", "-eo", "pipefail", "-c", action.Runs.Steps[len(action.Runs.Steps)-2].Run)
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	install.Env = append(os.Environ(), "RUNNER_TEMP="+temp, "VERSION=", "CHECKSUM=", "ACTION="+root, "GOARCH=") // it runs here
	install.Dir = temp
	out, err := install.CombinedOutput()
	require.NoError(t, err, string(out))
	definition := read(t, crd)
	dir := write(t, map[string]string{
		"crds/crd.yaml": definition,
		"plan.yaml":     "apiVersion: backup.example.com/v1\nkind: BackupPlan\na: 1\n",
		"secret.yaml":   "apiVersion: other.example.com/v1\nkind: Secret\n",
	})
	run := func(inputs map[string]string) (stdout string, err error) {
		cmd := exec.Command(bash, "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "RUNNER_TEMP="+temp)
		for name, expression := range step.Env {
			input := strings.TrimSuffix(strings.TrimPrefix(expression, "${{ inputs."), " }}")
			declared, ok := action.Inputs[input]
			require.True(t, ok, expression)
			value := declared.Default
			if given, ok := inputs[input]; ok {
				value = given
			}
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		// The log may be a file, and has something already.
		log, err := os.CreateTemp(temp, "log")
		require.NoError(t, err)
		defer log.Close()
		_, err = log.WriteString("before\n")
		require.NoError(t, err)
		cmd.Stdout = log
		err = cmd.Run()
		after, ok := strings.CutPrefix(read(t, log.Name()), "before\n")
		assert.True(t, ok)
		return after, err
	}
	stdout, err := run(map[string]string{"crd": "crds/*.yaml"})
	assert.Error(t, err)
	assert.Contains(t, stdout, `::error file=plan.yaml,line=3,col=1,endColumn=2,title=espalier%3A unknown-field::unknown field "a" (BackupPlan)`)
	assert.Contains(t, stdout, "missing-schema")

	stdout, err = run(map[string]string{"crd": "crds", "paths": "*.yaml crds", "fail-on": "never", "ignore-missing-schemas": "true", "output": "sarif", "output-file": "out.sarif"})
	assert.NoError(t, err)
	assert.Empty(t, stdout)
	assert.Contains(t, read(t, filepath.Join(dir, "out.sarif")), `"ruleId": "unknown-field"`)
	assert.NotContains(t, read(t, filepath.Join(dir, "out.sarif")), `"ruleId": "missing-schema"`)

	stdout, err = run(map[string]string{"crd": "crds", "exclude": "plan.yaml /crds", "ignore-missing-schemas": "true"})
	assert.NoError(t, err)
	assert.Empty(t, stdout)
	_, err = run(map[string]string{"crd": "crds", "baseline": "none.yaml"})
	assert.Error(t, err, "there is no such baseline")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "known.yaml"), []byte("apiVersion: baseline.espalier.dev/v1\nkind: Baseline\nfindings:\n- {file: secret.yaml, rule: missing-schema, object: Secret, count: 1}\n"), 0o666))
	stdout, err = run(map[string]string{"crd": "crds", "baseline": "known.yaml"})
	assert.Error(t, err)
	assert.Contains(t, stdout, "unknown-field")
	assert.NotContains(t, stdout, "missing-schema")
	require.NoError(t, os.Remove(filepath.Join(dir, "known.yaml")))
	_, err = run(map[string]string{"crd": "crds", "fail-on": "never", "old-rev": "main"})
	assert.Error(t, err, "there is no such revision")
	// An input with a text that looks like a flag is the value of one.
	_, err = run(map[string]string{"crd": "crds", "fail-on": "never", "old-rev": "--quiet"})
	assert.Error(t, err)

	// The repository's configuration sets the rest.
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".espalier.yaml"), []byte("crd: [crds]\nfailOn: never\nignoreMissingSchemas: true\n"), 0o666))
	stdout, err = run(nil)
	assert.NoError(t, err)
	assert.Contains(t, stdout, "unknown-field")
	assert.NotContains(t, stdout, "missing-schema")
	_, err = run(map[string]string{"fail-on": "error"})
	assert.Error(t, err)
}

// TestPinnedActions wants each action that a workflow or our action runs to be named by
// its commit: a tag can be moved by whoever owns it, or has stolen it.
func TestPinnedActions(t *testing.T) {
	files, err := filepath.Glob("../../.github/workflows/*.yml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	pinned := regexp.MustCompile(`uses: (\./\S*|[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)\s*$`)
	for _, file := range append(files, "../../action.yml") {
		for line := range strings.Lines(read(t, file)) {
			if strings.Contains(line, "uses:") {
				assert.Regexp(t, pinned, line, file)
			}
		}
	}
}
