package yamlbridge

// This file reads flow collections (YAML 1.2 section 7.4).
//
// NOTE: The frames are those of block collections, with a column that no line closes. In the
// Kubernetes dialect, as in libyaml, ":" is an indicator wherever a node could start, a key without
// a question mark is on one line with its colon, and indentation does not matter.

// flow reads the collection in brackets that starts at i and returns the index after it.
func (r *Reader) flow(i int) (int, error) {
	text := r.text
	core := r.Dialect == Core
	base := len(r.stack)
	column := int(r.stack[base-1].column) // of the block collection that contains it
	var (
		f       *frame
		content []byte
		stop    int
		special bool
		own     bool // the node has properties
		err     error
	)
	goto open

advance: // i is after a token; the state decides what follows
	if r.isTooLong() {
		return i, r.tooLong(i)
	}
	f = &r.stack[len(r.stack)-1]
	for is(text[i], isBlankByte) {
		i++
	}
	if c := text[i]; c < ' ' || c == '#' {
		if i, err = r.flowSpace(i, column); err != nil {
			return i, err
		}
	}
dispatch:
	switch c := text[i]; f.state {
	case flowKey:
		switch {
		case c == '}':
			goto closing
		case c == '?' && (!core || r.endsIndicator(i+1)):
			// An explicit key.
			if err = r.checkIndicator(i); err != nil {
				return i, err
			}
			i++
			r.emptyAt = i
			goto explicit
		}
		goto key
	case flowColon, flowAdjacent:
		// 1.2: after a key in quotes the colon needs nothing after it (section 7.4.2, rule [147]).
		if c == ':' && (!core || f.state == flowAdjacent || r.endsIndicator(i+1)) {
			if f.state == flowColon {
				if err = r.checkIndicator(i); err != nil {
					return i, err
				}
			}
			i++
			goto value
		}
		// A key without a value.
		r.null(i)
		goto dispatch
	case flowAlone:
		r.null(i)
		goto dispatch
	case flowValue:
		if c == ',' || c == '}' || c == ']' {
			r.null(i)
			goto dispatch
		}
		goto node
	case flowMerged:
		if err = r.merge(); err != nil {
			return i, err
		}
		goto dispatch
	case flowAfter:
		if f.column == pairColumn {
			// The only member of a mapping without brackets.
			if err = r.pop(); err != nil {
				return i, err
			}
			f = &r.stack[len(r.stack)-1]
			goto dispatch
		}
		switch c {
		case ',':
			i++
			f.state = flowKey
			goto advance
		case '}':
			goto closing
		}
		return i, r.failAt(i, "did not find expected ',' or '}'")
	case flowEntry:
		switch {
		case c == ']':
			goto closing
		case c == '?' && (!core || r.endsIndicator(i+1)):
			if err = r.checkIndicator(i); err != nil {
				return i, err
			}
			if err = r.pair(i); err != nil {
				return i, err
			}
			f = &r.stack[len(r.stack)-1]
			i++
			r.emptyAt = i
			goto explicit
		}
		goto node
	case flowAfterEntry:
		switch c {
		case ',':
			i++
			f.state = flowEntry
			goto advance
		case ']':
			goto closing
		}
		return i, r.failAt(i, "did not find expected ',' or ']'")
	}

closing: // the bracket at i closes the collection f
	i++
	if err = r.pop(); err != nil {
		return i, err
	}
	if len(r.stack) == base {
		return i, nil
	}
	if at := skipBlanks(text, i); text[at] == ':' && !core {
		return i, r.fail(i-1, "a mapping or sequence is no key")
	}
	goto advance

open: // the bracket at i opens a collection
	if text[i] == '{' {
		err = r.push('{', flowColumn, i)
	} else {
		err = r.push('[', flowColumn, i)
	}
	if err != nil {
		return i, err
	}
	i++
	goto advance

explicit: // i is after a question mark
	if i, err = r.flowSpace(i, column); err != nil {
		return i, err
	}
	if c := text[i]; c == ',' || c == '}' || c == ']' || c == ':' && (!core || r.endsIndicator(i+1)) {
		if err = r.noKey(); err != nil {
			return i, err
		}
		f.state = flowColon
		goto advance
	}
	if i, err = r.flowKeyNode(i, column, true); err != nil {
		return i, err
	}
	goto advance

key: // a key of the mapping f without a question mark, or a key without a value
	if c := text[i]; !is(c, isIndicator) && c != '-' && c != ':' && c != '?' {
		stop, special = scanFlowPlain(text, i, core)
		if text[stop] == ':' && stop-i <= MaxKeyChars {
			if err = r.plainKey(i, trimEnd(text, i, stop), special); err != nil {
				return i, err
			}
			i = stop + 1
			goto value
		}
	} else if c == '"' {
		stop = scanDouble(text, i+1)
		if text[stop] == '"' && text[stop+1] == ':' && stop+1-i <= MaxKeyChars && !r.props.set && stop < r.oldBreak {
			r.writeString(i, text[i+1:stop], true)
			i = stop + 2
			goto value
		}
	}
	if i, err = r.flowKeyNode(i, column, false); err != nil {
		return i, err
	}
	if f.state == flowColon {
		goto value
	}
	goto advance

value: // i is after a colon
	f.state = flowValue
	if text[i] == ' ' {
		i++
	}
	if c := text[i]; c <= ' ' || c == '#' || c == ',' || c == '}' || c == ']' {
		goto advance
	}

node: // a value of f starts at i
	own = text[i] == '&' || text[i] == '!'
	if own {
		if i, err = r.flowProperties(i, column); err != nil {
			return i, err
		}
		if c := text[i]; c == ',' || c == '}' || c == ']' {
			if err = r.empty(); err != nil {
				return i, err
			}
			goto advance
		}
	}
	switch c := text[i]; c {
	case '"', '\'':
		line := r.line
		if content, stop, err = r.quoted(i, column); err != nil {
			return i, err
		}
		if f.seq && r.line == line && r.isPair(i, stop, true) {
			goto pair
		}
		f.state = f.next
		if err = r.quotedValue(i, content); err != nil {
			return i, err
		}
		i = stop
		goto advance
	case '[', '{':
		goto open
	case '*':
		stop = scanName(text, i+1, core)
		if f.seq && r.isPair(i, stop, false) {
			goto pair
		}
		if own {
			return i, r.fail(i, "an alias has no properties")
		}
		f.state = f.next
		if err = r.alias(span{i, stop}); err != nil {
			return i, err
		}
		i = stop
		goto advance
	case '-', '?', ':':
		switch {
		case r.startsPlain(i):
		case c == ':' && own && f.seq: // the key has only properties
			if err = r.checkIndicator(i); err != nil {
				return i, err
			}
			goto pair
		default:
			return i, r.fail(i, "did not find expected node content")
		}
	case ',', ']', '}', '|', '>', '%', '@', '`', '#', '&', '!':
		return i, r.fail(i, "did not find expected node content")
	}
	stop, special = scanFlowPlain(text, i, core)
	if text[stop] == ':' && f.seq {
		goto pair
	}
	if err = r.checkLastColon(stop); err != nil {
		return i, err
	}
	f.state = f.next
	if c := text[stop]; c != '#' && is(c, isBreakByte) {
		if i, err = r.flowPlain(span{i, trimEnd(text, i, stop)}, special, column); err != nil {
			return i, err
		}
		goto advance
	}
	if err = r.plain(i, trimEnd(text, i, stop), special); err != nil {
		return i, err
	}
	i = stop
	goto advance

pair: // a mapping without brackets starts at i, or with r.props before it
	{
		props := r.props
		r.props = properties{}
		at := i
		if props.set {
			at = props.at
		}
		if err = r.pair(at); err != nil {
			return i, err
		}
		r.props = props
	}
	if i, err = r.flowKeyNode(i, column, false); err != nil {
		return i, err
	}
	f = &r.stack[len(r.stack)-1]
	goto value
}

// pairColumn is the column of a mapping with a single member and no brackets, in a sequence
// (section 7.4.1, rule [150]).
const pairColumn = flowColumn - 1

// pair opens a mapping with a single member and no brackets.
func (r *Reader) pair(at int) error {
	if err := r.push('{', flowColumn, at); err != nil {
		return err
	}
	r.stack[len(r.stack)-1].column = pairColumn
	return nil
}

// isPair reports whether the scalar text[i:end] in a sequence is the key of a mapping without
// brackets.
func (r *Reader) isPair(i, end int, quoted bool) bool {
	at := skipBlanks(r.text, end)
	if r.text[at] != ':' {
		return false
	}
	return r.Dialect != Core || quoted || r.endsIndicator(at+1)
}

// endsIndicator reports whether the byte at i ends "?" or ":" in YAML 1.2: white space or a flow
// indicator.
func (r *Reader) endsIndicator(i int) bool {
	c := r.text[i]
	return endsWord(c) || is(c, isFlowIndicator)
}

// checkIndicator refuses ? and : at i if libyaml takes them for indicators, and YAML 1.2 for the
// start of a plain scalar. To libyaml, {?#, b: 1 is a key with a comment, and to YAML 1.2 it is two
// members.
func (r *Reader) checkIndicator(i int) error {
	if r.server || r.endsIndicator(i+1) {
		return nil
	}
	return r.fail(i, twoReadings+"a space belongs after it, or quotes around the scalar")
}

// checkLastColon refuses a plain scalar up to stop that ends with a colon before a bracket or
// comma. To libyaml the colon is part of the scalar, and in YAML 1.2 it is that of a key.
func (r *Reader) checkLastColon(stop int) error {
	if r.text[stop-1] != ':' || r.server || r.Dialect == Core ||
		!is(r.text[stop], isFlowIndicator) {
		return nil
	}
	return r.fail(stop-1, twoReadings+"a space belongs before what follows, or quotes around the scalar")
}

const twoReadings = "readers of YAML 1.1 and 1.2 do not agree on this character within brackets: "

// startsPlain reports whether a plain scalar may start with - ? or : at i.
func (r *Reader) startsPlain(i int) bool {
	if r.Dialect == Core {
		return !r.endsIndicator(i + 1)
	}
	return r.text[i] == '-' && !endsWord(r.text[i+1])
}

// flowSpace skips white space, line breaks and comments.
func (r *Reader) flowSpace(i, column int) (int, error) {
	text := r.text
	for {
		i = skipBlanks(text, i)
		c := text[i]
		switch {
		case c == 0:
			return i, r.failAtEnd(i,
				"did not find the end of the collection: the text ends within brackets")
		case c == '#':
			if r.Dialect == Core && i > r.line && !is(text[i-1], isBlankByte) {
				return i, r.fail(i, "a comment needs white space before it")
			}
			i = lineEnd(text, i)
		case !is(c, isBreakByte):
			if r.Dialect == Core && !r.isIndented(i, column) {
				return i, r.fail(i, "a line within brackets is not indented")
			}
			return i, nil
		}
		i++
		r.line = i
		if isMarker(text, i) || text[i] == '%' {
			return i, r.fail(i,
				"did not find the end of the collection: a document marker or directive within brackets")
		}
	}
}

// isIndented reports whether the line of i has more spaces before it than the column, if i is its
// first byte that is not white space (section 7.4, s-flow-line-prefix). Closing brackets pass in
// any case, because nobody indents them.
func (r *Reader) isIndented(i, column int) bool {
	if skipSpaces(r.text, r.line)-r.line > column || r.text[i] == ']' || r.text[i] == '}' {
		return true
	}
	return skipBlanks(r.text, r.line) != i
}

// flowPlain writes a plain scalar whose first line is the span as a value.
func (r *Reader) flowPlain(first span, special bool, column int) (next int, err error) {
	text := r.text
	// Most often the line ends after the scalar.
	at := r.foldBreaks(skipBlanks(text, first.end))
	c := text[at]
	if tab, ok := r.tabInIndentation(first.end, at, column); ok {
		return first.end, r.fail(tab, "found a tab character that violates indentation")
	}
	if is(c, isFlowIndicator) {
		return first.end, r.plain(first.start, first.end, special)
	}
	r.scratch, next, err = r.appendPlain(r.scratch[:0], first, column, true)
	if err != nil {
		return next, err
	}
	if next == first.end {
		return next, r.plain(first.start, first.end, special)
	}
	if r.props.tagged() {
		return next, r.foldedPlain(first.start)
	}
	return next, r.quotedValue(first.start, r.scratch)
}

type flowKeyKind uint8

const (
	emptyFlowKey  flowKeyKind = iota // with only properties
	plainFlowKey                     // on one line
	foldedFlowKey                    // plain, and spans lines
	quotedFlowKey
	aliasFlowKey
)

// A flowKeyText is a key in a flow collection whose text was read.
type flowKeyText struct {
	span
	kind    flowKeyKind
	content []byte // the JSON of a quoted or folded key
}

// flowKeyNode reads a key of the innermost mapping. An explicit key may span lines; the state then
// says that a colon may follow. Another key is read up to its colon; the state then says that there
// is one, or none.
func (r *Reader) flowKeyNode(i, column int, explicit bool) (int, error) {
	start := i
	i, err := r.flowProperties(i, column)
	if err != nil {
		return i, err
	}
	if r.props.set {
		start = min(start, r.props.at)
	}
	key, err := r.scanFlowKey(i, column)
	if err != nil {
		return i, err
	}
	next, then := key.end, flowColon
	switch {
	case explicit && key.kind == quotedFlowKey:
		then = flowAdjacent
	case !explicit:
		colon, err := r.flowKeyColon(start, &key, column)
		if err != nil {
			return i, err
		}
		if next = colon + 1; colon < 0 {
			next, then = key.end, flowAlone
		}
	}
	switch key.kind {
	case emptyFlowKey:
		err = r.emptyKey(i)
	case aliasFlowKey:
		err = r.aliasKey(key.span)
	case plainFlowKey:
		err = r.plainKey(i, key.end, true)
	default:
		err = r.contentKey(i, key.content)
	}
	r.stack[len(r.stack)-1].state = then
	return next, err
}

// flowProperties reads properties, which may be on lines of their own, and the white space after
// them.
func (r *Reader) flowProperties(i, column int) (int, error) {
	for r.text[i] == '&' || r.text[i] == '!' {
		var own properties
		var err error
		if i, err = r.properties(i, &own); err != nil {
			return i, err
		}
		if err = r.adopt(&own); err != nil {
			return i, err
		}
		if i, err = r.flowSpace(i, column); err != nil {
			return i, err
		}
	}
	return i, nil
}

// scanFlowKey reads the text of a key.
func (r *Reader) scanFlowKey(i, column int) (key flowKeyText, err error) {
	text := r.text
	core := r.Dialect == Core
	key.start, key.end = i, i
	switch c := text[i]; {
	case c == '[' || c == '{':
		return key, r.fail(i, "a mapping or sequence is no key")
	case c == '"' || c == '\'':
		key.kind = quotedFlowKey
		key.content, key.end, err = r.quotedName(i, column)
		return key, err
	case c == '*':
		key.kind, key.end = aliasFlowKey, scanName(text, i+1, core)
		return key, nil
	case r.props.set && c == ':' && !r.startsPlain(i):
		return key, r.checkIndicator(i)
	case r.props.set && (c == ',' || c == '}' || c == ']'):
		return key, nil
	case (c == '-' || c == '?' || c == ':') && !r.startsPlain(i), is(c, isIndicator):
		return key, r.failAt(i, "did not find expected node content")
	}
	stop, _ := scanFlowPlain(text, i, core)
	if err = r.checkLastColon(stop); err != nil {
		return key, err
	}
	key.kind, key.end = plainFlowKey, trimEnd(text, i, stop)
	if c := text[stop]; c != '#' && is(c, isBreakByte) {
		r.scratch, key.end, err = r.appendPlain(r.scratch[:0], key.span, column, true)
		if key.end > stop {
			key.kind, key.content = foldedFlowKey, r.scratch
		}
	}
	return key, err
}

const oneLine = "a key and its colon are on one line"

// flowKeyColon returns the index of the colon of a key without a question mark, or -1 if there is
// none. start is the start of its properties.
func (r *Reader) flowKeyColon(start int, key *flowKeyText, column int) (int, error) {
	text := r.text
	colon := skipBlanks(text, key.end)
	if r.Dialect != Core {
		if text[colon] != ':' {
			return -1, nil
		}
		if r.line > start {
			return 0, r.fail(start, oneLine)
		}
		return colon, r.checkKey(start, colon)
	}
	// 1.2: in a sequence, however, it may be on a later line (section 7.4.2, rule [142]).
	inSequence := r.stack[len(r.stack)-1].column == pairColumn
	if !inSequence {
		var err error
		if colon, err = r.flowSpace(key.end, column); err != nil {
			return 0, err
		}
	}
	if text[colon] != ':' || key.kind != quotedFlowKey && !r.endsIndicator(colon+1) {
		return -1, nil
	}
	if !inSequence {
		return colon, nil
	}
	if r.line > start {
		return 0, r.fail(start, oneLine)
	}
	return colon, r.checkKey(start, colon)
}
