package sample

import (
	"slices"

	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/schema"
)

// An enum has the values of an enum that are of the type that its schema has. Nulls are left out,
// as nullable decides about them.
type enum struct {
	values []enumValue
	has    map[string]bool // by key
}

type enumValue struct {
	*value
	key string // the same for equal values
}

func keyOf(v *value) string { return string(canonical(v.decoded())) }

// enum returns the enum of a schema. Reading it takes time, so that is done once.
func (m *Maker) enum(s *schema.Structural) *enum {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.enums[s]
	if e == nil {
		e = &enum{has: make(map[string]bool)}
		m.enums[s] = e
		for _, js := range s.Enum {
			v, err := parse(js)
			if err != nil || v.kind == 'n' || !isOfType(v.kind, s.Type) {
				continue
			}
			if key := keyOf(v); !e.has[key] {
				e.has[key] = true
				e.values = append(e.values, enumValue{v, key})
			}
		}
	}
	return e
}

// isOfType reports whether values of a kind can be of a type. Integers are as good as any numbers.
func isOfType(kind jsonv2.Kind, typ string) bool {
	switch typ {
	case "string":
		return kind == '"'
	case "integer", "number":
		return kind == '0'
	case "boolean":
		return kind == 't' || kind == 'f'
	case "object":
		return kind == '{'
	case "array":
		return kind == '['
	}
	return true
}

// allowed returns the values that all enums of a goal allow, and whether there is an enum.
func (b *builder) allowed(g *goal) (values []enumValue, any bool) {
	for _, s := range g.all {
		if len(s.Enum) == 0 {
			continue
		}
		e := b.enum(s)
		if any {
			values = b.only(values, func(v enumValue) bool { return e.has[v.key] })
		} else {
			values, any = e.values, true
		}
	}
	for _, s := range g.not {
		if len(s.Enum) > 0 && any {
			e := b.enum(s)
			values = b.only(values, func(v enumValue) bool { return !e.has[v.key] })
		}
	}
	return values, any
}

// only returns the values for which keep is true.
func (b *builder) only(values []enumValue, keep func(enumValue) bool) []enumValue {
	b.work -= len(values)
	return slices.DeleteFunc(slices.Clone(values), func(v enumValue) bool { return !keep(v) })
}
