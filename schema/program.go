package schema

import (
	"slices"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/program"
)

// A Program is a compiled schema, which package decoder runs. It is immutable
// and safe for use by any number of goroutines.
type Program struct {
	table program.Program
}

func init() {
	program.Of = func(p any) *program.Program { return &p.(*Program).table }
}

// String returns the program as a listing. For each node it has the types that
// its values may have. For each name (* for undeclared names, [] for elements)
// it has the node that the name leads to and what happens to a null.
func (p *Program) String() string { return p.table.String() }

// FieldNames returns the sorted names of the fields that are declared for the
// object at path. It returns nil if there are none, or if path leads out of
// what the schema specifies.
func (p *Program) FieldNames(path errors.Path) []string {
	n := p.table.Root
	for s := range path.Segments() {
		switch {
		case s.Gap > 0:
			return nil
		case !s.IsName:
			n = n.Elements.Node
		default:
			if f := n.Find([]byte(s.Name)); f != nil {
				n = f.Node
			} else if n.Unknown != nil {
				n = n.Unknown.Node
			} else {
				return nil
			}
		}
	}
	var names []string
	for i := range n.Fields {
		if !n.Fields[i].Implicit && n.Fields[i].Node.Hard() != 0 {
			names = append(names, n.Fields[i].Name())
		}
	}
	slices.Sort(names)
	return names
}
