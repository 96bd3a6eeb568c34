package docs

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDesign holds the packages of DESIGN.md, and what each of them imports of the others, against the code.
func TestDesign(t *testing.T) {
	page := pages(t)["DESIGN.md"]
	_, block, ok := strings.Cut(page, "```packages\n")
	require.True(t, ok)
	block, _, _ = strings.Cut(block, "```")
	listed := listedImports(t, block)
	real := realImports(t)
	for dir := range listed {
		if below, ok := strings.CutSuffix(dir, "..."); ok {
			join(real, below)
		}
	}
	for dir, imports := range real {
		names, ok := listed[dir]
		if assert.True(t, ok, "package %s is not listed", dir) {
			assert.Equal(t, imports, names, "imports of package %s", dir)
		}
	}
	for dir := range listed {
		assert.Contains(t, real, dir, "is listed, and is no package")
	}
	require.Equal(t, []string{"fieldpath"}, listed["errors"], "as an example")
}

// listedImports reads the table: a line for each package, with its path, what it is for, and after "<-" the names of
// the packages that it imports. It may go on in lines that are indented. Packages without imports can share a line, with
// the ends of their paths in braces. A path that ends in /... is that of all packages below it, with what they import
// of others.
func listedImports(t *testing.T, table string) map[string][]string {
	table = strings.ReplaceAll(strings.TrimSpace(table), "\n ", " ")
	listed := make(map[string][]string)
	for line := range strings.Lines(table) {
		text, imports, _ := strings.Cut(line, "<-")
		dir := strings.Fields(text)[0]
		dirs := []string{dir}
		if base, ends, ok := strings.Cut(strings.TrimSuffix(dir, "}"), "{"); ok {
			require.Empty(t, imports, dir)
			dirs = strings.Split(ends, ",")
			for i := range dirs {
				dirs[i] = base + dirs[i]
			}
		}
		for _, dir := range dirs {
			assert.NotContains(t, listed, dir, "is listed twice")
			listed[dir] = append([]string{}, strings.Fields(imports)...)
		}
	}
	return listed
}

// join makes one entry of those for the packages below a path.
func join(real map[string][]string, below string) {
	var joined, own []string
	for dir, imports := range real {
		if strings.HasPrefix(dir, below) {
			joined = append(joined, imports...)
			own = append(own, path.Base(dir))
			delete(real, dir)
		}
	}
	joined = slices.DeleteFunc(joined, func(name string) bool { return slices.Contains(own, name) })
	slices.Sort(joined)
	real[below+"..."] = slices.Compact(joined)
}

// realImports returns the folders of all packages of the repository, and for each the names of the packages of the
// repository that it imports, in order: in files for any system and with any tags, but not in tests.
func realImports(t *testing.T) map[string][]string {
	real := make(map[string][]string)
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && d.Name() != "..") {
			return fs.SkipDir
		}
		if filepath.Ext(name) != ".go" {
			return nil
		}
		dir, err := filepath.Rel("..", filepath.Dir(name))
		if err != nil {
			return err
		}
		dir = filepath.ToSlash(dir)
		if real[dir] == nil {
			real[dir] = []string{}
		}
		if strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if of, ok := strings.CutPrefix(imported, module); ok {
				real[dir] = append(real[dir], path.Base(of))
			}
		}
		return nil
	})
	require.NoError(t, err)
	for dir := range real {
		slices.Sort(real[dir])
		real[dir] = slices.Compact(real[dir])
	}
	return real
}

// TestPagesFit holds that DESIGN.md and README.md can be read to their ends, and that no page needs a wide
// window: its prose has 80 columns. Tables, code, and lines without a space are no prose.
func TestPagesFit(t *testing.T) {
	all := pages(t)
	assert.LessOrEqual(t, strings.Count(all["DESIGN.md"], "\n"), 250)
	assert.LessOrEqual(t, strings.Count(all["README.md"], "\n"), 150)
	for name, page := range all {
		isCode := false
		for line := range strings.Lines(page) {
			line = strings.TrimSuffix(line, "\n")
			switch text := strings.TrimSpace(line); {
			case strings.HasPrefix(text, "```"):
				isCode = !isCode
			case isCode && name != "DESIGN.md":
			case strings.HasPrefix(line, "    "), strings.HasPrefix(line, "|"), strings.HasPrefix(line, "<"), !strings.Contains(text, " "):
			default:
				assert.LessOrEqual(t, utf8.RuneCountInString(line), 80, "%s: %s", name, line)
			}
		}
	}
}

// TestDesignFiles holds that the files which DESIGN.md names are there, wherever that is.
func TestDesignFiles(t *testing.T) {
	known := make(map[string]bool)
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		known[filepath.Base(name)] = true
		return err
	})
	require.NoError(t, err)
	named := regexp.MustCompile(`\b[a-z_]+\.go\b`).FindAllString(pages(t)["DESIGN.md"], -1)
	for _, name := range named {
		assert.True(t, known[name], "there is no file %s", name)
	}
	require.Greater(t, len(named), 20)
}

// TestTesting holds that the tests which docs/testing.md names are there: package.TestName.
func TestTesting(t *testing.T) {
	named := 0
	for _, m := range regexp.MustCompile("`([a-z]+(?:/[a-z]+)*)\\.((?:Test|Fuzz)\\w+)`").FindAllStringSubmatch(pages(t)["docs/testing.md"], -1) {
		named++
		src := parseDir(t, filepath.Join("..", filepath.FromSlash(m[1])))
		assert.True(t, src.names[m[2]], "%s: there is no such test", m[0])
	}
	require.Greater(t, named, 50)
}
