package apiserver

import (
	"sort"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/memory"
)

// A Repaired is a text whose strings were repaired as the API server does: each byte
// that is not UTF-8, and each half of a surrogate pair, becomes U+FFFD. Documents that
// need it are rare. So the walker refuses them, and then walks the repaired text.
type Repaired struct {
	Text []byte
	// marks has, for each repair, where the text goes on after it, and by how much
	// that is further than in the original.
	marks []repairMark
}

type repairMark struct{ at, more int }

// Repair repairs the strings of src, which need not be JSON. It reports whether
// there was anything to repair.
func (r *Repaired) Repair(src []byte, m *memory.Account) bool {
	count := 0
	eachFault(src, func(int, int) { count++ })
	// Nothing grows on the way: all of src may be faults.
	r.Text = memory.Room(m, r.Text[:0], len(src)+count*(len("\ufffd")-1))
	r.marks = memory.Room(m, r.marks[:0], count)
	from := 0
	eachFault(src, func(at, n int) {
		with := "\ufffd"
		if n > 1 {
			with = `\ufffd` // of an escape
		}
		r.Text = append(append(r.Text, src[from:at]...), with...)
		from = at + n
		r.marks = append(r.marks, repairMark{len(r.Text), len(r.Text) - from})
	})
	r.Text = append(r.Text, src[from:]...)
	return count > 0
}

// eachFault calls f for each fault: n bytes that are half of a surrogate pair, as an
// escape, or one byte that is not UTF-8.
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

// escapeAt returns the length of the escape at i, or of the two that are a pair, and
// whether it is half of a pair.
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

// Original returns where an index of the text is in the original.
func (r *Repaired) Original(at int) int {
	i := sort.Search(len(r.marks), func(i int) bool { return r.marks[i].at > at })
	if i == 0 {
		return at
	}
	return at - r.marks[i-1].more
}

// Cap returns the memory of the marks, in bytes. That of the text is cap(r.Text).
func (r *Repaired) Cap() int { return memory.Held(r.marks) }
