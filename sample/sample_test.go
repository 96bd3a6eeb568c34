package sample

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/schema"
)

func schemaOf(t testing.TB, text string) *schema.Structural {
	s, err := schema.Parse([]byte(text))
	require.NoError(t, err)
	return s
}

// ofSpec returns a maker of objects whose spec has the schema.
func ofSpec(t testing.TB, text string) *Maker {
	return New(schemaOf(t, "{type: object, required: [spec], properties: {spec: "+text+"}}"), "example.com/v1", "Trellis")
}

// spec returns the spec of an object that was made.
func spec(t testing.TB, js []byte, err error) string {
	require.NoError(t, err)
	text, ok := strings.CutPrefix(string(js), `{"apiVersion":"example.com/v1","kind":"Trellis","metadata":{"name":"a"},"spec":`)
	require.True(t, ok, "%s", js)
	return strings.TrimSuffix(text, "}")
}

func TestSmallestAndFull(t *testing.T) {
	for _, c := range []struct{ schema, smallest, full string }{
		{`{type: string}`, `""`, `""`},
		{`{type: string, minLength: 3}`, `"aaa"`, `"aaa"`},
		{`{type: string, enum: [b, a]}`, `"b"`, `"b"`},
		{`{type: string, enum: [b, a], default: a}`, `"b"`, `"a"`},
		{`{type: string, default: d}`, `""`, `"d"`},
		// Values of an enum that are of another type, or no JSON, or null, are as if they were not there.
		{`{type: boolean, enum: [1, "true", null, true]}`, `true`, `true`},
		{`{type: object, x-kubernetes-preserve-unknown-fields: true, enum: [[], {a: 1}]}`, `{"a":1}`, `{"a":1}`},
		{`{type: array, items: {type: string}, enum: [{}, [b]]}`, `["b"]`, `["b"]`},
		{`{x-kubernetes-int-or-string: true, enum: [1, a]}`, `1`, `1`},
		{`{type: string, default: d, example: e}`, `""`, `"e"`},
		{`{type: string, minLength: 2, example: e, default: dd}`, `"aa"`, `"dd"`},
		{`{type: string, pattern: '^v[1-9]$'}`, `"v1"`, `"v1"`},
		{`{type: integer}`, `0`, `0`},
		{`{type: integer, minimum: 3}`, `3`, `3`},
		{`{type: integer, format: int32}`, `0`, `0`},
		{`{type: integer, minimum: 3, exclusiveMinimum: true}`, `4`, `4`},
		{`{type: integer, maximum: -3}`, `-3`, `-3`},
		{`{type: integer, minimum: 3, multipleOf: 5}`, `5`, `5`},
		{`{type: integer, maximum: -3, multipleOf: 5}`, `-5`, `-5`},
		{`{type: number, minimum: 0.5}`, `0.5`, `0.5`},
		{`{type: number, minimum: 1e300}`, `1e+300`, `1e+300`},
		{`{type: boolean}`, `false`, `false`},
		{`{type: array, items: {type: boolean}}`, `[]`, `[false]`},
		{`{type: array, minItems: 2, items: {type: boolean}}`, `[false,false]`, `[false,false]`},
		{`{type: array, maxItems: 0, items: {type: boolean}}`, `[]`, `[]`},
		{`{type: object, additionalProperties: {type: integer}}`, `{}`, `{"a":0}`},
		{`{type: object, additionalProperties: false}`, `{}`, `{}`},
		{`{type: object, properties: {a: {type: integer}}, anyOf: [{properties: {b: {minLength: 1}}}]}`, `{}`, `{"a":0}`},
		{`{type: object, x-kubernetes-preserve-unknown-fields: true, anyOf: [{required: [b]}]}`, `{"b":{}}`, `{"b":{}}`},
		{`{type: object, additionalProperties: true}`, `{}`, `{"a":{}}`},
		{`{type: object, minProperties: 2, additionalProperties: {type: integer}}`, `{"a":0,"b":0}`, `{"a":0,"b":0}`},
		{`{type: object, minProperties: 1, properties: {b: {type: integer}, a: {type: integer}}}`, `{"a":0}`, `{"a":0,"b":0}`},
		{`{type: object, maxProperties: 1, properties: {b: {type: integer}, a: {type: integer}}}`, `{}`, `{"a":0}`},
		{`{type: object, required: [b], properties: {b: {type: integer}, a: {type: integer}}}`, `{"b":0}`, `{"a":0,"b":0}`},
		{`{x-kubernetes-int-or-string: true}`, `""`, `""`},
		{`{x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}`, `0`, `0`},
		{`{x-kubernetes-preserve-unknown-fields: true}`, `{}`, `{}`},
		{`{type: object, x-kubernetes-preserve-unknown-fields: true, required: [a]}`, `{"a":{}}`, `{"a":{}}`},
		{`{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}`,
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`},
		// Junctors.
		{`{type: object, properties: {a: {type: integer}, b: {type: integer}}, oneOf: [{required: [a]}, {required: [b]}]}`, `{"a":0}`, `{"a":0}`},
		{`{type: object, properties: {a: {type: integer}, b: {type: integer}}, anyOf: [{required: [b]}, {required: [a]}]}`, `{"b":0}`, `{"a":0,"b":0}`},
		{`{type: object, properties: {a: {type: integer}, b: {type: integer}}, not: {required: [a]}}`, `{}`, `{"b":0}`},
		{`{type: object, properties: {a: {type: integer}, b: {type: integer}}, not: {anyOf: [{required: [a]}, {required: [b]}]}}`, `{}`, `{}`},
		{`{type: object, required: [a], properties: {a: {type: integer}, b: {type: integer}}, not: {required: [a, b]}}`, `{"a":0}`, `{"a":0}`},
		{`{type: object, properties: {a: {type: integer}, b: {type: integer}}, not: {anyOf: [{required: [a]}, {required: [a, b]}]}}`, `{}`, `{"b":0}`},
		{`{type: object, properties: {a: {type: integer}, b: {type: integer}}, not: {allOf: [{required: [a]}, {required: [b]}]}}`, `{}`, `{"b":0}`},
		{`{type: integer, allOf: [{minimum: 2}, {maximum: 2}]}`, `2`, `2`},
		{`{type: integer, oneOf: [{minimum: 5}, {maximum: 7}]}`, `0`, `0`},
		{`{type: string, enum: [a, b, c], allOf: [{enum: [c, b]}], not: {enum: [b]}}`, `"c"`, `"c"`},
		{`{type: object, properties: {a: {type: integer}}, oneOf: [{properties: {a: {minimum: 3}}, required: [a]}, {properties: {a: {maximum: -3}}, required: [a]}]}`, `{"a":3}`, `{"a":3}`},
		{`{type: array, items: {type: integer}, minItems: 1, allOf: [{items: {minimum: 4}}]}`, `[4]`, `[4]`},
		// The first alternative cannot be satisfied.
		{`{type: object, required: [a], properties: {a: {type: string, enum: [x]}, b: {type: integer}}, oneOf: [{properties: {a: {enum: ["y"]}}}, {required: [b]}]}`, `{"a":"x","b":0}`, `{"a":"x","b":0}`},
		// Sets and maps.
		{`{type: array, x-kubernetes-list-type: set, minItems: 2, items: {type: boolean}}`, `[false,true]`, `[false,true]`},
		{`{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], minItems: 2, items: {type: object, required: [k], properties: {k: {type: boolean}}}}`,
			`[{"k":false},{"k":true}]`, `[{"k":false},{"k":true}]`},
		{`{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], minItems: 1, items: {type: object, properties: {k: {type: boolean, default: false}}}}`,
			`[{}]`, `[{"k":false}]`},
		// An optional field that nothing satisfies is left out.
		{`{type: object, properties: {a: {type: object, minProperties: 2, properties: {b: {type: integer}}}, b: {type: integer}}}`, `{}`, `{"b":0}`},
		{`{type: object, properties: {a: {type: integer, minimum: 2, maximum: 1, multipleOf: 3}, b: {type: integer}}}`, `{}`, `{"b":0}`},
	} {
		t.Run(c.schema, func(t *testing.T) {
			m := ofSpec(t, c.schema)
			js, err := m.Smallest()
			assert.Equal(t, c.smallest, spec(t, js, err))
			js, err = m.Full()
			assert.Equal(t, c.full, spec(t, js, err))
			for seed := range uint64(200) {
				js, err := m.Valid(Bytes(seed))
				require.NoError(t, err)
				v, err := parse(js)
				require.NoError(t, err)
				require.NoError(t, m.validate(v), "%s", js)
			}
		})
	}
}

func TestNothingValid(t *testing.T) {
	for schema, want := range map[string]string{
		`{type: string, anyOf: [{type: integer}]}`:                                        "spec: Invalid value",
		`{type: integer, minimum: 3, maximum: 2}`:                                         "spec: Invalid value: 2: spec in body should be greater than or equal to 3",
		`{type: string, pattern: '^a$', allOf: [{pattern: '^b$'}]}`:                       "spec: ",
		`{type: array, x-kubernetes-list-type: set, minItems: 3, items: {type: boolean}}`: "spec: Invalid value: 2: spec in body should have at least 3 items",
	} {
		_, err := ofSpec(t, schema).Smallest()
		require.ErrorContains(t, err, "sample: no valid object was found for the schema: "+want)
		_, _, err = ofSpec(t, schema).NearlyValid(nil)
		require.ErrorContains(t, err, want)
		assert.NotEmpty(t, ofSpec(t, schema).Mutated(Bytes(1)))
	}
}

// TestFirstAttempt asserts that the first object that is made is valid, although there are two rules
// for a value, as otherwise the bytes would not decide about it.
func TestFirstAttempt(t *testing.T) {
	for _, text := range []string{
		`{type: string, nullable: true, enum: [a, b]}`, `{type: string, enum: [abc, d], maxLength: 2}`, `{type: integer, enum: [1, 2, 3], minimum: 2}`,
		`{type: string, format: uri, maxLength: 10}`, `{type: string, format: hostname, minLength: 2, maxLength: 63}`, `{type: string, enum: [a, 10.0.0.0/8], format: cidr}`,
	} {
		m := ofSpec(t, text)
		for seed := range uint64(300) {
			v := m.builder(Bytes(seed)).value([]*schema.Structural{m.root})
			require.NoError(t, m.validate(v), "%s: %s", text, v.append(nil))
		}
	}
}

// TestBoundsAreMet asserts that there are values at the bounds, and next to them.
func TestBoundsAreMet(t *testing.T) {
	for _, c := range []struct {
		schema string
		want   []int // lengths
	}{
		{`{type: string, minLength: 2, maxLength: 5}`, []int{2, 5}},
		{`{type: string, maxLength: 253}`, []int{0, 1, 253}},
		{`{type: string, maxLength: 4096}`, []int{0, 1, 4096}},
		{`{type: string, pattern: '^[a-z]+$', maxLength: 253}`, []int{1, 2, 253}},
		{`{type: array, items: {type: boolean}}`, []int{0, 1, 2, 3, 4}},
		{`{type: array, minItems: 1, maxItems: 10, items: {type: boolean}}`, []int{1, 2, 10}},
		{`{type: array, maxItems: 100, items: {type: object, properties: {a: {type: integer}}}}`, []int{0, 1, 100}},
		{`{type: array, x-kubernetes-list-type: set, maxItems: 6, items: {type: string}}`, []int{0, 1, 6}},
		{`{type: object, minProperties: 2, maxProperties: 40, additionalProperties: {type: string}}`, []int{2, 3, 40}},
		{`{type: object, maxProperties: 2, properties: {a: {type: integer}, b: {type: integer}, c: {type: integer}}}`, []int{0, 1, 2}},
	} {
		met := make(map[int]bool)
		m := ofSpec(t, c.schema)
		for seed := range uint64(2000) {
			js, err := m.Valid(Bytes(seed))
			require.NoError(t, err)
			v, err := parse(js)
			require.NoError(t, err)
			if v = v.member("spec"); v.kind == '"' {
				met[utf8.RuneCountInString(v.text)] = true
			} else {
				met[len(v.members)] = true
			}
		}
		for _, n := range c.want {
			assert.True(t, met[n], "%s: none of length %d", c.schema, n)
		}
	}
}

// TestPreservedNull asserts that a null is preserved like any other value.
func TestPreservedNull(t *testing.T) {
	m := ofSpec(t, `{type: object, x-kubernetes-preserve-unknown-fields: true}`)
	for seed := range uint64(200) {
		js, err := m.Valid(Bytes(seed))
		require.NoError(t, err)
		if bytes.Contains(js, []byte(":null")) {
			return
		}
	}
	t.Error("no null")
}

// TestNumbers asserts which numbers an integer has, and that all of them are JSON.
func TestNumbers(t *testing.T) {
	met := make(map[string]bool)
	m := ofSpec(t, `{type: integer}`)
	for seed := range uint64(400) {
		js, err := m.Valid(Bytes(seed))
		require.NoError(t, err)
		v, err := parse(js)
		require.NoError(t, err)
		met[v.member("spec").text] = true
	}
	for _, want := range []string{"0", "1", "-1", "9007199254740992", "9007199254740993", "9223372036854775807", "-9223372036854775808"} {
		assert.True(t, met[want], want)
	}
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, 1e-300, math.MaxFloat64} {
		for _, s := range []*schema.Structural{{Type: "integer", Minimum: &f}, {Type: "number", Minimum: &f}, {Type: "number", Minimum: &f, MultipleOf: &f}} {
			m := New(&schema.Structural{Type: "object", Required: []string{"a"}, Properties: map[string]*schema.Structural{"a": s}}, "v1", "K")
			for seed := range uint64(50) {
				js := m.Mutated(Bytes(seed))
				_, err := parse(js)
				require.NoError(t, err, "%s", js)
			}
		}
	}
}

// TestTooLong asserts that validation takes a limited number of steps.
func TestTooLong(t *testing.T) {
	long := strings.Repeat("a", maxSteps)
	s := &schema.Structural{Type: "object", Properties: map[string]*schema.Structural{"a": {Type: "string", Pattern: "^a*$", Default: []byte(`"` + long + `"`)}}}
	m := New(s, "v1", "K")
	v, err := parse([]byte(`{"apiVersion":"v1","kind":"K","metadata":{"name":"a"}}`))
	require.NoError(t, err)
	require.ErrorContains(t, m.validate(v), "it takes too long to validate")
}

// TestRecursive makes objects of a schema that contains itself.
func TestRecursive(t *testing.T) {
	s := schemaOf(t, `{type: object, properties: {name: {type: string}, children: {type: array, items: {type: object}}}}`)
	s.Properties["children"].Items.Schema = s
	m := New(s, "v1", "Tree")
	js, err := m.Full()
	require.NoError(t, err)
	assert.Less(t, len(js), 1000)
	for seed := range uint64(100) {
		js, err := m.Valid(Bytes(seed))
		require.NoError(t, err)
		assert.Less(t, len(js), 20_000)
		m.Mutated(Bytes(seed))
	}
}

// TestReach asserts that there are bytes for which a deep field is present.
func TestReach(t *testing.T) {
	text := "{type: string}"
	for i := range 40 {
		text = fmt.Sprintf("{type: object, properties: {other%d: {type: string}, f%d: %s}}", i, i, text)
	}
	m := ofSpec(t, text)
	reached := 0
	for seed := range uint64(400) {
		js, err := m.Valid(Bytes(seed))
		require.NoError(t, err)
		if bytes.Contains(js, []byte(`"f0"`)) {
			reached++
		}
	}
	assert.Greater(t, reached, 2)
}

func TestBytes(t *testing.T) {
	first := Bytes(1)
	assert.Equal(t, first, Bytes(1))
	assert.NotEqual(t, Bytes(1), Bytes(2))
	assert.Len(t, Bytes(0), 512)
}

// TestMetadata asserts that the schema of the root can restrict the name, and that metadata which it
// requires is there.
func TestMetadata(t *testing.T) {
	for _, c := range []struct{ schema, smallest string }{
		{`{type: object, properties: {metadata: {type: object, properties: {name: {type: string, pattern: '^x-[a-z]$'}}}}}`, `{"name":"x-a"}`},
		{`{type: object, properties: {metadata: {type: object, properties: {name: {type: string, minLength: 3}}}}}`, `{"name":"aaa"}`},
		{`{type: object, properties: {metadata: {type: object, required: [labels], properties: {labels: {type: object, required: [a], properties: {a: {type: string}}}}}}}`, `{"name":"a","labels":{"a":""}}`},
		{`{type: object, properties: {metadata: {type: object, properties: {annotations: {type: object, maxProperties: 1}}}}}`, `{"name":"a"}`},
	} {
		m := New(schemaOf(t, c.schema), "v1", "K")
		js, err := m.Smallest()
		require.NoError(t, err)
		v, err := parse(js)
		require.NoError(t, err)
		assert.Equal(t, c.smallest, string(v.member("metadata").append(nil)), c.schema)
		for seed := range uint64(100) {
			_, err := m.Valid(Bytes(seed))
			require.NoError(t, err)
		}
	}
	m := New(schemaOf(t, `{type: object, properties: {metadata: {type: object, properties: {name: {type: string, enum: ["/"]}}}}}`), "v1", "K")
	_, err := m.Smallest()
	require.ErrorContains(t, err, "metadata.name: ")

	// The kind of an embedded resource can be restricted.
	m = ofSpec(t, `{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true, properties: {kind: {type: string, enum: [Pod]}}}`)
	js, err := m.Smallest()
	assert.Equal(t, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}`, spec(t, js, err))
}

// TestConcurrent asserts, under the race detector, that goroutines can share a maker, and that this
// changes no object.
func TestConcurrent(t *testing.T) {
	text := `{type: object, properties: {a: {type: string, enum: [a, b]}, b: {type: string, pattern: "^[a-z]{3}$"}}, anyOf: [{required: [a]}, {required: [b]}]}`
	shared := ofSpec(t, text)
	for range 4 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			alone := ofSpec(t, text)
			for seed := range uint64(50) {
				want, _, err := alone.NearlyValid(Bytes(seed))
				require.NoError(t, err)
				got, _, err := shared.NearlyValid(Bytes(seed))
				require.NoError(t, err)
				require.Equal(t, string(want), string(got))
			}
		})
	}
}
