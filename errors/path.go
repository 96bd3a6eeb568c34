package errors

import (
	"iter"
	"strings"

	"github.com/espalier-dev/espalier/internal/fieldpath"
)

// MaxPathBytes bounds the text of one [Path] that a document leads to: 1 KiB. What is beyond it is left out of
// the middle. What [Path.Child] and [Path.Element] add to a path is not bounded by it.
const MaxPathBytes = 1024

// A Path leads from the root of a document to a member or element of it. It is
// immutable and comparable with ==. The zero Path is the root itself.
//
// A path whose text would have more than [MaxPathBytes] has its middle elided; it
// then holds a segment that says how many were left out.
type Path struct {
	enc string // see package fieldpath
}

// PathOf returns a path that a package of this module has encoded: no other can make the argument.
// Start with the zero Path and [Path.Child] instead.
func PathOf(encoded fieldpath.Encoded) Path { return Path{encoded.String()} }

// A Segment is one step of a [Path]: the name of a member, the index of an
// element, or a gap where the path was too long to be kept whole.
type Segment struct {
	Name   string // the name, where IsName
	Index  int    // the index from 0, where neither IsName nor a gap
	IsName bool   // a member of an object
	Gap    int    // how many segments were left out here; 0 where this is one
}

// Child returns the path of the member called name of the object at p. A name of more than 256 bytes is cut in its middle.
func (p Path) Child(name string) Path {
	return Path{string(fieldpath.AppendName([]byte(p.enc), name))}
}

// Element returns the path of the element at index of the array at p.
func (p Path) Element(index int) Path {
	return Path{string(fieldpath.AppendIndex([]byte(p.enc), index))}
}

// IsRoot reports whether p is the root of the document.
func (p Path) IsRoot() bool { return p.enc == "" }

// IsWithin reports whether p is below q: q is not p, but leads to it.
func (p Path) IsWithin(q Path) bool {
	return len(p.enc) > len(q.enc) && strings.HasPrefix(p.enc, q.enc)
}

// Segments ranges over the steps of the path, from the root.
func (p Path) Segments() iter.Seq[Segment] {
	return func(yield func(Segment) bool) {
		for s := range fieldpath.Segments(p.enc) {
			if !yield(Segment(s)) {
				return
			}
		}
	}
}

// Compare orders paths segment by segment: names by their bytes, indices by
// their value, an index before a name, a path before what lies below it.
func (p Path) Compare(q Path) int { return fieldpath.Compare(p.enc, q.enc) }

// String returns the path as the API server spells it in its messages:
// names joined by dots as they stand, indices in brackets, such as
// spec.containers[0].image or metadata.annotations.example.com/owner.
//
// The server's spelling is ambiguous and open to forgery, so names that are
// empty, or hold quotes, backslashes or characters that are not graphic
// (control, bidirectional, invalid UTF-8), are written quoted and escaped in
// brackets: a[""], a["x\r\ny"]. Two different paths may still share a spelling
// where names hold dots; [Path.Pointer] never does.
func (p Path) String() string {
	if p.enc == "" {
		return ""
	}
	return string(fieldpath.AppendText(make([]byte, 0, len(p.enc)+8), p.enc))
}

// AppendText appends what [Path.String] returns. It never fails.
func (p Path) AppendText(b []byte) ([]byte, error) { return fieldpath.AppendText(b, p.enc), nil }

// Pointer returns the path as a JSON Pointer (RFC 6901), such as
// /spec/containers/0/image. Different paths have different pointers, except
// where an object has a name that is a number in the place of an array's index.
func (p Path) Pointer() string {
	return string(fieldpath.AppendPointer(make([]byte, 0, len(p.enc)+8), p.enc))
}
