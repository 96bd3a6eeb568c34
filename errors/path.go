package errors

import (
	"cmp"
	"encoding/binary"
	"iter"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxPathBytes bounds the names and indices of one [Path] that [AppendPath]
// builds. What is beyond it is left out of the middle.
const MaxPathBytes = 1024

// maxNameBytes bounds one name within a path; a longer one is cut in its middle.
const maxNameBytes = 256

// A Path leads from the root of a document to a member or element of it. It is
// immutable and comparable with ==. The zero Path is the root itself.
//
// A path that would hold more than [MaxPathBytes] has its middle elided; it
// then holds a segment that says how many were left out.
type Path struct {
	// enc is a sequence of segments: a tag and a uvarint, which is the length of
	// the name that follows, the index, or the number of elided segments.
	enc string
}

// The tags of encoded segments.
const (
	tagName  = 'n'
	tagIndex = 'i'
	tagElide = '~'
)

// A Segment is one step of a [Path]: the name of a member, the index of an
// element, or a gap where the path was too long to be kept whole.
type Segment struct {
	Name   string // the name, where IsName
	Index  int    // the index from 0, where not IsName; or the length of the gap, where Elided
	IsName bool   // a member of an object
	Elided bool   // Index segments were left out here
}

// Child returns the path of the member called name of the object at p.
func (p Path) Child(name string) Path {
	return Path{string(appendName([]byte(p.enc), name))}
}

// Element returns the path of the element at index of the array at p.
func (p Path) Element(index int) Path {
	return Path{string(appendTagged([]byte(p.enc), tagIndex, index))}
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
		for rest := p.enc; rest != ""; {
			var s Segment
			if s, rest = next(rest); !yield(s) {
				return
			}
		}
	}
}

// next takes the first segment off an encoded path that has one.
func next(enc string) (s Segment, rest string) {
	v, n := uvarint(enc[1:])
	rest = enc[1+n:]
	switch tag := enc[0]; {
	case n == 0: // what PathOf was given was no path: it is taken for a name
	case tag == tagName && uint(v) <= uint(len(rest)):
		return Segment{Name: rest[:v], IsName: true}, rest[v:]
	case tag == tagIndex || tag == tagElide:
		return Segment{Index: v, Elided: tag == tagElide}, rest
	}
	return Segment{Name: enc, IsName: true}, ""
}

// Compare orders paths segment by segment: names by their bytes, indices by
// their value, an index before a name, a path before what lies below it.
func (p Path) Compare(q Path) int {
	x, y := p.enc, q.enc
	for x != "" && y != "" {
		var a, b Segment
		a, x = next(x)
		b, y = next(y)
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
		}
	}
	return cmp.Compare(len(x), len(y))
}

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
	b, _ := p.AppendText(make([]byte, 0, len(p.enc)+8))
	return string(b)
}

// AppendText appends what [Path.String] returns. It never fails.
func (p Path) AppendText(b []byte) ([]byte, error) {
	for rest := p.enc; rest != ""; {
		var s Segment
		first := len(rest) == len(p.enc)
		s, rest = next(rest)
		b = s.AppendText(b, first, false)
	}
	return b, nil
}

// AppendText appends the step as [Path.String] spells it. first says that it is
// the first of its path, asKey that a name is spelled like an index, m[k]: in some
// of its messages the API server writes the keys of maps so.
func (s Segment) AppendText(b []byte, first, asKey bool) []byte {
	switch {
	case s.Elided:
		b = append(b, "[... "...)
		b = strconv.AppendInt(b, int64(s.Index), 10)
		return append(b, " more ...]"...)
	case !s.IsName:
		b = append(b, '[')
		b = strconv.AppendInt(b, int64(s.Index), 10)
		return append(b, ']')
	case !isPlain(s.Name):
		b = append(b, '[')
		b = AppendQuoted(b, s.Name)
		return append(b, ']')
	case asKey:
		b = append(b, '[')
		b = append(b, s.Name...)
		return append(b, ']')
	case !first:
		b = append(b, '.')
	}
	return append(b, s.Name...)
}

// Pointer returns the path as a JSON Pointer (RFC 6901), such as
// /spec/containers/0/image. Different paths have different pointers, except
// where an object has a name that is a number in the place of an array's index.
func (p Path) Pointer() string {
	b := make([]byte, 0, len(p.enc)+8)
	for s := range p.Segments() {
		b = append(b, '/')
		switch {
		case s.Elided:
			b = append(b, "..."...)
		case !s.IsName:
			b = strconv.AppendInt(b, int64(s.Index), 10)
		default:
			for i := range len(s.Name) {
				switch c := s.Name[i]; c {
				case '~':
					b = append(b, "~0"...)
				case '/':
					b = append(b, "~1"...)
				default:
					b = append(b, c)
				}
			}
		}
	}
	return string(b)
}

// MakePath returns a path of depth segments. segment returns the i-th one: a
// name, or an index where name is nil. Where they are more than fit into
// [MaxPathBytes], it is called for no more than these.
func MakePath(depth int, segment func(i int) (name []byte, index int)) Path {
	encoded, _ := AppendPath(nil, depth, segment)
	return Path{string(encoded)}
}

// AppendPath is [MakePath] for many paths: it appends the encoded form of
// one to dst, for [PathOf] to take, and returns a bound for the length of its
// text besides.
func AppendPath(dst []byte, depth int, segment func(i int) (name []byte, index int)) (encoded []byte, text int) {
	start := len(dst)
	for i := range depth {
		var more int
		name, index := segment(i)
		dst, more = AppendSegment(dst, name, index)
		if text += more; text > WholePathBytes {
			return appendElided(dst[:start], depth, segment)
		}
	}
	return dst, text
}

// gap is how long the text of an elided segment is at most.
const gap = len("[... 10000 more ...]")

// WholePathBytes is the largest bound for the text of a path whose middle is not
// elided.
const WholePathBytes = MaxPathBytes - gap

// AppendSegment appends the encoded form of one segment, as segment(i) of [AppendPath], and
// returns a bound for the length of its text. The segments of a path one after the other are
// what AppendPath appends, if the sum of their bounds is at most [WholePathBytes].
func AppendSegment(dst, name []byte, index int) (encoded []byte, text int) {
	if name == nil {
		return appendTagged(dst, tagIndex, index), textLen(name, index)
	}
	return appendName(dst, name), textLen(name, index)
}

// textLen is a bound for the length of a segment's text.
func textLen(name []byte, index int) int {
	if name == nil {
		return len("[]") + digits(index)
	}
	kept := len(name)
	if head, tail := shorten(name); head < tail {
		kept += head + len("...") - tail
	}
	if isPlain(name) {
		return len(".") + kept
	}
	return len(`[""]`) + 6*kept
}

// appendElided is AppendPath for a path that is too long to be kept whole.
func appendElided(dst []byte, depth int, segment func(i int) (name []byte, index int)) (encoded []byte, text int) {
	cost := func(i int) int { return textLen(segment(i)) }
	// The leaf says the most: half of the room is for the end of the path, and
	// what the end does not need is for its start.
	room := WholePathBytes
	half := room / 2
	tail := depth
	for tail > 0 {
		c := cost(tail - 1)
		if c > room-half {
			break
		}
		room -= c
		tail--
	}
	head := 0
	for head < tail {
		c := cost(head)
		if c > room {
			break
		}
		room -= c
		head++
	}
	for i := range depth {
		if i == head && i < tail {
			dst = appendTagged(dst, tagElide, tail-head)
		}
		if i >= head && i < tail {
			continue
		}
		name, index := segment(i)
		dst, _ = AppendSegment(dst, name, index)
	}
	return dst, MaxPathBytes - room
}

func digits(n int) int {
	d := 1
	for n >= 10 {
		n /= 10
		d++
	}
	return d
}

// PathOf returns the path that [AppendPath] has encoded. Of anything else, what is no segment is a name.
func PathOf(encoded string) Path { return Path{encoded} }

func appendName[S string | []byte](b []byte, name S) []byte {
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

// shorten returns between which indices a name is cut, the same two if it need
// not be. Names that must be escaped are cut to less, so that no escaped leaf of
// a path is longer than half of [MaxPathBytes].
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

// isPlain reports whether a name can stand in a message as it is.
func isPlain[S string | []byte](name S) bool {
	for i := 0; i < len(name); {
		if c := name[i]; c < utf8.RuneSelf {
			if c < ' ' || c > '~' || c == '"' || c == '\\' {
				return false
			}
			i++
			continue
		}
		// Of a slice, no more than a character is copied.
		r, n := utf8.DecodeRuneInString(string(name[i:min(i+utf8.UTFMax, len(name))]))
		if r == utf8.RuneError && n == 1 || !isGraphic(r) {
			return false
		}
		i += n
	}
	return len(name) > 0
}

// isGraphic reports whether r is seen as itself: neither a control nor a
// formatting character (which includes the bidirectional ones), and no space
// but the common one.
func isGraphic(r rune) bool {
	return r == ' ' || unicode.IsGraphic(r) && !unicode.IsSpace(r) && !unicode.Is(unicode.Cf, r)
}

// AppendQuoted appends s in double quotes with everything escaped, as in Go
// source, that is a quote, a backslash, not graphic, or not UTF-8. What comes
// from a document goes into messages through it.
func AppendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == utf8.RuneError && n == 1:
			const hex = "0123456789abcdef"
			b = append(b, '\\', 'x', hex[s[i]>>4], hex[s[i]&0xf])
		case isGraphic(r):
			b = append(b, s[i:i+n]...)
		default:
			q := strconv.QuoteRuneToASCII(r)
			b = append(b, q[1:len(q)-1]...)
		}
		i += n
	}
	return append(b, '"')
}
