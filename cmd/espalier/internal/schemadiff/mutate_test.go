package schemadiff

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/espalier-dev/espalier/schema"
)

// This file changes schemas as authors of definitions do.

// A mutation changes a schema, and reports whether it could.
type mutation struct {
	name string
	do   func(r *rand.Rand, s *schema.Structural) bool
}

var mutations = []mutation{
	{"remove a field", func(r *rand.Rand, s *schema.Structural) bool {
		name, ok := anyName(r, s)
		delete(s.Properties, name)
		return ok
	}},
	{"rename a field", func(r *rand.Rand, s *schema.Structural) bool {
		name, ok := anyName(r, s)
		if ok {
			s.Properties[name+"New"] = s.Properties[name]
			delete(s.Properties, name)
		}
		return ok
	}},
	{"add a field", func(r *rand.Rand, s *schema.Structural) bool {
		if s.Properties != nil {
			s.Properties["added"] = scalar(r)
			if r.IntN(3) == 0 {
				s.Required = append(s.Required, "added")
			}
		}
		return s.Properties != nil
	}},
	{"replace a field", func(r *rand.Rand, s *schema.Structural) bool {
		name, ok := anyName(r, s)
		if ok = ok && reserved[name] == nil; ok {
			s.Properties[name] = scalar(r)
		}
		return ok
	}},
	{"make a map of an object", func(r *rand.Rand, s *schema.Structural) bool {
		ok := len(s.Properties) > 0
		if ok {
			s.Properties, s.AdditionalProperties = nil, &schema.SchemaOrBool{Allows: true, Schema: scalar(r)}
		}
		return ok
	}},
	{"make an object of a map", func(r *rand.Rand, s *schema.Structural) bool {
		ok := s.AdditionalProperties != nil
		if ok {
			s.AdditionalProperties, s.Properties = nil, map[string]*schema.Structural{"key": scalar(r)}
		}
		return ok
	}},
	{"preserve", func(_ *rand.Rand, s *schema.Structural) bool { return toggle(&s.XPreserveUnknownFields) }},
	{"preserve without fields", func(_ *rand.Rand, s *schema.Structural) bool {
		ok := len(s.Properties) > 0
		if ok {
			s.Properties, s.Required = nil, nil
			s.XPreserveUnknownFields = new(true)
		}
		return ok
	}},
	{"nullable", func(_ *rand.Rand, s *schema.Structural) bool { s.Nullable = !s.Nullable; return true }},
	{"another type", func(r *rand.Rand, s *schema.Structural) bool {
		s.Type = pick(r, "string", "integer", "number", "boolean", "object", "array", "")
		return true
	}},
	{"int or string", func(_ *rand.Rand, s *schema.Structural) bool {
		ok := s.Type == "string" || s.Type == "integer" || s.XIntOrString
		if ok {
			s.XIntOrString = !s.XIntOrString
		}
		return ok
	}},
	{"a default", func(r *rand.Rand, s *schema.Structural) bool {
		switch {
		case s.Default != nil && r.IntN(2) == 0:
			s.Default = nil
		case s.Type == "string":
			s.Default = json.RawMessage(pick(r, `"d"`, `"e"`, `"a"`))
		case s.Type == "integer":
			s.Default = json.RawMessage(pick(r, `1`, `2`))
		case s.Type == "boolean":
			s.Default = json.RawMessage(pick(r, `true`, `false`))
		case s.Type == "object":
			s.Default = json.RawMessage(`{}`)
		default:
			return false
		}
		return true
	}},
	{"an enum", func(r *rand.Rand, s *schema.Structural) bool {
		switch {
		case len(s.Enum) > 0 && r.IntN(2) == 0:
			s.Enum = s.Enum[1:]
		case len(s.Enum) > 0:
			s.Enum = append(slices.Clip(s.Enum), json.RawMessage(`"more"`))
		case s.Type == "string":
			s.Enum = []json.RawMessage{json.RawMessage(`"a"`), json.RawMessage(`""`)}
		default:
			return false
		}
		return true
	}},
	{"bounds of numbers", func(r *rand.Rand, s *schema.Structural) bool {
		ok := s.Type == "integer" || s.Type == "number" || s.XIntOrString
		if ok {
			*pick(r, &s.Minimum, &s.Maximum, &s.MultipleOf) = pick(r, nil, new(1.0), new(2.0), new(5.0))
			*pick(r, &s.ExclusiveMinimum, &s.ExclusiveMaximum) = r.IntN(2) == 0
		}
		return ok
	}},
	{"bounds of sizes", func(r *rand.Rand, s *schema.Structural) bool {
		of := map[string][]**int64{
			"string": {&s.MinLength, &s.MaxLength}, "array": {&s.MinItems, &s.MaxItems}, "object": {&s.MinProperties, &s.MaxProperties},
		}[s.Type]
		if of != nil {
			*pick(r, of...) = pick(r, nil, new(int64(0)), new(int64(1)), new(int64(3)))
		}
		return of != nil
	}},
	{"a pattern", func(r *rand.Rand, s *schema.Structural) bool {
		if s.Type == "string" {
			s.Pattern = pick(r, "", "^a", "^.{0,3}$")
		}
		return s.Type == "string"
	}},
	{"a format", func(r *rand.Rand, s *schema.Structural) bool {
		switch s.Type {
		case "string":
			s.Format = pick(r, "", "date", "ipv4", "unknown")
		case "integer":
			s.Format = pick(r, "", "int32", "int64")
		default:
			return false
		}
		return true
	}},
	{"required", func(r *rand.Rand, s *schema.Structural) bool {
		name, ok := anyName(r, s)
		switch {
		case !ok:
		case slices.Contains(s.Required, name):
			s.Required = slices.DeleteFunc(s.Required, func(n string) bool { return n == name })
		default:
			s.Required = append(s.Required, name)
		}
		return ok
	}},
	{"a type of lists", func(r *rand.Rand, s *schema.Structural) bool {
		if s.Type != "array" {
			return false
		}
		s.XListType = pick(r, nil, new("atomic"), new("set"))
		s.XListMapKeys = nil
		return true
	}},
	{"keys of lists", func(r *rand.Rand, s *schema.Structural) bool {
		if s.Items == nil || s.Items.Schema == nil {
			return false
		}
		name, ok := anyName(r, s.Items.Schema)
		if ok {
			s.XListType, s.XListMapKeys = new("map"), []string{name}
			s.Items.Schema.Required = append(s.Items.Schema.Required, name)
		}
		return ok
	}},
	{"junctors", func(r *rand.Rand, s *schema.Structural) bool {
		short := &schema.Structural{MaxLength: new(int64(2)), MaxProperties: new(int64(1)), MaxItems: new(int64(1))}
		long := &schema.Structural{MinLength: new(int64(2)), MinProperties: new(int64(1)), MinItems: new(int64(1))}
		list := pick(r, &s.AllOf, &s.AnyOf, &s.OneOf)
		*list = pick(r, nil, []*schema.Structural{short}, []*schema.Structural{short, long}, append(slices.Clip(*list), long))
		if r.IntN(3) == 0 {
			s.Not = pick(r, nil, short, long)
		}
		return true
	}},
	{"embedded", func(_ *rand.Rand, s *schema.Structural) bool {
		if s.Type == "object" {
			s.XEmbeddedResource = !s.XEmbeddedResource
		}
		return s.Type == "object"
	}},
	{"no items", func(_ *rand.Rand, s *schema.Structural) bool {
		ok := s.Items != nil
		s.Items = nil
		return ok
	}},
	{"additional properties", func(r *rand.Rand, s *schema.Structural) bool {
		if s.Type == "object" {
			s.AdditionalProperties = pick(r, nil, &schema.SchemaOrBool{Allows: true}, &schema.SchemaOrBool{})
		}
		return s.Type == "object"
	}},
}

// mutate changes a schema in one place, and returns how.
func mutate(r *rand.Rand, root *schema.Structural) string {
	var all []*schema.Structural
	var collect func(s *schema.Structural)
	collect = func(s *schema.Structural) {
		if s == nil {
			return
		}
		all = append(all, s)
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			collect(s.Properties[name])
		}
		if s.AdditionalProperties != nil {
			collect(s.AdditionalProperties.Schema)
		}
		if s.Items != nil {
			collect(s.Items.Schema)
		}
	}
	collect(root)
	for {
		m := mutations[r.IntN(len(mutations))]
		s := all[r.IntN(len(all))]
		// The server has rules of its own for these.
		isReserved := s == root || s == root.Properties["metadata"] || s == root.Properties["kind"] || s == root.Properties["apiVersion"]
		if metadata := root.Properties["metadata"]; metadata != nil && s == metadata.Properties["name"] {
			isReserved = true
		}
		if isReserved && slices.Contains([]string{"nullable", "another type", "a default", "embedded", "int or string", "replace a field", "add a field", "rename a field"}, m.name) && (s != root || m.name != "add a field") {
			continue
		}
		if (s == root || s.XEmbeddedResource) && slices.Contains([]string{"make a map of an object", "additional properties"}, m.name) {
			continue
		}
		if m.do(r, s) {
			return m.name
		}
	}
}

func anyName(r *rand.Rand, s *schema.Structural) (name string, ok bool) {
	names := slices.Sorted(maps.Keys(s.Properties))
	if len(names) == 0 {
		return "", false
	}
	return names[r.IntN(len(names))], true
}

func scalar(r *rand.Rand) *schema.Structural {
	return pick(
		r,
		&schema.Structural{Type: "string"},
		&schema.Structural{Type: "string", Default: json.RawMessage(`"added"`)},
		&schema.Structural{Type: "integer", Nullable: true},
		&schema.Structural{Type: "object", Properties: map[string]*schema.Structural{"inner": {Type: "boolean", Default: json.RawMessage("true")}}},
		&schema.Structural{Type: "array", Items: &schema.SchemaOrArray{Schema: &schema.Structural{Type: "string"}}},
		&schema.Structural{XPreserveUnknownFields: new(true)},
	)
}

func toggle(flag **bool) bool {
	if *flag == nil {
		*flag = new(true)
	} else {
		*flag = nil
	}
	return true
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }
