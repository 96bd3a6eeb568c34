package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/espalier-dev/espalier/internal/tools/source"
)

// A mutant is one small change of the code. Its number chooses it in the binary that has them all.
type mutant struct {
	number   int
	function string // with its file
	key      string // as in the lists: file: function: expression: change
	place    string // file and line
}

// An edit replaces size bytes of a file at an offset.
type edit struct {
	at, size int
	text     string
	closes   bool // it ends what starts before it
}

// instrumented is a package with all its mutants in it, each of which waits for its number.
type instrumented struct {
	dir     string
	files   map[string][]byte // by their names
	mutants []mutant
}

// instrument finds the mutants of the package in a folder, always in the same order:
//
//   - CONDITIONALS_BOUNDARY: < for <=, and so on.
//   - CONDITIONALS_NEGATION: == for !=, < for >=, and so on.
//   - ARITHMETIC_BASE: + for -, * for /, and so on.
//   - INVERT_NEGATIVES: x for -x.
//   - INCREMENT_DECREMENT: ++ for --.
//   - STATEMENT removed: without a call, an assignment, or what increments, sends, defers or starts.
//
// The first five are those of gremlins. Those that cannot be another program are left out: constants,
// strings that are added, what counts steps; and code outside of functions. There is one mutant for
// each change, which compiles.
func instrument(root, folder string) (*instrumented, error) {
	config := &packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedExportFile,
		Dir: root,
	}
	loaded, err := packages.Load(config, "./"+folder)
	if err != nil {
		return nil, err
	}
	if len(loaded) != 1 || len(loaded[0].Errors) > 0 || len(loaded[0].Syntax) == 0 {
		return nil, fmt.Errorf("%s: no package that compiles", folder)
	}
	p := loaded[0]
	made := &instrumented{dir: filepath.Join(root, filepath.FromSlash(folder)), files: make(map[string][]byte)}
	for i, tree := range p.Syntax {
		f := &file{root: root, name: p.CompiledGoFiles[i], tree: tree, info: p.TypesInfo, files: p.Fset, made: made, removable: make(map[ast.Stmt]bool)}
		if err := f.instrument(); err != nil {
			return nil, err
		}
	}
	fill := strings.NewReplacer("package main", "package "+p.Name, "SIZE", strconv.Itoa(len(made.mutants)), "EXIT", strconv.Itoa(tooManySteps))
	made.files[filepath.Join(made.dir, "mutants_of_package.go")] = []byte(fill.Replace(helpers))
	return made, nil
}

// A file is one that is being instrumented.
type file struct {
	root, name string
	text       []byte
	tree       *ast.File
	info       *types.Info
	files      *token.FileSet
	made       *instrumented
	function   string
	removable  map[ast.Stmt]bool
	edits      []edit
}

func (f *file) instrument() (err error) {
	if f.text, err = os.ReadFile(f.name); err != nil {
		return err
	}
	for _, d := range f.tree.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
			receiver, isPointer := source.Receiver(fn)
			f.function = (&source.Function{Receiver: receiver, IsPointer: isPointer, Name: fn.Name.Name}).String()
			f.walk(fn.Body)
		}
	}
	if len(f.edits) > 0 {
		f.made.files[f.name] = apply(f.text, f.edits)
	}
	return nil
}

// apply returns a text with edits. At one place, what ends comes before what starts, and otherwise
// they are in order.
func apply(text []byte, edits []edit) []byte {
	slices.SortStableFunc(edits, func(a, b edit) int {
		if a.at == b.at && a.closes != b.closes {
			return map[bool]int{true: -1, false: 1}[a.closes]
		}
		return cmp.Compare(a.at, b.at)
	})
	var b bytes.Buffer
	at := 0
	for _, e := range edits {
		b.Write(text[at:e.at])
		b.WriteString(e.text)
		at = e.at + e.size
	}
	b.Write(text[at:])
	return b.Bytes()
}

func (f *file) offset(p token.Pos) int { return f.files.Position(p).Offset }

func (f *file) source(n ast.Node) string { return string(f.text[f.offset(n.Pos()):f.offset(n.End())]) }

func (f *file) open(n ast.Node, text string) {
	f.edits = append(f.edits, edit{at: f.offset(n.Pos()), text: text})
}

func (f *file) close(n ast.Node, text string) {
	f.edits = append(f.edits, edit{at: f.offset(n.End()), text: text, closes: true})
}

func (f *file) replace(at token.Pos, size int, text string) {
	f.edits = append(f.edits, edit{at: f.offset(at), size: size, text: text})
}

// mutant adds one, and returns its number.
func (f *file) mutant(n ast.Node, change string) int {
	name, _ := filepath.Rel(f.root, f.name)
	name = filepath.ToSlash(name)
	number := len(f.made.mutants) + 1
	f.made.mutants = append(f.made.mutants, mutant{
		number, name + ": " + f.function,
		fmt.Sprintf("%s: %s: %s: %s", name, f.function, strings.Join(strings.Fields(f.source(n)), " "), change),
		fmt.Sprintf("%s:%d", name, f.files.Position(n.Pos()).Line),
	})
	return number
}

// walk instruments what is in a node, before what is in its parts, so that at one place the outermost
// comes first. What ends is noted the other way round.
func (f *file) walk(root ast.Node) {
	var ends []func()
	ast.Inspect(root, func(n ast.Node) bool {
		if n == nil {
			ends[len(ends)-1]()
			ends = ends[:len(ends)-1]
			return true
		}
		if call, ok := n.(*ast.CallExpr); ok && strings.HasPrefix(f.source(call.Fun), "steps.") {
			return false
		}
		if d, ok := n.(*ast.GenDecl); ok && d.Tok == token.CONST {
			return false
		}
		var end func()
		if s, ok := n.(ast.Stmt); ok && f.removable[s] {
			end = f.remove(s)
		}
		within := f.start(n)
		ends = append(ends, func() {
			for _, end := range []func(){within, end} {
				if end != nil {
					end()
				}
			}
		})
		return true
	})
}

// start instruments a node, and returns what is to be done at its end.
func (f *file) start(n ast.Node) (end func()) {
	switch n := n.(type) {
	case *ast.BlockStmt:
		f.statements(n.List)
	case *ast.CaseClause:
		f.statements(n.Body)
	case *ast.CommClause:
		f.statements(n.Body)
	case *ast.BinaryExpr:
		return f.binary(n)
	case *ast.UnaryExpr:
		if n.Op == token.SUB && f.isNumber(n.X) && !f.isConstant(n) {
			f.replace(n.OpPos, 1, fmt.Sprintf("mutantNegative(%d, ", f.mutant(n, "INVERT_NEGATIVES - to +")))
			return func() { f.close(n, ")") }
		}
	case *ast.IncDecStmt:
		return f.incDec(n)
	}
	return nil
}

// comparisons and operations name the helpers, and say what becomes of an operator.
var (
	comparisons = map[token.Token][3]string{
		token.LSS: {"mutantLess", "<=", ">="}, token.LEQ: {"mutantLessOrEqual", "<", ">"},
		token.GTR: {"mutantGreater", ">=", "<="}, token.GEQ: {"mutantGreaterOrEqual", ">", "<"},
	}
	operations = map[token.Token][2]string{
		token.ADD: {"mutantAdd", "-"}, token.SUB: {"mutantSubtract", "+"}, token.MUL: {"mutantMultiply", "/"},
		token.QUO: {"mutantDivide", "*"}, token.REM: {"mutantRemainder", "*"},
	}
)

func (f *file) binary(n *ast.BinaryExpr) (end func()) {
	if f.isConstant(n) {
		return nil
	}
	if n.Op == token.EQL || n.Op == token.NEQ {
		to := map[token.Token]token.Token{token.EQL: token.NEQ, token.NEQ: token.EQL}[n.Op]
		number := f.mutant(n, fmt.Sprintf("CONDITIONALS_NEGATION %s to %s", n.Op, to))
		f.open(n, "((")
		return func() { f.close(n, fmt.Sprintf(") != mutantIs(%d))", number)) }
	}
	var call string
	if c, ok := comparisons[n.Op]; ok && f.isOrdered(n.X, n.Y) {
		boundary := f.mutant(n, fmt.Sprintf("CONDITIONALS_BOUNDARY %s to %s", n.Op, c[1]))
		negation := f.mutant(n, fmt.Sprintf("CONDITIONALS_NEGATION %s to %s", n.Op, c[2]))
		call = fmt.Sprintf("%s%s(%d, %d, ", c[0], f.typeArgument(n), boundary, negation)
	} else if o, ok := operations[n.Op]; ok && f.isNumber(n) {
		call = fmt.Sprintf("%s%s(%d, ", o[0], f.typeArgument(n), f.mutant(n, fmt.Sprintf("ARITHMETIC_BASE %s to %s", n.Op, o[1])))
	} else {
		return nil
	}
	f.open(n, call)
	f.replace(n.OpPos, len(n.Op.String()), ",")
	return func() { f.close(n, ")") }
}

// incDec makes an assignment of i++.
func (f *file) incDec(n *ast.IncDecStmt) (end func()) {
	call, to := "mutantAdd", "--"
	if n.Tok == token.DEC {
		call, to = "mutantSubtract", "++"
	}
	hasCall := false
	ast.Inspect(n.X, func(n ast.Node) bool {
		_, is := n.(*ast.CallExpr)
		hasCall = hasCall || is
		return true
	})
	if hasCall || !f.isNumber(n.X) {
		return nil
	}
	number := f.mutant(n, fmt.Sprintf("INCREMENT_DECREMENT %s to %s", n.Tok, to))
	f.open(n, fmt.Sprintf("%s = %s(%d, ", f.source(n.X), call, number))
	return func() {
		f.edits = append(f.edits, edit{at: f.offset(n.TokPos), size: 2, text: ", 1)"})
	}
}

// statements notes those of a list that can be removed.
func (f *file) statements(list []ast.Stmt) {
	for _, s := range list {
		for {
			labeled, ok := s.(*ast.LabeledStmt)
			if !ok {
				break
			}
			s = labeled.Stmt
		}
		if f.isRemovable(s) {
			f.removable[s] = true
		}
	}
}

// remove makes a statement depend on a number.
func (f *file) remove(s ast.Stmt) (end func()) {
	f.open(s, fmt.Sprintf("if !mutantIs(%d) { ", f.mutant(s, "STATEMENT removed")))
	return func() { f.close(s, " }") }
}

func (f *file) isRemovable(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		name := ""
		if ok {
			name = f.source(call.Fun)
		}
		return ok && name != "panic" && !strings.HasPrefix(name, "steps.")
	case *ast.AssignStmt:
		for _, to := range s.Lhs {
			if id, ok := to.(*ast.Ident); !ok || id.Name != "_" {
				return s.Tok != token.DEFINE
			}
		}
		return false
	case *ast.IncDecStmt, *ast.SendStmt, *ast.DeferStmt, *ast.GoStmt:
		return true
	}
	return false
}

func (f *file) isConstant(e ast.Expr) bool { return f.info.Types[e].Value != nil }

func (f *file) typeOf(e ast.Expr) (basic *types.Basic, isParameter bool) {
	t := f.info.TypeOf(e)
	if t == nil {
		return nil, false
	}
	_, isParameter = t.(*types.TypeParam)
	basic, _ = t.Underlying().(*types.Basic)
	return basic, isParameter
}

func (f *file) isNumber(e ast.Expr) bool {
	b, isParameter := f.typeOf(e)
	return b != nil && !isParameter && b.Info()&(types.IsInteger|types.IsFloat) != 0
}

func (f *file) isOrdered(x, y ast.Expr) bool {
	a, isParameter := f.typeOf(x)
	b, isOther := f.typeOf(y)
	return a != nil && b != nil && !isParameter && !isOther && a.Info()&b.Info()&types.IsOrdered != 0
}

// typeArgument returns that of the operands, where it can be written without an import. Otherwise the
// compiler infers it.
func (f *file) typeArgument(n *ast.BinaryExpr) string {
	for _, e := range []ast.Expr{n.X, n.Y} {
		t := f.info.TypeOf(e)
		if b, ok := t.(*types.Basic); ok && b.Info()&types.IsUntyped == 0 {
			return "[" + b.Name() + "]"
		}
	}
	return ""
}
