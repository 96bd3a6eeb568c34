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
	Errors, Warnings        int
	Missing                 int // objects that need a schema and have none
	Unreadable              int // files
	Partial                 int // definitions
}

// Add counts an outcome.
func (s *Summary) Add(v *finding.Outcome) {
	if v.Document > 0 && !v.IsList {
		s.Objects++
	}
	if v.Skipped {
		s.Skipped++
	}
	if v.Partial {
		s.Partial++
	}
	for i := range v.Findings {
		switch f := &v.Findings[i]; {
		case f.Rule == finding.RuleUnreadable:
			s.Unreadable++
			s.Errors++
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
