package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A textPrinter writes findings for people, and for editors and other tools that read
// file:line:column.
type textPrinter struct {
	painter
	sources bool // the line that a finding is in follows it
}

// append appends what is found in an object, one finding a line.
func (p textPrinter) append(b []byte, file string, v *verdict) []byte {
	of := v.identity.String()
	for i := range v.findings {
		f := &v.findings[i]
		place := printable(file) + ":"
		if f.at.IsValid() {
			place += f.at.String() + ":"
		}
		style := yellow
		if f.severity == failure {
			style = red
		}
		b = fmt.Appendf(b, "%s %s %s", p.paint(bold, place), p.paint(style, f.severity.String()+":"), safe(f.message))
		if of != "" {
			b = fmt.Appendf(b, " (%s)", of)
		}
		b = fmt.Appendf(b, " %s\n", p.paint(cyan, "["+f.rule+"]"))
		if p.sources && f.source != "" {
			b = p.appendSource(b, f, style)
		}
	}
	return b
}

// appendSource appends the line that a finding is in, and a caret under its place.
func (p textPrinter) appendSource(b []byte, f *finding, style string) []byte {
	number := fmt.Sprintf("%5d", f.at.Line)
	start := cells(f.source, f.at.Column-1-f.cut)
	mark := "^"
	if f.end.Line == f.at.Line {
		mark += strings.Repeat("~", max(cells(f.source, f.end.Column-1-f.cut)-start-1, 0))
	}
	line := visible(f.source)
	if f.cut > 0 {
		line, start = "..."+line, start+len("...")
	}
	b = fmt.Appendf(b, "%s | %s\n", number, line)
	return fmt.Appendf(b, "%s | %s%s\n", strings.Repeat(" ", len(number)), strings.Repeat(" ", start), p.paint(style, mark))
}

// visible is safe for a line of a file: each character keeps its place, so that what is
// written below it points at the right one.
func visible(line string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r == utf8.RuneError || !isSafe(r):
			return '·'
		}
		return r
	}, line)
}

// wide are the characters that take two cells of a terminal, those of East Asia and
// emoji, as ranges.
var wide = [][2]rune{{0x1100, 0x115f}, {0x2e80, 0xa4cf}, {0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe30, 0xfe6f},
	{0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd}}

// cells returns how many cells the first characters of a line take.
func cells(line string, characters int) (n int) {
	for _, r := range line {
		if characters--; characters < 0 {
			break
		}
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me):
		case slices.ContainsFunc(wide, func(w [2]rune) bool { return w[0] <= r && r <= w[1] }):
			n += 2
		default:
			n++
		}
	}
	return n
}
