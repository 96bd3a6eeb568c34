// Package fieldpath encodes paths and spells them. Its functions are pure, and it imports no other
// package of the module. errors.Path wraps an encoded path.
//
// An encoded path is a sequence of segments. Each is a tag and a uvarint: the length of the name
// that follows, an index, or the number of segments that were left out. Equal paths are encoded to
// equal bytes, and the encoding of a path starts with that of each path above it.
package fieldpath

import (
	"cmp"
	"encoding/binary"
	"iter"
	"strings"
	"unicode/utf8"
)

// The tags of encoded segments.
const (
	tagName  = 'n'
	tagIndex = 'i'
	tagElide = '~'
)

// An Encoded is a path for errors.PathOf. Other modules can make none but the root, not even by a
// literal or a constant, as its field is not exported.
type Encoded struct{ text string }

// Of returns an encoded path that this package's functions have made. In any other text, bytes that
// are no segment count as a name.
func Of(encoded string) Encoded { return Encoded{encoded} }

// String returns the encoded path, not its text.
func (e Encoded) String() string { return e.text }

// A Spelling is a text that messages have in place of a path, for errors.Spell. As with [Encoded],
// other modules cannot make one.
type Spelling struct{ text string }

// Spelled returns the spelling for a text that follows other segments: it starts with a dot if it
// starts with a name.
func Spelled(text string) Spelling { return Spelling{text} }

// String returns the text.
func (s Spelling) String() string { return s.text }

// A Segment is one element of a path: see errors.Segment, which has the same fields.
type Segment struct {
	Name   string // the name, if IsName
	Index  int    // the index from 0, if neither a name nor a gap
	IsName bool   // a member of an object
	Gap    int    // the number of segments that were left out here; 0 for a segment
}

// Segments ranges over the segments of an encoded path, from the root.
func Segments(encoded string) iter.Seq[Segment] {
	return func(yield func(Segment) bool) {
		for rest := encoded; rest != ""; {
			var s Segment
			if s, rest = Cut(rest); !yield(s) {
				return
			}
		}
	}
}

// Cut removes the first segment from an encoded path that is not empty.
func Cut(encoded string) (s Segment, rest string) {
	v, n := uvarint(encoded[1:])
	rest = encoded[1+n:]
	switch tag := encoded[0]; {
	case n == 0: // Of was given a text that is no path: the rest is a name
	case tag == tagName && uint(v) <= uint(len(rest)):
		return Segment{Name: rest[:v], IsName: true}, rest[v:]
	case tag == tagIndex:
		return Segment{Index: v}, rest
	case tag == tagElide:
		return Segment{Gap: v}, rest
	}
	return Segment{Name: encoded, IsName: true}, ""
}

// Compare orders encoded paths segment by segment: names by their bytes, indices by their value, an
// index before a name, a path before those below it.
func Compare(x, y string) int {
	for x != "" && y != "" {
		var a, b Segment
		a, x = Cut(x)
		b, y = Cut(y)
		switch {
		case a.IsName != b.IsName:
			if a.IsName {
				return +1
			}
			return -1
		case a.Name != b.Name:
			return strings.Compare(a.Name, b.Name)
		case a.Index != b.Index:
			return cmp.Compare(a.Index, b.Index)
		case a.Gap != b.Gap:
			return cmp.Compare(a.Gap, b.Gap)
		}
	}
	return cmp.Compare(len(x), len(y))
}

// AppendName appends the encoded form of the member called name. The middle of a name that is too
// long is left out.
func AppendName[S string | []byte](b []byte, name S) []byte {
	head, tail := shorten(name)
	if head == tail {
		b = appendTagged(b, tagName, len(name))
		return append(b, name...)
	}
	b = appendTagged(b, tagName, head+len("...")+len(name)-tail)
	b = append(b, name[:head]...)
	b = append(b, "..."...)
	return append(b, name[tail:]...)
}

// AppendIndex appends the encoded form of the element at index.
func AppendIndex(b []byte, index int) []byte { return appendTagged(b, tagIndex, index) }

// maxNameBytes bounds one name within a path. The middle of a longer one is left out.
const maxNameBytes = 256

// shorten returns where the middle of a name starts and ends that is left out: the same index twice
// if the name is short enough. Names that must be escaped are shortened more, so that no escaped
// leaf of a path is longer than half of [MaxBytes].
func shorten[S string | []byte](name S) (head, tail int) {
	most := maxNameBytes
	if len(name) > maxNameBytes/4 && !isPlain(name) {
		most = maxNameBytes / 4
	}
	if len(name) <= most {
		return 0, 0
	}
	half := (most - len("...")) / 2
	head, tail = half, len(name)-half
	for head > half-utf8.UTFMax && !utf8.RuneStart(name[head]) {
		head--
	}
	for tail < len(name)-half+utf8.UTFMax && !utf8.RuneStart(name[tail]) {
		tail++
	}
	return head, tail
}

func appendTagged(b []byte, tag byte, v int) []byte {
	return binary.AppendUvarint(append(b, tag), uint64(v))
}

// uvarint is binary.Uvarint for strings. n is 0 if there is no number.
func uvarint(s string) (v, n int) {
	for ; n < len(s) && n < binary.MaxVarintLen64; n++ {
		c := s[n]
		v |= int(c&0x7f) << (7 * n)
		if c < 0x80 {
			return v, n + 1
		}
	}
	return 0, 0
}
