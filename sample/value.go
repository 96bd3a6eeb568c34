package sample

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/espalier-dev/espalier/internal/jsonv2"
)

// A value is a JSON value whose members have an order, and can have the same name.
type value struct {
	kind    jsonv2.Kind // 'n', 't', 'f', '0', '"', '{' or '['
	text    string      // of a number as it is written, of a string without quotes and escapes
	members []member    // of an object or an array
}

// A member is one of an object, or an element, which has no name.
type member struct {
	name  string
	value *value
}

func null() *value                { return &value{kind: 'n'} }
func text(s string) *value        { return &value{kind: '"', text: s} }
func number(digits string) *value { return &value{kind: '0', text: digits} }

func boolean(is bool) *value {
	if is {
		return &value{kind: 't'}
	}
	return &value{kind: 'f'}
}

func object(members ...member) *value { return &value{kind: '{', members: members} }

func array(elements ...*value) *value {
	v := &value{kind: '['}
	for _, e := range elements {
		v.members = append(v.members, member{value: e})
	}
	return v
}

// member returns the value of the last member with the name, which is the one that counts, or nil.
func (v *value) member(name string) *value {
	for _, m := range slices.Backward(v.members) {
		if v.kind == '{' && m.name == name {
			return m.value
		}
	}
	return nil
}

// clone returns a copy that shares nothing with v.
func (v *value) clone() *value {
	c := *v
	c.members = slices.Clone(v.members)
	for i := range c.members {
		c.members[i].value = c.members[i].value.clone()
	}
	return &c
}

// append appends the value as JSON.
func (v *value) append(b []byte) []byte {
	switch v.kind {
	case 'n':
		return append(b, "null"...)
	case 't':
		return append(b, "true"...)
	case 'f':
		return append(b, "false"...)
	case '0':
		return append(b, v.text...)
	case '"':
		b, _ = jsonv2.AppendQuote(b, v.text)
		return b
	}
	ends := map[jsonv2.Kind]string{'{': "{}", '[': "[]"}[v.kind]
	b = append(b, ends[0])
	for i, m := range v.members {
		if i > 0 {
			b = append(b, ',')
		}
		if v.kind == '{' {
			b, _ = jsonv2.AppendQuote(b, m.name)
			b = append(b, ':')
		}
		b = m.value.append(b)
	}
	return append(b, ends[1])
}

// decoded returns the value as an API server decodes it: integers are int64 where they fit, and
// other numbers float64. It shares nothing with v.
func (v *value) decoded() any {
	switch v.kind {
	case 't', 'f':
		return v.kind == 't'
	case '0':
		if i, err := strconv.ParseInt(v.text, 10, 64); err == nil {
			return i
		}
		f, _ := strconv.ParseFloat(v.text, 64)
		return f
	case '"':
		return v.text
	case '{':
		m := make(map[string]any, len(v.members))
		for _, e := range v.members {
			m[e.name] = e.value.decoded()
		}
		return m
	case '[':
		list := make([]any, len(v.members))
		for i, e := range v.members {
			list[i] = e.value.decoded()
		}
		return list
	}
	return nil
}

// parse reads one JSON value. Names may repeat.
func parse(js []byte) (*value, error) {
	return read(jsonv2.NewDecoder(bytes.NewReader(js), jsonv2.AllowDuplicateNames(true)))
}

func read(d *jsonv2.Decoder) (*value, error) {
	token, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	v := &value{kind: token.Kind()}
	switch v.kind {
	case '0', '"':
		v.text = token.String()
	case '{', '[':
		for err == nil && d.PeekKind() != '}' && d.PeekKind() != ']' {
			var m member
			if v.kind == '{' {
				token, err = d.ReadToken()
				m.name = token.String()
			}
			if err == nil {
				m.value, err = read(d)
			}
			v.members = append(v.members, m)
		}
		if err == nil {
			_, err = d.ReadToken()
		}
	}
	return v, err
}
