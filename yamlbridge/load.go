package yamlbridge

import (
	"encoding/binary"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/espalier-dev/espalier/internal/kernel"
	"github.com/espalier-dev/espalier/internal/memory"
)

const (
	bom = "\uFEFF"
	// padding is how many zero bytes follow the text. A zero stops every scanner, and is in no
	// text, so that no scanner has to check for the end.
	padding = 32
)

// Line breaks that YAML 1.1 has and YAML 1.2 has not are replaced in the text by these sequences,
// which have the same length. Functions that look for the end of a line find the LF, and take the
// bytes before it for white space. Only folding distinguishes them: a CRLF becomes a line feed, and
// the others stay.
const (
	lineSeparator      = 0x0E // and CR LF: U+2028
	paragraphSeparator = 0x0F // and CR LF: U+2029
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// load makes the reader's copy of a text: without a byte order mark, with a line feed at its end,
// and with zeros after that. A lone CR becomes a LF.
//
// A character that a YAML stream may not have (YAML 1.2 section 5.1) ends the text. It is an error
// if, and only if, the reader gets there. The line break at cut ends the text as well, unless cut
// is noBreak.
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
		// The mark of UTF-32 little-endian starts with that of UTF-16.
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

// checkedTogether is how many bytes are copied before they are checked, so that they are in a
// cache.
const checkedTogether = 32 << 10

// copyChecked copies src into the reader's text, up to the first character that is not allowed, and
// records what that is.
func (r *Reader) copyChecked(src []byte) []byte {
	text := memory.Room(&r.account, r.text[:0], len(src)+len("\n")+padding)
	for i := 0; len(src) > 0; {
		n := min(len(src), checkedTogether)
		text = append(text, src[:n]...)
		src = src[n:]
		to := len(text)
		if len(src) > 0 {
			to -= utf8.UTFMax // a character, or a CR LF, may be incomplete
		}
		if i = r.check(text, i, to); r.unreadable != "" {
			return text[:i]
		}
	}
	return text
}

// check checks the characters that start from i on and before to. It returns the end of the last
// one, or the start of one that is not allowed, and records what that is.
func (r *Reader) check(text []byte, i, to int) int {
	for i < to {
		if kernel.Strings {
			i += kernel.Printable(text[i:to])
		}
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

// odd sets the highest bit of each of the first eight bytes that is below 0x20 but not LF, is 0x7F,
// or is not ASCII.
//
//espalier:inline
func odd(b []byte) uint64 {
	w := binary.LittleEndian.Uint64(b)
	low := w &^ highs
	// No sum carries over into the next byte.
	return ^(low+0x60*ones)&((low^0x0A*ones)+0x7F*ones) | (low + ones) | w
}

// plainRunes returns how many bytes at the start of b are characters that are always allowed: those
// beyond U+00BF, as far as that is quickly seen, and single ASCII characters between them.
func plainRunes(b []byte) int {
	// leads excludes E0, which may start a sequence that is not UTF-8, E2, which may start a line
	// break, and EF, which may start a byte order mark or a noncharacter. The case for three bytes
	// excludes ED before A0 and higher, which is not UTF-8 either.
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

// checkRune checks the character at the start of b, which is not ASCII.
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

// replaceBreak writes the sequence for the line break c into the text.
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

// fromUTF16 returns src as UTF-8 if it starts with a byte order mark of UTF-16. Positions are then
// those in the result.
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
	r.chargeLoose(5 * len(src)) // the text that is made here, and the buffer of append
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
				return append(text, 0xFF) // refused, because it is not UTF-8
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
