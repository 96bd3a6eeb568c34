package locate

import (
	"bytes"
	"io"
	"strconv"
	"strings"

	"github.com/espalier-dev/espalier/internal/jsonv2"
)

// Offset returns where the member or element starts that a path leads to, or the last one on
// the way that exists. depth is how much of the path exists.
func Offset(js []byte, steps []string) (at, depth int) {
	d := jsonv2.NewDecoder(bytes.NewReader(js), jsonv2.AllowDuplicateNames(true), jsonv2.AllowInvalidUTF8(true))
	for _, step := range steps {
		next, ok := enter(d, js, step)
		if !ok {
			break
		}
		at = next
		depth++
	}
	return at, depth
}

// enter goes into the next value, up to the value of the member or element that the step names,
// and returns where that member or element starts.
func enter(d *jsonv2.Decoder, js []byte, step string) (at int, ok bool) {
	index := -1
	switch d.PeekKind() {
	case '{':
	case '[':
		n, err := strconv.Atoi(step)
		if err != nil || n < 0 {
			return 0, false
		}
		index = n
	default:
		return 0, false
	}
	if _, err := d.ReadToken(); err != nil {
		return 0, false
	}
	for i := 0; d.PeekKind() != '}' && d.PeekKind() != ']' && d.PeekKind() != 0; i++ {
		at = int(d.InputOffset())
		for at < len(js) && strings.IndexByte(" \t\r\n,", js[at]) >= 0 {
			at++
		}
		if index >= 0 && i == index {
			return at, true
		}
		if index < 0 {
			if name, err := d.ReadToken(); err != nil {
				return 0, false
			} else if name.String() == step {
				return at, true
			}
		}
		if d.SkipValue() != nil {
			return 0, false
		}
	}
	return 0, false
}

// Members visits the members of the next value, if that is an object. member reads the value
// and returns whether to go on.
func Members(d *jsonv2.Decoder, member func(name string) (more bool)) {
	if d.PeekKind() != '{' {
		return
	}
	if _, err := d.ReadToken(); err != nil {
		return
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil || !member(name.String()) {
			return
		}
	}
}

// NewDecoder returns a decoder that accepts duplicate names and invalid UTF-8.
func NewDecoder(r io.Reader) *jsonv2.Decoder {
	return jsonv2.NewDecoder(r, jsonv2.AllowDuplicateNames(true), jsonv2.AllowInvalidUTF8(true))
}

// Value returns the value that a path leads to, if there is one. Of duplicate names the last
// one counts.
func Value(js []byte, steps []Step) (value jsonv2.Value, ok bool) {
	value = js
	for _, s := range steps {
		d := jsonv2.NewDecoder(bytes.NewReader(value), jsonv2.AllowDuplicateNames(true), jsonv2.AllowInvalidUTF8(true))
		found := false
		index := 0
		Each(d, func(name string, v jsonv2.Value) {
			if s.Index >= 0 && s.Index == index || s.Index < 0 && name == s.Name && value.Kind() == '{' {
				value, found = v.Clone(), true
			}
			index++
		})
		if !found {
			return nil, false
		}
	}
	return value, true
}

// namesAt returns the names in the object that a path leads to.
func namesAt(js []byte, steps []Step) (names []string) {
	value, _ := Value(js, steps)
	if value.Kind() == '{' {
		Each(jsonv2.NewDecoder(bytes.NewReader(value), jsonv2.AllowDuplicateNames(true), jsonv2.AllowInvalidUTF8(true)), func(name string, _ jsonv2.Value) {
			names = append(names, name)
		})
	}
	return names
}

// Each calls do for each member or element of the next value. The value is valid during the
// call.
func Each(d *jsonv2.Decoder, do func(name string, value jsonv2.Value)) {
	kind := d.PeekKind()
	if kind != '{' && kind != '[' {
		return
	}
	if _, err := d.ReadToken(); err != nil {
		return
	}
	for d.PeekKind() != '}' && d.PeekKind() != ']' {
		name := ""
		if kind == '{' {
			t, err := d.ReadToken()
			if err != nil {
				return
			}
			name = t.String()
		}
		v, err := d.ReadValue()
		if err != nil {
			return
		}
		do(name, v)
	}
}

// Has reports whether a path leads to a value.
func Has(js []byte, steps []Step) bool {
	_, ok := Value(js, steps)
	return ok
}
