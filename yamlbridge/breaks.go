package yamlbridge

import (
	"fmt"
	"math"
	"unicode/utf8"
)

// This file refuses U+0085, U+2028 and U+2029 outside quotes. They end a line in YAML 1.1, and so on the API
// server; in YAML 1.2 they are characters like others. What is a comment or the text of a scalar to a reader of
// one is a member to a reader of the other, and a document that was checked must not have a second structure.
//
// Within quotes both find the same end of the scalar. There they are read as the dialect has them, but for names
// and where a backslash stands before them: a name must be one name.
//
// The reader reads such a document with all of them, and notes what quotes it has passed. If one is left it
// reads the text up to there once more, as if it ended with a character that it cannot read.

// noBreak is where the next of them stands if there is none.
const noBreak = math.MaxInt

// isOldBreak reports whether c ends a line in YAML 1.1 only.
func isOldBreak(c rune) bool { return c == 0x85 || c == 0x2028 || c == 0x2029 }

// nextOldBreak returns where the next of them stands, from i on, or noBreak.
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

// passQuoted notes that text[i:next] is a scalar in quotes. After an error there is nothing to be looked for.
func (r *Reader) passQuoted(i, next int, err error) {
	switch {
	case r.oldBreak < i:
	case err != nil:
		r.oldBreak = noBreak
	case r.oldBreak < next:
		r.oldBreak = r.nextOldBreak(next)
	}
}

// quotedName is quoted for an explicit key. Others are on one line.
func (r *Reader) quotedName(i, column int) (content []byte, next int, err error) {
	at := r.oldBreak
	content, next, err = r.quoted(i, column)
	if err == nil && at >= i && at < next {
		err = r.fail(at, r.oldBreakAt(at)+" in a name: readers of YAML 1.1 and of 1.2 read two names; write it as an escape, in double quotes")
	}
	return content, next, err
}

// escapesOldBreak reports whether one of them stands behind the backslash at i.
func (r *Reader) escapesOldBreak(i int) bool {
	c, _ := utf8.DecodeRune(r.source[r.lead+i+1:])
	return !r.server && isOldBreak(c)
}

func (r *Reader) oldBreakAt(i int) string {
	c, _ := utf8.DecodeRune(r.source[r.lead+i:])
	return fmt.Sprintf("%U", c)
}

// outsideQuotes is what is wrong where the text ends because of the one at i.
func (r *Reader) outsideQuotes(i int) string {
	return r.oldBreakAt(i) + " outside quotes: it ends a line in YAML 1.1, and not in 1.2; write a line feed, or an escape in double quotes"
}
