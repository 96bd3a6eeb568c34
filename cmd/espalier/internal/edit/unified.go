package edit

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

// context is the number of lines that a diff shows around a change.
const context = 3

// Diff returns edits of a text as a unified diff, or nothing if they change nothing. Its lines end
// in LF, as all readers of diffs expect. The text is read line by line, up to the last change.
func Diff(oldName, newName string, text io.Reader, edits []Edit) ([]byte, error) {
	d := differ{from: bufio.NewReaderSize(text, 64<<10), rest: edits}
	for (len(d.rest) > 0 || d.isOpen()) && d.err == nil && !d.ended {
		if line := d.line(); len(line) > 0 {
			d.next(line)
		}
	}
	if d.close(); d.err != nil || len(d.out) == 0 {
		return nil, d.err
	}
	return append(fmt.Appendf(nil, "--- %s\n+++ %s\n", oldName, newName), d.out...), nil
}

// A differ makes a diff.
type differ struct {
	from  *bufio.Reader
	read  int // how much of the text was read
	ended bool
	err   error
	rest  []Edit // that are still to be made
	out   []byte

	lines   int      // how many lines came before what is next
	pending change   // the last change, which the next one may extend
	same    [][]byte // the lines after it, or before the first change
	grown   int      // by how many lines the text after the last hunk has moved
	hunk    []byte   // the changes of a hunk, with the lines around them
	old     int      // how many lines of the text it has
	growth  int      // by how many lines it moves what follows
}

// A change replaces lines by others.
type change struct{ old, new [][]byte }

// isOpen reports whether the last hunk may need more lines.
func (d *differ) isOpen() bool { return len(d.hunk)+len(d.pending.old)+len(d.pending.new) > 0 }

// line reads the next line, which is empty at the end of the text.
func (d *differ) line() []byte {
	line, err := d.from.ReadBytes('\n')
	if d.read += len(line); err == nil {
		_, err = d.from.Peek(1)
	}
	if d.ended = err == io.EOF; !d.ended {
		d.err = err
	}
	return line
}

// reaches reports whether the lines that were read have the one with an offset in it. The last
// line has the end of the text.
func (d *differ) reaches(offset int) bool { return offset < d.read || d.ended }

// next takes a line, and if edits start in it, the lines that they reach.
func (d *differ) next(line []byte) {
	base := d.read - len(line)
	var within []Edit
	for len(d.rest) > 0 && d.reaches(d.rest[0].From) {
		e := d.rest[0]
		d.rest = d.rest[1:]
		within = append(within, Edit{e.From - base, e.To - base, e.Text})
		for !d.reaches(e.To) && d.err == nil {
			line = append(line, d.line()...)
		}
	}
	if len(within) == 0 {
		d.keep(line)
		return
	}
	c, after := trimmed(splitLines(line), splitLines(Apply(line, within)), d.keep)
	if len(c.old)+len(c.new) > 0 {
		d.change(c)
	}
	for _, line := range after {
		d.keep(line)
	}
}

// trimmed returns the change that turns the old lines into the new ones, without equal lines at its
// start, which keep is called for, and at its end.
func trimmed(before, after [][]byte, keep func([]byte)) (c change, rest [][]byte) {
	c = change{before, after}
	for len(c.old) > 0 && len(c.new) > 0 && bytes.Equal(c.old[0], c.new[0]) {
		keep(c.old[0])
		c = change{c.old[1:], c.new[1:]}
	}
	n := len(c.old)
	for len(c.old) > 0 && len(c.new) > 0 && bytes.Equal(c.old[len(c.old)-1], c.new[len(c.new)-1]) {
		c = change{c.old[:len(c.old)-1], c.new[:len(c.new)-1]}
	}
	return c, before[len(before)-n+len(c.old):]
}

// keep takes a line that stays. The hunk ends if the next change is too far away for it.
func (d *differ) keep(line []byte) {
	d.lines++
	switch d.same = append(d.same, line); {
	case !d.isOpen() && len(d.same) > context:
		d.same = d.same[1:]
	case d.isOpen() && len(d.same) > 2*context:
		d.close()
	}
}

// change takes a change. It extends the last one if there is no line between them.
func (d *differ) change(c change) {
	d.lines += len(c.old)
	if len(d.same) == 0 {
		d.pending.old, d.pending.new = append(d.pending.old, c.old...), append(d.pending.new, c.new...)
		return
	}
	d.flush()
	if len(c.old)+len(c.new) > 0 {
		d.around(d.same)
		d.same, d.pending = nil, c
	}
}

// flush writes the last change to the hunk.
func (d *differ) flush() {
	c := d.pending
	d.hunk = appendLines(appendLines(d.hunk, '-', c.old), '+', c.new)
	d.old += len(c.old)
	d.growth += len(c.new) - len(c.old)
	d.pending = change{}
}

// around writes lines that stay to the hunk.
func (d *differ) around(lines [][]byte) {
	d.hunk = appendLines(d.hunk, ' ', lines)
	d.old += len(lines)
}

// close ends the hunk, and keeps the last lines for the next one.
func (d *differ) close() {
	if !d.isOpen() {
		return
	}
	d.flush()
	after := min(len(d.same), context)
	d.around(d.same[:after])
	from := d.lines - len(d.same) + after - d.old
	d.out = fmt.Appendf(d.out, "@@ -%s +%s @@\n", lineRange(from, d.old), lineRange(from+d.grown, d.old+d.growth))
	d.out = append(d.out, d.hunk...)
	d.grown += d.growth
	d.hunk, d.old, d.growth = d.hunk[:0], 0, 0
	d.same = d.same[max(len(d.same)-context, 0):]
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
