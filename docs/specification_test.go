package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSpecification holds that the package comment of internal/spec names each of its files, that each of them is a page
// of at most 130 lines, and that semantics.md links to the first file of each rule.
func TestSpecification(t *testing.T) {
	source, err := os.ReadFile("../internal/spec/doc.go")
	require.NoError(t, err)
	comment, _, ok := strings.Cut(string(source), "\npackage spec\n")
	require.True(t, ok)
	files, err := filepath.Glob("../internal/spec/*.go")
	require.NoError(t, err)
	for _, file := range files {
		name := filepath.Base(file)
		if strings.HasSuffix(name, "_test.go") || name == "doc.go" {
			continue
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.LessOrEqual(t, strings.Count(string(text), "\n"), 130, name)
		assert.True(t, strings.Contains(comment, name+":"), "the package comment says nothing of %s", name)
	}
	rules := regexp.MustCompile(`(?m)^//   - (\w+\.go): `).FindAllStringSubmatch(comment, -1)
	require.Greater(t, len(rules), 5)
	page := pages(t)["docs/semantics.md"]
	for _, rule := range rules[:len(rules)-1] { // the last is no rule: documents, and comparisons
		assert.True(t, strings.Contains(page, "(../internal/spec/"+rule[1]+")"), "no link to %s", rule[1])
	}
}
