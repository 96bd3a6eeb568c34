package schema_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

func TestParse(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"empty", `{}`, `{}`},
		{"YAML", "type: object\nproperties:\n  a: {type: string}\n", `{"type":"object","properties":{"a":{"type":"string"}}}`},
		{"flow mapping that is no JSON", `{type: object,}`, `{"type":"object"}`},
		{"JSON with a comment is YAML", "{\"type\": \"object\"} # \n", `{"type":"object"}`},
		{"white space before JSON", "\n\t {\"type\": \"object\"}\n", `{"type":"object"}`},
		{"unknown members", `{"x-other": {"type": 1}, "Type": "string", "readOnly": true}`, `{}`},
		{"null members", `{"type": null, "items": null, "not": null, "nullable": null, "default": null, "example": null, "externalDocs": null, "additionalProperties": null, "maximum": null, "required": null, "$ref": null}`, `{}`},
		{"null schemas", `{"properties": {"a": null}, "allOf": [null], "items": [null], "definitions": {"b": null}, "patternProperties": {"c": null}}`,
			`{"properties": {"a": {}}, "allOf": [{}], "items": [{}], "definitions": {"b": {}}, "patternProperties": {"c": {}}}`},
		{"null schemas within", `{"items": {"allOf": [null]}, "additionalProperties": {"allOf": [null]}, "additionalItems": {"allOf": [null]}, "not": {"allOf": [null]}}`,
			`{"items": {"allOf": [{}]}, "additionalProperties": {"allOf": [{}]}, "additionalItems": {"allOf": [{}]}, "not": {"allOf": [{}]}}`},
		{"empty is absent", `{"properties": {}, "required": [], "anyOf": [], "enum": [], "x-kubernetes-list-map-keys": []}`, `{}`},
		{"empty defaults are not", `{"properties": {"a": {"default": ""}, "b": {"default": {}}, "c": {"default": []}, "d": {"default": false}, "e": {"default": 0}}}`,
			`{"properties": {"a": {"default": ""}, "b": {"default": {}}, "c": {"default": []}, "d": {"default": false}, "e": {"default": 0}}}`},
		{"nulls in raw values", `{"default": {"a": null}, "enum": [null, "a"]}`, `{"default": {"a": null}, "enum": [null, "a"]}`},
		{"white space in raw values", `{"default": { "a" : [ 1 ] }, "x-kubernetes-validations": [ { "rule" : "true" } ]}`, `{"default": {"a": [1]}, "x-kubernetes-validations": [{"rule": "true"}]}`},
		{"additionalProperties", `{"properties": {"a": {"additionalProperties": true}, "b": {"additionalProperties": false}, "c": {"additionalProperties": {}}}}`,
			`{"properties": {"a": {"additionalProperties": true}, "b": {"additionalProperties": false}, "c": {"additionalProperties": {}}}}`},
		{"preserve false", `{"x-kubernetes-preserve-unknown-fields": false}`, `{"x-kubernetes-preserve-unknown-fields": false}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := schema.Parse([]byte(tt.in))
			require.NoError(t, err)
			require.Equal(t, canonical(t, []byte(tt.want)), canonical(t, s))
			again, err := schema.Parse([]byte(canonical(t, s)))
			require.NoError(t, err)
			require.Equal(t, s, again)
		})
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"nothing", ``, `1:1: a schema must be an object, not null`},
		{"null", `null`, `1:1: a schema must be an object, not null`},
		{"array", `[{}]`, `1:1: a schema must be an object, not an array`},
		{"scalar", "\nobject", `2:1: a schema must be an object, not a string`},
		{"type as a list", "properties:\n  a:\n    type: [string, \"null\"]\n",
			`3:11: must be a string, not an array: a schema has one type; use nullable to allow null, x-kubernetes-int-or-string for integer or string in "properties.a.type"`},
		{"type as a list in JSON", "{\n\t\"properties\": {\"a\": {\n\t\t\"type\":  [\"string\"]}}}",
			`3:12: must be a string, not an array: a schema has one type; use nullable to allow null, x-kubernetes-int-or-string for integer or string in "properties.a.type"`},
		{"property as a schema", "properties:\n- a\n", `2:1: must be an object, not an array in "properties"`},
		{"YAML's idea of a boolean", "type: yes", `1:7: must be a string, not a boolean in "type"`},
		{"a string for a list", `required: a`, `1:11: must be an array, not a string in "required"`},
		{"a number for a list", "{\"required\":\n 5}", `2:2: must be an array, not a number in "required"`},
		{"an object for a string", `{"type": {}}`, `1:10: must be a string, not an object in "type"`},
		{"a string for a number", `{"maximum": "1"}`, `1:13: must be a number, not a string in "maximum"`},
		{"duplicate in a list", `{"enum": [{}, [1, {"x": 1, "y": 2, "x": 3}]]}`, `1:36: duplicate name "x" in "enum[1][1]"`},
		{"line breaks", "{\r\n\"title\": \"\",\r\r\"id\": \"\",\n\r\n\r\n\"type\": 5}", `7:9: must be a string, not a number in "type"`},
		{"items", "properties: {l: {items: string}}", `1:25: must be an object, not a string in "properties.l.items"`},
		{"index", "allOf: [{}, {anyOf: [{nullable: 1}]}]", `1:33: must be a boolean, not a number in "allOf[1].anyOf[0].nullable"`},
		{"name that is a number", `{"properties": {"0": {"maxLength": 1.5}}}`, `1:36: must be an integer, not 1.5 in "properties.0.maxLength"`},
		{"duplicate", "properties:\n  a: {}\n  b: {}\n  a: {type: string}\n", `4:3: duplicate name "a" in "properties"`},
		{"duplicate in JSON", "{\"type\": \"object\",\n \"type\": \"object\"}", `2:2: duplicate name "type"`},
		{"duplicate in a default", `{"default": {"x": 1, "x": 2}}`, `1:22: duplicate name "x" in "default"`},
		{"duplicate among what is dropped", `{"x-other": {"x": 1, "x": 2}}`, `1:22: duplicate name "x" in "x-other"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := schema.Parse([]byte(tt.in))
			require.EqualError(t, err, tt.want)
			require.Nil(t, s)
			var syntax *errors.SyntaxError
			require.ErrorAs(t, err, &syntax)
			require.True(t, syntax.Position.IsValid())
		})
	}
}

func TestParseMalformed(t *testing.T) {
	for _, in := range []string{"{", "{\"a\": \xff}", "a: \xff", "a: b: c", "\"", "{}\n---\n{}", `{"type": "\ud800"}`, "\t"} {
		s, err := schema.Parse([]byte(in))
		require.Error(t, err, "%q", in)
		require.Nil(t, s)
	}
}

// A schema is marshalled as it was written, whatever its contents.
func TestParseMarshalsBack(t *testing.T) {
	const all = `{
		"type": "object", "properties": {"a": {"items": {"type": "string"}}, "b": {"items": [{}, {"type": "string"}]}},
		"additionalProperties": {"nullable": true}, "default": {"z": 1, "a": 1.0},
		"x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-embedded-resource": true, "x-kubernetes-int-or-string": true,
		"x-kubernetes-list-map-keys": ["k"], "x-kubernetes-list-type": "map", "x-kubernetes-map-type": "atomic",
		"x-kubernetes-validations": [{"rule": "self.a == 1", "message": "m"}],
		"title": "t", "description": "d", "externalDocs": {"url": "u"}, "example": "",
		"format": "int32", "maximum": 1.5, "exclusiveMaximum": true, "minimum": 0, "exclusiveMinimum": true, "maxLength": 0, "minLength": 1,
		"pattern": "^a", "maxItems": 2, "minItems": 0, "uniqueItems": true, "multipleOf": 0.5, "enum": ["a", null, 1e3],
		"maxProperties": 3, "minProperties": 0, "required": ["a"], "allOf": [{}], "anyOf": [{"type": "string"}], "oneOf": [{"not": {}}], "not": {},
		"id": "i", "$schema": "s", "$ref": "", "patternProperties": {"^x": {}}, "additionalItems": false,
		"definitions": {"d": {}}, "dependencies": {"e": ["f"], "g": {}}
	}`
	s, err := schema.Parse([]byte(all))
	require.NoError(t, err)
	require.Equal(t, canonical(t, []byte(all)), canonical(t, s))
}

// TestParseCompacts asserts that raw values have no white space.
func TestParseCompacts(t *testing.T) {
	s, err := schema.Parse([]byte(`{"default": [ 1 ], "example": [ 2 ], "externalDocs": { }, "enum": [ [ 3 ] ], "x-kubernetes-validations": [ { } ], "dependencies": {"a": [ "b" ]}}`))
	require.NoError(t, err)
	require.Equal(t, []string{`[1]`, `[2]`, `{}`, `[3]`, `{}`, `["b"]`}, []string{
		string(s.Default), string(s.Example), string(s.ExternalDocs), string(s.Enum[0]), string(s.XValidations[0]), string(s.Dependencies["a"]),
	})
}

// A deep schema is read, and one beyond the limit is an error.
func TestParseDeep(t *testing.T) {
	deep := func(n int) []byte { return []byte(strings.Repeat(`{"items":`, n) + "{}" + strings.Repeat("}", n)) }
	s, err := schema.Parse(deep(9_999))
	require.NoError(t, err)
	_, err = json.Marshal(s)
	require.NoError(t, err)
	_, err = schema.Parse(deep(10_000))
	require.Error(t, err)
	_, err = schema.Parse([]byte(strings.Repeat(`{"items":`, 9_000) + `5` + strings.Repeat("}", 9_000)))
	require.ErrorContains(t, err, "must be an object, not a number")
	require.Less(t, len(err.Error()), 8_000)
}

// dropUnknown removes from the JSON of a schema the parts that Structural does not have, and those
// that it does not distinguish from absent ones.
func dropUnknown(v any) any {
	known := map[string]bool{}
	for _, name := range strings.Fields(`type title description format pattern default example externalDocs nullable
		maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength maxItems minItems uniqueItems multipleOf
		enum maxProperties minProperties required allOf anyOf oneOf not items properties additionalProperties
		x-kubernetes-preserve-unknown-fields x-kubernetes-embedded-resource x-kubernetes-int-or-string
		x-kubernetes-list-map-keys x-kubernetes-list-type x-kubernetes-map-type x-kubernetes-validations`) {
		known[name] = true
	}
	var clean func(v any)
	clean = func(v any) {
		s, ok := v.(map[string]any)
		if !ok {
			return
		}
		for name, value := range s {
			if !known[name] || value == false && name != "default" && name != "additionalProperties" ||
				value == "" && name != "default" && name != "example" {
				delete(s, name)
			}
		}
		clean(s["items"])
		clean(s["additionalProperties"])
		clean(s["not"])
		if properties, ok := s["properties"].(map[string]any); ok {
			for p := range maps.Values(properties) {
				clean(p)
			}
		}
		for _, junctor := range []string{"allOf", "anyOf", "oneOf"} {
			list, _ := s[junctor].([]any)
			for _, branch := range list {
				clean(branch)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(s)) {
			if m, ok := s[name].(map[string]any); ok && len(m) == 0 && name == "properties" {
				delete(s, name)
			} else if l, ok := s[name].([]any); ok && len(l) == 0 && name != "default" && name != "example" {
				delete(s, name)
			}
		}
	}
	clean(v)
	return v
}

func ExampleParse() {
	s, err := schema.Parse([]byte(`
type: object
properties:
  spec:
    type: object
    properties:
      replicas: {type: integer, default: 1}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	replicas := s.Properties["spec"].Properties["replicas"]
	fmt.Println(replicas.Type, string(replicas.Default))

	_, err = schema.Parse([]byte(`
type: object
properties:
  port:
    type: [integer, string]
`))
	if syntax, ok := err.(*errors.SyntaxError); ok {
		fmt.Println(syntax.Position, syntax.Path)
	}
	// Output:
	// integer 1
	// 5:11 properties.port.type
}
