package yamlbridge

import (
	"bytes"
	"unicode/utf8"
)

// This file reads the text after the root as far as the server does. The server stops at the end of
// the document, which it recognizes by the token after the root. But before its scanner returns a
// token that could be a key, it reads on until the colon comes or cannot come any more: to the end
// of the line, and up to 1024 characters (yaml_parser_fetch_more_tokens in scannerc.go of
// go.yaml.in/yaml/v2). The server refuses the document for what the scanner refuses on the way, and
// does not see the text after that.

// A tail is the server's scanner after the root. No block collection is open, and none is opened
// before the scanner stops.
type tail struct {
	r       *Reader
	i       int
	end     int    // the start of the text after the root
	read    int    // the server needs the text up to here; set only where it becomes unreadable
	failed  int    // the place of the error
	msg     string // the text of the error, or ""
	level   int    // of brackets
	allowed bool   // a token may be a key (simple_key_allowed)
	first   bool   // the token after the root was fetched, or a later one
	key     tailKey
}

// A tailKey is the possible key outside of brackets (simple_keys[0]).
type tailKey struct {
	possible bool
	stale    bool // its line has ended
	root     bool // it is the root, or starts its properties
	awaited  bool // the parser waits for its token (simple_keys_by_tok)
	bracket  bool // it opens brackets
	inner    bool // in these brackets there was a possible key
	counted  int  // its characters are counted up to here
	chars    int
}

// checkTail checks the text after the root, from end on. The root, or its properties, start at root
// or after white space and comments. inline says that this is on the line of a marker.
func (r *Reader) checkTail(root, end int, inline bool) error {
	s := tail{r: r, i: root, end: end, allowed: !inline}
	s.toToken()
	// A root of nothing but properties ends before a marker, or with the text.
	for (r.text[s.i] == '&' || r.text[s.i] == '!') && s.fetch() {
		s.toToken()
	}
	if bytes.Contains(r.text[min(s.i, end):end], []byte("\n")) {
		// No token of the root that could be a key is on the line of its end.
		s = tail{r: r, i: end, end: end, allowed: r.isFirstOnLine(end)}
	}
	for s.msg == "" {
		s.toToken()
		isFirst := !s.first && s.i >= end
		if !s.fetch() || (s.first || isFirst) && !s.isAwaited() {
			break
		}
		s.first = s.first || isFirst
	}
	switch {
	case r.unreadable != "" && r.isReadWith(r.end, s.read):
		return r.fail(r.end, r.unreadable)
	case s.msg != "":
		return r.fail(s.failed, s.msg)
	}
	return nil
}

// isFirstOnLine reports whether there are only blanks before i on its line, which is not the first.
func (r *Reader) isFirstOnLine(i int) bool {
	for is(r.text[i-1], isBlankByte) {
		i--
	}
	return r.isLineStart(i)
}

func (r *Reader) isLineStart(i int) bool { return i == 0 || r.text[i-1] == '\n' }

func (s *tail) fail(at int, msg string) bool {
	s.failed, s.msg = at, msg
	return false
}

// look records that the server needs n characters from i on. Each byte after the end is one: there are
// more of them than it needs.
func (s *tail) look(i, n int) {
	r := s.r
	if r.unreadable == "" {
		return
	}
	for ; n > 0; n-- {
		switch c := r.text[i]; {
		case c == '\r' && r.source[i+r.lead] != '\r': // U+0085
			i += 2
		case c == lineSeparator, c == paragraphSeparator:
			i += 3
		default:
			i += runeLength(c)
		}
	}
	s.read = max(s.read, i)
}

// breakLength returns the length of the line break at i, or 0.
func (s *tail) breakLength(i int) int {
	switch c := s.r.text[i]; {
	case i >= s.r.end:
		return 0
	case c == '\n':
		return 1
	case c == '\r':
		return 2
	case c == lineSeparator, c == paragraphSeparator:
		return 3
	}
	return 0
}

// toLineEnd moves to the line break, or to the end of the text.
func (s *tail) toLineEnd() {
	for !is(s.r.text[s.i], isBreakByte) {
		s.i++
	}
}

// skipBreak moves past the line break, if there is one.
func (s *tail) skipBreak() bool {
	n := s.breakLength(s.i)
	s.i += n
	s.key.stale = s.key.stale || n > 0
	return n > 0
}

// toToken moves to the next token (yaml_parser_scan_to_next_token).
func (s *tail) toToken() {
	for {
		for c := s.r.text[s.i]; c == ' ' || c == '\t' && (s.level > 0 || !s.allowed); c = s.r.text[s.i] {
			s.i++
		}
		if s.r.text[s.i] == '#' {
			s.toLineEnd()
		}
		if !s.skipBreak() {
			return
		}
		s.allowed = s.allowed || s.level == 0
	}
}

// isKey reports whether the possible key can still be one (yaml_simple_key_is_valid).
func (s *tail) isKey() bool {
	k := &s.key
	if !k.possible || k.stale {
		return false
	}
	k.chars += utf8.RuneCount(s.r.text[k.counted:s.i])
	k.counted = s.i
	return k.chars <= MaxKeyChars
}

// isAwaited reports whether the server reads on: the token that the parser waits for may be a key.
func (s *tail) isAwaited() bool { return s.key.awaited && s.isKey() }

// save records that the next token could be a key (yaml_parser_save_simple_key).
func (s *tail) save() {
	switch {
	case !s.allowed:
	case s.level == 0:
		s.key = tailKey{possible: true, root: s.i < s.end, awaited: !s.first, counted: s.i}
	case s.level == 1:
		s.key.inner = true
	}
	s.allowed = false
}

// fetch reads the token at i (yaml_parser_fetch_next_token). Keys within brackets do not matter
// here.
func (s *tail) fetch() bool {
	r, i := s.r, s.i
	s.look(i, 4)
	c, endsIndicator := r.text[i], endsWord(r.text[i+1])
	isStart := r.isLineStart(i)
	switch {
	case i >= r.end:
		s.key.possible = false
		return true
	case isStart && c == '%':
		return s.directive()
	case isStart && isMarker(r.text, i):
		return true // no key is on this line, so that nothing behind it is read
	case c == '[' || c == '{':
		s.open()
		return true
	case c == ']' || c == '}':
		s.close()
		return true
	case c == ',':
		s.indicator(true)
		return true
	case c == '-' && endsIndicator, (c == '?' || c == ':') && (s.level > 0 || endsIndicator):
		return s.collection(c)
	case c == '*' || c == '&':
		s.save()
		return s.anchor()
	case c == '!':
		s.save()
		return s.tag()
	case (c == '|' || c == '>') && s.level == 0:
		return s.block()
	case c == '"' || c == '\'':
		s.save()
		return s.quoted(c)
	case is(c, isIndicator) || c == '\t':
		return s.fail(i, "found character that cannot start any token")
	}
	s.save()
	s.plain()
	return true
}

// open reads an opening bracket (yaml_parser_fetch_flow_collection_start,
// yaml_parser_increase_flow_level). No line that the server reads here reaches its limit of
// brackets.
func (s *tail) open() {
	isKey := s.allowed && s.level == 0
	s.save()
	if isKey {
		s.key.bracket = true
	}
	s.level++
	s.allowed = true
	s.i++
}

// close reads a closing bracket (yaml_parser_fetch_flow_collection_end,
// yaml_parser_decrease_flow_level). If no token within could be a key, the server forgets that it
// waits for the brackets.
func (s *tail) close() {
	if s.level == 0 {
		s.key.possible = false
	} else if s.level--; s.level == 0 && s.key.bracket {
		s.key.awaited = s.key.awaited && s.key.inner
	}
	s.allowed = false
	s.i++
}

// indicator reads an indicator.
func (s *tail) indicator(allowed bool) {
	if s.level == 0 {
		s.key.possible = false
	}
	s.allowed = allowed
	s.i++
}

// collection reads - ? and : (yaml_parser_fetch_block_entry, yaml_parser_fetch_key,
// yaml_parser_fetch_value).
func (s *tail) collection(c byte) bool {
	switch {
	case s.level > 0:
		s.indicator(c == '-')
	case c == ':' && s.isKey() && s.key.root && s.key.awaited:
		// The root is then the key of a mapping, and no colon follows it. This is an error of the
		// parser.
		return s.fail(s.end, "did not find expected key")
	case c == ':' && s.isKey():
		s.indicator(false)
	case !s.allowed:
		return s.fail(s.i, notAllowed(c))
	}
	return true
}

// serverChunk is how many bytes the server reads and decodes at a time.
const serverChunk = 512

// isReadWith reports whether the server decodes the character at offset at of the text together
// with the text before to.
func (r *Reader) isReadWith(at, to int) bool {
	source := r.source
	at, to = at+r.lead, to+r.lead
	for start := 0; ; {
		end := min(start+serverChunk, len(source))
		// An incomplete character is left for the next chunk.
		for back := 1; back < utf8.UTFMax && back <= end-start; back++ {
			if c := source[end-back]; utf8.RuneStart(c) {
				if back < runeLength(c) {
					end -= back
				}
				break
			}
		}
		switch {
		case at < end || end == start:
			return true
		case to <= end:
			return false
		}
		start = end
	}
}

// runeLength returns the length of a character that starts with c.
func runeLength(c byte) int {
	switch {
	case c >= 0xF8: // starts none
		return 1
	case c >= 0xF0:
		return 4
	case c >= 0xE0:
		return 3
	case c >= 0xC0:
		return 2
	}
	return 1
}
