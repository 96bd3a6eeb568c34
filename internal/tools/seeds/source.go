package main

import (
	"cmp"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/cover"

	"github.com/espalier-dev/espalier/internal/tools/source"
)

const module = "github.com/espalier-dev/espalier/"

// A block is a run of statements in a file of a package, from a line and a column.
type block struct {
	file                  string
	line, col, statements int
}

// readProfile returns the blocks that are covered in a profile, except those that read the seeds.
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

// A packageSource names functions from the point of view of a package, whose import path is home.
// root is the folder of the module.
type packageSource struct {
	root, home string
	functions  map[string][]source.Function // by the file
}

// newSource returns the source for a package in the folder dir.
func newSource(dir, importPath string) *packageSource {
	below := filepath.FromSlash(strings.TrimPrefix(importPath, module))
	return &packageSource{strings.TrimSuffix(dir, below), importPath, make(map[string][]source.Function)}
}

// function returns the name of the function with most statements of the blocks, as "Reader.Read",
// or as "yamlbridge.Reader.Read" if it is in another package.
func (p *packageSource) function(blocks []block) (string, error) {
	statements := make(map[string]int)
	for _, b := range blocks {
		functions, err := p.read(b.file)
		if err != nil {
			return "", err
		}
		in := func(f source.Function) bool { return f.Holds(b.line, b.col) }
		if i := slices.IndexFunc(functions, in); i >= 0 {
			name := nameOf(&functions[i])
			if folder := path.Dir(b.file); folder != p.home {
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
func (p *packageSource) read(file string) ([]source.Function, error) {
	if known, ok := p.functions[file]; ok {
		return known, nil
	}
	functions, err := source.Functions(filepath.Join(p.root, filepath.FromSlash(strings.TrimPrefix(file, module))))
	if err == nil {
		p.functions[file] = functions
	}
	return functions, err
}

// nameOf returns the name of a function, and of a method with its receiver, as Reader.Read.
func nameOf(f *source.Function) string {
	if f.Receiver == "" {
		return f.Name
	}
	return f.Receiver + "." + f.Name
}
