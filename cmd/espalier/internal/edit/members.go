package edit

import (
	"bytes"
	"io"
	"slices"

	"github.com/espalier-dev/espalier/internal/jsonv2"
)

// An object is an object of a JSON text that loses members.
type object struct {
	at      int // its offset
	members []member
}

// A member is given by offsets in a JSON text: of its name, of its value, and of the end of its
// value.
type member struct {
	name, value, end int
	gone             bool
}

func newDecoder(json []byte) *jsonv2.Decoder {
	// Decoding has decided that the text is valid.
	return jsonv2.NewDecoder(bytes.NewReader(json), jsonv2.AllowDuplicateNames(true), jsonv2.AllowInvalidUTF8(true))
}

// without returns the compact JSON text without the members whose names are at the given
// offsets. It also returns the objects that lose them, except for objects within such a member.
func without(json []byte, names []int) (losers []object, compact []byte, err error) {
	gone := make(map[int]bool, len(names))
	for _, at := range names {
		gone[at] = true
	}
	type container struct {
		object
		loses bool
	}
	var open []container
	ended := func(end int) {
		if n := len(open); n > 0 && len(open[n-1].members) > 0 {
			m := open[n-1].members
			m[len(m)-1].end = end
		}
	}
	write := func(raw []byte) {
		if n := len(compact); n > 0 && raw[0] != '}' && raw[0] != ']' {
			switch compact[n-1] {
			case '{', '[', ':':
			default:
				compact = append(compact, ',')
			}
		}
		compact = append(compact, raw...)
	}
	dec := newDecoder(json)
	for {
		kind := dec.PeekKind()
		switch kind {
		case '{', '[', '}', ']':
			if _, err := dec.ReadToken(); err != nil {
				return nil, nil, err
			}
			end := int(dec.InputOffset())
			write(json[end-1 : end])
			if kind == '{' || kind == '[' {
				open = append(open, container{object: object{at: end - 1}})
				continue
			}
			last := open[len(open)-1]
			open = open[:len(open)-1]
			if last.loses {
				losers = append(losers, last.object)
			}
			ended(end)
			continue
		}
		parent, length := dec.StackIndex(dec.StackDepth())
		raw, err := dec.ReadValue()
		if err == io.EOF {
			return losers, compact, nil
		}
		if err != nil {
			return nil, nil, err
		}
		end := int(dec.InputOffset())
		if parent != '{' || length%2 != 0 {
			write(raw)
			ended(end)
			continue
		}
		o := &open[len(open)-1]
		m := member{name: end - len(raw), gone: gone[end-len(raw)]}
		if !m.gone {
			write(raw)
			compact = append(compact, ':')
		}
		m.value = tokenStart(json, end)
		if m.gone {
			o.loses = true
			if err := dec.SkipValue(); err != nil {
				return nil, nil, err
			}
			m.end = int(dec.InputOffset())
		}
		o.members = append(o.members, m)
	}
}

// Repeated returns the offsets in a JSON text of the names that occur again later in the same
// object.
func Repeated(json []byte) (names []int, err error) {
	var open []map[string]int // offsets of the names of objects; nil for arrays
	dec := newDecoder(json)
	for {
		kind, n := dec.StackIndex(dec.StackDepth())
		at := tokenStart(json, int(dec.InputOffset()))
		token, err := dec.ReadToken()
		if err == io.EOF {
			slices.Sort(names)
			return names, nil
		}
		if err != nil {
			return nil, err
		}
		switch token.Kind() {
		case '{':
			open = append(open, map[string]int{})
		case '[':
			open = append(open, nil)
		case '}', ']':
			open = open[:len(open)-1]
		case '"':
			if kind == '{' && n%2 == 0 {
				last, name := open[len(open)-1], token.String()
				if before, ok := last[name]; ok {
					names = append(names, before)
				}
				last[name] = at
			}
		}
	}
}

// tokenStart returns the start of the next token after an offset.
func tokenStart(json []byte, at int) int {
	return len(json) - len(bytes.TrimLeft(json[at:], " \t\r\n,:"))
}
