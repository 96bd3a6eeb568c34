package yamlbridge

import (
	"fmt"
	"math"
	"unicode/utf8"
)

// This file refuses U+0085, U+2028 and U+2029 outside quotes. They end a line in YAML 1.1, and
// therefore on the API server. In YAML 1.2 they are ordinary characters. What one reader takes for
// a comment, or for text in a scalar, the other takes for a member, and a document that was checked
// must not have a second structure.
//
// Within quotes both readers find the same end of the scalar. There the line breaks are read by the
// rules of the dialect, except in names and after a backslash: a name must be one name.
//
// The reader reads such a document with all of these line breaks, and records the quoted scalars
// that it passes. If a line break outside of them is left, it reads the text up to there once more,
// as if the text ended with a character that it cannot read.

// noBreak takes the place of the index of the next such line break if there is none.
const noBreak = math.MaxInt

// isOldBreak reports whether c ends a line in YAML 1.1 only.
func isOldBreak(c rune) bool { return c == 0x85 || c == 0x2028 || c == 0x2029 }

// nextOldBreak returns the index of the next such line break from i on, or noBreak.
func (r *Reader) nextOldBreak(i int) int {
	for text := r.source[r.lead:]; i < len(text); {
		c, size := utf8.DecodeRune(text[i:])
		if isOldBreak(c) {
			return i
		}
		i += size
	}
	return noBreak
}

// passQuoted records that text[i:next] is a scalar in quotes. After an error there is nothing to
// look for.
func (r *Reader) passQuoted(i, next int, err error) {
	switch {
	case r.oldBreak < i:
	case err != nil:
		r.oldBreak = noBreak
	case r.oldBreak < next:
		r.oldBreak = r.nextOldBreak(next)
	}
}

// quotedName is quoted for an explicit key. Other keys are on one line.
func (r *Reader) quotedName(i, column int) (content []byte, next int, err error) {
	at := r.oldBreak
	content, next, err = r.quoted(i, column)
	if err == nil && at >= i && at < next {
		err = r.fail(at, r.oldBreakAt(at)+" in a name: readers of YAML 1.1 and of 1.2 read two names; "+
			"write it as an escape, in double quotes")
	}
	return content, next, err
}

// escapesOldBreak reports whether such a line break follows the backslash at i.
func (r *Reader) escapesOldBreak(i int) bool {
	c, _ := utf8.DecodeRune(r.source[r.lead+i+1:])
	return !r.server && isOldBreak(c)
}

func (r *Reader) oldBreakAt(i int) string {
	c, _ := utf8.DecodeRune(r.source[r.lead+i:])
	return fmt.Sprintf("%U", c)
}

// outsideQuotes returns the message for a text that ends because of the line break at i.
func (r *Reader) outsideQuotes(i int) string {
	const fault = " outside quotes: it ends a line in YAML 1.1, and not in 1.2; " +
		"write a line feed, or an escape in double quotes"
	return r.oldBreakAt(i) + fault
}
