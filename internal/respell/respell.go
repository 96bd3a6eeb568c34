// Package respell writes JSON in other ways that mean the same: with white space, and with strings
// that are spelled differently. It is for tests.
package respell

import (
	"fmt"
	"math/rand/v2"
	"unicode/utf16"
	"unicode/utf8"
)

// A Style says how often a text has white space and escapes.
type Style struct {
	Blanks  int // of 6 places that may have white space
	Escapes int // of 8 characters of strings
}

// RandomStyle returns a style. Some have nothing of a kind, and some have it everywhere.
func RandomStyle(r *rand.Rand) Style { return Style{2 * r.IntN(4), 2 * r.IntN(5)} }

// Append appends js in the style. Its numbers, and bytes of strings that are not UTF-8, stay as
// they are. js must be JSON apart from these bytes.
func (s Style) Append(dst, js []byte, r *rand.Rand) []byte {
	w := writer{r, s, dst}
	w.blank()
	for i := 0; i < len(js); {
		switch c := js[i]; c {
		case ' ', '\n', '\t', '\r':
			i++
		case '{', '[', '}', ']', ',', ':':
			w.blank()
			w.out = append(w.out, c)
			w.blank()
			i++
		case '"':
			i = w.string(js, i)
		default:
			w.out = append(w.out, c)
			i++
		}
	}
	w.blank()
	return w.out
}

type writer struct {
	*rand.Rand
	Style
	out []byte
}

func (w *writer) blank() {
	for w.IntN(6) < w.Blanks {
		blanks := []string{" ", "\n", "\t", "\r\n", "\r", "          ", " \n            "}
		w.out = append(w.out, blanks[w.IntN(len(blanks))]...)
		if w.IntN(2) == 0 {
			return
		}
	}
}

// string writes the string that starts at i, and returns where it ends.
func (w *writer) string(js []byte, i int) int {
	w.out = append(w.out, '"')
	for i++; js[i] != '"'; {
		if js[i] != '\\' {
			c, n := utf8.DecodeRune(js[i:])
			if c == utf8.RuneError && n == 1 {
				w.out = append(w.out, js[i])
			} else {
				w.character(c)
			}
			i += n
			continue
		}
		if c, isShort := escaped[js[i+1]]; isShort {
			w.character(c)
			i += 2
			continue
		}
		w.out = append(w.out, js[i:i+6]...) // may be half of a surrogate pair
		i += 6
	}
	w.out = append(w.out, '"')
	return i + 1
}

// escaped has the characters of the escapes without a number, and short these escapes.
var (
	escaped = map[byte]rune{
		'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
	}
	short = func() map[rune]string {
		short := make(map[rune]string)
		for letter, c := range escaped {
			short[c] = `\` + string(letter)
		}
		return short
	}()
)

func (w *writer) character(c rune) {
	brief, isShort := short[c]
	must := c < ' ' || c == '"' || c == '\\'
	switch {
	case !must && w.IntN(8) >= w.Escapes:
		w.out = utf8.AppendRune(w.out, c)
	case isShort && w.IntN(2) == 0:
		w.out = append(w.out, brief...)
	case c > 0xffff:
		high, low := utf16.EncodeRune(c)
		w.unit(high)
		w.unit(low)
	default:
		w.unit(c)
	}
}

func (w *writer) unit(c rune) {
	w.out = fmt.Appendf(w.out, []string{`\u%04x`, `\u%04X`}[w.IntN(2)], c)
}
