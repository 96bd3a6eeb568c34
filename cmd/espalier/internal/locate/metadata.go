package locate

import (
	"bytes"
	"iter"

	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/skip"
)

// A Member is a member of an object.
type Member struct {
	At    int    // where its name starts
	Name  []byte // without escapes
	Value []byte // as it is written
	Whole bool   // otherwise it has a fault, and Value is all that is left of the document
}

// Root returns the members of the object that a document is, as far as they can be read. Their
// values are passed as the decoder passes what it drops.
func Root(js []byte) iter.Seq[Member] {
	return func(yield func(Member) bool) {
		at := func(i int) (next int, c byte) {
			next = jsonwire.Blanks(js, i)
			return next, jsonwire.At(js, next)
		}
		i, c := at(0)
		for open := byte('{'); c == open; open = ',' {
			if i, c = at(i + 1); c != '"' {
				return
			}
			name, end, ok := readName(js, i)
			if !ok {
				return
			}
			m := Member{At: i, Name: name}
			if i, c = at(end); c != ':' {
				return
			}
			from, _ := at(i + 1)
			if end, m.Whole = pass(js, from); !m.Whole {
				end = len(js)
			}
			m.Value = js[from:end]
			if !yield(m) || !m.Whole {
				return
			}
			i, c = at(end)
		}
	}
}

// readName returns the name at i without escapes, and the index after it. In a document that is
// refused it reads invalid UTF-8, too.
func readName(js []byte, i int) (name []byte, end int, ok bool) {
	if name, end, ok = jsonwire.Text(js, i); ok {
		return name, end, true
	}
	d := NewDecoder(bytes.NewReader(js[i:]))
	text, err := d.ReadToken()
	if err != nil {
		return nil, 0, false
	}
	return []byte(text.String()), i + int(d.InputOffset()), true
}

// pass returns the index after the value at i. In a document that is refused it passes invalid UTF-8
// and numbers that are too large, too.
func pass(js []byte, i int) (end int, ok bool) {
	if end, ok = skip.Value(js, i); ok {
		return end, true
	}
	d := NewDecoder(bytes.NewReader(js[i:]))
	ok = d.SkipValue() == nil
	return i + int(d.InputOffset()), ok
}

// ResultMetadata returns the metadata of an object in which no name repeats, or nil.
func ResultMetadata(js []byte) []byte {
	for m := range Root(js) {
		if string(m.Name) == "metadata" {
			return m.Value
		}
	}
	return nil
}

// ObjectName returns the namespace and the name in an object's metadata, if they are strings
// and can be read. Of duplicate metadata the last one counts, because that is what the object
// keeps.
func ObjectName(js []byte) (namespace, name string) {
	var metadata []byte
	for m := range Root(js) {
		if string(m.Name) == "metadata" {
			metadata = m.Value
		}
	}
	return NameIn(metadata)
}

// NameIn returns the namespace and the name in metadata.
func NameIn(metadata []byte) (namespace, name string) {
	d := NewDecoder(bytes.NewReader(metadata))
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
	return namespace, name
}
