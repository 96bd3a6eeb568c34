package main

// This file turns what the library finds into what the command reports.

import (
	"bytes"
	stderrors "errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// inFile is for positions that are those in the file already.
func inFile(p errors.Position) errors.Position { return p }

// note adds what was found in an object, in the order of the document.
func (e *examiner) note(o *object, program *schema.Program, found errors.List, omitted int) {
	if len(found) == 0 && omitted == 0 {
		return
	}
	found = slices.Clone(found)
	found.SortByPosition()
	strict := warning
	if e.validation == decoder.Strict {
		strict = failure
	}
	reported := false
	for i := range found {
		f := &found[i]
		n := finding{severity: strict, message: f.Error(), at: f.Position, field: f.Path}
		switch f.Kind {
		case errors.TypeMismatch:
			n.severity, n.rule = failure, ruleType
		case errors.DroppedNull:
			if isNoTime(f.Path) {
				continue
			}
			n.severity, n.rule = warning, ruleNull
		case errors.DuplicateField:
			n.rule, n.first = ruleDuplicate, o.doc.locate(f.First)
			n.message += ", first at " + n.first.String()
			if f.Count > 1 {
				n.message += fmt.Sprintf(", repeated %d times", f.Count)
			}
		default:
			n.rule = ruleUnknown
			a := e.advise(program, f.Path)
			n.suggestion = a.suggestion
			n.message += a.text
		}
		if e.validation == decoder.Ignore && n.severity == strict && n.rule != ruleNull {
			continue
		}
		reported = true
		e.add(o, n, o.doc.locate, lastName(f.Path))
	}
	if omitted > 0 && (reported || e.validation != decoder.Ignore) {
		e.add(o, finding{severity: strict, rule: ruleMore, message: fmt.Sprintf("%d more findings in this object", omitted), at: o.start}, inFile, "")
	}
}

// An adviceKey is what advice depends on: a path without its indices.
type adviceKey struct {
	program *schema.Program
	pattern string
}

type adviceText struct{ suggestion, text string }

// maxAdvice is for how many places advice is kept: mistakes repeat themselves.
const maxAdvice = 1 << 12

// advise returns what may have been meant by an unknown field.
func (e *examiner) advise(program *schema.Program, path errors.Path) adviceText {
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
		a.suggestion = suggestion(program, path)
		a.text = advice(program, path, a.suggestion)
		if len(e.advice) >= maxAdvice {
			clear(e.advice)
		}
		e.advice[key] = a
	}
	return a
}

// isNoTime reports whether a path is that of metadata.creationTimestamp: tools that
// write manifests put a null there, and nobody misses it.
func isNoTime(path errors.Path) bool {
	parent, name, _ := cutLast(path)
	return name == "creationTimestamp" && lastName(parent) == "metadata"
}

// lastName returns the name that a path ends with, or "" where it ends otherwise.
func lastName(path errors.Path) (name string) {
	for s := range path.Segments() {
		name = s.Name
	}
	return name
}

// refuse notes why there is no result for an object. toFile leads from the positions
// in the error to those in the file.
func (e *examiner) refuse(o *object, err error, toFile func(errors.Position) errors.Position) {
	f := finding{severity: failure, fatal: true}
	prefix := ""
	if o.document > 1 && o.kind == "" {
		prefix = fmt.Sprintf("document %d: ", o.document)
	}
	var syntax *errors.SyntaxError
	var limit *errors.LimitError
	var mismatch *errors.TypeError
	var notFound *schema.NotFoundError
	switch {
	case stderrors.As(err, &mismatch):
		for i := range mismatch.Findings {
			m := &mismatch.Findings[i]
			f.rule, f.message, f.at = ruleType, prefix+m.Error(), m.Position
			f.field = m.Path
			e.add(o, f, toFile, "")
		}
		if mismatch.Omitted > 0 {
			e.add(o, finding{severity: failure, fatal: true, rule: ruleMore, message: fmt.Sprintf("%d more findings in this object", mismatch.Omitted), at: o.start}, inFile, "")
		}
		return
	case stderrors.As(err, &syntax):
		cause := *syntax
		cause.Position = errors.Position{}
		f.rule, f.message, f.at = ruleSyntax, shortened(withoutPosition(cause.Error()), maxPlace), syntax.Position
		f.field = syntax.Path
	case stderrors.As(err, &limit):
		cause := *limit
		cause.Position = errors.Position{}
		f.rule, f.message, f.at = ruleLimit, shortened(withoutPosition(cause.Error()), maxPlace), limit.Position
	case stderrors.As(err, &notFound):
		f.rule, f.message, f.at, toFile = ruleMissingSchema, err.Error()+e.nearMiss(o.apiVersion, o.kind).hint, o.start, inFile
		if o.apiVersion == "" || o.kind == "" {
			f.rule, f.message = ruleMissingType, errMissingType.Error()
			if o.document > 1 {
				prefix = fmt.Sprintf("document %d: ", o.document)
			}
		}
	case o.doc.locate == nil:
		f.rule, f.message = ruleUnreadable, err.Error()
	default:
		f.rule, f.message, f.at, toFile = ruleInvalidSchema, err.Error(), o.start, inFile
	}
	f.message = prefix + f.message
	e.add(o, f, toFile, "")
}

// withoutPosition removes the unknown position from the start of a message that
// is written behind the true one.
func withoutPosition(message string) string {
	return strings.TrimPrefix(message, errors.Position{}.String()+": ")
}

// How long a message may be, and one that is about a place which line and column say, too.
const (
	maxMessage = 2000
	maxPlace   = 300
)

// shortened returns a text of which the middle is left out where it is long: the path to what
// is deep may be as long as the document.
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

// add adds a finding whose place is that in the document. name is what stands there,
// if it is a name.
func (e *examiner) add(o *object, f finding, toFile func(errors.Position) errors.Position, name string) {
	if f.at.IsValid() {
		f.at = toFile(f.at)
	}
	f.message = shortened(f.message, maxMessage)
	if len(o.findings) == 0 && o.namespace == "" && o.name == "" {
		o.namespace, o.name = peekName(o.doc.json)
	}
	if f.at.IsValid() {
		line, column := lineAt(o.doc.text, int(f.at.Offset-o.doc.origin.Offset))
		f.end = extent(line, f.at, column, name)
		if e.sources {
			f.source, f.cut = excerpt(line, column)
		}
	}
	o.findings = append(o.findings, f)
}

// lineAt returns the line of a text that has an offset in it, and where in the line
// that is.
func lineAt(text []byte, offset int) (line []byte, at int) {
	if offset < 0 || offset > len(text) {
		return nil, 0
	}
	start := bytes.LastIndexAny(text[:offset], "\r\n") + 1
	line = text[start:]
	if end := bytes.IndexAny(line, "\r\n"); end >= 0 {
		line = line[:end]
	}
	return line, min(offset-start, len(line))
}

// extent returns where the name ends that starts at a place, as it is written, or the
// zero Position where another text stands there.
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

// maxExcerpt is how much of a line is kept: on both sides of a place.
const maxExcerpt = 80

// excerpt returns what is around a place in a line, and how many characters of the
// line are left out in front of it.
func excerpt(line []byte, at int) (text string, cut int) {
	from, to := max(at-maxExcerpt, 0), min(at+maxExcerpt, len(line))
	for from > 0 && !utf8.RuneStart(line[from]) {
		from--
	}
	for to < len(line) && !utf8.RuneStart(line[to]) {
		to++
	}
	return string(line[from:to]), utf8.RuneCount(line[:from])
}
