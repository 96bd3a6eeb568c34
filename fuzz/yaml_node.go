package fuzz

import (
	"encoding/json"
	"slices"
)

// A YAMLDocument is a YAML text, and what is known about it from how it was made:
// nothing in it was read back from the text.
type YAMLDocument struct {
	Source []byte
	// Root is what the default reads: by the Kubernetes dialect, but with merge
	// keys as YAML defines them, and without what the server ignores.
	Root   *YAMLNode
	Traits YAMLTraits
}

// YAMLTraits say where a document is read in more than one way.
type YAMLTraits uint16

// The traits.
const (
	Version12      YAMLTraits = 1 << iota // has %YAML 1.2, which the server refuses
	JSONEscapes                           // has \/ or a surrogate pair, which the server refuses
	CustomTag                             // has a tag that means nothing to the server
	BinaryTag                             // has !!binary that is not UTF-8
	BeyondFloat                           // has a number beyond float64, a string to the server
	SecondDocument                        // has a second document, or anything else behind the first
	EmptyFirst                            // begins with an empty document, which is all the server reads
	Merges                                // has merge keys, of which the server has an order of its own
	SameName                              // has names that are equal only as strings: the server's winner is random
	Unsettled                             // Root says nothing about Core
)

// A YAMLNode is a node of the text, or a copy of one that an alias stands for.
type YAMLNode struct {
	Kind byte // '{', '[' or 's'
	// Scalar and Core are the value of a scalar in the two dialects: nil, a bool,
	// a json.Number as encoding/json writes it, or a string.
	Scalar, Core any
	Members      []YAMLMember // of an array: without names
	// At is where the node stands. Of a copy, that is the alias, and Written is
	// where the node was copied from.
	At, Written YAMLPlace

	// What a scalar is as a key: its name, and what the server tells keys apart
	// by. There is no key where it is nil.
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

// A YAMLPlace is an offset. What is empty in the text has no first byte: any
// offset From one token To the next is right.
type YAMLPlace struct{ From, To int }

func at(off int) YAMLPlace { return YAMLPlace{off, off} }

// Value returns the value of the node as encoding/json would, with numbers as
// json.Number.
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

// copyTo returns the node as an alias at that place stands for it.
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

// isMergeable reports whether all names are strings and stand once. Of other
// mappings, what merging them gives is random on the server.
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
