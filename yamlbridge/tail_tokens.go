package yamlbridge

import "unicode/utf8"

// This file reads the tokens after the root as the server's scanner does, to find their errors.

// anchor reads an anchor or alias (yaml_parser_scan_anchor).
func (s *tail) anchor() bool {
	start := s.i
	s.i = scanName(s.r.text, start+1, false)
	s.look(s.i, 1)
	if s.i == start+1 || !s.r.endsName(s.i) {
		return s.fail(start, "did not find expected alphabetic or numeric character of an anchor")
	}
	return true
}

// tag reads a tag (yaml_parser_scan_tag).
func (s *tail) tag() bool {
	start := s.i
	if s.r.text[start+1] == '<' {
		s.i += 2
		if !s.uri(true) {
			return false
		}
		if s.r.text[s.i] != '>' {
			return s.fail(s.i, "did not find the expected '>' of a tag")
		}
		s.i++
	} else if isPrimary := s.handle(); !s.uri(!isPrimary) {
		return false
	}
	s.look(s.i, 1)
	if !endsWord(s.r.text[s.i]) {
		return s.fail(s.i, "did not find expected whitespace or line break after a tag")
	}
	return true
}

// handle reads the handle of a tag from its ! on, and reports whether no other ! ends it
// (yaml_parser_scan_tag_handle).
func (s *tail) handle() (isPrimary bool) {
	s.i = scanName(s.r.text, s.i+1, false)
	s.look(s.i, 1)
	if s.r.text[s.i] != '!' {
		return true
	}
	s.i++
	return false
}

// uri reads the characters of a tag. If isNeeded is set, there must be at least one
// (yaml_parser_scan_tag_uri).
func (s *tail) uri(isNeeded bool) bool {
	start := s.i
	for is(s.r.text[s.i], isTagByte) {
		if s.r.text[s.i] != '%' {
			s.i++
		} else if !s.uriEscapes() {
			return false
		}
	}
	s.look(s.i, 1)
	if isNeeded && s.i == start {
		return s.fail(start, "did not find expected tag URI")
	}
	return true
}

// uriEscapes reads the escaped bytes of one character (yaml_parser_scan_uri_escapes), which checks
// less than UTF-8.
func (s *tail) uriEscapes() bool {
	for n, left := 0, 1; left > 0; n, left = n+1, left-1 {
		s.look(s.i, 3)
		text := s.r.text[s.i:]
		if text[0] != '%' || hexValue(text[1]) < 0 || hexValue(text[2]) < 0 {
			return s.fail(s.i, "did not find URI escaped octet")
		}
		octet := byte(hexValue(text[1])<<4 | hexValue(text[2]))
		switch {
		case n > 0 && utf8.RuneStart(octet), n == 0 && !utf8.RuneStart(octet), octet >= 0xF8:
			return s.fail(s.i, "found an incorrect UTF-8 octet in a tag")
		case n == 0:
			left = runeLength(octet)
		}
		s.i += 3
	}
	return true
}

// directive reads a directive (yaml_parser_scan_directive). Its meaning does not matter, nor
// whether it repeats another.
func (s *tail) directive() bool {
	start := s.i
	s.i = scanName(s.r.text, start+1, false)
	ok := endsWord(s.r.text[s.i])
	switch name := s.r.text[start+1 : s.i]; {
	case ok && string(name) == "YAML":
		ok = s.version()
	case ok && string(name) == "TAG":
		ok = s.tagDirective()
	default:
		s.look(s.i, 1)
		return s.fail(start, "found unknown directive name")
	}
	return ok && s.restOfLine("did not find expected comment or line break after a directive")
}

// restOfLine reads the rest of a line after a directive or the header of a block scalar, up to its line
// break.
func (s *tail) restOfLine(msg string) bool {
	s.i = skipBlanks(s.r.text, s.i)
	if s.r.text[s.i] == '#' {
		s.toLineEnd()
	}
	s.look(s.i, 1)
	if !is(s.r.text[s.i], isBreakByte) {
		return s.fail(s.i, msg)
	}
	s.look(s.i, min(2, 1+s.breakLength(s.i)))
	return true
}

// version reads the version of a %YAML directive (yaml_parser_scan_version_directive_value).
func (s *tail) version() bool {
	text := s.r.text
	word := skipBlanks(text, s.i)
	s.i = word
	for s.i < word+len("11.11") && ('0' <= text[s.i] && text[s.i] <= '9' || text[s.i] == '.') {
		s.i++
	}
	s.look(s.i, 1)
	if !isVersion(string(text[word:s.i])) {
		return s.fail(word, "did not find expected version number")
	}
	return true
}

// tagDirective reads the handle and the prefix of a %TAG directive
// (yaml_parser_scan_tag_directive_value).
func (s *tail) tagDirective() bool {
	text := s.r.text
	word := skipBlanks(text, s.i)
	s.i = word
	s.look(s.i, 1)
	if text[word] != '!' || s.handle() && s.i > word+1 {
		return s.fail(word, "did not find expected '!' of a tag handle")
	}
	s.look(s.i, 1)
	if !is(text[s.i], isBlankByte) {
		return s.fail(s.i, "did not find expected whitespace after a tag handle")
	}
	s.i = skipBlanks(text, s.i)
	if !s.uri(true) {
		return false
	}
	if !endsWord(text[s.i]) {
		return s.fail(s.i,
			"did not find expected whitespace or line break after the prefix of a tag")
	}
	return true
}

// block reads a block scalar (yaml_parser_scan_block_scalar). A line has ended then, so that no token
// before it is a key any more.
func (s *tail) block() bool {
	text := s.r.text
	isSign := func() bool { return text[s.i] == '+' || text[s.i] == '-' }
	isDigit := func() bool { return '0' <= text[s.i] && text[s.i] <= '9' }
	indent, signed := 0, false
	for s.i++; isSign() && !signed || isDigit() && indent == 0; s.i++ {
		switch {
		case isSign():
			signed = true
		case text[s.i] == '0':
			return s.fail(s.i, "found an indentation indicator equal to 0")
		default:
			indent = int(text[s.i] - '0')
		}
	}
	if !s.restOfLine("did not find expected comment or line break after the header of a block scalar") {
		return false
	}
	for {
		column, ok := s.blockBreaks(&indent)
		if !ok || column != indent {
			return ok
		}
		s.toLineEnd()
	}
}

// blockBreaks reads the end of a line, empty lines, and the indentation of the next line
// (yaml_parser_scan_block_scalar_breaks). If indent is 0, the longest of them determines it.
func (s *tail) blockBreaks(indent *int) (column int, ok bool) {
	longest := 1
	for {
		for column = 0; s.r.text[s.i] == ' ' && (*indent == 0 || column < *indent); column++ {
			s.i++
		}
		s.look(s.i, 1)
		longest = max(longest, column)
		if s.r.text[s.i] == '\t' && (*indent == 0 || column < *indent) {
			return column, s.fail(s.i, "found a tab character where an indentation space is expected")
		}
		if !s.skipBreak() {
			break
		}
	}
	if *indent == 0 {
		*indent = longest
	}
	return column, true
}

// plain reads a plain scalar (yaml_parser_scan_plain_scalar). A marker, a comment or an indicator
// ends it.
func (s *tail) plain() {
	text := s.r.text
	for {
		s.look(s.i, 4)
		if text[s.i] == '#' || s.r.isLineStart(s.i) && isMarker(text, s.i) {
			return
		}
		for !endsWord(text[s.i]) {
			if c := text[s.i]; c == ':' && endsWord(text[s.i+1]) || s.level > 0 && (c == '?' || is(c, isFlowIndicator)) {
				return
			}
			s.i += runeLength(text[s.i])
			s.look(s.i, 2)
		}
		if s.i >= s.r.end {
			return
		}
		s.blanks()
	}
}

// blanks skips white space and line breaks. Both who call it look on.
func (s *tail) blanks() {
	for {
		s.i = skipBlanks(s.r.text, s.i)
		if !s.skipBreak() {
			return
		}
	}
}

// quoted reads a scalar in quotes (yaml_parser_scan_flow_scalar).
func (s *tail) quoted(quote byte) bool {
	text, start := s.r.text, s.i
	s.i++
	for {
		s.look(s.i, 4)
		switch {
		case s.r.isLineStart(s.i) && isMarker(text, s.i):
			return s.fail(s.i, "found unexpected document indicator")
		case s.i >= s.r.end:
			return s.fail(start, "found unexpected end of stream")
		}
		for escaped := false; !escaped && !endsWord(text[s.i]); {
			switch c := text[s.i]; {
			case c == '\'' && quote == c && text[s.i+1] == c:
				s.i += 2
			case c == quote:
				s.i++
				return true
			case c == '\\' && quote == '"' && s.breakLength(s.i+1) > 0:
				s.i++
				escaped = s.skipBreak()
				continue // the line continues with white space
			case c == '\\' && quote == '"':
				if !s.escape() {
					return false
				}
			default:
				s.i += runeLength(c)
			}
			s.look(s.i, 2)
		}
		s.look(s.i, 1)
		if text[s.i] == quote {
			return true // a line has ended before it, so that nothing behind it is read
		}
		s.blanks()
	}
}

// escape reads an escape within double quotes.
func (s *tail) escape() bool {
	length := 0
	switch c := s.r.text[s.i+1]; c {
	case '0', 'a', 'b', 't', '\t', 'n', 'v', 'f', 'r', 'e', ' ', '"', '\'', '\\', 'N', '_', 'L', 'P':
	case 'x':
		length = 2
	case 'u':
		length = 4
	case 'U':
		length = 8
	default:
		return s.fail(s.i, "found unknown escape character")
	}
	start := s.i
	s.i += 2
	if length == 0 {
		return true
	}
	s.look(s.i, length)
	value := uint32(0)
	for ; length > 0; length-- {
		digit := hexValue(s.r.text[s.i])
		if digit < 0 {
			return s.fail(start, "did not find expected hexdecimal number")
		}
		value = value<<4 | uint32(digit)
		s.i++
	}
	if value > utf8.MaxRune || 0xD800 <= value && value <= 0xDFFF {
		return s.fail(start, "found invalid Unicode character escape code")
	}
	return true
}
