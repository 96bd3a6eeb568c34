package screen

// NOTE: Machine.run is a function of labels and gotos, like the machines of package walk, over text
// that is known to be JSON. It follows names and elements through the nodes, and looks at the rules
// of each value. The first value that is not surely valid ends it.

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/program"
)

// A frame is an open container.
type frame struct {
	node  *program.Node
	seen  uint64 // the fields of an object
	bit   uint64 // the field whose value is open; 1 in an array that needs tags
	keys  uint64 // the fields that have tags
	tag   uint64 // of the keys that were seen
	tags  int    // where the tags of an array begin
	start int    // where the container begins
	count int    // of members or elements
	array bool
}

// run looks at the value at b[i:], whose node is v. base is how many frames are in use, and skipped
// has the fields of the value that everything may be in.
func (m *Machine) run(b []byte, i int, v *program.Node, base int, skipped uint64) program.Verdict {
	var (
		sp        = base
		top       *frame
		seen      uint64
		bit, keys uint64
		count     int
		array     bool
		r         *program.Checks
		f         *program.Field
		n         *program.Node
		start     int
		text      []byte
		escaped   bool
		c         byte
	)
	goto value

name:
	for c = b[i]; c <= ' '; c = b[i] {
		i++
	}
	count++
	start = i + 1
	i, escaped = StringEnd(b, start)
	text = b[start : i-1]
	for b[i] != ':' {
		i++
	}
	i++
	if escaped {
		text = m.unescape(text)
	}
	if len(n.Fields) > 0 {
		if f = n.Find(text); f != nil {
			bit = f.Bit
			seen |= bit
			v = f.Node
			goto value
		}
	}
	if rules := n.Checks.Rules; rules.Closed {
		return program.Invalid
	} else if rules.Names != nil {
		if got := rules.Names.Check(text); got != program.Valid {
			return got
		}
	}
	bit = 0
	if n.Unknown == nil {
		v = anything
		goto value
	}
	v = n.Unknown.Node

value:
	for c = b[i]; c <= ' '; c = b[i] {
		i++
	}
	if bit&skipped != 0 && sp == base+1 || v.Checks == nil {
		v = anything
	}
	r = v.Checks
	if r.Types&program.FirstTypes[c] == 0 {
		return program.Invalid
	}
	start = i
	switch c {
	case '"':
		i, escaped = StringEnd(b, i+1)
	case '{', '[':
		if r.Open {
			i = containerEnd(b, i)
			goto after
		}
		if top != nil {
			top.seen, top.bit, top.count = seen, bit, count
		}
		if sp == len(m.frames) {
			m.frames = memory.Room(m.Account, m.frames, len(m.frames))[:2*len(m.frames)]
		}
		top = &m.frames[sp]
		sp++
		top.node, top.start, top.tag, top.array = v, i, 0, c == '['
		n, seen, count, array = v, 0, 0, top.array
		i++
		for c = b[i]; c <= ' '; c = b[i] {
			i++
		}
		if !array {
			keys = r.Keys
			top.keys = keys
			if c == '}' {
				goto closeContainer
			}
			goto name
		}
		keys, bit = 0, 1
		if r.Rules.List != program.Atomic {
			keys = 1
			top.tags = len(m.tags)
		}
		top.keys = keys
		if c == ']' {
			goto closeContainer
		}
		goto element
	case 'n':
		i += len("null")
		if r.Rules.Unsure || r.Rules.Enum {
			return program.Unsure // null is in no enum
		}
		goto after
	case 't', 'f':
		i += len("true")
		if c == 'f' {
			i++
		}
	default:
		for i++; i < len(b) && numberBytes[b[i]] == 1; {
			i++
		}
		if i-start > 18 || i < len(b) && numberBytes[b[i]] != 0 {
			for i < len(b) && numberBytes[b[i]] != 0 {
				i++
			}
			if r.Types&program.Number == 0 || r.Rules.Literal != nil {
				return program.Unsure
			}
		}
	}
	if r.Scalar {
		if got := m.scalar(v, b, start, i, escaped, sp); got != program.Valid {
			return got
		}
		if top != nil {
			top = &m.frames[sp-1] // the frames may have moved
		}
	}

after:
	if keys&bit != 0 {
		if !m.tagged(top, b, start, i, bit) {
			return program.Unsure
		}
	}
	if sp == base {
		return program.Valid
	}
	for c = b[i]; c <= ' '; c = b[i] {
		i++
	}
	if c == ',' {
		i++
		if array {
			goto element
		}
		goto name
	}

closeContainer:
	i++
	r = n.Checks
	if array {
		if r.Array {
			if got := m.closeArray(top, b, i, count, sp); got != program.Valid {
				return got
			}
		}
	} else if r.Object {
		if got := m.closeObject(top, b, i, seen, count, sp); got != program.Valid {
			return got
		}
	}
	sp--
	m.closed, start = top.tag, top.start
	if sp == base {
		return program.Valid
	}
	top = &m.frames[sp-1]
	n, seen, bit, count = top.node, top.seen, top.bit, top.count
	keys, array = top.keys, top.array
	goto after

element:
	count++
	v = n.Elements.Node
	goto value
}

// anything governs what no rule is about.
var anything = &program.Node{Checks: &program.Checks{
	Rules: &program.Rules{}, Types: program.Any, Open: true,
}}

// numberBytes has 1 for digits, and 2 for what else is in numbers that are no integers.
var numberBytes = func() (t [256]uint8) {
	for c := '0'; c <= '9'; c++ {
		t[c] = 1
	}
	for _, c := range ".eE+-" {
		t[c] = 2
	}
	return t
}()

// quoteOrEscape returns the index of the first quote or backslash in eight bytes, or 8.
func quoteOrEscape(v uint64) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	q, e := v^ones*'"', v^ones*'\\'
	return bits.TrailingZeros64(((q-ones)&^q|(e-ones)&^e)&tops) >> 3
}

// StringEnd returns where the string that b[i] is in ends, after its quote, and whether it has
// escapes.
func StringEnd(b []byte, i int) (end int, escaped bool) {
	for i+16 <= len(b) {
		at := quoteOrEscape(binary.LittleEndian.Uint64(b[i : i+8]))
		at += quoteOrEscape(binary.LittleEndian.Uint64(b[i+8:i+16])) & -(at >> 3)
		i += at
		if at < 16 {
			if b[i] == '"' {
				return i + 1, escaped
			}
			escaped = true
			i += 2
		}
	}
	for ; b[i] != '"'; i++ {
		if b[i] == '\\' {
			escaped = true
			i++
		}
	}
	return i + 1, escaped
}

// containerEnd returns where the object or array at b[i] ends.
func containerEnd(b []byte, i int) int {
	for depth := 0; ; i++ {
		switch b[i] {
		case '"':
			i, _ = StringEnd(b, i+1)
			i--
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
}

// closeObject checks an object after its last member.
func (m *Machine) closeObject(top *frame, b []byte, end int, seen uint64, count, sp int) program.Verdict {
	c := top.node.Checks
	r := c.Rules
	if c.Required&^seen != 0 || !r.Members.Allow(count) {
		return program.Invalid
	}
	for _, name := range c.Undeclared {
		if !m.mayLookAt(end - top.start) {
			return program.Unsure
		}
		if !m.has(b, top.start, name) {
			return program.Invalid
		}
	}
	if r.Unsure || r.Enum || r.Size > 0 && end-top.start > r.Size {
		return program.Unsure
	}
	if r.Junctors != nil {
		return m.junctors(c, b, top.start, end, seen, sp)
	}
	return program.Valid
}

// closeArray checks an array after its last element.
func (m *Machine) closeArray(top *frame, b []byte, end, count, sp int) program.Verdict {
	c := top.node.Checks
	r := c.Rules
	if !r.Items.Allow(count) {
		return program.Invalid
	}
	if r.Unsure || r.Enum {
		return program.Unsure
	}
	if r.List != program.Atomic {
		differ := Distinct(m.tags[top.tags:])
		m.tags = m.tags[:top.tags]
		if !differ {
			return program.Unsure
		}
	}
	if r.Junctors != nil {
		return m.junctors(c, b, top.start, end, 0, sp)
	}
	return program.Valid
}

// few is up to how many tags are compared with each other.
const few = 12

// Distinct reports whether no two tags are equal. It changes their order.
func Distinct(tags []uint64) bool {
	if len(tags) <= few {
		for i, t := range tags {
			if slices.Contains(tags[:i], t) {
				return false
			}
		}
		return true
	}
	slices.Sort(tags)
	for i := 1; i < len(tags); i++ {
		if tags[i-1] == tags[i] {
			return false
		}
	}
	return true
}

// tagged notes a value that distinguishes an element from others. It reports whether equal values
// are sure to have equal text.
func (m *Machine) tagged(top *frame, b []byte, start, end int, bit uint64) bool {
	if top.array && top.node.Checks.Rules.List == program.Keyed {
		// The element has ended, and its frame is still there.
		if b[start] != '{' {
			return false
		}
		m.tags = append(memory.RoomForOne(m.Account, m.tags), m.closed)
		return true
	}
	tag, sure := Tag(b[start:end], bit)
	if top.array {
		m.tags = append(memory.RoomForOne(m.Account, m.tags), tag)
	} else {
		top.tag += tag
	}
	return sure
}

// Tag returns a tag for a scalar, by which elements of lists are told apart, and whether it is sure
// that equal values have equal text.
func Tag(text []byte, key uint64) (tag uint64, sure bool) {
	switch c := text[0]; {
	case c == '"':
		sure = !slices.Contains(text, '\\')
	case c == '-' || c-'0' <= 9:
		_, sure = Whole(text)
		sure = sure && string(text) != "-0"
	default:
		sure = c != '{' && c != '['
	}
	return hash(text, key), sure
}

// hash returns a tag for a text. Texts with equal tags are compared by somebody else.
func hash(text []byte, seed uint64) uint64 {
	const prime = 0x9fb21c651e98df25
	h := seed*prime ^ uint64(len(text))
	for len(text) >= 8 {
		h = (h ^ binary.LittleEndian.Uint64(text)) * prime
		h ^= h >> 32
		text = text[8:]
	}
	for _, c := range text {
		h = (h ^ uint64(c)) * prime
	}
	return h ^ h>>29
}

// ValueEnd returns where the value at b[i] ends.
func ValueEnd(b []byte, i int) int {
	switch b[i] {
	case '"':
		i, _ = StringEnd(b, i+1)
		return i
	case '{', '[':
		return containerEnd(b, i)
	}
	for i < len(b) && b[i] > ' ' && b[i] != ',' && b[i] != '}' && b[i] != ']' {
		i++
	}
	return i
}
