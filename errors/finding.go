package errors

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-dev/espalier/internal/fieldpath"
)

// A FindingKind says what a [Finding] is about.
type FindingKind uint8

const (
	// UnknownField is a member that the schema does not know. It was
	// pruned.
	UnknownField FindingKind = iota + 1
	// DuplicateField is a name that occurs more than once in one object.
	// The last value won.
	DuplicateField
	// TypeMismatch is a value of another JSON type than the schema demands.
	TypeMismatch
	// DroppedNull is a null that was removed because its field is not
	// nullable and has no default.
	DroppedNull
	// InvalidValue is a value that the API server refuses in validation, or
	// one that it misses.
	InvalidValue
)

// String returns the kind in words, such as "unknown field".
func (k FindingKind) String() string {
	switch k {
	case UnknownField:
		return "unknown field"
	case DuplicateField:
		return "duplicate field"
	case TypeMismatch:
		return "type mismatch"
	case DroppedNull:
		return "dropped null"
	case InvalidValue:
		return "invalid value"
	}
	return "finding(" + strconv.Itoa(int(k)) + ")"
}

// A Finding is reported and does not stop decoding.
//
// A *Finding is an error whose text is that of the API server.
type Finding struct {
	Kind FindingKind
	// Path leads to the member or element.
	Path Path
	// Position is where the name of the member starts or, if the finding is
	// about a value, where the value starts. For a duplicate it is the
	// first repetition.
	Position Position
	// First is, for a duplicate, where the name occurs for the first time.
	First Position
	// Count is, for a duplicate, how often the name is repeated: one less
	// than the number of its occurrences.
	Count int
	// Want and Got are, for a type mismatch, the types that the schema
	// allows and the type that was found, in the words of JSON Schema:
	// "integer", "integer or string".
	Want, Got string
	// Invalid is, for an invalid value, what the server says of it. It
	// must not be changed. Position is then where the value starts or, if
	// the document does not have it, where the object around it starts.
	Invalid *ValueError

	// spelling replaces the text of Path in messages, unless it is empty. It has the form in which
	// it follows other segments: a name comes with its dot.
	spelling string
}

// Error returns the API server's text: unknown field "spec.a".
func (f *Finding) Error() string {
	path := f.FieldPath()
	switch f.Kind {
	case TypeMismatch:
		subject := `field "` + path + `"`
		if path == "" {
			subject = "the document"
		}
		return subject + " must be " + article(f.Want) + ", not " + article(f.Got)
	case DroppedNull:
		return `dropped null field "` + path + `"`
	case InvalidValue:
		return f.Invalid.Error()
	}
	return f.Kind.String() + ` "` + path + `"`
}

// Detail returns the text with the positions: 4:3: duplicate field "spec.a",
// first at 3:3.
func (f *Finding) Detail() string {
	s := f.Position.String() + ": " + f.Error()
	if f.Kind == DuplicateField {
		s += ", first at " + f.First.String()
		if f.Count > 1 {
			s += ", repeated " + strconv.Itoa(f.Count) + " times"
		}
	}
	return s
}

// FieldPath returns the path in the API server's spelling. That is the text of
// Path, except in findings in embedded resources of decoders that replace the
// server's: these may have the keys of maps in brackets.
func (f *Finding) FieldPath() string {
	if f.spelling != "" {
		return strings.TrimPrefix(f.spelling, ".")
	}
	return f.Path.String()
}

// WithPrefix returns a copy of the finding for callers who have decoded a part
// of a larger document. prefix leads to that part: the Path and the messages of
// the copy start with it. Positions stay as they are. The finding itself is not
// changed.
//
// [MaxPathBytes] does not bound prefixes.
func (f Finding) WithPrefix(prefix Path) Finding {
	if f.spelling != "" {
		f.spelling = string(fieldpath.AppendBelow(nil, prefix.enc)) + f.spelling
	}
	f.Path.enc = prefix.enc + f.Path.enc
	if f.Invalid != nil {
		f.Invalid = f.Invalid.within(prefix)
	}
	return f
}

// Spell makes messages about f use another text than that of f.Path. Only
// packages of this module can make the argument.
func Spell(f *Finding, as fieldpath.Spelling) { f.spelling = as.String() }

func article(types string) string {
	switch types {
	case "":
		return "anything"
	case "null":
		return "null"
	case "array", "object", "integer", "integer or string":
		return "an " + types
	}
	return "a " + types
}

// A List holds findings. The methods of a *Finding need an address: range over
// the list by index, or take &list[i].
type List []Finding

// Count returns how many findings of kind k the list has.
func (l List) Count(k FindingKind) int {
	n := 0
	for i := range l {
		if l[i].Kind == k {
			n++
		}
	}
	return n
}

// SortByPosition sorts the findings in place, by their order in the document.
// Decoders return them in the order of the API server: duplicates first, then
// unknown fields in root metadata, other unknown fields, and unknown fields in
// the metadata of embedded resources. Each of the last three groups is sorted
// by path, as the server spells it.
func (l List) SortByPosition() {
	slices.SortStableFunc(l, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Position.Offset, b.Position.Offset),
			cmp.Compare(a.Kind, b.Kind))
	})
}
