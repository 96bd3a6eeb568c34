package main

import (
	"bytes"

	"github.com/espalier-dev/espalier/internal/jsonv2"
)

// peekName returns the namespace and the name in an object's metadata, as far as
// they are strings and the object can be read. Of metadata that repeats the last counts,
// as it is what the object keeps.
func peekName(js []byte) (namespace, name string) {
	d := newTextDecoder(bytes.NewReader(js))
	members(d, func(field string) (more bool) {
		if field != "metadata" {
			return d.SkipValue() == nil
		}
		depth := d.StackDepth()
		namespace, name = nameIn(d)
		return d.StackDepth() == depth && mayRepeat(js, "metadata")
	})
	return namespace, name
}

// nameIn returns the namespace and the name in metadata, which comes next.
func nameIn(d *jsonv2.Decoder) (namespace, name string) {
	if d.PeekKind() != '{' {
		_ = d.SkipValue()
		return "", ""
	}
	members(d, func(field string) bool {
		if field != "name" && field != "namespace" || d.PeekKind() != '"' {
			return d.SkipValue() == nil
		}
		text, err := d.ReadToken()
		if err == nil && field == "name" {
			name = text.String()
		} else if err == nil {
			namespace = text.String()
		}
		return err == nil
	})
	if d.PeekKind() == '}' {
		_, _ = d.ReadToken()
	}
	return namespace, name
}

// members goes through the members of the object that comes next, if one does. member
// reads the value, and returns whether to go on.
func members(d *jsonv2.Decoder, member func(name string) (more bool)) {
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
