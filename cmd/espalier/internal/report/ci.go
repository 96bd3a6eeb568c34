package report

// This file has the formats that continuous integration reads line by line: the annotations of
// GitHub and the Test Anything Protocol.

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
)

// A githubReporter writes workflow commands, which become annotations of a pull
// request (docs.github.com, Workflow commands for GitHub Actions).
type githubReporter struct{ to io.Writer }

func (r *githubReporter) Begin() error { return nil }

func (r *githubReporter) End(*Summary) error { return nil }

// actions/toolkit escapes the characters that end a command or a property.
var (
	escapeMessage  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	escapeProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func (r *githubReporter) Add(file string, v *finding.Outcome) error {
	var b []byte
	of := v.Identity.String()
	for i := range v.Findings {
		f := &v.Findings[i]
		b = fmt.Appendf(b, "::%s file=%s", f.Severity, escapeProperty.Replace(sanitize.Text(file)))
		if f.At.IsValid() {
			b = fmt.Appendf(b, ",line=%d,col=%d", f.At.Line, f.At.Column)
		}
		if f.End.IsValid() {
			b = fmt.Appendf(b, ",endColumn=%d", f.End.Column)
		}
		message := f.Message
		if of != "" {
			message += " (" + of + ")"
		}
		if f.Definition.At.IsValid() {
			message += " (" + f.Definition.String() + ")"
		}
		b = fmt.Appendf(b, ",title=%s::%s\n", escapeProperty.Replace("espalier: "+f.Rule), escapeMessage.Replace(sanitize.Text(message)))
	}
	if len(b) == 0 {
		return nil
	}
	return WriteAll(r.to, b)
}

// A tapReporter writes the Test Anything Protocol, version 14, with a test for each object.
type tapReporter struct {
	to *bufio.Writer
	n  int
}

func (r *tapReporter) Begin() error {
	_, err := r.to.WriteString("TAP version 14\n")
	return err
}

func (r *tapReporter) Add(file string, v *finding.Outcome) error {
	if v.IsList && len(v.Findings) == 0 {
		return nil
	}
	r.n++
	ok := "ok"
	if v.Worst() == finding.Error {
		ok = "not ok"
	}
	fmt.Fprintf(r.to, "%s %d - %s", ok, r.n, tapText(caseName(file, v)))
	if v.Skipped || v.Unchecked {
		r.to.WriteString(" # SKIP no schema")
	}
	r.to.WriteString("\n")
	if len(v.Findings) > 0 {
		r.to.WriteString("  ---\n  findings:\n")
	}
	for i := range v.Findings {
		f := &v.Findings[i]
		fmt.Fprintf(r.to, "  - message: %s\n    severity: %s\n    rule: %s\n", strconv.Quote(f.Message), f.Severity, f.Rule)
		if f.At.IsValid() {
			fmt.Fprintf(r.to, "    at: {file: %s, line: %d, column: %d}\n", strconv.Quote(file), f.At.Line, f.At.Column)
		}
		if d := f.Definition; d.At.IsValid() {
			fmt.Fprintf(r.to, "    definition: {file: %s, line: %d, column: %d}\n", strconv.Quote(d.File), d.At.Line, d.At.Column)
		}
	}
	if len(v.Findings) > 0 {
		r.to.WriteString("  ...\n")
	}
	return r.to.Flush()
}

// tapText escapes characters with a meaning in the description of a test.
func tapText(s string) string {
	return strings.NewReplacer(`\`, `\\`, "#", `\#`, "\n", `\n`, "\r", `\r`).Replace(s)
}

// caseName returns the name of the test for an object of a file.
func caseName(file string, v *finding.Outcome) string {
	name := sanitize.Name(file)
	if v.Start.IsValid() {
		name += ":" + strconv.Itoa(v.Start.Line)
	}
	if of := v.Identity.String(); of != "" {
		name += " " + of
	}
	return name
}

func (r *tapReporter) End(*Summary) error {
	fmt.Fprintf(r.to, "1..%d\n", r.n)
	return r.to.Flush()
}
