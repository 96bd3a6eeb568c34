package yamlbridge

// This file reads keys of block mappings that are not plain scalars: keys with quotes, properties
// or a question mark (YAML 1.2 section 8.2.2).

// oddKey reads a key of the innermost mapping that is not a plain scalar, and returns the index
// after its colon. After an explicit key it returns the start of the next line; the state of the
// mapping says which.
func (r *Reader) oddKey(i int) (next int, canOpen bool, err error) {
	text := r.text
	start := i
	if c := text[i]; c == '?' && endsWord(text[i+1]) {
		next, err = r.questionMark(i)
		return next, false, err
	}
	if c := text[i]; c == '&' || c == '!' {
		if i, err = r.properties(i, &r.props); err != nil {
			return i, false, err
		}
	}
	var key span
	special := false
	switch c := text[i]; {
	case c == '"' || c == '\'':
		var end int
		if _, end, err = r.quoted(i, int(r.stack[len(r.stack)-1].column)); err != nil {
			return i, false, err
		}
		key = span{i, end}
		i = skipBlanks(text, end)
	case c == '*':
		key = span{i, scanName(text, i+1, r.Dialect == Core)}
		i = skipBlanks(text, key.end)
	case c == '[' || c == '{':
		return i, false, r.fail(i, "a mapping or sequence is no key")
	case is(c, isIndicator) || (c == '-' || c == '?') && endsWord(text[i+1]):
		return i, false, r.fail(i, "did not find expected key")
	default: // plain, or nothing after properties
		var stop int
		stop, special = scanPlain(text, i)
		key = span{i, trimEnd(text, i, stop)}
		i = stop
	}
	if text[i] != ':' || !endsWord(text[i+1]) || key.start < r.line {
		return i, false, r.failAt(start, "could not find expected ':'")
	}
	if err = r.checkKey(start, i); err != nil {
		return i, false, err
	}
	if key.start == key.end && !r.props.set {
		return i, false, r.fail(start, "did not find expected key")
	}
	return i + 1, false, r.key(key, special)
}

// key writes the key of a block mapping in the span of the text. If that is empty, there are only
// properties.
func (r *Reader) key(key span, special bool) error {
	switch c := r.text[key.start]; {
	case key.start == key.end:
		return r.emptyKey(key.start)
	case c == '"' || c == '\'':
		return r.quotedKey(key)
	case c == '*':
		return r.aliasKey(key)
	}
	return r.plainKey(key.start, key.end, special)
}

// noKey writes an explicit key that is empty, or has only properties: null. The dialects other than
// the server's refuse an empty one here. The server refuses null keys when the document is
// complete.
func (r *Reader) noKey() error {
	if !r.props.set && !r.server {
		return r.fail(r.emptyAt, "null is no key")
	}
	r.stack[len(r.stack)-1].state = mapColon
	return r.emptyKey(r.emptyAt)
}

// questionMark reads an explicit key (section 8.2.2) from its question mark up to the next line.
func (r *Reader) questionMark(i int) (int, error) {
	text := r.text
	i++
	r.emptyAt = i
	for is(text[i], isBlankByte) {
		if text[i] == '\t' {
			if _, err := r.tabAllowed(i); err != nil {
				return i, err
			}
		}
		i++
	}
	if c := text[i]; c == '#' || is(c, isBreakByte) {
		r.stack[len(r.stack)-1].state = mapExplicitKey
		return r.nextLine(i), nil
	}
	return r.explicitKey(i)
}

// explicitKey reads the node of an explicit key, and returns the start of the next line.
func (r *Reader) explicitKey(i int) (int, error) {
	text := r.text
	f := &r.stack[len(r.stack)-1]
	column := int(f.column)
	if c := text[i]; c == '&' || c == '!' {
		var own properties
		var err error
		if i, err = r.properties(i, &own); err != nil {
			return i, err
		}
		if err := r.adopt(&own); err != nil {
			return i, err
		}
		if c := text[i]; c == '#' || is(c, isBreakByte) {
			f.state = mapExplicitKey
			return r.nextLine(i), nil
		}
	}
	f.state = mapColon
	switch c := text[i]; {
	case c == '[' || c == '{' || (c == '-' || c == '?') && endsWord(text[i+1]):
		return i, r.fail(i, "a mapping or sequence is no key")
	case c == '"' || c == '\'':
		_, end, err := r.quotedName(i, column)
		if err != nil {
			return i, err
		}
		if at := skipBlanks(text, end); text[at] == ':' && endsWord(text[at+1]) {
			return i, r.fail(i, "a mapping or sequence is no key")
		}
		if err := r.quotedKey(span{i, end}); err != nil {
			return i, err
		}
		return r.rest(end)
	case c == '*':
		key := span{i, scanName(text, i+1, r.Dialect == Core)}
		if at := skipBlanks(text, key.end); text[at] == ':' && endsWord(text[at+1]) {
			return i, r.fail(i, "a mapping or sequence is no key")
		}
		if err := r.aliasKey(key); err != nil {
			return i, err
		}
		return r.rest(key.end)
	case c == '|' || c == '>':
		return r.blockKey(i, column)
	case is(c, isIndicator) || c == ':' && endsWord(text[i+1]):
		return i, r.fail(i, "did not find expected key")
	}
	return r.explicitPlainKey(i, column)
}

// explicitPlainKey reads an explicit key that is a plain scalar.
func (r *Reader) explicitPlainKey(i, column int) (int, error) {
	text := r.text
	stop, special := scanPlain(text, i)
	if text[stop] == ':' {
		return i, r.fail(i, "a mapping or sequence is no key")
	}
	key := span{i, trimEnd(text, i, stop)}
	if text[stop] == '#' {
		return r.nextLine(stop), r.plainKey(key.start, key.end, special)
	}
	next := lineEnd(text, stop) + 1
	r.line = next
	next, goesOn, err := r.goesOn(skipSpaces(text, next), column)
	if err != nil {
		return i, err
	}
	if goesOn {
		return r.foldPlainKey(key, column)
	}
	if err := r.plainKey(key.start, key.end, special); err != nil {
		return i, err
	}
	if text[next] == '#' { // a tab may be before it
		return r.nextLine(next), nil
	}
	return r.line, nil
}
