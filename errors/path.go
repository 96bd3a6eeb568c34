package errors

import (
	"iter"
	"strings"

	"github.com/espalier-dev/espalier/internal/fieldpath"
)

// MaxPathBytes bounds the text of one [Path] of a decoded document: 1 KiB. A
// longer path has a gap in its middle. It does not bound what [Path.Child] and
// [Path.Element] add to a path.
const MaxPathBytes = 1024

// A Path leads from the root of a document to a member or element of it. It is
// immutable and comparable with ==. The zero Path is the root itself.
//
// A path whose text would be longer than [MaxPathBytes] has its middle elided:
// it then holds a segment that says how many segments were left out.
type Path struct {
	enc string // see package fieldpath
}

// PathOf returns a path that a package of this module has encoded. No other
// package can make the argument: start with the zero Path and [Path.Child]
// instead.
func PathOf(encoded fieldpath.Encoded) Path { return Path{encoded.String()} }

// A Segment is one part of a [Path]: the name of a member, the index of an
// element, or a gap in a path that was too long to be kept whole.
type Segment struct {
	// Name is the name of a member, if IsName is set.
	Name string
	// Index is the index of an element, from 0, if IsName is not set and
	// Gap is 0.
	Index int
	// IsName is set if the segment is a member of an object.
	IsName bool
	// Gap is how many segments were left out here, or 0 if the segment is
	// not a gap.
	Gap int
}

// Child returns the path of the member called name of the object at p. A name
// of more than 256 bytes is shortened in its middle.
func (p Path) Child(name string) Path {
	return Path{string(fieldpath.AppendName([]byte(p.enc), name))}
}

// Element returns the path of the element at index of the array at p. Indices
// start at 0.
func (p Path) Element(index int) Path {
	return Path{string(fieldpath.AppendIndex([]byte(p.enc), index))}
}

// IsRoot reports whether p is the root of the document.
func (p Path) IsRoot() bool { return p.enc == "" }

// IsWithin reports whether p is below q: q leads to p and is not p itself.
func (p Path) IsWithin(q Path) bool {
	return len(p.enc) > len(q.enc) && strings.HasPrefix(p.enc, q.enc)
}

// Segments returns an iterator over the segments of the path, from the root.
func (p Path) Segments() iter.Seq[Segment] {
	return func(yield func(Segment) bool) {
		for s := range fieldpath.Segments(p.enc) {
			if !yield(Segment(s)) {
				return
			}
		}
	}
}

// Compare orders paths segment by segment, and returns a negative number, 0 or
// a positive number as p is before, equal to or after q. Names are ordered by
// their bytes, indices by their value, an index before a name, and a path
// before the paths below it.
func (p Path) Compare(q Path) int { return fieldpath.Compare(p.enc, q.enc) }

// String returns the path as the API server spells it in its messages: names
// joined by dots as they are, indices in brackets, such as
// spec.containers[0].image or metadata.annotations.example.com/owner.
//
// The server's spelling is ambiguous and can be forged. Names are therefore
// written quoted, escaped and in brackets if they are empty or contain quotes,
// backslashes or characters that are not graphic (control, bidirectional,
// invalid UTF-8): a[""], a["x\r\ny"]. Two different paths may still have the
// same text if names contain dots. [Path.Pointer] does not have this ambiguity.
func (p Path) String() string {
	if p.enc == "" {
		return ""
	}
	return string(fieldpath.AppendText(make([]byte, 0, len(p.enc)+8), p.enc))
}

// AppendText appends the text of [Path.String] to b. It never fails.
func (p Path) AppendText(b []byte) ([]byte, error) { return fieldpath.AppendText(b, p.enc), nil }

// Pointer returns the path as a JSON Pointer (RFC 6901), such as
// /spec/containers/0/image. Different paths have different pointers, except
// that a name that is a number has the pointer of an array index.
func (p Path) Pointer() string {
	return string(fieldpath.AppendPointer(make([]byte, 0, len(p.enc)+8), p.enc))
}
