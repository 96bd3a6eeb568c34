package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
)

// TestRulesOfPage holds the table of rules in docs/check.md against that in the code. -update
// writes it.
func TestRulesOfPage(t *testing.T) {
	const page, start = "../../docs/check.md", "| rule | finding |\n| --- | --- |\n"
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(text), start)
	require.True(t, ok)
	end := strings.Index(rest, "\n\n") + 1
	var want strings.Builder
	for _, r := range finding.Rules {
		name := `<a id="` + r.Anchor() + "\"></a>`" + r.ID + "`"
		if r.Fixed {
			name += " *"
		}
		fmt.Fprintf(&want, "| %s | %s |\n", name, r.About)
	}
	if *updateFlag {
		require.NoError(t, os.WriteFile(page, []byte(before+start+want.String()+rest[end:]), 0o666))
		return
	}
	assert.Equal(t, want.String(), rest[:end])
}

// TestRulesOfCode holds that each rule that the code names is in the table of rules, and that
// findings have no others.
func TestRulesOfCode(t *testing.T) {
	declared := 0
	err := filepath.WalkDir("internal", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				if name := n.Names[0].Name; filepath.Base(filepath.Dir(path)) == "finding" && strings.HasPrefix(name, "Rule") && len(n.Values) == 1 {
					if literal, ok := n.Values[0].(*ast.BasicLit); ok {
						id, err := strconv.Unquote(literal.Value)
						assert.NoError(t, err)
						assert.NotNil(t, finding.RuleOf(id), "%s is not in the table", name)
						declared++
					}
				}
			case *ast.KeyValueExpr:
				key, isName := n.Key.(*ast.Ident)
				_, isText := n.Value.(*ast.BasicLit)
				assert.False(t, isName && isText && key.Name == "Rule", "%s: name the constant of a rule", path)
			}
			return true
		})
		return nil
	})
	require.NoError(t, err)
	assert.Greater(t, declared, 15)
}
