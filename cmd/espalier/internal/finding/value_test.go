package finding

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/espalier-dev/espalier/errors"
)

// TestRules: each rule has a name of its own, and says what to do.
func TestRules(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rules {
		assert.False(t, seen[r.ID], r.ID)
		seen[r.ID] = true
		assert.Regexp(t, `^[A-Z].*\.$`, r.About, r.ID)
		assert.Regexp(t, `^[A-Z].*\.$`, r.Help, r.ID)
	}
}

func TestValueRule(t *testing.T) {
	for keyword, want := range map[string]string{
		"required": "invalid-value/required",
		"metadata": "invalid-value/metadata",
		"":         "invalid-value",
		"novelty":  "invalid-value",
	} {
		assert.Equal(t, want, ValueRule(keyword), keyword)
	}
}

func TestType(t *testing.T) {
	for kind, want := range map[errors.SchemaErrorKind]string{
		errors.SchemaRequired:    "FieldValueRequired",
		errors.SchemaInvalid:     "FieldValueInvalid",
		errors.SchemaForbidden:   "FieldValueForbidden",
		errors.SchemaUnsupported: "FieldValueNotSupported",
		errors.SchemaDuplicate:   "FieldValueDuplicate",
		errors.SchemaTooLong:     "FieldValueTooLong",
		errors.SchemaTooMany:     "FieldValueTooMany",
		errors.SchemaTypeInvalid: "FieldValueTypeInvalid",
	} {
		assert.Equal(t, want, Type(&errors.ValueError{Kind: kind}))
	}
}

func TestPlace(t *testing.T) {
	assert.Equal(t, "crd.yaml:3:5", Place{"crd.yaml", errors.Position{Line: 3, Column: 5}}.String())
	assert.Equal(t, "crd.yaml", Place{File: "crd.yaml"}.String())
	assert.Equal(t, `"a\nb":3:5`, Place{"a\nb", errors.Position{Line: 3, Column: 5}}.String())
}
