package main

import (
	"bufio"
	"io"
)

// A reporter writes verdicts in one of the output formats, in the order of the files.
type reporter interface {
	begin() error
	verdict(file string, v *verdict) error
	end(*summary) error
}

// A summary counts what was checked, and what was found.
type summary struct {
	files, objects, skipped int
	errors, warnings        int
	missing                 int // objects for which there is no schema
	unreadable              int // files
	partial                 int // definitions
}

func (s *summary) add(v *verdict) {
	if v.document > 0 && !v.isList {
		s.objects++
	}
	if v.skipped {
		s.skipped++
	}
	if v.partial {
		s.partial++
	}
	for i := range v.findings {
		switch f := &v.findings[i]; {
		case f.rule == ruleUnreadable:
			s.unreadable++
			s.errors++
		case f.severity == failure:
			s.errors++
		default:
			s.warnings++
		}
		if v.findings[i].rule == ruleMissingSchema {
			s.missing++
		}
	}
}

// newReporter returns the reporter for a format.
func newReporter(format string, to io.Writer, text textPrinter) reporter {
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
	return &textReporter{textPrinter: text, to: to}
}

// A textReporter writes what is found, one finding a line.
type textReporter struct {
	textPrinter
	to  io.Writer
	buf []byte
}

func (r *textReporter) begin() error { return nil }

func (r *textReporter) verdict(file string, v *verdict) error {
	if len(v.findings) == 0 {
		return nil
	}
	r.buf = r.append(r.buf[:0], file, v)
	return writeAll(r.to, r.buf)
}

func (r *textReporter) end(*summary) error { return nil }

// writeAll writes a text with one call.
func writeAll(to io.Writer, text []byte) error {
	n, err := to.Write(text)
	if err == nil && n < len(text) {
		err = io.ErrShortWrite
	}
	return err
}
