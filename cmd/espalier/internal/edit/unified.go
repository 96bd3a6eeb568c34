package edit

import (
	"bytes"
	"fmt"
	"sort"
)

// context is the number of lines that a diff shows around a change.
const context = 3

// A change is the result of edits for a range of lines.
type change struct {
	from, to int
	old, new [][]byte
}

// Unified returns edits of a text as a unified diff, or nothing if they change nothing. Its
// lines end in LF, as all readers of diffs expect.
func Unified(oldName, newName string, text []byte, edits []Edit) []byte {
	lines := splitLines(text)
	changes := lineChanges(text, lines, edits)
	if len(changes) == 0 {
		return nil
	}
	out := fmt.Appendf(nil, "--- %s\n+++ %s\n", oldName, newName)
	grown := 0 // by how many lines the text after the changes has moved
	for len(changes) > 0 {
		n := 1
		for n < len(changes) && changes[n].from-changes[n-1].to <= 2*context {
			n++
		}
		hunk := changes[:n]
		changes = changes[n:]
		from, to := max(hunk[0].from-context, 0), min(hunk[n-1].to+context, len(lines))
		growth := 0
		for _, c := range hunk {
			growth += len(c.new) - len(c.old)
		}
		out = fmt.Appendf(out, "@@ -%s +%s @@\n", lineRange(from, to-from), lineRange(from+grown, to-from+growth))
		grown += growth
		at := from
		for _, c := range hunk {
			out = appendLines(out, ' ', lines[at:c.from])
			out = appendLines(out, '-', c.old)
			out = appendLines(out, '+', c.new)
			at = c.to
		}
		out = appendLines(out, ' ', lines[at:to])
	}
	return out
}

// lineRange returns n lines from an index on, in the notation of diffs: for no lines it names
// the line before.
func lineRange(from, n int) string {
	switch n {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return fmt.Sprint(from + 1)
	}
	return fmt.Sprintf("%d,%d", from+1, n)
}

func appendLines(out []byte, mark byte, lines [][]byte) []byte {
	for _, line := range lines {
		out = append(append(out, mark), line...)
		if line[len(line)-1] != '\n' {
			out = append(out, "\n\\ No newline at end of file\n"...)
		}
	}
	return out
}

// splitLines returns the lines of a text with their breaks.
func splitLines(text []byte) [][]byte {
	lines := bytes.SplitAfter(text, []byte("\n"))
	if last := len(lines) - 1; len(lines[last]) == 0 {
		lines = lines[:last]
	}
	return lines
}

// lineChanges returns the changes that edits make. Lines between the changes are the same.
func lineChanges(text []byte, lines [][]byte, edits []Edit) []change {
	starts := []int{0}
	for _, line := range lines {
		starts = append(starts, starts[len(starts)-1]+len(line))
	}
	lineOf := func(at int) int { return min(sort.SearchInts(starts, at+1), len(lines)) - 1 }
	var changes []change
	for len(edits) > 0 {
		c := change{from: lineOf(edits[0].From)}
		base := starts[c.from]
		var within []Edit
		for len(edits) > 0 && (within == nil || lineOf(edits[0].From) < c.to) {
			e := edits[0]
			edits = edits[1:]
			within = append(within, Edit{e.From - base, e.To - base, e.Text})
			c.to = lineOf(e.To) + 1
		}
		c.old = lines[c.from:c.to]
		c.new = splitLines(Apply(text[base:starts[c.to]], within))
		c = c.trimmed()
		switch n := len(changes); {
		case len(c.old)+len(c.new) == 0:
		case n > 0 && changes[n-1].to == c.from:
			last := &changes[n-1]
			last.to = c.to
			last.old, last.new = lines[last.from:last.to], append(last.new, c.new...)
		default:
			changes = append(changes, c)
		}
	}
	return changes
}

// trimmed returns the change without equal lines at its start and end.
func (c change) trimmed() change {
	for len(c.old) > 0 && len(c.new) > 0 && bytes.Equal(c.old[0], c.new[0]) {
		c.old, c.new = c.old[1:], c.new[1:]
		c.from++
	}
	for len(c.old) > 0 && len(c.new) > 0 && bytes.Equal(c.old[len(c.old)-1], c.new[len(c.new)-1]) {
		c.old, c.new = c.old[:len(c.old)-1], c.new[:len(c.new)-1]
		c.to--
	}
	return c
}
