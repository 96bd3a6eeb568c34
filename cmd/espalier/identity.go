package main

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// peekName returns the namespace and the name in an object's metadata, as far as
// they are strings and the object can be read. Of names that stand twice the last
// counts.
func peekName(js []byte) (namespace, name string) {
	members(jsontext.NewDecoder(bytes.NewReader(js), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)), func(d *jsontext.Decoder, field string) bool {
		if field != "metadata" {
			return false
		}
		namespace, name = "", ""
		return members(d, func(d *jsontext.Decoder, field string) bool {
			if field != "name" && field != "namespace" || d.PeekKind() != '"' {
				return false
			}
			text, err := d.ReadToken()
			if err == nil && field == "name" {
				name = text.String()
			} else if err == nil {
				namespace = text.String()
			}
			return true
		})
	})
	return namespace, name
}

// members goes through the members of the object that comes next, if one does, and
// reports whether it has read it. Values that member does not read are skipped.
func members(d *jsontext.Decoder, member func(d *jsontext.Decoder, name string) bool) bool {
	if d.PeekKind() != '{' {
		return false
	}
	if _, err := d.ReadToken(); err != nil {
		return true
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return true
		}
		if !member(d, name.String()) && d.SkipValue() != nil {
			return true
		}
	}
	_, _ = d.ReadToken()
	return true
}
