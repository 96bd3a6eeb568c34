package judge

import (
	stderrors "errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/suggest"
	"github.com/espalier-dev/espalier/schema"
)

// A Finding is something to be said at a place of a text.
type Finding struct {
	Line   int `json:"line"`   // from 1, or 0 if there is no place
	Column int `json:"column"` // in characters, from 1
	// From and To are the name or value at the place, in units of UTF-16 from the start of the text, as
	// JavaScript counts.
	From    int    `json:"from"`
	To      int    `json:"to"`
	Error   bool   `json:"error"` // and else a warning
	Rule    string `json:"rule"`  // as of espalier check, or empty
	Message string `json:"message"`

	offset int // of the place, in bytes
}

func (f *Finding) set(p errors.Position) {
	f.Line, f.Column, f.offset = p.Line, p.Column, int(p.Offset)
}

// findings turns what a decoder has found into findings in the text.
func (d *document) findings(found errors.List, program *schema.Program, validation string) []Finding {
	strict := fieldValidation(validation) == decoder.Strict
	all := make([]Finding, len(found))
	advice := make(map[errors.Path]string) // what many elements of one array lack is looked for once
	for i := range found {
		f, g := &found[i], &all[i]
		g.set(d.at(int(f.Position.Offset)))
		g.Message, g.Error = f.Error(), strict
		switch f.Kind {
		case errors.UnknownField:
			g.Rule = "unknown-field"
			g.Message += advised(program, f.Path, advice)
		case errors.DuplicateField:
			g.Rule = "duplicate-field"
			g.Message += ", first at " + d.at(int(f.First.Offset)).String()
			if f.Count > 1 {
				g.Message += fmt.Sprintf(", repeated %d times", f.Count)
			}
		case errors.InvalidValue:
			g.Rule, g.Error = "invalid-value", true
		case errors.TypeMismatch:
			g.Rule, g.Error = "type-mismatch", true
		case errors.DroppedNull:
			g.Rule = "dropped-null"
		}
	}
	return all
}

// maxAdvised is the length of the longest path for which a name is suggested.
const maxAdvised = 256

// advised returns what may have been meant by an unknown field.
func advised(program *schema.Program, path errors.Path, known map[errors.Path]string) string {
	var pattern errors.Path
	length := 0
	for s := range path.Segments() {
		length += 1 + len(s.Name)
		if s.Gap > 0 || length > maxAdvised {
			return ""
		}
		if s.IsName {
			pattern = pattern.Child(s.Name)
		} else {
			pattern = pattern.Element(0)
		}
	}
	text, ok := known[pattern]
	if !ok {
		text = suggest.Advice(program, pattern, suggest.Field(program, pattern))
		known[pattern] = text
	}
	return text
}

// fatals returns the findings for an error without a result.
func fatals(err error, d *document) []Finding {
	var types *errors.TypeError
	if !stderrors.As(err, &types) {
		return []Finding{fatal(err, d)}
	}
	var all []Finding
	for i := range types.Findings[:min(len(types.Findings), maxFindings)] {
		f := Finding{Error: true, Rule: "type-mismatch", Message: types.Findings[i].Error()}
		f.set(d.at(int(types.Findings[i].Position.Offset)))
		all = append(all, f)
	}
	return all
}

// maxMessage is the length of the longest message.
const maxMessage = 2000

// fatal returns the finding for an error of reading a text, or a document that was made of one.
func fatal(err error, d *document) Finding {
	f := Finding{Error: true, Rule: "syntax", Message: err.Error(), Line: 1, Column: 1}
	var syntax *errors.SyntaxError
	var limit *errors.LimitError
	var object *errors.ObjectError
	var types *errors.TypeError
	var missing *schema.NotFoundError
	var at errors.Position
	switch {
	case stderrors.As(err, &syntax):
		cause := *syntax
		at, cause.Position = cause.Position, errors.Position{}
		f.Message = cause.Error()
	case stderrors.As(err, &limit):
		cause := *limit
		at, cause.Position = cause.Position, errors.Position{}
		f.Rule, f.Message = "limit", cause.Error()
	case stderrors.As(err, &object):
		cause := *object
		at, cause.Position = cause.Position, errors.Position{}
		f.Message = cause.Error()
	case stderrors.As(err, &types), err == errNoType:
		f.Rule, f.Message = "missing-type", errNoType.Error()
	case stderrors.As(err, &missing):
		f.Rule = "missing-schema"
	}
	f.Message = strings.TrimPrefix(f.Message, errors.Position{}.String()+": ")
	if len(f.Message) > maxMessage {
		f.Message = strings.ToValidUTF8(f.Message[:maxMessage], "") + "..."
	}
	if at.IsValid() {
		if d != nil {
			at = d.at(int(at.Offset))
		}
		f.set(at)
	}
	return f
}

// place counts where findings begin and end as JavaScript does, in one pass over the text.
func place(all []*Finding, text string) {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b *Finding) int { return a.offset - b.offset })
	bytes, units := 0, 0
	for _, f := range all {
		f.offset = min(f.offset, len(text))
		units += count(text[bytes:f.offset])
		bytes = f.offset
		f.From = units
		f.To = units + count(text[bytes:bytes+extent(text[bytes:])])
	}
}

// placed places findings and puts them in the order of the text.
func placed(all []Finding, text string) []Finding {
	pointers := make([]*Finding, len(all))
	for i := range all {
		pointers[i] = &all[i]
	}
	place(pointers, text)
	slices.SortStableFunc(all, func(a, b Finding) int { return a.offset - b.offset })
	return all
}

// count returns how many units of UTF-16 a text has.
func count(text string) (n int) {
	for _, r := range text {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

// maxExtent is the most that is marked of a name or value.
const maxExtent = 200

// extent returns the length of the name or value that a text starts with.
func extent(text string) int {
	most := text[:min(len(text), maxExtent)]
	end := strings.IndexAny(most, ":, \t\r\n}]")
	if most != "" && (most[0] == '"' || most[0] == '\'') {
		end = 1 + strings.IndexByte(most[1:], most[0])
		if end > 0 {
			end++
		}
	}
	if end <= 0 {
		end = min(len(most), 1)
	}
	for end < len(text) && end > 0 && !utf8.RuneStart(text[end]) {
		end++
	}
	return end
}
