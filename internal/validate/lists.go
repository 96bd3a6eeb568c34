package validate

import (
	"encoding/json"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// This file validates that the elements of sets are unique, and the keys of those of maps:
// ValidateListSetsAndMaps of apiextensions-apiserver (pkg/apiserver/schema/listtype).

const listRule = "x-kubernetes-list-type"

// lists validates the lists in an object.
func (r *report) lists(x any, s *schema.Structural) {
	r.rule = listRule
	r.listsAt(nil, x, orEmpty(s))
}

func (r *report) listsAt(at *trail, x any, s *schema.Structural) {
	switch x := x.(type) {
	case map[string]any:
		names := sortedKeys(x)
		if ap := s.AdditionalProperties; ap != nil && ap.Schema != nil {
			for _, name := range names {
				r.listsAt(at.key(name), x[name], ap.Schema)
			}
		}
		for _, name := range names {
			if p, ok := s.Properties[name]; ok {
				r.listsAt(at.child(name), x[name], orEmpty(p))
			}
		}
	case []any:
		switch listType(s) {
		case "set":
			for _, i := range r.repeated(x) {
				r.duplicate(at.element(i), x[i])
			}
		case "map":
			r.listMap(at, x, s.XListMapKeys)
		}
		if item := element(s); item != nil {
			for i, e := range x {
				r.listsAt(at.element(i), e, item)
			}
		}
	}
}

func listType(s *schema.Structural) string {
	if s.XListType == nil {
		return ""
	}
	return *s.XListType
}

// listMap validates a list whose elements are objects, or null, with different keys.
func (r *report) listMap(at *trail, list []any, fields []string) {
	keys := make([]any, len(list))
	compared := make([]any, len(list))
	for i, e := range list {
		if *r.steps -= len(fields); *r.steps < 0 {
			return
		}
		object, ok := e.(map[string]any)
		if e != nil && !ok {
			r.invalid(at.element(i), e, "must be an object for an array of list-type map")
			return
		}
		key := make(map[string]any)
		for _, field := range fields {
			if v, ok := object[field]; ok {
				key[field] = v
			}
		}
		keys[i], compared[i] = key, key
		if len(fields) == 1 { // then 1 and 1.0 are different keys
			compared[i] = absent{}
			if v, ok := key[fields[0]]; ok {
				compared[i] = v
			}
		}
	}
	for _, i := range r.repeated(compared) {
		r.duplicate(at.element(i), keys[i])
	}
}

// absent is what an element without a key has in its place. It is different from null.
type absent struct{}

// repeated returns the index of each element that equals exactly one before it. Objects and arrays
// are equal if their JSON is.
func (r *report) repeated(list []any) (indices []int) {
	seen := make(map[any]int, len(list))
	for i, e := range list {
		switch e.(type) {
		case map[string]any, []any:
			js, _ := json.Marshal(e)
			*r.steps -= len(js)
			e = compound(js)
		}
		if seen[e]++; seen[e] == 2 {
			indices = append(indices, i)
		}
	}
	return indices
}

// A compound is the JSON of an object or an array.
type compound string

func (r *report) duplicate(at *trail, x any) {
	shown := ""
	if r.hasRoom() {
		shown = Render(x)
	}
	r.add(errors.SchemaDuplicate, at, shown, "")
}
