package yamlbridge

import (
	"unicode/utf8"

	"github.com/espalier-dev/espalier/errors"
)

// This file reads block collections (YAML 1.2 chapter 8).
//
// NOTE: The machine reads line by line. There are no tokens: a scalar is scanned to the end of its
// line before it is known whether it is a key, and written only then. Only scalars can be keys in
// JSON, so that nothing else has to wait. Collections are frames on an explicit stack. The column
// of a frame is that of its keys or dashes, and a line to the left of it closes the frame. Before a
// value is read, the state of its frame is set to the one after the value, so that closing the
// value needs no way back.
//
// The Kubernetes dialect accepts the language of go.yaml.in/yaml/v2, whose scanner is that of
// libyaml: white space before the first token of a line, and after - and ?, consists of spaces
// only, and a key is on one line with its colon. Comments that say "1.2" mark differences of the
// other dialect.

// block reads the document whose first node is at i: on a line of its own or, if inline is set,
// after ---. It returns the index where it stops: the end of the text, or the start of a line with
// a document marker.
func (r *Reader) block(i int, inline bool) (int, error) {
	text := r.text
	var (
		f       *frame
		col     int
		canOpen bool // whether a block collection may start here
		fresh   bool // no part of the node has been read on this line
		key     span
		own     properties // of this line
		stop    int
		special bool
		err     error
	)
	if inline {
		f, fresh = &r.stack[0], true
		goto node
	}

nextLine: // i is where a line starts
	r.line = i
	i = skipSpaces(text, i)
	switch c := text[i]; {
	case c == '#':
		i = lineEnd(text, i) + 1
		goto nextLine
	case c > ' ':
	case c == '\n':
		i++
		goto nextLine
	case c == 0:
		goto finish
	case c == '\t':
		if i, err = r.tabbed(i); err != nil {
			return i, err
		}
		if text[i-1] == '\n' {
			goto nextLine
		}
		// 1.2: no collection follows tabs. The indentation consists of spaces.
		for col = 0; text[r.line+col] == ' '; {
			col++
		}
		goto tabbedNode
	default: // CR, or a marker of load
		i = lineEnd(text, i) + 1
		goto nextLine
	}

content: // i is at the first byte of a line that is not white space
	if r.isTooLong() {
		return i, r.tooLong(i)
	}
	col = i - r.line
	if col == 0 && (isMarker(text, i) || text[i] == '%') {
		goto finish
	}
again:
	f = &r.stack[len(r.stack)-1]
	if col < int(f.column) {
		if err = r.pop(); err != nil {
			return i, err
		}
		goto again
	}
	switch f.state {
	case mapKey:
		if col > int(f.column) {
			return i, r.fail(i,
				"did not find expected key: it is not below the others of its mapping")
		}
		goto key
	case mapMerged:
		if err = r.merge(); err != nil {
			return i, err
		}
		goto again
	case mapValue:
		if col > int(f.column) || r.startsBlockScalar(i) {
			canOpen, fresh = true, true
			goto node
		}
		if text[i] == '-' && endsWord(text[i+1]) {
			// A sequence may be at the column of its key (section 8.2.1, rule [201]).
			if err = r.push('[', col, i); err != nil {
				return i, err
			}
			f = &r.stack[len(r.stack)-1]
			goto dash
		}
		if err = r.empty(); err != nil {
			return i, err
		}
		goto again
	case seqDash:
		if col == int(f.column) {
			if text[i] == '-' && endsWord(text[i+1]) {
				goto dash
			}
			if parent := r.stack[len(r.stack)-2]; parent.column == f.column {
				if err = r.pop(); err != nil {
					return i, err
				}
				goto again
			}
		}
		return i, r.fail(i, "did not find expected '-' indicator")
	case seqValue:
		if col > int(f.column) || r.startsBlockScalar(i) {
			canOpen, fresh = true, true
			goto node
		}
		if err = r.empty(); err != nil {
			return i, err
		}
		goto again
	case mapExplicitKey:
		if col == int(f.column) && !r.startsBlockScalar(i) {
			if err = r.noKey(); err != nil {
				return i, err
			}
			goto again
		}
		if i, err = r.explicitKey(i); err != nil {
			return i, err
		}
		goto nextLine
	case mapColon:
		if col == int(f.column) && text[i] == ':' && endsWord(text[i+1]) {
			canOpen = true
			i++
			goto value
		}
		r.null(i)
		goto again
	case documentValue:
		canOpen, fresh = true, true
		goto node
	default: // documentDone
		if r.server {
			return i, nil // to document, which sees that there is more
		}
		return i, r.fail(i, afterDocument)
	}

tabbedNode:
	f = &r.stack[len(r.stack)-1]
	if col < int(f.column) {
		if err = r.pop(); err != nil {
			return i, err
		}
		goto tabbedNode
	}
	if f.state != mapValue && f.state != seqValue && f.state != documentValue ||
		col <= int(f.column) {
		return i, r.fail(i, "a tab is no indentation")
	}
	canOpen, fresh = false, true
	goto node

key: // at the column of the mapping f
	if c := text[i]; !is(c, isIndicator) && (c != '-' && c != '?' && c != ':' || !endsWord(text[i+1])) {
		stop, special = scanPlain(text, i)
		if text[stop] != ':' {
			return i, r.failAt(i, "could not find expected ':'")
		}
		if stop-i > MaxKeyChars {
			if err = r.checkKey(i, stop); err != nil {
				return i, err
			}
		}
		if err = r.plainKey(i, trimEnd(text, i, stop), special); err != nil {
			return i, err
		}
		canOpen = false
		i = stop + 1
		goto value
	}
	if i, canOpen, err = r.oddKey(i); err != nil {
		return i, err
	}
	if f.state == mapExplicitKey || f.state == mapColon {
		goto nextLine
	}

value: // i is after the colon of a member of the mapping f
	r.emptyAt = i
	for is(text[i], isBlankByte) {
		if text[i] == '\t' && canOpen {
			// 1.2: the tab is no indentation.
			if canOpen, err = r.tabAllowed(i); err != nil {
				return i, err
			}
		}
		i++
	}
	if c := text[i]; c == '#' || is(c, isBreakByte) {
		f.state = mapValue
		i = lineEnd(text, i) + 1
		goto nextLine
	}
	fresh = true

node: // i is at the first byte of a node, which is a value of f
	switch c := text[i]; c {
	default:
		goto plain
	case '-', '?', ':':
		if !endsWord(text[i+1]) {
			goto plain
		}
		if c == ':' && canOpen && !fresh {
			// The key has only properties.
			key, stop = span{i, i}, i
			goto implicitKey
		}
		if c == ':' || !canOpen || !fresh {
			return i, r.fail(i, notAllowed(c))
		}
		col = i - r.line
		if c == '-' {
			err = r.push('[', col, i)
		} else {
			err = r.push('{', col, i)
		}
		if err != nil {
			return i, err
		}
		f = &r.stack[len(r.stack)-1]
		if c == '-' {
			goto dash
		}
		goto key
	case '"', '\'':
		goto quoted
	case '[', '{':
		if !fresh {
			if err = r.adopt(&own); err != nil {
				return i, err
			}
		}
		if i, err = r.flow(i); err != nil {
			return i, err
		}
		if at := skipBlanks(text, i); text[at] == ':' && endsWord(text[at+1]) {
			return i, r.fail(i-1, "a mapping or sequence is no key")
		}
		goto rest
	case '|', '>':
		if !fresh {
			if err = r.adopt(&own); err != nil {
				return i, err
			}
		}
		f.state = f.next
		if i, err = r.blockScalar(i, int(f.column)); err != nil {
			return i, err
		}
		goto nextLine
	case '*':
		goto alias
	case '&', '!':
		if !fresh {
			return i, r.fail(i, oneOfEach)
		}
		if i, err = r.properties(i, &own); err != nil {
			return i, err
		}
		if c := text[i]; c == '#' || is(c, isBreakByte) {
			if err = r.adopt(&own); err != nil {
				return i, err
			}
			switch {
			case f.seq:
				f.state = seqValue
			case f.next != documentDone: // that of the document is documentValue already
				f.state = mapValue
			}
			goto nextLine
		}
		fresh = false
		goto node
	case ']', '}', ',', '#', '%', '@', '`':
		return i, r.fail(i, "found character that cannot start any token")
	}

plain:
	stop, special = scanPlain(text, i)
	key = span{i, trimEnd(text, i, stop)}
	if text[stop] == ':' {
		goto implicitKey
	}
	if !fresh {
		if err = r.adopt(&own); err != nil {
			return i, err
		}
	}
	f.state = f.next
	if text[stop] != '#' {
		// Does it continue on the next line?
		i = lineEnd(text, stop) + 1
		r.line = i
		i = skipSpaces(text, i)
		goesOn := false
		if c := text[i]; c > ' ' {
			col = i - r.line
			goesOn = col > int(f.column) && c != '#' && (c != ':' || !endsWord(text[i+1])) &&
				(col > 0 || !isMarker(text, i))
		} else if i, goesOn, err = r.goesOn(i, int(f.column)); err != nil {
			return i, err
		}
		if goesOn {
			if i, err = r.foldPlain(key, special, int(f.column)); err != nil || r.trailing {
				return i, err
			}
			goto nextLine
		}
		if err = r.plain(key.start, key.end, special); err != nil {
			return i, err
		}
		if text[i] > ' ' && text[i] != '#' {
			goto content
		}
		goto nextLine
	}
	if err = r.plain(key.start, key.end, special); err != nil {
		return i, err
	}
	i = lineEnd(text, stop) + 1
	goto nextLine

quoted:
	{
		var content []byte
		var next int
		if content, next, err = r.quoted(i, int(f.column)); err != nil {
			return i, err
		}
		at := skipBlanks(text, next)
		if text[at] == ':' && endsWord(text[at+1]) {
			key = span{i, next}
			stop = at
			goto implicitKey
		}
		if !fresh {
			if err = r.adopt(&own); err != nil {
				return i, err
			}
		}
		f.state = f.next
		if err = r.quotedValue(i, content); err != nil {
			return i, err
		}
		i = next
		goto rest
	}

alias:
	stop = scanName(text, i+1, r.Dialect == Core)
	key = span{i, stop}
	if at := skipBlanks(text, stop); text[at] == ':' && endsWord(text[at+1]) {
		stop = at
		goto implicitKey
	}
	if !fresh || r.props.set {
		return i, r.fail(i, "an alias has no properties")
	}
	f.state = f.next
	if err = r.alias(key); err != nil {
		return i, err
	}
	i = stop
	goto rest

implicitKey: // of a mapping, up to the colon at stop; it starts at i, or with own before it
	if !canOpen {
		return i, r.fail(stop, "mapping values are not allowed in this context")
	}
	if key.start < r.line {
		return i, r.fail(stop,
			"mapping values are not allowed in this context: a key and its colon are on one line")
	}
	if !fresh {
		i = own.at
	}
	if stop-i > MaxKeyChars {
		if err = r.checkKey(i, stop); err != nil {
			return i, err
		}
	}
	if err = r.push('{', i-r.line, i); err != nil {
		return i, err
	}
	f = &r.stack[len(r.stack)-1]
	if !fresh {
		r.props = own
	}
	if err = r.key(key, special); err != nil {
		return i, err
	}
	canOpen = false
	i = stop + 1
	goto value

dash: // of an element of the sequence f
	i++
	r.emptyAt = i
	canOpen, fresh = true, true
	for is(text[i], isBlankByte) {
		if text[i] == '\t' {
			if canOpen, err = r.tabAllowed(i); err != nil {
				return i, err
			}
		}
		i++
	}
	if c := text[i]; c == '#' || is(c, isBreakByte) {
		f.state = seqValue
		i = lineEnd(text, i) + 1
		goto nextLine
	}
	goto node

rest: // i is after a value
	if i, err = r.rest(i); err != nil {
		return i, err
	}
	goto nextLine

finish: // of the document
	if text[i] == '%' && !r.server {
		return i, r.fail(i,
			"a directive belongs before a document, and a line ... before the directive")
	}
	if i >= r.end && r.unreadable != "" {
		return i, r.fail(r.end, r.unreadable) // other missing parts do not matter then
	}
	for len(r.stack) > 1 {
		if err = r.pop(); err != nil {
			return i, err
		}
	}
	if f = &r.stack[0]; f.state == documentValue {
		r.emptyAt = i
		if err = r.empty(); err != nil {
			return i, err
		}
	}
	return r.line, nil
}

// startsBlockScalar reports whether a block scalar at i may be at the column of its collection.
// libyaml allows it.
func (r *Reader) startsBlockScalar(i int) bool {
	return r.Dialect != Core && (r.text[i] == '|' || r.text[i] == '>')
}

func notAllowed(c byte) string {
	switch c {
	case '-':
		return "block sequence entries are not allowed in this context"
	case '?':
		return "mapping keys are not allowed in this context"
	}
	return "mapping values are not allowed in this context"
}

// rest returns the start of the next line. Only a comment may be left on this one. To the server, what
// else follows the root is as on a line of its own: rest returns its start.
func (r *Reader) rest(i int) (int, error) {
	at := skipBlanks(r.text, i)
	switch c := r.text[at]; {
	case is(c, isBreakByte):
		return r.nextLine(at), nil
	case c == '#' && (at > i || r.Dialect != Core):
		return r.nextLine(at), nil
	}
	// After a scalar that spans lines, text to the left of the root closes the root.
	isAfter := len(r.stack) == 1 || at-r.line < int(r.stack[1].column)
	switch {
	case isAfter && r.server:
		return at, nil
	case isAfter:
		return at, r.failAt(at, afterDocument)
	}
	return at, r.failAt(at, "did not find the end of the line, or a comment")
}

// nextLine returns the start of the next line.
//
//espalier:inline
func (r *Reader) nextLine(i int) int { return lineEnd(r.text, i) + 1 }

// tabbed handles a line with a tab before its first byte at i. It returns the start of the next
// line if this one is empty, and otherwise the start of its content.
func (r *Reader) tabbed(i int) (int, error) {
	at := skipBlanks(r.text, i)
	if r.Dialect != Core {
		return i, r.fail(i, "found character that cannot start any token: a tab is no indentation")
	}
	if c := r.text[at]; c == '#' || is(c, isBreakByte) {
		return r.nextLine(at), nil
	}
	return at, nil
}

// tabAllowed says that no block collection may start after the tab at i, which follows an indicator,
// because the tab would indent it. The Kubernetes dialect refuses the tab.
func (r *Reader) tabAllowed(i int) (canOpen bool, err error) {
	if r.Dialect != Core {
		return false, r.fail(i,
			"found character that cannot start any token: a tab after an indicator")
	}
	return false, nil
}

// checkKey refuses a key that is too long.
func (r *Reader) checkKey(start, colon int) error {
	if utf8.RuneCount(r.text[start:colon]) > MaxKeyChars {
		return r.limit(errors.LimitKeyChars, MaxKeyChars, start)
	}
	return nil
}
