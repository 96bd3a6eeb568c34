package spec

import (
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-dev/espalier/errors"
)

// findings has what was found, in the groups in which the server reports
// (schemaCoercingDecoder.Decode): names that repeat, what is unknown in the metadata of the root,
// what was pruned, and what is unknown in the metadata of embedded resources. Values that are
// refused come last.
type findings struct {
	repeated   []finding // in the order of the document
	inMetadata []finding // in the order of a walk that takes names in order
	pruned     []finding // by the text of their paths
	inEmbedded []finding // likewise
	mismatches []finding // in the order of the document
}

// A finding is a kind and a place.
type finding struct {
	kind errors.FindingKind
	place
}

func (f *findings) unknown(at place) {
	f.pruned = append(f.pruned, finding{errors.UnknownField, at})
}

func (f *findings) unknownInMetadata(at place, isRoot bool) {
	if isRoot {
		f.inMetadata = append(f.inMetadata, finding{errors.UnknownField, at})
	} else {
		f.inEmbedded = append(f.inEmbedded, finding{errors.UnknownField, at})
	}
}

func (f *findings) mismatch(at place) {
	f.mismatches = append(f.mismatches, finding{errors.TypeMismatch, at})
}

// duplicates finds the names that repeat in an object, in all of the document, where the second of
// them is. A path is reported once, however often a name repeats (sigs.k8s.io/json:
// saveStrictError).
func (f *findings) duplicates(v Value, at place) {
	switch v := v.(type) {
	case Object:
		seen := make(map[string]bool)
		for _, m := range v {
			here := at.field(m.Name)
			isSame := func(other finding) bool { return other.path == here.path }
			if seen[m.Name] && !slices.ContainsFunc(f.repeated, isSame) {
				f.repeated = append(f.repeated, finding{errors.DuplicateField, here})
			}
			seen[m.Name] = true
			f.duplicates(m.Value, here)
		}
	case Array:
		for i, e := range v {
			f.duplicates(e, at.element(i))
		}
	}
}

// list returns all findings in order.
func (f *findings) list() errors.List {
	byText := func(a, b finding) int { return strings.Compare(a.text, b.text) }
	// The metadata of the root is marshalled, which sorts names, and read again.
	slices.SortStableFunc(f.inMetadata, func(a, b finding) int { return a.path.Compare(b.path) })
	slices.SortStableFunc(f.pruned, byText)
	slices.SortStableFunc(f.inEmbedded, byText)
	inOrder := slices.Concat(f.repeated, f.inMetadata, f.pruned, f.inEmbedded, f.mismatches)
	var all errors.List
	for _, found := range inOrder {
		all = append(all, errors.Finding{Kind: found.kind, Path: found.path})
	}
	return all
}

// A place is where a value is, as a path and as the text by which the server sorts. The zero place
// is the root.
type place struct {
	path errors.Path
	text string
}

func (p place) isRoot() bool { return p.path.IsRoot() }

// field returns the place of a member: names are joined by dots, as they are
// (schema/options.go: UnknownFieldPathOptions).
func (p place) field(name string) place {
	if p.isRoot() {
		return place{p.path.Child(name), name}
	}
	return place{p.path.Child(name), p.text + "." + name}
}

// element returns the place of an element.
func (p place) element(i int) place {
	return place{p.path.Element(i), p.text + "[" + strconv.Itoa(i) + "]"}
}

// key returns the place of a value of a map. On the way to the metadata of an embedded resource
// the server's text of a path is that of a field.Path, which has keys of maps in brackets
// (k8s.io/apimachinery/pkg/util/validation/field/path.go).
func (p place) key(name string) place {
	return place{p.path.Child(name), p.text + "[" + name + "]"}
}

// declared returns the place of a property, in the same text: an empty name is taken for a key.
func (p place) declared(name string) place {
	if name == "" {
		return p.key(name)
	}
	return p.field(name)
}
