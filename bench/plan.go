package main

import (
	"encoding/json"
	"slices"
	"strings"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/runtime"
)

// A plan is a schema prepared for a hand-written pruner: maps of fields and rendered defaults. A
// careful user gets that far in an afternoon.
type plan struct {
	fields    map[string]*field
	other     *field // additionalProperties, or nil
	items     *field // or nil
	keepsAll  bool   // nothing in it is pruned or defaulted
	keepsRest bool   // members without a field are kept
	defaults  []*field
}

// A field is a plan with the rules for its place.
type field struct {
	*plan
	name     string
	quoted   []byte
	nullable bool
	fallback []byte // the default, or nil
	bit      uint64 // among the fields of the object that have a default
}

var keepAll = &field{plan: &plan{keepsAll: true}, nullable: true}

func planOf(s *Schema) *plan {
	return made(s, "plan", func() *plan { return newPlan(s.Structural, true) })
}

func newPlan(s *structural.Structural, resource bool) *plan {
	p := &plan{fields: make(map[string]*field), keepsRest: s.XPreserveUnknownFields}
	for name, property := range s.Properties {
		p.fields[name] = newField(name, &property)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
		p.other = newField("", s.AdditionalProperties.Structural)
	}
	if s.Items != nil {
		p.items = newField("", s.Items)
	}
	if resource || s.XEmbeddedResource {
		for _, name := range []string{"apiVersion", "kind", "metadata"} {
			f := *keepAll
			f.name, f.quoted = name, quote(name)
			p.fields[name] = &f
		}
	}
	for _, f := range p.fields {
		if f.fallback != nil {
			p.defaults = append(p.defaults, f)
		}
	}
	slices.SortFunc(p.defaults, func(a, b *field) int { return strings.Compare(a.name, b.name) })
	for i, f := range p.defaults {
		f.bit = 1 << i // 64 bits are enough for all schemas here
	}
	p.keepsAll = p.keepsRest && len(p.fields) == 0 && p.other == nil && p.items == nil
	return p
}

func newField(name string, s *structural.Structural) *field {
	f := &field{plan: newPlan(s, false), name: name, quoted: quote(name), nullable: s.Nullable}
	if v := s.Default.Object; v != nil {
		v = runtime.DeepCopyJSONValue(v)
		defaulting.Default(v, s)
		f.fallback, _ = json.Marshal(v)
	}
	return f
}

func quote(name string) []byte {
	js, _ := json.Marshal(name)
	return js
}

// find returns the field for a member, or nil for a member that is pruned.
func (p *plan) find(name []byte) *field {
	if f := p.fields[string(name)]; f != nil {
		return f
	}
	if p.other != nil {
		return p.other
	}
	if p.keepsRest {
		return keepAll
	}
	return nil
}
