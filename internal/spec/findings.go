package spec

import (
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-dev/espalier/errors"
)

// findings has what was found, in the groups in which the server reports it
// (customresource_handler.go: schemaCoercingDecoder.Decode). KEP-2885 has unknown and repeated
// fields reported, but in no order. Values that are refused come last: a server that refuses one
// reports nothing else.
type findings struct {
	repeated   group // names that repeat, in the order of the document
	inMetadata group // what is unknown in the metadata of the root, in the order of paths
	pruned     group // what was pruned, by the server's text of the path
	inEmbedded group // what is unknown in the metadata of embedded resources, likewise
	mismatches group // values of a type that is refused, in the order of the document
	noTimes    group // what is no time in metadata, likewise
}

// refused returns the values for which the document is refused. Times are read where all types are
// right.
func (f *findings) refused() group {
	if len(f.mismatches) > 0 {
		return f.mismatches
	}
	return f.noTimes
}

// list returns all findings in order.
func (f *findings) list() errors.List {
	byText := func(a, b finding) int { return strings.Compare(a.text, b.text) }
	// The server marshals the metadata of the root, which sorts names, and reads it again
	// (objectmeta.GetObjectMetaWithOptions).
	slices.SortStableFunc(f.inMetadata, func(a, b finding) int { return a.Path.Compare(b.Path) })
	slices.SortStableFunc(f.pruned, byText)
	slices.SortStableFunc(f.inEmbedded, byText)
	var all errors.List
	groups := slices.Concat(f.repeated, f.inMetadata, f.pruned, f.inEmbedded, f.refused())
	for _, found := range groups {
		all = append(all, found.Finding)
	}
	return all
}

// A group is a list of findings, each with the text by which the server sorts.
type group []finding

type finding struct {
	errors.Finding
	text string
}

func (g *group) add(kind errors.FindingKind, at *place) {
	*g = append(*g, finding{errors.Finding{Kind: kind, Path: at.path()}, at.text()})
}

func (g *group) has(path errors.Path) bool {
	return slices.ContainsFunc(*g, func(f finding) bool { return f.Path == path })
}

// A place is where a value is: a member or an element of what is above it. The root is nil.
type place struct {
	above  *place
	name   string
	index  int
	isName bool
	isKey  bool // in the text, the name is in brackets
}

func (p *place) field(name string) *place { return &place{above: p, name: name, isName: true} }
func (p *place) element(index int) *place { return &place{above: p, index: index} }

// path returns the path that leads to the place.
func (p *place) path() errors.Path {
	switch {
	case p == nil:
		return errors.Path{}
	case p.isName:
		return p.above.path().Child(p.name)
	}
	return p.above.path().Element(p.index)
}

// text returns the server's text of the path: names are joined by dots, as they are
// (schema/options.go: UnknownFieldPathOptions).
//
// On the way to the metadata of an embedded resource the text is that of a field.Path, which has
// keys of maps in brackets, and takes an empty name for a key
// (k8s.io/apimachinery/pkg/util/validation/field/path.go).
func (p *place) text() string {
	switch {
	case p == nil:
		return ""
	case !p.isName:
		return p.above.text() + "[" + strconv.Itoa(p.index) + "]"
	case p.isKey:
		return p.above.text() + "[" + p.name + "]"
	case p.above == nil:
		return p.name
	}
	return p.above.text() + "." + p.name
}
