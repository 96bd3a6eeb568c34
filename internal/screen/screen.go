// Package screen tells which objects are surely valid. It looks once at the bytes of a decoded
// object, by the rules that package schema has compiled into its program, and allocates nothing. It
// is for objects of which the walk was not sure, because it does not see values below anyOf, oneOf,
// allOf and not, or has looked at a member that was dropped. If the screen is not sure, either, the
// program's Validator decides, and has the errors.
//
// A screen may doubt too much, never too little.
//
// The object is the result of a decoder: well-formed JSON in which no name is repeated. The screen
// relies on that. It goes over the nodes of the walk.
package screen

import (
	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/program"
)

// A Machine runs over one object after the other. It keeps its memory from object to object. It must
// not be used by several goroutines at the same time.
type Machine struct {
	Account *memory.Account // that is charged for memory, or nil

	frames  []frame
	tags    []uint64 // of the elements in open arrays that must differ
	closed  uint64   // the tag of the element that was closed last
	scratch []byte
	left    int // bytes that may still be looked at again
}

// Held returns how many bytes of memory the machine holds.
func (m *Machine) Held() int {
	return memory.Held(m.frames) + memory.Held(m.tags) + cap(m.scratch)
}

// factor bounds how many bytes are looked at again, for each byte of an object.
const factor = 64

func (m *Machine) start(object []byte) {
	if m.frames == nil {
		m.frames = make([]frame, 16)
	}
	m.left = factor * (len(object) + 1024)
	m.tags = m.tags[:0]
}

// IsValid reports whether an object of the program is surely valid.
func (m *Machine) IsValid(p *program.Program, object []byte, as program.Request) bool {
	m.start(object)
	var skipped uint64
	if p.Root.Checks != nil && as != program.StatusUpdate {
		skipped = p.Root.Checks.Skip
	}
	return m.run(object, 0, p.Root, 0, skipped) == program.Valid
}

// Passes reports whether a value of a node is surely valid.
func (m *Machine) Passes(n *program.Node, value []byte) bool {
	m.start(value)
	return m.run(value, 0, n, 0, 0) == program.Valid
}

// has reports whether the object at b[i] has a member.
func (m *Machine) has(b []byte, i int, name string) bool {
	for i = jsonwire.Blanks(b, i+1); b[i] == '"'; i = jsonwire.Blanks(b, i+1) {
		end, escaped := StringEnd(b, i+1)
		text := b[i+1 : end-1]
		if escaped {
			text = m.unescape(text)
		}
		if string(text) == name {
			return true
		}
		i = jsonwire.Blanks(b, jsonwire.Blanks(b, end)+1)
		if i = jsonwire.Blanks(b, ValueEnd(b, i)); b[i] == '}' {
			break
		}
	}
	return false
}

// Whole parses a literal of at most 18 digits without point and exponent.
func Whole(literal []byte) (n int64, ok bool) {
	digits := literal
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) == 0 || len(digits) > 18 {
		return 0, false
	}
	for _, c := range digits {
		if c-'0' > 9 {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	if len(literal) > len(digits) {
		n = -n
	}
	return n, true
}

// scalar checks a value that is no container and not null, and whose type is right.
func (m *Machine) scalar(n *program.Node, b []byte, start, end int, escaped bool, sp int) program.Verdict {
	r, v := n.Checks.Rules, program.Valid
	if b[start] == '"' {
		if r.Text != nil {
			text := b[start+1 : end-1]
			if escaped {
				text = m.unescape(text)
			}
			v = r.Text.Check(text)
		}
	} else if r.Literal != nil {
		v = r.Literal.Check(b[start:end])
	}
	if r.Unsure {
		v = max(v, program.Unsure)
	}
	if r.Junctors != nil && v != program.Invalid {
		v = max(v, m.junctors(n.Checks, b, start, end, 0, sp))
	}
	return v
}

// unescape returns the text of a string. It is valid until the next call.
func (m *Machine) unescape(s []byte) []byte {
	m.scratch = jsonwire.AppendUnescaped(memory.Room(m.Account, m.scratch[:0], len(s)), s)
	return m.scratch
}
