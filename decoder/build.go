package decoder

// NOTE: Go values are built from a result, which is known to be valid, in a second
// reading: that a name stands twice, or what the metadata of an object becomes, is known
// only when all of it was read.
//
// Reading notes what is there in entries, without pointers, and gathers texts. So it is known
// how much memory everything needs before any is allocated: each map and slice is made for
// what it will hold, and strings and numbers are cut out of chunks (chunk.go).

import (
	"math"

	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/program"
)

// A builder makes Go values of JSON texts.
type builder struct {
	program   *program.Program
	predicted []*program.Field // as in the walker, to which they belong
	nameBytes int              // the limit there

	src     []byte  // with readPadding bytes behind the text
	entries []entry // one for the text, and those of what is in it
	open    []openContainer
	reading
	unescaped []byte
	chunks

	parents []parent
	root    [1]any
}

// build returns the value that the text is, whose root a node governs. Behind the text stand
// readPadding bytes that are 0. Nothing of
// the result refers to the text, and nothing of the builder to the result.
func (b *builder) build(src []byte, root *program.Node) any {
	b.src = src
	b.chunks.start()
	b.read(root)
	result := b.make()
	b.chunks.end()
	b.src = nil
	return result
}

// held is how many bytes the builder keeps.
func (b *builder) held() int {
	const entrySize, openSize, parentSize = 16, 24, 48
	return cap(b.entries)*entrySize + cap(b.open)*openSize + cap(b.parents)*parentSize + cap(b.unescaped) + cap(b.text)
}

// A parent is a container that is being made.
type parent struct {
	members  map[string]any // of an object
	node     *program.Node
	elements []any // of an array
	left     int   // how many members or elements are to come
}

// make makes the value that was read.
func (b *builder) make() any {
	var (
		entries = b.entries[1:b.reading.entries]
		e       entry
		name    string
		v       any

		// The innermost container, at first one whose element is the document.
		members  map[string]any
		elements = b.root[:]
		node     *program.Node
		left     = 1
	)
	for {
		for left == 0 {
			if len(b.parents) == 0 {
				v, b.root[0] = b.root[0], nil
				return v
			}
			p := &b.parents[len(b.parents)-1]
			members, elements, node, left = p.members, p.elements, p.node, p.left
			p.members, p.elements = nil, nil // so that nothing is kept
			b.parents = b.parents[:len(b.parents)-1]
		}
		left--
		if members != nil {
			if e = entries[0]; e.kind() == entryField {
				name = node.Fields[e.low()].Name()
			} else {
				name = b.textOf(e)
			}
			entries = entries[1:]
		}
		e = entries[0]
		entries = entries[1:]
		var (
			object map[string]any
			array  []any
		)
		switch e.kind() {
		case entryText:
			v = b.boxString(b.cut(e.low(), int(e.rest)))
		case entryObject:
			object = make(map[string]any, e.rest)
			v = object
		case entryArray:
			array = make([]any, e.rest)
			v = array
		default:
			v = b.scalar(e)
		}
		if members != nil {
			members[name] = v
		} else {
			elements[len(elements)-left-1] = v
		}
		if (object != nil || array != nil) && e.rest > 0 {
			p := b.pushParent()
			p.members, p.node, p.elements, p.left = members, node, elements, left
			members, elements, node, left = object, array, nil, int(e.rest)
			if e.low() > 0 {
				node = b.program.Nodes[e.low()-1]
			}
		}
	}
}

// pushParent is push for parents.
func (b *builder) pushParent() *parent {
	n := len(b.parents)
	if n == cap(b.parents) {
		b.parents = append(b.parents, parent{})
	}
	b.parents = b.parents[:n+1]
	return &b.parents[n]
}

// textOf returns what a name or string says.
func (b *builder) textOf(e entry) string {
	switch e.kind() {
	case entryText:
		return b.cut(e.low(), int(e.rest))
	case entryEscaped:
		b.unescaped = jsonwire.AppendUnescaped(b.unescaped[:0], b.src[e.low():e.rest])
		return string(b.unescaped)
	}
	return string(b.src[e.low():e.rest])
}

func (b *builder) scalar(e entry) any {
	switch e.kind() {
	case entryInt:
		return b.boxInt(int64(e.rest))
	case entryFloat:
		return b.boxFloat(math.Float64frombits(e.rest))
	case entryTrue:
		return true
	case entryFalse:
		return false
	case entryNull:
		return nil
	}
	return b.boxString(b.textOf(e))
}
