package program

import (
	"fmt"
	"strconv"
	"strings"
)

// String returns the program as a listing that a person can read and a test can compare: each node
// that can be reached, with its types, fields and actions. Nodes are numbered in the order in which
// they are reached from the root.
func (p *Program) String() string {
	l := lister{numbers: make(map[*Node]int)}
	l.number(p.Root)
	for i := 0; i < len(l.nodes); i++ {
		l.node(l.nodes[i])
	}
	return l.text.String()
}

type lister struct {
	text    strings.Builder
	numbers map[*Node]int
	nodes   []*Node
}

func (l *lister) number(n *Node) int {
	i, ok := l.numbers[n]
	if !ok {
		i = len(l.nodes)
		l.numbers[n] = i
		l.nodes = append(l.nodes, n)
	}
	return i
}

func (l *lister) node(n *Node) {
	fmt.Fprintf(&l.text, "%d: %s", l.number(n), n.Hard())
	switch n.Group {
	case RootMetadata:
		l.text.WriteString(", root metadata")
	case EmbeddedMetadata:
		l.text.WriteString(", embedded metadata")
	}
	l.text.WriteByte('\n')
	for i := range n.Fields {
		l.edge(spelled(n.Fields[i].Name()), &n.Fields[i].Edge)
	}
	switch {
	case n.Unknown != nil:
		l.edge("*", n.Unknown)
	case n.DropsNulls:
		l.text.WriteString("\t* prune, null is dropped\n")
	default:
		l.text.WriteString("\t* prune\n")
	}
	l.edge("[]", &n.Elements)
}

// spelled returns a name as it is if that is clear in a listing, and quoted otherwise: a name with
// a line break must not look like another line.
func spelled(name string) string {
	if quoted := strconv.Quote(name); len(quoted) != len(name)+2 || name == "" {
		return quoted
	}
	return name
}

func (l *lister) edge(name string, e *Edge) {
	fmt.Fprintf(&l.text, "\t%s -> %d", name, l.number(e.Node))
	switch e.Null {
	case DropNull:
		l.text.WriteString(", null is dropped")
	case DefaultNull:
		l.text.WriteString(", null is defaulted")
	}
	if e.Default != "" {
		l.text.WriteString(", default " + e.Default)
	}
	l.text.WriteByte('\n')
}

var typeNames = []struct {
	types Types
	name  string
}{
	{Object, "object"}, {Array, "array"}, {String, "string"},
	{Integer | Number, "number"}, {Number, "number"}, {Integer, "integer"}, {Boolean, "boolean"}, {Null, "null"},
}

// String returns the types in the words of JSON Schema: "integer or string". Null is named only if
// it is alone, as every schema type passes it on to the rules for nulls.
func (t Types) String() string {
	if t == Any {
		return "any"
	}
	if t == 0 {
		return "unknown"
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
