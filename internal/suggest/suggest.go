// Package suggest guesses which declared name was meant by an unknown one.
package suggest

import (
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/fieldpath"
	"github.com/espalier-dev/espalier/schema"
)

// Field returns the declared field that was probably meant by the unknown one at path, or "".
func Field(p *schema.Program, path errors.Path) string {
	parent, name, ok := CutLast(path)
	if !ok {
		return ""
	}
	return Closest(name, p.FieldNames(parent))
}

// Advice returns a hint for the unknown field at path, to be appended to a message: that a
// field of this name is declared one level higher or lower, that the suggested one may be
// meant, or that no fields are declared there.
func Advice(p *schema.Program, path errors.Path, suggested string) string {
	parent, name, ok := CutLast(path)
	if !ok {
		return ""
	}
	if places := declaredNear(p, parent, name); len(places) == 1 {
		return ", declared under " + places[0] + " instead"
	} else if len(places) == 2 {
		return ", declared under " + places[0] + " and " + places[1] + " instead"
	}
	switch {
	case suggested != "":
		return ", did you mean " + fieldpath.Quoted(suggested) + "?"
	case len(p.FieldNames(parent)) == 0:
		return ", the schema declares no fields there"
	}
	return ""
}

// declaredNear returns the objects that declare a name: the one around the object at parent,
// and those directly within it.
func declaredNear(p *schema.Program, parent errors.Path, name string) (places []string) {
	declares := func(path errors.Path) bool {
		_, found := slices.BinarySearch(p.FieldNames(path), name)
		return found
	}
	if outer, ok := enclosing(parent); ok && declares(outer) {
		places = append(places, placeName(outer))
	}
	for _, field := range p.FieldNames(parent) {
		inner := parent.Child(field)
		if declares(inner) {
			places = append(places, placeName(inner))
		} else if inner := inner.Element(0); declares(inner) {
			places = append(places, placeName(parent.Child(field))+"[]")
		}
	}
	return places
}

// enclosing returns the path to the object that contains the object at a path, with any number
// of arrays between them.
func enclosing(path errors.Path) (outer errors.Path, ok bool) {
	var at errors.Path
	for s := range path.Segments() {
		if s.Gap > 0 {
			return outer, false
		}
		if s.IsName {
			outer, ok = at, true
		}
		at = Append(at, s)
	}
	return outer, ok
}

func placeName(path errors.Path) string {
	if path.IsRoot() {
		return "the root"
	}
	return path.String()
}

// Value returns the one of the allowed values that was probably meant by a text, or "". The values
// are written as field errors show them: texts are in quotes.
func Value(text string, allowed []string) string {
	var texts []string
	for _, one := range allowed {
		if text, err := strconv.Unquote(one); err == nil {
			texts = append(texts, text)
		}
	}
	return Closest(text, texts)
}

// maxSuggestName is the length of the longest name for which a suggestion is looked for. Names
// that people type are shorter.
const maxSuggestName = 100

// Closest returns the candidate that is closest to name, the first of several, or "" if none is
// close. A close name differs by at most two typing errors, and in less than half of its
// letters. Different capitals count as one error.
func Closest(name string, candidates []string) string {
	best, bestDistance := "", 3
	if len(name) > maxSuggestName {
		return ""
	}
	for _, c := range candidates {
		if d := len(name) - len(c); d > 8 || d < -8 {
			continue
		}
		d := distance([]rune(name), []rune(c))
		if strings.EqualFold(name, c) {
			d = min(d, 1)
		}
		if d < bestDistance && 2*d < max(len(name), len(c)) {
			best, bestDistance = c, d
		}
	}
	return best
}

// distance returns how many characters have to be inserted, removed, replaced or swapped with
// their neighbour to turn a into b. It is the distance of Damerau and Levenshtein in the form
// in which no place is edited twice.
func distance(a, b []rune) int {
	before := make([]int, len(b)+1) // the row two above
	above := make([]int, len(b)+1)
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, above, row = above, row, before
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replace := above[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			row[j] = min(above[j]+1, row[j-1]+1, replace)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}

// CutLast returns the path to the object that a member is in, and the member's name.
func CutLast(path errors.Path) (parent errors.Path, name string, ok bool) {
	var last errors.Segment
	first := true
	for s := range path.Segments() {
		switch {
		case s.Gap > 0:
			return parent, "", false
		case first:
		default:
			parent = Append(parent, last)
		}
		last, first = s, false
	}
	return parent, last.Name, last.IsName
}

// Append returns the path with one segment more.
func Append(path errors.Path, s errors.Segment) errors.Path {
	if s.IsName {
		return path.Child(s.Name)
	}
	return path.Element(s.Index)
}
