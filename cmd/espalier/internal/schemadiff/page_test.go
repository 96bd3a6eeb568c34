package schemadiff

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRulesOfPage holds the table of changes in docs/upgrades.md against the rules in the code.
func TestRulesOfPage(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "schemadiff.go", nil, 0)
	require.NoError(t, err)
	var want []string
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || !regexp.MustCompile(`^(Rule|Tightened$|Loosened$|Changed$)`).MatchString(v.Names[0].Name) {
			return true
		}
		id, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
		require.NoError(t, err)
		if strings.HasSuffix(id, "/") {
			id += "KEYWORD"
		}
		want = append(want, id)
		return true
	})
	assert.Greater(t, len(want), 30)

	page, err := os.ReadFile("../../../../docs/upgrades.md")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(page), "| change | about |\n| --- | --- |\n")
	require.True(t, ok)
	table, _, _ := strings.Cut(rest, "\n\n")
	var got []string
	for row := range strings.Lines(table) {
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(strings.Split(row, "|")[1], -1) {
			got = append(got, m[1])
		}
	}
	assert.Equal(t, want, got)
}
