package yamlbridge

import (
	"bytes"
)

// This file reads what is around the node of a document: directives and markers
// (YAML 1.2 chapters 6.8 and 9).

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
		if end >= r.end && !r.trailing && r.unreadable != "" {
			return r.fail(r.end, r.unreadable)
		}
		if r.AsServer {
			if r.text[end] == '%' {
				r.trailing = true
				_, err = r.directive(end)
			}
			return err
		}
		isEmpty := string(r.out[r.base:]) == "null" && r.isEmptyBetween(start, end)
		if next, more, err := r.behind(end); err != nil {
			return err
		} else if !more {
			return nil
		} else if !isEmpty {
			return r.fail(next, secondDocument)
		} else {
			i = next
		}
		// The empty document is left out.
		r.out, r.marks = r.out[:r.base], r.marks[:0]
		r.stack = append(r.stack[:0], frame{column: -1, anchor: -1, next: documentDone})
		r.tags = r.tags[:0]
	}
}

const (
	secondDocument = "second document; only one is allowed here"
	behindDocument = "nothing may follow the document"
)

// isEmptyBetween reports whether there is nothing but white space and comments.
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

// prefix reads up to the first node of a document: directives, and the marker ---.
// inline says that the node is on its line.
func (r *Reader) prefix(i int) (start int, inline bool, err error) {
	text := r.text
	directives := false
	version := false
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
			if at > i && text[i] == '\t' && r.Dialect == Kubernetes {
				return i, false, r.fail(i, "found character that cannot start any token: a tab is no indentation")
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
			directives = true
			continue
		case isMarker(text, i) && c == '-':
			at = skipBlanks(text, i+3)
			if c := text[at]; c == '#' && at > i+3 || is(c, isBreakByte) {
				return r.nextLine(at), false, nil
			}
			return at, true, nil
		case directives:
			return i, false, r.fail(i, "did not find expected <document start>")
		case isMarker(text, i) && !r.AsServer:
			// The end of a document that is not there.
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

// directive reads a directive and returns where the next line starts.
func (r *Reader) directive(i int) (int, error) {
	end := trimEnd(r.text, i, lineEnd(r.text, i))
	line := r.text[i:end]
	if at := bytes.Index(line, []byte(" #")); at >= 0 {
		line = line[:at]
	} else if at := bytes.Index(line, []byte("\t#")); at >= 0 {
		line = line[:at]
	}
	next := r.nextLine(i)
	words := bytes.Fields(line)
	switch name := string(words[0]); {
	case name == "%YAML":
		if len(words) != 2 || !isVersion(words[1]) {
			return i, r.fail(i, "did not find expected version number")
		}
		switch v := string(words[1]); {
		case v == "1.1", v == "1.2" && !r.AsServer, r.Dialect == Core && v[:2] == "1.":
			return next, nil
		}
		return i, r.fail(i, "found incompatible YAML document")
	case name == "%TAG":
		if len(words) != 3 || !isHandle(words[1]) {
			return i, r.fail(i, "did not find expected tag handle and prefix")
		}
		handle := string(words[1])
		for _, t := range r.tags {
			if t.handle == handle {
				return i, r.fail(i, "found duplicate %TAG directive")
			}
		}
		start := i + bytes.LastIndex(line, words[2])
		prefix, err := r.unescapeTag(nil, start, start+len(words[2]))
		if err != nil {
			return i, err
		}
		for _, c := range words[2] {
			if !is(c, isTagByte) {
				return i, r.fail(i, "did not find expected whitespace or line break behind the prefix of a tag")
			}
		}
		r.tags = append(r.tags, tagHandle{handle, string(prefix)})
		return next, nil
	case r.Dialect == Core && len(name) > 1:
		return next, nil // reserved, and to be ignored (section 6.8)
	}
	return i, r.fail(i, "found unknown directive name")
}

func isVersion(b []byte) bool {
	major, minor, ok := bytes.Cut(b, []byte("."))
	return ok && isDigits(major) && isDigits(minor)
}

func isDigits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return 0 < len(b) && len(b) <= 2
}

func isHandle(b []byte) bool {
	if len(b) == 0 || b[0] != '!' {
		return false
	}
	for _, c := range b[1:max(len(b)-1, 1)] {
		if !is(c, isAnchorByte) {
			return false
		}
	}
	return len(b) == 1 || b[len(b)-1] == '!'
}

// markerEnd reads the line of the marker ... at i.
func (r *Reader) markerEnd(i int) (int, error) {
	at := skipBlanks(r.text, i+3)
	if c := r.text[at]; c != '#' && !is(c, isBreakByte) {
		return i, r.fail(i, behindDocument)
	}
	return r.nextLine(at), nil
}

// behind looks at what follows the document, from the line at i on, which starts
// with a marker, if the text does not end there. It returns where the next document
// starts, if there is one.
func (r *Reader) behind(i int) (next int, more bool, err error) {
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
