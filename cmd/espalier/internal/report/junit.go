package report

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
)

// A junitReporter writes a report as JUnit's tasks for Ant do it: a suite for each
// file, a case for each object. Findings that are errors are failures; what cannot be
// read is an error. Order and attributes are those of the schemas that are around,
// that of github.com/windyroad/JUnit-Schema and that of Jenkins; only the latter
// knows what is skipped.
type junitReporter struct {
	to      *bufio.Writer
	started time.Time
	suites  int
	suite   *junitSuite
}

type (
	junitSuite struct {
		XMLName    xml.Name        `xml:"testsuite"`
		Package    string          `xml:"package,attr"`
		ID         int             `xml:"id,attr"`
		Name       string          `xml:"name,attr"`
		Timestamp  string          `xml:"timestamp,attr"`
		Hostname   string          `xml:"hostname,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Skipped    int             `xml:"skipped,attr,omitempty"` // unknown to the first schema
		Time       string          `xml:"time,attr"`
		Properties []junitProperty `xml:"properties>property"` // one schema requires the element, the other a property in it
		Cases      []junitCase     `xml:"testcase"`
		SystemOut  string          `xml:"system-out"`
		SystemErr  string          `xml:"system-err"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name      string        `xml:"name,attr"`
		Classname string        `xml:"classname,attr"`
		Time      string        `xml:"time,attr"`
		Skipped   *struct{}     `xml:"skipped"`
		Error     *junitProblem `xml:"error"`
		Failure   *junitProblem `xml:"failure"`
	}
	junitProblem struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// newJUnitReporter returns a reporter whose start is now, or the time in SOURCE_DATE_EPOCH
// (reproducible-builds.org).
func newJUnitReporter(to io.Writer) *junitReporter {
	r := &junitReporter{to: bufio.NewWriter(to), started: time.Now()}
	if n, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		r.started = time.Unix(n, 0)
	}
	return r
}

func (r *junitReporter) Begin() error {
	_, err := r.to.WriteString(xml.Header + "<testsuites>\n")
	return err
}

func (r *junitReporter) Add(file string, v *finding.Outcome) error {
	if v.IsList && len(v.Findings) == 0 {
		return nil
	}
	file = xmlText(sanitize.Text(file))
	if r.suite == nil || r.suite.Name != file {
		if err := r.flush(); err != nil {
			return err
		}
		r.suite = &junitSuite{Package: "espalier", ID: r.suites, Name: file, Hostname: "localhost", Time: "0",
			Properties: []junitProperty{{"tool", "espalier check"}},
			Timestamp:  r.started.UTC().Format("2006-01-02T15:04:05")}
		r.suites++
	}
	r.suite.add(file, v)
	return nil
}

func (s *junitSuite) add(file string, v *finding.Outcome) {
	c := junitCase{Name: xmlText(caseName(file, v)), Classname: "document", Time: "0"}
	if v.Kind != "" {
		c.Classname = xmlText(sanitize.Name(v.Kind))
	}
	s.Tests++
	problem := &junitProblem{}
	var text []byte
	for i := range v.Findings {
		f := &v.Findings[i]
		text = TextPrinter{}.Append(text, file, &finding.Outcome{Identity: v.Identity, Findings: v.Findings[i : i+1]})
		if f.Severity == finding.Error && problem.Type == "" {
			problem.Type, problem.Message = f.Rule, xmlText(sanitize.Text(f.Message))
		}
	}
	problem.Text = xmlText(string(text))
	switch {
	case v.Worst() == finding.Error && (problem.Type == finding.RuleUnreadable || problem.Type == finding.RuleSyntax || problem.Type == finding.RuleLimit):
		c.Error = problem
		s.Errors++
	case v.Worst() == finding.Error:
		c.Failure = problem
		s.Failures++
	case v.Skipped, v.Unchecked:
		c.Skipped = &struct{}{}
		s.Skipped++
	}
	if v.Worst() == finding.Warning {
		s.SystemOut += problem.Text
	}
	s.Cases = append(s.Cases, c)
}

// xmlText replaces characters that XML 1.0 does not allow.
func xmlText(s string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r == 0xfffe || r == 0xffff {
			return '\uFFFD'
		}
		return r
	}, s)
}

// flush writes the suite of the last file.
func (r *junitReporter) flush() error {
	if r.suite == nil {
		return nil
	}
	text, err := xml.MarshalIndent(r.suite, "  ", "  ")
	if err != nil {
		return err
	}
	r.suite = nil
	_, err = fmt.Fprintf(r.to, "%s\n", text)
	return err
}

func (r *junitReporter) End(*Summary) error {
	if err := r.flush(); err != nil {
		return err
	}
	r.to.WriteString("</testsuites>\n")
	return r.to.Flush()
}
