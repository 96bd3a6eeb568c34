package cel

import (
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
)

// A place is a part of self or oldSelf that an expression leads to.
type place struct {
	*access
	shape *shape
}

// accesses returns what an expression reads of self and oldSelf. They are nil if it reads nothing.
func accesses(checked *ast.AST, of *shape, keywords bool) (self, oldSelf *access) {
	r := &reader{
		of: of, roots: map[string]*access{}, keywords: keywords, locals: map[string][]place{},
	}
	r.use(checked.Expr())
	return r.roots[selfName], r.roots[oldSelfName]
}

// A reader follows an expression to the places that it reads.
type reader struct {
	of       *shape
	roots    map[string]*access
	keywords bool
	locals   map[string][]place // the variables of comprehensions, the innermost one last
}

// use reads the value of an expression as a whole.
func (r *reader) use(e ast.Expr) { r.at(e).use() }

func (p place) use() {
	if p.access != nil && !p.shape.isScalar() {
		p.all = true
	}
}

// at returns the place that an expression leads to, or none if it makes a value.
func (r *reader) at(e ast.Expr) (none place) {
	switch e.Kind() {
	case ast.IdentKind:
		return r.variable(e.AsIdent())
	case ast.SelectKind:
		s := e.AsSelect()
		p := r.at(s.Operand()).member(s.FieldName(), r.keywords)
		if s.IsTestOnly() {
			return none
		}
		return p
	case ast.CallKind:
		return r.call(e.AsCall())
	case ast.ComprehensionKind:
		r.comprehension(e.AsComprehension())
	case ast.ListKind:
		for _, x := range e.AsList().Elements() {
			r.use(x)
		}
	case ast.MapKind:
		for _, x := range e.AsMap().Entries() {
			r.use(x.AsMapEntry().Key())
			r.use(x.AsMapEntry().Value())
		}
	case ast.StructKind:
		for _, x := range e.AsStruct().Fields() {
			r.use(x.AsStructField().Value())
		}
	}
	return none
}

// variable returns what a name refers to. A dot before it skips the variables of comprehensions.
func (r *reader) variable(name string) (none place) {
	global, isGlobal := strings.CutPrefix(name, ".")
	if bound := r.locals[name]; len(bound) > 0 && !isGlobal {
		return bound[len(bound)-1]
	}
	switch global {
	case selfName, oldSelfName:
		if r.roots[global] == nil {
			r.roots[global] = new(access)
		}
		return place{r.roots[global], r.of}
	}
	return none
}

// member returns the place of a member that an expression names.
func (p place) member(name string, keywords bool) (none place) {
	if p.access == nil {
		return none
	}
	switch p.shape.kind {
	case mapping:
		return place{p.access.member(name), p.shape.additional.declared()}
	case object:
		if f := p.shape.field(name, keywords); f != nil {
			// The value is looked up by this name.
			if g := p.shape.find(name); g != nil {
				return place{p.access.member(g.name), g.shape.declared()}
			}
		}
	}
	p.use()
	return none
}

// index returns the place of a member or an element at a key.
func (r *reader) index(of, key ast.Expr) (none place) {
	p := r.at(of)
	r.use(key)
	if p.access == nil {
		return none
	}
	switch p.shape.kind {
	case mapping:
		if name, ok := key.AsLiteral().(types.String); ok && key.Kind() == ast.LiteralKind {
			return place{p.access.member(string(name)), p.shape.additional.declared()}
		}
		return place{p.everyMember(), p.shape.additional.declared()}
	case list:
		return place{p.everyElement(), p.shape.items.declared()}
	}
	p.use()
	return none
}

func (r *reader) call(c ast.CallExpr) (none place) {
	args := c.Args()
	if c.IsMemberFunction() {
		args = append([]ast.Expr{c.Target()}, args...)
	}
	switch name := c.FunctionName(); {
	case name == operators.Index && len(args) == 2:
		return r.index(args[0], args[1])
	case name == operators.OptIndex && len(args) == 2:
		r.index(args[0], args[1]).use()
		return none
	case name == operators.OptSelect && len(args) == 2 && args[1].Kind() == ast.LiteralKind:
		if field, ok := args[1].AsLiteral().(types.String); ok {
			r.at(args[0]).member(string(field), r.keywords).use()
			return none
		}
	case name == "hasValue" && len(args) == 1: // whether there is an oldSelf
		r.at(args[0])
		return none
	case name == "value" && len(args) == 1:
		return r.at(args[0])
	case name == overloads.Size && len(args) == 1:
		if p := r.at(args[0]); p.access != nil {
			p.count()
		}
		return none
	case name == operators.In && len(args) == 2:
		r.use(args[0])
		p := r.at(args[1])
		switch {
		case p.access == nil:
		case p.shape.kind == mapping, p.shape.kind == list && p.shape.items.declared().isScalar():
			p.count()
		default:
			p.use()
		}
		return none
	}
	for _, arg := range args {
		r.use(arg)
	}
	return none
}

// count reads how many elements or members there are.
func (p place) count() {
	switch p.shape.kind {
	case list:
		p.everyElement()
	case mapping:
		p.everyMember()
	default:
		p.use()
	}
}

// isScalar reports whether values are neither objects nor arrays.
func (s *shape) isScalar() bool {
	switch s.kind {
	case object, mapping, list, preserved, shapeless:
		return false
	}
	return true
}

func (r *reader) comprehension(c ast.ComprehensionExpr) {
	over := r.at(c.IterRange())
	r.use(c.AccuInit())
	var key, value place // of the variables, where there are two of them
	if over.access != nil {
		over.count()
		switch over.shape.kind {
		case list:
			value = place{over.everyElement(), over.shape.items.declared()}
		case mapping:
			value = place{over.everyMember(), over.shape.additional.declared()}
		}
	}
	bound := map[string]place{c.AccuVar(): {}, c.IterVar(): key}
	switch {
	case c.HasIterVar2():
		bound[c.IterVar2()] = value
	case over.access != nil && over.shape.kind == list:
		bound[c.IterVar()] = value
	}
	for name, p := range bound {
		r.locals[name] = append(r.locals[name], p)
	}
	r.use(c.LoopCondition())
	r.use(c.LoopStep())
	r.use(c.Result())
	for name := range bound {
		r.locals[name] = r.locals[name][:len(r.locals[name])-1]
	}
}
