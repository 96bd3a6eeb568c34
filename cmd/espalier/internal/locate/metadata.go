package locate

import (
	"bytes"

	"github.com/espalier-dev/espalier/internal/jsonv2"
)

// ObjectName returns the namespace and the name in an object's metadata, if they are strings
// and can be read. Of duplicate metadata the last one counts, because that is what the object
// keeps.
func ObjectName(js []byte) (namespace, name string) {
	d := NewDecoder(bytes.NewReader(js))
	Members(d, func(field string) (more bool) {
		if field != "metadata" {
			return d.SkipValue() == nil
		}
		depth := d.StackDepth()
		namespace, name = NameIn(d)
		return d.StackDepth() == depth && MayRepeat(js, "metadata")
	})
	return namespace, name
}

// NameIn returns the namespace and the name in metadata, which is the next value.
func NameIn(d *jsonv2.Decoder) (namespace, name string) {
	if d.PeekKind() != '{' {
		_ = d.SkipValue()
		return "", ""
	}
	Members(d, func(field string) bool {
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

// MayRepeat is a quick test: if it returns false, the name occurs at most once in the text.
func MayRepeat(js []byte, name string) bool {
	i := bytes.Index(js, []byte(name))
	return i >= 0 && bytes.Contains(js[i+len(name):], []byte(name)) || bytes.Contains(js, []byte(`\u`)) // an escape may spell it
}
