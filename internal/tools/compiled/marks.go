package compiled

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/espalier-dev/espalier/internal/tools/source"
)

// A Function is a function with marks.
type Function struct {
	Package string // its import path
	Name    string // as Blanks, or (*Walker).simple
	File    string
	Line    int

	NoCalls, Inline bool
}

// symbol returns the name of the function in machine code, without arguments of type parameters.
func (f *Function) symbol() string { return f.Package + "." + f.Name }

// place returns where the compiler says that the function is.
func (f *Function) place() string { return fmt.Sprintf("%s:%d", f.File, f.Line) }

// prefix is what marks start with.
const prefix = "espalier:"

// Marked returns the marked functions of packages. It reads their files from files, which is the
// folder root. A mark that is not known, or not in the comment on a function, is an error.
func Marked(files fs.FS, root string, packages []Package) (marked []*Function, err error) {
	for _, p := range packages {
		for _, base := range p.GoFiles {
			name := filepath.Join(p.Dir, base)
			relative, err := filepath.Rel(root, name)
			if err != nil {
				return nil, err
			}
			content, err := fs.ReadFile(files, filepath.ToSlash(relative))
			if err != nil {
				return nil, err
			}
			of, err := markedIn(name, content)
			if err != nil {
				return nil, err
			}
			for _, f := range of {
				f.Package = p.ImportPath
			}
			marked = append(marked, of...)
		}
	}
	return marked, nil
}

// markedIn returns the marked functions of a file.
func markedIn(name string, content []byte) (marked []*Function, err error) {
	set := token.NewFileSet()
	const mode = parser.ParseComments | parser.SkipObjectResolution
	file, err := parser.ParseFile(set, name, content, mode)
	if err != nil {
		return nil, err
	}
	known := make(map[*ast.Comment]bool)
	for _, d := range file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Doc == nil {
			continue
		}
		f := &Function{Name: nameOf(fn), File: name, Line: set.Position(fn.Name.Pos()).Line}
		for _, c := range fn.Doc.List {
			switch c.Text {
			case "//" + prefix + "nocalls":
				f.NoCalls = true
			case "//" + prefix + "inline":
				f.Inline = true
			default:
				continue
			}
			known[c] = true
		}
		if f.NoCalls || f.Inline {
			marked = append(marked, f)
		}
	}
	for _, group := range file.Comments {
		for _, c := range group.List {
			if strings.HasPrefix(strings.TrimLeft(c.Text, "/* \t"), prefix) && !known[c] {
				return nil, fmt.Errorf("%s: %s is no mark, or not in the comment on a function",
					set.Position(c.Pos()), c.Text)
			}
		}
	}
	return marked, nil
}

// nameOf returns the name of a function in machine code, without its package and type arguments.
func nameOf(f *ast.FuncDecl) string {
	receiver, isPointer := source.Receiver(f)
	switch {
	case receiver == "":
		return f.Name.Name
	case isPointer:
		return fmt.Sprintf("(*%s).%s", receiver, f.Name.Name)
	}
	return receiver + "." + f.Name.Name
}
