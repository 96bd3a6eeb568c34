package fuzz

import (
	"bytes"
	"math/rand/v2"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// A tree is a JSON value that keeps the order of members, and can hold a name twice.
type tree struct {
	scalar   jsontext.Value // if neither object nor array
	isObject bool
	members  []member // of an array: without names
}

type member struct {
	name  string
	value *tree
}

// parseTree reads valid JSON.
func parseTree(dec *jsontext.Decoder) (*tree, error) {
	kind := dec.PeekKind()
	if kind != '{' && kind != '[' {
		v, err := dec.ReadValue()
		return &tree{scalar: slices.Clone(v)}, err
	}
	t := &tree{isObject: kind == '{'}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	for dec.PeekKind() != '}' && dec.PeekKind() != ']' {
		var m member
		if t.isObject {
			name, err := dec.ReadToken()
			if err != nil {
				return nil, err
			}
			m.name = name.String()
		}
		var err error
		if m.value, err = parseTree(dec); err != nil {
			return nil, err
		}
		t.members = append(t.members, m)
	}
	_, err := dec.ReadToken()
	return t, err
}

func (t *tree) append(b []byte) []byte {
	if t.scalar != nil {
		return append(b, t.scalar...)
	}
	open, end := byte('['), byte(']')
	if t.isObject {
		open, end = '{', '}'
	}
	b = append(b, open)
	for i, m := range t.members {
		if i > 0 {
			b = append(b, ',')
		}
		if t.isObject {
			b, _ = jsontext.AppendQuote(b, m.name)
			b = append(b, ':')
		}
		b = m.value.append(b)
	}
	return append(b, end)
}

// containers returns the non-empty objects and arrays in t, including t.
func (t *tree) containers(list []*tree) []*tree {
	if len(t.members) == 0 {
		return list
	}
	list = append(list, t)
	for _, m := range t.members {
		list = m.value.containers(list)
	}
	return list
}

// Mutate returns a JSON document with a few mistakes that people make: fields renamed, moved,
// duplicated, nulled, or of another type. It returns a document that is not JSON as it is.
func Mutate(doc []byte, r *rand.Rand) []byte {
	t, err := parseTree(jsontext.NewDecoder(bytes.NewReader(doc), jsontext.AllowDuplicateNames(true)))
	if err != nil {
		return doc
	}
	for range 1 + r.IntN(4) {
		all := t.containers(nil)
		if len(all) == 0 {
			break
		}
		from, to := all[r.IntN(len(all))], all[r.IntN(len(all))]
		i := r.IntN(len(from.members))
		m := &from.members[i]
		switch r.IntN(8) {
		case 0: // misspell
			m.name += one(r, "s", "X", "", " ", ".a", "\u00e9")
		case 1:
			m.name = one(r, "name", "spec", "metadata", "kind", "apiVersion", "labels", "status", "items")
		case 2: // copy, perhaps as a duplicate; never into itself
			copied := member{m.name, &tree{scalar: m.value.append(nil)}}
			to.members = slices.Insert(to.members, r.IntN(len(to.members)+1), copied)
		case 3: // duplicate
			copied := member{m.name, &tree{scalar: one(r, m.value.append(nil), []byte("null"), []byte("{}"), []byte(`"x"`))}}
			from.members = slices.Insert(from.members, r.IntN(len(from.members)+1), copied)
		case 4, 5:
			m.value = &tree{scalar: jsontext.Value("null")}
		case 6:
			m.value = &tree{scalar: jsontext.Value(one(r, "{}", "[]", "1", "1.5", `""`, `"a"`, "true", `{"a":{"b":1}}`, `[{"a":1},null]`, `["a"]`))}
		case 7:
			from.members = slices.Delete(from.members, i, i+1)
		}
	}
	return t.append(nil)
}
