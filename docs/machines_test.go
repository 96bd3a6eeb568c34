package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMachinesAreDrawn holds that the NOTE of a file with a machine has all labels of the
// machine, and that the graph in it has no others.
func TestMachinesAreDrawn(t *testing.T) {
	for file, machine := range map[string]string{
		"../internal/walk/walk.go": "machine", "../internal/skip/skip.go": "Skip",
	} {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		require.NoError(t, err)
		note := noteOf(t, parsed)
		labels := make(map[string]bool)
		ast.Inspect(function(t, parsed, machine), func(n ast.Node) bool {
			if l, ok := n.(*ast.LabeledStmt); ok {
				labels[l.Label.Name] = true
			}
			return true
		})
		require.Greater(t, len(labels), 10, file)
		for label := range labels {
			assert.Regexp(t, `\b`+label+`\b`, note, "%s: the NOTE does not have a label", file)
		}
		for line := range strings.Lines(note) {
			graph, isGraph := strings.CutPrefix(line, "\t")
			if !isGraph {
				continue
			}
			for _, word := range regexp.MustCompile(`[A-Za-z]{2,}`).FindAllString(graph, -1) {
				assert.True(t, labels[word] || word == "or" || word == "null", "%s: %s is drawn, and is no label", file, word)
			}
		}
	}
}

func noteOf(t *testing.T, file *ast.File) string {
	for _, c := range file.Comments {
		if text := c.Text(); strings.HasPrefix(text, "NOTE: ") {
			return text
		}
	}
	require.Fail(t, "the file has no NOTE")
	return ""
}

func function(t *testing.T, file *ast.File, name string) *ast.FuncDecl {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == name {
			return f
		}
	}
	require.Fail(t, "the file has no such function", name)
	return nil
}
