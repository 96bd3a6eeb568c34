package schemadiff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/schema"
)

func parse(t *testing.T, text string) *schema.Structural {
	t.Helper()
	s, err := schema.Parse([]byte(text))
	require.NoError(t, err, text)
	return s
}

// linesOf returns changes as severity, path and rule.
func linesOf(changes []Change) string {
	var lines []string
	for _, c := range changes {
		lines = append(lines, strings.Join(strings.Fields(fmt.Sprintf("%s %s %s", c.Severity, c.Path, c.Rule)), " "))
	}
	return strings.Join(lines, "\n")
}

// TestSchemas: what is said of the change from one schema of spec.x to another.
func TestSchemas(t *testing.T) {
	const preserve = "x-kubernetes-preserve-unknown-fields: true"
	for _, c := range []struct{ about, old, new, want string }{
		{"nothing", `{type: string}`, `{type: string, description: other, title: other, example: 1}`, ``},
		{
			"fields come and go", `{type: object, properties: {a: {type: string}}}`, `{type: object, properties: {b: {type: string}}}`,
			"data spec.x.a field-removed\nharmless spec.x.b field-added",
		},
		{
			"a field is kept below preserve", `{type: object, properties: {a: {type: string}}}`, `{type: object, ` + preserve + `}`,
			"harmless spec.x unknown-fields-kept\nharmless spec.x.a field-preserved",
		},
		{
			"a default goes with the schema", `{type: object, properties: {a: {type: object, properties: {b: {type: string, default: c}}}}}`, `{type: object, ` + preserve + `}`,
			"harmless spec.x unknown-fields-kept\ncaution spec.x.a field-preserved",
		},
		{
			"a field is kept by additionalProperties", `{type: object, properties: {a: {type: string}}}`, `{type: object, additionalProperties: {type: string}}`,
			"harmless spec.x unknown-fields-kept",
		},
		{
			"additionalProperties keep other types", `{type: object, properties: {a: {type: integer}}}`, `{type: object, additionalProperties: {type: string}}`,
			"harmless spec.x unknown-fields-kept\ndata spec.x.a type-changed",
		},
		{
			"additionalProperties without a schema empty what they keep", `{type: object, properties: {a: {type: object, properties: {b: {type: string}}}}}`, `{type: object, additionalProperties: true}`,
			"harmless spec.x unknown-fields-kept\nharmless spec.x.a type-widened\ndata spec.x.a.b field-removed",
		},
		{
			"a map becomes an object", `{type: object, additionalProperties: {type: string}}`, `{type: object, properties: {a: {type: string, default: b}}}`,
			"data spec.x.* field-removed\ncaution spec.x.a default-added",
		},
		{
			"preserve goes", `{type: object, ` + preserve + `, properties: {a: {type: string}}}`, `{type: object, properties: {a: {type: string}}}`,
			"data spec.x unknown-fields-pruned",
		},
		{
			"a field gets a schema", `{type: object, ` + preserve + `}`, `{type: object, ` + preserve + `, properties: {a: {type: string}, b: {type: object, properties: {c: {type: string}}}, d: {` + preserve + `}}}`,
			"client spec.x.a field-specified\ndata spec.x.b field-specified\nclient spec.x.d field-specified",
		},
		{
			"elements of a preserved list", `{type: array, ` + preserve + `, items: {type: object}}`, `{type: array, items: {type: object}}`,
			"data spec.x[] unknown-fields-pruned",
		},
		{
			"fields of elements and of members", `{type: array, items: {type: object, additionalProperties: {type: object, properties: {a: {type: string}}}}}`,
			`{type: array, items: {type: object, additionalProperties: {type: object}}}`, "data spec.x[].*.a field-removed",
		},
		{"a type", `{type: object, properties: {a: {type: string}}}`, `{type: string}`, "data spec.x type-changed"},
		{"a type that is wider", `{type: integer}`, `{type: number}`, "harmless spec.x type-widened"},
		{"a type that is narrower", `{type: number}`, `{type: integer}`, "data spec.x type-changed"},
		{"int or string", `{type: string}`, `{x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}`, "harmless spec.x type-widened"},
		{"int or string no more", `{x-kubernetes-int-or-string: true}`, `{type: integer}`, "data spec.x type-changed"},
		{"what int or string implies", `{x-kubernetes-int-or-string: true}`, `{x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}`, ""},
		{"nullable", `{type: string}`, `{type: string, nullable: true}`, "harmless spec.x nullable-added"},
		{"nulls are dropped", `{type: string, nullable: true}`, `{type: string}`, "caution spec.x nullable-removed"},
		{"nulls become defaults", `{type: string, nullable: true, default: a}`, `{type: string, default: a}`, "caution spec.x nullable-removed"},
		{"nulls in lists stay and are refused", `{type: array, items: {type: string, nullable: true}}`, `{type: array, items: {type: string}}`, "client spec.x[] nullable-removed"},
		{"a default comes", `{type: string}`, `{type: string, default: a}`, "caution spec.x default-added"},
		{"a default changes", `{type: object, default: {"a": 1, "b": 2}, ` + preserve + `}`, `{type: object, default: {"b": 2, "a": 3}, ` + preserve + `}`, "caution spec.x default-changed"},
		{"a default is spelled otherwise", `{type: object, default: {"a": 1, "b": 2}, ` + preserve + `}`, `{type: object, default: {b: 2, a: 1}, ` + preserve + `}`, ""},
		{"a default goes", `{type: string, default: a}`, `{type: string}`, "caution spec.x default-removed"},
		{
			"required", `{type: object, properties: {a: {type: string}, b: {type: string}}, required: [a]}`, `{type: object, properties: {a: {type: string}, b: {type: string}, c: {type: string}}, required: [b, c]}`,
			"client spec.x.b tightened/required\nclient spec.x.c tightened/required\nharmless spec.x.a loosened/required",
		},
		{
			"required with a default", `{type: object, properties: {a: {type: string}, b: {type: string, default: d}}, required: [b]}`, `{type: object, properties: {a: {type: string, default: d}, b: {type: string}}, required: [a, b]}`,
			"client spec.x.b tightened/required\ncaution spec.x.a default-added\ncaution spec.x.b default-removed",
		},
		{
			"required, and by then with a default", `{type: object, properties: {a: {type: string}}, required: [a]}`, `{type: object, properties: {a: {type: string, default: d}}, required: [a]}`,
			"harmless spec.x.a loosened/required\ncaution spec.x.a default-added",
		},
		{"an enum", `{type: string, enum: [a, b]}`, `{type: string, enum: [b, c]}`, "client spec.x tightened/enum"},
		{"a narrower enum", `{type: string, enum: [a, b]}`, `{type: string, enum: [b]}`, "client spec.x tightened/enum"},
		{"a wider enum", `{type: string, enum: [a, b]}`, `{type: string, enum: [c, b, a]}`, "harmless spec.x loosened/enum"},
		{"an enum comes", `{type: string}`, `{type: string, enum: [b]}`, "client spec.x tightened/enum"},
		{"an enum goes", `{type: string, enum: [b]}`, `{type: string}`, "harmless spec.x loosened/enum"},
		{
			"bounds are tightened", `{type: integer, minimum: 1, maximum: 9}`, `{type: integer, minimum: 1, exclusiveMinimum: true, maximum: 8, multipleOf: 2}`,
			"client spec.x tightened/maximum\nclient spec.x tightened/minimum\nclient spec.x tightened/multipleOf",
		},
		{
			"bounds are loosened", `{type: integer, minimum: 1, exclusiveMinimum: true, maximum: 8, multipleOf: 4}`, `{type: integer, minimum: 1, multipleOf: 2}`,
			"harmless spec.x loosened/maximum\nharmless spec.x loosened/minimum\nharmless spec.x loosened/multipleOf",
		},
		{
			"sizes", `{type: string, maxLength: 5, minLength: 2}`, `{type: string, maxLength: 4, minLength: 1}`,
			"client spec.x tightened/maxLength\nharmless spec.x loosened/minLength",
		},
		{"nothing is shorter than nothing", `{type: string, minLength: 0}`, `{type: string}`, ""},
		{
			"numbers of elements and members", `{type: object, minProperties: 1, properties: {l: {type: array, maxItems: 2, items: {type: string}}}}`, `{type: object, maxProperties: 3, properties: {l: {type: array, minItems: 1, items: {type: string}}}}`,
			"client spec.x tightened/maxProperties\nharmless spec.x loosened/minProperties\nharmless spec.x.l loosened/maxItems\nclient spec.x.l tightened/minItems",
		},
		{"a pattern comes", `{type: string}`, `{type: string, pattern: a}`, "client spec.x tightened/pattern"},
		{"a pattern changes", `{type: string, pattern: a}`, `{type: string, pattern: b}`, "client spec.x changed/pattern"},
		{"a pattern goes", `{type: string, pattern: a}`, `{type: string}`, "harmless spec.x loosened/pattern"},
		{"a format", `{type: string, format: date}`, `{type: string, format: ipv4}`, "client spec.x changed/format"},
		{"a format that the server does not know", `{type: string}`, `{type: string, format: novelty}`, ""},
		{"a list becomes a set", `{type: array, items: {type: string}}`, `{type: array, x-kubernetes-list-type: set, items: {type: string}}`, "client spec.x tightened/x-kubernetes-list-type"},
		{"a set becomes a list", `{type: array, x-kubernetes-list-type: set, items: {type: string}}`, `{type: array, x-kubernetes-list-type: atomic, items: {type: string}}`, "caution spec.x changed/x-kubernetes-list-type"},
		{"a set becomes a map", `{type: array, x-kubernetes-list-type: set, items: {type: string}}`, `{type: array, x-kubernetes-list-type: map, items: {type: string}}`, "client spec.x changed/x-kubernetes-list-type"},
		{
			"more keys", `{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a], items: {type: object}}`, `{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [b, a], items: {type: object}}`,
			"caution spec.x changed/x-kubernetes-list-map-keys",
		},
		{
			"other keys", `{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a], items: {type: object}}`, `{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [b], items: {type: object}}`,
			"client spec.x changed/x-kubernetes-list-map-keys",
		},
		{"an atomic object", `{type: object}`, `{type: object, x-kubernetes-map-type: atomic}`, "caution spec.x changed/x-kubernetes-map-type"},
		{
			"rules in CEL", `{type: string, x-kubernetes-validations: [{rule: "self != 'a'"}, {rule: "self != 'b'", message: b}, {rule: "self != 'c'", message: old}]}`,
			`{type: string, x-kubernetes-validations: [{rule: " self != 'c'", message: new}, {rule: "self != 'bb'", message: b}, {rule: "self != 'd'"}]}`,
			"client spec.x changed/x-kubernetes-validations\nclient spec.x tightened/x-kubernetes-validations\nharmless spec.x loosened/x-kubernetes-validations",
		},
		{
			"junctors come", `{type: string}`, `{type: string, allOf: [{minLength: 1}], anyOf: [{minLength: 1}], oneOf: [{minLength: 1}], not: {maxLength: 1}}`,
			"client spec.x tightened/allOf\nclient spec.x tightened/anyOf\nclient spec.x tightened/oneOf\nclient spec.x tightened/not",
		},
		{
			"junctors go", `{type: string, allOf: [{minLength: 1}], anyOf: [{minLength: 1}], oneOf: [{minLength: 1}], not: {maxLength: 1}}`, `{type: string}`,
			"harmless spec.x loosened/allOf\nharmless spec.x loosened/anyOf\nharmless spec.x loosened/oneOf\nharmless spec.x loosened/not",
		},
		{
			"junctors grow", `{type: string, allOf: [{minLength: 1}], anyOf: [{minLength: 1}], oneOf: [{minLength: 1}]}`, `{type: string, allOf: [{minLength: 1}, {pattern: a}], anyOf: [{pattern: a}, {minLength: 1}], oneOf: [{minLength: 1}, {minLength: 1}]}`,
			"client spec.x tightened/allOf\nharmless spec.x loosened/anyOf\nclient spec.x changed/oneOf",
		},
		{
			"junctors shrink", `{type: string, allOf: [{minLength: 1}, {pattern: a}], anyOf: [{pattern: a}, {minLength: 1}]}`, `{type: string, allOf: [{minLength: 1}], anyOf: [{minLength: 1}]}`,
			"harmless spec.x loosened/allOf\nclient spec.x tightened/anyOf",
		},
		{"the order of alternatives", `{type: string, oneOf: [{pattern: a}, {minLength: 1}]}`, `{type: string, oneOf: [{minLength: 1}, {pattern: a}]}`, ""},
		{"a resource", `{type: object, properties: {a: {type: string}}}`, `{type: object, x-kubernetes-embedded-resource: true, properties: {a: {type: string}}}`, "client spec.x tightened/x-kubernetes-embedded-resource\nharmless spec.x.apiVersion field-added\nharmless spec.x.kind field-added\nharmless spec.x.metadata field-added"},
		{
			"no resource any more", `{type: object, x-kubernetes-embedded-resource: true, properties: {a: {type: string}}}`, `{type: object, properties: {a: {type: string}}}`,
			"harmless spec.x loosened/x-kubernetes-embedded-resource\ndata spec.x.apiVersion field-removed\ndata spec.x.kind field-removed\ndata spec.x.metadata field-removed",
		},
		{"closed", `{type: object}`, `{type: object, additionalProperties: false}`, "client spec.x tightened/additionalProperties\nharmless spec.x unknown-fields-kept"},
		{"names in brackets", `{type: object, properties: {"a\nb": {type: string}, "": {type: string}}}`, `{type: object}`, "data spec.x[\"\"] field-removed\ndata spec.x[\"a\\nb\"] field-removed"},
	} {
		t.Run(c.about, func(t *testing.T) {
			of := func(x string) *schema.Structural {
				return parse(t, `{type: object, properties: {spec: {type: object, properties: {x: `+x+`}}}}`)
			}
			assert.Equal(t, c.want, linesOf(schemaChanges(of(c.old), of(c.new))))
			assert.Empty(t, schemaChanges(of(c.old), of(c.old)))
			assert.Empty(t, schemaChanges(of(c.new), of(c.new)))
		})
	}
}

// TestRoot: apiVersion, kind and metadata are there without a schema, and values of the root are
// compared.
func TestRoot(t *testing.T) {
	bare := parse(t, `{type: object}`)
	usual := parse(t, `{type: object, properties: {apiVersion: {type: string}, kind: {type: string}, metadata: {type: object}}, required: [metadata]}`)
	assert.Empty(t, schemaChanges(bare, usual))
	assert.Empty(t, schemaChanges(usual, bare))
	assert.Empty(t, schemaChanges(nil, bare))
	short := parse(t, `{type: object, properties: {metadata: {type: object, properties: {name: {type: string, maxLength: 3}}}}}`)
	assert.Equal(t, "client metadata.name field-specified", linesOf(schemaChanges(bare, short)))
	assert.Equal(t, "harmless metadata.name field-preserved", linesOf(schemaChanges(short, usual)))
	open := parse(t, `{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}}}`)
	closed := parse(t, `{type: object, properties: {a: {type: string}}}`)
	assert.Equal(t, "data unknown-fields-pruned", linesOf(schemaChanges(open, closed)))
}

// TestPlaces: keywords lead to what has changed, or to where it would be.
func TestPlaces(t *testing.T) {
	changes := schemaChanges(
		parse(t, `{type: object, properties: {spec: {type: object, properties: {a: {type: array, items: {type: string, maxLength: 3}}, b: {type: string}}, required: [b]}}}`),
		parse(t, `{type: object, properties: {spec: {type: object, properties: {a: {type: array, items: {type: string, maxLength: 2}}}, required: [c]}}}`),
	)
	require.Equal(t, "client spec.c tightened/required\nclient spec.a[] tightened/maxLength\ndata spec.b field-removed", linesOf(changes))
	const spec = "spec versions 0 schema openAPIV3Schema properties spec "
	for i, want := range []struct{ old, new string }{
		{"required", "required"},
		{"properties a items maxLength", "properties a items maxLength"},
		{"properties b", "properties b"},
	} {
		assert.Equal(t, spec+want.old, strings.Join(changes[i].Old, " "))
		assert.Equal(t, spec+want.new, strings.Join(changes[i].New, " "))
	}
}

// TestMessages: messages give the values, and cut them where they are long.
func TestMessages(t *testing.T) {
	long := strings.Repeat("x", 100)
	for _, c := range []struct{ old, new, want string }{
		{`{type: integer, maximum: 1.5}`, `{type: integer, maximum: 1, exclusiveMaximum: true}`, "maximum was 1.5 and is 1 (exclusive)"},
		{`{type: string, enum: [a, b, c]}`, `{type: string, enum: [a, d]}`, `no longer allowed: "b", "c"; allowed now: "d"`},
		{`{type: string}`, `{type: string, enum: [a, b, c, d, e, f, g, h, i, j, k, l]}`, `only these values are allowed now: "a", "b", "c", "d", "e", "f", "g", "h", "i", "j" and 2 more`},
		{`{type: string, default: ` + long + `}`, `{type: string, default: ` + long + `y}`, `the default was ...` + long[:20] + `" and is ...` + long[:20] + `y": objects without the field change when they are read`},
		{`{type: string}`, `{type: string, x-kubernetes-validations: [{rule: "` + long + `"}]}`, "there is a new rule: " + long[:77] + "..."},
		{`{type: string}`, `{type: string, maxLength: 3}`, "maxLength is 3, and there was none"},
		{`{type: string, minLength: 3}`, `{type: string}`, "minLength 3 is gone"},
		{`{type: string}`, `{type: integer}`, "the type was string and is integer: other values are refused, and stored ones stay as they are"},
		{`{type: object}`, `{type: string}`, "the type was object and is string: other values are refused, and stored ones lose what is in them"},
		{`{type: string}`, `{type: string, x-kubernetes-validations: [1]}`, "there is a new rule: 1"},
	} {
		of := func(x string) *schema.Structural {
			return parse(t, `{type: object, properties: {x: `+x+`}}`)
		}
		changes := schemaChanges(of(c.old), of(c.new))
		require.Len(t, changes, 1, c.new)
		assert.Equal(t, c.want, changes[0].Message)
	}
}

// TestLimits: schemas that are too deep, or differ in too many places, are not passed as equal.
func TestLimits(t *testing.T) {
	deep := func(leaf string) *schema.Structural {
		s := &schema.Structural{Type: leaf}
		for range maxDepth + 10 {
			s = &schema.Structural{Type: "array", Items: &schema.SchemaOrArray{Schema: s}}
		}
		return &schema.Structural{Type: "object", Properties: map[string]*schema.Structural{"a": s}}
	}
	changes := schemaChanges(deep("string"), deep("object"))
	require.Len(t, changes, 1)
	assert.Equal(t, RuleNotCompared, changes[0].Rule)
	assert.Equal(t, Client, changes[0].Severity)

	wide := func(name string) *schema.Structural {
		s := &schema.Structural{Type: "object", Properties: map[string]*schema.Structural{}}
		for i := range 400 {
			s.Properties[fmt.Sprint(name, i)] = &schema.Structural{Type: "string"}
		}
		return s
	}
	old := &schema.Structural{Type: "object", AdditionalProperties: &schema.SchemaOrBool{Schema: wide("a")}}
	updated := &schema.Structural{Type: "object", Properties: map[string]*schema.Structural{}}
	for i := range 400 {
		updated.Properties[fmt.Sprint(i)] = wide("b")
	}
	changes = schemaChanges(old, updated)
	assert.Less(t, len(changes), maxSteps)
	assert.Equal(t, 1, strings.Count(linesOf(changes), RuleNotCompared))
	changes = schemaChanges(wide("a"), wide("b"))
	assert.Len(t, changes, 800)

	loop := &schema.Structural{Type: "object"}
	loop.Properties = map[string]*schema.Structural{"a": loop}
	changes = schemaChanges(loop, &schema.Structural{Type: "object", AdditionalProperties: &schema.SchemaOrBool{Schema: loop}})
	assert.Contains(t, linesOf(changes), RuleNotCompared)
}
