package locate

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// InScalar returns where a place in the value of a scalar is in the text of its document. The
// scalar starts at start, and is JSON or YAML in any style. The place is in lines and characters
// of the value, from 1. It is not ok if the text does not have this value there, as after a tag.
func InScalar(text []byte, start int, value string, line, column int) (at int, ok bool) {
	n, ok := offsetIn(value, line, column)
	if !ok || start < 0 || start >= len(text) {
		return 0, false
	}
	s := scalar{text: text, at: start, value: value[:n]}
	switch text[start] {
	case '"':
		s.at++
		return s.double()
	case '|', '>':
		if !s.header() {
			return 0, false
		}
	case '\'':
		s.at++
		s.isSingle = true
	}
	return s.plain()
}

// offsetIn returns the offset of a place in lines and characters.
func offsetIn(value string, line, column int) (n int, ok bool) {
	for ; line > 1; line-- {
		end := strings.IndexByte(value[n:], '\n')
		if end < 0 {
			return 0, false
		}
		n += end + 1
	}
	for ; column > 1 && n < len(value); column-- {
		_, size := utf8.DecodeRuneInString(value[n:])
		n += size
	}
	return n, line == 1 && column == 1
}

// A scalar is read up to a part of its value.
type scalar struct {
	text     []byte
	at       int
	value    string // that is still to be found
	isSingle bool   // in single quotes
	indent   int    // of a block; -1 if its first line will say so
	isBlock  bool
}

// header skips the first line of a block scalar, and the indentation of the next one.
func (s *scalar) header() bool {
	end := bytes.IndexByte(s.text[s.at:], '\n')
	if end < 0 || bytes.ContainsAny(s.text[s.at+1:s.at+end], "123456789") {
		return false // an explicit indentation counts from that of the parent
	}
	s.at += end + 1
	s.isBlock = true
	for i := s.at; i < len(s.text); i++ {
		switch s.text[i] {
		case ' ':
			continue
		case '\r', '\n':
			if s.text[i] == '\n' { // an empty line at the start is a part of the value
				if s.at = i; s.value == "" || s.value[0] != '\n' {
					return s.value == ""
				}
				s.value = s.value[1:]
			}
			s.at = i + 1
			continue
		}
		s.indent = i - s.at
		s.at = i
		return true
	}
	return false
}

// plain reads text without escapes, whose lines may be folded.
func (s *scalar) plain() (at int, ok bool) {
	for s.value != "" {
		if s.at >= len(s.text) {
			return 0, false
		}
		c := s.text[s.at]
		switch {
		case s.endsLine():
			if !s.fold() {
				return 0, false
			}
			continue
		case c != s.value[0]:
			return 0, false
		case c == '\'' && s.isSingle:
			s.at++ // it is doubled
		}
		s.at++
		s.value = s.value[1:]
	}
	return s.at, s.at <= len(s.text)
}

// endsLine reports whether nothing but space follows in the line.
func (s *scalar) endsLine() bool {
	for i := s.at; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == '\n', c == '\r':
			return !s.isBlock || i == s.at || s.value[0] != ' '
		case c != ' ' && c != '\t':
			return false
		}
	}
	return true
}

// isBlank reports whether s.at is at space within a line, or at the CR that ends it.
func (s *scalar) isBlank() bool {
	return s.at < len(s.text) && strings.IndexByte(" \t\r", s.text[s.at]) >= 0
}

// fold reads line breaks and the indentation after them, which are a space, or line breaks, of the
// value.
func (s *scalar) fold() bool {
	for s.isBlank() {
		s.at++
	}
	for s.at < len(s.text) && s.text[s.at] == '\n' {
		s.at++
		for from := s.at; s.isBlank(); s.at++ {
			if s.isBlock && s.at-from == s.indent {
				break
			}
		}
	}
	if rest, isSpace := strings.CutPrefix(s.value, " "); isSpace {
		s.value = rest
		return true
	}
	rest := strings.TrimLeft(s.value, "\n")
	isBreak := len(rest) < len(s.value)
	s.value = rest
	return isBreak
}

// double reads text in double quotes, with the escapes of JSON and YAML.
func (s *scalar) double() (at int, ok bool) {
	for s.value != "" {
		if s.at >= len(s.text) {
			return 0, false
		}
		switch c := s.text[s.at]; {
		case c == '\\':
			if !s.escape() {
				return 0, false
			}
		case s.endsLine():
			if !s.fold() {
				return 0, false
			}
		case c != s.value[0]:
			return 0, false
		default:
			s.at++
			s.value = s.value[1:]
		}
	}
	return s.at, true
}

// escape reads an escape sequence.
func (s *scalar) escape() bool {
	rest := s.text[s.at+1:]
	if len(rest) == 0 {
		return false
	}
	r, n := rune(rest[0]), 1
	if digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[rest[0]]; digits > 0 {
		r, n = hex(rest[1:], digits), 1+digits
		if low, ok := bytes.CutPrefix(rest[min(n, len(rest)):], []byte(`\u`)); ok && utf16.IsSurrogate(r) {
			r, n = utf16.DecodeRune(r, hex(low, 4)), n+2+4
		}
	} else if i := strings.IndexByte("nrtbfae0v_NLP", rest[0]); i >= 0 {
		r = []rune("\n\r\t\b\f\a\x1b\x00\v\u00a0\u0085\u2028\u2029")[i]
	} else if rest[0] == '\n' || rest[0] == '\r' { // the line goes on in the next one
		for n < len(rest) && bytes.IndexByte([]byte(" \t\n"), rest[n]) >= 0 {
			n++
		}
		s.at += 1 + n
		return true
	}
	after, ok := strings.CutPrefix(s.value, string(r))
	s.value = after
	s.at += 1 + n
	return ok
}

// hex reads digits. It returns -1 if there are not so many.
func hex(b []byte, digits int) rune {
	if len(b) < digits {
		return -1
	}
	n, err := strconv.ParseUint(string(b[:digits]), 16, 31)
	if err != nil {
		return -1
	}
	return rune(n)
}
