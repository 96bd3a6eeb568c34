package spec

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
)

// A Value is a JSON value: nil, a bool, a string, a json.Number, which has the text that was sent,
// an [Object] or an [Array].
type Value any

// An Object has its members in the order of the document. Names may repeat in what was sent.
type Object []Member

// A Member is a name with its value.
type Member struct {
	Name  string
	Value Value
}

// An Array has the elements of an array.
type Array []Value

func (o Object) has(name string) bool {
	return slices.ContainsFunc(o, func(m Member) bool { return m.Name == name })
}

// filter returns a copy of the object with the members that keep reports true for, and may change.
func (o Object) filter(keep func(m *Member) bool) Object {
	left := make(Object, 0, len(o))
	for _, m := range o {
		if keep(&m) {
			left = append(left, m)
		}
	}
	return left
}

// each returns an array of what f returns for the elements.
func (a Array) each(f func(i int, e Value) Value) Array {
	all := make(Array, 0, len(a))
	for i, e := range a {
		all = append(all, f(i, e))
	}
	return all
}

// Parse reads a JSON text. It should be valid, and is read as UTF-8.
func Parse(text []byte) (Value, error) {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	v, err := read(d)
	if err != nil {
		return nil, err
	}
	if _, err = d.Token(); err != io.EOF {
		return nil, errors.New("spec: there is more after the value")
	}
	return v, nil
}

// mustParse is Parse for a text that package schema or this one has written.
func mustParse(text []byte) Value {
	v, err := Parse(text)
	if err != nil {
		panic(err)
	}
	return v
}

func read(d *json.Decoder) (Value, error) {
	first, err := d.Token()
	isObject := first == json.Delim('{')
	if err != nil || !isObject && first != json.Delim('[') {
		return first, err
	}
	object, array := Object{}, Array{}
	for d.More() {
		var m Member
		if isObject {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			m.Name = name.(string)
		}
		if m.Value, err = read(d); err != nil {
			return nil, err
		}
		object, array = append(object, m), append(array, m.Value)
	}
	if _, err = d.Token(); isObject {
		return object, err
	}
	return array, err
}

// MarshalJSON returns the object as it is. Names may repeat.
func (o Object) MarshalJSON() ([]byte, error) {
	members := make([]string, len(o))
	for i, m := range o {
		members[i] = string(Text(m.Name)) + ":" + string(Text(m.Value))
	}
	return []byte("{" + strings.Join(members, ",") + "}"), nil
}

// Text returns a value as JSON.
func Text(v Value) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // a Value is one of JSON
	}
	return text
}
