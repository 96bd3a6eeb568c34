package sample

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNearlyValid asserts which keywords are violated, at which place, and in which way.
func TestNearlyValid(t *testing.T) {
	for _, c := range []struct {
		schema string
		want   map[string]string // by keyword, a pattern for the whole spec
	}{
		{`{type: string}`, map[string]string{"type": `1|true|1\.5|\{\}|\[\]`}},
		{`{type: string, enum: [a, b]}`, map[string]string{"enum": `"[ab]x"`}},
		{`{type: integer, enum: [1, 2]}`, map[string]string{"enum": `-12345`}},
		{`{type: integer, minimum: 3, maximum: 5}`, map[string]string{"minimum": `2`, "maximum": `6`}},
		{`{type: integer, minimum: 3, exclusiveMinimum: true, maximum: 5, exclusiveMaximum: true}`, map[string]string{"minimum": `3`, "maximum": `5`}},
		{`{type: number, minimum: 0.5}`, map[string]string{"minimum": `0\.49+\d*`}},
		{`{type: number, maximum: 3, exclusiveMaximum: true}`, map[string]string{"maximum": `3`}},
		{`{type: integer, format: int32}`, map[string]string{"format": `2147483648|-2147483649`, "type": `.*`}},
		{`{type: integer, format: int32, maximum: 5}`, map[string]string{"format": `2147483648|-2147483649`, "type": `.*`, "maximum": `6`}},
		{`{type: integer, multipleOf: 6}`, map[string]string{"multipleOf": `3`}},
		{`{type: string, minLength: 2, maxLength: 3}`, map[string]string{"minLength": `"."`, "maxLength": `"(?s:.|\\n|\\"){4}"`}},
		{`{type: string, maxLength: 0}`, map[string]string{"maxLength": `"a"`}},
		{`{type: string, pattern: '^[a-z]+$'}`, map[string]string{"pattern": `"[a-z]+!"|""`}},
		{`{type: string, format: date}`, map[string]string{"format": `".*"`}},
		{`{type: array, minItems: 1, maxItems: 2, items: {type: boolean}}`, map[string]string{"minItems": `\[\]`, "maxItems": `\[(\w+)(,\w+){2}\]`}},
		{`{type: array, x-kubernetes-list-type: set, minItems: 1, items: {type: integer}}`, map[string]string{"x-kubernetes-list-type": `\[.*\]`}},
		{`{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], minItems: 1, items: {type: object, required: [k], properties: {k: {type: integer}}}}`,
			map[string]string{"x-kubernetes-list-type": `\[.*\]`, "required": `\[.*\{\}.*\]`}},
		{`{type: object, minProperties: 1, maxProperties: 2, additionalProperties: {type: integer}}`, map[string]string{"minProperties": `\{\}`, "maxProperties": `\{(".*":-?\d+,){2}".*":-?\d+\}`}},
		{`{type: array, maxItems: 0, items: {type: boolean}}`, map[string]string{"maxItems": `\[false\]`, "type": `.*`}},
		{`{type: array, maxItems: 2, x-kubernetes-list-type: set, items: {type: integer}}`, map[string]string{"maxItems": `\[(-?\d+,?){3}\]`, "type": `.*`, "x-kubernetes-list-type": `.*`, "nullable": `.*`}},
		{`{type: object, maxProperties: 1, properties: {a: {type: boolean}, b: {type: boolean}}}`, map[string]string{"maxProperties": `\{("[ab]":\w+,?){2}\}`, "type": `.*`}},
		{`{type: boolean, enum: [true]}`, map[string]string{"enum": `false`, "type": `.*`}},
		{`{type: number, multipleOf: 0.5}`, map[string]string{"multipleOf": `0\.25`, "type": `.*`}},
		{`{type: object, required: [a, b], properties: {a: {type: integer}, b: {type: integer, default: 1}, c: {type: integer}}}`, map[string]string{"required": `\{[^a]*\}`, "type": `.*`}},
		{`{type: object, required: [a], properties: {a: {type: integer}}}`, map[string]string{"required": `\{\}`}},
		{`{type: array, minItems: 1, items: {type: string}}`, map[string]string{"nullable": `\[(.*,)?null(,.*)?\]`}},
		{`{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}`, map[string]string{"metadata": `\{.*"metadata":\{.*"name":"(a/b|\.\.|%)".*`}},
		{`{type: integer, anyOf: [{minimum: 3}, {maximum: -3}]}`, map[string]string{"anyOf": `-?[0-2]`}},
		{`{type: integer, oneOf: [{minimum: 3}, {maximum: 5}]}`, map[string]string{"oneOf": `[345]`}},
		{`{type: integer, anyOf: [{}, {minimum: 3}]}`, map[string]string{"type": `.*`}},
		{`{type: object, nullable: true, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}`, map[string]string{"type": `.*`}},
		{`{type: integer, not: {maximum: 3}}`, map[string]string{"not": `[0-3]|-\d+`}},
	} {
		m := ofSpec(t, c.schema)
		found := make(map[string]bool)
		for seed := range uint64(600) {
			js, violation, err := m.NearlyValid(Bytes(seed))
			require.NoError(t, err)
			v, err := parse(js)
			require.NoError(t, err)
			require.Error(t, m.validate(v), "%s", js)
			want := c.want[violation.Keyword]
			if want == "" || violation.Pointer == "" || found[violation.Keyword] {
				continue
			}
			found[violation.Keyword] = true
			assert.Regexp(t, regexp.MustCompile(`^(?:`+want+`)$`), string(v.member("spec").append(nil)), "%s %s", c.schema, violation)
		}
		assert.Equal(t, slices.Sorted(maps.Keys(c.want)), slices.Sorted(maps.Keys(found)), c.schema)
	}
}

// TestViolationPointer asserts that a violation is named by its place.
func TestViolationPointer(t *testing.T) {
	m := ofSpec(t, `{type: object, required: [a/b~c], properties: {a/b~c: {type: array, minItems: 2, items: {type: object, required: [x], properties: {x: {type: integer, maximum: 2}}}}}}`)
	pointers := make(map[Violation]bool)
	for seed := range uint64(300) {
		_, violation, err := m.NearlyValid(Bytes(seed))
		require.NoError(t, err)
		pointers[violation] = true
	}
	for _, want := range []Violation{
		{"/spec/a~1b~0c/1/x", "maximum"}, {"/spec/a~1b~0c/0", "required"}, {"/spec", "required"}, {"", "required"}, {"", "metadata"},
		{"/spec/a~1b~0c", "minItems"}, {"/spec/a~1b~0c/0/x", "type"},
	} {
		assert.True(t, pointers[want], "%v", want)
	}
}

// TestChanged asserts that a changed object is valid if the old one was, and that everything in it
// changes once in a while.
func TestChanged(t *testing.T) {
	m := ofSpec(t, `{type: object, required: [num, l], properties: {num: {type: integer, maximum: 5}, m: {type: object, additionalProperties: {type: string}},
  l: {type: array, minItems: 1, x-kubernetes-list-type: set, items: {type: string}}, e: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}}}`)
	changed := make(map[string]bool)
	for seed := range uint64(500) {
		old, err := m.Valid(Bytes(seed))
		require.NoError(t, err)
		js, err := m.Changed(old, Bytes(seed+1))
		require.NoError(t, err)
		again, err := m.Changed(old, Bytes(seed+1))
		require.NoError(t, err)
		require.Equal(t, string(js), string(again))
		before, err := parse(old)
		require.NoError(t, err)
		after, err := parse(js)
		require.NoError(t, err)
		require.NoError(t, m.validate(after), "%s", js)
		for _, name := range []string{"apiVersion", "kind"} {
			require.Equal(t, before.member(name), after.member(name))
		}
		require.Equal(t, before.member("metadata").member("name"), after.member("metadata").member("name"))
		if string(before.member("metadata").append(nil)) != string(after.member("metadata").append(nil)) {
			changed["metadata"] = true
		}
		for _, name := range []string{"num", "m", "l", "e"} {
			x, y := before.member("spec").member(name), after.member("spec").member(name)
			if x != nil && y != nil && string(x.append(nil)) != string(y.append(nil)) {
				changed[name] = true
			}
			if x == nil && y != nil {
				changed["new "+name] = true
			}
			if x != nil && y == nil {
				changed["no "+name] = true
			}
		}
	}
	assert.Equal(t, []string{"e", "l", "m", "metadata", "new e", "new m", "no e", "no m", "num"}, slices.Sorted(maps.Keys(changed)))

	_, err := m.Changed([]byte(`{"a":`), nil)
	require.Error(t, err)
	js, err := m.Changed([]byte(`[]`), nil)
	require.NoError(t, err)
	assert.NotEmpty(t, js)
	for seed := range uint64(20) {
		_, err = ofSpec(t, "{type: object}").Changed([]byte(`{"spec":{}}`), Bytes(seed))
		require.NoError(t, err)
	}
	js, err = m.Changed([]byte(`{"spec":{"num":7}}`), Bytes(3))
	require.NoError(t, err, "an invalid object can be changed as well")
	assert.NotEmpty(t, js)
}

// TestMutatedMetadata asserts that all of a resource's own members are mutated.
func TestMutatedMetadata(t *testing.T) {
	m := ofSpec(t, `{type: object}`)
	met := make(map[string]bool)
	for seed := range uint64(6000) {
		v, err := parse(m.Mutated(Bytes(seed)))
		require.NoError(t, err)
		for _, m := range v.members {
			met[fmt.Sprintf("%s %c", m.name, m.value.kind)] = true
			if m.name == "metadata" && m.value.kind == '{' {
				for _, m := range m.value.members {
					met[fmt.Sprintf("metadata.%s %c", m.name, m.value.kind)] = true
				}
			}
		}
	}
	for _, want := range strings.Split(`kind n,kind 0,apiVersion {,metadata n,metadata ",metadata [,metadata.name n,metadata.name 0,metadata.labels n,metadata.labels [,`+
		`metadata.annotations ",metadata.creationTimestamp n,metadata.creationTimestamp ",metadata.managedFields {,metadata.managedFields [,metadata.generation t`, ",") {
		assert.True(t, met[want], want)
	}
}

// TestMutated asserts that there are all kinds of mistakes.
func TestMutated(t *testing.T) {
	m := ofSpec(t, `{type: object, required: [num], properties: {num: {type: integer}, s: {type: string, nullable: true}, l: {type: array, items: {type: string}}}}`)
	met := make(map[string]bool)
	for seed := range uint64(3000) {
		js := m.Mutated(Bytes(seed))
		require.Equal(t, string(js), string(m.Mutated(Bytes(seed))))
		v, err := parse(js)
		require.NoError(t, err)
		met["no object"] = met["no object"] || v.kind != '{'
		spec := v.member("spec")
		if spec == nil {
			met["missing"] = true
			continue
		}
		met["wrong type"] = met["wrong type"] || spec.kind != '{' && spec.kind != 'n'
		met["null"] = met["null"] || spec.kind == 'n'
		names := make(map[string]int)
		for _, m := range spec.members {
			names[m.name]++
			met["repeated"] = met["repeated"] || names[m.name] > 1
			met["misspelled"] = met["misspelled"] || m.name == "numX" || m.name == "s "
			met["of another place"] = met["of another place"] || m.name == "metadata"
			met["null of nullable"] = met["null of nullable"] || m.name == "s" && m.value.kind == 'n'
		}
		if v.kind == '{' && len(v.members) > 0 {
			met["order"] = met["order"] || v.members[0].name == "metadata"
		}
	}
	assert.Equal(t, []string{"missing", "misspelled", "no object", "null", "null of nullable", "of another place", "order", "repeated", "wrong type"}, slices.Sorted(maps.Keys(met)))
}
