// Package explain says what becomes of one value of an object, and by which rule:
// it stays, it goes, or a default takes its place. It compares the object with its
// result, and reads the definition again for the lines that decide.
package explain

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/examine"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/locate"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/terminal"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/position"
	"github.com/espalier-dev/espalier/schema"
)

// A ListPath says which of the items of a List are meant by a path, and by what of it.
type ListPath struct {
	left   int // how many items are still to come
	at     int // the index of the next one
	only   int // the index of the one that the path names, or -1
	within string
}

// itemPath is a path that starts at a List.
var itemPath = regexp.MustCompile(`^(?:\$?\.?items\[(\d+)\](?:\.|$)?|/items/(\d+)(?:$|/))(.*)$`)

// NewListPath returns the part of a path that is for the items of a List: items[0].spec.a is
// spec.a of the first, and spec.a is that of all of them.
func NewListPath(path string, items int) (ListPath, error) {
	l := ListPath{left: items, only: -1, within: path}
	m := itemPath.FindStringSubmatch(path)
	if m == nil {
		return l, nil
	}
	n, err := strconv.Atoi(m[1] + m[2])
	if err != nil || n >= items {
		return l, fmt.Errorf("the List has %s, and no items[%s]", finding.Count(items, "item"), m[1]+m[2])
	}
	l.only, l.within = n, m[3]
	if m[2] != "" && m[3] != "" {
		l.within = "/" + m[3]
	}
	return l, nil
}

// Next returns the path for the next object, and whether it is meant.
func (l *ListPath) Next(path string) (within string, isMeant bool) {
	if l.left == 0 {
		return path, true // it is no item
	}
	l.left--
	l.at++
	return l.within, l.only < 0 || l.at-1 == l.only
}

// An Explainer says why what stands in objects is kept or not.
type Explainer struct {
	terminal.Painter
	Semantics schema.Semantics
	File      string
}

// Object explains what becomes of the value at a path of an object. It is not known where
// neither the object nor the schema has it.
func (x *Explainer) Object(o *examine.Object, entry schema.Entry, steps []locate.Step) (text []byte, isKnown bool) {
	way := walkSchema(entry, x.Semantics, steps)
	fate := explain(o, way, steps)
	place := sanitize.Name(x.File)
	at, depth := locate.Offset(o.Doc.JSON, locate.Keys(steps))
	if depth == len(steps) && depth > 0 {
		c := position.From(o.Doc.JSON, errors.Position{})
		place += ":" + o.Doc.Locate(c.At(at)).String()
	}
	o.Namespace, o.Name = locate.ObjectName(o.Doc.JSON)
	for i := range o.Findings {
		if f := &o.Findings[i]; f.Rule == finding.RuleDuplicate && f.Field == locate.FieldPath(steps) {
			fate.hint = "it stands twice, at " + f.First.String() + " and " + f.At.String() + ": the last value wins"
		}
	}
	style := terminal.Green
	if fate.goes {
		style = terminal.Red
	}
	text = fmt.Appendf(text, "%s %s of %s %s\n", x.Paint(terminal.Bold, place+":"), locate.Spelled(steps), o.Identity, x.Paint(style, sanitize.Text(fate.what)))
	text = fmt.Appendf(text, "  because %s\n", sanitize.Text(fate.why))
	if fate.hint != "" {
		text = fmt.Appendf(text, "  %s\n", sanitize.Text(fate.hint))
	}
	if why := refusals(o); len(why) > 0 && fate.rule != ruleTyped && fate.rule != ruleUndecoded {
		text = fmt.Appendf(text, "  but the object is refused: %s%s\n", sanitize.Text(why[0]), map[bool]string{true: ", and more"}[len(why) > 1])
	}
	text = fmt.Appendf(text, "  rule: %s\n", fate.rule)
	text = fmt.Appendf(text, "  schema: %s, kind %s, in %s\n", sanitize.Name(entry.APIVersion), sanitize.Name(entry.Kind), sanitize.Name(entry.CRD.File))
	lines := schemaLines(entry, way)
	for i, w := range way {
		text = fmt.Appendf(text, "    %s %s: %s\n", x.Paint(terminal.Bold, lines[i]), locate.Spelled(steps[:w.depth]), sanitize.Text(w.describe()))
	}
	return text, !fate.unknown
}

// refusals returns for which of its values an object is refused.
func refusals(o *examine.Object) (why []string) {
	for i := range o.Mismatches {
		why = append(why, o.Mismatches[i].Error())
	}
	for i := range o.Findings {
		if o.Findings[i].Rule == finding.RuleFormat {
			why = append(why, o.Findings[i].Message)
		}
	}
	return why
}

// brief returns a value on one line, cut if it is long.
func brief(value []byte) string {
	const most = 60
	if text := []rune(strings.Join(strings.Fields(string(value)), " ")); len(text) > most {
		return string(text[:most]) + "..."
	}
	return string(value)
}

// listed returns the first names of a list.
func listed(names []string) string {
	const most = 12
	names = slices.Clone(names)
	for i := range names {
		names[i] = sanitize.Name(names[i])
	}
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}
