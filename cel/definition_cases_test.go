package cel

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

func definitionOf(t *testing.T, versions ...string) *schema.CRD {
	t.Helper()
	c := &schema.CRD{APIVersion: "apiextensions.k8s.io/v1", Name: "as.example.com", Group: "example.com", Kind: "A", Plural: "as", Scope: "Cluster"}
	for i, text := range versions {
		s, err := schema.Parse([]byte(text))
		require.NoError(t, err)
		c.Versions = append(c.Versions, schema.Version{Name: fmt.Sprint("v", i+1), Served: true, Storage: i == 0, Schema: s})
	}
	return c
}

// lines returns the errors one a line, without what the path and the message of each begin with.
func lines(errs []DefinitionError) string {
	var b strings.Builder
	for _, e := range errs {
		msg, _, _ := strings.Cut(e.Msg, "\n")
		msg, _, _ = strings.Cut(msg, " (try ")
		fmt.Fprintf(&b, "%s: %s: %s", strings.TrimPrefix(e.Field, "spec.validation.openAPIV3Schema"), e.Kind, msg)
		if e.Line > 0 {
			fmt.Fprintf(&b, " [%d:%d]", e.Line, e.Column)
		}
		for _, limit := range e.Limits {
			b.WriteString(" " + strings.TrimPrefix(limit, "spec.validation.openAPIV3Schema"))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// TestDefinitionPlaces has expressions that do not compile, with the places in them.
func TestDefinitionPlaces(t *testing.T) {
	c := definitionOf(t, `
type: object
properties:
  spec:
    type: object
    x-kubernetes-validations:
    - rule: self.b == 1
    - {rule: "has(self.a) &&\n  self.é == 1", message: m}
    - {rule: "true", messageExpression: "'é' + x"}
    - {rule: self.a, fieldPath: .a}
    - {rule: "true", fieldPath: .c}
    properties: {a: {type: integer}}
  status:
    type: object
    x-kubernetes-validations: [{rule: self.b == 1}]
    properties: {a: {type: integer}}
`)
	const rules = ".properties[spec].x-kubernetes-validations"
	assert.Equal(t, rules+`[4].fieldPath: Invalid value: must be a valid path
.properties[status].x-kubernetes-validations[0].rule: Invalid value: compilation failed: ERROR: <input>:1:5: undefined field 'b' [1:5]
`, lines(Definition(c, nil)), "a schema with errors is not compiled")

	c.Versions[0].Schema.Properties["spec"].XValidations = c.Versions[0].Schema.Properties["spec"].XValidations[:4]
	assert.Equal(t, rules+`[0].rule: Invalid value: compilation failed: ERROR: <input>:1:5: undefined field 'b' [1:5]
`+rules+`[1].rule: Invalid value: compilation failed: ERROR: <input>:2:8: Syntax error: token recognition error at: 'é' [2:8]
`+rules+`[2].messageExpression: Invalid value: messageExpression compilation failed: ERROR: <input>:1:7: undeclared reference to 'x' (in container '') [1:7]
`+rules+`[3].rule: Invalid value: cel expression must evaluate to a bool
.properties[status].x-kubernetes-validations[0].rule: Invalid value: compilation failed: ERROR: <input>:1:5: undefined field 'b' [1:5]
`, lines(Definition(c, nil)))
}

// TestDefinitionLimits has rules that are too costly, with the limits that would help.
func TestDefinitionLimits(t *testing.T) {
	c := definitionOf(t, `
type: object
properties:
  spec:
    type: object
    properties:
      groups:
        type: array
        items:
          type: object
          x-kubernetes-validations: [{rule: "self.names.all(a, self.names.all(b, a == b || a.contains(self.by)))"}]
          properties:
            names: {type: array, items: {type: string}}
            by: {type: string, enum: [x]}
            other: {type: array, items: {type: string}}
      map:
        type: object
        additionalProperties:
          type: string
          x-kubernetes-validations: [{rule: "true", messageExpression: "self + self"}]
`)
	const (
		rule  = ".properties[spec].properties[groups].items.x-kubernetes-validations[0].rule: Forbidden: "
		names = " .properties[spec].properties[groups].maxItems .properties[spec].properties[groups].items.properties[names].maxItems" +
			" .properties[spec].properties[groups].items.properties[names].items.maxLength\n"
	)
	assert.Equal(t, rule+"estimated rule cost exceeds budget by factor of more than 100x"+names+
		rule+"contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"+names+
		": Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x\n",
		lines(Definition(c, nil)))

	// In a version with the same schema only the sum matters, which is that of the definition.
	assert.Equal(t, rule+"contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"+names+
		": Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x\n",
		lines(Definition(c, definitionOf(t, string(marshalSchema(t, c.Versions[0].Schema))))))
}

func marshalSchema(t *testing.T, s *schema.Structural) []byte {
	js, err := s.MarshalJSON()
	require.NoError(t, err)
	return js
}

// TestDefinitionOldSelf has uses of oldSelf, and defaults that break rules.
func TestDefinitionOldSelf(t *testing.T) {
	c := definitionOf(t, `
type: object
properties:
  spec:
    type: object
    x-kubernetes-map-type: atomic
    x-kubernetes-validations: [{rule: "self == oldSelf"}, {rule: "true", optionalOldSelf: true}]
    properties:
      a: {type: string, x-kubernetes-validations: [{rule: "self == oldSelf"}]}
  list:
    type: array
    maxItems: 2
    items: {type: array, maxItems: 2, items: {type: string, maxLength: 9, x-kubernetes-validations: [{rule: "self == oldSelf"}]}}
`)
	assert.Equal(t, `.properties[list].items.items.x-kubernetes-validations[0].rule: Invalid value: oldSelf cannot be used on the uncorrelatable portion of the schema within spec.validation.openAPIV3Schema.properties[list]
.properties[spec].x-kubernetes-validations[1].optionalOldSelf: Invalid value: may not be set if oldSelf is not used in rule
`, lines(Definition(c, nil)))

	c = definitionOf(t, `
type: object
properties:
  a: {type: string, default: x, x-kubernetes-validations: [{rule: "self == 'y'"}]}
  b: {type: string, x-kubernetes-validations: [{rule: "self.nothing"}]}
`)
	errs := Definition(c, nil)
	assert.Equal(t, ".properties[a].default: Invalid value: failed rule: self == 'y'\n", lines(errs), "then no rule is compiled")
	assert.Equal(t, `"x"`, errs[0].Value)
	assert.Zero(t, errs[0].Line)
}

// TestDefinitionWithoutRules has nothing to say.
func TestDefinitionWithoutRules(t *testing.T) {
	assert.Empty(t, Definition(definitionOf(t, `{type: object}`, `{type: object, items: {type: string}, additionalProperties: true}`), nil))
	assert.Empty(t, Definition(&schema.CRD{OpenAPI: true}, nil))
	loop := &schema.Structural{Type: "object", XValidations: definitionOf(t, `{x-kubernetes-validations: [{rule: "x"}]}`).Versions[0].Schema.XValidations}
	loop.Not = loop
	assert.Empty(t, Definition(&schema.CRD{Group: "g", Kind: "K", Versions: []schema.Version{{Schema: loop}}}, nil))
}

// TestDefinitionStored has expressions that may stay, as the old definition has them: the list
// library of 1.37 is there for those that are stored, and for new ones only when the version before
// has it, too.
func TestDefinitionStored(t *testing.T) {
	const stored = `{type: object, properties: {a: {type: array, maxItems: 2, items: {type: string, maxLength: 9}, x-kubernetes-validations: [` +
		`{rule: "self.includes('a')"}, {rule: "true", messageExpression: "self.includes('a') ? 'a' : 'b'"}]}}}`
	const rules = `.properties[a].x-kubernetes-validations`
	assert.Equal(t, rules+`[0].rule: Invalid value: compilation failed: ERROR: <input>:1:14: undeclared reference to 'includes' (in container '') [1:14]
`+rules+`[1].messageExpression: Invalid value: messageExpression compilation failed: ERROR: <input>:1:14: undeclared reference to 'includes' (in container '') [1:14]
`, lines(Definition(definitionOf(t, stored), nil)))
	assert.Empty(t, Definition(definitionOf(t, stored), definitionOf(t, stored)))
	assert.Empty(t, Definition(definitionOf(t, strings.Replace(stored, "a: {", "b: {", 1)), definitionOf(t, stored)), "in another place")
}

// TestDefinitionMoved has expressions in versions that the old definition does not have.
func TestDefinitionMoved(t *testing.T) {
	const s = `{type: object, properties: {a: {type: string, x-kubernetes-validations: [{rule: "self != 'a'", messageExpression: "self"}]}}}`
	assert.Empty(t, Definition(definitionOf(t, s, s), definitionOf(t, s)))
	var kinds []errors.SchemaErrorKind
	for _, e := range Definition(definitionOf(t, strings.Replace(s, "self !=", "self ==", 1), strings.Replace(s, "self != 'a'", "1", 1)), definitionOf(t, s)) {
		kinds = append(kinds, e.Kind)
	}
	assert.Equal(t, []errors.SchemaErrorKind{errors.SchemaInvalid}, kinds)
}

// TestDefinitionCannotBeRead has definitions that the server's types cannot hold.
func TestDefinitionCannotBeRead(t *testing.T) {
	good := `{type: object, x-kubernetes-validations: [{rule: self.nothing}]}`
	bad := `{type: object, x-kubernetes-validations: [{rule: 5}, {rule: self.nothing}]}`
	require.ErrorContains(t, validation.CRD(definitionOf(t, bad)), "x-kubernetes-validations[0]: Invalid value: {\"rule\":5}: must be a rule")
	assert.Empty(t, Definition(definitionOf(t, bad), nil), "it is known why")
	// How encoding/json names the place depends on the release of Go.
	assert.Regexp(t, `^spec\.versions: Internal error: the old definition: json: cannot unmarshal number into Go struct field \S+\.rule of type string\n$`,
		lines(Definition(definitionOf(t, good), definitionOf(t, bad))))
	c := definitionOf(t, good)
	c.Versions[0].Schema.Example = json.RawMessage("{")
	require.NoError(t, validation.CRD(c))
	assert.Contains(t, lines(Definition(c, nil)), "spec.versions: Internal error: the definition: ")
}
