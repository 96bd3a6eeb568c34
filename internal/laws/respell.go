package laws

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unicode/utf16"
)

// Respell is [respell] for a text, which must be JSON in UTF-8.
func Respell(t testing.TB, text []byte, seed uint64) []byte {
	t.Helper()
	return respell(read(t, text), seed)
}

// respell rewrites a value so that it means the same: with other white space, with the members of
// objects in another order if no name repeats, and with strings spelled differently. Numbers stay
// as they are. The value must have been read from UTF-8. The seed selects the spelling.
func respell(v *value, seed uint64) []byte {
	r := respeller{Rand: rand.New(rand.NewPCG(seed, 0))}
	// Some texts have nothing of a kind, and some have it everywhere.
	r.blanks, r.moves, r.escapes = r.IntN(4), r.IntN(3) > 0, r.IntN(5)
	r.value(v)
	return r.out
}

type respeller struct {
	*rand.Rand
	out     []byte
	blanks  int // of 3 places that may have white space
	moves   bool
	escapes int // of 4 characters
}

func (r *respeller) blank() {
	for r.IntN(3) < r.blanks {
		r.out = append(r.out, []string{" ", "\n", "\t", "\r\n", "\r", "          "}[r.IntN(6)]...)
		if r.IntN(2) == 0 {
			return
		}
	}
}

func (r *respeller) value(v *value) {
	r.blank()
	switch v.kind {
	case '{':
		order := make([]int, len(v.members))
		for i := range order {
			order[i] = i
		}
		if r.moves && !v.repeats() {
			order = r.Perm(len(order))
		}
		r.out = append(r.out, '{')
		for i, at := range order {
			if i > 0 {
				r.out = append(r.out, ',')
			}
			r.blank()
			r.text(v.members[at].name)
			r.blank()
			r.out = append(r.out, ':')
			r.value(v.members[at].value)
		}
		if len(order) == 0 {
			r.blank()
		}
		r.out = append(r.out, '}')
	case '[':
		r.out = append(r.out, '[')
		for i, e := range v.elements {
			if i > 0 {
				r.out = append(r.out, ',')
			}
			r.value(e)
		}
		if len(v.elements) == 0 {
			r.blank()
		}
		r.out = append(r.out, ']')
	case '"':
		r.text(unquote(v.text))
	default:
		r.out = append(r.out, v.text...)
	}
	r.blank()
}

// short has the escapes without a number.
var short = map[rune]string{'"': `\"`, '\\': `\\`, '/': `\/`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}

func (r *respeller) text(s string) {
	r.out = append(r.out, '"')
	for _, c := range s {
		brief, isShort := short[c]
		must := c < ' ' || c == '"' || c == '\\'
		switch {
		case !must && r.IntN(4) >= r.escapes:
			r.out = append(r.out, string(c)...)
		case isShort && r.IntN(2) == 0:
			r.out = append(r.out, brief...)
		case c > 0xffff:
			high, low := utf16.EncodeRune(c)
			r.unit(high)
			r.unit(low)
		default:
			r.unit(c)
		}
	}
	r.out = append(r.out, '"')
}

func (r *respeller) unit(c rune) {
	r.out = fmt.Appendf(r.out, []string{`\u%04x`, `\u%04X`}[r.IntN(2)], c)
}
