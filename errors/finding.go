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
	// UnknownField is a member that the schema does not know. It was pruned.
	UnknownField FindingKind = iota + 1
	// DuplicateField is a name that stands more than once in one object. The
	// last value won.
	DuplicateField
	// TypeMismatch is a value of another JSON type than the schema gives.
	TypeMismatch
	// DroppedNull is a null that was removed, as its field is not nullable and
	// has no default.
	DroppedNull
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
	}
	return "finding(" + strconv.Itoa(int(k)) + ")"
}

// A Finding is something that is reported and does not stop decoding.
//
// *Finding is an error with the API server's text.
type Finding struct {
	Kind FindingKind
	// Path leads to the member or element that is meant.
	Path Path
	// Position is where the name of the member starts, or the value where the
	// finding is about a value. For a duplicate it is the first repetition.
	Position Position
	// First is, for a duplicate, where the name stands for the first time.
	First Position
	// Count is, for a duplicate, how often the name is repeated: one less than
	// it occurs.
	Count int
	// Want and Got are, for a type mismatch, the types that the schema allows
	// and the one that was found, in the words of JSON Schema: "integer",
	// "integer or string".
	Want, Got string

	// spelling is what messages say in place of Path, as it goes on behind other steps, or "".
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

// FieldPath returns the path in the API server's spelling. That is the text of Path, but for what decoders that stand in for the
// server's find in embedded resources: there it may have the keys of maps in brackets.
func (f *Finding) FieldPath() string {
	if f.spelling != "" {
		return strings.TrimPrefix(f.spelling, ".")
	}
	return f.Path.String()
}

// WithPrefix returns the finding for who has decoded a part of a larger document, to which prefix leads: its Path and its
// messages start there. Its positions stay as they are. The finding itself is not changed.
//
// Prefixes are not bounded by [MaxPathBytes].
func (f Finding) WithPrefix(prefix Path) Finding {
	if f.spelling != "" {
		f.spelling = string(fieldpath.AppendBelow(nil, prefix.enc)) + f.spelling
	}
	f.Path.enc = prefix.enc + f.Path.enc
	return f
}

// Spell makes messages say something else than the text of f.Path. It is for packages of this module: no other can make
// the argument.
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

// A List holds findings. Range over it by index, or take &list[i], where the
// methods of *Finding are wanted.
type List []Finding

// Count returns how many findings of the kind the list has.
func (l List) Count(k FindingKind) int {
	n := 0
	for i := range l {
		if l[i].Kind == k {
			n++
		}
	}
	return n
}

// SortByPosition puts the findings into the order of the document. Decoders
// return them in the order of the API server: duplicates first, then unknown
// fields in root metadata, other unknown fields, and unknown fields in the
// metadata of embedded resources, these three sorted by path as the server spells it.
func (l List) SortByPosition() {
	slices.SortStableFunc(l, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Position.Offset, b.Position.Offset), cmp.Compare(a.Kind, b.Kind))
	})
}
