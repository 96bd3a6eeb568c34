package fuzz

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// DocumentsPerSchema is how many successive seeds share a schema. A schema and its decoders cost
// more than a document.
const DocumentsPerSchema = 64

// NewSchema returns the schema of the seed, as a tree and as JSON. It would be accepted in a
// definition. One in four would be accepted except for its defaults, as in clusters that are older
// than the validation of defaults.
func NewSchema(seed uint64) (*schema.Structural, []byte) {
	seed /= DocumentsPerSchema
	for try := uint64(0); ; try++ {
		g := schemaGrower{Rand: rand.New(rand.NewPCG(seed, 1<<32|try)), old: seed%4 == 3}
		s := g.root()
		if g.old && IsStructural(s) || !g.old && validation.Structural(s) == nil {
			return s, marshal(s)
		}
	}
}

// IsStructural reports whether the schema is accepted without its defaults.
func IsStructural(s *schema.Structural) bool {
	return validation.Structural(withoutDefaults(s)) == nil
}

func marshal(v any) []byte {
	js, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		panic(err)
	}
	return js
}

// withoutDefaults returns a copy of the core.
func withoutDefaults(s *schema.Structural) *schema.Structural {
	if s == nil {
		return nil
	}
	c := *s
	c.Default = nil
	c.Properties = make(map[string]*schema.Structural)
	for name, p := range s.Properties {
		c.Properties[name] = withoutDefaults(p)
	}
	if s.Items != nil {
		c.Items = &schema.SchemaOrArray{Schema: withoutDefaults(s.Items.Schema)}
	}
	if s.AdditionalProperties != nil {
		ap := *s.AdditionalProperties
		ap.Schema = withoutDefaults(ap.Schema)
		c.AdditionalProperties = &ap
	}
	return &c
}

// A schemaGrower makes one schema.
type schemaGrower struct {
	*rand.Rand
	old  bool
	size int // nodes so far
}

// in reports true once in n times.
func in(r *rand.Rand, n int) bool { return r.IntN(n) == 0 }

func one[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// fieldNames are few, so that the names of documents are often fields in other places.
var fieldNames = []string{"a", "b", "c", "spec", "items", "longer-than-sixteen-bytes", "exactly-16-bytes", "kind", "apiVersion", "metadata", "é", "🌳"}

// oddNames are spelled differently in messages, or look like another part of a path.
var oddNames = []string{"", "a.b", "[0]", " ", "q\"t", "back\\slash", "line\nbreak", "\u202e", "nul\x00", "*"}

var truth = true

func (g *schemaGrower) root() *schema.Structural {
	s := &schema.Structural{Type: "object"}
	if in(g.Rand, 6) {
		s.XPreserveUnknownFields = &truth
	}
	g.properties(s, 0, true, false)
	if in(g.Rand, 8) {
		s.XEmbeddedResource = true
		if len(s.Properties) == 0 {
			s.XPreserveUnknownFields = &truth
		}
	}
	return s
}

// properties adds properties to a schema for objects. meta says that kind, apiVersion and metadata
// have a type given. open says that any defaults are accepted.
func (g *schemaGrower) properties(s *schema.Structural, depth int, meta, open bool) {
	s.Properties = make(map[string]*schema.Structural)
	n := g.IntN(6)
	for range n {
		name := one(g.Rand, fieldNames...)
		if in(g.Rand, 20) {
			name = one(g.Rand, oddNames...)
		}
		switch {
		case meta && (name == "kind" || name == "apiVersion"):
			s.Properties[name] = &schema.Structural{Type: "string"}
		case meta && name == "metadata" && depth == 0:
			s.Properties[name] = &schema.Structural{Type: "object", Properties: map[string]*schema.Structural{"name": {Type: "string"}}}
		case meta && name == "metadata":
			s.Properties[name] = g.metadata()
		default:
			s.Properties[name] = g.node(depth+1, open)
		}
		if meta && depth > 0 && (name == "kind" || name == "apiVersion") {
			s.Properties[name].Nullable = in(g.Rand, 3)
			if in(g.Rand, 3) {
				s.Properties[name].Default = []byte(one(g.Rand, `"v1"`, `"Kind"`))
			}
		}
	}
	if in(g.Rand, 40) {
		for i := range 70 {
			p := &schema.Structural{Type: "integer", Nullable: in(g.Rand, 4)}
			if in(g.Rand, 3) {
				p.Default = []byte("7")
			}
			s.Properties[fmt.Sprint("f", i)] = p
		}
	}
}

// node returns a schema for a field, an element or a value of a map.
func (g *schemaGrower) node(depth int, open bool) *schema.Structural {
	s := &schema.Structural{}
	g.size++
	kind := g.IntN(20)
	if depth > 5 || g.size > 60 {
		kind = 15 + g.IntN(5)
	}
	switch {
	case kind < 5:
		s.Type = "object"
		g.properties(s, depth, false, open)
		if in(g.Rand, 5) {
			s.AdditionalProperties = &schema.SchemaOrBool{Allows: true}
		}
	case kind < 8:
		s.Type = "object"
		s.AdditionalProperties = one(g.Rand, &schema.SchemaOrBool{Allows: true}, &schema.SchemaOrBool{}, nil, nil)
		if s.AdditionalProperties == nil {
			s.AdditionalProperties = &schema.SchemaOrBool{Allows: true, Schema: g.node(depth+1, true)}
		}
	case kind < 12:
		s.Type = "array"
		s.Items = &schema.SchemaOrArray{Schema: g.node(depth+1, open)}
	case kind < 15:
		s.Type = "object"
		s.XEmbeddedResource = true
		g.properties(s, depth, true, open)
		if len(s.Properties) == 0 || in(g.Rand, 3) {
			s.XPreserveUnknownFields = &truth
		}
	case kind == 15:
		s.XIntOrString = true
	case kind == 16:
		s.XPreserveUnknownFields = &truth
	default:
		s.Type = one(g.Rand, "string", "integer", "number", "boolean", "object")
		if in(g.Rand, 12) {
			g.properties(s, max(depth, 4), false, open)
		}
	}
	if !s.XIntOrString && in(g.Rand, 6) {
		s.XPreserveUnknownFields = &truth
	}
	if s.Items == nil && s.Type != "" && in(g.Rand, 25) {
		s.Items = &schema.SchemaOrArray{Schema: g.node(max(depth, 4)+1, open)}
	}
	s.Nullable = in(g.Rand, 5)
	if in(g.Rand, 4) {
		g.setDefault(s, open)
	}
	return s
}

// metadata returns a schema for the metadata of an embedded resource.
func (g *schemaGrower) metadata() *schema.Structural {
	text := func() *schema.Structural { return &schema.Structural{Type: "string", Nullable: in(g.Rand, 4)} }
	s := &schema.Structural{Type: "object", Nullable: in(g.Rand, 5), Properties: make(map[string]*schema.Structural)}
	if in(g.Rand, 5) {
		s.XPreserveUnknownFields = &truth
	}
	for range g.IntN(4) {
		name := one(g.Rand, "name", "namespace", "labels", "annotations", "finalizers", "generation", "junk", "ownerReferences", "managedFields", "creationTimestamp")
		p := text()
		switch name {
		case "labels", "annotations":
			p = &schema.Structural{Type: "object", Nullable: in(g.Rand, 4)}
			if in(g.Rand, 2) {
				p.AdditionalProperties = &schema.SchemaOrBool{Allows: true, Schema: text()}
			} else {
				p.Properties = map[string]*schema.Structural{"a": text(), "b": text()}
				if in(g.Rand, 2) {
					p.Properties["a"].Default = []byte(`"A"`)
				}
			}
			if in(g.Rand, 3) {
				p.Default = []byte(one(g.Rand, `{}`, `{"a":"x"}`))
			}
		case "finalizers":
			p = &schema.Structural{Type: "array", Nullable: in(g.Rand, 4), Items: &schema.SchemaOrArray{Schema: text()}}
		case "generation":
			p = &schema.Structural{Type: "integer", Default: []byte("3")}
		case "ownerReferences", "managedFields":
			element := &schema.Structural{Type: "object",
				Properties: map[string]*schema.Structural{"kind": text(), "controller": {Type: "boolean", Nullable: in(g.Rand, 2)}}}
			g.mapOf(element, text())
			p = &schema.Structural{Type: "array", Items: &schema.SchemaOrArray{Schema: element}}
		case "creationTimestamp":
		default:
			if in(g.Rand, 2) {
				p.Default = []byte(`"n"`)
			}
		}
		s.Properties[name] = p
	}
	g.mapOf(s, text())
	if in(g.Rand, 4) {
		s.Default = []byte(one(g.Rand, `{}`, `{"name":"d"}`, `{"labels":{"a":"b"}}`))
	}
	return s
}

// mapOf makes a map of the schema for a struct, or leaves it. Then it says what becomes of nulls of
// names that the struct does not have, and its default counts for nothing.
func (g *schemaGrower) mapOf(s, values *schema.Structural) {
	if !in(g.Rand, 3) {
		return
	}
	switch {
	case g.old && in(g.Rand, 3):
		values.Default = []byte(`"x"`)
	case in(g.Rand, 4):
		values = &schema.Structural{Type: "object", AdditionalProperties: &schema.SchemaOrBool{Allows: true, Schema: values}}
		if in(g.Rand, 2) {
			values = &schema.Structural{Type: "array", Items: &schema.SchemaOrArray{Schema: values}}
		}
	}
	s.Properties, s.AdditionalProperties = nil, &schema.SchemaOrBool{Allows: true, Schema: values}
}

// setDefault gives the schema a default of its kind, or an arbitrary one where nothing checks it.
func (g *schemaGrower) setDefault(s *schema.Structural, open bool) {
	bare := *s
	if g.old && in(g.Rand, 2) || open && in(g.Rand, 4) {
		bare = *one(g.Rand, &schema.Structural{Type: "object"}, &schema.Structural{Type: "array"}, s)
		s.Default = marshal(g.value(&bare, 0, true))
		return
	}
	s.Default = marshal(g.value(&bare, 0, false))
}

// value returns a value for a default: a value that the schema allows or, if loose, one with other
// content.
func (g *schemaGrower) value(s *schema.Structural, depth int, loose bool) any {
	if s.Nullable && in(g.Rand, 6) && depth > 0 {
		return nil
	}
	switch {
	case loose && in(g.Rand, 8):
		return one[any](g.Rand, nil, 1, "s", []any{nil}, map[string]any{"a": nil, "zz": 1})
	case s.XIntOrString:
		return one[any](g.Rand, 1, "s")
	case s.Type == "object":
		m := map[string]any{}
		names := make([]string, 0, len(s.Properties))
		for name := range s.Properties {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			if len(names) < 20 && in(g.Rand, 3) && (!s.XEmbeddedResource || name != "metadata") {
				m[name] = g.value(s.Properties[name], depth+1, loose)
			}
		}
		if ap := s.AdditionalProperties; ap != nil && ap.Schema != nil && in(g.Rand, 2) {
			m["k"] = g.value(ap.Schema, depth+1, loose)
		}
		if s.XEmbeddedResource {
			m["apiVersion"], m["kind"] = "v1", "Kind"
			if in(g.Rand, 2) {
				m["metadata"] = one(g.Rand, map[string]any{"name": "n"}, map[string]any{"name": "n", "junk": 1},
					map[string]any{}, map[string]any{"labels": map[string]any{"a": "b"}})
			}
		}
		if loose && in(g.Rand, 2) {
			m[one(g.Rand, "zz", "a", "metadata")] = one[any](g.Rand, 1, map[string]any{"a": 1}, nil)
		}
		return m
	case s.Type == "array":
		l := []any{}
		for range g.IntN(3) {
			if s.Items != nil && s.Items.Schema != nil {
				l = append(l, g.value(s.Items.Schema, depth+1, loose))
			}
		}
		return l
	case s.Type == "integer":
		return g.IntN(100)
	case s.Type == "number":
		return []byte(one(g.Rand, "1.5", "2", "1.0", "1e3", "-0.0"))
	case s.Type == "boolean":
		return in(g.Rand, 2)
	case s.Type == "string":
		return one(g.Rand, "", "d", "é")
	}
	return one[any](g.Rand, 1, "s", map[string]any{"q": map[string]any{"r": 1}}, []any{1})
}
