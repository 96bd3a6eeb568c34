package validation

import (
	"bytes"
	"regexp"
	"strconv"
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
	least, most     int    // code points
	enum            string // the texts that are allowed: see enumBuilder
	hasEnum         bool
	// metadata is a rule for a part of metadata.
	metadata string
}

// newText returns a checker for strings. Most have one rule.
func (m *maker) newText(key textKey) program.Checker {
	var all allOf
	if key.hasEnum {
		all = append(all, newEnum(key.enum))
	}
	if key.least > 0 || key.most < unlimited {
		all = append(all, &lengthChecker{key.least, key.most})
	}
	if key.pattern != "" {
		all = append(all, keep(&m.patterns, key.pattern, func() *pattern { return m.newPattern(key.pattern) }))
	}
	if key.format != "" {
		all = append(all, &formatChecker{
			recognizers.Format(key.format), validate.KnownFormat(key.format), neededBytes[key.format],
		})
	}
	if want, ok := strings.CutPrefix(key.metadata, isPrefix); ok {
		all = append(all, &constant{want})
	} else if key.metadata != "" {
		all = append(all, &recognizer{metadataRules[key.metadata]})
	}
	if len(all) == 1 {
		return all[0]
	}
	return &all
}

// isPrefix begins the name of a rule in metadata that allows one text.
const isPrefix = "is "

// allOf has several checkers.
type allOf []program.Checker

// Check is the method of program.Checker.
func (all *allOf) Check(text []byte) program.Verdict {
	for _, c := range *all {
		if v := c.Check(text); v != program.Valid {
			return v
		}
	}
	return program.Valid
}

// A constant allows one text.
type constant struct{ want string }

// Check is the method of program.Checker.
func (c *constant) Check(text []byte) program.Verdict {
	if string(text) != c.want {
		return program.Unsure
	}
	return program.Valid
}

// A recognizer recognizes texts that are surely valid.
type recognizer struct{ is func(text []byte) bool }

// Check is the method of program.Checker.
func (r *recognizer) Check(text []byte) program.Verdict {
	if !r.is(text) {
		return program.Unsure
	}
	return program.Valid
}

// A lengthChecker has bounds in code points.
type lengthChecker struct{ least, most int }

// Check is the method of program.Checker.
func (c *lengthChecker) Check(text []byte) program.Verdict {
	// A code point has at most four bytes.
	if len(text) > c.most || len(text)/4 < c.least {
		if n := utf8.RuneCount(text); n < c.least || n > c.most {
			return program.Invalid
		}
	}
	return program.Valid
}

// A formatChecker recognizes most texts of a format, and checks others exactly.
type formatChecker struct {
	recognizes func(text []byte) bool // or nil
	is         func(text string) bool
	needs      byte // that each text has, or 0
}

// neededBytes tell addresses apart, of which one format or the other is often allowed.
var neededBytes = map[string]byte{"ipv4": '.', "ipv6": ':'}

// Check is the method of program.Checker.
func (c *formatChecker) Check(text []byte) program.Verdict {
	switch {
	case c.recognizes != nil && c.recognizes(text):
		return program.Valid
	case c.needs != 0 && bytes.IndexByte(text, c.needs) < 0:
		return program.Invalid
	case c.is(string(text)):
		return program.Valid
	}
	return program.Invalid
}

// An enumChecker has the texts of an enum.
type enumChecker struct {
	texts []string
	many  map[string]struct{} // the texts, if they are many
}

// An enumBuilder makes one text of those of an enum: they are quoted, each in a line.
type enumBuilder struct{ strings.Builder }

func (b *enumBuilder) add(text string) {
	b.WriteString(strconv.Quote(text))
	b.WriteByte('\n')
}

// newEnum returns the checker for the texts of an enumBuilder.
func newEnum(enum string) *enumChecker {
	c := new(enumChecker)
	for line := range strings.Lines(enum) {
		text, _ := strconv.Unquote(strings.TrimSuffix(line, "\n"))
		c.texts = append(c.texts, text)
	}
	if len(c.texts) > fewTexts {
		c.many = make(map[string]struct{})
		for _, text := range c.texts {
			c.many[text] = struct{}{}
		}
	}
	return c
}

// fewTexts is up to how many values of an enum are compared one by one.
const fewTexts = 12

// Check is the method of program.Checker.
func (c *enumChecker) Check(text []byte) program.Verdict {
	if c.many != nil {
		if _, ok := c.many[string(text)]; ok {
			return program.Valid
		}
		return program.Invalid
	}
	for _, allowed := range c.texts {
		if string(text) == allowed {
			return program.Valid
		}
	}
	return program.Invalid
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

// Check is the method of program.Checker.
func (p *pattern) Check(text []byte) program.Verdict {
	if p.exact == nil || p.matcher != nil && p.matcher.Match(text) || p.exact.Match(text) {
		return program.Valid
	}
	return program.Invalid
}

// A literalKey has the rules for numbers, true and false.
type literalKey struct {
	least, most, factor int64
	unsure              bool   // about numbers
	isFloat             bool   // numbers must fit a float32, as all whole ones do that Check is about
	hasFractions        bool   // numbers need not be whole
	enum                string // the literals that are allowed: see enumBuilder
	hasEnum             bool
}

// A literalChecker checks numbers, true and false.
type literalChecker struct {
	literalKey
	enum *enumChecker
}

func newLiteral(key literalKey) *literalChecker { return &literalChecker{key, newEnum(key.enum)} }

// allowsFraction reports whether a number such as 12.5 is surely within the limits. It is between
// two whole numbers, which must both be.
func (c *literalChecker) allowsFraction(literal []byte) bool {
	before, after, _ := bytes.Cut(literal, []byte{'.'})
	n, ok := screen.Whole(before)
	if !ok || !c.hasFractions || c.unsure || c.factor != 0 || bytes.ContainsAny(after, "eE") {
		return false
	}
	from, to := n, n+1
	if literal[0] == '-' {
		from, to = n-1, n
	}
	return c.least <= from && to <= c.most
}

// Check is the method of program.Checker.
func (c *literalChecker) Check(literal []byte) program.Verdict {
	// The server converts numbers before it compares them with an enum.
	if c.hasEnum && c.enum.Check(literal) != program.Valid {
		return program.Unsure
	}
	if literal[0] == 't' || literal[0] == 'f' {
		return program.Valid
	}
	n, ok := screen.Whole(literal)
	switch {
	case !ok && c.allowsFraction(literal):
		return program.Valid
	case !ok || c.unsure:
		return program.Unsure
	case n < c.least || n > c.most || c.factor != 0 && n%c.factor != 0:
		return program.Invalid
	}
	return program.Valid
}
