package schema

import (
	"slices"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/program"
)

// A Program is a compiled schema: what package decoder runs. It is immutable
// and safe for use by any number of goroutines.
type Program struct {
	table program.Program
}

func init() {
	program.Of = func(p any) *program.Program { return &p.(*Program).table }
}

// String returns the program as a listing: for each node, the types that its
// values may have, and for each name (* for those not declared, [] for
// elements) the node it leads to and what happens to a null.
func (p *Program) String() string { return p.table.String() }

// FieldNames returns the names of the fields that are declared for the object
// at path, sorted; nil where none are, or where the path leads out of what the
// schema specifies.
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
		if n.Fields[i].Node.Types != 0 {
			names = append(names, n.Fields[i].Name())
		}
	}
	slices.Sort(names)
	return names
}
