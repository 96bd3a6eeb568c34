package decoder

// NOTE: Go values are built from a result, which is known to be valid, in a second
// reading: that a name stands twice, or what the metadata of an object becomes, is known
// only when all of it was read. Building costs several times as much as reading, as
// it is bound by what maps and strings cost.
//
// The members of an open container are kept on a stack. When it closes, their number
// and the length of their texts are known: its map is made for as many, and its strings
// are cut out of one.

import (
	"math"
	"strconv"

	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/program"
)

// A builder makes Go values of JSON texts.
type builder struct {
	predicted []*program.Field // as in the walker
	separate  bool             // each string and number is allocated by itself

	src     []byte
	members []builtMember // of all open containers
	open    []builtFrame
	text    []byte // of the strings of the container that is closed
}

// A builtMember is a member or element: a value, or what it will be made of.
type builtMember struct {
	field *program.Field // of a name that is declared
	key   span           // of one that is not, in the text
	text  span           // of a string in the text
	// number is an int64, or the bits of a float64.
	number uint64
	value  any
	kind   builtKind
}

type builtKind uint8

const (
	builtValue builtKind = iota // it is made
	builtString
	builtInt
	builtFloat
)

// A span is a part of the text, between the quotes of a string. A negative end stands
// for its complement, and says that there are escapes.
type span struct{ from, to int }

func makeSpan(from, to int, escaped bool) span {
	if escaped {
		to = ^to
	}
	return span{from, to}
}

// A builtFrame is an open container.
type builtFrame struct {
	node  *program.Node // nil below what the program knows
	first int           // of its members
	cell  int32
	array bool
}

// build returns the value that the text is, whose root a node governs. Nothing of
// the result refers to the text, and nothing of the builder to the result.
func (b *builder) build(src []byte, root *program.Node) any {
	b.src = src
	i := jsonwire.Blanks(src, 0)
	b.members = append(b.members, builtMember{})
	i = b.value(i, root)
	for len(b.open) > 0 {
		i = jsonwire.Blanks(src, i)
		top := &b.open[len(b.open)-1]
		switch c := src[i]; {
		case c == ',':
			i = jsonwire.Blanks(src, i+1)
			fallthrough
		case c != '}' && c != ']':
			i = b.next(i, top)
		default:
			i++
			b.close()
		}
	}
	c := b.chunkOf(b.members)
	result := c.value(&b.members[0])
	clear(b.members)
	b.members, b.src = b.members[:0], nil
	return result
}

// held is how many bytes the builder keeps.
func (b *builder) held() int {
	const memberSize, frameSize = 72, 40
	return cap(b.members)*memberSize + cap(b.open)*frameSize + cap(b.text)
}

// next reads the member or element at i, up to where a container starts.
func (b *builder) next(i int, top *builtFrame) int {
	var node *program.Node
	b.members = append(b.members, builtMember{})
	if top.array {
		if top.node != nil {
			node = top.node.Elements.Node
		}
		return b.value(i, node)
	}
	m := &b.members[len(b.members)-1]
	f, end := b.name(i, top, m)
	if f != nil {
		top.cell = f.Cell
		node = f.Node
	} else if top.node != nil && top.node.Unknown != nil {
		node = top.node.Unknown.Node
	}
	return b.value(jsonwire.Blanks(b.src, end), node)
}

// name reads the name at i. It returns its field, if it is declared, and the index
// behind the colon.
func (b *builder) name(i int, top *builtFrame, m *builtMember) (*program.Field, int) {
	if top.node != nil {
		f := b.predicted[top.cell]
		if end := i + len(f.Key); len(f.Key) > 0 && end <= len(b.src) && string(b.src[i:end]) == f.Key {
			m.field = f
			return f, end
		}
	}
	end, escaped, _ := jsonwire.ScanString(b.src, i+1)
	m.key = makeSpan(i+1, end, escaped)
	colon := jsonwire.Blanks(b.src, end+1) + 1
	if top.node == nil {
		return nil, colon
	}
	text := b.src[i+1 : end]
	if escaped {
		b.text = jsonwire.AppendUnescaped(b.text[:0], text)
		text = b.text
	}
	f := top.node.Find(text)
	if f != nil {
		b.predicted[top.cell] = f
		m.field = f
	}
	return f, colon
}

// value reads the value at i, or where it is a container its start, for the last of
// the members. It returns the index behind.
func (b *builder) value(i int, node *program.Node) int {
	m := &b.members[len(b.members)-1]
	switch c := b.src[i]; c {
	case '{', '[':
		f := builtFrame{node: node, first: len(b.members), array: c == '['}
		if node != nil {
			f.cell = node.Cell
		}
		b.open = append(b.open, f)
		return i + 1
	case '"':
		end, escaped, _ := jsonwire.ScanString(b.src, i+1)
		m.kind, m.text = builtString, makeSpan(i+1, end, escaped)
		return end + 1
	case 't':
		m.value = true
		return i + len("true")
	case 'f':
		m.value = false
		return i + len("false")
	case 'n':
		return i + len("null")
	}
	return b.number(i, m)
}

// number reads the number at i: an integer that fits int64 is one, and all else is a
// float64, as in sigs.k8s.io/json.
func (b *builder) number(i int, m *builtMember) int {
	end, kind, _, _ := jsonwire.ScanNumber(b.src, i)
	lit := b.src[i:end]
	if kind == jsonwire.Integer {
		n, err := strconv.ParseInt(string(lit), 10, 64)
		switch {
		case err != nil: // beyond int64
		case n >= 0 && n < 256: // which Go does not allocate
			m.value = n
			return end
		default:
			m.kind, m.number = builtInt, uint64(n)
			return end
		}
	}
	x, _ := strconv.ParseFloat(string(lit), 64)
	m.kind, m.number = builtFloat, math.Float64bits(x)
	return end
}

// close makes the value of the innermost container that is open.
func (b *builder) close() {
	last := len(b.open) - 1
	top := b.open[last]
	b.open = b.open[:last]
	members := b.members[top.first:]
	of := &b.members[top.first-1]
	c := b.chunkOf(members)
	if top.array {
		list := make([]any, len(members))
		for i := range members {
			list[i] = c.value(&members[i])
		}
		of.value = list
	} else {
		object := make(map[string]any, len(members))
		for i := range members {
			object[c.name(&members[i])] = c.value(&members[i])
		}
		of.value = object
	}
	clear(members) // so that nothing is kept
	b.members = b.members[:top.first]
}

// A chunk has the strings and numbers of a container, in few allocations.
type chunk struct {
	separate bool
	bytes    []byte // the texts, until the next chunk
	text     string // the same, to be cut
	strings  []string
	ints     []int64
	floats   []float64
}

// chunkOf makes the chunk for the members, whose spans are then those in the chunk.
func (b *builder) chunkOf(members []builtMember) chunk {
	b.text = b.text[:0]
	var strings, ints, floats int
	for i := range members {
		m := &members[i]
		if m.field == nil {
			m.key = b.take(m.key)
		}
		switch m.kind {
		case builtString:
			m.text = b.take(m.text)
			strings++
		case builtInt:
			ints++
		case builtFloat:
			floats++
		}
	}
	c := chunk{separate: b.separate, bytes: b.text}
	if c.separate {
		return c
	}
	c.text = string(b.text)
	if strings > 0 {
		c.strings = make([]string, 0, strings)
	}
	if ints > 0 {
		c.ints = make([]int64, 0, ints)
	}
	if floats > 0 {
		c.floats = make([]float64, 0, floats)
	}
	return c
}

// take appends what stands in a span of the source to text.
func (b *builder) take(s span) span {
	from := len(b.text)
	if s.to < 0 {
		b.text = jsonwire.AppendUnescaped(b.text, b.src[s.from:^s.to])
	} else {
		b.text = append(b.text, b.src[s.from:s.to]...)
	}
	return span{from: from, to: len(b.text)}
}

func (c *chunk) name(m *builtMember) string {
	if m.field != nil {
		return m.field.Name()
	}
	return c.cut(m.key)
}

func (c *chunk) cut(s span) string {
	if c.separate {
		return string(c.bytes[s.from:s.to])
	}
	return c.text[s.from:s.to]
}

func (c *chunk) value(m *builtMember) any {
	switch m.kind {
	case builtString:
		text := c.cut(m.text)
		if c.separate {
			return text
		}
		c.strings = append(c.strings, text)
		return boxString(&c.strings[len(c.strings)-1])
	case builtInt:
		if c.separate {
			return int64(m.number)
		}
		c.ints = append(c.ints, int64(m.number))
		return boxInt(&c.ints[len(c.ints)-1])
	case builtFloat:
		x := math.Float64frombits(m.number)
		if c.separate {
			return x
		}
		c.floats = append(c.floats, x)
		return boxFloat(&c.floats[len(c.floats)-1])
	}
	return m.value
}
