package rules_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/playground/judge"
	"github.com/espalier-dev/espalier/playground/rules"
)

// TestExamples judges the examples of the page that are not the KEPs'.
func TestExamples(t *testing.T) {
	names, err := filepath.Glob("../examples/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	j := judge.New(rules.CEL())
	for _, name := range names {
		parts := sections(read(t, name))
		r := judge.Request{Definition: parts["definition.yaml"], Object: parts["object.yaml"], Stored: parts["stored.yaml"], Validation: "Warn", Values: true, YAML: true}
		a := j.Judge(&r)
		assert.Empty(t, a.Faults, name)
		assert.Equal(t, parts["findings"], strings.Join(spelled(a.Findings), "\n")+"\n", name)
		assert.Equal(t, parts["result.yaml"], a.Result, name)
		assert.Equal(t, strings.Contains(parts["definition.yaml"], "x-kubernetes-validations"), a.Rules, name)
		assert.True(t, a.Evaluated)
		assert.Equal(t, r.Stored != "", a.Replaces)

		// A page without CEL says that it has not looked at the rules.
		plain := judge.New(nil).Judge(&r)
		assert.Equal(t, a.Rules, plain.Rules)
		assert.False(t, plain.Evaluated)
	}
}

// TestRules holds that faults of rules are found.
func TestRules(t *testing.T) {
	a := judge.New(rules.CEL()).Judge(&judge.Request{Definition: read(t, "../../testdata/readme/rule.yaml"), Object: "{}"})
	require.NotEmpty(t, a.Faults)
	assert.Contains(t, a.Faults[0].Message, "undefined field 'weekly'")
	assert.Equal(t, 19, a.Faults[0].Line)
}

func place(f judge.Finding) string { return fmt.Sprintf("%d:%d", f.Line, f.Column) }

// spelled returns findings as the command writes them.
func spelled(all []judge.Finding) (lines []string) {
	for _, f := range all {
		line := place(f) + map[bool]string{true: " error: ", false: " warning: "}[f.Error] + f.Message
		if f.Rule != "" {
			line += " [" + f.Rule + "]"
		}
		lines = append(lines, line)
	}
	return lines
}

func read(t *testing.T, name string) string {
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(text)
}

// sections returns those of a text in the format txtar.
func sections(text string) map[string]string {
	all := make(map[string]string)
	name := ""
	for line := range strings.Lines(text) {
		if of, ok := strings.CutPrefix(line, "-- "); ok {
			name = strings.TrimSuffix(of, " --\n")
			continue
		}
		all[name] += line
	}
	return all
}
