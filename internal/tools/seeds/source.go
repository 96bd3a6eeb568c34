package main

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/cover"
)

const module = "github.com/espalier-dev/espalier/"

// A block is a run of statements in a file of a package, from a line and a column.
type block struct {
	file                  string
	line, col, statements int
}

// readProfile returns the blocks that are covered in a profile, but for those that read the seeds.
func readProfile(name string) (covered []block, err error) {
	profiles, err := cover.ParseProfiles(name)
	if err != nil {
		return nil, err
	}
	for _, p := range profiles {
		if strings.HasPrefix(p.FileName, module+"internal/corpus/") {
			continue
		}
		for _, b := range p.Blocks {
			if b.Count > 0 {
				covered = append(covered, block{p.FileName, b.StartLine, b.StartCol, b.NumStmt})
			}
		}
	}
	return covered, nil
}

// A source names functions, as the package sees them that has the import path home. The folders
// below root are the packages of the module.
type source struct {
	root, home string
	functions  map[string][]function // by the file
}

// A function is one that is declared at the top of a file, from one line to another.
type function struct {
	name       string
	start, end int
}

// newSource returns the source for a package, whose folder is dir.
func newSource(dir, importPath string) *source {
	below := filepath.FromSlash(strings.TrimPrefix(importPath, module))
	return &source{strings.TrimSuffix(dir, below), importPath, make(map[string][]function)}
}

// function returns the name of the function that has most statements of the blocks, as
// "Reader.Read", or as "yamlbridge.Reader.Read" if it is in another package.
func (s *source) function(blocks []block) (string, error) {
	statements := make(map[string]int)
	for _, b := range blocks {
		functions, err := s.read(b.file)
		if err != nil {
			return "", err
		}
		in := func(f function) bool { return f.start <= b.line && b.line <= f.end }
		if i := slices.IndexFunc(functions, in); i >= 0 {
			name := functions[i].name
			if folder := path.Dir(b.file); folder != s.home {
				name = path.Base(folder) + "." + name
			}
			statements[name] += b.statements
		}
	}
	names := slices.Sorted(maps.Keys(statements))
	if len(names) == 0 {
		return "", nil
	}
	return slices.MaxFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(statements[a], statements[b]), cmp.Compare(b, a))
	}), nil
}

// read returns the functions in a file, whose name starts with the path of the module.
func (s *source) read(file string) ([]function, error) {
	if known, ok := s.functions[file]; ok {
		return known, nil
	}
	files := token.NewFileSet()
	name := filepath.Join(s.root, filepath.FromSlash(strings.TrimPrefix(file, module)))
	tree, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	functions := []function{}
	for _, d := range tree.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			start, end := files.Position(f.Pos()).Line, files.Position(f.End()).Line
			functions = append(functions, function{nameOf(f), start, end})
		}
	}
	s.functions[file] = functions
	return functions, nil
}

// nameOf returns the name of a function, and of a method with its receiver, as Reader.Read.
func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type
	if pointer, ok := receiver.(*ast.StarExpr); ok {
		receiver = pointer.X
	}
	switch generic := receiver.(type) {
	case *ast.IndexExpr:
		receiver = generic.X
	case *ast.IndexListExpr:
		receiver = generic.X
	}
	if name, ok := receiver.(*ast.Ident); ok {
		return name.Name + "." + f.Name.Name
	}
	return f.Name.Name
}
