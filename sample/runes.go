package sample

import (
	"regexp/syntax"
	"unicode"
)

// A class is a set of runes as regexp/syntax has it: the first and the last rune of each range,
// sorted.
type class []rune

// kinds is a set of kinds of runes. Assertions of regular expressions tell these kinds apart.
type kinds uint8

const (
	noRune    kinds = 1 << iota // before the first rune of the text, and after its last
	lineBreak                   // for ^ and $ under (?m)
	wordRune                    // for \b and \B, which know ASCII alone
	otherRune
	anyRune = lineBreak | wordRune | otherRune
	anyKind = anyRune | noRune
)

func kindOf(r rune) kinds {
	switch {
	case r == '\n':
		return lineBreak
	case syntax.IsWordChar(r):
		return wordRune
	}
	return otherRune
}

// classes has the runes of each set of kinds. Surrogates are of no kind, because no text has them.
var classes = func() (of [anyKind + 1]class) {
	const last, next = 0xd7ff, 0xe000 // before and after the surrogates
	of[lineBreak] = class{'\n', '\n'}
	of[wordRune] = class{'0', '9', 'A', 'Z', '_', '_', 'a', 'z'}
	of[lineBreak|wordRune] = class{'\n', '\n', '0', '9', 'A', 'Z', '_', '_', 'a', 'z'}
	of[otherRune] = class{
		0, '\n' - 1, '\n' + 1, '0' - 1, '9' + 1, 'A' - 1, 'Z' + 1, '_' - 1, '_' + 1, 'a' - 1,
		'z' + 1, last, next, unicode.MaxRune,
	}
	of[lineBreak|otherRune] = class{
		0, '0' - 1, '9' + 1, 'A' - 1, 'Z' + 1, '_' - 1, '_' + 1, 'a' - 1,
		'z' + 1, last, next, unicode.MaxRune,
	}
	of[wordRune|otherRune] = class{0, '\n' - 1, '\n' + 1, last, next, unicode.MaxRune}
	of[anyRune] = class{0, last, next, unicode.MaxRune}
	return of
}()

// classOf returns the runes that an instruction reads.
func classOf(i *syntax.Inst) class {
	switch {
	case i.Op == syntax.InstRuneAny:
		return class{0, unicode.MaxRune}
	case i.Op == syntax.InstRuneAnyNotNL:
		return class{0, '\n' - 1, '\n' + 1, unicode.MaxRune}
	case len(i.Rune) != 1:
		return i.Rune
	}
	first := i.Rune[0]
	c := class{first, first}
	if syntax.Flags(i.Arg)&syntax.FoldCase != 0 {
		// SimpleFold goes through the spellings of a letter in their order, and from the last to
		// the first, which is the one that regexp/syntax has here.
		for r := unicode.SimpleFold(first); r != first; r = unicode.SimpleFold(r) {
			c = append(c, r, r)
		}
	}
	return c
}

// and returns the runes that are in both classes.
func (c class) and(d class) (both class) {
	for len(c) > 0 && len(d) > 0 {
		if from, to := max(c[0], d[0]), min(c[1], d[1]); from <= to {
			both = append(both, from, to)
		}
		if c[1] < d[1] {
			c = c[2:]
		} else {
			d = d[2:]
		}
	}
	return both
}

// size returns the number of runes.
func (c class) size() (n int) {
	for i := 0; i < len(c); i += 2 {
		n += int(c[i+1]-c[i]) + 1
	}
	return n
}

// at returns rune i.
func (c class) at(i int) rune {
	for ; i > int(c[1]-c[0]); c = c[2:] {
		i -= int(c[1]-c[0]) + 1
	}
	return c[0] + rune(i)
}

// plainRunes are easy to read, the simplest first.
var plainRunes = []class{
	{'a', 'z'}, {'0', '9'}, {'A', 'Z'}, {'!', '/', ':', '@', '[', '`', '{', '~'}, {' ', ' '},
}

// plain chooses a rune that is easy to read, if the class has one.
func (c class) plain(by *choices) rune {
	var easy class
	for _, p := range plainRunes {
		easy = append(easy, c.and(p)...)
	}
	if len(easy) == 0 {
		easy = c
	}
	return easy.at(by.below(easy.size()))
}

// odd chooses any rune, often the first or the last one of a range.
func (c class) odd(by *choices) rune {
	i := 2 * by.below(len(c)/2)
	first, last := c[i], c[i+1]
	return one(by, first, last, first+rune(by.below(int(last-first)+1)))
}
