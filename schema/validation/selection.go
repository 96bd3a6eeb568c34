package validation

import (
	"strconv"

	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/screen"
)

// NOTE: rules read little of an object. What they do not read is skipped in its text, and never
// built. The text is the result of a decoder: well-formed, not nested deeper than the limits allow,
// and without names that repeat.

// whole selects everything.
var whole = &Selection{All: true}

// selects reports whether anything is read.
func (s *Selection) selects() bool {
	return s != nil && (s.All || len(s.Members) > 0 || s.Others != nil || s.Elements != nil)
}

// member returns what is read of a member of an object, or nil.
func (s *Selection) member(name []byte) *Selection {
	if s == nil || s.All {
		return s
	}
	if below, ok := s.Members[string(name)]; ok {
		return below
	}
	return s.Others
}

// elements returns what is read of the elements of an array, or nil.
func (s *Selection) elements() *Selection {
	if s == nil || s.All {
		return s
	}
	return s.Elements
}

// built returns the value in a text, as validate.Decode does, with the parts that are selected. It
// is nil if nothing is. charge is called before so many bytes are allocated.
func (s *Selection) built(text []byte, charge func(bytes int)) any {
	if s == nil || len(text) == 0 {
		return nil
	}
	r := reader{text: text, at: jsonwire.Blanks(text, 0), charge: charge}
	return r.value(s)
}

// A reader builds values.
type reader struct {
	text    []byte
	at      int
	scratch []byte
	charge  func(bytes int)
	left    int // bytes that are charged, and not allocated yet
}

// The bytes that are allocated for a value besides its text: as an element or a member, with what
// slices and maps have to spare, and for a slice or map itself.
const perValue, perContainer = 96, 64

// take charges memory, for many values at a time.
func (r *reader) take(bytes int) {
	const atOnce = 4 << 10
	if r.left -= bytes; r.left < 0 {
		more := max(-r.left, min(atOnce, 16*len(r.text)))
		r.charge(more)
		r.left += more
	}
}

// value builds the value at r.at.
func (r *reader) value(s *Selection) any {
	b, start := r.text, r.at
	c := b[start]
	if !s.Within {
		r.take(perValue)
	} else if c != '{' && c != '[' {
		r.skip()
		return nil
	}
	switch c {
	case '{':
		if made := r.object(s); made != nil {
			return made
		}
		return nil
	case '[':
		if made := r.array(s); made != nil {
			return made
		}
		return nil
	case '"':
		text := r.string()
		r.take(len(text))
		return string(text)
	default:
		r.at = screen.ValueEnd(b, start)
		switch c {
		case 't', 'f':
			return c == 't'
		case 'n':
			return nil
		}
		return number(b[start:r.at])
	}
}

// string returns the text of the string at r.at. It is valid until the next call.
func (r *reader) string() []byte {
	start := r.at + 1
	end, escaped := screen.StringEnd(r.text, start)
	r.at = end
	text := r.text[start : end-1]
	if escaped {
		if cap(r.scratch) < len(text) {
			r.take(len(text))
			r.scratch = make([]byte, 0, len(text))
		}
		r.scratch = jsonwire.AppendUnescaped(r.scratch[:0], text)
		return r.scratch
	}
	return text
}

// object returns nil where only parts count, and there are none.
func (r *reader) object(s *Selection) (made map[string]any) {
	if !s.Within {
		made = r.newObject()
	}
	if !s.selects() {
		r.skip()
		return made
	}
	for r.at = jsonwire.Blanks(r.text, r.at+1); r.text[r.at] != '}'; r.next() {
		at := r.at
		below := s.member(r.string())
		r.colon()
		if below == nil {
			r.skip()
			continue
		}
		x := r.value(below)
		if x == nil && s.Within {
			continue
		}
		if made == nil {
			r.take(perValue)
			made = r.newObject()
		}
		end := r.at
		r.at = at
		name := r.string()
		r.take(len(name))
		made[string(name)] = x
		r.at = end
	}
	r.at++
	return made
}

func (r *reader) newObject() map[string]any {
	r.take(perContainer)
	return make(map[string]any)
}

// array returns nil where only parts count, and there are none.
func (r *reader) array(s *Selection) (made []any) {
	if !s.Within {
		made = []any{}
	}
	below := s.elements()
	if below == nil {
		r.skip()
		return made
	}
	n := 0
	for r.at = jsonwire.Blanks(r.text, r.at+1); r.text[r.at] != ']'; r.next() {
		x := r.value(below)
		if made == nil && x != nil {
			r.take((1 + n) * perValue)
			made = append([]any{}, make([]any, n)...)
		}
		if n++; made != nil {
			made = append(made, x)
		}
	}
	r.at++
	return made
}

func (r *reader) skip() { r.at = screen.ValueEnd(r.text, r.at) }

// colon goes on to the value after a name.
func (r *reader) colon() { r.at = jsonwire.Blanks(r.text, jsonwire.Blanks(r.text, r.at)+1) }

// next goes on after a member or an element.
func (r *reader) next() {
	if r.at = jsonwire.Blanks(r.text, r.at); r.text[r.at] == ',' {
		r.at = jsonwire.Blanks(r.text, r.at+1)
	}
}

// number returns the value of a literal: an int64 if it has neither point nor exponent and fits.
func number(literal []byte) any {
	if n, ok := screen.Whole(literal); ok {
		return n
	}
	if n, err := strconv.ParseInt(string(literal), 10, 64); err == nil {
		return n
	}
	f, _ := strconv.ParseFloat(string(literal), 64) // the walk has found it in the range
	return f
}
