package diffreport

import (
	"fmt"
	"strings"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/schemadiff"
)

// maxMarkdown bounds the tables: GitHub takes comments of up to 65 536 characters.
const maxMarkdown = 60_000

// Markdown returns the changes as tables for a pull request. Harmless ones are folded.
func (r *Report) Markdown() []byte {
	m := markdown{}
	m.line("### Changes of custom resource definitions\n")
	m.line("%s\n", r.Summary(true))
	for _, d := range r.Definitions {
		if len(d.Changes) == 0 {
			continue
		}
		m.line("#### %s\n", code(d.Name))
		m.table(d.groups(schemadiff.Caution, schemadiff.Data))
		harmless := d.groups(schemadiff.Harmless, schemadiff.Harmless)
		if len(harmless) > 0 {
			m.line("<details><summary>%d harmless</summary>\n", count(harmless))
			m.table(harmless)
			m.line("</details>\n")
		}
	}
	if m.omitted > 0 {
		m.line("%d more are not listed here.", m.omitted)
	}
	return m.text
}

// count returns how many changes there are, in all versions.
func count(groups []*group) (n int) {
	for _, g := range groups {
		n += len(g.changes) * (1 + len(g.also))
	}
	return n
}

type markdown struct {
	text    []byte
	omitted int // changes
}

func (m *markdown) line(format string, args ...any) {
	m.text = fmt.Appendf(m.text, format+"\n", args...)
}

// table adds a table of changes, if there are any.
func (m *markdown) table(groups []*group) {
	rows := 0
	for _, g := range groups {
		for _, c := range g.changes {
			versions := strings.Join(append([]string{versionText(c)}, g.also...), ", ")
			row := fmt.Sprintf("| %s | %s | %s | %s | %s |", c.Severity, escaped(versions), code(c.Path.String()), escaped(c.Message), code(places(c)))
			if len(m.text)+len(row) > maxMarkdown {
				m.omitted++
				continue
			}
			if rows++; rows == 1 {
				m.line("| severity | version | field | change | place |\n| --- | --- | --- | --- | --- |")
			}
			m.line("%s", row)
		}
	}
	if rows > 0 {
		m.line("")
	}
}

var markup = strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "]", `\]`, "@", "&#64;", "~", `\~`, "#", `\#`, "!", `\!`)

// escaped returns a text that has no markup, and mentions nobody.
func escaped(text string) string { return markup.Replace(sanitize.Text(text)) }

// code returns a text as code, which GitHub does not interpret. A pipe would end its cell.
func code(text string) string {
	if text == "" {
		return ""
	}
	text = strings.ReplaceAll(sanitize.Text(text), "|", `\|`)
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + text + " " + fence
	}
	return fence + text + fence
}
