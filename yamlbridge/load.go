package yamlbridge

import (
	"encoding/binary"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/espalier-dev/espalier/internal/memory"
)

const (
	bom = "\uFEFF"
	// padding is how many zero bytes follow the text, so that no scanner has to
	// ask whether it ends: a zero stops all of them, and is in no text.
	padding = 32
)

// Line breaks of YAML 1.1 that YAML 1.2 does not have are as long as these
// sequences, which take their places in the text. All that looks for the end of a
// line finds the LF; what comes before it counts as white space there. Only
// folding tells them apart: a CRLF becomes a line feed, the others stay.
const (
	lineSeparator      = 0x0E // and CR LF: U+2028
	paragraphSeparator = 0x0F // and CR LF: U+2029
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// load makes the reader's copy of a text: without a byte order mark, with a line
// feed at its end, and zeros behind that. A lone CR is a LF in it.
//
// Characters that may not stand in a YAML stream (YAML 1.2 section 5.1) end
// the text: they are an error when, and only if, the reader gets there. So does
// the line break at cut, if that is not noBreak.
func (r *Reader) load(src []byte, cut int) {
	if r.server {
		src = r.fromUTF16(src)
	}
	r.source = src
	r.lead, r.unreadable = 0, ""
	if len(src) >= len(bom) && string(src[:len(bom)]) == bom {
		r.lead = len(bom)
	}
	r.lines.Start(src, r.lead)
	src = src[r.lead:]
	for _, mark := range []string{"\xff\xfe", "\xfe\xff", "\x00\x00\xfe\xff"} {
		// A UTF-32 little-endian mark starts with the one of UTF-16.
		if len(src) >= len(mark) && string(src[:len(mark)]) == mark {
			src, r.unreadable = nil, "UTF-16 or UTF-32; only UTF-8 is read"
		}
	}
	text := r.copyChecked(src[:min(len(src), cut)])
	switch {
	case cut != noBreak:
		r.unreadable, r.oldBreak = r.outsideQuotes(cut), noBreak
	case r.oldBreak != noBreak:
		r.oldBreak = r.nextOldBreak(0)
	}
	r.end = len(text)
	r.ownBreak = r.end == 0 || text[r.end-1] != '\n'
	if r.ownBreak {
		text = append(text, '\n')
	}
	var zeros [padding]byte
	r.text = append(text, zeros[:]...)
}

// checkedTogether is how many bytes are copied before they are checked, in a cache.
const checkedTogether = 32 << 10

// copyChecked copies src into the reader's text, up to the first character that may not stand
// there, and notes what that is.
func (r *Reader) copyChecked(src []byte) []byte {
	text := memory.Room(&r.account, r.text[:0], len(src)+len("\n")+padding)
	for i := 0; len(src) > 0; {
		n := min(len(src), checkedTogether)
		text = append(text, src[:n]...)
		src = src[n:]
		to := len(text)
		if len(src) > 0 {
			to -= utf8.UTFMax // a character, or a CR LF, may not be whole
		}
		if i = r.check(text, i, to); r.unreadable != "" {
			return text[:i]
		}
	}
	return text
}

// check looks at the characters that start from i on and before to. It returns where the last one
// ends, or where one starts that may not stand there, and notes what that is.
func (r *Reader) check(text []byte, i, to int) int {
	for i < to {
		for i+32 <= to {
			b := text[i : i+32]
			if (odd(b)|odd(b[8:])|odd(b[16:])|odd(b[24:]))&highs != 0 {
				break
			}
			i += 32
		}
		for i+8 <= to && odd(text[i:])&highs == 0 {
			i += 8
		}
		stop := min(i+8, to)
		for i < stop {
			switch c := text[i]; {
			case c >= ' ' && c < 0x7F, c == '\n', c == '\t':
				i++
			case c == '\r':
				if i+1 == len(text) || text[i+1] != '\n' {
					text[i] = '\n'
				}
				i++
			case c >= utf8.RuneSelf:
				if n := plainRunes(text[i:to]); n > 0 {
					i += n
					continue
				}
				size, what := r.checkRune(text[i:])
				if what != "" {
					r.unreadable = what
					return i
				}
				i += size
			default:
				r.unreadable = fmt.Sprintf("control character U+%04X", c)
				return i
			}
		}
	}
	return i
}

// odd sets the highest bit of each of the first eight bytes that is below 0x20 but not LF, is
// 0x7F, or is not ASCII.
//
//espalier:inline
func odd(b []byte) uint64 {
	w := binary.LittleEndian.Uint64(b)
	low := w &^ highs
	// No sum carries over into the next byte.
	return ^(low+0x60*ones)&((low^0x0A*ones)+0x7F*ones) | (low + ones) | w
}

// plainRunes returns how many bytes at the start of b are characters that may stand anywhere: those
// beyond U+00BF, as far as that is seen fast, and single ones of ASCII between them.
func plainRunes(b []byte) int {
	// E0 may start what is not UTF-8, as ED with A0 and more does; E2 a line break; EF a byte order mark or
	// no character.
	const leads = 0xffff &^ (1<<0 | 1<<2 | 1<<0xF)
	i := 0
	for i+4 <= len(b) {
		w := binary.LittleEndian.Uint32(b[i : i+4])
		switch {
		case w&0xC0E0 == 0x80C0 && w&0x1F > 2:
			i += 2
		case w&0xC0C0F0 == 0x8080E0 && leads>>(w&0xF)&1 != 0 && w&0x200F != 0x200D:
			i += 3
		case w&0xC0C0C0FF == 0x808080F0 && w&0x3000 != 0:
			i += 4
		case w&0x8080 == 0x8000 && w&0x7F >= ' ' && w&0x7F != 0x7F:
			i++
		default:
			return i
		}
	}
	return i
}

// checkRune looks at the character that b starts with, which is not ASCII.
func (r *Reader) checkRune(b []byte) (size int, what string) {
	c, size := utf8.DecodeRune(b)
	switch {
	case c == utf8.RuneError && size <= 1:
		return 0, "invalid UTF-8"
	case c >= 0x2030 && c < 0xFE00:
	case c < 0xA0 && c != 0x85, c == 0xFFFE, c == 0xFFFF:
		return 0, fmt.Sprintf("control character %U", c)
	case c == 0xFEFF && !r.server:
		return 0, "byte order mark inside the document"
	case isOldBreak(c):
		if !r.server {
			r.oldBreak = 0 // there is one
		}
		if r.Dialect != Core {
			replaceBreak(b, c)
		}
	}
	return size, ""
}

// replaceBreak writes what stands for c in the text.
func replaceBreak(b []byte, c rune) {
	switch c {
	case 0x85:
		b[0], b[1] = '\r', '\n'
	case 0x2028:
		b[0], b[1], b[2] = lineSeparator, '\r', '\n'
	case 0x2029:
		b[0], b[1], b[2] = paragraphSeparator, '\r', '\n'
	}
}

// fromUTF16 returns src as UTF-8 where it starts with a byte order mark of
// UTF-16. Positions are then those in the text that it returns.
func (r *Reader) fromUTF16(src []byte) []byte {
	if len(src) < 2 {
		return src
	}
	var order binary.ByteOrder
	switch string(src[:2]) {
	case "\xff\xfe":
		order = binary.LittleEndian
	case "\xfe\xff":
		order = binary.BigEndian
	default:
		return src
	}
	r.chargeLoose(5 * len(src)) // both what is made here and what append adds
	units := make([]uint16, 0, len(src)/2)
	for i := 2; i+2 <= len(src); i += 2 {
		units = append(units, order.Uint16(src[i:]))
	}
	text := make([]byte, 0, len(src)/2*3)
	for i := 0; i < len(units); i++ {
		c := rune(units[i])
		if utf16.IsSurrogate(c) {
			c = utf8.RuneError
			if i+1 < len(units) {
				c = utf16.DecodeRune(rune(units[i]), rune(units[i+1]))
			}
			if c == utf8.RuneError {
				return append(text, 0xFF) // refused as what is no UTF-8
			}
			i++
		}
		text = utf8.AppendRune(text, c)
	}
	if len(src)&1 != 0 {
		text = append(text, 0xFF)
	}
	return text
}
