package finding

import (
	"slices"

	"github.com/espalier-dev/espalier/errors"
)

// This file has the rules for values. Each has the keyword of the schema that refuses the value, or
// the part of an object for which the server has rules of its own.

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
	}
	return "FieldValueInvalid"
}

const (
	helpBounds  = "Write a value within the bounds that the message names."
	helpJunctor = "Compare the value with the alternatives in the definition."
	helpDefined = "Write what the message names."
)

var valueRules = []Rule{
	{
		RuleWarning,
		"Metadata that the API server accepts with a warning: the name of a finalizer, or owners that repeat.",
		"Write the name of a finalizer with a domain and a path, such as example.com/cleanup, and each owner once.",
	},
	{RuleValue, "A value that the API server refuses.", "Correct the value as the message says."},
	{RuleValue + "/required", "A field is absent that the schema requires.", "Write the field."},
	{
		RuleValue + "/type",
		"A value is of another type than the schema's, or not in the range of its type.",
		"Write a value of the type that the message names.",
	},
	{
		RuleValue + "/x-kubernetes-int-or-string",
		"A value is neither an integer nor a string.",
		"Write an integer or a string.",
	},
	{
		RuleValue + "/enum",
		"A value is not one of those that the schema lists.",
		"Write one of the values that the message lists.",
	},
	{
		RuleValue + "/pattern",
		"A text does not match the regular expression of the schema.",
		"Write a text that matches the expression in the message.",
	},
	{
		RuleValue + "/format",
		"A value does not have the format of the schema.",
		"Write the value in the format that the message names.",
	},
	{RuleValue + "/minLength", "A text is shorter than the schema allows.", helpBounds},
	{RuleValue + "/maxLength", "A text is longer than the schema allows.", helpBounds},
	{RuleValue + "/minimum", "A number is less than the schema allows.", helpBounds},
	{
		RuleValue + "/exclusiveMinimum",
		"A number is not greater than the bound of the schema.",
		helpBounds,
	},
	{RuleValue + "/maximum", "A number is greater than the schema allows.", helpBounds},
	{
		RuleValue + "/exclusiveMaximum",
		"A number is not less than the bound of the schema.",
		helpBounds,
	},
	{
		RuleValue + "/multipleOf",
		"A number is not a multiple of the one in the schema.",
		"Write a multiple of the number in the message.",
	},
	{RuleValue + "/minItems", "An array has fewer elements than the schema allows.", helpBounds},
	{RuleValue + "/maxItems", "An array has more elements than the schema allows.", helpBounds},
	{RuleValue + "/uniqueItems", "An array has equal elements.", "Remove the repeated element."},
	{
		RuleValue + "/minProperties",
		"An object has fewer members than the schema allows.",
		helpBounds,
	},
	{
		RuleValue + "/maxProperties",
		"An object has more members than the schema allows.",
		helpBounds,
	},
	{
		RuleValue + "/additionalProperties",
		"An object has a member that the schema forbids.",
		"Remove the member.",
	},
	{RuleValue + "/allOf", "A value does not match all schemas of allOf.", helpJunctor},
	{RuleValue + "/anyOf", "A value matches no schema of anyOf.", helpJunctor},
	{RuleValue + "/oneOf", "A value matches no schema of oneOf, or several.", helpJunctor},
	{
		RuleValue + "/not",
		"A value matches a schema that it must not match.",
		"Compare the value with the schema below not in the definition.",
	},
	{
		RuleValue + "/x-kubernetes-list-type",
		"Elements of a set are equal, or elements of a list with keys have the same keys.",
		"Remove the repeated element, or change its keys.",
	},
	{
		RuleValue + "/metadata",
		"Metadata that the API server refuses in every object: a name, a label, an annotation, a finalizer, an owner.",
		"Correct the metadata as the message says.",
	},
	{RuleValue + "/apiVersion", "The apiVersion is not that of the definition.", helpDefined},
	{RuleValue + "/kind", "The kind is not that of the definition.", helpDefined},
	{
		RuleValue + "/scale",
		"A value that the scale subresource uses is not a number of replicas, or not a selector.",
		"Write a number of replicas, or a selector as text.",
	},
}
