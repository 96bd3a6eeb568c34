package jsonwire

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/espalier-dev/espalier/internal/kernel"
)

// shortString is how many bytes of a string are scanned before a kernel is called.
const shortString = 32

// ScanString scans the rest of a string from i, which is after the opening quote or between
// characters within the string. It returns the index of the closing quote, and whether it has
// passed an escape.
//
// Strings are validated: UTF-8 without surrogates and overlong forms (RFC 3629 section 3), the
// escapes of RFC 8259 section 7, no control characters, no unpaired surrogates. With Cut, the index
// is before an escape, a pair of surrogates or a character that is incomplete.
//
//espalier:inline
func ScanString(b []byte, i int) (end int, escaped bool, s Status) {
	end, seen, s := scanString(b, i)
	return end, seen&escapePair != 0, s
}

// scanString is ScanString, but returns which pairs it has passed.
func scanString(b []byte, i int) (end int, seen uint8, s Status) {
	stop := len(b)
	if kernel.Strings {
		stop = min(stop, i+shortString) // a call does not pay for short strings
	}
	if i >= 0 && i <= len(b)-16 { // the end of a short string is not predictable
		i += Simple(binary.LittleEndian.Uint64(b[i:i+8]), binary.LittleEndian.Uint64(b[i+8:i+16]))
		if At(b, i) == '"' {
			return i, 0, OK
		}
	}
	for {
		// One word at a time, with a branch: strings with escapes often have another one nearby. As
		// long as the branch is predicted, the next load does not wait for the end of this run.
		for i >= 0 && i <= stop-8 && stop <= len(b) {
			if m := Special(binary.LittleEndian.Uint64(b[i : i+8])); m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				goto special
			}
			i += 8
		}
		if stop < len(b) {
			n, esc, closed := kernel.ScanString(b[i:])
			i += n
			if esc {
				seen |= escapePair
			}
			if closed {
				return i, seen, OK
			}
			stop = min(len(b), i+128) // the byte that is not simple is in here
			continue
		}
	special:
		c := At(b, i)
		if c == '"' {
			return i, seen, OK
		}
		if p := pairs[c] & (pairs[At(b, i+1)] >> secondOfPair); p != 0 {
			seen |= p
			i += 2
			if p == utf8Pair {
				// More of them follow. With the branch predicted, no load waits for the one before.
				for i < stop && pairs[At(b, i)]&(pairs[At(b, i+1)]>>secondOfPair)&utf8Pair != 0 {
					i += 2
				}
			}
			continue
		}
		switch {
		case c == '\\':
			seen |= escapePair
			n, s := scanEscape(b, i)
			if s != OK {
				return i, seen, s
			}
			i = n
		case c >= utf8.RuneSelf:
			n, s := scanUTF8(b, i, stop)
			if s != OK {
				return n, seen, s
			}
			i = n
		case c < ' ':
			if i >= len(b) {
				return i, seen, Cut
			}
			return i, seen, Bad
		default:
			i++
		}
	}
}

// The simple part of a string usually ends at two bytes that are valid together: a short escape, or
// a character of two bytes. pairs says of which pairs a byte may be the first and, shifted by
// secondOfPair, the second.
const (
	escapePair = 1 << iota
	utf8Pair

	secondOfPair = 2
)

var pairs = pairTable()

func pairTable() (t [256]uint8) {
	t['\\'] = escapePair
	for _, c := range `"\/bfnrt` {
		t[c] |= escapePair << secondOfPair
	}
	for c := 0xc2; c < 0xe0; c++ {
		t[c] = utf8Pair
	}
	for c := 0x80; c < 0xc0; c++ {
		t[c] = utf8Pair << secondOfPair
	}
	return t
}

// scanUTF8 scans a run of characters that are not ASCII. The last of them starts before stop.
func scanUTF8(b []byte, i, stop int) (end int, s Status) {
	for i < stop && b[i] >= utf8.RuneSelf {
		if i >= 0 && i <= len(b)-4 {
			// Three bytes, except E0 followed by less than A0 and ED followed by more than 9F.
			w := binary.LittleEndian.Uint32(b[i : i+4])
			if odd := w & 0x200f; w&0xc0c0f0 == 0x8080e0 && odd != 0 && odd != 0x200d {
				i += 3
				continue
			}
		}
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			if !utf8.FullRune(b[i:]) {
				return i, Cut
			}
			return i, Bad
		}
		i += n
	}
	return i, OK
}

// scanEscape scans an escape of more than one letter, or two escapes that are a surrogate pair.
func scanEscape(b []byte, i int) (end int, s Status) {
	if At(b, i+1) == 'u' {
		r, s := hex4(b, i+2)
		if s != OK || !utf16.IsSurrogate(rune(r)) {
			return i + 6, s
		}
		if r >= 0xdc00 {
			return i, Bad
		}
		if c := At(b, i+6); c != '\\' && i+6 < len(b) {
			return i, Bad
		}
		if c := At(b, i+7); c != 'u' && i+7 < len(b) {
			return i, Bad
		}
		low, s := hex4(b, i+8)
		if s == OK && (low < 0xdc00 || low > 0xdfff) {
			s = Bad
		}
		return i + 12, s
	}
	if i+1 >= len(b) {
		return i, Cut
	}
	return i, Bad
}

// hex4 reads the four digits of a \u escape.
//
//espalier:inline
func hex4(b []byte, i int) (r uint32, s Status) {
	for j := i; j < i+4; j++ {
		if j >= len(b) {
			return 0, Cut
		}
		c := b[j]
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, Bad
		}
		r = r<<4 | uint32(c)
	}
	return r, OK
}

// Text returns the text of the string whose opening quote is at i, without escapes, and the index after its
// closing quote. It reports whether the string is valid and whole. Without escapes, text is a part of b.
func Text(b []byte, i int) (text []byte, end int, ok bool) {
	end, escaped, s := ScanString(b, i+1)
	if s != OK {
		return nil, end, false
	}
	if text = b[i+1 : end]; escaped {
		text = AppendUnescaped(nil, text)
	}
	return text, end + 1, true
}

// AppendUnescaped appends the text of a string. b is its content, without the quotes, and must have
// passed [ScanString].
func AppendUnescaped(dst, b []byte) []byte {
	for i := 0; i < len(b); {
		c := b[i]
		if c != '\\' {
			dst = append(dst, c)
			i++
			continue
		}
		c = b[i+1]
		i += 2
		switch c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			r, _ := hex4(b, i)
			i += 4
			if utf16.IsSurrogate(rune(r)) {
				low, _ := hex4(b, i+2)
				i += 6
				r = uint32(utf16.DecodeRune(rune(r), rune(low)))
			}
			dst = utf8.AppendRune(dst, rune(r))
			continue
		}
		dst = append(dst, c)
	}
	return dst
}

// AppendQuoted appends text as a JSON string. Bytes that are not UTF-8 become U+FFFD.
func AppendQuoted[T string | []byte](dst []byte, text T) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	simple := 0
	for simple < len(text) && text[simple] >= ' ' && text[simple] < utf8.RuneSelf && text[simple] != '"' && text[simple] != '\\' {
		simple++
	}
	dst = append(dst, text[:simple]...)
	if text = text[simple:]; len(text) == 0 {
		return append(dst, '"')
	}
	for _, r := range string(text) {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, '\\', 'n')
		case r == '\r':
			dst = append(dst, '\\', 'r')
		case r == '\t':
			dst = append(dst, '\\', 't')
		case r < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hex[r>>4], hex[r&0xf])
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}

// CountChars returns the number of characters in b, which is UTF-8: the number of bytes that do not
// continue a character.
//
//espalier:nocalls
func CountChars(b []byte) int {
	const top = 0x8080808080808080
	n := len(b)
	for ; len(b) >= 32; b = b[32:] {
		v0, v1 := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		v2, v3 := binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint64(b[24:])
		if (v0|v1|v2|v3)&top != 0 {
			n -= bits.OnesCount64(v0&^(v0<<1)&top) + bits.OnesCount64(v1&^(v1<<1)&top) +
				bits.OnesCount64(v2&^(v2<<1)&top) + bits.OnesCount64(v3&^(v3<<1)&top)
		}
	}
	for ; len(b) >= 8; b = b[8:] {
		v := binary.LittleEndian.Uint64(b)
		n -= bits.OnesCount64(v &^ (v << 1) & top)
	}
	for _, c := range b {
		if c&0xc0 == 0x80 {
			n--
		}
	}
	return n
}

// CharRun returns a length up to which b starts with UTF-8 without control characters, and the number
// of characters that start there. The run may be longer, but by less than 32 bytes.
//
//espalier:nocalls
func CharRun(b []byte) (n, chars int) {
	const (
		ones   = 0x0101010101010101
		top    = 0x80 * ones
		blanks = ' ' * ones
	)
	i, more := 0, 0 // more are bytes that continue a character
	for ; i <= len(b)-32; i += 32 {
		v0, v1 := binary.LittleEndian.Uint64(b[i:]), binary.LittleEndian.Uint64(b[i+8:])
		v2, v3 := binary.LittleEndian.Uint64(b[i+16:]), binary.LittleEndian.Uint64(b[i+24:])
		if (v0|(v0-blanks)|v1|(v1-blanks)|v2|(v2-blanks)|v3|(v3-blanks))&top == 0 {
			continue
		}
		if ((v0-blanks)&^v0|(v1-blanks)&^v1|(v2-blanks)&^v2|(v3-blanks)&^v3)&top != 0 {
			return i, i - more
		}
		more += bits.OnesCount64(v0&^(v0<<1)&top) + bits.OnesCount64(v1&^(v1<<1)&top) +
			bits.OnesCount64(v2&^(v2<<1)&top) + bits.OnesCount64(v3&^(v3<<1)&top)
	}
	for i < len(b) && len(b) >= 8 {
		at := min(i, len(b)-8)
		done := 8 * (i - at) // bits of the word that were counted
		v := binary.LittleEndian.Uint64(b[at:])>>done | blanks&^(^uint64(0)>>done)
		if (v-blanks)&^v&top != 0 {
			break
		}
		more += bits.OnesCount64(v &^ (v << 1) & top)
		i = at + 8
	}
	return i, i - more
}

// PlainRun returns a length, in steps of eight, up to which b starts with ASCII without control
// characters. The run may be longer.
//
//espalier:nocalls
func PlainRun(b []byte) int {
	const (
		ones = 0x0101010101010101
		top  = 0x80 * ones
	)
	i := 0
	for ; i <= len(b)-32; i += 32 {
		v0, v1 := binary.LittleEndian.Uint64(b[i:]), binary.LittleEndian.Uint64(b[i+8:])
		v2, v3 := binary.LittleEndian.Uint64(b[i+16:]), binary.LittleEndian.Uint64(b[i+24:])
		if (v0|(v0-' '*ones)|v1|(v1-' '*ones)|v2|(v2-' '*ones)|v3|(v3-' '*ones))&top != 0 {
			break
		}
	}
	for ; i <= len(b)-8; i += 8 {
		if v := binary.LittleEndian.Uint64(b[i:]); (v|(v-' '*ones))&top != 0 {
			break
		}
	}
	return i
}
