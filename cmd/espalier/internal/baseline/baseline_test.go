package baseline

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
)

// TestOddNames: names of files and objects come back as they were, whatever is in them, and no entry
// has two lines.
func TestOddNames(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "sub", "known.yaml")
	require.NoError(t, os.Mkdir(filepath.Dir(name), 0o777))
	files := []string{"a b.yaml", "new\nline: - {\x1b[31m.yaml", "not \xff UTF-8.yaml", "\u202e\U000e0001.yaml", `"quo'te\.yaml`, "# x.yaml"}
	outcome := func() *finding.Outcome {
		return &finding.Outcome{Identity: finding.Identity{Kind: "A\nB", Name: "\xff\x00"}, Findings: []finding.Finding{{Rule: finding.RuleUnknown, SchemaPath: "spec[\n\xff]"}}}
	}
	b, err := Create(name)
	require.NoError(t, err)
	for _, file := range files {
		b.Suppress(filepath.Join(dir, file), outcome())
	}
	entries, err := b.Write()
	require.NoError(t, err)
	assert.Equal(t, len(files), entries)
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.NotRegexp(t, `[^\x20-\x7e\n]`, string(text))

	b, err = Read(name)
	require.NoError(t, err)
	for _, file := range files {
		v := outcome()
		b.Suppress(filepath.Join(dir, file), v)
		assert.Len(t, v.Suppressed, 1, "%q", file)
	}
	assert.Empty(t, b.Gone(files, func(string) bool { return true }))
}

// TestGone: what was not looked for is not gone, and that depends on the kind, the file and the rule.
func TestGone(t *testing.T) {
	dir := t.TempDir()
	for _, file := range []string{"a", "b", "c"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), nil, 0o666))
	}
	plan := Entry{File: "a", Rule: "unknown-field", Object: "Plan p", Count: 1}
	secret := Entry{File: "a", Rule: "unknown-field", Object: "Secret s", Count: 2}
	other := Entry{File: "b", Rule: "invalid-value", Count: 1}
	deleted := Entry{File: "d", Rule: "invalid-value", Count: 1}
	var of finding.Outcome
	for _, c := range []struct {
		outcome finding.Outcome
		names   []string
		want    []Entry
	}{
		{of, nil, []Entry{deleted}},
		{of, []string{"a"}, []Entry{plan, secret, deleted}},
		{of, []string{"a", "b", "c"}, []Entry{plan, secret, deleted}}, // the rule of b is not looked for
		{finding.Outcome{Identity: finding.Identity{Kind: "Secret"}, Skipped: true}, []string{"a"}, []Entry{plan, deleted}},
		{finding.Outcome{Identity: finding.Identity{Kind: "Plan", Name: "p"}, Findings: []finding.Finding{{Rule: finding.RuleMissingSchema, Fatal: true}}}, []string{"a"}, []Entry{secret, deleted}},
		{finding.Outcome{Findings: []finding.Finding{{Rule: finding.RuleSyntax, Fatal: true}}}, []string{"a"}, []Entry{deleted}},
		{finding.Outcome{Identity: finding.Identity{Kind: "Secret", Name: "s"}, Findings: []finding.Finding{{Rule: finding.RuleUnknown}}}, []string{"a"},
			[]Entry{plan, {File: "a", Rule: "unknown-field", Object: "Secret s", Count: 1}, deleted}},
	} {
		b, err := empty(filepath.Join(dir, "known.yaml"))
		require.NoError(t, err)
		for _, e := range []Entry{plan, secret, other, deleted} {
			b.counts[e.place()] = e.Count
		}
		b.Suppress(filepath.Join(dir, "a"), &c.outcome)
		for i, name := range c.names {
			c.names[i] = filepath.Join(dir, name)
		}
		assert.Equal(t, c.want, b.Gone(c.names, func(rule string) bool { return rule != "invalid-value" }))
	}
}

// TestRemove: an update only takes away, and sorts what is left.
func TestRemove(t *testing.T) {
	name := filepath.Join(t.TempDir(), "known.yaml")
	head := "apiVersion: " + version + "\nkind: Baseline\nfindings:\n"
	require.NoError(t, os.WriteFile(name, []byte(head+"- {file: b, rule: limit, count: 2}\n- {file: a, rule: limit, count: 1}\n- {file: b, rule: limit, count: 1}\n"), 0o640))
	b, err := Read(name)
	require.NoError(t, err)
	require.NoError(t, b.Remove([]Entry{{File: "b", Rule: "limit", Count: 2}}))
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Contains(t, string(text), head+"- {\"file\":\"a\",\"rule\":\"limit\",\"count\":1}\n- {\"file\":\"b\",\"rule\":\"limit\",\"count\":1}\n")
}
