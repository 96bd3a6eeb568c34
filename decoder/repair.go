package decoder

// This file repairs strings as the API server does it: each byte that is not
// UTF-8, and each half of a surrogate pair, becomes U+FFFD. Documents that need
// it are rare, so that the walker does not know of it: it refuses them, and walks
// the repaired text instead.

import (
	"sort"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/memory"
)

// A repaired is a text that was repaired, with the way back to the original.
type repaired struct {
	text []byte
	// marks has, for each repair, where the text goes on behind it, and how much
	// more that is than in the original.
	marks []repairMark
}

type repairMark struct{ at, more int }

// repair repairs the strings of src, which need not be JSON. It reports whether
// there was anything to repair.
func (r *repaired) repair(src []byte, m *memory.Account) bool {
	count := 0
	eachFault(src, func(int, int) { count++ })
	// Nothing grows on the way: all of src may be faults.
	r.text = memory.Room(m, r.text[:0], len(src)+count*(len("\ufffd")-1))
	r.marks = memory.Room(m, r.marks[:0], count)
	from := 0
	eachFault(src, func(at, n int) {
		with := "\ufffd"
		if n > 1 {
			with = `\ufffd` // of an escape
		}
		r.text = append(append(r.text, src[from:at]...), with...)
		from = at + n
		r.marks = append(r.marks, repairMark{len(r.text), len(r.text) - from})
	})
	r.text = append(r.text, src[from:]...)
	return count > 0
}

// eachFault calls f for what is to be repaired: n bytes, which are one that is not UTF-8 or an
// escape.
func eachFault(src []byte, f func(at, n int)) {
	inString := false
	for i := 0; i < len(src); {
		c := src[i]
		switch {
		case !inString:
			inString = c == '"'
			i++
		case c == '"':
			inString = false
			i++
		case c == '\\':
			n, half := escapeAt(src, i)
			if half {
				f(i, n)
			}
			i += n
		case c < utf8.RuneSelf:
			i++
		default:
			rune, n := utf8.DecodeRune(src[i:])
			if rune == utf8.RuneError && n == 1 {
				f(i, 1)
			}
			i += n
		}
	}
}

// escapeAt returns how long the escape at i is, or the two that are a pair, and whether it is half
// of a pair.
func escapeAt(src []byte, i int) (n int, half bool) {
	if jsonwire.At(src, i+1) != 'u' || len(src) < i+6 {
		return 2, false
	}
	switch r, err := strconv.ParseUint(string(src[i+2:i+6]), 16, 16); {
	case err != nil || !utf16.IsSurrogate(rune(r)):
		return 2, false
	case r < 0xdc00 && len(src) >= i+12 && src[i+6] == '\\' && src[i+7] == 'u':
		low, err := strconv.ParseUint(string(src[i+8:i+12]), 16, 16)
		if err == nil && low >= 0xdc00 && low <= 0xdfff {
			return 12, false
		}
	}
	return 6, true
}

// original returns where an offset in the text is in the original.
func (r *repaired) original(at int) int {
	i := sort.Search(len(r.marks), func(i int) bool { return r.marks[i].at > at })
	if i == 0 {
		return at
	}
	return at - r.marks[i-1].more
}
