package values

// NOTE: A result is read by Maker.scan, which is made like the machine simple of package walk. It
// calls nothing, so that its variables stay in registers, and returns where it needs a call. read
// makes the call and lets scan go on. scan does not ask whether the text ends, as zeros follow.
//
// The text is a result, or while the Maker is judging a document that was not walked (take.go). At
// a byte that JSON does not have there, scan returns readDoubt. In a result there is none.

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"strconv"

	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/program"
)

// An entry is a name or a value that was read.
type entry struct {
	// head has the kind of the entry from bit kindShift on, and below it the number that low
	// returns.
	head uint64
	// rest has the end of a text, an int64, the bits of a float64, or the number of members or
	// elements of a container.
	rest uint64
}

type entryKind uint8

const (
	entryText    entryKind = iota // a part of chunks.text
	entryLong                     // a part of the source
	entryEscaped                  // the same, with escapes
	entryField
	entryInt
	entryFloat
	entryObject
	entryArray
	entryTrue
	entryFalse
	entryNull
)

const kindShift = 56

//espalier:inline
func makeEntry(kind entryKind, low int, rest uint64) entry {
	return entry{uint64(kind)<<kindShift | uint64(low), rest}
}

//espalier:inline
func (e entry) kind() entryKind { return entryKind(e.head >> kindShift) }

// low returns the start of a text, or the index of a field in its node.
//
//espalier:inline
func (e entry) low() int { return int(e.head & (1<<kindShift - 1)) }

// An openContainer is a container whose end has not been read.
type openContainer struct {
	node    *program.Node // nil below the known part of a schema
	seen    uint64        // the bits of its declared fields
	entry   int
	cell    int32 // of the node, see Maker.Predicted
	array   bool
	naming  bool // the string that is being read is a name
	closing byte // its last byte
}

// A readNeed says why scan returns.
type readNeed uint8

const (
	readNothing  readNeed = iota // the value is complete
	readRoom                     // room in entries or open, for the value at the cursor
	readString                   // at the cursor
	readNumber                   // at the cursor
	readField                    // of the name at the cursor
	readDefaults                 // for the object that ends at the cursor
	readDoubt                    // about the byte at the cursor
)

// The places at which scan goes on.
const (
	readValue = iota
	readAfterString
	readAfter
	readFieldValue
)

// A cursor is the place at which scan returned.
type cursor struct {
	pos     int
	entries int // entries in use
	texts   int // bytes in use
	depth   int // open containers
	cell    int32
	node    *program.Node // of the value at pos
	field   *program.Field
}

// read notes the values in the text, whose root the node n governs. It reports whether it was in no
// doubt. A result leaves none.
func (m *Maker) read(n *program.Node) bool {
	m.cursor = cursor{pos: jsonwire.Blanks(m.src, 0), entries: 1, node: n}
	m.document.Elements.Node = n
	m.chunks.text = slices.Grow(m.chunks.text[:0], len(m.src))[:len(m.src)]
	if len(m.open) == 0 {
		m.open = make([]openContainer, 16)
		m.entries = make([]entry, 64)
	}
	m.entries[0], m.open[0] = entry{}, openContainer{array: true} // the value is its element
	m.defaults = defaults{}
	for place := readValue; ; {
		ok := true
		switch m.scan(place) {
		case readNothing:
			m.chunks.text = m.chunks.text[:m.cursor.texts]
			return true
		case readRoom:
			if m.cursor.entries+2 > len(m.entries) {
				m.entries = append(m.entries, make([]entry, len(m.entries))...)
			} else {
				m.open = append(m.open, make([]openContainer, len(m.open))...)
			}
			place = readValue
		case readString:
			ok = m.takeString()
			place = readAfterString
		case readNumber:
			end, kind, number := scanNumber(m.src, m.cursor.pos)
			ok = !m.judging || m.isNumber(end)
			if kind == entryFloat && math.IsInf(math.Float64frombits(number), 0) {
				ok = false
			}
			if kind == entryFloat || number > maxShared {
				m.chunks.numbers++
			}
			m.cursor.pos = end
			m.note(kind, 0, number)
			place = readAfter
		case readField:
			place, ok = m.member()
		case readDefaults:
			m.judging, m.defaults.source, m.defaults.end = false, m.src, m.cursor.pos
			place, ok = m.nextDefault()
		case readDoubt:
			ok = m.defaults.source != nil && m.cursor.pos == len(m.src)-Padding
			if ok {
				place, ok = m.nextDefault()
			}
		}
		if !ok {
			return false
		}
	}
}

//espalier:inline
func (m *Maker) note(kind entryKind, low int, rest uint64) {
	m.entries[m.cursor.entries] = makeEntry(kind, low, rest)
	m.cursor.entries++
}

// takeString notes the string at the cursor, up to its closing quote. It copies a short one. It
// reports whether the string is valid.
func (m *Maker) takeString() (ok bool) {
	from := m.cursor.pos + 1
	to, escaped, s := jsonwire.ScanString(m.src, from)
	if s != jsonwire.OK {
		return false
	}
	m.cursor.pos = to
	switch {
	case to-from >= longLength && escaped:
		m.note(entryEscaped, from, uint64(to))
	case to-from >= longLength:
		m.note(entryLong, from, uint64(to))
	default:
		at := m.cursor.texts
		if escaped {
			m.cursor.texts = len(jsonwire.AppendUnescaped(m.chunks.text[:at], m.src[from:to]))
		} else {
			m.cursor.texts += copy(m.chunks.text[at:], m.src[from:to])
		}
		m.note(entryText, at, uint64(m.cursor.texts))
	}
	return true
}

// member reads the name of a member, and what is before its value. It reports whether it has found
// nothing that is in doubt.
func (m *Maker) member() (place int, ok bool) {
	top := &m.open[m.cursor.depth]
	from := m.cursor.pos + 1
	end, escaped, s := jsonwire.ScanString(m.src, from)
	if m.src[from-1] != '"' || s != jsonwire.OK {
		return 0, false
	}
	name := m.src[from:end]
	if escaped {
		m.unescaped = jsonwire.AppendUnescaped(m.unescaped[:0], name)
		name = m.unescaped
	}
	if f := top.node.Find(name); f != nil {
		if len(name) <= m.NameBytes {
			m.Predicted[m.cursor.cell] = f // names of defaults may be longer
		}
		colon := jsonwire.Blanks(m.src, end+1)
		m.cursor.pos, m.cursor.field = colon+1, f
		return readFieldValue, m.src[colon] == ':'
	}
	m.cursor.node = unknownOf(top.node)
	if m.cursor.node == nil && m.judging {
		return 0, false
	}
	top.naming = true
	return readAfterString, m.takeString()
}

// scan reads on from a place, until it needs a call.
//
//espalier:nocalls
func (m *Maker) scan(place int) readNeed {
	var (
		src     = m.src
		entries = m.entries
		text    = m.chunks.text
		i       = m.cursor.pos
		at      = m.cursor.entries
		texts   = m.cursor.texts
		cell    = m.cursor.cell
		n       = m.cursor.node
		top     = &m.open[m.cursor.depth]
		f       *program.Field
		c       byte
	)
	switch place {
	case readAfterString:
		goto afterString
	case readAfter:
		goto after
	case readFieldValue:
		f = m.cursor.field
		goto field
	}

value: // that node n governs
	if at+2 > len(entries) || m.cursor.depth+1 == len(m.open) {
		m.cursor.leave(i, at, texts, cell, n)
		return readRoom
	}
	entries[top.entry].rest++
	c = src[i]
	for c <= ' ' {
		if !jsonwire.IsBlank(c) {
			goto doubt
		}
		i = jsonwire.PastBlank(src, i)
		c = src[i]
	}
	if m.judging && (n == nil || n.Types != program.Any && n.Types&program.FirstTypes[c] == 0) {
		goto doubt
	}
	if c == '"' {
		m.chunks.strings++
		goto str
	}
	if c == '{' || c == '[' {
		if m.judging && m.cursor.depth == MostDepth {
			goto doubt
		}
		top.cell = cell
		m.cursor.depth++
		top = &m.open[m.cursor.depth]
		top.node, top.seen, top.entry = n, 0, at
		top.array, top.naming, top.closing = c == '[', false, c+2
		entries[at] = entry{head: uint64(entryArray) << kindShift}
		if c == '{' {
			entries[at].head = uint64(entryObject) << kindShift
			if n != nil {
				cell = n.Cell
			}
		}
		at++
		i++
		c = src[i]
		for c <= ' ' {
			if !jsonwire.IsBlank(c) {
				goto doubt
			}
			i = jsonwire.PastBlank(src, i)
			c = src[i]
		}
		if c == '}' || c == ']' {
			goto end
		}
		if top.array {
			goto element
		}
		goto name
	}
	if c-'0' <= 9 {
		digits := jsonwire.Digits(binary.LittleEndian.Uint64(src[i : i+8]))
		next := src[i+digits]
		if digits > 7 || next == '.' || next|0x20 == 'e' {
			goto number
		}
		if c == '0' && digits > 1 {
			goto doubt
		}
		x := uint64(0)
		for _, c := range src[i : i+digits] {
			x = x*10 + uint64(c-'0')
		}
		if x > maxShared {
			m.chunks.numbers++
		}
		entries[at] = entry{uint64(entryInt) << kindShift, x}
		i += digits
	} else {
		kind := entryNull
		switch {
		case string(src[i:i+4]) == "true":
			kind = entryTrue
		case string(src[i:i+5]) == "false":
			kind = entryFalse
			i++
		case c == '-':
			goto number
		case m.judging || string(src[i:i+4]) != "null":
			goto doubt
		}
		entries[at] = entry{head: uint64(kind) << kindShift}
		i += len("true")
	}
	at++

after: // a value
	if m.cursor.depth == 0 {
		m.cursor.leave(i, at, texts, cell, nil)
		return readNothing
	}
	c = src[i]
	for c <= ' ' {
		if !jsonwire.IsBlank(c) {
			goto doubt
		}
		i = jsonwire.PastBlank(src, i)
		c = src[i]
	}
	if c != ',' {
		goto end
	}
	i++
	if top.array {
		goto element
	}
	c = src[i]
	for c <= ' ' {
		if !jsonwire.IsBlank(c) {
			goto doubt
		}
		i = jsonwire.PastBlank(src, i)
		c = src[i]
	}

name:
	if top.node == nil || len(top.node.Fields) == 0 {
		n = unknownOf(top.node)
		if c != '"' || n == nil && m.judging {
			goto doubt
		}
		top.naming = true
		goto str
	}
	f = m.Predicted[cell]
	if i < 0 || i > len(src)-16 {
		goto find
	}
	if (binary.LittleEndian.Uint64(src[i:i+8])^f.Head[0])&f.Mask[0]|
		(binary.LittleEndian.Uint64(src[i+8:i+16])^f.Head[1])&f.Mask[1] != 0 {
		goto find
	}
	if key := len(f.Key); key > 16 {
		if key > 32 || i+key > len(src) ||
			binary.LittleEndian.Uint64(src[i+key-16:i+key-8]) != f.Last[0] || binary.LittleEndian.Uint64(src[i+key-8:i+key]) != f.Last[1] {
			goto find
		}
	}
	i += len(f.Key)

field: // the value of a declared field
	top.seen |= f.Bit
	entries[at] = entry{head: uint64(entryField)<<kindShift | uint64(top.node.Index(f))}
	at++
	cell, n = f.Cell, f.Node
	goto value

element:
	n = elementsOf(top.node)
	goto value

str: // a string, or a name that is not declared, from its quote on
	{
		// The text is copied on the way, together with the bytes that follow it. No branch depends
		// on which of the two words the text ends in.
		from, to := i+1, texts
		for {
			if from < 0 || from > len(src)-16 || to < 0 || to > len(text)-16 {
				goto slowString
			}
			x, y := binary.LittleEndian.Uint64(src[from:from+8]), binary.LittleEndian.Uint64(src[from+8:from+16])
			binary.LittleEndian.PutUint64(text[to:to+8], x)
			binary.LittleEndian.PutUint64(text[to+8:to+16], y)
			x, y = jsonwire.Special(x), jsonwire.Special(y)
			if x|y != 0 {
				end := bits.TrailingZeros64(x) >> 3
				if x == 0 {
					end = 8 + bits.TrailingZeros64(y)>>3
				}
				from += end
				to += end
				break
			}
			from += 16
			to += 16
		}
		if src[from] != '"' || to-texts >= longLength {
			goto slowString
		}
		entries[at] = entry{uint64(texts), uint64(to)}
		at++
		i, texts = from, to
	}

afterString:
	i++
	c = src[i]
	if c <= ' ' && m.cursor.depth > 0 {
		for c <= ' ' {
			if !jsonwire.IsBlank(c) {
				goto doubt
			}
			i = jsonwire.PastBlank(src, i)
			c = src[i]
		}
	}
	if m.judging && top.naming != (c == ':') {
		goto doubt
	}
	if c != ':' {
		goto after
	}
	top.naming = false
	i++
	goto value

end: // of a container
	if c != top.closing {
		goto doubt
	}
	if m.judging && !top.array && top.node.Defaults > 0 {
		if top.node.Defaults > 64 {
			goto doubt
		}
		if top.node.Defaulted&^top.seen != 0 {
			m.cursor.leave(i, at, texts, cell, n)
			return readDefaults
		}
	}
	i++
	m.cursor.depth--
	top = &m.open[m.cursor.depth]
	cell = top.cell
	goto after

slowString:
	m.cursor.leave(i, at, texts, cell, n)
	return readString

number:
	m.cursor.leave(i, at, texts, cell, n)
	return readNumber

find:
	m.cursor.leave(i, at, texts, cell, n)
	return readField

doubt:
	m.cursor.leave(i, at, texts, cell, n)
	return readDoubt
}

// unknownOf returns the node of the members that the node n does not declare, or nil if there is none.
//
//espalier:inline
func unknownOf(n *program.Node) *program.Node {
	if n == nil || n.Unknown == nil {
		return nil
	}
	return n.Unknown.Node
}

// elementsOf returns the node of the elements of an array that the node n governs, or nil if there is
// none.
//
//espalier:inline
func elementsOf(n *program.Node) *program.Node {
	if n == nil {
		return nil
	}
	return n.Elements.Node
}

// leave stores the variables of scan.
//
//espalier:inline
func (c *cursor) leave(i, entries, texts int, cell int32, n *program.Node) {
	c.pos, c.entries, c.texts, c.cell, c.node = i, entries, texts, cell, n
}

// scanNumber scans the number at i. It is an integer if it fits int64, and else a float64, as in
// sigs.k8s.io/json.
func scanNumber(src []byte, i int) (end int, kind entryKind, number uint64) {
	const always = 18 // so many digits always fit
	from := i
	if src[i] == '-' {
		i++
	}
	for ; i < len(src) && src[i]-'0' <= 9; i++ {
		number = number*10 + uint64(src[i]-'0')
	}
	if c := jsonwire.At(src, i); i-from <= always && c != '.' && c|0x20 != 'e' {
		if src[from] == '-' {
			number = -number
		}
		return i, entryInt, number
	}
	end, class, _, _ := jsonwire.ScanNumber(src, from)
	if class == jsonwire.Integer {
		if n, err := strconv.ParseInt(string(src[from:end]), 10, 64); err == nil {
			return end, entryInt, uint64(n)
		}
	}
	x, _ := strconv.ParseFloat(string(src[from:end]), 64)
	return end, entryFloat, math.Float64bits(x)
}
