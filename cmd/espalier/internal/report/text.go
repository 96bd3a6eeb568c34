package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/terminal"
)

// A TextPrinter writes findings for people, and for editors and other tools that read
// file:line:column.
type TextPrinter struct {
	terminal.Painter
	Sources bool // print the line of the file as well
}

// Append appends the findings in an object, one per line.
func (p TextPrinter) Append(b []byte, file string, v *finding.Outcome) []byte {
	of := v.Identity.String()
	for i := range v.Findings {
		f := &v.Findings[i]
		place := sanitize.Name(file) + ":"
		if f.At.IsValid() {
			place += f.At.String() + ":"
		}
		style := terminal.Yellow
		if f.Severity == finding.Error {
			style = terminal.Red
		}
		b = fmt.Appendf(b, "%s %s %s", p.Paint(terminal.Bold, place), p.Paint(style, f.Severity.String()+":"), sanitize.Text(f.Message))
		if of != "" {
			b = fmt.Appendf(b, " (%s)", of)
		}
		b = fmt.Appendf(b, " %s", p.Paint(terminal.Cyan, "["+f.Rule+"]"))
		if f.Definition.At.IsValid() {
			b = fmt.Appendf(b, " (%s)", f.Definition)
		}
		if f.Old.At.IsValid() {
			b = fmt.Appendf(b, " (replaces %s)", f.Old)
		}
		if v.Rendered != "" {
			b = fmt.Appendf(b, " (rendered from %s)", sanitize.Name(v.Rendered))
		}
		b = append(b, '\n')
		if p.Sources && f.Source != "" {
			b = p.appendSource(b, f, style)
		}
	}
	return b
}

// appendSource appends the line of the file with a caret under the place of the finding.
func (p TextPrinter) appendSource(b []byte, f *finding.Finding, style string) []byte {
	number := fmt.Sprintf("%5d", f.At.Line)
	start := cells(f.Source, f.At.Column-1-f.Cut)
	mark := "^"
	if f.End.Line == f.At.Line {
		mark += strings.Repeat("~", max(cells(f.Source, f.End.Column-1-f.Cut)-start-1, 0))
	}
	line := sanitize.Visible(f.Source)
	if f.Cut > 0 {
		line, start = "..."+line, start+len("...")
	}
	b = fmt.Appendf(b, "%s | %s\n", number, line)
	return fmt.Appendf(b, "%s | %s%s\n", strings.Repeat(" ", len(number)), strings.Repeat(" ", start), p.Paint(style, mark))
}

// wide are the ranges of characters that take two cells of a terminal: those of East Asia, and
// emoji.
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
