package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/cover"
)

const module = "github.com/espalier-dev/espalier/"

// A block is a run of statements that are executed together, in a file of the module.
type block struct {
	file            string
	line, col       int
	endLine, endCol int
}

// A count is how many statements a block has, and whether they are covered.
type count struct {
	statements int
	isCovered  bool
}

// readProfiles returns the blocks of all profiles. One is covered if it is in any.
func readProfiles(names []string) (map[block]count, error) {
	blocks := make(map[block]count)
	for _, name := range names {
		profiles, err := cover.ParseProfiles(name)
		if err != nil {
			return nil, err
		}
		for _, p := range profiles {
			for _, b := range p.Blocks {
				key := block{strings.TrimPrefix(p.FileName, module), b.StartLine, b.StartCol, b.EndLine, b.EndCol}
				blocks[key] = count{b.NumStmt, blocks[key].isCovered || b.Count > 0}
			}
		}
	}
	return blocks, nil
}

// summary says for each package how much of it is covered.
func summary(blocks map[block]count) (lines []string) {
	type total struct{ all, covered int }
	packages := make(map[string]total)
	for b, c := range blocks {
		sum := packages[path.Dir(b.file)]
		sum.all += c.statements
		if c.isCovered {
			sum.covered += c.statements
		}
		packages[path.Dir(b.file)] = sum
	}
	for name, sum := range packages {
		lines = append(lines, fmt.Sprintf("%-22s %6d statements, %6.2f %% covered", name, sum.all, 100*float64(sum.covered)/float64(max(1, sum.all))))
	}
	slices.Sort(lines)
	return lines
}

// uncovered returns the keys of the blocks that are not covered, in the order of their files.
func uncovered(root string, blocks map[block]count) (keys []string, err error) {
	var missing []block
	for b, c := range blocks {
		if !c.isCovered && c.statements > 0 {
			missing = append(missing, b)
		}
	}
	slices.SortFunc(missing, func(a, b block) int {
		if a.file != b.file {
			return strings.Compare(a.file, b.file)
		}
		return a.line*1000 + a.col - b.line*1000 - b.col
	})
	sources := make(map[string]*source)
	for _, b := range missing {
		s := sources[b.file]
		if s == nil {
			if s, err = readSource(filepath.Join(root, b.file)); err != nil {
				return nil, err
			}
			sources[b.file] = s
		}
		keys = append(keys, fmt.Sprintf("%s: %s: %s", b.file, s.function(b.line, b.col), s.text(b)))
	}
	return keys, nil
}

// A source is a file of Go.
type source struct {
	lines     []string
	functions []function
}

// A function is one that is declared at the top of a file, from one place to another.
type function struct {
	name       string
	start, end token.Position
}

func readSource(name string) (*source, error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, name, content, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	s := &source{lines: strings.Split(string(content), "\n")}
	for _, d := range tree.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			s.functions = append(s.functions, function{nameOf(f), files.Position(f.Pos()), files.Position(f.End())})
		}
	}
	return s, nil
}

// nameOf returns the name of a function, and of a method with its receiver, as (*Reader).Read.
func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	receiver, star := f.Recv.List[0].Type, ""
	if pointer, ok := receiver.(*ast.StarExpr); ok {
		receiver, star = pointer.X, "*"
	}
	if generic, ok := receiver.(*ast.IndexExpr); ok {
		receiver = generic.X
	}
	return fmt.Sprintf("(%s%s).%s", star, receiver, f.Name.Name)
}

// function returns the name of the function that a place is in, or "" for a variable's value.
func (s *source) function(line, col int) string {
	for _, f := range s.functions {
		if (line > f.start.Line || line == f.start.Line && col >= f.start.Column) && line <= f.end.Line {
			return f.name
		}
	}
	return ""
}

// text returns the line that a block starts in, and the first one in it if that is another.
func (s *source) text(b block) string {
	text := strings.TrimSpace(s.lines[b.line-1])
	if !strings.HasSuffix(text, "{") && !strings.HasSuffix(text, ":") {
		return text
	}
	for _, line := range s.lines[b.line:b.endLine] {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			return text + " " + line
		}
	}
	return text
}
