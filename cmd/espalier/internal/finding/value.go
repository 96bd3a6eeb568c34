package finding

import (
	"slices"

	"github.com/espalier-dev/espalier/errors"
)

// This file names findings about values as reports do.

// ValueRule returns the rule for values that a keyword refuses: invalid-value/enum.
func ValueRule(keyword string) string {
	id := RuleValue + "/" + keyword
	if keyword == "" || !slices.ContainsFunc(valueRules, func(r Rule) bool { return r.ID == id }) {
		return RuleValue
	}
	return id
}

// Type returns the type of an error about a value, as the API server names it in the causes of a
// Status (field.ErrorType of k8s.io/apimachinery).
func Type(e *errors.ValueError) string {
	switch e.Kind {
	case errors.SchemaRequired:
		return "FieldValueRequired"
	case errors.SchemaForbidden:
		return "FieldValueForbidden"
	case errors.SchemaUnsupported:
		return "FieldValueNotSupported"
	case errors.SchemaDuplicate:
		return "FieldValueDuplicate"
	case errors.SchemaTooLong:
		return "FieldValueTooLong"
	case errors.SchemaTooMany:
		return "FieldValueTooMany"
	case errors.SchemaTypeInvalid:
		return "FieldValueTypeInvalid"
	case errors.SchemaInternal:
		return "InternalError"
	}
	return "FieldValueInvalid"
}
