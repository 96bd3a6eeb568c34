package edit

import (
	"bytes"
	"slices"
)

// A span is a member of a mapping in flow style, in the text.
type span struct {
	start, end int
	key        int // start, unless there is a question mark
	comma      int // after it, or -1
	gone       bool
}

// flow removes members from a mapping in flow style whose { is at an offset of the text.
func (e *editor) flow(at int, members []member) {
	spans, closing := flowMembers(e.text, at)
	kept := len(spans) - 1 // the last one that is kept
	for _, m := range members {
		if m.gone {
			i, ok := slices.BinarySearchFunc(spans, e.at(m.name), func(s span, at int) int { return s.key - at })
			if ok {
				spans[i].gone = true
			}
		}
	}
	for kept >= 0 && spans[kept].gone {
		kept--
	}
	if kept < 0 {
		e.edits = append(e.edits, Edit{From: at + 1, To: closing})
		return
	}
	if kept < len(spans)-1 && spans[len(spans)-1].comma < 0 {
		from, comma := spans[kept].end, spans[kept].comma
		if len(bytes.TrimSpace(e.text[from:comma])) > 0 {
			from = comma // a comment is between them
		}
		e.edits = append(e.edits, Edit{From: from, To: comma + 1})
	}
	for i, s := range spans {
		if !s.gone {
			continue
		}
		from, to := s.start, max(s.end, s.comma+1)
		first, last := e.lines.of(from), e.lines.of(to)
		before := e.text[e.lines.start(first):from]
		behind := skipBlanks(e.text, to)
		spaces := len(before) - len(bytes.TrimLeft(before, " "))
		switch ends := behind == e.lines.end(last); {
		case isBlank(before) && (ends || e.text[behind] == '#' && behind > to):
			floor := e.lines.of(at) + 1
			if i > 0 {
				floor = e.lines.of(max(spans[i-1].end, spans[i-1].comma)) + 1
			}
			e.removeLines(first, last+1, spaces, floor, i == 0)
		case i > kept || ends:
			if !isBlank(before) { // else the text after it needs the indentation
				from -= len(before) - len(bytes.TrimRight(before, " \t"))
			}
			e.edits = append(e.edits, Edit{From: from, To: to})
		case e.text[behind] == '#' && !isSpace(e.text[from-1]):
			// YAML 1.2 requires white space before a comment.
			e.edits = append(e.edits, Edit{From: from, To: to})
		default:
			e.edits = append(e.edits, Edit{From: from, To: behind})
		}
	}
}

func isBlank(text []byte) bool { return len(bytes.TrimLeft(text, " \t")) == 0 }

func skipBlanks(text []byte, at int) int {
	return len(text) - len(bytes.TrimLeft(text[at:], " \t"))
}

// flowMembers returns the members of the mapping in flow style whose { is at an offset, and the
// offset of its }.
func flowMembers(text []byte, at int) (spans []span, closing int) {
	s := scanner{text: text, at: at}
	depth := 0
	cur := span{start: -1}
	for {
		kind, start := s.next()
		if kind == 0 {
			return nil, len(text)
		}
		switch kind {
		case '{', '[':
			if depth++; depth == 1 {
				continue
			}
		case '}', ']':
			depth--
		}
		if depth == 0 || depth == 1 && kind == ',' {
			if cur.start >= 0 {
				cur.comma = -1
				if kind == ',' {
					cur.comma = start
				}
				spans = append(spans, cur)
			}
			if depth == 0 {
				return spans, start
			}
			cur = span{start: -1}
			continue
		}
		if cur.start < 0 {
			cur.start, cur.key = start, start
			if text[start] == '?' && s.at == start+1 {
				cur.key = skipSpace(text, s.at)
			}
		}
		cur.end = s.at
	}
}

// endOfNode returns the end of a node in quotes or brackets that starts at an offset, and the
// start of any other node.
func endOfNode(text []byte, at int) (end int, brackets bool) {
	at = skipProperties(text, at)
	if at == len(text) {
		return at, false
	}
	switch text[at] {
	case '"', '\'':
		return endOfQuotes(text, at), false
	case '{', '[':
		s := scanner{text: text, at: at}
		depth := 0
		for {
			switch kind, _ := s.next(); kind {
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			if depth == 0 || s.at == len(text) {
				return s.at, true
			}
		}
	}
	return at, false
}

// A scanner finds the tokens in brackets. It knows just enough of YAML to tell brackets and
// commas from text; JSON is YAML to it.
type scanner struct {
	text  []byte
	at    int
	plain bool // the last token is a word of a plain scalar
}

// next returns the next token: its character for brackets and commas, 'a' for others, or 0 at
// the end. The token ends at s.at.
func (s *scanner) next() (kind byte, start int) {
	s.at = skipSpace(s.text, s.at)
	start = s.at
	if start == len(s.text) {
		return 0, start
	}
	c := s.text[start]
	switch {
	case isFlowIndicator(c):
		s.at++
		s.plain = false
		return c, start
	case s.plain:
		// Only a colon ends it.
	case c == '"' || c == '\'':
		s.at = endOfQuotes(s.text, start)
		return 'a', start
	case c == '&' || c == '!':
		s.at = endOfProperty(s.text, start)
		return 'a', start
	case c == '?' && s.endsWord(start+1):
		s.at++
		return 'a', start
	}
	if c == ':' && (!s.plain || s.endsWord(start+1)) {
		// After quotes and brackets, the colon needs no space after it.
		s.at, s.plain = start+1, false
		return 'a', start
	}
	for s.at++; !s.endsWord(s.at) && !(s.text[s.at] == ':' && s.endsWord(s.at+1)); {
		s.at++
	}
	s.plain = true
	return 'a', start
}

// endsWord reports whether a word ends before an offset.
func (s *scanner) endsWord(at int) bool {
	return at == len(s.text) || isSpace(s.text[at]) || isFlowIndicator(s.text[at])
}

func isFlowIndicator(c byte) bool {
	return c == '{' || c == '}' || c == '[' || c == ']' || c == ','
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// skipSpace returns the end of white space and comments.
func skipSpace(text []byte, at int) int {
	for at < len(text) {
		switch {
		case isSpace(text[at]):
			at++
		case text[at] == '#' && (at == 0 || isSpace(text[at-1])):
			if i := bytes.IndexAny(text[at:], "\r\n"); i >= 0 {
				at += i
			} else {
				at = len(text)
			}
		default:
			return at
		}
	}
	return at
}

// skipProperties returns the start of a node after its tag and its anchor.
func skipProperties(text []byte, at int) int {
	for at < len(text) && (text[at] == '&' || text[at] == '!') {
		at = skipSpace(text, endOfProperty(text, at))
	}
	return at
}

func endOfProperty(text []byte, at int) int {
	if bytes.HasPrefix(text[at:], []byte("!<")) {
		if i := bytes.IndexByte(text[at:], '>'); i >= 0 {
			return at + i + 1
		}
	}
	for at++; at < len(text) && !isSpace(text[at]) && !isFlowIndicator(text[at]); {
		at++
	}
	return at
}

// endOfQuotes returns the end of the scalar in quotes that starts at an offset.
func endOfQuotes(text []byte, at int) int {
	quote := text[at]
	for at++; at < len(text); at++ {
		switch {
		case text[at] == '\\' && quote == '"':
			at++
		case text[at] != quote:
		case quote == '\'' && at+1 < len(text) && text[at+1] == '\'':
			at++
		default:
			return at + 1
		}
	}
	return len(text)
}
