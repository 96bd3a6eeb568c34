// Package compile makes recognizers of patterns and formats.
package compile

import (
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/espalier-dev/espalier/internal/recognize"
)

// NOTE: A pattern is compiled to a deterministic automaton, whose states are subsets of the
// instructions that regexp/syntax makes of the pattern (automaton.go). It reads bytes, and knows
// ASCII alone: at another byte it gives up, unless the text matches whatever follows.
//
// Patterns come from definitions that nobody has read. A pattern of n bytes can have 2^n states, and
// parsing alone can take milliseconds for each class: (?i)[\x{42}-\x{1e942}] goes through all runes
// of the range. So patterns are limited before they are parsed, before they are compiled, and then
// by their steps and by the size of their tables. The server has no such limits.

const (
	maxPattern = 4 << 10 // bytes
	maxWide    = 8       // code points and classes beyond ASCII
	wideSteps  = 10_000  // for each of these
	maxCode    = 4 << 10 // instructions
	maxSteps   = 200_000 // which take some milliseconds
	maxStates  = 2000
	maxTable   = 32 << 10 // entries
)

// Pattern returns a matcher that surely recognizes text in which a part matches a regular
// expression, as regexp.MatchString does. It returns nil if the expression is malformed, or if its
// automaton is too large.
func Pattern(expr string) *recognize.Matcher {
	return new(Patterns).Matcher(expr)
}

// Patterns compiles the patterns of schemas. Equal ones share a matcher. What they cost together is
// bounded: in proportion to their length, beyond what ten large ones do. The zero value is ready for
// use, by one goroutine.
type Patterns struct {
	matchers map[string]*recognize.Matcher
	bytes    int // of the patterns
	steps    int // that were taken
	size     int // of the tables
}

// Limits for all patterns of schemas. The 65 of the third-party definitions have 3259 bytes,
// take 205 225 steps, and have 43 626 bytes of tables.
const (
	freeSteps, stepsPerByte = 10 * maxSteps, 64
	freeSize, sizePerByte   = 1 << 20, 16
)

// Matcher returns what [Pattern] does, and nil if the patterns have cost too much.
func (p *Patterns) Matcher(expr string) *recognize.Matcher {
	m, ok := p.matchers[expr]
	if ok {
		return m
	}
	p.bytes += len(expr)
	if p.steps < freeSteps+p.bytes*stepsPerByte && p.size < freeSize+p.bytes*sizePerByte {
		a := automaton{steps: maxSteps}
		if program := parse(expr, &a.steps); program != nil {
			m = a.build(program)
		}
		p.steps += maxSteps - a.steps
		if m != nil {
			p.size += m.Size()
		}
	}
	if p.matchers == nil {
		p.matchers = make(map[string]*recognize.Matcher)
	}
	p.matchers[expr] = m
	return m
}

// parse returns the program of a regular expression, or nil if it is malformed or too large.
func parse(expr string, steps *int) *syntax.Prog {
	*steps -= min(len(expr), maxPattern)
	if len(expr) > maxPattern {
		return nil
	}
	wide := strings.Count(expr, `\x{`) + strings.Count(expr, `\p`) + strings.Count(expr, `\P`)
	for _, r := range expr {
		if r >= utf8.RuneSelf {
			wide++
		}
	}
	*steps -= wide * wideSteps
	if wide > maxWide {
		return nil
	}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil || size(tree) > maxCode {
		return nil
	}
	// No error is possible: the tree is not too large.
	program, _ := syntax.Compile(tree.Simplify())
	return program
}

// size returns about how many instructions a program has. Parsing has limited the depth to 1000.
func size(re *syntax.Regexp) int {
	n := 1
	if re.Op == syntax.OpLiteral {
		n = len(re.Rune)
	}
	for _, sub := range re.Sub {
		n = min(n+size(sub), maxCode+1)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max) + 1
	}
	return n
}
