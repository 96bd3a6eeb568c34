package yamlbridge

import (
	"fmt"
	"unicode/utf8"
)

// This file reads the properties of nodes: tags and anchors (YAML 1.2 section 6.9).

// A span is a part of a buffer.
type span struct{ start, end int }

// properties precede a node. The zero value has none.
type properties struct {
	set    bool
	at     int // the start of the first of them
	anchor span
	tag    span // as it is written
	kind   tag
}

func (p *properties) anchored() bool { return p.anchor.end > 0 }
func (p *properties) tagged() bool   { return p.kind != noTag }

// adopt adds properties on the line of the node to those of the lines before.
func (r *Reader) adopt(p *properties) error {
	if !r.props.set {
		r.props = *p
		return nil
	}
	if r.props.anchored() && p.anchored() || r.props.tagged() && p.tagged() {
		return r.fail(p.at, oneOfEach)
	}
	if p.anchored() {
		r.props.anchor = p.anchor
	}
	if p.tagged() {
		r.props.tag, r.props.kind = p.tag, p.kind
	}
	return nil
}

const oneOfEach = "a node has one tag and one anchor"

// A tag is the meaning of the tag of a node.
type tag uint8

const (
	noTag          tag = iota
	nonSpecificTag     // !
	strTag
	intTag
	floatTag
	boolTag
	nullTag
	timestampTag
	binaryTag
	mergeTag
	seqTag
	mapTag
	setTag
	unknownTag
)

const yamlTags = "tag:yaml.org,2002:"

var knownTags = map[string]tag{
	"!":                    nonSpecificTag,
	yamlTags + "str":       strTag,
	yamlTags + "int":       intTag,
	yamlTags + "float":     floatTag,
	yamlTags + "bool":      boolTag,
	yamlTags + "null":      nullTag,
	yamlTags + "timestamp": timestampTag,
	yamlTags + "binary":    binaryTag,
	yamlTags + "merge":     mergeTag,
	yamlTags + "seq":       seqTag,
	yamlTags + "map":       mapTag,
	yamlTags + "set":       setTag,
}

// declareTag records the prefix that a %TAG directive declares for a handle. It keeps no more of
// the prefix than the longest known tag has, because all of it would be copied for each tag.
func (r *Reader) declareTag(handle string, prefix []byte) {
	const longest, tagBytes = 64, 192 // in a map that doubles
	if r.tags == nil {
		r.tags = make(map[string]string)
	}
	r.chargeLoose(tagBytes + len(handle))
	r.tags[handle] = string(prefix[:min(len(prefix), longest)])
}

// properties reads properties from i on, where & or ! is, and returns the index of the text after
// them on the line.
func (r *Reader) properties(i int, p *properties) (int, error) {
	*p = properties{set: true, at: i}
	for {
		var err error
		switch c := r.text[i]; {
		case c == '&' && !p.anchored():
			i, err = r.readAnchor(i, p)
		case c == '!' && !p.tagged():
			i, err = r.tag(i, p)
		default:
			return i, nil
		}
		if err != nil {
			return i, err
		}
		i = skipBlanks(r.text, i)
	}
}

// readAnchor reads an anchor.
func (r *Reader) readAnchor(i int, p *properties) (int, error) {
	end := scanName(r.text, i+1, r.Dialect == Core)
	if end == i+1 || !r.endsName(end) {
		return i, r.failAt(i, "did not find expected alphabetic or numeric character of an anchor")
	}
	p.anchor = span{i + 1, end}
	return end, nil
}

// endsName reports whether the name of an anchor or alias may end at i.
func (r *Reader) endsName(i int) bool {
	c := r.text[i]
	if endsWord(c) || r.Dialect == Core {
		return true
	}
	switch c {
	case '?', ':', ',', ']', '}', '%', '@', '`':
		return true
	}
	return false
}

// tag reads a tag: !suffix, !!suffix, !handle!suffix or !<uri>.
func (r *Reader) tag(i int, p *properties) (int, error) {
	text := r.text
	start := i
	name := r.unescaped[:0] // of the tag
	i++
	if text[i] == '<' {
		i++
		from := i
		i = r.tagEnd(i, true)
		if text[i] != '>' || i == from {
			return i, r.failAt(i, "did not find the expected '>' of a tag")
		}
		var err error
		if name, err = r.unescapeTag(name, from, i); err != nil {
			return i, err
		}
		i++
	} else {
		handle := "!"
		suffix := i
		end := i
		for is(text[end], isAnchorByte) && (r.Dialect != Core || text[end] != '_') {
			end++
		}
		if text[end] == '!' {
			handle = string(text[start : end+1])
			suffix = end + 1
		}
		i = r.tagEnd(suffix, false)
		if len(handle) > 1 && i == suffix {
			return i, r.failAt(i, "did not find expected tag URI")
		}
		if handle != "!" || i > suffix {
			prefix, ok := r.tagPrefix(handle)
			if !ok {
				return i, r.fail(start, "found undefined tag handle "+excerpt(handle))
			}
			name = append(name, prefix...)
		} else {
			name = append(name, '!')
		}
		var err error
		if name, err = r.unescapeTag(name, suffix, i); err != nil {
			return i, err
		}
	}
	if c := text[i]; !endsWord(c) && (r.Dialect != Core || !is(c, isFlowIndicator)) {
		return i, r.failAt(i, "did not find expected whitespace or line break after a tag")
	}
	r.unescaped = name
	p.tag = span{start, i}
	p.kind = unknownTag
	if kind, ok := knownTags[string(name)]; ok {
		p.kind = kind
	}
	return i, nil
}

// tagEnd returns the end of the characters of a tag. In YAML 1.2, flow indicators are no such
// characters, unless the tag is verbatim, and "#" is one.
func (r *Reader) tagEnd(i int, verbatim bool) int {
	core := r.Dialect == Core
	for {
		switch c := r.text[i]; {
		case core && c == '#':
		case core && !verbatim && is(c, isFlowIndicator):
			return i
		case !is(c, isTagByte):
			return i
		}
		i++
	}
}

func (r *Reader) tagPrefix(handle string) (string, bool) {
	if prefix, ok := r.tags[handle]; ok {
		return prefix, true
	}
	switch handle {
	case "!":
		return "!", true
	case "!!":
		return yamlTags, true
	}
	return "", false
}

// unescapeTag appends text[i:end] with its escapes decoded: %41 is A.
func (r *Reader) unescapeTag(dst []byte, i, end int) ([]byte, error) {
	from := len(dst)
	for j := i; j < end; j++ {
		c := r.text[j]
		if c != '%' {
			dst = append(dst, c)
			continue
		}
		// The byte after a tag is not a hexadecimal digit.
		high, low := hexValue(r.text[j+1]), hexValue(r.text[j+2])
		if high < 0 || low < 0 {
			return dst, r.fail(j, "did not find URI escaped octet")
		}
		dst = append(dst, byte(high<<4|low))
		j += 2
	}
	if !utf8.Valid(dst[from:]) && !(r.server && isLooseUTF8(dst[from:])) {
		return dst, r.fail(i, "found an incorrect UTF-8 octet in a tag")
	}
	return dst, nil
}

// isLooseUTF8 reports whether b has the structure of UTF-8, whatever the values of its characters:
// the server does not check these in tags.
func isLooseUTF8(b []byte) bool {
	for len(b) > 0 {
		n := runeLength(b[0])
		if !utf8.RuneStart(b[0]) || b[0] >= 0xF8 || n > len(b) {
			return false
		}
		for _, c := range b[1:n] {
			if utf8.RuneStart(c) {
				return false
			}
		}
		b = b[n:]
	}
	return true
}

func hexValue(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// checkCollectionTag refuses tags other than those of a mapping or sequence. The API server ignores
// them.
func (r *Reader) checkCollectionTag(seq bool) error {
	kind := "mapping"
	switch r.props.kind {
	case noTag, nonSpecificTag:
		return nil
	case seqTag:
		if seq {
			return nil
		}
	case mapTag, setTag:
		if !seq {
			return nil
		}
	}
	if r.server || r.Dialect == Core && r.props.kind == unknownTag {
		return nil
	}
	if seq {
		kind = "sequence"
	}
	return r.fail(r.props.at, fmt.Sprintf("unknown tag %s of a %s", r.tagText(), kind))
}

func (r *Reader) tagText() string {
	return excerpt(string(r.text[r.props.tag.start:r.props.tag.end]))
}
