package yamlbridge

import (
	"encoding/binary"
	"math/bits"
)

// The functions of this file read bytes and have no state. Their text ends with a LF and zeros,
// which they never pass.

// A class says what a byte can start or end.
type class uint16

const (
	isBlankByte     class = 1 << iota // space, tab
	isBreakByte                       // bytes at the end of a line: CR, LF, the markers of load, the zero at the end
	isFlowIndicator                   // , [ ] { }
	isIndicator                       // starts no plain scalar (c-indicator except - ? :)
	isAnchorByte                      // in the name of an anchor in the Kubernetes dialect
	isTagByte                         // in a tag in the Kubernetes dialect (ns-uri-char)
	startsNonString                   // starts plain scalars that may not be strings, in either dialect
	needsEscape                       // in a JSON string
	endsFlowPlain                     // or must be checked
)

var classes = func() (t [256]class) {
	set := func(c class, bytes string) {
		for i := range len(bytes) {
			t[bytes[i]] |= c
		}
	}
	const alphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-"
	set(isBlankByte, " \t")
	set(isBreakByte, "\r\n\x00\x0E\x0F")
	set(isFlowIndicator, ",[]{}")
	set(isIndicator, ",[]{}#&*!|>'\"%@`")
	set(isAnchorByte, alphanumeric)
	set(isTagByte, alphanumeric+";/?:@&=+$,.!~*'()[]%")
	set(startsNonString, "+-.0123456789yYnNtTfFoO~<")
	for c := range ' ' {
		t[c] |= needsEscape | endsFlowPlain
	}
	set(needsEscape, `"\`)
	set(endsFlowPlain, ",[]{}?:#")
	return t
}()

//espalier:inline
func is(c byte, k class) bool { return classes[c]&k != 0 }

// endsWord reports whether c is white space or the end of a line, which must follow - ? : and
// document markers.
//
//espalier:inline
func endsWord(c byte) bool { return classes[c]&(isBlankByte|isBreakByte) != 0 }

// skipSpaces returns the index of the first byte that is not a space.
//
//espalier:inline
func skipSpaces(text []byte, i int) int {
	for {
		if x := binary.LittleEndian.Uint64(text[i:]) ^ ' '*ones; x != 0 {
			return i + bits.TrailingZeros64(x)>>3
		}
		i += 8
	}
}

// skipBlanks returns the index of the first byte that is neither a space nor a tab.
//
//espalier:inline
func skipBlanks(text []byte, i int) int {
	for classes[text[i]]&isBlankByte != 0 {
		i++
	}
	return i
}

// lineEnd returns the index of the LF that ends the line.
//
//espalier:inline
func lineEnd(text []byte, i int) int {
	for {
		w := binary.LittleEndian.Uint64(text[i:])
		x := w ^ '\n'*ones
		if m := (x - ones) &^ x & highs; m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
		i += 8
	}
}

// scanLine is lineEnd. It also reports whether there may be a byte before the LF that JSON escapes.
//
//espalier:nocalls
func scanLine(text []byte, i int) (end int, escapes bool) {
	var found uint64
	for {
		w := binary.LittleEndian.Uint64(text[i:])
		x, quote, back := w^'\n'*ones, w^'"'*ones, w^'\\'*ones
		special := (quote-ones)&^quote | (back-ones)&^back | (w-' '*ones)&^w
		if m := (x - ones) &^ x & highs; m != 0 {
			before := m&-m - 1
			return i + bits.TrailingZeros64(m)>>3, (found|special&before)&highs != 0
		}
		found |= special
		i += 8
	}
}

// trimEnd returns the end of text[i:end] without the blanks, and the other bytes before a LF, at
// its end.
//
//espalier:inline
func trimEnd(text []byte, i, end int) int {
	for end > i && endsWord(text[end-1]) {
		end--
	}
	return end
}

// scanPlain scans the part of a plain scalar in block context that is on the line of i
// (ns-plain-one-line, YAML 1.2 section 7.3.3). It returns the index where it stops: at a ":" that
// ends a key, a "#" that starts a comment, or the end of the line. It also reports whether it has
// passed a byte that JSON escapes.
//
//espalier:nocalls
func scanPlain(text []byte, i int) (stop int, special bool) {
	start := i
	for {
		var m uint64
		for {
			w := binary.LittleEndian.Uint64(text[i:])
			a := (w | ones) ^ '#'*ones // " or #
			b := w ^ ':'*ones
			c := w ^ '\\'*ones
			m = ((a-ones)&^a | (b-ones)&^b | (c-ones)&^c | (w-' '*ones)&^w) & highs
			if m != 0 {
				break
			}
			i += 8
		}
		i += bits.TrailingZeros64(m) >> 3
		switch c := text[i]; c {
		case ':':
			if endsWord(text[i+1]) {
				return i, special
			}
		case '#':
			if i > start && is(text[i-1], isBlankByte) {
				return i, special
			}
		case '"', '\\':
			special = true
		case '\t':
			special = true
		default:
			return i, special
		}
		i++
	}
}

// scanFlowPlain is scanPlain for flow context, in which the indicators of flow collections end the
// scalar as well.
//
//espalier:nocalls
func scanFlowPlain(text []byte, i int, core bool) (stop int, special bool) {
	start := i
	for ; ; i++ {
		c := text[i]
		if classes[c]&(endsFlowPlain|needsEscape) == 0 {
			continue
		}
		switch c {
		case ':':
			if next := text[i+1]; endsWord(next) || core && is(next, isFlowIndicator) {
				return i, special
			}
		case '#':
			if i > start && is(text[i-1], isBlankByte) {
				return i, special
			}
		case '?':
			if !core {
				return i, special
			}
		case '"', '\\', '\t':
			special = true
		default:
			return i, special
		}
	}
}

// scanDouble scans a double-quoted scalar from the byte after its quote. It stops at the closing
// quote, at the end of the line, or at an escape that JSON does not have.
//
//espalier:nocalls
func scanDouble(text []byte, i int) int {
	for {
		w := binary.LittleEndian.Uint64(text[i:])
		a := w ^ '"'*ones
		c := w ^ '\\'*ones
		m := ((a-ones)&^a | (c-ones)&^c | (w-' '*ones)&^w) & highs
		if m == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(m) >> 3
		if text[i] != '\\' {
			return i
		}
		switch text[i+1] {
		case '"', '\\', 'b', 'f', 'n', 'r', 't':
			i += 2
		default:
			return i
		}
	}
}

// scanSingle scans a single-quoted scalar from the byte after its quote. It stops at a quote or at
// the end of the line, and reports whether JSON escapes a byte of it.
//
//espalier:nocalls
func scanSingle(text []byte, i int) (stop int, special bool) {
	for {
		c := text[i]
		if c == '\'' {
			return i, special
		}
		if classes[c]&needsEscape != 0 {
			if c < ' ' && c != '\t' {
				return i, special
			}
			special = true
		}
		i++
	}
}

// scanName returns the end of the name of an anchor or alias that starts at i. In YAML 1.2 (section
// 6.9.2), names have all characters except white space and flow indicators.
//
//espalier:inline
func scanName(text []byte, i int, core bool) int {
	if core {
		for !endsWord(text[i]) && !is(text[i], isFlowIndicator) {
			i++
		}
		return i
	}
	for is(text[i], isAnchorByte) {
		i++
	}
	return i
}

// isMarker reports whether the line that starts at i is a document marker (YAML 1.2 section 9.1):
// --- or ..., followed by white space.
//
//espalier:inline
func isMarker(text []byte, i int) bool {
	c := text[i]
	return (c == '-' || c == '.') && text[i+1] == c && text[i+2] == c && endsWord(text[i+3])
}
