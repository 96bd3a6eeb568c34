package decoder

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"

	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/program"
)

// An openContainer is one that was not read to its end.
type openContainer struct {
	node  *program.Node // nil below what the program knows
	entry int
	cell  int32 // as in the walker
	array bool
}

// An entry is a name or a value that was read.
type entry struct {
	// head has the kind of the entry from kindShift on, and below that what low says.
	head uint64
	// rest is where a text ends, an int64, the bits of a float64, or how many members or
	// elements a container has.
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

func makeEntry(kind entryKind, low int, rest uint64) entry {
	return entry{uint64(kind)<<kindShift | uint64(low), rest}
}

func (e entry) kind() entryKind { return entryKind(e.head >> kindShift) }

// low is where a text starts, which of the fields of its node a name is, or the number of an
// object's node plus one: 0 is below what the program knows.
func (e entry) low() int { return int(e.head & (1<<kindShift - 1)) }

// read notes what is in the text, whose root node n governs.
func (b *builder) read(n *program.Node) {
	var (
		src     = b.src
		i       int
		from    int
		escaped bool
		kind    entryKind
		number  uint64
		x, y    uint64
		to      []byte
		c       byte
		f       *program.Field
		o       *openContainer

		// The innermost open container.
		in    *program.Node // nil below what the program knows
		at    int           // of its entry
		cell  int32         // as in the walker
		array bool
	)
	b.entries, b.text = append(b.entries[:0], entry{}), b.text[:0]

value: // that node n governs
	b.entries[at].rest++
	c = src[i]
	if c <= ' ' {
		i = jsonwire.Blanks(src, i)
		c = src[i]
	}
	switch c {
	case '"':
		b.strings++
		goto str
	case '{', '[':
		o = b.push()
		o.node, o.entry, o.cell, o.array = in, at, cell, array
		in, at, array = n, len(b.entries), c == '['
		kind, number = entryObject, 0
		if array {
			kind = entryArray
		} else if n != nil {
			cell, number = n.Cell, uint64(n.ID)+1
		}
		b.entries = append(b.entries, makeEntry(kind, int(number), 0))
		i++
		c = src[i]
		if c <= ' ' {
			i = jsonwire.Blanks(src, i)
			c = src[i]
		}
		if c == '}' || c == ']' {
			goto end
		}
		if array {
			goto element
		}
		goto name
	case 't':
		kind, i = entryTrue, i+len("true")
	case 'f':
		kind, i = entryFalse, i+len("false")
	case 'n':
		kind, i = entryNull, i+len("null")
	default:
		i, kind, number = scanNumber(src, i)
		if kind == entryFloat || number > maxShared {
			b.numbers++
		}
	}
	b.entries = append(b.entries, makeEntry(kind, 0, number))

after: // a value
	c = jsonwire.At(src, i)
	if c <= ' ' {
		i = jsonwire.Blanks(src, i)
		c = jsonwire.At(src, i)
	}
	if c != ',' {
		goto end
	}
	i++
	if array {
		goto element
	}
	if src[i] <= ' ' {
		i = jsonwire.Blanks(src, i)
	}

name:
	n = nil
	if in == nil {
		goto str
	}
	f = b.predicted[cell]
	if i+16 <= len(src) &&
		(binary.LittleEndian.Uint64(src[i:])^f.Head[0])&f.Mask[0]|
			(binary.LittleEndian.Uint64(src[i+8:])^f.Head[1])&f.Mask[1] == 0 &&
		(len(f.Key) <= 16 || i+len(f.Key) <= len(src) && string(src[i+16:i+len(f.Key)]) == f.Key[16:]) {
		i += len(f.Key)
		goto field
	}
	from, escaped, _ = jsonwire.ScanString(src, i+1)
	if f = b.find(in, src[i+1:from], escaped); f != nil {
		b.predicted[cell] = f
		i = jsonwire.Blanks(src, from+1) + 1
		goto field
	}
	if in.Unknown != nil {
		n = in.Unknown.Node
	}

str: // a string, or a name that is not declared
	i++
	from = i
	if i+16 <= len(src) && cap(b.text)-len(b.text) >= 16 {
		// Most are shorter, and copied with what stands behind them. There is one bit for
		// each byte, so that nothing branches on where the string ends.
		to = b.text[len(b.text) : len(b.text)+16]
		x, y = binary.LittleEndian.Uint64(src[i:]), binary.LittleEndian.Uint64(src[i+8:])
		binary.LittleEndian.PutUint64(to, x)
		binary.LittleEndian.PutUint64(to[8:], y)
		x = jsonwire.Special(x)*gatherTops>>56 | jsonwire.Special(y)*gatherTops>>56<<8
		i += bits.TrailingZeros64(x)
		if x != 0 && src[i] == '"' {
			b.entries = append(b.entries, entry{uint64(len(b.text)), uint64(len(b.text) + i - from)})
			b.text = b.text[:len(b.text)+i-from]
			goto gotString
		}
	}
	i, escaped, _ = jsonwire.ScanString(src, from)
	b.take(from, i, escaped)

gotString:
	i++
	c = jsonwire.At(src, i)
	if c <= ' ' {
		i = jsonwire.Blanks(src, i)
		c = jsonwire.At(src, i)
	}
	if c != ':' {
		goto after
	}
	i++
	goto value

field:
	b.entries = append(b.entries, makeEntry(entryField, in.Index(f), 0))
	cell, n = f.Cell, f.Node
	goto value

element:
	n = nil
	if in != nil {
		n = in.Elements.Node
	}
	goto value

end: // of a container
	if len(b.open) == 0 {
		return
	}
	i++
	o = &b.open[len(b.open)-1]
	in, at, cell, array = o.node, o.entry, o.cell, o.array
	b.open = b.open[:len(b.open)-1]
	goto after
}

// take notes a text of the source, and copies it if it is short.
func (b *builder) take(from, to int, escaped bool) {
	kind := entryText
	switch {
	case to-from >= longLength && escaped:
		kind = entryEscaped
	case to-from >= longLength:
		kind = entryLong
	default:
		at := len(b.text)
		if escaped {
			b.text = jsonwire.AppendUnescaped(b.text, b.src[from:to])
		} else {
			b.text = append(b.text, b.src[from:to]...)
		}
		from, to = at, len(b.text)
	}
	b.entries = append(b.entries, makeEntry(kind, from, uint64(to)))
}

// gatherTops multiplies a word to have the top bits of its bytes in the top byte.
const gatherTops = 0x0002040810204081

// push makes room for a container on the stack. To fill a struct and copy it is slower, as
// the processor waits for its parts.
func (b *builder) push() *openContainer {
	n := len(b.open)
	if n == cap(b.open) {
		b.open = append(b.open, openContainer{})
	}
	b.open = b.open[:n+1]
	return &b.open[n]
}

func (b *builder) find(n *program.Node, name []byte, escaped bool) *program.Field {
	if escaped {
		b.unescaped = jsonwire.AppendUnescaped(b.unescaped[:0], name)
		name = b.unescaped
	}
	return n.Find(name)
}

// scanNumber scans the number at i: an integer that fits int64 is one, and all else is a
// float64, as in sigs.k8s.io/json.
func scanNumber(src []byte, i int) (end int, kind entryKind, number uint64) {
	const always = 18 // so many digits fit
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
