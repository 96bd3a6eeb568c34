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

func (o Object) has(name string) bool {
	return slices.ContainsFunc(o, func(m Member) bool { return m.Name == name })
}

// A Member is a name with its value.
type Member struct {
	Name  string
	Value Value
}

// An Array has the elements of an array.
type Array []Value

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

func read(d *json.Decoder) (Value, error) {
	token, err := d.Token()
	switch {
	case err != nil:
		return nil, err
	case token == json.Delim('{'):
		object := Object{}
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			v, err := read(d)
			if err != nil {
				return nil, err
			}
			object = append(object, Member{name.(string), v})
		}
		_, err = d.Token()
		return object, err
	case token == json.Delim('['):
		array := Array{}
		for d.More() {
			v, err := read(d)
			if err != nil {
				return nil, err
			}
			array = append(array, v)
		}
		_, err = d.Token()
		return array, err
	}
	return token, nil
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

// lastWins returns the value without the members whose name comes again in their object. The last
// one counts, and stays where it is.
func lastWins(v Value) Value {
	switch v := v.(type) {
	case Object:
		last := make(map[string]int)
		for i, m := range v {
			last[m.Name] = i
		}
		left := Object{}
		for i, m := range v {
			if last[m.Name] == i {
				left = append(left, Member{m.Name, lastWins(m.Value)})
			}
		}
		return left
	case Array:
		all := Array{}
		for _, e := range v {
			all = append(all, lastWins(e))
		}
		return all
	}
	return v
}
