package docs

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// limited are the packages whose limits the page has, all of them.
var limited = []string{"decoder", "errors", "kube", "middleware", "projection", "request", "schema", "schema/validation", "yamlbridge"}

// TestThreatModel holds the page against the code.
func TestThreatModel(t *testing.T) {
	page, err := os.ReadFile("threat-model.md")
	require.NoError(t, err)
	sources := make(map[string]*source)
	in := func(dir string) *source {
		if sources[dir] == nil {
			sources[dir] = parseDir(t, filepath.Join("..", filepath.FromSlash(dir)))
		}
		return sources[dir]
	}

	// Names of the code: package.Name, package.Type.Member, package.Test/012.
	named := 0
	for _, m := range regexp.MustCompile("`([a-z]+(?:/[a-z]+)*)\\.([A-Z]\\w*)(?:\\.(\\w+))?(?:/\\w+)?`").FindAllStringSubmatch(string(page), -1) {
		dir, name, member := m[1], m[2], m[3]
		if dir == "io" {
			continue
		}
		named++
		src := in(dir)
		assert.True(t, src.names[name], "%s: package %s has no %s", m[0], dir, name)
		assert.True(t, member == "" || src.names[name+"."+member], "%s: %s has no %s", m[0], name, member)
	}
	require.Greater(t, named, 100)

	// Numbers of adversarial inputs.
	rows := in("decoder").constants["adversarialRows"]
	require.Positive(t, rows)
	for _, m := range regexp.MustCompile("[`/]([0-9]{3})`").FindAllStringSubmatch(string(page), -1) {
		row, err := strconv.ParseInt(m[1], 10, 64)
		require.NoError(t, err)
		assert.True(t, 1 <= row && row <= rows, "there is no adversarial input %s", m[1])
	}

	// Limits.
	limits := make(map[string]bool)
	for _, m := range regexp.MustCompile("(?m)^\\|[^|]+\\| `([\\w/]+)\\.(\\w+)` \\| ([0-9 ]+) \\| `[\\w/]+\\.Test\\w+` \\| [0-9 ]+ \\|$").FindAllStringSubmatch(string(page), -1) {
		limits[m[1]+"."+m[2]] = true
		value, err := strconv.ParseInt(strings.ReplaceAll(m[3], " ", ""), 10, 64)
		require.NoError(t, err)
		assert.Equal(t, in(m[1]).constants[m[2]], value, "%s.%s", m[1], m[2])
	}
	for _, dir := range limited {
		for name := range in(dir).constants {
			if strings.HasPrefix(name, "Max") || strings.HasPrefix(name, "Default") {
				assert.True(t, limits[dir+"."+name], "the page does not have the limit %s.%s", dir, name)
			}
		}
	}
}

// A source is what stands in the files of a package, tests included.
type source struct {
	names     map[string]bool  // on the top level; Type.Member for methods and fields
	constants map[string]int64 // that are integers, and made of no other constants
}

func parseDir(t *testing.T, dir string) *source {
	src := &source{make(map[string]bool), make(map[string]int64)}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	require.NotEmpty(t, files, dir)
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				src.names[receiver(d)+d.Name.Name] = true
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					src.add(spec)
				}
			}
		}
	}
	return src
}

// receiver returns the type of a method with a dot, or "".
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	of := d.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if name, ok := of.(*ast.Ident); ok {
		return name.Name + "."
	}
	return "?."
}

func (src *source) add(spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		src.names[spec.Name.Name] = true
		if s, ok := spec.Type.(*ast.StructType); ok {
			for _, field := range s.Fields.List {
				for _, name := range field.Names {
					src.names[spec.Name.Name+"."+name.Name] = true
				}
			}
		}
	case *ast.ValueSpec:
		for i, name := range spec.Names {
			src.names[name.Name] = true
			if i >= len(spec.Values) {
				continue
			}
			v, err := types.Eval(token.NewFileSet(), nil, token.NoPos, types.ExprString(spec.Values[i]))
			if err == nil && v.Value != nil && v.Value.Kind() == constant.Int {
				src.constants[name.Name], _ = constant.Int64Val(v.Value)
			}
		}
	}
}

// TestLinks follows the links of all pages to files of this repository.
func TestLinks(t *testing.T) {
	links := 0
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".." || d.Name() == "node_modules") {
			return fs.SkipDir
		}
		if filepath.Ext(name) != ".md" {
			return nil
		}
		page, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, m := range regexp.MustCompile(`\]\(([^):#]+)(?:#[^)]*)?\)`).FindAllStringSubmatch(string(page), -1) {
			links++
			assert.FileExists(t, filepath.Join(filepath.Dir(name), filepath.FromSlash(m[1])), "in %s", name)
		}
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, links, 4)
}
