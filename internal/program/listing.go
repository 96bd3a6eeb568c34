package program

import (
	"fmt"
	"strings"
)

// String returns the program as a listing that a person can read and a test
// can compare: each node with its types, fields and actions.
func (p *Program) String() string {
	var b strings.Builder
	for _, n := range p.Nodes {
		fmt.Fprintf(&b, "%d: %s", n.ID, n.Types)
		if n == p.Root {
			b.WriteString(", root")
		}
		switch n.Group {
		case RootMetadata:
			b.WriteString(", root metadata")
		case EmbeddedMetadata:
			b.WriteString(", embedded metadata")
		}
		b.WriteByte('\n')
		for i := range n.Fields {
			fmt.Fprintf(&b, "\t%s %s\n", n.Fields[i].Name, n.Fields[i].Edge)
		}
		if n.Unknown == nil {
			b.WriteString("\t* prune\n")
		} else {
			fmt.Fprintf(&b, "\t* %s\n", *n.Unknown)
		}
		fmt.Fprintf(&b, "\t[] %s\n", n.Elements)
	}
	return b.String()
}

// String returns where the edge leads and what it does to a null.
func (e Edge) String() string {
	s := fmt.Sprintf("-> %d", e.Node.ID)
	switch e.Null {
	case DropNull:
		s += ", null is dropped"
	case DefaultNull:
		s += ", null is defaulted"
	}
	if e.Default != nil {
		s += ", default " + string(e.Default)
	}
	return s
}

var typeNames = []struct {
	types Types
	name  string
}{
	{Object, "object"}, {Array, "array"}, {String, "string"},
	{Integer | Number, "number"}, {Integer, "integer"}, {Boolean, "boolean"}, {Null, "null"},
}

// String returns the types in the words of JSON Schema: "integer or string".
// Null is named only where it is alone, as every schema type lets it pass on to
// the rules for nulls.
func (t Types) String() string {
	if t == Any {
		return "any"
	}
	if t == Null {
		return "null"
	}
	var names []string
	for _, n := range typeNames {
		if n.types != Null && t&n.types == n.types {
			names = append(names, n.name)
			t &^= n.types
		}
	}
	if len(names) == 2 && names[0] == "string" {
		names[0], names[1] = names[1], names[0]
	}
	return strings.Join(names, " or ")
}
