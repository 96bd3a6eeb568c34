package main

import (
	"strings"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// suggestion returns the declared name that an unknown one was probably meant to
// be, or "".
func suggestion(p *schema.Program, path errors.Path) string {
	var parent errors.Path
	var last errors.Segment
	first := true
	for s := range path.Segments() {
		switch {
		case s.Elided:
			return ""
		case first:
		case last.IsName:
			parent = parent.Child(last.Name)
		default:
			parent = parent.Element(last.Index)
		}
		last, first = s, false
	}
	if !last.IsName {
		return ""
	}
	return closest(last.Name, p.FieldNames(parent))
}

// maxSuggestName bounds the names for which a suggestion is looked for: those
// that people type are shorter.
const maxSuggestName = 100

// closest returns the candidate that is closest to name, the first of several,
// or "" where none is close: two slips of the finger at most, and more than half
// of the name right. The case of letters alone is one slip.
func closest(name string, candidates []string) string {
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

// distance returns how many characters have to be inserted, removed, replaced or
// swapped with their neighbour to make b of a (Damerau and Levenshtein, in the
// form in which no place is edited twice).
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
