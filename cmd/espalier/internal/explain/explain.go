// Package explain says what becomes of one value of an object, and by which rule: it is kept,
// it is removed, or a default takes its place. It compares the object with its result, follows
// the program of the schema, and finds the lines of the definition that decide.
package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/examine"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/locate"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/origin"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/terminal"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/position"
	"github.com/espalier-dev/espalier/schema"
)

// An Explainer writes explanations as text.
type Explainer struct {
	terminal.Painter
	File string // the name of the file with the objects
	*origin.Files
}

// Object explains what becomes of the value at a path of an object. It is not known if
// neither the object nor the schema has it.
func (x *Explainer) Object(o *examine.Object, entry schema.Entry, path []locate.Step) (text []byte, isKnown bool, err error) {
	trace, err := entry.Trace(locate.FieldPath(path))
	if err != nil {
		return nil, false, err
	}
	q := question{o, path, trace}
	d := q.decide()
	place := sanitize.Name(x.File)
	at, depth := locate.Offset(o.Doc.JSON, locate.Keys(path))
	if depth == len(path) && depth > 0 {
		c := position.From(o.Doc.JSON, errors.Position{})
		place += ":" + o.Doc.Locate(c.At(at)).String()
	}
	o.Namespace, o.Name = locate.ObjectName(o.Doc.JSON)
	for i := range o.Findings {
		if f := &o.Findings[i]; f.Rule == finding.RuleDuplicate && f.Field == locate.FieldPath(path) {
			d.hint = "the name occurs twice, at " + f.First.String() + " and " + f.At.String() + ": the last value wins"
		}
	}
	style := terminal.Green
	if d.removed {
		style = terminal.Red
	}
	text = fmt.Appendf(text, "%s %s of %s %s\n", x.Paint(terminal.Bold, place+":"), locate.Spelled(path), o.Identity, x.Paint(style, sanitize.Text(d.what)))
	text = fmt.Appendf(text, "  because %s\n", sanitize.Text(d.why))
	for _, why := range d.more {
		text = fmt.Appendf(text, "  and %s\n", sanitize.Text(why))
	}
	if d.hint != "" {
		text = fmt.Appendf(text, "  %s\n", sanitize.Text(d.hint))
	}
	if why := refusals(o); len(why) > 0 && d.rule != ruleMistyped && d.rule != ruleUndecodable && d.rule != ruleInvalid {
		text = fmt.Appendf(text, "  but the object is refused: %s%s\n", sanitize.Text(why[0]), map[bool]string{true: ", and more"}[len(why) > 1])
	}
	text = fmt.Appendf(text, "  rule: %s\n", d.rule)
	text = fmt.Appendf(text, "  schema: %s, kind %s, in %s\n", sanitize.Name(entry.APIVersion), sanitize.Name(entry.Kind), sanitize.Name(entry.CRD.File))
	steps := shown(trace)
	places := x.Schemas(entry, steps)
	for i, step := range steps {
		place := x.Paint(terminal.Bold, places[i].String()+":")
		said := describe(step, i > 0 && isRequired(steps[i-1], path[i-1].Name))
		text = fmt.Appendf(text, "    %s %s: %s\n", place, locate.Spelled(path[:i]), sanitize.Text(said))
	}
	return text, !d.unknown, nil
}

// refusals returns the reasons for which an object is refused.
func refusals(o *examine.Object) (why []string) {
	for i := range o.Mismatches {
		why = append(why, o.Mismatches[i].Error())
	}
	var whole []string // what is said of the whole object is no reason of its own as a rule
	for i := range o.Findings {
		switch f := &o.Findings[i]; {
		case f.Rule != finding.RuleFormat && f.Invalid == nil:
		case f.Field.IsRoot():
			whole = append(whole, f.Message)
		default:
			why = append(why, f.Message)
		}
	}
	return append(why, whole...)
}

// brief returns a value on one line, shortened if it is long.
func brief(value []byte) string {
	const most = 60
	if text := []rune(strings.Join(strings.Fields(string(value)), " ")); len(text) > most {
		return string(text[:most]) + "..."
	}
	return string(value)
}

// listed returns the first of the names, separated by commas.
func listed(names []string) string {
	names = slices.Clone(names)
	for i := range names {
		names[i] = sanitize.Name(names[i])
	}
	return first(names)
}
