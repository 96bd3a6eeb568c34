// Package values makes Go values of the results of decoding: maps, slices, strings,
// int64, float64, bools and nil.
//
// A result is known to be valid when it comes here, and is read a second time: that a
// name stands twice in the document, or what the metadata of an object becomes, is known
// only when all of it was read. Reading (read.go) notes what is there in entries, without
// pointers, and gathers texts. So it is known how much memory everything needs before any
// is allocated. Making (this file) then makes each map and slice for what it will hold,
// and cuts strings and numbers out of chunks (chunks.go, box.go).
//
// The package reads programs and changes nothing of them. It writes to nothing that it is
// handed but the table of predicted fields. It judges nothing, finds nothing and has no
// errors.
package values

import (
	"math"
	"unsafe"

	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/program"
)

// Padding is how many zeros have to stand behind a text, so that it may be read in words.
const Padding = 24

// A Maker makes Go values of JSON texts, one after the other. It keeps its buffers from
// text to text. It is for one goroutine at a time.
type Maker struct {
	// Program is the one whose nodes govern the texts.
	Program *program.Program
	// Predicted is the field that came last in each cell of the program: names are compared
	// with it first. The Maker writes to it what it has met.
	Predicted []*program.Field
	// NameBytes is how long a name in Predicted may be.
	NameBytes int
	// Separate makes each string and number an allocation of its own.
	Separate bool

	src       []byte  // with Padding bytes behind the text
	entries   []entry // one for the text, and those of what is in it
	open      []openContainer
	cursor    cursor
	unescaped []byte
	chunks    chunks

	parents []parent
	root    [1]any
}

// Make returns the value that the text is, whose root a node governs, or nil below what the
// program knows. The text is one valid JSON value, with Padding zeros behind it. Nothing
// of the result refers to the text, and nothing of the Maker to the result.
func (m *Maker) Make(src []byte, root *program.Node) any {
	m.src = src
	m.chunks.start(m.Separate)
	m.read(root)
	result := m.make()
	m.chunks.end()
	m.src = nil
	return result
}

// Held is how many bytes the Maker keeps.
func (m *Maker) Held() int {
	const entrySize, openSize, parentSize = unsafe.Sizeof(entry{}), unsafe.Sizeof(openContainer{}), unsafe.Sizeof(parent{})
	return cap(m.entries)*int(entrySize) + cap(m.open)*int(openSize) + cap(m.parents)*int(parentSize) +
		cap(m.unescaped) + cap(m.chunks.text)
}

// A parent is a container that is being made.
type parent struct {
	members  map[string]any // of an object
	node     *program.Node
	elements []any // of an array
	left     int   // how many members or elements are to come
}

// make makes the value that was read.
func (m *Maker) make() any {
	var (
		entries = m.entries[1:m.cursor.entries]
		e       entry
		name    string
		v       any

		// The innermost container, at first one whose element is the document.
		members  map[string]any
		elements = m.root[:]
		node     *program.Node
		left     = 1
	)
	for {
		for left == 0 {
			if len(m.parents) == 0 {
				v, m.root[0] = m.root[0], nil
				return v
			}
			p := &m.parents[len(m.parents)-1]
			members, elements, node, left = p.members, p.elements, p.node, p.left
			p.members, p.elements = nil, nil // so that nothing is kept
			m.parents = m.parents[:len(m.parents)-1]
		}
		left--
		if members != nil {
			if e = entries[0]; e.kind() == entryField {
				name = node.Fields[e.low()].Name()
			} else {
				name = m.textOf(e)
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
			v = m.chunks.boxString(m.chunks.cut(e.low(), int(e.rest)))
		case entryObject:
			object = make(map[string]any, e.rest)
			v = object
		case entryArray:
			array = make([]any, e.rest)
			v = array
		default:
			v = m.scalar(e)
		}
		if members != nil {
			members[name] = v
		} else {
			elements[len(elements)-left-1] = v
		}
		if (object != nil || array != nil) && e.rest > 0 {
			p := m.pushParent()
			p.members, p.node, p.elements, p.left = members, node, elements, left
			members, elements, node, left = object, array, nil, int(e.rest)
			if e.low() > 0 {
				node = m.Program.Nodes[e.low()-1]
			}
		}
	}
}

// pushParent is push for parents.
func (m *Maker) pushParent() *parent {
	n := len(m.parents)
	if n == cap(m.parents) {
		m.parents = append(m.parents, parent{})
	}
	m.parents = m.parents[:n+1]
	return &m.parents[n]
}

// textOf returns what a name or string says.
func (m *Maker) textOf(e entry) string {
	switch e.kind() {
	case entryText:
		return m.chunks.cut(e.low(), int(e.rest))
	case entryEscaped:
		m.unescaped = jsonwire.AppendUnescaped(m.unescaped[:0], m.src[e.low():e.rest])
		return string(m.unescaped)
	}
	return string(m.src[e.low():e.rest])
}

func (m *Maker) scalar(e entry) any {
	switch e.kind() {
	case entryInt:
		return m.chunks.boxInt(int64(e.rest))
	case entryFloat:
		return m.chunks.boxFloat(math.Float64frombits(e.rest))
	case entryTrue:
		return true
	case entryFalse:
		return false
	case entryNull:
		return nil
	}
	return m.chunks.boxString(m.textOf(e))
}
