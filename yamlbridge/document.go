package yamlbridge

import (
	"bytes"
	"strings"
)

// This file reads what surrounds the node of a document: directives and markers (YAML 1.2 chapters
// 6.8 and 9).

// document reads the document of the text.
func (r *Reader) document() error {
	for i := 0; ; {
		start, inline, err := r.prefix(i)
		if err != nil {
			return err
		}
		end, err := r.block(start, inline)
		if err != nil {
			return err
		}
		if r.server {
			if r.trailing = r.trailing || r.text[end] != 0; !r.trailing {
				return nil
			}
			return r.checkTail(start, end, inline)
		}
		isEmpty := string(r.out[r.base:]) == "null" && r.isEmptyBetween(start, end)
		if next, more, err := r.after(end); err != nil {
			return err
		} else if !more {
			return nil
		} else if !isEmpty {
			return r.fail(next, secondDocument)
		} else {
			i = next
		}
		// An empty document is omitted.
		r.out = r.out[:r.base]
		r.main.reset()
		r.stack = append(r.stack[:0], frame{column: -1, next: documentDone})
		r.tags = nil
	}
}

const (
	secondDocument = "second document; only one is allowed here"
	afterDocument  = "nothing may follow the document"
)

// isEmptyBetween reports whether there is only white space and comments.
func (r *Reader) isEmptyBetween(i, end int) bool {
	for i < end {
		i = skipBlanks(r.text, i)
		if c := r.text[i]; c != '#' && !is(c, isBreakByte) {
			return false
		}
		i = r.nextLine(i)
	}
	return true
}

// prefix reads up to the first node of a document: directives, and the marker ---. inline says that
// the node is on the line of the marker.
func (r *Reader) prefix(i int) (start int, inline bool, err error) {
	text := r.text
	directives, version := false, false
	afterDirective := -1 // the line after a directive, which may start with a tab in libyaml
	for {
		r.line = i
		at := skipBlanks(text, i)
		switch c := text[at]; {
		case c == 0:
			if directives {
				return i, false, r.failAtEnd(at, "did not find expected <document start>")
			}
			return i, false, nil
		case c == '#' || is(c, isBreakByte):
			tab := bytes.IndexByte(text[i:at], '\t')
			if tab >= 0 && r.Dialect != Core && i != afterDirective {
				return i, false, r.fail(i+tab,
					"found character that cannot start any token: a tab is no indentation")
			}
			i = r.nextLine(at)
			continue
		case text[i] == '%':
			isVersion := bytes.HasPrefix(text[i:], []byte("%YAML")) && endsWord(text[i+5])
			if isVersion && version {
				return i, false, r.fail(i, "found duplicate %YAML directive")
			}
			version = version || isVersion
			if i, err = r.directive(i); err != nil {
				return i, false, err
			}
			directives, afterDirective = true, i
			continue
		case isMarker(text, i) && c == '-':
			at = skipBlanks(text, i+3)
			if c := text[at]; c == '#' || is(c, isBreakByte) {
				return r.nextLine(at), false, nil
			}
			return at, true, nil
		case directives:
			return i, false, r.fail(i, "did not find expected <document start>")
		case isMarker(text, i) && !r.server:
			// The marker ends a document that is not there.
			if i, err = r.markerEnd(i); err != nil {
				return i, false, err
			}
			continue
		case isMarker(text, i):
			return i, false, r.fail(i, "did not find expected node content")
		}
		return i, false, nil
	}
}

// directive reads a directive (section 6.8) and returns the start of the next line.
func (r *Reader) directive(i int) (int, error) {
	text := r.text
	start := i
	for i++; !endsWord(text[i]); i++ {
	}
	name := string(text[start+1 : i])
	i = skipBlanks(text, i)
	word := i
	switch {
	case name == "YAML":
		for ; '0' <= text[i] && text[i] <= '9' || text[i] == '.'; i++ {
		}
		version := string(text[word:i])
		if !isVersion(version) {
			return start, r.failAt(i, "did not find expected version number")
		}
		isKnown := version == "1.1" || version == "1.2" && !r.server
		if !isKnown && (r.Dialect != Core || version[:2] != "1.") {
			return start, r.fail(start, "found incompatible YAML document")
		}
	case name == "TAG":
		for ; is(text[i], isAnchorByte) || text[i] == '!'; i++ {
		}
		handle := string(text[word:i])
		word = skipBlanks(text, i)
		end := word
		for ; is(text[end], isTagByte); end++ {
		}
		if !isHandle(handle) || word == i || end == word {
			return start, r.failAt(i, "did not find expected tag handle and prefix")
		}
		prefix, err := r.unescapeTag(nil, word, end)
		if err != nil {
			return start, err
		}
		if _, ok := r.tags[handle]; ok {
			return start, r.fail(start, "found duplicate %TAG directive")
		}
		r.declareTag(handle, prefix)
		if i = end; !endsWord(text[i]) {
			return start, r.failAt(i,
				"did not find expected whitespace or line break after the prefix of a tag")
		}
	case r.Dialect == Core && name != "":
		return r.nextLine(i), nil // a reserved directive is ignored
	default:
		return start, r.failAt(start, "found unknown directive name")
	}
	at := skipBlanks(text, i)
	if c := text[at]; !is(c, isBreakByte) && (c != '#' || at == i && r.Dialect == Core) {
		return start, r.failAt(at, "did not find expected comment or line break after a directive")
	}
	return r.nextLine(at), nil
}

func isVersion(s string) bool {
	major, minor, ok := strings.Cut(s, ".")
	return ok && isDigits(major) && isDigits(minor)
}

func isDigits(s string) bool {
	return 0 < len(s) && len(s) <= 2 && !strings.Contains(s, ".")
}

func isHandle(s string) bool {
	return s == "!" || strings.HasPrefix(s, "!") && strings.Index(s[1:], "!") == len(s)-2
}

// markerEnd reads the line of the marker ... at i.
func (r *Reader) markerEnd(i int) (int, error) {
	at := skipBlanks(r.text, i+3)
	if c := r.text[at]; c != '#' && !is(c, isBreakByte) {
		return i, r.fail(i, afterDocument)
	}
	return r.nextLine(at), nil
}

// after looks at the text after the document, from the line at i on, which starts with a marker
// unless the text ends there. It returns the start of the next document if there is one.
func (r *Reader) after(i int) (next int, more bool, err error) {
	text := r.text
	for text[i] != 0 {
		if text[i] == '.' && isMarker(text, i) {
			if i, err = r.markerEnd(i); err != nil {
				return i, false, err
			}
			continue
		}
		at := skipBlanks(text, i)
		if c := text[at]; c == '#' || is(c, isBreakByte) {
			i = r.nextLine(at)
			continue
		}
		if text[i] == '-' && isMarker(text, i) {
			at = skipBlanks(text, i+3)
			if c := text[at]; c == '#' || is(c, isBreakByte) {
				// It may be empty.
				if rest := r.nextLine(at); r.isEmptyUntilMarker(rest) {
					i = r.skipEmpty(rest)
					continue
				}
			}
		}
		return i, true, nil
	}
	if r.unreadable != "" {
		return i, false, r.fail(r.end, r.unreadable)
	}
	return i, false, nil
}

// skipEmpty returns the start of the first line from i on that is not empty.
func (r *Reader) skipEmpty(i int) int {
	for r.text[i] != 0 {
		at := skipBlanks(r.text, i)
		if c := r.text[at]; c != '#' && !is(c, isBreakByte) {
			return i
		}
		i = r.nextLine(at)
	}
	return i
}

func (r *Reader) isEmptyUntilMarker(i int) bool {
	i = r.skipEmpty(i)
	return r.text[i] == 0 || isMarker(r.text, i)
}
