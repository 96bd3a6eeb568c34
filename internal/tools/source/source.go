// Package source finds the functions that Go files declare.
package source

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
)

// A Function is a function or method that a file declares.
type Function struct {
	// Receiver is the type of a method's receiver, without a star and type arguments, or "".
	Receiver string
	// IsPointer says that the receiver is a pointer.
	IsPointer  bool
	Name       string
	Start, End token.Position
}

// String returns the name of a function, and of a method with its receiver, as (*Reader).Read.
func (f *Function) String() string {
	switch {
	case f.Receiver == "":
		return f.Name
	case f.IsPointer:
		return fmt.Sprintf("(*%s).%s", f.Receiver, f.Name)
	}
	return fmt.Sprintf("(%s).%s", f.Receiver, f.Name)
}

// Functions returns the functions in a file, in its order.
func Functions(name string) (functions []Function, err error) {
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range tree.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			receiver, isPointer := Receiver(f)
			start, end := files.Position(f.Pos()), files.Position(f.End())
			functions = append(functions, Function{receiver, isPointer, f.Name.Name, start, end})
		}
	}
	return functions, nil
}

// Receiver returns the type of a method's receiver, without a star and type arguments, and
// whether it is a pointer. For a function it returns "".
func Receiver(f *ast.FuncDecl) (name string, isPointer bool) {
	if f.Recv == nil {
		return "", false
	}
	receiver := f.Recv.List[0].Type
	if pointer, ok := receiver.(*ast.StarExpr); ok {
		receiver, isPointer = pointer.X, true
	}
	switch generic := receiver.(type) {
	case *ast.IndexExpr:
		receiver = generic.X
	case *ast.IndexListExpr:
		receiver = generic.X
	}
	return receiver.(*ast.Ident).Name, isPointer
}

// Holds reports whether a place is in the function.
func (f *Function) Holds(line, col int) bool {
	return (line > f.Start.Line || line == f.Start.Line && col >= f.Start.Column) && line <= f.End.Line
}
