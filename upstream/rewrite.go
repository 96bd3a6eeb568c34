package main

// NOTE: the syntax tree says where the edits are, and the edits are made in the text, so that nothing else
// changes and the variants can be read as patches. An edit names a function and a node in it. If the
// function has no such node, or more than one, upstream has changed, and the edit fails.

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// An edit changes one place of a file.
type edit struct {
	// in is the function, T.m for methods, or the type, in which find is asked about all nodes; or nothing,
	// for the whole file.
	in   string
	what string // of the place, for errors
	find finder
	// put are inserted before and after the node; instead replaces it.
	before, after, instead string
}

// A finder returns the place that a node shows, itself or a part of it, or nil. It keeps nothing: variants that
// share edits are made at the same time.
type finder func(source, ast.Node) ast.Node

// A source is a file with its syntax tree.
type source struct {
	text []byte
	file *token.File
}

// of returns the text of a node.
func (s source) of(n ast.Node) string {
	return string(s.text[s.file.Offset(n.Pos()):s.file.Offset(n.End())])
}

// A piece replaces the bytes from begin to end.
type piece struct {
	begin, end int
	text       string
}

// rewrite makes the edits in a file. All are looked for in the file as it was.
func rewrite(path string, text []byte, edits []edit) ([]byte, error) {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	src := source{text, fset.File(tree.FileStart)}
	var pieces []piece
	var errs []error
	for _, e := range edits {
		n, err := e.place(src, tree)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", path, err))
			continue
		}
		begin, end := src.file.Offset(n.Pos()), src.file.Offset(n.End())
		if e.instead != "" {
			pieces = append(pieces, piece{begin, end, e.instead})
			continue
		}
		pieces = append(pieces, piece{begin, begin, e.before}, piece{end, end, e.after})
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	slices.SortStableFunc(pieces, func(a, b piece) int { return a.begin - b.begin })
	var out bytes.Buffer
	at := 0
	for _, p := range pieces {
		if p.begin < at {
			return nil, fmt.Errorf("%s: edits overlap at byte %d", path, p.begin)
		}
		out.Write(text[at:p.begin])
		out.WriteString(p.text)
		at = p.end
	}
	out.Write(text[at:])
	return format.Source(out.Bytes())
}

// place returns the only node that an edit is about.
func (e *edit) place(src source, tree *ast.File) (ast.Node, error) {
	var within []ast.Node
	if e.in == "" {
		within = append(within, tree)
	}
	for _, decl := range tree.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if nameOf(d) == e.in {
				within = append(within, d)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok && t.Name.Name == e.in {
					within = append(within, t)
				}
			}
		}
	}
	if len(within) != 1 {
		return nil, fmt.Errorf("there are %d declarations of %s, and not one", len(within), e.in)
	}
	var found []ast.Node
	ast.Inspect(within[0], func(n ast.Node) bool {
		if n != nil {
			if place := e.find(src, n); place != nil {
				found = append(found, place)
			}
		}
		return true
	})
	if len(found) != 1 {
		return nil, fmt.Errorf("%s is found %d times in %s, and not once", e.what, len(found), cmp.Or(e.in, "the file"))
	}
	return found[0], nil
}

// nameOf returns the name of a function, with its type if it is a method.
func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	t := f.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if name, ok := t.(*ast.Ident); ok {
		return name.Name + "." + f.Name.Name
	}
	return ""
}

// text finds nodes of a type by their text.
func text[N ast.Node](want string) finder {
	return func(s source, n ast.Node) ast.Node {
		if _, ok := n.(N); ok && s.of(n) == want {
			return n
		}
		return nil
	}
}

// starts finds nodes of a type by how their text starts.
func starts[N ast.Node](want string) finder {
	return func(s source, n ast.Node) ast.Node {
		if _, ok := n.(N); ok && strings.HasPrefix(s.of(n), want) {
			return n
		}
		return nil
	}
}

// loopWith finds the loop over a value in whose body there is a call.
func loopWith(over, call string) finder {
	return func(s source, n ast.Node) ast.Node {
		loop, ok := n.(*ast.RangeStmt)
		if !ok || s.of(loop.X) != over {
			return nil
		}
		calls := false
		ast.Inspect(loop.Body, func(n ast.Node) bool {
			c, ok := n.(*ast.CallExpr)
			calls = calls || ok && s.of(c.Fun) == call
			return true
		})
		if !calls {
			return nil
		}
		return loop
	}
}

// elements returns the elements of a composite literal of a type, or nothing for other nodes.
func elements(s source, n ast.Node, of string) []ast.Expr {
	if lit, ok := n.(*ast.CompositeLit); ok && lit.Type != nil && s.of(lit.Type) == of {
		return lit.Elts
	}
	return nil
}

// lastElement finds the last element of the composite literal of a type.
func lastElement(of string) finder {
	return func(s source, n ast.Node) ast.Node {
		if list := elements(s, n, of); len(list) > 0 {
			return list[len(list)-1]
		}
		return nil
	}
}

// member finds the value of a key in the composite literal of a type.
func member(of, key string) finder {
	return func(s source, n ast.Node) ast.Node {
		for _, e := range elements(s, n, of) {
			if kv, ok := e.(*ast.KeyValueExpr); ok && s.of(kv.Key) == key {
				return kv.Value
			}
		}
		return nil
	}
}

// lastField finds the last field of a struct.
func lastField() finder {
	return func(_ source, n ast.Node) ast.Node {
		if t, ok := n.(*ast.StructType); ok && len(t.Fields.List) > 0 {
			return t.Fields.List[len(t.Fields.List)-1]
		}
		return nil
	}
}
