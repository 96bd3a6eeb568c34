// Package schemapath has the paths to parts of a schema, spelled as in the field errors of the API
// server: openAPIV3Schema.properties[spec].items.
package schemapath

import (
	"slices"
	"strconv"
	"strings"
)

// A Path is like a field.Path of the API server: a name, or a key in brackets, below another path.
// It is a list that starts at the leaf, so a step below copies nothing, and a path is spelled only
// if something is reported there. A nil Path is no path. A Path is immutable.
type Path struct {
	up   *Path
	name string
	key  string // if name is empty
}

// Root returns a path of one name, which may itself be spelled as a path.
func Root(name string) *Path { return &Path{name: name} }

// Child returns the path to a name below p.
func (p *Path) Child(name string) *Path { return &Path{up: p, name: name} }

// Key returns the path to a key below p.
func (p *Path) Key(key string) *Path { return &Path{up: p, key: key} }

// Index returns the path to an element below p.
func (p *Path) Index(i int) *Path { return p.Key(strconv.Itoa(i)) }

// Property returns the path to the schema of a property in the schema that p leads to.
func (p *Path) Property(name string) *Path { return p.Child("properties").Key(name) }

// Name returns the name that p ends with, or "" where it ends with a key.
func (p *Path) Name() string { return p.name }

// String spells the path, in time linear in its length.
func (p *Path) String() string {
	var steps []*Path
	for ; p != nil; p = p.up {
		steps = append(steps, p)
	}
	var b strings.Builder
	for _, p := range slices.Backward(steps) {
		switch {
		case p.name == "":
			b.WriteString("[" + p.key + "]")
		case p.up == nil:
			b.WriteString(p.name)
		default:
			b.WriteString("." + p.name)
		}
	}
	return b.String()
}
