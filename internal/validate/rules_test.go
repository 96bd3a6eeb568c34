package validate

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// TestRules has the keywords that refuse a value, with the kinds of the errors.
func TestRules(t *testing.T) {
	for _, test := range []struct{ schema, value, want string }{
		{`{type: integer}`, `1.5`, "type Invalid type, type Invalid value"},
		{`{type: integer}`, `9223372036854775808`, "type Invalid type, type Invalid value"},
		{`{type: integer, format: int32}`, `3000000000`, "format Invalid value"},
		{`{type: number, format: float, minimum: 1.0e+300}`, `2`, "minimum Invalid value, minimum Invalid value"},
		{`{type: integer, maximum: 0.5, multipleOf: 0.5}`, `1`, "multipleOf Invalid value, maximum Invalid value, maximum Invalid value"},
		{`{type: string}`, `null`, "type Invalid type"},
		{`{x-kubernetes-int-or-string: true}`, `true`, "x-kubernetes-int-or-string Invalid type"},
		{`{x-kubernetes-int-or-string: true}`, `null`, "x-kubernetes-int-or-string Invalid type"},
		{`{format: date}`, `"x"`, "format Invalid type"},
		{`{format: date}`, `1`, "format Invalid type"},
		{`{minLength: 1, enum: [a]}`, `""`, "minLength Invalid value, enum Unsupported value"},
		{`{maxLength: 0}`, `"a"`, "maxLength Too long"},
		{`{pattern: a}`, `""`, "pattern Invalid value"},
		{`{minimum: 1, multipleOf: 2}`, `-1`, "multipleOf Invalid value, minimum Invalid value"},
		{`{minimum: 1, exclusiveMinimum: true}`, `1`, "exclusiveMinimum Invalid value"},
		{`{maximum: 1}`, `2`, "maximum Invalid value"},
		{`{maximum: 1, exclusiveMaximum: true}`, `1`, "exclusiveMaximum Invalid value"},
		{`{minItems: 1}`, `[]`, "minItems Invalid value"},
		{`{maxItems: 1, uniqueItems: true}`, `[1, 1]`, "maxItems Too many, uniqueItems Invalid value"},
		{`{minProperties: 1, required: [a]}`, `{}`, "minProperties Invalid value, required Required value"},
		{`{maxProperties: 1, additionalProperties: false, properties: {a: {}}}`, `{"a": 1, "b": 1}`, "maxProperties Too many, additionalProperties Invalid value"},
		{`{anyOf: [{minLength: 1}], oneOf: [{}, {}], allOf: [{maxLength: 0}, {minLength: 1}], not: {}}`, `""`,
			"anyOf Invalid value, minLength Invalid value, oneOf Invalid value, allOf Invalid value, not Invalid value"},
	} {
		var got []string
		for _, err := range new(Validator).Value(parse(t, test.schema), decode(t, test.value), new(enough)) {
			got = append(got, err.Rule+" "+string(err.Kind))
		}
		assert.Equal(t, test.want, strings.Join(got, ", "), "%s: %s", test.schema, test.value)
	}
}

// TestSegments has a path of which errors.Path shortens a name, and the values of an enum.
func TestSegments(t *testing.T) {
	long := strings.Repeat("n", 1000)
	s := parse(t, `{type: object, properties: {`+long+`: {type: array, items: {enum: [a, 1, null, {b: "<"}]}}}}`)
	errs := new(Validator).Value(s, map[string]any{long: []any{"x"}}, new(enough))
	require.Len(t, errs, 1)
	assert.Equal(t, []errors.Segment{{Name: long, IsName: true}, {}}, errs[0].Segments())
	assert.Equal(t, []string{`"a"`, "1", "null", `{"b":"\u003c"}`}, errs[0].Allowed())

	errs = new(Validator).Object(&schema.Structural{}, decode(t, `{"metadata": {"name": "n", "managedFields": [{"operation": "X"}]}}`).(map[string]any), new(enough))
	require.Len(t, errs, 1)
	assert.Equal(t, []string{`"Apply"`, `"Update"`}, errs[0].Allowed())
}
