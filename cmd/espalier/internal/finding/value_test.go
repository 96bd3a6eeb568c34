package finding

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/espalier-dev/espalier/errors"
)

// TestRules: each rule has a name of its own, and says what to do.
func TestRules(t *testing.T) {
	seen := map[string]bool{}
	for i, r := range Rules {
		assert.False(t, seen[r.ID], r.ID)
		seen[r.ID] = true
		assert.Regexp(t, `^[A-Z].*\.$`, r.About, r.ID)
		assert.Regexp(t, `^[A-Z].*\.$`, r.Help, r.ID)
		assert.Regexp(t, `^[A-Z].*\.$`, r.Why, r.ID)
		assert.Same(t, &Rules[i], RuleOf(r.ID))
	}
}

// TestSuppress: findings of fixed rules stay, whatever a suppression says.
func TestSuppress(t *testing.T) {
	v := Outcome{Findings: []Finding{{Rule: RuleUnknown}, {Rule: RuleSyntax}, {Rule: RuleNull}, {Rule: "novelty"}}}
	v.Suppress(func(f *Finding) *Suppression {
		if f.Rule == RuleNull {
			return nil
		}
		return &Suppression{Reason: "known"}
	})
	assert.Equal(t, []Finding{{Rule: RuleSyntax}, {Rule: RuleNull}, {Rule: "novelty"}}, v.Findings)
	assert.Equal(t, []Finding{{Rule: RuleUnknown, Suppression: &Suppression{Reason: "known"}}}, v.Suppressed)
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
		errors.SchemaInternal:    "InternalError",
	} {
		assert.Equal(t, want, Type(&errors.ValueError{Kind: kind}))
	}
}

func TestPlace(t *testing.T) {
	assert.Equal(t, "crd.yaml:3:5", Place{"crd.yaml", errors.Position{Line: 3, Column: 5}}.String())
	assert.Equal(t, "crd.yaml", Place{File: "crd.yaml"}.String())
	assert.Equal(t, `"a\nb":3:5`, Place{"a\nb", errors.Position{Line: 3, Column: 5}}.String())
}
