package diffreport

import (
	"fmt"
	"strings"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/schemadiff"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/terminal"
)

// Text returns the changes of at least a severity, grouped by definition and version.
func (r *Report) Text(p terminal.Painter, least schemadiff.Severity) []byte {
	var b []byte
	for _, d := range r.Definitions {
		for _, g := range d.groups(least, schemadiff.Data) {
			b = fmt.Appendf(b, "%s\n", p.Paint(terminal.Bold, titleOf(&d, g)))
			for _, c := range g.changes {
				b = fmt.Appendf(b, "  %s %s%s %s", p.Paint(style(c.Severity), c.Severity.String()+":"), pathText(c), sanitize.Text(c.Message), p.Paint(terminal.Cyan, "["+c.Rule+"]"))
				if at := places(c); at != "" {
					b = fmt.Appendf(b, " (%s)", at)
				}
				b = append(b, '\n')
			}
		}
	}
	return b
}

// titleOf returns the line above the changes of a version.
func titleOf(d *Definition, g *group) string {
	text, c := sanitize.Name(d.Name), g.changes[0]
	if c.Version != "" {
		text += ", version " + sanitize.Text(versionText(c))
	}
	if c.Stored && c.From == "" {
		text += ", which is stored"
	}
	if len(g.also) > 0 {
		text += "; the same in " + sanitize.Text(strings.Join(g.also, ", "))
	}
	return text
}

func pathText(c *Change) string {
	if len(c.Path) == 0 {
		return ""
	}
	return c.Path.String() + ": "
}

func style(s schemadiff.Severity) string {
	switch s {
	case schemadiff.Data, schemadiff.Client:
		return terminal.Red
	case schemadiff.Caution:
		return terminal.Yellow
	}
	return terminal.Green
}

// Summary returns a line that counts definitions and changes. It says how harmless ones that are not
// listed can be.
func (r *Report) Summary(areListed bool) string {
	text := fmt.Sprintf("%s compared, %d changed", finding.Count(len(r.Definitions), "definition"), r.Changed())
	if counts := r.counts(); counts != "" {
		text += ": " + counts
	}
	if !areListed && r.Count(schemadiff.Harmless) > 0 {
		text += " (--all lists them)"
	}
	if r.NotCompared > 0 {
		text += fmt.Sprintf("; %d not compared, whose groups are not among the new ones", r.NotCompared)
	}
	return text
}

// counts returns the numbers of changes by severity, from the highest on.
func (r *Report) counts() string {
	var parts []string
	for s := schemadiff.Data; s > 0; s-- {
		if n := r.Count(s); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	return strings.Join(parts, ", ")
}
