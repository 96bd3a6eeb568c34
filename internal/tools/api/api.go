// Package api lists what the modules of this repository export, one line for each name. Its test
// fails if that changes.
package api

import (
	"fmt"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// List returns the lines of the packages that the pattern matches in the module in a folder.
func List(dir, pattern string) ([]string, error) {
	const mode = packages.NeedName | packages.NeedTypes | packages.NeedExportFile
	found, err := packages.Load(&packages.Config{Mode: mode, Dir: dir}, pattern)
	if err != nil {
		return nil, err
	}
	if len(found) != 1 || len(found[0].Errors) > 0 {
		return nil, fmt.Errorf("%s: want one package without errors: %v", pattern, found)
	}
	l := lister{pkg: found[0].Types}
	scope := l.pkg.Scope()
	for _, name := range scope.Names() {
		if object := scope.Lookup(name); object.Exported() {
			l.add(object)
		}
	}
	slices.Sort(l.lines)
	return l.lines, nil
}

// A lister makes the lines of one package.
type lister struct {
	pkg   *types.Package
	lines []string
}

func (l *lister) printf(format string, args ...any) {
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

// qualifier qualifies the names of other packages as their importers do, and those of this one not
// at all.
func (l *lister) qualifier(p *types.Package) string {
	if p == l.pkg {
		return ""
	}
	return p.Name()
}

func (l *lister) text(t types.Type) string {
	return unnamed.ReplaceAllString(types.TypeString(t, l.qualifier), "")
}

// unnamed matches the names that the compiler gives to results without one.
var unnamed = regexp.MustCompile(`#rv\d+ `)

func (l *lister) add(object types.Object) {
	switch o := object.(type) {
	case *types.Const:
		l.printf("const %s %s = %s", o.Name(), l.text(o.Type()), o.Val().ExactString())
	case *types.Var:
		l.printf("var %s %s", o.Name(), l.text(o.Type()))
	case *types.Func:
		l.printf("func %s%s", o.Name(), l.signature(o))
	case *types.TypeName:
		l.addType(o)
	}
}

func (l *lister) signature(f *types.Func) string {
	return strings.TrimPrefix(l.text(f.Type()), "func")
}

func (l *lister) addType(o *types.TypeName) {
	if o.IsAlias() {
		l.printf("type %s = %s", o.Name(), l.text(types.Unalias(o.Type())))
		return
	}
	named := o.Type().(*types.Named)
	switch u := named.Underlying().(type) {
	case *types.Struct:
		l.printf("type %s struct", o.Name())
		for f := range u.Fields() {
			if f.Exported() {
				l.printf("type %s struct, %s %s", o.Name(), f.Name(), l.text(f.Type()))
			}
		}
	case *types.Interface:
		l.printf("type %s interface", o.Name())
		for m := range u.Methods() {
			if m.Exported() {
				l.printf("type %s interface, %s%s", o.Name(), m.Name(), l.signature(m))
			} else {
				l.printf("type %s interface, unexported methods", o.Name())
			}
		}
		return
	default:
		l.printf("type %s %s", o.Name(), l.text(u))
	}
	pointer := types.NewMethodSet(types.NewPointer(named))
	value := types.NewMethodSet(named)
	for m := range pointer.Methods() {
		f, ok := m.Obj().(*types.Func)
		if !ok || !f.Exported() {
			continue
		}
		receiver := "*" + o.Name()
		if value.Lookup(l.pkg, f.Name()) != nil {
			receiver = o.Name()
		}
		l.printf("method (%s) %s%s", receiver, f.Name(), l.signature(f))
	}
}
