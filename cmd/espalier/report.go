package main

import (
	stderrors "errors"
	"fmt"
	"io"
	"slices"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// A report writes what is found in one file, as file:line:column: message. The
// place is left out where it is not known.
type report struct {
	to   io.Writer
	file string
	code int
}

func (r *report) line(at errors.Position, severity, message string) {
	if at.IsValid() {
		fmt.Fprintf(r.to, "%s:%s: %s: %s\n", r.file, at, severity, message)
		return
	}
	fmt.Fprintf(r.to, "%s: %s: %s\n", r.file, severity, message)
}

// unreadable reports why there is no document, or nothing behind it. The
// positions in the error are those in the file.
func (r *report) unreadable(doc document, err error) {
	r.fatal(doc, err, func(p errors.Position) errors.Position { return p })
}

// fatal reports why there is no result for a document. locate leads from the
// positions in the error to those in the file.
func (r *report) fatal(doc document, err error, locate func(errors.Position) errors.Position) {
	r.code = exitInput
	prefix := ""
	if doc.number > 1 {
		prefix = fmt.Sprintf("document %d: ", doc.number)
	}
	var syntax *errors.SyntaxError
	var limit *errors.LimitError
	var mismatch *errors.TypeError
	switch {
	case stderrors.As(err, &mismatch):
		for i := range mismatch.Findings {
			f := &mismatch.Findings[i]
			r.line(locate(f.Position), "error", prefix+f.Error())
		}
		r.omitted(doc, mismatch.Omitted, "error")
		return
	case stderrors.As(err, &syntax):
		at := syntax.Position
		cause := *syntax
		cause.Position = errors.Position{}
		r.line(locate(at), "error", prefix+withoutPosition(cause.Error()))
	case stderrors.As(err, &limit):
		at := limit.Position
		cause := *limit
		cause.Position = errors.Position{}
		r.line(locate(at), "error", prefix+withoutPosition(cause.Error()))
	default:
		r.line(doc.start, "error", prefix+err.Error())
	}
}

// withoutPosition removes the unknown position from the start of a message that
// is written behind the true one.
func withoutPosition(message string) string {
	unknown := errors.Position{}.String() + ": "
	if len(message) > len(unknown) && message[:len(unknown)] == unknown {
		return message[len(unknown):]
	}
	return message
}

// findings reports what was found in a document, in its order.
func (r *report) findings(doc document, program *schema.Program, found errors.List, omitted int, validation decoder.Validation) {
	severity := "warning"
	switch validation {
	case decoder.Ignore:
		return
	case decoder.Strict:
		severity = "error"
		if len(found) > 0 {
			r.code = max(r.code, exitFindings)
		}
	}
	found = slices.Clone(found)
	found.SortByPosition()
	for i := range found {
		f := &found[i]
		message := f.Error()
		switch f.Kind {
		case errors.DuplicateField:
			message += ", first at " + doc.locate(f.First).String()
			if f.Count > 1 {
				message += fmt.Sprintf(", repeated %d times", f.Count)
			}
		case errors.UnknownField:
			if known := suggestion(program, f.Path); known != "" {
				message += fmt.Sprintf(", did you mean %s?", errors.AppendQuoted(nil, known))
			}
		}
		r.line(doc.locate(f.Position), severity, message)
	}
	r.omitted(doc, omitted, severity)
}

func (r *report) omitted(doc document, n int, severity string) {
	if n > 0 {
		r.line(doc.start, severity, fmt.Sprintf("%d more findings in this object", n))
	}
}
