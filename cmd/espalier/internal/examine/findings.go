package examine

// This file turns findings and errors of the library into findings of the command.

import (
	"bytes"
	stderrors "errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/locate"
	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/suggest"
	"github.com/espalier-dev/espalier/schema"
)

// inFile is for positions that are in the file already.
func inFile(p errors.Position) errors.Position { return p }

// addFindings adds the findings in an object, in the order of the document. Those that were omitted
// have invalid values among them if isInvalid says so and none of found is one.
func (e *Examiner) addFindings(
	o *Object, program *schema.Program, found errors.List, omitted int, isInvalid bool,
) {
	if len(found) == 0 && omitted == 0 {
		return
	}
	all := len(found)
	found = slices.DeleteFunc(slices.Clone(found), func(f errors.Finding) bool { return e.isMeant(o, &f) })
	meant := len(found)
	if meant < all {
		found = withoutConsequences(found)
	}
	if e.Layout != nil && variable.Match(o.Doc.JSON) {
		found = slices.DeleteFunc(found, func(f errors.Finding) bool { return e.readsOpen(o, &f) })
	}
	o.RulesOff = len(found) < meant
	found.SortByPosition()
	strict := finding.Warning
	if e.Validation == decoder.Strict {
		strict = finding.Error
	}
	reported := false
	var created map[string]int
	if isInvalid && o.Old != nil {
		created = e.ofCreate(o, program)
	}
	for i := range found {
		f := &found[i]
		n := finding.Finding{Severity: strict, Message: f.Error(), At: f.Position, Field: f.Path}
		name := locate.LastName(f.Path)
		switch f.Kind {
		case errors.InvalidValue:
			name = e.invalidValue(o, &n, f.Invalid)
			if text := f.Invalid.Error(); created != nil {
				if created[text]--; created[text] < 0 {
					n.Old = o.Old.Place()
				}
			}
		case errors.TypeMismatch:
			n.Severity, n.Rule = finding.Error, finding.RuleType
		case errors.DroppedNull:
			if isNoTime(f.Path) || e.isTyped(o) || program == e.Definition && f.Path.IsWithin(errors.Path{}.Child("status")) {
				continue
			}
			n.Severity, n.Rule = finding.Warning, finding.RuleNull
		case errors.DuplicateField:
			n.Rule, n.First = finding.RuleDuplicate, o.Doc.Locate(f.First)
			n.Message += ", first at " + n.First.String()
			if f.Count > 1 {
				n.Message += fmt.Sprintf(", repeated %d times", f.Count)
			}
		default:
			n.Rule = finding.RuleUnknown
			a := e.advise(program, f.Path)
			n.Suggestion = a.suggestion
			n.Message += a.text
		}
		if e.Validation == decoder.Ignore && n.Severity == strict && n.Rule != finding.RuleNull {
			continue
		}
		reported = true
		e.add(o, n, o.Doc.Locate, name)
	}
	if omitted > 0 && (reported || isInvalid || e.Validation != decoder.Ignore) {
		severity := strict
		if isInvalid {
			severity = finding.Error
		}
		e.add(o, finding.Finding{
			Severity: severity, Rule: finding.RuleMore,
			Message: fmt.Sprintf("%d more findings in this object", omitted), At: o.Start,
		}, inFile, "")
	}
}

// An adviceKey is what advice depends on: a path without its indices.
type adviceKey struct {
	program *schema.Program
	pattern string
}

type adviceText struct{ suggestion, text string }

// maxAdvice is the number of places for which advice is kept, because the same mistake tends to
// occur often.
const maxAdvice = 1 << 12

// advise returns what may have been meant by an unknown field.
func (e *Examiner) advise(program *schema.Program, path errors.Path) adviceText {
	var room [128]byte
	pattern := room[:0]
	for s := range path.Segments() {
		if s.IsName {
			pattern = append(append(pattern, s.Name...), 0)
		} else {
			pattern = append(pattern, 1)
		}
	}
	key := adviceKey{program, string(pattern)}
	a, ok := e.advice[key]
	if !ok {
		a.suggestion = suggest.Field(program, path)
		a.text = suggest.Advice(program, path, a.suggestion)
		if len(e.advice) >= maxAdvice {
			clear(e.advice)
		}
		e.advice[key] = a
	}
	return a
}

// isNoTime reports whether a path is that of metadata.creationTimestamp. Tools that write
// manifests put a null there, as they do in the status of definitions, and nobody misses it.
func isNoTime(path errors.Path) bool {
	parent, name, _ := suggest.CutLast(path)
	return name == "creationTimestamp" && locate.LastName(parent) == "metadata"
}

// isTyped reports whether the server decodes an object into a type of Go, as it does with built-in
// kinds. There a null is the same as no field.
func (e *Examiner) isTyped(o *Object) bool {
	entry, ok := e.Entry(o.APIVersion, o.Kind)
	return ok && entry.CRD.OpenAPI
}

// refuse adds the error because of which an object has no result. toFile turns positions in the
// error into those in the file.
func (e *Examiner) refuse(o *Object, err error, toFile func(errors.Position) errors.Position) {
	f := finding.Finding{Severity: finding.Error, Fatal: true}
	prefix := ""
	if o.Document > 1 && o.Kind == "" {
		prefix = fmt.Sprintf("document %d: ", o.Document)
	}
	var syntax *errors.SyntaxError
	var limit *errors.LimitError
	var mismatch *errors.TypeError
	var notFound *schema.NotFoundError
	switch {
	case stderrors.As(err, &mismatch):
		for i := range mismatch.Findings {
			m := &mismatch.Findings[i]
			f.Rule, f.Message, f.At = finding.RuleType, prefix+m.Error(), m.Position
			f.Field = m.Path
			e.add(o, f, toFile, "")
		}
		if mismatch.Omitted > 0 {
			e.add(o, finding.Finding{Severity: finding.Error, Fatal: true, Rule: finding.RuleMore, Message: fmt.Sprintf("%d more findings in this object", mismatch.Omitted), At: o.Start}, inFile, "")
		}
		return
	case stderrors.As(err, &syntax):
		cause := *syntax
		cause.Position = errors.Position{}
		f.Rule, f.Message, f.At = finding.RuleSyntax, shortened(withoutPosition(cause.Error()), maxPlace), syntax.Position
		f.Field = syntax.Path
	case stderrors.As(err, &limit):
		cause := *limit
		cause.Position = errors.Position{}
		f.Rule, f.Message, f.At = finding.RuleLimit, shortened(withoutPosition(cause.Error()), maxPlace), limit.Position
	case stderrors.As(err, &notFound):
		f.Rule, f.Message, f.At, toFile = finding.RuleMissingSchema, err.Error()+e.NearMiss(o.APIVersion, o.Kind).Hint, o.Start, inFile
		f.Message += e.Release.SwitchedOff(o.APIVersion, o.Kind)
		if o.APIVersion == "apiextensions.k8s.io/v1" && isDefinition(o.APIVersion, o.Kind) {
			f.Message = "custom resource definitions are not pruned, defaulted or explained: espalier check examines them; leave them out with --exclude, or pass them with --skip-kind CustomResourceDefinition"
		}
		if o.APIVersion == "" || o.Kind == "" {
			f.Rule, f.Message = finding.RuleMissingType, errMissingType.Error()
			if o.Document > 1 {
				prefix = fmt.Sprintf("document %d: ", o.Document)
			}
		}
	case o.Doc.Locate == nil:
		f.Rule, f.Message = finding.RuleUnreadable, err.Error()
	default:
		f.Rule, f.Message, f.At, toFile = finding.RuleInvalidSchema, err.Error(), o.Start, inFile
	}
	f.Message = prefix + f.Message
	e.add(o, f, toFile, "")
}

// withoutPosition removes the unknown position from the start of a message, which will follow
// the true one.
func withoutPosition(message string) string {
	return strings.TrimPrefix(message, errors.Position{}.String()+": ")
}

// The longest messages: in general, and of errors whose line and column tell the place.
const (
	maxMessage = 2000
	maxPlace   = 300
)

// shortened leaves out the middle of a long text: the path to a deep value may be as long as
// the document.
func shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	head, tail := most*2/3, len(text)-most/3
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return fmt.Sprintf("%s[... %d bytes ...]%s", text[:head], tail-head, text[tail:])
}

// add adds a finding with a position in the document. If there is a name at this position, it
// is name.
func (e *Examiner) add(o *Object, f finding.Finding, toFile func(errors.Position) errors.Position, name string) {
	if f.At.IsValid() {
		f.At = toFile(f.At)
	}
	f.Message = shortened(f.Message, maxMessage)
	if len(o.Findings) == 0 && o.Namespace == "" && o.Name == "" {
		o.Namespace, o.Name = locate.ObjectName(o.Doc.JSON)
	}
	if f.At.IsValid() {
		line, column := lineAt(o.Doc.Text, int(f.At.Offset-o.Doc.Origin.Offset), max(maxExcerpt, maxEscape*len(name)+2))
		f.End = extent(line, f.At, column, name)
		if e.Sources {
			f.Source, f.Cut = excerpt(line, f.At, column)
		}
	}
	o.Findings = append(o.Findings, f)
}

// maxEscape is the length of what may stand for a byte of a name: \U00000041 in YAML.
const maxEscape = 10

// lineAt returns the line that has an offset of a text in it, and the offset in the line. Of a longer
// line, it is the part that begins maxExcerpt bytes before the offset and ends after bytes behind it,
// or a few more, to be whole characters: the line may be the file, and may have many findings.
func lineAt(text []byte, offset, after int) (line []byte, at int) {
	if offset < 0 || offset > len(text) {
		return nil, 0
	}
	first, last := max(offset-maxExcerpt, 0), min(offset+after, len(text))
	for first > 0 && !utf8.RuneStart(text[first]) {
		first--
	}
	for last < len(text) && !utf8.RuneStart(text[last]) {
		last++
	}
	start := first + bytes.LastIndexAny(text[first:offset], "\r\n") + 1
	line = text[start:last]
	if end := bytes.IndexAny(line, "\r\n"); end >= 0 {
		line = line[:end]
	}
	return line, min(offset-start, len(line))
}

// extent returns the end of a name, as it is written at a place, or the zero Position if the
// place has another text.
func extent(line []byte, at errors.Position, column int, name string) errors.Position {
	rest := line[column:]
	n := 0
	switch {
	case name == "" || len(rest) == 0:
		return errors.Position{}
	case rest[0] == '"' || rest[0] == '\'':
		end := bytes.IndexByte(rest[1:], rest[0])
		if end < 0 {
			return errors.Position{}
		}
		n = end + 2
	case bytes.HasPrefix(rest, []byte(name)):
		n = len(name)
	default:
		return errors.Position{}
	}
	at.Offset += int64(n)
	at.ByteColumn += n
	at.Column += utf8.RuneCount(rest[:n])
	return at
}

// maxExcerpt is the length of the excerpt of a line on either side of a place.
const maxExcerpt = 80

// excerpt returns the text around a place, which is at column of a line or of a part of it, and how
// many characters of the line precede it.
func excerpt(line []byte, at errors.Position, column int) (text string, cut int) {
	from, to := max(column-maxExcerpt, 0), min(column+maxExcerpt, len(line))
	for from > 0 && !utf8.RuneStart(line[from]) {
		from--
	}
	for to < len(line) && !utf8.RuneStart(line[to]) {
		to++
	}
	return string(line[from:to]), max(at.Column-1-utf8.RuneCount(line[from:column]), 0)
}
