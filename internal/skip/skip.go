// Package skip validates a JSON value that no schema looks into, because it is
// dropped or kept whole, and finds where it ends.
//
// A Skipper is the second machine of the decoder; package walk has the first. It
// knows the grammar of RFC 8259 and nothing of schemas, and gets the window of the
// document as an argument. It adds the names in the value to a names.Stack, and
// asks its Reporter what to do where one repeats.
package skip

// NOTE: how this package is arranged. Skip is a machine of labels and gotos, like
// Walker.machine: each label is a position in the grammar, and a stack of one bit for
// each open container says what the container is. Skip can stop at any byte. At a byte
// that a label does not expect it jumps to stop: within the window that is a fault, and
// at its end Skip is to suspend. Then s.at is the label at which the next call goes on,
// from resume. What a call has returned decides at stopped.
//
//	firstName -- } --> closeObject --> pop <-- closeArray <- ] - firstElement
//	    |                   ^           |           ^                 |
//	    "                   }           v           ]                 |
//	    v                   |         after         |                 |
//	readName <-- name <-----+--------- afterValue --+                 |
//	    |           ,                       |                         |
//	restOfName                              ,                         |
//	endOfName                               |                         |
//	    |                                   v                         |
//	  colon ----------------------------> value <---------------------+
//
// A value goes on at firstName, at firstElement, or at after, through str for the rest
// of a string. After the last container closes, after returns.
//
// Two helpers run ahead of Skip, and judge nothing. They stop at whatever is unusual,
// invalid or incomplete, and leave the state as if the window had ended there, so that
// Skip goes on from it. At a value, or after one, it jumps to simple: skipSimple calls
// nothing. In a container of some size, where there are kernels, it jumps to tokens:
// skipTokens finds all tokens of a block and checks the grammar on 64 of them at a time;
// then trackBlock notes the block's names (batch.go).

import (
	"encoding/binary"
	"math"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/kernel"
	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/names"
	"github.com/espalier-dev/espalier/internal/syntax"
)

// A Status says how a machine ended.
type Status uint8

const (
	Done     Status = iota // the value is complete
	Cut                    // the window ended first
	Bad                    // there is a syntax error
	Repeated               // a name was found twice in an object
	Overflow               // a limit was passed
)

// A state is a label of Skip at which it can go on.
type state uint8

const (
	atValue state = iota
	inString
	atFirstElement
	atFirstName
	atName
	inName
	atColon
	afterValue
)

// Bounds are the limits of what is skipped.
type Bounds struct {
	Depth       int // open containers, with those around the value
	NameBytes   int // of one name, as it is written
	NumberBytes int // of one literal
}

// A Reporter is told of objects in which a name repeats.
type Reporter interface {
	// Repeats is called before the innermost object of the Skipper's names closes,
	// whose names from first on have repetitions. If it returns true, Skip stops
	// with Repeated.
	Repeats(first int) (stop bool)
}

// A Skipper skips values, one after the other. The zero Skipper with Bounds and
// Names is ready to use. It must not be used by several goroutines at a time.
type Skipper struct {
	Bounds
	// Names are the names of all open objects: those of the walk, then those of the
	// value. Without a Reporter, the first name that repeats ends Skip.
	Names    names.Stack
	Reporter Reporter
	// EOF says that nothing comes after the window.
	EOF bool

	// What was found since Start.
	OddNumber  bool         // there is a number that the API server may write otherwise
	OutOfRange bool         // with Bad: a number is beyond float64
	Overflew   errors.Limit // with Overflow

	at       state
	depth    int      // open containers of the value
	stack    uint64   // the innermost up to 64 of them; 1 is an object
	outer    []uint64 // the others
	nameFrom int      // where the current name starts
	nameEsc  bool     // the current name has escapes
	long     bool     // the last string was long, so the next one is expected to be

	tokens *kernel.Tokens
	batch  *batch
	later  int  // skipTokens is of no use before this index of the window
	small  bool // the last container was small, so the next one is expected to be
}

// Start prepares for another value, and forgets all names.
func (s *Skipper) Start() {
	s.at, s.depth, s.outer = atValue, 0, s.outer[:0]
	s.OddNumber, s.OutOfRange = false, false
	s.Names.Start()
}

// OpenContainers returns how many containers of the value are open.
func (s *Skipper) OpenContainers() int { return s.depth }

// TokenBytes returns the memory of the kernels' buffers. They are kept as long as
// the Skipper.
func (s *Skipper) TokenBytes() int {
	if s.tokens == nil {
		return 0
	}
	return memory.SizeOf[kernel.Tokens]() + memory.SizeOf[batch]()
}

// Needed returns from where on the window is needed to go on at i, after Cut. A name
// must be in the window as a whole.
func (s *Skipper) Needed(i int) int {
	if s.at == inName {
		return s.nameFrom
	}
	return i
}

// Leave says that the first n bytes leave the window.
func (s *Skipper) Leave(n int) { s.nameFrom -= n }

// expectations are what the grammar expects in each state.
var expectations = [...]syntax.Expectation{
	atValue:        syntax.Value,
	inString:       syntax.InString,
	atFirstElement: syntax.FirstElement,
	atFirstName:    syntax.FirstName,
	atName:         syntax.Name,
	inName:         syntax.InString,
	atColon:        syntax.Colon,
	afterValue:     syntax.Comma,
}

// Expects returns what the grammar expects where Skip has stopped, and in which
// container of the value. The container is Root outside of all.
func (s *Skipper) Expects() (in syntax.Container, expect syntax.Expectation) {
	switch {
	case s.depth == 0:
		in = syntax.Root
	case s.stack&1 != 0:
		in = syntax.Object
	default:
		in = syntax.Array
	}
	return in, expectations[s.at]
}

// Path returns the path from the value to where Skip has stopped in the window, for
// package fieldpath: its length and its segments. It needs names that were
// collected. A name that is not complete is part of the path, as far as it goes.
func (s *Skipper) Path(b []byte, i int) (depth int, segment func(i int) (name []byte, index int)) {
	n := &s.Names
	depth = len(n.Levels)
	var leaf *names.Name
	if depth > 0 && n.Levels[depth-1].Index < 0 {
		switch {
		case s.at == inName:
			n.Add(b, s.nameFrom+1, i, true)
		case s.at == atName || n.Levels[depth-1].Names == len(n.Names):
			depth-- // no name yet
		}
		if len(n.Names) > 0 {
			leaf = &n.Names[len(n.Names)-1]
		}
	}
	return depth, n.Segment(b, leaf)
}

// closeObject closes the innermost object. It reports whether Skip must stop, as a
// name repeats.
func (s *Skipper) closeObject(b []byte) (stop bool) {
	n := &s.Names
	if n.ObjectRepeats(b) {
		stop = s.Reporter == nil || s.Reporter.Repeats(n.Levels[len(n.Levels)-1].Names)
	}
	n.CloseObject()
	return stop
}

// longString is the length in bytes from which on a string is long: a kernel scans
// it from its first byte on.
const longString = 64

// skipLong skips a value that is expected to be a long string. Where the kernel does
// not find its end, Skip goes on.
func (s *Skipper) skipLong(b []byte, i int) (end int, closed bool) {
	if jsonwire.At(b, i) <= ' ' {
		i = jsonwire.Blanks(b, i)
	}
	if jsonwire.At(b, i) != '"' {
		return i, false
	}
	end, _, closed = kernel.ScanString(b[i+1:])
	size := end + len(`""`)
	s.long = size > longString
	if closed {
		return i + size, true
	}
	s.at = inString
	return i + 1 + end, false
}

// opens reports whether a container opens at i, after one blank at most.
//
//espalier:inline
func opens(b []byte, i int) bool {
	c := jsonwire.At(b, i)
	if c == ' ' {
		c = jsonwire.At(b, i+1)
	}
	return c == '{' || c == '['
}

// Skip validates the value at i, or the rest of it after Cut, and returns the index
// after it. base is the number of open containers around the value. With track,
// the names in it are added to s.Names, to find those that repeat in an object.
func (s *Skipper) Skip(b []byte, i, base int, track bool) (int, Status) {
	// Values that follow each other are alike. After a long string the kernel for strings
	// is tried first; after a small container, skipTokens only from SmallValue bytes on, up
	// to where skipSimple goes. That also passes what is no container. ahead is the index
	// from which on skipTokens is of use, and most is how many open containers skipSimple
	// may have, also those that were open at a Cut. Where it may not run at all, that is 0,
	// and without kernels ahead is never reached.
	if s.long && s.at == atValue && s.depth == 0 && kernel.Strings {
		var closed bool
		if i, closed = s.skipLong(b, i); closed {
			return i, Done
		}
	}
	var (
		stack = s.stack
		depth = s.depth
		at    state
		end   int
		scan  jsonwire.Status
		st    Status
		c     byte
		from  = i
		ahead = math.MaxInt // from where on skipTokens is of use
		first bool
		most  = s.simpleDepth(base)
	)
	if kernel.Available && s.allowsTokens() {
		ahead = i
		if s.small || s.at == atValue && !opens(b, i) {
			ahead += smallValue(track)
		}
	}
	if s.at == atValue && depth < most && i < ahead {
		goto simple
	}

resume:
	switch s.at {
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
	case afterValue:
		goto afterValue
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
			i += jsonwire.Simple(
				binary.LittleEndian.Uint64(b[i:i+8]), binary.LittleEndian.Uint64(b[i+8:i+16]))
			if b[i] == '"' {
				i++
				goto after
			}
		}
		goto str
	case '{', '[':
		if depth >= s.Depth-base {
			s.Overflew = errors.LimitDepth
			at, st = atValue, Overflow
			goto stopped
		}
		if depth&63 == 0 && depth > 0 {
			s.outer = append(s.outer, stack)
		}
		depth++
		stack <<= 1
		i++
		if c == '[' {
			if track {
				s.Names.OpenArray()
			}
			if kernel.Available && i >= ahead {
				first = true
				goto tokens
			}
			goto firstElement
		}
		stack |= 1
		if track {
			s.Names.OpenObject()
		}
		if kernel.Available && i >= ahead {
			first = true
			goto tokens
		}
		goto firstName
	case '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if end = jsonwire.ShortInteger(b, i); end > 0 && end-i <= s.NumberBytes {
			i = end
			goto after
		}
		fallthrough
	case '-', '0':
		end, st = s.Number(b, i)
		if st == Done {
			i = end
			goto after
		}
		at = atValue
		if st == Bad {
			i = end
		}
		goto stopped
	case 't':
		end, scan = jsonwire.ScanLiteral(b, i, "true")
	case 'f':
		end, scan = jsonwire.ScanLiteral(b, i, "false")
	case 'n':
		end, scan = jsonwire.ScanLiteral(b, i, "null")
	default:
		at = atValue
		goto stop
	}
	if scan == jsonwire.OK {
		i = end
		goto after
	}
	at = atValue
	if scan == jsonwire.Cut {
		goto suspend
	}
	i = end
	goto fault

str:
	i, _, scan = jsonwire.ScanString(b, i)
	if scan == jsonwire.OK {
		i++
		goto after
	}
	at = inString
	if scan == jsonwire.Cut {
		goto suspend
	}
	goto fault

after: // a value has ended
	if depth == 0 {
		s.at, s.depth = atValue, 0
		if b[from] <= ' ' {
			from = jsonwire.Blanks(b, from)
		}
		switch b[from] {
		case '"':
			s.long = i-from > longString
		case '{', '[':
			s.small = i-from < smallValue(track)
		}
		return i, Done
	}
	if kernel.Available && i >= ahead {
		first = false
		goto tokens
	}
	if depth < most {
		s.at = afterValue
		goto simple
	}

afterValue:
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
			s.Names.NextElement()
		}
		goto value
	}
	if stack&1 != 0 {
		if c == '}' {
			goto closeObject
		}
	} else if c == ']' {
		goto closeArray
	}
	at = afterValue
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
	s.nameFrom, s.nameEsc = i, false
	i++
	if i >= 0 && i <= len(b)-17 {
		i += jsonwire.Simple(
			binary.LittleEndian.Uint64(b[i:i+8]), binary.LittleEndian.Uint64(b[i+8:i+16]))
		if b[i] == '"' {
			scan = jsonwire.OK
			goto endOfName
		}
	}

restOfName:
	{
		var esc bool
		i, esc, scan = jsonwire.ScanString(b, i)
		s.nameEsc = s.nameEsc || esc
	}

endOfName:
	if i-s.nameFrom-1 > s.NameBytes {
		s.Overflew = errors.LimitNameBytes
		i, at, st = s.nameFrom, atName, Overflow
		goto stopped
	}
	if scan != jsonwire.OK {
		at = inName
		if scan == jsonwire.Bad {
			goto fault
		}
		goto suspend
	}
	if track {
		s.Names.AddMember(b, s.nameFrom+1, i, s.nameEsc)
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
	if track && s.closeObject(b) {
		return i, Repeated
	}
	goto pop

closeArray:
	if track {
		s.Names.CloseArray()
	}

pop:
	i++
	depth--
	stack >>= 1
	if depth&63 == 0 && depth > 0 {
		stack = s.outer[len(s.outer)-1]
		s.outer = s.outer[:len(s.outer)-1]
	}
	goto after

simple: // at a value, or after one
	s.stack, s.depth = stack, depth
	i = s.skipSimple(b, i, most, ahead, track)
	stack, depth = s.stack, s.depth
	if depth == 0 && s.at == afterValue {
		goto after
	}
	if kernel.Available && i >= ahead && s.at == afterValue {
		first = false
		goto tokens
	}
	goto resume

tokens: // after a value, or at the first one of a container
	s.stack, s.depth = stack, depth
	end, st = s.skipTokens(b, i, base, first, track)
	first = first && end == i
	i, stack, depth, ahead = end, s.stack, s.depth, s.later
	switch {
	case st == Repeated:
		return i, Repeated
	case st == Done || !first:
		goto after
	case stack&1 != 0:
		goto firstName
	}
	goto firstElement

stopped:
	if st == Cut {
		goto suspend
	}
	s.at, s.stack, s.depth = at, stack, depth
	return i, st

stop:
	if i >= len(b) {
		goto suspend
	}

fault:
	s.at, s.stack, s.depth = at, stack, depth
	return i, Bad

suspend:
	s.at, s.stack, s.depth = at, stack, depth
	return i, Cut
}

// Number validates the number at i, and returns the index after it. With Bad, the
// index is that of the fault. The fault of a number beyond float64 is at its
// start, and sets s.OutOfRange.
func (s *Skipper) Number(b []byte, i int) (end int, st Status) {
	end, kind, whole, scan := jsonwire.ScanNumber(b, i)
	if end-i > s.NumberBytes {
		s.Overflew = errors.LimitNumberBytes
		return end, Overflow
	}
	switch {
	case scan == jsonwire.Bad:
		return end, Bad
	case scan == jsonwire.Cut && !s.EOF:
		return end, Cut
	case !whole:
		return end, Bad
	}
	s.OddNumber = s.OddNumber || jsonwire.IsOddNumber(b[i:end], kind)
	if (kind == jsonwire.Exponent || end-i > 300) && !jsonwire.FitsFloat64(b[i:end]) {
		s.OutOfRange = true
		return i, Bad
	}
	return end, Done
}
