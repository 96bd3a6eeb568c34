package yamlbridge

import (
	"encoding/binary"
	"math/bits"

	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/memory"
)

// This file writes scalars whose text is known, as values and as names.

// shortCopy is how many bytes a copy of a short text writes, whatever the length of the text.
const shortCopy = 16

// writeString writes a string whose content is JSON. If it is a key, a colon follows.
func (r *Reader) writeString(at int, content []byte, isKey bool) {
	n := len(r.out)
	need := n + len(content) + len(`,"":`) + shortCopy
	if cap(r.out) < need {
		r.growOut(need - n)
	}
	out := r.out[:need]
	if n > r.base {
		if c := out[n-1]; c != '{' && c != '[' && c != ':' {
			out[n] = ','
			n++
		}
	}
	r.main.marks = append(r.main.marks, mark{uint32(n - r.base), uint32(at)})
	out[n] = '"'
	n++
	if len(content) <= shortCopy && cap(content) >= shortCopy {
		// Most names and many values are short. The text has padding as well.
		*(*[shortCopy]byte)(out[n:]) = *(*[shortCopy]byte)(content[:shortCopy])
	} else {
		copy(out[n:], content)
	}
	n += len(content)
	out[n] = '"'
	n++
	if isKey {
		out[n] = ':'
		n++
	}
	r.out = out[:n]
}

// plain writes the plain scalar text[i:end], which is on one line. special says that JSON escapes
// something in it.
func (r *Reader) plain(i, end int, special bool) error {
	if r.props.set {
		return r.withProperties(i, r.text[i:end], true)
	}
	text := r.text[i:end]
	if !r.mayResolve(text) {
		if special {
			r.scratch = appendContent(memory.Room(&r.account, r.scratch[:0], len(text)+maxEscape), text)
			text = r.scratch
		}
		r.writeString(i, text, false)
		return nil
	}
	if isShortInteger(text) {
		r.comma()
		r.mark(i)
		r.out = append(r.out, text...)
		return nil
	}
	v, err := r.resolve(text)
	if err != nil {
		return r.locate(err, i)
	}
	return r.write(i, &v)
}

// mayResolve reports whether a plain scalar may be something other than a string: a number, or a
// word that looks like those of other kinds.
func (r *Reader) mayResolve(text []byte) bool {
	if len(text) == 0 || text[0] <= '9' {
		return len(text) == 0 || is(text[0], startsNonString)
	}
	if len(text) > len("false") || !is(text[0], startsNonString) {
		return false
	}
	_, ok := resolveWord(text, r.Dialect)
	return ok || string(text) == mergeName
}

// plainKey writes the plain scalar text[i:end] as the name of a member.
func (r *Reader) plainKey(i, end int, special bool) error {
	if text := r.text[i:end]; !r.props.set && !r.mayResolve(text) {
		if special {
			r.scratch = appendContent(r.scratch[:0], text)
			text = r.scratch
		}
		r.writeString(i, text, true)
		return nil
	}
	return r.resolvedKey(i, r.text[i:end], true)
}

// resolvedKey writes a scalar that may have properties, or may not be a string, as the name of a
// member. text is its text, unescaped.
func (r *Reader) resolvedKey(i int, text []byte, plain bool) error {
	at := i
	if r.props.set {
		at = r.props.at
	}
	if r.isMerge(text, plain) {
		r.mergeKey(at)
		return nil
	}
	v, err := r.tagged(text, plain)
	if err != nil {
		return r.locate(err, at)
	}
	if r.props.set {
		r.anchorKey(&v)
		r.props = properties{}
	}
	return r.writeKey(at, &v)
}

// writeKey writes the name of v as a key.
func (r *Reader) writeKey(at int, v *value) error {
	if len(v.text) >= longText {
		text := r.chargedUTF8(v)
		r.scratch = memory.Room(&r.account, r.scratch[:0], len(text)+jsonBytes(text))
	}
	name, err := v.appendName(r.scratch[:0], r.Dialect)
	if err != nil {
		if !r.server {
			return r.locate(err, at)
		}
		r.unfit = true
		name = appendUnfitName(r.scratch[:0], v)
	}
	if v.kind != stringValue && r.server {
		r.chargeLoose(len(v.text))
		r.typed = append(r.typed, typedKey{at, *v})
	}
	if placeholder := r.zeroKey(v); placeholder != "" {
		r.zeroKeys = true
		r.scratch = append(r.scratch[:0], placeholder...)
		r.writeString(at, r.scratch, true)
		return nil
	}
	r.scratch = name
	n := len(name)
	r.scratch = appendContent(r.scratch, name)
	r.writeString(at, r.scratch[n:], true)
	return nil
}

// write writes v as a value.
func (r *Reader) write(at int, v *value) error {
	r.comma()
	r.mark(at)
	out, err := r.appendValue(r.out, v)
	if err != nil {
		return r.locate(err, at)
	}
	r.out = out
	return nil
}

// appendValue appends v as JSON. For the server, a value that is not JSON is appended as well: see
// unfit.go.
func (r *Reader) appendValue(dst []byte, v *value) ([]byte, error) {
	out, err := v.appendJSON(dst)
	if err == nil || !r.server {
		return out, err
	}
	r.unfit = true
	return v.appendName(dst, r.Dialect)
}

// quotedValue writes a quoted scalar that starts at i. content is JSON.
func (r *Reader) quotedValue(i int, content []byte) error {
	if r.props.set {
		text := r.unescape(content)
		return r.withProperties(i, text, false)
	}
	r.writeString(i, content, false)
	return nil
}

// quotedKey writes the quoted scalar in the span as a name.
func (r *Reader) quotedKey(key span) error {
	content, _, err := r.quoted(key.start, -1)
	if err != nil {
		return err
	}
	if r.props.set {
		return r.resolvedKey(key.start, r.unescape(content), false)
	}
	r.writeString(key.start, content, true)
	return nil
}

// unescape returns the text of a string whose content is JSON. It is valid until the next call.
func (r *Reader) unescape(content []byte) []byte {
	r.unescaped = jsonwire.AppendUnescaped(memory.Room(&r.account, r.unescaped[:0], len(content)), content)
	return r.unescaped
}

// withProperties writes a scalar that has a tag or an anchor. text is unescaped.
func (r *Reader) withProperties(i int, text []byte, plain bool) error {
	at := r.props.at
	v, err := r.tagged(text, plain)
	if err != nil {
		return r.locate(err, at)
	}
	r.comma()
	if len(v.text) >= longText {
		r.roomOut(jsonBytes(r.chargedUTF8(&v)))
	}
	start := len(r.out)
	r.mark(at)
	if r.out, err = r.appendValue(r.out, &v); err != nil {
		return r.locate(err, at)
	}
	if r.props.anchored() {
		r.addAnchor(anchor{
			name: r.props.anchor.packed(), at: span{start - r.base, len(r.out) - r.base}.packed(),
			isFloat: v.kind == floatValue,
			minus:   isMinusZero(&v),
		})
	}
	r.props = properties{}
	return nil
}

// longText is from how many bytes on a string with properties, or one that is a key, is charged for what it
// becomes, before that is made. Shorter ones are charged at the next settlement.
const longText = 4 << 10

// chargedUTF8 is v.asUTF8, for which memory is charged twice, as it is called again to write the value.
func (r *Reader) chargedUTF8(v *value) []byte {
	if v.kind == bytesValue {
		r.chargeLoose(2 * maxRune * len(v.text))
	}
	return v.asUTF8()
}

// jsonBytes returns how long a string is at most as JSON, with its quotes and a comma.
func jsonBytes(text []byte) int {
	n := len(`"",`)
	for _, c := range text {
		if is(c, needsEscape) {
			n += maxEscape
		} else {
			n++
		}
	}
	return n
}

// emptyWithProperties writes a node that has only properties. emptyKey does so for a key.
func (r *Reader) emptyWithProperties() error {
	return r.withProperties(r.props.at, nil, !r.props.tagged())
}

func (r *Reader) emptyKey(at int) error {
	return r.resolvedKey(at, nil, !r.props.tagged())
}

// isShortInteger reports whether text is an integer that JSON spells in the same way, in either
// dialect.
func isShortInteger(text []byte) bool {
	if len(text) > 18 || text[0] == '0' && len(text) > 1 {
		return false
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// appendContent appends text, which is UTF-8, as the content of a JSON string. It has no more
// escapes than RFC 8259 section 7 requires, in their short forms.
func appendContent(dst, text []byte) []byte {
	const hex = "0123456789abcdef"
	from, i := 0, 0
	for {
		for i+8 <= len(text) {
			w := binary.LittleEndian.Uint64(text[i:])
			a := w ^ '"'*ones
			b := w ^ '\\'*ones
			if m := ((a-ones)&^a | (b-ones)&^b | (w-' '*ones)&^w) & highs; m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				break
			}
			i += 8
		}
		for i < len(text) && !is(text[i], needsEscape) {
			i++
		}
		if i >= len(text) {
			return append(dst, text[from:]...)
		}
		dst = append(dst, text[from:i]...)
		switch c := text[i]; c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, `\b`...)
		case '\f':
			dst = append(dst, `\f`...)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xF])
		}
		i++
		from = i
	}
}
