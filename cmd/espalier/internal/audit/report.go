package audit

// This file writes what an audit has found, as text, Markdown and JSON.

import (
	"fmt"
	"strings"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
	"github.com/espalier-dev/espalier/internal/jsonv2"
)

// A Report is what an audit has found.
type Report struct {
	Kinds []*Tally // of the change, by their names
	// Elsewhere is how many objects are of kinds that do not change, or are in no definition, Gone how
	// many are of kinds that only the old definitions have, and Failed how many could not be audited.
	Elsewhere, Gone, Failed int
}

// Objects returns how many objects of the kinds were read.
func (r *Report) Objects() (n int) {
	for _, t := range r.Kinds {
		n += t.Objects
	}
	return n
}

// Affected returns how many objects have an effect of a kind.
func (r *Report) Affected(kind EffectKind) (n int) {
	for _, t := range r.Kinds {
		n += t.Affected[kind]
	}
	return n
}

// IsBreaking reports whether something is lost or refused.
func (r *Report) IsBreaking() bool {
	return r.Affected(Lost)+r.Affected(Refused)+r.Affected(Unreadable)+r.Affected(NotServed) > 0
}

// String returns the name of the kind in reports.
func (k EffectKind) String() string {
	return [...]string{"", "lost", "refused", "unreadable", "not served", "defaulted"}[k]
}

// what says what happens to a field, of a kind whose definition may be gone.
func (f *Field) what(isGone bool) string {
	switch f.Effect {
	case Lost:
		return "is lost"
	case Refused:
		if f.MayStay {
			return "is refused in new objects, and in updates that change it (" + f.Rule + ")"
		}
		return "is refused, in updates as well (" + f.Rule + ")"
	case Unreadable:
		if isGone {
			return "is deleted with its definition, which has no successor"
		}
		return "can no longer be read, because the definition no longer has the version in which it is stored"
	case NotServed:
		return "can no longer be asked for in this version"
	}
	if f.Created {
		return "gets another default in objects that are created from now on"
	}
	return "gets a default"
}

// subject is what f.what is about.
func (f *Field) subject() string {
	if f.Path == "" {
		return "the object"
	}
	return f.Path
}

// object returns the object of an example.
func (x *Example) object() string {
	return strings.TrimSpace(strings.TrimPrefix(x.Identity.String(), sanitize.Name(x.Kind)))
}

// value says which value an example has.
func (x *Example) value(of EffectKind) string {
	switch {
	case x.Text != "":
		return sanitize.Text(x.Text)
	case of == Lost:
		return sanitize.Text(x.Old)
	case of == Defaulted && x.Old == "":
		return "none, then " + sanitize.Text(x.New)
	case of == Defaulted:
		return sanitize.Text(x.Old) + ", then " + sanitize.Text(x.New)
	}
	return ""
}

func (t *Tally) title() string {
	return fmt.Sprintf("%s (%s): %d of %s affected", sanitize.Name(t.Kind.Kind), sanitize.Name(t.Group), t.Affected[0], finding.Count(t.Objects, "object"))
}

// Text returns the report for people.
func (r *Report) Text() []byte {
	var b strings.Builder
	for _, t := range r.Kinds {
		if t.Affected[0] == 0 {
			continue
		}
		b.WriteString(t.title() + "\n")
		for _, f := range t.Fields() {
			fmt.Fprintf(&b, "  %s %s %s: %s\n", sanitize.Name(f.Version), sanitize.Text(f.subject()), f.what(t.IsGone()), finding.Count(f.Objects, "object"))
			for i := range f.Examples {
				x := &f.Examples[i]
				line := fmt.Sprintf("    %s: %s", x.Place, x.object())
				if v := x.value(f.Effect); v != "" {
					line += ": " + v
				}
				b.WriteString(line + "\n")
			}
			if n := f.Objects - len(f.Examples); n > 0 {
				fmt.Fprintf(&b, "    and %d more\n", n)
			}
		}
		if t.Others > 0 {
			fmt.Fprintf(&b, "  and %s on other fields\n", finding.Count(t.Others, "effect"))
		}
	}
	return []byte(b.String())
}

// Markdown returns the report for a pull request.
func (r *Report) Markdown() []byte {
	var b strings.Builder
	b.WriteString(r.Summary() + "\n")
	for _, t := range r.Kinds {
		if t.Affected[0] == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n### %s\n\n| version | field | what happens | objects | for example |\n| --- | --- | --- | --: | --- |\n", cell(t.title()))
		for _, f := range t.Fields() {
			var examples []string
			for i := range f.Examples {
				x := &f.Examples[i]
				text := cell(x.object())
				if v := x.value(f.Effect); v != "" {
					text += ": " + code(v)
				}
				examples = append(examples, text)
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %d | %s |\n", cell(f.Version), code(f.subject()), f.what(t.IsGone()), f.Objects, strings.Join(examples, "<br>"))
		}
	}
	return []byte(b.String())
}

// cell escapes a text for a cell of a table.
func cell(text string) string {
	var b strings.Builder
	for _, c := range sanitize.Text(text) {
		if strings.ContainsRune("\\`*_{}[]<>()#+-.!|~@&:", c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// code writes a text as code in a cell of a table, in which a bar ends the cell in any case.
func code(text string) string {
	text = strings.ReplaceAll(sanitize.Text(text), "|", "\\|")
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + text + " " + fence
	}
	return fence + text + fence
}

// Summary says how many objects are affected in which way.
func (r *Report) Summary() string {
	text := finding.Count(r.Objects(), "object") + ": "
	var parts []string
	for _, p := range []struct {
		kind EffectKind
		one  string
		many string
	}{
		{Unreadable, "cannot be read any more", "cannot be read any more"},
		{NotServed, "is of a version that is not served any more", "are of versions that are not served any more"},
		{Lost, "loses fields", "lose fields"},
		{Refused, "has values that are refused", "have values that are refused"},
		{Defaulted, "gets other defaults", "get other defaults"},
	} {
		switch n := r.Affected(p.kind); n {
		case 0:
		case 1:
			parts = append(parts, "1 "+p.one)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", n, p.many))
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "none is affected")
	}
	text += strings.Join(parts, ", ")
	if r.Elsewhere > 0 {
		text += "; " + finding.Count(r.Elsewhere, "object") + " of kinds that do not change, or have no definition"
	}
	if r.Gone > 0 {
		text += "; " + finding.Count(r.Gone, "object") + " of kinds that the new definitions do not have"
	}
	if r.Failed > 0 {
		text += "; " + finding.Count(r.Failed, "object") + " could not be audited"
	}
	return text
}

type (
	jsonReport struct {
		APIVersion string      `json:"apiVersion"`
		Kind       string      `json:"kind"`
		Kinds      []jsonKind  `json:"definitions"`
		Summary    jsonSummary `json:"summary"`
	}
	jsonKind struct {
		Group    string      `json:"group"`
		Kind     string      `json:"kind"`
		Objects  int         `json:"objects"`
		Affected int         `json:"affected"`
		Fields   []jsonField `json:"fields"`
		Others   int         `json:"otherEffects,omitzero"`
	}
	jsonField struct {
		Effect   string        `json:"effect"`
		Version  string        `json:"version"`
		Path     string        `json:"path,omitzero"`
		Rule     string        `json:"rule,omitzero"`
		MayStay  bool          `json:"mayStay,omitzero"`
		Created  bool          `json:"onlyNewObjects,omitzero"`
		Objects  int           `json:"objects"`
		Values   int           `json:"values"`
		Examples []jsonExample `json:"examples"`
	}
	jsonExample struct {
		Namespace string `json:"namespace,omitzero"`
		Name      string `json:"name,omitzero"`
		File      string `json:"file"`
		Line      int    `json:"line,omitzero"`
		Column    int    `json:"column,omitzero"`
		Path      string `json:"path,omitzero"`
		Old       string `json:"old,omitzero"`
		New       string `json:"new,omitzero"`
		Message   string `json:"message,omitzero"`
	}
	jsonSummary struct {
		Objects    int `json:"objects"`
		Unreadable int `json:"unreadable"`
		NotServed  int `json:"notServed"`
		Lost       int `json:"lost"`
		Refused    int `json:"refused"`
		Defaulted  int `json:"defaulted"`
		Elsewhere  int `json:"elsewhere"`
		Gone       int `json:"gone"`
		Failed     int `json:"failed"`
	}
)

// JSON returns the report for programs.
func (r *Report) JSON() ([]byte, error) {
	out := jsonReport{
		APIVersion: "report.espalier.dev/v1", Kind: "Audit", Kinds: []jsonKind{},
		Summary: jsonSummary{
			Objects: r.Objects(), Unreadable: r.Affected(Unreadable), NotServed: r.Affected(NotServed), Lost: r.Affected(Lost),
			Refused: r.Affected(Refused), Defaulted: r.Affected(Defaulted), Elsewhere: r.Elsewhere, Gone: r.Gone, Failed: r.Failed,
		},
	}
	for _, t := range r.Kinds {
		k := jsonKind{Group: t.Group, Kind: t.Kind.Kind, Objects: t.Objects, Affected: t.Affected[0], Others: t.Others, Fields: []jsonField{}}
		for _, f := range t.Fields() {
			one := jsonField{
				Effect: f.Effect.String(), Version: f.Version, Path: f.Path, Rule: f.Rule, MayStay: f.Effect == Refused && f.MayStay,
				Created: f.Created, Objects: f.Objects, Values: f.Values,
			}
			for _, x := range f.Examples {
				one.Examples = append(one.Examples, jsonExample{
					x.Namespace, x.Name, x.File, x.At.Line, x.At.Column, x.Path, x.Old, x.New, x.Text,
				})
			}
			k.Fields = append(k.Fields, one)
		}
		out.Kinds = append(out.Kinds, k)
	}
	text, err := sanitize.JSON(out)
	if err != nil {
		return nil, err
	}
	text, err = jsonv2.AppendFormat(nil, text, jsonv2.Multiline(true), jsonv2.WithIndent("  "))
	return append(text, '\n'), err
}

// A jsonLine is an effect on one object.
type jsonLine struct {
	Effect     string       `json:"effect"`
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Namespace  string       `json:"namespace,omitzero"`
	Name       string       `json:"name,omitzero"`
	Path       string       `json:"path,omitzero"`
	Pointer    string       `json:"pointer,omitzero"`
	Old        jsonv2.Value `json:"old,omitzero"`
	New        jsonv2.Value `json:"new,omitzero"`
	Rule       string       `json:"rule,omitzero"`
	Message    string       `json:"message,omitzero"`
	MayStay    bool         `json:"mayStay,omitzero"`
	Created    bool         `json:"onlyNewObjects,omitzero"`
	File       string       `json:"file"`
	Line       int          `json:"line,omitzero"`
	Column     int          `json:"column,omitzero"`
}

// AppendLine appends an effect on an object as a line of JSON.
func AppendLine(to []byte, of finding.Identity, e *Effect, at finding.Place) ([]byte, error) {
	l := jsonLine{
		Effect: e.Kind.String(), APIVersion: of.APIVersion, Kind: of.Kind, Namespace: of.Namespace, Name: of.Name,
		Path: e.Path.String(), Pointer: e.Path.Pointer(), Old: e.Old, New: e.New, Created: e.Created,
		File: at.File, Line: at.At.Line, Column: at.At.Column,
	}
	if e.Path.IsRoot() {
		l.Path = ""
	}
	if e.Why != nil {
		l.Rule, l.Message, l.MayStay = e.Why.Rule, e.Why.Error(), e.MayStay
	}
	text, err := sanitize.JSON(l)
	if err != nil {
		return to, err
	}
	return append(append(to, text...), '\n'), nil
}
