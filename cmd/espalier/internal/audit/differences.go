package audit

// This file compares an object before a change with the same object after it.

import (
	"bytes"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonv2"
)

// differences adds what has become of the values of an object. Both texts are results of a decoder,
// without white space, in which no name repeats. Of a subtree that is lost, it is the topmost value.
func differences(to []Effect, before, after []byte) []Effect {
	c := comparison{effects: to}
	c.values(errors.Path{}, before, after)
	return c.effects
}

type comparison struct{ effects []Effect }

func (c *comparison) add(kind EffectKind, path errors.Path, before, after []byte) {
	c.effects = append(c.effects, Effect{Kind: kind, Path: path, Old: before, New: after})
}

func (c *comparison) values(path errors.Path, before, after jsonv2.Value) {
	if bytes.Equal(before, after) {
		return
	}
	switch kind := before.Kind(); {
	case kind != after.Kind() || kind != '{' && kind != '[':
		c.add(Defaulted, path, before, after)
	case kind == '{':
		c.objects(path, before, after)
	default:
		c.arrays(path, before, after)
	}
}

func (c *comparison) objects(path errors.Path, before, after jsonv2.Value) {
	names, old := members(before)
	added, now := members(after)
	for _, name := range names {
		if v, ok := now[name]; !ok {
			c.add(Lost, path.Child(name), old[name], nil)
		} else {
			c.values(path.Child(name), old[name], v)
		}
	}
	for _, name := range added {
		if _, ok := old[name]; !ok {
			c.add(Defaulted, path.Child(name), nil, now[name])
		}
	}
}

func (c *comparison) arrays(path errors.Path, before, after jsonv2.Value) {
	old, now := elements(before), elements(after)
	for i := range max(len(old), len(now)) {
		switch {
		case i >= len(now):
			c.add(Lost, path.Element(i), old[i], nil)
		case i >= len(old):
			c.add(Defaulted, path.Element(i), nil, now[i])
		default:
			c.values(path.Element(i), old[i], now[i])
		}
	}
}

// members returns the members of an object, with their names in its order.
func members(object jsonv2.Value) (names []string, values map[string]jsonv2.Value) {
	values = map[string]jsonv2.Value{}
	d := decoderOf(object)
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			break
		}
		text := name.String()
		v, err := d.ReadValue()
		if err != nil {
			break
		}
		names = append(names, text)
		values[text] = v.Clone()
	}
	return names, values
}

// elements returns the elements of an array.
func elements(array jsonv2.Value) (values []jsonv2.Value) {
	d := decoderOf(array)
	for kind := d.PeekKind(); kind != ']' && kind != 0; kind = d.PeekKind() {
		v, err := d.ReadValue()
		if err != nil {
			break
		}
		values = append(values, v.Clone())
	}
	return values
}

// decoderOf returns a decoder that is within an object or array.
func decoderOf(container jsonv2.Value) *jsonv2.Decoder {
	d := jsonv2.NewDecoder(bytes.NewReader(container), jsonv2.AllowInvalidUTF8(true), jsonv2.AllowDuplicateNames(true))
	_, _ = d.ReadToken()
	return d
}
