package suppress

// This file reads comments. NOTE: whether the text of a comment is one, and not a line of a block
// scalar or of a text in quotes, is for the reader of YAML to say. The document is read once more,
// with a mark in place of "espalier" in each candidate: marks in the JSON are in texts.

import (
	"bytes"
	stderrors "errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/input"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/position"
	"github.com/espalier-dev/espalier/internal/suggest"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// A scope is what a comment is about.
type scope uint8

const (
	onLine scope = iota // its line, or the next one with content if the comment is alone
	inDocument
	inFile
)

// A comment suppresses findings of some rules in its scope.
type comment struct {
	scope  scope
	line   int // of the findings, for onLine
	ids    []string
	used   []bool // for each of ids
	reason string
	at     errors.Position
}

var (
	// candidates also finds what people write by mistake.
	candidates = regexp.MustCompile(`(?i)#+[ \t]*(espalier)[ \t]*[:-][ \t]*(?:ignore|disable|skip|nolint)[^\r\n]*`)
	form       = regexp.MustCompile(`^#+[ \t]*espalier:ignore(-document|-file)?(?:[ \t]+(.*))?$`)
)

// candidate is a comment, unless it is text.
type candidate struct {
	start, end int // in the text of the document
	name       int // where "espalier" starts
	alone      bool
}

// findComments returns the comments in a document that is valid YAML, and findings about those that
// cannot be understood.
func findComments(doc *input.Document) (found []*comment, faults []finding.Finding) {
	all := findCandidates(doc.Text)
	if len(all) == 0 || !doc.IsYAML {
		return nil, nil
	}
	isText, ok := textsAmong(doc.Text, all)
	if !ok {
		return nil, nil
	}
	var places position.Index
	places.Start(doc.Text, 0)
	at := func(offset int) errors.Position { return position.Within(places.At(offset), doc.Origin) }
	about := make([]int, len(all))
	next := len(doc.Text) // the content after the candidate after this one
	for i, c := range slices.Backward(all) {
		about[i] = c.start
		if c.alone {
			next = contentAfter(doc.Text, c.end, all[i+1:], next)
			about[i] = next
		}
	}
	for i, c := range all {
		if isText[i] {
			continue
		}
		one, err := parse(string(doc.Text[c.start:c.end]), len(faults) < maxFindings)
		if err == nil && one.scope == inFile && doc.Number > 1 {
			err = stderrors.New("espalier:ignore-file must be in the first document of the file")
		}
		if err != nil {
			faults = append(faults, finding.Finding{
				Severity: finding.Error, Rule: finding.RuleSuppression, Message: err.Error(), At: at(c.start), End: at(c.end),
			})
			continue
		}
		one.at = at(c.start)
		if one.scope == onLine {
			one.line = at(about[i]).Line
		}
		found = append(found, one)
	}
	return found, faults
}

// findCandidates returns what looks like a comment of ours. There is at most one in a line.
func findCandidates(text []byte) (all []candidate) {
	if !mayHaveCandidates(text) {
		return nil
	}
	for _, m := range candidates.FindAllSubmatchIndex(text, -1) {
		before := text[bytes.LastIndexAny(text[:m[0]], "\r\n")+1 : m[0]]
		if len(before) == m[0] {
			before = bytes.TrimPrefix(before, []byte("\uFEFF"))
		}
		if len(before) > 0 && before[len(before)-1] != ' ' && before[len(before)-1] != '\t' {
			continue // it is a part of a word
		}
		lead := bytes.TrimLeft(before, " \t")
		if len(lead) > 0 && lead[0] == '#' {
			continue // it is within another comment
		}
		all = append(all, candidate{start: m[0], end: m[1], name: m[2], alone: len(lead) == 0})
	}
	return all
}

// mayHaveCandidates reports whether "espalier" follows a "#", in ASCII letters of any case, with only
// "#" and blanks between them. It spares most documents the regular expression, which looks at each
// byte.
func mayHaveCandidates(text []byte) bool {
	name := []byte("espalier")
	for {
		i := bytes.IndexByte(text, '#')
		if i < 0 {
			return false
		}
		text = bytes.TrimLeft(text[i:], "# \t")
		if len(text) >= len(name) && bytes.EqualFold(text[:len(name)], name) {
			return true
		}
	}
}

// contentAfter returns the offset of the next line with content. The first of the later candidates
// that is reached and alone has that line already, which is next.
func contentAfter(text []byte, offset int, later []candidate, next int) int {
	for offset < len(text) {
		end := bytes.IndexAny(text[offset:], "\r\n")
		if end < 0 {
			break
		}
		offset += end + 1
		rest := bytes.TrimLeft(text[offset:], " \t")
		at := len(text) - len(rest)
		switch {
		case len(rest) == 0:
			return len(text)
		case len(later) > 0 && later[0].start == at && later[0].alone:
			return next
		case rest[0] != '#' && rest[0] != '\r' && rest[0] != '\n':
			return at
		}
		offset = at
	}
	return len(text)
}

// A mark has the length of "espalier": two letters, and the number of a candidate.
const (
	markLead   = "zq"
	markDigits = len("espalier") - len(markLead)
)

// textsAmong reports which candidates are in texts. It is not ok if the document cannot be read.
func textsAmong(text []byte, all []candidate) (isText []bool, ok bool) {
	marked := slices.Clone(text)
	for i, c := range all {
		copy(marked[c.name:], fmt.Sprintf("%s%0*s", markLead, markDigits, strconv.FormatInt(int64(i), 36)))
	}
	js, err := yamlbridge.AppendJSON(nil, marked)
	if err != nil {
		return nil, false
	}
	isText = make([]bool, len(all))
	for {
		at := bytes.Index(js, []byte(markLead))
		if at < 0 || len(js) < at+len("espalier") {
			return isText, true
		}
		js = js[at+len(markLead):]
		if i, err := strconv.ParseUint(string(js[:markDigits]), 36, 64); err == nil && i < uint64(len(all)) {
			isText[i] = true
		}
	}
}

// errNoRule is an error that is only counted.
var errNoRule = stderrors.New("there is no such rule")

const howTo = "write # espalier:ignore RULE -- REASON"

// parse reads a comment. Guesses what a misspelled rule means take time, and are made if suggests
// says so.
func parse(text string, suggests bool) (*comment, error) {
	m := form.FindStringSubmatch(strings.TrimRight(text, " \t"))
	if m == nil {
		return nil, fmt.Errorf("the comment silences nothing: %s, or ignore-document or ignore-file for ignore", howTo)
	}
	c := &comment{scope: map[string]scope{"": onLine, "-document": inDocument, "-file": inFile}[m[1]]}
	rules, reason, _ := strings.Cut(" "+m[2]+" ", " -- ")
	c.reason = strings.TrimSpace(reason)
	if c.reason == "" {
		return nil, fmt.Errorf("the comment silences nothing: it has no reason: %s", howTo)
	}
	c.ids = strings.FieldsFunc(rules, func(r rune) bool { return r == ' ' || r == '\t' || r == ',' })
	if len(c.ids) == 0 {
		return nil, fmt.Errorf("the comment silences nothing: it names no rule: %s", howTo)
	}
	slices.Sort(c.ids)
	c.ids = slices.Compact(c.ids)
	for _, id := range c.ids {
		if rule := finding.RuleOf(id); rule == nil && !suggests {
			return nil, errNoRule
		}
		if err := CheckRule(id); err != nil {
			return nil, fmt.Errorf("the comment silences nothing: %w", err)
		}
	}
	c.used = make([]bool, len(c.ids))
	return c, nil
}

// CheckRule returns an error if findings of a rule cannot be suppressed, or if there is none of
// this name.
func CheckRule(id string) error {
	rule := finding.RuleOf(id)
	switch {
	case rule == nil:
		hint := "; espalier explain lists the rules"
		if meant := suggest.Closest(id, finding.RuleIDs()); meant != "" {
			hint = fmt.Sprintf(", did you mean %q?", meant)
		}
		return fmt.Errorf("there is no rule %.60q%s", id, hint)
	case rule.Fixed:
		return fmt.Errorf("findings of the rule %s cannot be silenced", id)
	}
	return nil
}
