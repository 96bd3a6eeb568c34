package fuzz

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/spec"
	"github.com/espalier-dev/espalier/schema"
)

// WorldValueSchemas returns small schemas with all combinations of the keywords by which values are
// validated. Each is that of a resource with a required field a, for which all that varies is specified.
func WorldValueSchemas() (roots []*schema.Structural) {
	for _, node := range worldValueNodes() {
		for way := range uint64(2) {
			a := *node
			a.Nullable = way == 1
			roots = append(roots, &schema.Structural{Type: "object", Properties: fields(&a), Required: []string{"a"}})
		}
	}
	return roots
}

// worldValueNodes returns what is specified for the field.
func worldValueNodes() (nodes []*schema.Structural) {
	add := func(s schema.Structural) { nodes = append(nodes, &s) }
	all, some, few := varied(valueLeaves()), varied(valueLeaves()[:8]), varied(valueLeaves()[:3])
	for i := 0; i < len(all); i += 2 { // WorldValueSchemas makes all of them nullable
		nodes = append(nodes, all[i])
	}
	for _, leaf := range some {
		for _, required := range [][]string{nil, {"a"}, {"b"}} {
			add(schema.Structural{Type: "object", Properties: fields(leaf), Required: required})
		}
		kept := schema.Structural{Type: "object", Properties: fields(leaf), Required: []string{"b"}}
		kept.XPreserveUnknownFields = yes()
		add(kept)
	}
	for _, a := range few {
		for _, b := range few {
			add(schema.Structural{Type: "object", Properties: fields(a, b)})
			add(schema.Structural{Type: "object", Properties: fields(a, b), Required: []string{"b", "a"}})
		}
	}
	for _, leaf := range some {
		values := &schema.SchemaOrBool{Schema: leaf, Allows: true}
		add(schema.Structural{Type: "object", AdditionalProperties: values})
		add(schema.Structural{Type: "object", AdditionalProperties: values, MaxProperties: bound(1)})
		add(schema.Structural{Type: "array", Items: &schema.SchemaOrArray{Schema: leaf}, MaxItems: bound(1)})
		add(list("atomic", leaf, nil))
		add(list("set", leaf, nil))
		add(list("set", leaf, bound(1)))
	}
	for _, a := range few {
		closed := schema.Structural{Type: "object", Properties: fields(a), AdditionalProperties: &schema.SchemaOrBool{}}
		closed.XPreserveUnknownFields = yes()
		add(closed)
		add(schema.Structural{Type: "array", Items: &schema.SchemaOrArray{Schema: a}, MinItems: bound(2)})
		add(list("map", a, nil, "a"))
		sets, object := list("set", a, nil), schema.Structural{Type: "object", Properties: fields(a), Nullable: a.Nullable}
		add(list("set", &sets, nil))
		add(list("set", &object, nil))
		add(schema.Structural{Type: "object", Properties: fields(&sets)})
		for _, b := range few {
			for _, required := range [][]string{nil, {"a"}} {
				element := schema.Structural{Type: "object", Properties: fields(a, b), Required: required}
				add(list("map", &element, nil, "a"))
				add(list("map", &element, nil, "a", "b"))
			}
		}
	}
	return nodes
}

// valueLeaves are schemas of one node. The first ones are within all others.
func valueLeaves() []schema.Structural {
	values := func(texts ...json.RawMessage) []json.RawMessage { return texts }
	one, text, other := json.RawMessage("1"), json.RawMessage(`"s"`), json.RawMessage(`"t"`)
	return []schema.Structural{
		{Type: "string"},
		{Type: "integer", Enum: values(one)},
		{XIntOrString: true},
		{Type: "object", Required: []string{"a"}, XPreserveUnknownFields: yes()},
		{Type: "string", Enum: values(other, text)},
		{Type: "string", Enum: values(other)},
		{Type: "string", MinLength: bound(2)},
		{Type: "string", MaxLength: bound(0)},
		{Type: "integer"},
		{Type: "number", Maximum: new(float64)},
		{XIntOrString: true, Enum: values(text)},
		{XIntOrString: true, Maximum: new(float64), MaxLength: bound(0)},
		{Type: "boolean"},
		{Type: "object"},
		{Type: "object", MinProperties: bound(1), XPreserveUnknownFields: yes()},
		{Type: "object", MaxProperties: bound(0), XPreserveUnknownFields: yes()},
		{Type: "object", Enum: values(json.RawMessage("{}")), XPreserveUnknownFields: yes()},
		{Enum: values(json.RawMessage("[1]"), one), XPreserveUnknownFields: yes()},
		{XPreserveUnknownFields: yes()},
	}
}

// varied returns each schema with and without a default, nullable and not.
func varied(leaves []schema.Structural) (all []*schema.Structural) {
	for _, leaf := range leaves {
		leaf.Default = json.RawMessage("1")
		for way := range uint64(nodeWays) {
			all = append(all, worldNode(leaf, way))
		}
	}
	return all
}

func bound(n int64) *int64 { return &n }

// fields returns properties a and b.
func fields(schemas ...*schema.Structural) map[string]*schema.Structural {
	properties := make(map[string]*schema.Structural)
	for i, s := range schemas {
		properties[string(rune('a'+i))] = s
	}
	return properties
}

func list(kind string, items *schema.Structural, most *int64, keys ...string) schema.Structural {
	return schema.Structural{
		Type: "array", Items: &schema.SchemaOrArray{Schema: items}, XListType: &kind, XListMapKeys: keys, MaxItems: most,
	}
}

// A valueRules is the specification of which values are invalid, for the keywords of the schemas of
// WorldValueSchemas: what kube-openapi's validators and ValidateListSetsAndMaps refuse in what is decoded.
type valueRules struct{ found []string }

// invalidValues returns the kinds and paths of what is invalid in a value, sorted.
func invalidValues(v spec.Value, s *schema.Structural) []string {
	var r valueRules
	r.value(v, s, errors.Path{})
	r.lists(v, s, errors.Path{})
	slices.Sort(r.found)
	return r.found
}

func (r *valueRules) add(kind errors.SchemaErrorKind, at errors.Path) {
	r.found = append(r.found, invalidText(kind, at))
}

func invalidText(kind errors.SchemaErrorKind, at errors.Path) string {
	return string(kind) + " " + at.Pointer()
}

// value applies all keywords but those of lists to a value.
func (r *valueRules) value(v spec.Value, s *schema.Structural, at errors.Path) {
	if s == nil {
		return
	}
	if !fitsType(v, s) {
		r.add(errors.SchemaTypeInvalid, at)
	}
	isAllowed := func(text json.RawMessage) bool { return string(text) == string(spec.Text(v)) }
	if len(s.Enum) > 0 && (v == nil || !slices.ContainsFunc(s.Enum, isAllowed)) {
		r.add(errors.SchemaUnsupported, at) // a null is not even itself
	}
	switch v := v.(type) {
	case string:
		n := int64(utf8.RuneCountInString(v))
		r.bounds(n, s.MinLength, s.MaxLength, errors.SchemaTooLong, at)
	case json.Number:
		if f, _ := v.Float64(); s.Maximum != nil && f > *s.Maximum {
			r.add(errors.SchemaInvalid, at)
		}
	case spec.Array:
		r.bounds(int64(len(v)), s.MinItems, s.MaxItems, errors.SchemaTooMany, at)
		for i, e := range v {
			r.value(e, itemsOf(s), at.Element(i))
		}
	case spec.Object:
		r.bounds(int64(len(v)), s.MinProperties, s.MaxProperties, errors.SchemaTooMany, at)
		for _, m := range v {
			child, isDeclared := memberOf(s, m.Name)
			if !isDeclared && s.AdditionalProperties != nil && !s.AdditionalProperties.Allows {
				r.add(errors.SchemaInvalid, at)
			}
			r.value(m.Value, child, at.Child(m.Name))
		}
		for _, name := range s.Required {
			if !slices.ContainsFunc(v, func(m spec.Member) bool { return m.Name == name }) {
				r.add(errors.SchemaRequired, at.Child(name))
			}
		}
	}
}

// bounds compares a number with its bounds. Only too large ones have a kind of their own.
func (r *valueRules) bounds(n int64, least, most *int64, tooLarge errors.SchemaErrorKind, at errors.Path) {
	if least != nil && n < *least {
		r.add(errors.SchemaInvalid, at)
	}
	if most != nil && n > *most {
		r.add(tooLarge, at)
	}
}

// memberOf and itemsOf return the schema of a member and of elements, or nil.
func memberOf(s *schema.Structural, name string) (child *schema.Structural, isDeclared bool) {
	if p, ok := s.Properties[name]; ok {
		return p, true
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		return s.AdditionalProperties.Schema, true
	}
	return nil, false
}

func itemsOf(s *schema.Structural) *schema.Structural {
	if s.Items == nil {
		return nil
	}
	return s.Items.Schema
}

// fitsType reports whether a value has the type of the schema, if that has one.
func fitsType(v spec.Value, s *schema.Structural) bool {
	isInteger, isText := false, false
	is := ""
	switch v := v.(type) {
	case nil:
		return s.Nullable || s.Type == "" && !s.XIntOrString
	case bool:
		is = "boolean"
	case string:
		is, isText = "string", true
	case json.Number:
		_, err := strconv.ParseInt(string(v), 10, 64)
		is, isInteger = "number", err == nil
	case spec.Array:
		is = "array"
	case spec.Object:
		is = "object"
	}
	if s.XIntOrString {
		return isInteger || isText
	}
	return s.Type == "" || s.Type == is || s.Type == "integer" && isInteger
}

// lists finds the elements that are equal in sets, and those with equal keys in maps.
func (r *valueRules) lists(v spec.Value, s *schema.Structural, at errors.Path) {
	if s == nil {
		return
	}
	switch v := v.(type) {
	case spec.Object:
		for _, m := range v {
			child, _ := memberOf(s, m.Name)
			r.lists(m.Value, child, at.Child(m.Name))
		}
	case spec.Array:
		switch {
		case s.XListType == nil:
		case *s.XListType == "set":
			r.repeated(v, at)
		case *s.XListType == "map":
			r.repeatedKeys(v, s.XListMapKeys, at)
		}
		for i, e := range v {
			r.lists(e, itemsOf(s), at.Element(i))
		}
	}
}

// repeated finds each value that is there again, where that is for the first time.
func (r *valueRules) repeated(list spec.Array, at errors.Path) {
	seen := make(map[string]int)
	for i, e := range list {
		text := sortedText(e)
		if seen[text]++; seen[text] == 2 {
			r.add(errors.SchemaDuplicate, at.Element(i))
		}
	}
}

// repeatedKeys finds keys likewise. A null has none. What is no object makes the list no map.
func (r *valueRules) repeatedKeys(list spec.Array, names []string, at errors.Path) {
	keys := make(spec.Array, len(list))
	for i, e := range list {
		object, isObject := e.(spec.Object)
		if e != nil && !isObject {
			r.add(errors.SchemaInvalid, at.Element(i))
			return
		}
		key := spec.Object{}
		for _, m := range object {
			if slices.Contains(names, m.Name) {
				key = append(key, m)
			}
		}
		keys[i] = key
	}
	r.repeated(keys, at)
}

// sortedText returns a value as JSON with the members of its objects by name.
func sortedText(v spec.Value) string {
	switch v := v.(type) {
	case spec.Object:
		parts := make([]string, len(v))
		for i, m := range v {
			parts[i] = string(spec.Text(m.Name)) + ":" + sortedText(m.Value)
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, ",") + "}"
	case spec.Array:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = sortedText(e)
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	return string(spec.Text(v))
}
