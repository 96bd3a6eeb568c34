package input

// This file recognises templates of Go, such as those of Helm, in texts that are no YAML because of
// their actions (pkg.go.dev/text/template, Actions).

import (
	"bytes"

	"github.com/espalier-dev/espalier/yamlbridge"
)

// HasActions reports whether a text has actions of a template.
func HasActions(text []byte) bool {
	_, after, ok := bytes.Cut(text, []byte("{{"))
	return ok && bytes.Contains(after, []byte("}}"))
}

// IsTemplate reports whether a text is no YAML, and would be if its actions were not there. A text
// with another fault is not a template but broken.
func IsTemplate(text []byte) bool {
	if !HasActions(text) {
		return false
	}
	var r Reader
	for doc, err := range r.completed(yamlPieces(inMemory(text))) {
		if err == nil {
			continue
		}
		plain, ok := withoutActions(doc.Text)
		if !ok {
			continue
		}
		if _, err := new(yamlbridge.Reader).AppendJSON(nil, plain); err == nil {
			return true
		}
	}
	return false
}

// ofAction stands for the bytes of an action while a text is rewritten. YAML does not allow it.
const ofAction = 0x00

// withoutActions returns a text of the same length in which actions are blank where they have a
// line of their own, and words elsewhere. It is not ok if an action does not end.
func withoutActions(text []byte) (plain []byte, ok bool) {
	if plain, ok = markActions(text); !ok {
		return nil, false
	}
	for line := range bytes.SplitAfterSeq(plain, []byte("\n")) {
		mark := byte('x')
		if isOfActions(line) {
			mark = ' '
		}
		for i, b := range line {
			if b == ofAction {
				line[i] = mark
			}
		}
	}
	return plain, true
}

// WithoutActionLines returns a text of the same length in which the lines that have nothing but
// actions are blank, as those are that Helm renders to nothing or to other lines. It is not ok if
// there are no such lines.
func WithoutActionLines(text []byte) (plain []byte, ok bool) {
	if !HasActions(text) {
		return nil, false
	}
	marked, ok := markActions(text)
	if !ok {
		return nil, false
	}
	plain = bytes.Clone(text)
	ok = false
	at := 0
	for line := range bytes.SplitAfterSeq(marked, []byte("\n")) {
		if isOfActions(line) {
			ok = true
			for i, b := range line {
				if b == ofAction {
					plain[at+i] = ' '
				}
			}
		}
		at += len(line)
	}
	return plain, ok
}

// isOfActions reports whether a line has actions, and nothing else but a comment.
func isOfActions(line []byte) bool {
	rest := bytes.TrimLeft(line, " \t\r\n\x00")
	return bytes.IndexByte(line[:len(line)-len(rest)], ofAction) >= 0 && (len(rest) == 0 || rest[0] == '#')
}

// markActions returns a copy of a text with ofAction in place of the bytes of actions, except for
// line breaks. It is not ok if an action does not end, or if the text has such bytes itself.
func markActions(text []byte) (marked []byte, ok bool) {
	if bytes.IndexByte(text, ofAction) >= 0 {
		return nil, false
	}
	marked = bytes.Clone(text)
	for at := 0; ; {
		start := bytes.Index(text[at:], []byte("{{"))
		if start < 0 {
			return marked, true
		}
		start += at
		end := endOfAction(text, start+2)
		if end < 0 {
			return nil, false
		}
		for i := start; i < end; i++ {
			if marked[i] != '\n' && marked[i] != '\r' {
				marked[i] = ofAction
			}
		}
		at = end
	}
}

// endOfAction returns where an action ends whose contents start at an offset, or -1. Braces do not
// end it in comments and in strings.
func endOfAction(text []byte, at int) int {
	rest := bytes.TrimLeft(bytes.TrimPrefix(text[at:], []byte("-")), " \t\r\n")
	if bytes.HasPrefix(rest, []byte("/*")) {
		end := bytes.Index(rest, []byte("*/"))
		if end < 0 {
			return -1
		}
		at = len(text) - len(rest) + end
	}
	for ; at < len(text); at++ {
		switch text[at] {
		case '}':
			if bytes.HasPrefix(text[at:], []byte("}}")) {
				return at + 2
			}
		case '"', '`':
			quote := text[at]
			for at++; at < len(text) && text[at] != quote; at++ {
				switch {
				case quote == '"' && text[at] == '\n':
					return -1
				case quote == '"' && text[at] == '\\':
					at++
				}
			}
		}
	}
	return -1
}
