// Package values makes Go values of the results of decoding: maps, slices, strings, int64, float64,
// bools and nil.
//
// A result is known to be valid, and is read a second time here. Only after the whole document has
// been read is it known which names repeat, and what becomes of metadata. Only a small document
// that a walk would not change is read once, here (take.go). Reading (read.go) notes the values in
// entries, without pointers, and gathers texts. So the size of everything is known before anything
// is allocated. Making (this file) then makes each map and slice with its final size, and cuts
// strings and numbers out of chunks (chunks.go, box.go).
//
// The package reads programs without changing them. Of the data that it is given, it writes only to
// the table of predicted fields. It finds nothing and has no errors: it can only say no.
package values

import (
	"math"

	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/program"
)

// Padding is how many zeros must follow a text, so that it can be read in words.
const Padding = 24

// A Maker makes Go values of JSON texts, one after the other. It keeps its buffers from text to
// text. It is for one goroutine at a time.
type Maker struct {
	// Predicted has the last field for each cell of the program whose nodes govern the texts. Names
	// are compared with it first. The Maker writes the fields that it finds to it.
	Predicted []*program.Field
	// NameBytes is the longest name that may be in Predicted.
	NameBytes int
	// Separate makes each string and number an allocation of its own.
	Separate bool

	src       []byte  // the text, with Padding zeros after it
	entries   []entry // one for the text, and one for each name and value in it
	open      []openContainer
	cursor    cursor
	unescaped []byte
	judging   bool // src is a document that was not walked
	defaults  defaults
	defaulted []byte // the default that is read, with zeros after it
	chunks    chunks

	parents  []parent
	document program.Node // whose element is the root
	root     [1]any
}

// Make returns the value of a text, which is one valid JSON value, with Padding zeros after it. The
// node root governs it; root is nil below the known part of a schema. The result does not refer to
// the text, and the Maker does not refer to the result. Make reports whether it could: it makes
// nothing of a text with invalid UTF-8, or with a number beyond float64.
func (m *Maker) Make(src []byte, root *program.Node) (v any, ok bool) {
	m.src = src
	m.chunks.start(m.Separate)
	if ok = m.read(root); ok {
		v, _ = m.make()
	}
	m.chunks.end()
	m.src = nil
	return v, ok
}

// Held returns how many bytes the Maker keeps.
func (m *Maker) Held() int {
	return memory.Held(m.entries) + memory.Held(m.open) + memory.Held(m.parents) +
		memory.Held(m.unescaped) + memory.Held(m.defaulted) + memory.Held(m.chunks.text)
}

// A parent is a container under construction.
type parent struct {
	members  map[string]any // of an object
	node     *program.Node
	elements []any // of an array
	left     int   // how many members or elements are missing
}

// make makes the value that was read. It reports whether no object has a name twice.
func (m *Maker) make() (value any, distinct bool) {
	var (
		entries = m.entries[1:m.cursor.entries]
		e       entry
		name    string
		v       any
		of      *program.Node // governs v

		// The innermost container. The first one is an array whose element is the document.
		members  map[string]any
		elements = m.root[:]
		node     = &m.document
		left     = 1
		names    = 0 // that were read in objects and are not in maps yet, as counted at their ends
	)
	for {
		for left == 0 {
			names -= len(members)
			if len(m.parents) == 0 {
				v, m.root[0] = m.root[0], nil
				return v, names == 0
			}
			p := &m.parents[len(m.parents)-1]
			members, elements, node, left = p.members, p.elements, p.node, p.left
			p.members, p.elements = nil, nil // so that the Maker does not keep them
			m.parents = m.parents[:len(m.parents)-1]
		}
		left--
		if members == nil {
			of = elementsOf(node)
		} else {
			if e = entries[0]; e.kind() == entryField {
				f := &node.Fields[e.low()]
				name, of = f.Name(), f.Node
			} else {
				name, of = m.textOf(e), unknownOf(node)
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
			names += int(e.rest)
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
			members, elements, node, left = object, array, of, int(e.rest)
		}
	}
}

// pushParent adds a zero parent, and returns it.
func (m *Maker) pushParent() *parent {
	n := len(m.parents)
	if n == cap(m.parents) {
		m.parents = append(m.parents, parent{})
	}
	m.parents = m.parents[:n+1]
	return &m.parents[n]
}

// textOf returns the text of a name or string.
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
