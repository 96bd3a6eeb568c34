package decoder

// NOTE: walker.skip is the second machine: it validates a value that no schema
// looks into, because it is dropped or kept as a whole. It is arranged as
// walker.machine is (see walk.go), with a stack of one bit for each container.

import (
	"encoding/binary"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/kernel"
)

// A skipper is the state of walker.skip, and what it shares with machine: the names
// that were seen in open objects.
type skipper struct {
	skipAt   state
	depth    int      // open containers
	stack    uint64   // the innermost up to 64 of them, 1 is an object
	outer    []uint64 // the others
	nameFrom int
	nameEsc  bool
	long     bool // the last string that was skipped, or what the window had of it, was long: the next one will be, too

	skimmer
	tracked
}

func (w *skipper) start() {
	w.skipAt, w.depth, w.outer = atValue, 0, w.outer[:0]
	w.tracked.start()
}

// longString is from how many bytes on a string is scanned by a kernel at once, and not only behind its first bytes.
const longString = 64

// skipLong is skip for a value that is taken for a long string. If that is not closed as far as the kernel gets, it
// goes on in skip.
func (w *walker) skipLong(b []byte, i int) (end int, closed bool) {
	if jsonwire.At(b, i) <= ' ' {
		i = jsonwire.Blanks(b, i)
	}
	if jsonwire.At(b, i) != '"' {
		return i, false
	}
	end, _, closed = kernel.ScanString(b[i+1:])
	size := end + len(`""`)
	w.long = size > longString
	if closed {
		w.small = size < smallValue
		return i + size, true
	}
	w.skipAt = inString
	return i + 1 + end, false
}

// skip validates the value at i, or the rest of it after a cut, and returns the
// index behind it. base is how many containers are open around it. With track,
// names that repeat within one of its objects are found.
func (w *walker) skip(b []byte, i, base int, track bool) (int, status) {
	if w.long && w.skipAt == atValue && w.depth == 0 && kernel.Strings {
		var closed bool
		if i, closed = w.skipLong(b, i); closed {
			return i, done
		}
	}
	var (
		stack = w.stack
		depth = w.depth
		at    state
		end   int
		s     jsonwire.Status
		t     status
		c     byte
		from  = i
		ahead = maxInt // from where on skim is of use
		first bool
		most  = w.plainSkippable(base)
	)
	if kernel.Available && w.limits.skimmable() {
		ahead = i
		if w.small {
			ahead += smallValue
		}
	}
	if w.skipAt == atValue && most > 0 && i < ahead {
		goto plain
	}

resume:
	switch w.skipAt {
	case inString:
		goto str
	case atFirstElement:
		goto firstElement
	case atFirstName:
		goto firstName
	case atName:
		goto name
	case inName:
		goto restOfName
	case atColon:
		goto colon
	case afterMember, afterElement:
		goto behind
	}

value:
	c = jsonwire.At(b, i)
	if c <= ' ' {
		i = jsonwire.Blanks(b, i)
		c = jsonwire.At(b, i)
	}
	switch c {
	case '"':
		i++
		if i >= 0 && i <= len(b)-17 {
			i += jsonwire.Simple(binary.LittleEndian.Uint64(b[i:i+8]), binary.LittleEndian.Uint64(b[i+8:i+16]))
			if b[i] == '"' {
				i++
				goto after
			}
		}
		goto str
	case '{', '[':
		if depth >= w.limits.Depth-base {
			w.overflew = errors.LimitDepth
			at, t = atValue, overflow
			goto stopped
		}
		if depth&63 == 0 && depth > 0 {
			w.outer = append(w.outer, stack)
		}
		depth++
		stack <<= 1
		i++
		if c == '[' {
			if track {
				w.openArray()
			}
			if kernel.Available && i >= ahead {
				first = true
				goto skim
			}
			goto firstElement
		}
		stack |= 1
		if track {
			w.openObject()
		}
		if kernel.Available && i >= ahead {
			first = true
			goto skim
		}
		goto firstName
	case '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if end = shortInteger(b, i); end > 0 && end-i <= w.limits.NumberBytes {
			i = end
			goto after
		}
		fallthrough
	case '-', '0':
		end, t = w.number(b, i)
		if t == done {
			i = end
			goto after
		}
		at = atValue
		if t == bad {
			i = end
		}
		goto stopped
	case 't':
		end, s = jsonwire.ScanLiteral(b, i, "true")
	case 'f':
		end, s = jsonwire.ScanLiteral(b, i, "false")
	case 'n':
		end, s = jsonwire.ScanLiteral(b, i, "null")
	default:
		at = atValue
		goto stop
	}
	if s == jsonwire.OK {
		i = end
		goto after
	}
	at = atValue
	if s == jsonwire.Cut {
		goto suspend
	}
	i = end
	goto fault

str:
	i, _, s = jsonwire.ScanString(b, i)
	if s == jsonwire.OK {
		i++
		goto after
	}
	at = inString
	if s == jsonwire.Cut {
		goto suspend
	}
	goto fault

after: // a value has ended
	if depth == 0 {
		w.skipAt, w.depth = atValue, 0
		w.small = i-from < smallValue
		if b[from] <= ' ' {
			from = jsonwire.Blanks(b, from)
		}
		if b[from] == '"' {
			w.long = i-from > longString
		}
		return i, done
	}
	if kernel.Available && i >= ahead {
		first = false
		goto skim
	}
	if depth < most {
		w.skipAt = afterElement
		goto plain
	}

behind:
	c = jsonwire.At(b, i)
	if c <= ' ' {
		i = jsonwire.Blanks(b, i)
		c = jsonwire.At(b, i)
	}
	if c == ',' {
		i++
		if stack&1 != 0 {
			goto name
		}
		if track {
			w.nextElement()
		}
		goto value
	}
	if stack&1 != 0 {
		if c == '}' {
			goto closeObject
		}
		at = afterMember
	} else {
		if c == ']' {
			goto closeArray
		}
		at = afterElement
	}
	goto stop

firstElement:
	c = jsonwire.At(b, i)
	if c <= ' ' {
		i = jsonwire.Blanks(b, i)
		c = jsonwire.At(b, i)
	}
	if c == ']' {
		goto closeArray
	}
	if i < len(b) {
		goto value
	}
	at = atFirstElement
	goto suspend

firstName:
	c = jsonwire.At(b, i)
	if c <= ' ' {
		i = jsonwire.Blanks(b, i)
		c = jsonwire.At(b, i)
	}
	if c == '"' {
		goto readName
	}
	if c == '}' {
		goto closeObject
	}
	at = atFirstName
	goto stop

name:
	c = jsonwire.At(b, i)
	if c <= ' ' {
		i = jsonwire.Blanks(b, i)
		c = jsonwire.At(b, i)
	}
	if c != '"' {
		at = atName
		goto stop
	}

readName:
	w.nameFrom, w.nameEsc = i, false
	i++
	if i >= 0 && i <= len(b)-17 {
		i += jsonwire.Simple(binary.LittleEndian.Uint64(b[i:i+8]), binary.LittleEndian.Uint64(b[i+8:i+16]))
		if b[i] == '"' {
			s = jsonwire.OK
			goto endOfName
		}
	}

restOfName:
	{
		var esc bool
		i, esc, s = jsonwire.ScanString(b, i)
		w.nameEsc = w.nameEsc || esc
	}

endOfName:
	if i-w.nameFrom-1 > w.limits.NameBytes {
		w.overflew = errors.LimitNameBytes
		i, at, t = w.nameFrom, atName, overflow
		goto stopped
	}
	if s != jsonwire.OK {
		at = inName
		if s == jsonwire.Bad {
			goto fault
		}
		goto suspend
	}
	if track {
		w.addMember(b, w.nameFrom+1, i, w.nameEsc)
	}
	i++

colon:
	c = jsonwire.At(b, i)
	if c <= ' ' {
		i = jsonwire.Blanks(b, i)
		c = jsonwire.At(b, i)
	}
	if c == ':' {
		i++
		goto value
	}
	at = atColon
	goto stop

closeObject:
	if track && w.closeObject() {
		return i, repeated
	}
	goto pop

closeArray:
	if track {
		w.closeArray()
	}

pop:
	i++
	depth--
	stack >>= 1
	if depth&63 == 0 && depth > 0 {
		stack = w.outer[len(w.outer)-1]
		w.outer = w.outer[:len(w.outer)-1]
	}
	goto after

plain: // at a value, or behind one
	w.stack, w.depth = stack, depth
	i = w.plainSkip(b, i, most, ahead, track)
	stack, depth = w.stack, w.depth
	if depth == 0 && w.skipAt == afterElement {
		goto after
	}
	if kernel.Available && i >= ahead && (w.skipAt == afterElement || w.skipAt == afterMember) {
		first = false
		goto skim
	}
	goto resume

skim: // behind a value, or at the first one of a container
	w.stack, w.depth = stack, depth
	end, t = w.skim(b, i, base, first, track)
	first = first && end == i
	i, stack, depth, ahead = end, w.stack, w.depth, w.later
	switch {
	case t == repeated:
		return i, repeated
	case t == done || !first:
		goto after
	case stack&1 != 0:
		goto firstName
	}
	goto firstElement

stopped:
	if t == cut {
		goto suspend
	}
	w.skipAt, w.stack, w.depth = at, stack, depth
	return i, t

stop:
	if i >= len(b) {
		goto suspend
	}

fault:
	w.skipAt, w.stack, w.depth = at, stack, depth
	return i, bad

suspend:
	w.skipAt, w.stack, w.depth = at, stack, depth
	return i, cut
}

const maxShortInteger = 18

// shortInteger returns the index behind the integer at i, which starts with a
// digit but not with 0, if it is short, positive and whole; or else 0.
func shortInteger(b []byte, i int) int {
	end := i + 1
	for end < len(b) && b[end]-'0' <= 9 {
		end++
	}
	if end-i <= maxShortInteger && end < len(b) && b[end] != '.' && b[end]|0x20 != 'e' {
		return end
	}
	return 0
}

// number validates the number at i. With bad, the index is that of the fault;
// a number beyond float64 is one at its start.
func (w *walker) number(b []byte, i int) (end int, t status) {
	end, kind, whole, s := jsonwire.ScanNumber(b, i)
	if end-i > w.limits.NumberBytes {
		w.overflew = errors.LimitNumberBytes
		return end, overflow
	}
	switch {
	case s == jsonwire.Bad:
		return end, bad
	case s == jsonwire.Cut && !w.eof:
		return end, cut
	case !whole:
		return end, bad
	}
	w.oddNumber = w.oddNumber || jsonwire.IsOddNumber(b[i:end], kind)
	if (kind == jsonwire.Exponent || end-i > 300) && !jsonwire.FitsFloat64(b[i:end]) {
		w.outOfRange = true
		return i, bad
	}
	return end, done
}

func isInt64(lit []byte) bool {
	_, kind, _, _ := jsonwire.ScanNumber(lit, 0)
	return jsonwire.IsInt64(lit, kind)
}
