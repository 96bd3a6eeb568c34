package validate

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/espalier-dev/espalier/schema"
)

// This file compares values with those that they replace. An error in a value is excused if the
// value is that of the stored object: pkg/apiserver/validation/ratcheting.go of
// apiextensions-apiserver, and CorrelatedObject of k8s.io/apiserver/pkg/cel/common. Values below
// allOf, anyOf, oneOf and not are not compared, and nor are the apiVersion and the kind of the whole.

// A pair is a value and the one that it replaces: the member of the same name, or the element of
// the same keys. Elements of other lists than those of type map replace none. A nil pair is that of
// a value that replaces none.
type pair struct {
	value, old any
	schema     *schema.Structural
	steps      *int
	compared   bool
	equal      bool
	members    map[string]*pair
	elements   map[int]*pair
	keyed      map[any]any // the elements of the old list by their keys, once they are asked for
}

// ratcheted validates a value, and excuses what is invalid in the value that it replaces.
func (v *Validator) ratcheted(s *schema.Structural, x, old any, steps *int) []Error {
	c := checker{rules: ofObjects, by: v, steps: steps}.with(s, nil)
	c.pair = &pair{value: x, old: old, schema: orEmpty(s), steps: steps}
	return c.check(x).errs
}

// member returns the pair of a member, or nil.
func (p *pair) member(name string) *pair {
	if made, ok := p.members[name]; ok {
		return made
	}
	object, _ := p.value.(map[string]any)
	was, _ := p.old.(map[string]any)
	value, has := object[name]
	old, had := was[name]
	if !has || !had {
		return nil
	}
	s, ok := p.schema.Properties[name]
	if !ok {
		if p.schema.AdditionalProperties == nil || p.schema.AdditionalProperties.Schema == nil {
			return nil
		}
		s = p.schema.AdditionalProperties.Schema
	}
	made := &pair{value: value, old: old, schema: orEmpty(s), steps: p.steps}
	if p.members == nil {
		p.members = make(map[string]*pair, len(object))
	}
	p.members[name] = made
	*p.steps--
	return made
}

// element returns the pair of an element of a list of type map, or nil.
func (p *pair) element(i int) *pair {
	if p == nil {
		return nil
	}
	if made, ok := p.elements[i]; ok {
		return made
	}
	list, _ := p.value.([]any)
	was, isList := p.old.([]any)
	if !isList || listType(p.schema) != "map" {
		return nil
	}
	if p.keyed == nil {
		p.keyed = make(map[any]any)
		if p.schema.Type == "array" {
			for _, old := range was {
				if key := p.key(old); key != nil && p.keyed[key] == nil {
					p.keyed[key] = old
				}
			}
		}
	}
	key := p.key(list[i])
	s := element(p.schema)
	if key == nil || p.keyed[key] == nil || s == nil {
		return nil
	}
	made := &pair{value: list[i], old: p.keyed[key], schema: s, steps: p.steps}
	if p.elements == nil {
		p.elements = make(map[int]*pair, len(list))
	}
	p.elements[i] = made
	*p.steps--
	return made
}

// key returns what tells an element apart, or nil if it lacks a key or has one that is no scalar
// (MakeMapList).
func (p *pair) key(x any) any {
	object, ok := x.(map[string]any)
	names := p.schema.XListMapKeys
	if !ok || len(names) == 0 {
		return nil
	}
	if len(names) == 1 {
		switch v := object[names[0]].(type) {
		case bool, float64, int64, string:
			return v
		}
		return nil
	}
	var text strings.Builder
	for _, name := range names {
		switch v := object[name].(type) {
		case bool:
			fmt.Fprintf(&text, "\x00%t", v)
		case float64:
			fmt.Fprintf(&text, "\x00%f", v)
		case int64:
			fmt.Fprintf(&text, "\x00%d", v)
		case string:
			fmt.Fprintf(&text, "\x00%q", v)
		default:
			return nil
		}
	}
	*p.steps -= text.Len() / 16
	return text.String()
}

// isEqual reports whether nothing has changed (CachedDeepEqual). A member that the schema does not
// declare counts as changed, and the order of a list of type map does not matter.
func (p *pair) isEqual() bool {
	if p == nil {
		return false
	}
	if !p.compared {
		p.compared, p.equal = true, p.compare()
	}
	return p.equal
}

func (p *pair) compare() bool {
	if *p.steps--; *p.steps < 0 {
		return false
	}
	switch value := p.value.(type) {
	case nil:
		return p.old == nil
	case []any:
		old, ok := p.old.([]any)
		if !ok || len(value) != len(old) {
			return false
		}
		if listType(p.schema) != "map" {
			return deepEqual(value, old, p.steps)
		}
		for i := range value {
			if !p.element(i).isEqual() {
				return false
			}
		}
		return true
	case map[string]any:
		old, ok := p.old.(map[string]any)
		if !ok || len(value) != len(old) {
			return false
		}
		isEqual := true // all are compared, so that the steps do not depend on the order
		for name := range value {
			isEqual = p.member(name).isEqual() && isEqual
		}
		return isEqual
	}
	return deepEqual(p.value, p.old, p.steps)
}

// deepEqual is reflect.DeepEqual, in steps.
func deepEqual(x, y any, steps *int) bool {
	if *steps--; *steps < 0 {
		return false
	}
	switch x := x.(type) {
	case map[string]any:
		y, ok := y.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		isEqual := true
		for name, value := range x {
			other, ok := y[name]
			isEqual = ok && deepEqual(value, other, steps) && isEqual
		}
		return isEqual
	case []any:
		y, ok := y.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !deepEqual(x[i], y[i], steps) {
				return false
			}
		}
		return true
	case string:
		*steps -= len(x) / 16
	}
	return reflect.DeepEqual(x, y)
}
