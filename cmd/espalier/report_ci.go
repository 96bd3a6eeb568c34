package main

// This file has the formats that systems for continuous integration read line by
// line: annotations of GitHub and the Test Anything Protocol.

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A githubReporter writes workflow commands, which become annotations of a pull
// request (docs.github.com, Workflow commands for GitHub Actions).
type githubReporter struct{ to io.Writer }

func (r *githubReporter) begin() error       { return nil }
func (r *githubReporter) end(*summary) error { return nil }

// What ends a command or a property is escaped, as actions/toolkit does it.
var (
	escapeMessage  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	escapeProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func (r *githubReporter) verdict(file string, v *verdict) error {
	var b []byte
	of := v.identity.String()
	for i := range v.findings {
		f := &v.findings[i]
		b = fmt.Appendf(b, "::%s file=%s", f.severity, escapeProperty.Replace(safe(file)))
		if f.at.IsValid() {
			b = fmt.Appendf(b, ",line=%d,col=%d", f.at.Line, f.at.Column)
		}
		if f.end.IsValid() {
			b = fmt.Appendf(b, ",endColumn=%d", f.end.Column)
		}
		message := f.message
		if of != "" {
			message += " (" + of + ")"
		}
		b = fmt.Appendf(b, ",title=%s::%s\n", escapeProperty.Replace("espalier: "+f.rule), escapeMessage.Replace(safe(message)))
	}
	if len(b) == 0 {
		return nil
	}
	return writeAll(r.to, b)
}

// A tapReporter writes a stream of the Test Anything Protocol, version 14: a test for
// each object.
type tapReporter struct {
	to *bufio.Writer
	n  int
}

func (r *tapReporter) begin() error {
	_, err := r.to.WriteString("TAP version 14\n")
	return err
}

func (r *tapReporter) verdict(file string, v *verdict) error {
	if v.isList && len(v.findings) == 0 {
		return nil
	}
	r.n++
	ok := "ok"
	if v.worst() == failure {
		ok = "not ok"
	}
	fmt.Fprintf(r.to, "%s %d - %s", ok, r.n, tapText(caseName(file, v)))
	if v.skipped {
		r.to.WriteString(" # SKIP no schema")
	}
	r.to.WriteString("\n")
	if len(v.findings) > 0 {
		r.to.WriteString("  ---\n  findings:\n")
	}
	for i := range v.findings {
		f := &v.findings[i]
		fmt.Fprintf(r.to, "  - message: %s\n    severity: %s\n    rule: %s\n", strconv.Quote(f.message), f.severity, f.rule)
		if f.at.IsValid() {
			fmt.Fprintf(r.to, "    at: {file: %s, line: %d, column: %d}\n", strconv.Quote(file), f.at.Line, f.at.Column)
		}
	}
	if len(v.findings) > 0 {
		r.to.WriteString("  ...\n")
	}
	return r.to.Flush()
}

// tapText escapes what means something in the description of a test.
func tapText(s string) string {
	return strings.NewReplacer(`\`, `\\`, "#", `\#`, "\n", `\n`, "\r", `\r`).Replace(s)
}

// caseName says which object of a file a test is about.
func caseName(file string, v *verdict) string {
	name := printable(file)
	if v.start.IsValid() {
		name += ":" + strconv.Itoa(v.start.Line)
	}
	if of := v.identity.String(); of != "" {
		name += " " + of
	}
	return name
}

func (r *tapReporter) end(*summary) error {
	fmt.Fprintf(r.to, "1..%d\n", r.n)
	return r.to.Flush()
}
