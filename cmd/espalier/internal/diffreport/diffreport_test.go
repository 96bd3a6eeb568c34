package diffreport

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/schemadiff"
	"github.com/espalier-dev/espalier/internal/jsonv2"
)

// change returns a change of a field in a version.
func change(severity schemadiff.Severity, version, field, message string) Change {
	c := schemadiff.Change{Severity: severity, Rule: schemadiff.RuleFieldRemoved, Version: version, Path: schemadiff.Path{{Name: field}}, Message: message}
	return Change{Change: c}
}

// TestHostile: texts of definitions end no lines, cells or code, and are no markup.
func TestHostile(t *testing.T) {
	r := Report{Definitions: []Definition{{
		Name:    "a`b|c\n#d",
		Changes: []Change{change(schemadiff.Data, "v1\n", "a`|\n\x1b[31mb", "<b>@all</b> [x](y) | *z*\r\n| `c`")},
	}}}
	r.Definitions[0].Changes[0].OldPlace = finding.Place{File: "a\n`|"}
	text := string(r.Text(false, schemadiff.Harmless))
	assert.Equal(t, 2, strings.Count(text, "\n"), text)
	assert.NotContains(t, text, "\x1b")
	md := string(r.Markdown())
	row := ""
	for line := range strings.Lines(md) {
		if strings.HasPrefix(line, "| data") {
			row = line
		}
	}
	assert.Equal(t, "| data | v1\\\\n | `` [\"a`\\|\\n\\x1b[31mb\"] `` | &lt;b&gt;&#64;all&lt;/b&gt; \\[x\\](y) \\| \\*z\\*\\\\r\\\\n\\| \\`c\\` | `` \"a\\n`\\|\" `` |\n", row)
	assert.Contains(t, md, "#### `` a`b\\|c\\n#d ``\n")
	js, err := r.JSON()
	require.NoError(t, err)
	assert.True(t, jsonv2.Value(js).IsValid())
	assert.NotContains(t, string(js), "\x1b")
}

// TestGroups: versions with the same changes are listed once.
func TestGroups(t *testing.T) {
	rewritten := change(schemadiff.Data, "v3", "b", "y")
	rewritten.From, rewritten.Stored = "v1", true
	r := Report{Definitions: []Definition{{Name: "a", Changes: []Change{
		change(schemadiff.Client, "v1", "a", "x"), change(schemadiff.Harmless, "v1", "b", "y"),
		change(schemadiff.Client, "v2", "a", "x"), change(schemadiff.Harmless, "v2", "c", "y"),
		change(schemadiff.Client, "v3", "a", "other"), rewritten,
	}}, {Name: "b"}}}
	assert.Equal(t, `a, version v1; the same in v2
  client: a: x [field-removed]
a, version v3
  client: a: other [field-removed]
a, version v1 rewritten as v3
  data: b: y [field-removed]
`, string(r.Text(false, schemadiff.Caution)))
	assert.Contains(t, string(r.Text(false, schemadiff.Harmless)), "a, version v2\n  client: a: x")
	assert.Contains(t, string(r.Markdown()), "| client | v1, v2 | `a` | x |  |\n")
	assert.Equal(t, "2 definitions compared, 1 changed: 1 data, 3 client, 2 harmless (--all lists them)", r.Summary(false))
	assert.Equal(t, schemadiff.Data, r.Worst())
	assert.Equal(t, "\x1b[1ma, version v1", strings.SplitAfter(string(r.Text(true, schemadiff.Caution)), "v1")[0])
	for s, want := range map[schemadiff.Severity]string{schemadiff.Data: "31", schemadiff.Client: "31", schemadiff.Caution: "33", schemadiff.Harmless: "32"} {
		assert.Equal(t, want, style(s))
	}
}

// TestLongMarkdown: a comment of GitHub has a limit, and says how much is left out.
func TestLongMarkdown(t *testing.T) {
	var changes []Change
	for i := range 5000 {
		changes = append(changes, change(schemadiff.Data, "v1", fmt.Sprint("field", i), "the field is gone"))
	}
	r := Report{Definitions: []Definition{{Name: "a", Changes: changes}}}
	md := string(r.Markdown())
	assert.Less(t, len(md), 65_536)
	listed := strings.Count(md, "\n| data")
	assert.Positive(t, listed)
	assert.True(t, strings.HasSuffix(md, fmt.Sprintf("\n%d more are not listed here.\n", 5000-listed)))
}
