package yamlbridge

import (
	"unicode/utf8"

	"github.com/espalier-dev/espalier/errors"
	"gopkg.in/yaml.v3"
)

// An emitter writes a node tree as JSON. It does not recurse: the mappings and
// sequences that are open are the frames of a stack.
//
// Values are written in the order of the document, so that whatever an alias
// can mean has been written before: an alias is a copy of written bytes.
type emitter struct {
	m      *SourceMap
	cursor cursor

	// out is the buffer that is written to. The others, and what out was when
	// it was last left, are in others, with out at others[current]. Buffer 0 is the
	// result; each value of a merge key is written into one of its own.
	out     []byte
	others  [][]byte
	current int
	base    int // where the result starts in buffer 0

	stack   []frame
	height  int // of the value written last: 0 for scalars
	anchors map[*yaml.Node]*target
	budget  int // bytes that may still be copied
}

// A frame is a mapping or sequence that is being written.
type frame struct {
	node   *yaml.Node
	next   int // index in node.Content
	buffer int // it is written to
	start  int // offset in the buffer
	height int // of the highest child so far, counting itself

	// Of mappings:
	name     string // of the member whose value is being written, where inMember
	inMember bool
	merging  bool     // the value of a merge key is being written
	sources  []source // what the merge keys met so far bring in
	merges   int      // how many there were
	keep     bool     // members are collected
	members  []member

	isMergeList bool    // a sequence that is the value of a merge key
	target      *target // what is known of it, if it may be referred to
}

// emit writes the document and returns the result buffer.
func (e *emitter) emit(root *yaml.Node) ([]byte, error) {
	e.others = append(e.others, nil)
	if err := e.checkAliases(root); err != nil {
		return nil, err
	}
	if err := e.value(root); err != nil {
		return nil, err
	}
	for len(e.stack) > 0 {
		f := &e.stack[len(e.stack)-1]
		if !f.merging { // what is merged counts when it is spliced
			f.height = max(f.height, e.height+1)
		}
		var err error
		if f.node.Kind == yaml.MappingNode {
			err = e.stepMapping(f)
		} else {
			err = e.stepSequence(f)
		}
		if err != nil {
			return nil, err
		}
	}
	return e.out, nil
}

func (e *emitter) stepSequence(f *frame) error {
	if f.next == len(f.node.Content) {
		e.pop(f, ']')
		return nil
	}
	if f.next > 0 {
		e.out = append(e.out, ',')
	}
	n := f.node.Content[f.next]
	f.next++
	return e.value(n)
}

// stepMapping finishes the member whose value has just been written and begins
// the next.
func (e *emitter) stepMapping(f *frame) error {
	switch {
	case f.inMember:
		f.inMember = false
		if f.keep {
			m := &f.members[len(f.members)-1]
			m.value.end = len(e.out)
			m.height = e.height
		}
	case f.merging:
		f.merging = false
		e.leaveBuffer(f.buffer)
	}
	if f.next == len(f.node.Content) {
		if err := e.splice(f); err != nil {
			return err
		}
		e.pop(f, '}')
		return nil
	}
	key, value := f.node.Content[f.next], f.node.Content[f.next+1]
	f.next += 2
	off := e.offset(key)
	if isMerge(key) {
		if key.Anchor != "" {
			e.anchor(key, &target{scalar: scalar{tag: tagStr, text: key.Value}})
		}
		return e.merge(f, value)
	}
	name, err := e.key(key, off)
	if err != nil {
		return err
	}
	e.name(f, name, off)
	if f.keep {
		f.members = append(f.members, member{name: name, key: off, at: e.offset(value), value: span{e.current, len(e.out), 0}})
	}
	f.inMember, f.name = true, name
	return e.value(value)
}

// name writes the name of the next member.
func (e *emitter) name(f *frame, name string, off int) {
	if len(e.out) > f.start+1 {
		e.out = append(e.out, ',')
	}
	e.mark(off)
	e.out = appendString(e.out, name)
	e.out = append(e.out, ':')
}

// key returns the name that a key stands for.
func (e *emitter) key(n *yaml.Node, off int) (string, error) {
	var s scalar
	switch n.Kind {
	case yaml.ScalarNode:
		var err error
		if s, err = e.scalar(n, off); err != nil {
			return "", err
		}
		if n.Anchor != "" {
			e.anchor(n, &target{scalar: s})
		}
	case yaml.AliasNode:
		t, err := e.dereference(n, off)
		if err != nil {
			return "", err
		}
		if t.node.Kind != yaml.ScalarNode {
			return "", e.fail(off, "a mapping or sequence is no key")
		}
		if err := e.charge(len(t.scalar.text), off); err != nil {
			return "", err
		}
		s = t.scalar
	default:
		return "", e.fail(off, "a mapping or sequence is no key")
	}
	name, err := s.name()
	if err != nil {
		return "", e.locate(err, off)
	}
	return name, nil
}

// value writes a scalar or an alias, or begins a mapping or sequence.
func (e *emitter) value(n *yaml.Node) error {
	off := e.offset(n)
	e.mark(off)
	e.height = 0
	switch n.Kind {
	case yaml.AliasNode:
		return e.alias(n, off)
	case yaml.ScalarNode:
		s, err := e.scalar(n, off)
		if err != nil {
			return err
		}
		start := len(e.out)
		if e.out, err = s.appendJSON(e.out); err != nil {
			return e.locate(err, off)
		}
		if n.Anchor != "" {
			e.anchor(n, &target{scalar: s, span: span{e.current, start, len(e.out)}, written: true})
		}
		return nil
	}
	return e.push(n, off)
}

func (e *emitter) push(n *yaml.Node, off int) error {
	if len(e.stack) == MaxDepth {
		return e.limit("depth", MaxDepth, off)
	}
	bracket := byte('[')
	kind, known := "sequence", n.Tag == "!!seq"
	if n.Kind == yaml.MappingNode {
		bracket = '{'
		kind, known = "mapping", n.Tag == "!!map" || n.Tag == "!!set"
	}
	if n.Style&yaml.TaggedStyle != 0 && !known {
		return e.fail(off, "unknown tag "+excerpt(n.Tag)+" of a "+kind)
	}
	f := frame{node: n, buffer: e.current, start: len(e.out), height: 1}
	owner := e.mergeOwner()
	if n.Anchor != "" || owner != nil && n.Kind == yaml.MappingNode {
		f.target = &target{open: true, span: span{e.current, len(e.out), 0}}
		e.anchor(n, f.target)
	}
	if n.Kind == yaml.SequenceNode {
		f.isMergeList = owner != nil
	} else {
		// The members are collected if the mapping can be merged, or merges.
		f.keep = f.target != nil
		for i := 0; i < len(n.Content) && !f.keep; i += 2 {
			f.keep = n.Content[i].Kind == yaml.ScalarNode && n.Content[i].Value == mergeKey
		}
		if owner != nil {
			owner.sources = append(owner.sources, source{f.target, owner.merges, -1})
		}
	}
	e.stack = append(e.stack, f)
	e.out = append(e.out, bracket)
	e.height = -1 // of no child yet
	return nil
}

func (e *emitter) pop(f *frame, bracket byte) {
	e.out = append(e.out, bracket)
	e.height = f.height
	if t := f.target; t != nil {
		t.open, t.written = false, true
		t.span.end = len(e.out)
		t.height, t.members = f.height, f.members
	}
	e.stack = e.stack[:len(e.stack)-1]
}

// scalar returns what a scalar node stands for. It goes by the text, the style
// and the explicit tag of the node; the tag that yaml.v3 resolved is not used.
func (e *emitter) scalar(n *yaml.Node, off int) (scalar, error) {
	tag := ""
	switch {
	case n.Style&yaml.TaggedStyle != 0:
		tag = n.Tag
	case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0,
		e.isNonSpecific(off):
		tag = tagStr
	}
	s, err := resolve(tag, n.Value)
	if err != nil {
		return scalar{}, e.locate(err, off)
	}
	// Where int has 32 bits, yaml.v3 lets escapes pass that are no characters.
	if !utf8.ValidString(s.text) {
		return scalar{}, e.fail(off, "invalid Unicode character escape code")
	}
	return s, nil
}

// isNonSpecific reports whether the node at off has the tag "!", which makes a
// scalar a string (YAML 1.2 section 6.9.1) and of which yaml.v3 leaves no trace.
func (e *emitter) isNonSpecific(off int) bool {
	text := e.cursor.text[off-e.cursor.base:]
	for i := 0; i < len(text); {
		switch text[i] {
		case ' ', '\t', '\r', '\n':
			i++
		case '#':
			for i < len(text) && text[i] != '\n' && text[i] != '\r' {
				i++
			}
		case '&', '!':
			start := i
			for i < len(text) && !isDelimiter(text[i]) {
				i++
			}
			if text[start] == '!' {
				tag := string(text[start:i])
				return tag == "!" || tag == "!<!>"
			}
		default:
			return false
		}
		if i == len(text) {
			return false
		}
	}
	return false
}

// isDelimiter reports whether c may stand before and after an anchor, alias or tag.
func isDelimiter(c byte) bool {
	switch c {
	case ' ', '\t', '\r', '\n', ',', '[', ']', '{', '}':
		return true
	}
	return false
}

// offset returns where a node starts in the source.
func (e *emitter) offset(n *yaml.Node) int {
	if n.Line == 0 { // see parseEscapedJSON
		return e.cursor.base + n.Column
	}
	return e.cursor.offset(n.Line, n.Column)
}

// mark notes that what is written next stands at off. Side buffers have no
// marks: what is copied out of them is marked then.
func (e *emitter) mark(off int) {
	if e.current == 0 {
		e.m.marks = append(e.m.marks, mark{len(e.out) - e.base, off})
	}
}

func (e *emitter) fail(off int, msg string) error {
	err := e.m.syntaxError(off, msg)
	err.Path = e.path()
	return err
}

func (e *emitter) limit(name string, most int64, off int) error {
	return &errors.LimitError{Limit: name, Max: most, Position: e.m.at(off), Path: e.path()}
}

// locate gives an error of a scalar its place.
func (e *emitter) locate(err error, off int) error {
	if l, ok := err.(*errors.LimitError); ok {
		return e.limit(l.Limit, l.Max, off)
	}
	return e.fail(off, err.Error())
}

// path leads to the member or element that is being written.
func (e *emitter) path() errors.Path {
	depth := len(e.stack)
	if depth > 0 {
		if f := &e.stack[depth-1]; f.node.Kind == yaml.MappingNode && !f.inMember && !f.merging {
			depth--
		}
	}
	return errors.MakePath(depth, func(i int) ([]byte, int) {
		switch f := &e.stack[i]; {
		case f.merging:
			return []byte(mergeKey), 0
		case f.node.Kind == yaml.MappingNode:
			return append([]byte{}, f.name...), 0
		default:
			return nil, f.next - 1
		}
	})
}
