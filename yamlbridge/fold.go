package yamlbridge

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/espalier-dev/espalier/internal/memory"
)

// This file reads scalars that span lines, and quoted ones with escapes (YAML 1.2 sections 6.5, 7.3
// and 8.1). All functions append the content of a JSON string.

// goesOn reports whether a plain scalar of a collection at that column continues after empty lines.
// i is after the indentation of the line that follows the scalar, at the end of an empty line or at
// a tab. goesOn returns the start of the text on the first line that is not empty, and records
// where that line starts.
func (r *Reader) goesOn(i, column int) (next int, goesOn bool, err error) {
	text := r.text
	for {
		for is(text[i], isBlankByte) {
			if text[i] == '\t' && i-r.line <= column {
				at := skipBlanks(text, i)
				if r.Dialect != Core || !is(text[at], isBreakByte) {
					return i, false, r.fail(i, "found a tab character that violates indentation")
				}
				i = at
				break
			}
			i++
		}
		c := text[i]
		if c == 0 {
			return i, false, nil
		}
		if !is(c, isBreakByte) {
			break
		}
		i = lineEnd(text, i) + 1
		r.line = i
	}
	col := i - r.line
	isColon := text[i] == ':' && endsWord(text[i+1])
	return i, col > column && text[i] != '#' && !isColon && (col > 0 || !isMarker(text, i)), nil
}

// foldBreaks reads the line break at i, and the white space and line breaks after it. It collects
// the breaks in r.breaks, and returns the index of the text after them.
func (r *Reader) foldBreaks(i int) int {
	text := r.text
	r.breaks = r.breaks[:0]
	for {
		kind := byte('\n')
		if c := text[i]; c == lineSeparator || c == paragraphSeparator {
			kind = c
		}
		r.breaks = append(r.breaks, kind)
		i = lineEnd(text, i) + 1
		r.line = i
		i = skipBlanks(text, i)
		if c := text[i]; c == 0 || !is(c, isBreakByte) {
			return i
		}
	}
}

// appendBreak appends one line break of a kind in r.breaks.
func appendBreak(dst []byte, kind byte) []byte {
	switch kind {
	case lineSeparator:
		return append(dst, "\u2028"...)
	case paragraphSeparator:
		return append(dst, "\u2029"...)
	}
	return append(dst, `\n`...)
}

// appendFolded appends the result of folding the lines that r.breaks end (section 6.5): a single
// break is a space, and of several the first is dropped.
func (r *Reader) appendFolded(dst []byte) []byte {
	breaks := r.breaks
	if breaks[0] == '\n' {
		if len(breaks) == 1 {
			return append(dst, ' ')
		}
		breaks = breaks[1:]
	}
	for _, kind := range breaks {
		dst = appendBreak(dst, kind)
	}
	return dst
}

// appendPlain appends a plain scalar that spans lines. first is the part on its first line. It
// returns the end of the scalar if that is in a flow collection, and otherwise the start of the
// next line.
func (r *Reader) appendPlain(dst []byte, first span, column int, flow bool) ([]byte, int, error) {
	text := r.text
	part := text[first.start:first.end]
	dst = appendContent(memory.Room(&r.account, dst, len(part)), part)
	i := first.end
	for {
		// The line ends here, except for white space.
		end := i
		i = r.foldBreaks(skipBlanks(text, i))
		if at, ok := r.tabInIndentation(end, i, column); ok {
			return dst, i, r.fail(at, "found a tab character that violates indentation")
		}
		c := text[i]
		switch {
		case c == 0, c == '#', i == r.line && isMarker(text, i):
			if flow {
				return dst, end, nil
			}
			if c == '#' {
				return dst, r.nextLine(i), nil
			}
			return dst, r.line, nil
		case flow:
			if is(c, isFlowIndicator) || c == '?' && r.Dialect != Core ||
				c == ':' && (endsWord(text[i+1]) || r.Dialect == Core && is(text[i+1], isFlowIndicator)) {
				return dst, end, nil
			}
		case i-r.line <= column:
			return dst, r.line, nil
		case c == ':' && endsWord(text[i+1]):
			if r.trailing = r.server && column < 0; r.trailing {
				return dst, i, nil
			}
			return dst, r.line, nil // it is no key either
		}
		var stop int
		if flow {
			stop, _ = scanFlowPlain(text, i, r.Dialect == Core)
			if err := r.checkLastColon(stop); err != nil {
				return dst, i, err
			}
		} else {
			stop, _ = scanPlain(text, i)
		}
		dst = r.appendFolded(dst)
		end = trimEnd(text, i, stop)
		part = text[i:end]
		dst = appendContent(memory.Room(&r.account, dst, len(part)), part)
		i = end
		if c := text[stop]; c != '#' && is(c, isBreakByte) {
			continue
		}
		switch {
		case flow:
			return dst, end, nil
		case text[stop] == ':':
			return dst, i, r.fail(stop,
				"mapping values are not allowed in this context: a key and its colon are on one line")
		}
		return dst, r.nextLine(stop), nil
	}
}

// tabInIndentation returns the place of a tab at or before the column, in the lines that start
// between from and i. All of these are empty except the last, which is the one that matters in YAML
// 1.2.
func (r *Reader) tabInIndentation(from, i, column int) (at int, found bool) {
	start := r.line
	if r.Dialect != Core {
		start = lineEnd(r.text, from) + 1
	}
	if bytes.IndexByte(r.text[start:max(start, i)], '\t') < 0 {
		return 0, false
	}
	line := start
	for at = start; at < i; at++ {
		switch c := r.text[at]; {
		case c == '\n':
			line = at + 1
		case c == '\t' && at-line <= column:
			return at, true
		}
	}
	return 0, false
}

// foldPlain writes a plain scalar that spans lines as a value.
func (r *Reader) foldPlain(first span, special bool, column int) (next int, err error) {
	if r.props.tagged() {
		r.scratch, next, err = r.appendPlain(r.scratch[:0], first, column, false)
		if err != nil {
			return next, err
		}
		return next, r.foldedPlain(first.start)
	}
	start := r.beginString(first.start)
	r.out, next, err = r.appendPlain(r.out, first, column, false)
	r.endString(start)
	return next, err
}

// foldPlainKey writes a plain scalar that spans lines as an explicit key.
func (r *Reader) foldPlainKey(first span, column int) (next int, err error) {
	r.scratch, next, err = r.appendPlain(r.scratch[:0], first, column, false)
	if err != nil {
		return next, err
	}
	return next, r.contentKey(first.start, r.scratch)
}

// quoted reads the quoted scalar that starts at i, in a collection at the given column. It returns
// its content for a JSON string, and the index after it. The content is valid until the next call.
func (r *Reader) quoted(i, column int) (content []byte, next int, err error) {
	text := r.text
	if text[i] == '"' {
		stop := scanDouble(text, i+1)
		if text[stop] == '"' && stop < r.oldBreak {
			return text[i+1 : stop], stop + 1, nil
		}
		r.scratch, next, err = r.appendDouble(r.scratch[:0], i, column)
	} else {
		stop, special := scanSingle(text, i+1)
		if text[stop] == '\'' && text[stop+1] != '\'' && !special && stop < r.oldBreak {
			return text[i+1 : stop], stop + 1, nil
		}
		r.scratch, next, err = r.appendSingle(r.scratch[:0], i, column)
	}
	r.passQuoted(i, next, err)
	return r.scratch, next, err
}

// continueQuoted folds the line break at i within a quoted scalar that starts at start.
func (r *Reader) continueQuoted(start, i, column int) (int, error) {
	i = r.foldBreaks(i)
	switch {
	case i == r.line && isMarker(r.text, i):
		return i, r.fail(i, "found unexpected document indicator in a quoted scalar")
	case r.text[i] == 0:
		return i, r.failAtEnd(start, "found unexpected end of stream in a quoted scalar")
	case r.Dialect == Core:
		// 1.2: the lines of a scalar are indented (section 7.3, s-flow-line-prefix).
		if skipSpaces(r.text, r.line)-r.line <= column {
			return i, r.fail(i, "a line of a quoted scalar is not indented")
		}
	}
	return i, nil
}

// appendSingle appends a single-quoted scalar (section 7.3.2).
func (r *Reader) appendSingle(dst []byte, start, column int) ([]byte, int, error) {
	text := r.text
	i := start + 1
	for {
		stop, _ := scanSingle(text, i)
		dst = memory.Room(&r.account, dst, stop-i+maxEscape) // escapes may take more
		if text[stop] == '\'' {
			dst = appendContent(dst, text[i:stop])
			if text[stop+1] != '\'' {
				return dst, stop + 1, nil
			}
			dst = append(dst, '\'')
			i = stop + 2
			continue
		}
		dst = appendContent(dst, text[i:trimEnd(text, i, stop)])
		var err error
		if i, err = r.continueQuoted(start, stop, column); err != nil {
			return dst, i, err
		}
		dst = r.appendFolded(dst)
	}
}

// appendDouble appends a double-quoted scalar (section 7.3.1).
func (r *Reader) appendDouble(dst []byte, start, column int) ([]byte, int, error) {
	text := r.text
	i := start + 1
	for {
		stop := scanDouble(text, i)
		dst = memory.Room(&r.account, dst, stop-i+maxEscape) // escapes may take more
		var err error
		switch c := text[stop]; {
		case c == '"':
			return append(dst, text[i:stop]...), stop + 1, nil
		case c == '\\' && is(text[stop+1], isBreakByte):
			// An escaped line break, and the white space after it, add nothing.
			if r.escapesOldBreak(stop) {
				return dst, stop, r.fail(stop, "found unknown escape character: "+
					r.oldBreakAt(stop+1)+" ends a line in YAML 1.1 only")
			}
			dst = append(dst, text[i:stop]...)
			if i, err = r.continueQuoted(start, stop, column); err != nil {
				return dst, i, err
			}
			for _, kind := range r.breaks[1:] {
				dst = appendBreak(dst, kind)
			}
		case c == '\\':
			dst = append(dst, text[i:stop]...)
			if dst, i, err = r.appendEscape(dst, stop); err != nil {
				return dst, i, err
			}
		case c == '\t' && !is(text[skipBlanks(text, stop)], isBreakByte):
			after := skipBlanks(text, stop)
			dst = append(dst, text[i:stop]...)
			dst = appendContent(dst, text[stop:after])
			i = after
		default:
			dst = append(dst, text[i:trimEnd(text, i, stop)]...)
			if i, err = r.continueQuoted(start, skipBlanks(text, stop), column); err != nil {
				return dst, i, err
			}
			dst = r.appendFolded(dst)
		}
	}
}

// appendEscape appends the character of the escape at i (section 5.7). Escapes that JSON has as
// well are not passed to it, because they are content as they are.
func (r *Reader) appendEscape(dst []byte, i int) ([]byte, int, error) {
	text := r.text
	var c rune
	size := 0
	switch text[i+1] {
	case '0': // c is 0
	case 'a':
		c = 7
	case '\t':
		c = 9
	case 'v':
		c = 11
	case 'e':
		c = 27
	case ' ':
		c = ' '
	case '/':
		if r.server {
			return dst, i, r.fail(i, "found unknown escape character")
		}
		c = '/'
	case '\'':
		if r.Dialect == Core {
			return dst, i, r.fail(i, "found unknown escape character")
		}
		c = '\''
	case 'N':
		c = 0x85
	case '_':
		c = 0xA0
	case 'L':
		c = 0x2028
	case 'P':
		c = 0x2029
	case 'x':
		size = 2
	case 'u':
		size = 4
	case 'U':
		size = 8
	default:
		return dst, i, r.failAt(i, "found unknown escape character")
	}
	next := i + 2 + size
	if size > 0 {
		var ok bool
		if c, ok = hex(text[i+2:], size); !ok {
			return dst, i, r.failAt(i, "did not find expected hexadecimal number")
		}
		isHigh := utf16.IsSurrogate(c) && size == 4 && !r.server
		if isHigh && text[next] == '\\' && text[next+1] == 'u' {
			// JSON writes characters beyond U+FFFF as surrogate pairs.
			if low, ok := hex(text[next+2:], 4); ok {
				c, next = utf16.DecodeRune(c, low), next+6
				if c == utf8.RuneError {
					c = 0xD800
				}
			}
		}
		if !utf8.ValidRune(c) {
			return dst, i, r.fail(i, "found invalid Unicode character escape code")
		}
	}
	var buf [utf8.UTFMax]byte
	return appendContent(dst, buf[:utf8.EncodeRune(buf[:], c)]), next, nil
}

// hex reads n hexadecimal digits, at most eight. The result may not be a character.
func hex(b []byte, n int) (c rune, ok bool) {
	for i := range n {
		d := hexValue(b[i])
		if d < 0 {
			return 0, false
		}
		c = c<<4 | rune(d)
	}
	return c, true
}

// blockScalar writes the literal or folded scalar whose indicator is at i, in a collection at the
// given column, as a value. It returns the start of the next line.
func (r *Reader) blockScalar(i, column int) (next int, err error) {
	if r.props.tagged() {
		r.scratch, next, err = r.appendBlock(r.scratch[:0], i, column)
		if err != nil {
			return next, err
		}
		return next, r.quotedValue(i, r.scratch)
	}
	start := r.beginString(i)
	r.out, next, err = r.appendBlock(r.out, i, column)
	r.endString(start)
	return next, err
}

func (r *Reader) blockKey(i, column int) (next int, err error) {
	r.scratch, next, err = r.appendBlock(r.scratch[:0], i, column)
	if err != nil {
		return next, err
	}
	if next > r.end && r.ownBreak && r.Dialect != Core && !r.server {
		// In YAML 1.2 the end of the text ends its line, and the name ends with a line feed.
		return next, r.failAt(i, "readers of YAML 1.1 and 1.2 do not agree on this name: "+
			"a line feed belongs at the end of the text")
	}
	return next, r.contentKey(i, r.scratch)
}

// appendBlock appends a literal or folded scalar (sections 8.1.2 and 8.1.3).
func (r *Reader) appendBlock(dst []byte, start, column int) ([]byte, int, error) {
	text := r.text
	literal := text[start] == '|'
	// 1.2: the end of the text ends a line.
	lastBreak := r.end
	if r.Dialect == Core {
		lastBreak = -1
	}
	chomp, increment, i, err := r.blockHeader(start + 1)
	if err != nil {
		return dst, i, err
	}
	least := max(column, 0) // the indentation of the content is greater than that
	if r.Dialect == Core {
		least = column
	}
	indent := max(column, 0) + increment
	if increment == 0 {
		if indent, err = r.blockIndent(i, least+1); err != nil {
			return dst, i, err
		}
	}
	var (
		pending   = r.breaks[:0] // the break of the last line, and the empty lines since
		wasSpaced bool           // the last line starts with white space
		started   bool           // there is a line already
	)
	for {
		// The start of a line.
		at := min(skipSpaces(text, i), i+indent)
		end, escapes := at, false
		if text[at] != 0 {
			end, escapes = scanLine(text, at)
		}
		if text[at] != 0 && is(text[at], isBreakByte) {
			pending = append(pending, r.breakKind(at))
			i = end + 1
			if end == lastBreak {
				// That line feed was added by the reader.
				pending, i = pending[:len(pending)-1], end+1
			}
			continue
		}
		if at-i < indent || text[at] == 0 || i == at && isMarker(text, at) {
			if text[at] == '\t' {
				return dst, i, r.fail(at,
					"found a tab character where an indentation space is expected")
			}
			break
		}
		isSpaced := is(text[at], isBlankByte)
		dst = memory.Room(&r.account, dst, end-at+maxBreak*len(pending)+maxEscape)
		switch {
		case !started:
			for _, kind := range pending {
				dst = appendBreak(dst, kind)
			}
		case !literal && !wasSpaced && !isSpaced && pending[0] == '\n':
			if len(pending) == 1 {
				dst = append(dst, ' ')
			}
			for _, kind := range pending[1:] {
				dst = appendBreak(dst, kind)
			}
		default:
			for _, kind := range pending {
				dst = appendBreak(dst, kind)
			}
		}
		started, wasSpaced = true, isSpaced
		pending = pending[:0]
		cut := end
		if text[end-1] == '\r' { // the line has something else, so that nothing here is before it
			cut--
			if c := text[end-2]; c == lineSeparator || c == paragraphSeparator {
				cut--
			}
		}
		if escapes {
			dst = appendContent(dst, text[at:cut])
		} else {
			dst = append(dst, text[at:cut]...)
		}
		if end != lastBreak {
			pending = append(pending, r.breakKind(cut))
		}
		i = end + 1
	}
	r.breaks = pending
	return appendChomped(dst, pending, chomp, started), i, nil
}

// appendChomped appends the line breaks at the end of a block scalar that its indicator keeps
// (section 8.1.1.2). The first of them ends its last line, unless the scalar has no content.
func appendChomped(dst, breaks []byte, chomp byte, hasContent bool) []byte {
	if chomp == '-' || len(breaks) == 0 {
		return dst
	}
	if hasContent {
		dst = appendBreak(dst, breaks[0])
		breaks = breaks[1:]
	}
	if chomp == '+' {
		for _, kind := range breaks {
			dst = appendBreak(dst, kind)
		}
	}
	return dst
}

func (r *Reader) breakKind(i int) byte {
	if c := r.text[i]; c == lineSeparator || c == paragraphSeparator {
		return c
	}
	return '\n'
}

// blockHeader reads the indicators of a block scalar from i on (section 8.1.1), up to the next
// line.
func (r *Reader) blockHeader(i int) (chomp byte, increment, next int, err error) {
	text := r.text
	for range 2 {
		switch c := text[i]; {
		case (c == '+' || c == '-') && chomp == 0:
			chomp = c
			i++
		case c == '0' && increment == 0:
			return 0, 0, i, r.fail(i, "found an indentation indicator equal to 0")
		case '1' <= c && c <= '9' && increment == 0:
			increment = int(c - '0')
			i++
		}
	}
	at := skipBlanks(text, i)
	if c := text[at]; !is(c, isBreakByte) && (c != '#' || at == i && r.Dialect == Core) {
		return 0, 0, i, r.failAt(at,
			"did not find expected comment or line break after the indicators of a block scalar")
	}
	return chomp, increment, r.nextLine(at), nil
}

// blockIndent returns the indentation of the block scalar whose content starts in the line of i:
// that of its first line that is not empty, but at least least.
func (r *Reader) blockIndent(i, least int) (int, error) {
	text := r.text
	most := 0
	for {
		at := skipSpaces(text, i)
		most = max(most, at-i)
		switch c := text[at]; {
		case c == '\t' && r.Dialect != Core:
			return 0, r.fail(at, "found a tab character where an indentation space is expected")
		case c != 0 && is(c, isBreakByte) && !(at == r.end):
			i = lineEnd(text, at) + 1
			continue
		case r.Dialect == Core && c != 0 && at-i >= least && at-i < most && (at > i || !isMarker(text, at)):
			return 0, r.fail(at, "an empty line at the start of a block scalar has more spaces than its first line")
		}
		break
	}
	return max(most, least), nil
}

// beginString opens a string value that starts at off in the text.
func (r *Reader) beginString(off int) int {
	if r.props.set {
		off = r.props.at
	}
	r.comma()
	r.mark(off)
	r.out = append(r.out, '"')
	return len(r.out) - 1
}

// endString closes the string value that starts at start in out.
func (r *Reader) endString(start int) {
	r.out = append(r.out, '"')
	if r.props.set {
		if r.props.anchored() {
			r.addAnchor(anchor{name: r.props.anchor.packed(), at: span{start - r.base, len(r.out) - r.base}.packed()})
		}
		r.props = properties{}
	}
}

// contentKey writes a scalar whose content is JSON as a name.
func (r *Reader) contentKey(at int, content []byte) error {
	if r.props.set {
		return r.resolvedKey(at, r.unescape(content), false)
	}
	r.writeString(at, content, true)
	return nil
}

// foldedPlain writes a plain scalar that spans lines as a value. Its content is in r.scratch.
func (r *Reader) foldedPlain(at int) error {
	return r.withProperties(at, r.unescape(r.scratch), true)
}
