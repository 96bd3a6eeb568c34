package edit

import "bytes"

// explicitKey matches the text before a key with a question mark, on its line.
var explicitKey = pattern(`^( *)\?[ \t]+$`)

// block removes members from a mapping in block style. It leaves text alone that does not look
// as it expects; check notices that.
func (e *editor) block(members []member) {
	all := allGone(members)
	pullAt, pullFrom := -1, 0
	for i, m := range members {
		at := e.at(m.name)
		if !m.gone || at < 0 {
			continue
		}
		line := e.lines.of(at)
		before := e.text[e.lines.start(line):at]
		if explicit := explicitKey().FindSubmatch(before); explicit != nil {
			before = explicit[1]
		}
		indent := len(before)
		last := e.lastLine(m, at, indent)
		switch dashes := bytes.TrimLeft(before, " "); {
		case len(dashes) == 0:
			if i == 0 && all {
				e.becomeEmpty(line)
			}
			floor := 0
			if i > 0 && line > 0 && e.isComment(line-1, indent) {
				// The comment may be text within quotes.
				floor = e.lastLine(members[i-1], max(e.at(members[i-1].name), 0), indent) + 1
			}
			e.removeLines(line, last+1, indent, floor, i == 0 && !all)
		case len(bytes.Trim(dashes, "- ")) > 0:
			// There is a question mark after a dash.
		case all:
			e.edits = append(e.edits, Edit{at, e.lines.end(line), "{}"})
			e.removeAll(line+1, last+1, indent)
		default:
			e.removeAll(line+1, last+1, indent)
			pullAt, pullFrom = at, line+1
		}
	}
	if pullAt >= 0 {
		e.pullUp(pullAt, pullFrom)
	}
}

func allGone(members []member) bool {
	for _, m := range members {
		if !m.gone {
			return false
		}
	}
	return true
}

// pullUp removes the text from an offset after a dash to the first line at or after the given
// one that is kept.
func (e *editor) pullUp(at, line int) {
	for ; line < e.lines.count(); line++ {
		if spaces, rest := e.lines.indent(line); !e.gone[line] && len(rest) > 0 {
			e.edits = append(e.edits, Edit{From: at, To: e.lines.start(line) + spaces})
			return
		}
	}
}

// becomeEmpty writes {} for a mapping that starts on the given line, below its key or dash.
func (e *editor) becomeEmpty(line int) {
	for i := line - 1; i >= 0; i-- {
		spaces, rest := e.lines.indent(i)
		if len(rest) == 0 || rest[0] == '#' {
			continue
		}
		// The last token of the line is a colon, a dash, a tag or an anchor.
		text := e.text[:e.lines.end(i)]
		at := e.lines.start(i) + spaces
		end := at
		for isDash(text[at:]) {
			end = at + 1
			at = skipBlanks(text, end)
		}
		s := scanner{text: text, at: at}
		for kind, _ := s.next(); kind != 0; kind, _ = s.next() {
			end = s.at
		}
		to := end
		if skipBlanks(text, end) == len(text) {
			to = len(text)
		}
		e.edits = append(e.edits, Edit{end, to, " {}"})
		return
	}
	e.edits = append(e.edits, Edit{e.lines.start(line), e.lines.start(line), "{}" + e.lineBreak()})
}

// lastLine returns the last line of a member, whose name is at an offset of the text, in a
// mapping with the given indentation.
func (e *editor) lastLine(m member, at, indent int) int {
	// Lines that are indented deeper belong to the member. Quotes and brackets may hold others,
	// so their ends are looked for.
	end := at
	dec := newDecoder(e.json[m.value:m.end])
	for kind := dec.PeekKind(); kind != 0; kind = dec.PeekKind() {
		read := func() error { _, err := dec.ReadToken(); return err }
		if kind != '}' && kind != ']' {
			at := e.at(tokenStart(e.json, m.value+int(dec.InputOffset())))
			end = max(end, at)
			if kind != 'n' && at >= 0 {
				to, brackets := endOfNode(e.text, at)
				end = max(end, to)
				if brackets {
					read = dec.SkipValue
				}
			}
		}
		if read() != nil {
			break
		}
	}
	last := e.lines.of(end)
	for i := last + 1; i < e.lines.count(); i++ {
		spaces, rest := e.lines.indent(i)
		if len(rest) == 0 {
			continue
		}
		// A sequence may be indented like the key of which it is the value.
		if spaces < indent || spaces == indent && !isDash(rest) && !isValue(rest) {
			break
		}
		last = i
	}
	return last
}

// isValue reports whether a line, without its indentation, starts with the colon of an explicit
// key.
func isValue(rest []byte) bool {
	return len(rest) > 0 && rest[0] == ':' && (len(rest) == 1 || isSpace(rest[1]))
}

// isDash reports whether a line, without its indentation, starts an element of a sequence.
func isDash(rest []byte) bool {
	return len(rest) > 0 && rest[0] == '-' && (len(rest) == 1 || rest[1] == ' ' || rest[1] == '\t')
}
