package validation

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/internal/recognize"
	recognizers "github.com/espalier-dev/espalier/internal/recognize/compile"
	"github.com/espalier-dev/espalier/internal/screen"
	"github.com/espalier-dev/espalier/internal/validate"
)

// A textKey has the rules for strings.
type textKey struct {
	pattern, format string
	least, most     int // code points
	enum            string
	hasEnum         bool
	// metadata is a rule for a part of metadata.
	metadata string
}

// A textChecker checks strings.
type textChecker struct {
	textKey
	enum       map[string]struct{}
	pattern    *pattern
	recognizes func(text []byte) bool // most texts of the format
	isFormat   func(text string) bool
	isMetadata func(text []byte) bool
}

func (m *maker) newText(key textKey) *textChecker {
	c := &textChecker{textKey: key}
	if key.hasEnum {
		c.enum = make(map[string]struct{})
		for text := range strings.SplitSeq(strings.TrimSuffix(key.enum, "\x00"), "\x00") {
			c.enum[text] = struct{}{}
		}
		if key.enum == "" {
			clear(c.enum)
		}
	}
	if key.pattern != "" {
		c.pattern = keep(&m.patterns, key.pattern, func() *pattern { return m.newPattern(key.pattern) })
	}
	if key.format != "" {
		c.recognizes, c.isFormat = recognizers.Format(key.format), validate.KnownFormat(key.format)
	}
	return c
}

// Check is the method of program.Checker.
func (c *textChecker) Check(text []byte) program.Verdict {
	if c.enum != nil {
		if _, ok := c.enum[string(text)]; !ok {
			return program.Invalid
		}
	}
	// A code point has at most four bytes.
	if len(text) > c.most || len(text) < 4*c.least {
		if n := utf8.RuneCount(text); n < c.least || n > c.most {
			return program.Invalid
		}
	}
	if c.pattern != nil && !c.pattern.match(text) {
		return program.Invalid
	}
	if c.isFormat != nil && !(c.recognizes != nil && c.recognizes(text)) && !c.isFormat(string(text)) {
		return program.Invalid
	}
	if c.isMetadata != nil && !c.isMetadata(text) {
		return program.Unsure
	}
	return program.Valid
}

// A pattern is a regular expression, with an automaton that recognizes most texts of it if there is
// one. A malformed one matches everything, as the server has refused it.
type pattern struct {
	matcher *recognize.Matcher
	exact   *regexp.Regexp
}

func (m *maker) newPattern(expr string) *pattern {
	exact, err := regexp.Compile(expr)
	if err != nil {
		return &pattern{}
	}
	return &pattern{m.matchers.Matcher(expr), exact}
}

func (p *pattern) match(text []byte) bool {
	return p.exact == nil || p.matcher != nil && p.matcher.Match(text) || p.exact.Match(text)
}

// A literalKey has the rules for numbers, true and false.
type literalKey struct {
	least, most, factor int64
	unsure              bool   // about numbers
	enum                string // the literals that are allowed, each in a line with an empty one before it
	hasEnum             bool
}

// A literalChecker checks numbers, true and false.
type literalChecker struct{ literalKey }

// Check is the method of program.Checker.
func (c *literalChecker) Check(literal []byte) program.Verdict {
	// The server converts numbers before it compares them with an enum.
	if c.hasEnum && !containsLine(c.enum, literal) {
		return program.Unsure
	}
	if literal[0] == 't' || literal[0] == 'f' {
		return program.Valid
	}
	n, ok := screen.Whole(literal)
	switch {
	case !ok || c.unsure:
		return program.Unsure
	case n < c.least || n > c.most || c.factor != 0 && n%c.factor != 0:
		return program.Invalid
	}
	return program.Valid
}

// containsLine reports whether a text has the line, each of which is between line breaks.
func containsLine(lines string, line []byte) bool {
	for at := 0; ; {
		i := strings.Index(lines[at:], string(line))
		if i < 0 {
			return false
		}
		i += at
		end := i + len(line)
		if i > 0 && lines[i-1] == '\n' && end < len(lines) && lines[end] == '\n' {
			return true
		}
		at = i + 1
	}
}
