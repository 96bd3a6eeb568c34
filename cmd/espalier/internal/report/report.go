// Package report writes findings: as text for people and editors, and as JSON,
// SARIF, JUnit, TAP and annotations of GitHub for programs.
package report

import (
	"bufio"
	"io"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
)

// A Reporter writes outcomes in one of the output formats, in the order of the files.
type Reporter interface {
	Begin() error
	Add(file string, v *finding.Outcome) error
	End(*Summary) error
}

// A Summary counts the objects that were checked, and their findings.
type Summary struct {
	Files, Objects, Skipped int
	Compared                int // objects that replace others
	Errors, Warnings        int
	Missing                 int             // objects that need a schema and have none
	Unreadable              int             // files
	Partial                 int             // definitions
	Parts                   int             // of objects
	Lists                   int             // with their items, which are objects
	Checked                 int             // objects that were decoded by a schema
	Unchecked               int             // objects of kinds without a schema, in groups of which nothing is known
	NoObjects               int             // files
	Templates               int             // files
	Charts                  map[string]bool // of templates, by their folders
	RulesOff                int             // objects whose rules were not evaluated
	Suppressed              int             // findings that are not reported
	Excluded                int             // files
}

// Add counts an outcome.
func (s *Summary) Add(v *finding.Outcome) {
	switch {
	case v.IsTemplate && v.Document == 0:
		s.Templates++
		if s.Charts == nil {
			s.Charts = map[string]bool{}
		}
		if v.Chart != "" {
			s.Charts[v.Chart] = true
		}
	case v.NoObject && v.Document == 0:
		s.NoObjects++
	case v.IsTemplate, v.NoObject:
	case v.IsList && v.Kind != "":
		s.Lists++
	case v.Document > 0 && !v.IsList:
		s.Objects++
		if v.Part {
			s.Parts++
		}
		if v.Unchecked {
			s.Unchecked++
		} else if !v.Skipped && !v.Partial && !v.IsFatal() {
			s.Checked++
		}
	}
	if v.Skipped {
		s.Skipped++
	}
	if v.RulesOff {
		s.RulesOff++
	}
	if v.Compared {
		s.Compared++
	}
	if v.Partial {
		s.Partial++
	}
	s.Suppressed += len(v.Suppressed)
	for i := range v.Findings {
		switch f := &v.Findings[i]; {
		case f.Rule == finding.RuleUnreadable:
			s.Unreadable++
			s.Errors++
		case v.Follows(f):
		case f.Severity == finding.Error:
			s.Errors++
		default:
			s.Warnings++
		}
		if v.Findings[i].Rule == finding.RuleMissingSchema {
			s.Missing++
		}
	}
}

// New returns the reporter for a format. The printer is for text.
func New(format string, to io.Writer, text TextPrinter) Reporter {
	switch format {
	case "json":
		return newJSONReporter(to)
	case "sarif":
		return newSARIFReporter(to)
	case "github":
		return &githubReporter{to}
	case "junit":
		return newJUnitReporter(to)
	case "tap":
		return &tapReporter{to: bufio.NewWriter(to)}
	}
	return &textReporter{TextPrinter: text, to: to}
}

// A textReporter writes one finding per line.
type textReporter struct {
	TextPrinter
	to  io.Writer
	buf []byte
}

func (r *textReporter) Begin() error { return nil }

func (r *textReporter) Add(file string, v *finding.Outcome) error {
	if len(v.Findings) == 0 {
		return nil
	}
	r.buf = r.Append(r.buf[:0], file, v)
	return WriteAll(r.to, r.buf)
}

func (r *textReporter) End(*Summary) error { return nil }

// WriteAll writes a text with one call, and fails if not all of it is written.
func WriteAll(to io.Writer, text []byte) error {
	n, err := to.Write(text)
	if err == nil && n < len(text) {
		err = io.ErrShortWrite
	}
	return err
}
