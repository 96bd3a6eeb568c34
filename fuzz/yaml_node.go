package fuzz

import (
	"encoding/json"
	"slices"
)

// A YAMLDocument is a YAML text with its meaning, which is known from how the text was made. No
// reader has read it from the text.
type YAMLDocument struct {
	Source []byte
	// Root is the value that the default reads: by the Kubernetes dialect, but with merge keys as
	// YAML defines them, and without the parts that the server ignores.
	Root   *YAMLNode
	Traits YAMLTraits
}

// YAMLTraits say why a document can be read in more than one way.
type YAMLTraits uint16

// The traits.
const (
	Version12      YAMLTraits = 1 << iota // has %YAML 1.2, which the server refuses
	JSONEscapes                           // has \/ or a surrogate pair, which the server refuses
	CustomTag                             // has a tag that means nothing to the server
	BinaryTag                             // has !!binary that is not UTF-8
	BeyondFloat                           // has a number beyond float64, a string to the server
	SecondDocument                        // has a second document, or other content after the first
	EmptyFirst                            // begins with an empty document, the only one that the server reads
	Merges                                // has merge keys, which the server merges in an order of its own
	SameName                              // has names that are equal only as strings: the server's winner is random
	Unsettled                             // Root says nothing about Core
)

// A YAMLNode is a node of the text, or a copy of one in the place of an alias.
type YAMLNode struct {
	Kind byte // '{', '[' or 's'
	// Scalar and Core are the value of a scalar in the two dialects: nil, a bool, a json.Number as
	// encoding/json writes it, or a string.
	Scalar, Core any
	Members      []YAMLMember // the elements of an array have no names
	// At is the place of the node. For a copy, At is the place of the alias, and Written that of
	// the copied node.
	At, Written YAMLPlace

	// The scalar as a key: its name, and the value by which the server distinguishes keys. If that
	// is nil, the scalar cannot be a key.
	name   string
	key    any
	quoted bool
}

// A YAMLMember is a member of a mapping, or an element.
type YAMLMember struct {
	Name, CoreName string
	At, Written    YAMLPlace
	Value          *YAMLNode
	Merged         bool // came through a merge key

	key any
}

// A YAMLPlace is an offset. An empty node has no first byte, so any offset From one token To the
// next is right.
type YAMLPlace struct{ From, To int }

func at(off int) YAMLPlace { return YAMLPlace{off, off} }

// Value returns the value of the node in the types of encoding/json, with numbers as json.Number.
func (n *YAMLNode) Value(core bool) any {
	switch n.Kind {
	case '{':
		object := make(map[string]any)
		for _, m := range n.Members {
			name := m.Name
			if core {
				name = m.CoreName
			}
			object[name] = m.Value.Value(core)
		}
		return object
	case '[':
		array := []any{}
		for _, m := range n.Members {
			array = append(array, m.Value.Value(core))
		}
		return array
	}
	if core {
		return n.Core
	}
	return n.Scalar
}

func (n *YAMLNode) size() int {
	size := 1
	for _, m := range n.Members {
		size += m.Value.size()
	}
	return size
}

// copyTo returns a copy of the node for an alias at that place.
func (n *YAMLNode) copyTo(p YAMLPlace) *YAMLNode {
	c := *n
	c.At, c.quoted = p, false
	c.Members = slices.Clone(n.Members)
	for i := range c.Members {
		m := &c.Members[i]
		m.At, m.Value = p, m.Value.copyTo(p)
	}
	return &c
}

// isMergeable reports whether all names are strings and none repeats. The server merges other
// mappings at random.
func (n *YAMLNode) isMergeable() bool {
	seen := make(map[string]bool)
	for _, m := range n.Members {
		if _, isString := m.key.(string); !isString || seen[m.Name] {
			return false
		}
		seen[m.Name] = true
	}
	return n.Kind == '{'
}

func jsonNumber(s string) json.Number { return json.Number(s) }
