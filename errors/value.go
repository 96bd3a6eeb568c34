package errors

import (
	"encoding/json"
	"slices"
)

// A ValueError says why the API server refuses a value, or that it misses one.
// It is a field.Error of k8s.io/apimachinery, with the rule that was broken.
type ValueError struct {
	// Kind is the Type of the field.Error, in the words of its text.
	Kind SchemaErrorKind `json:"kind"`
	// Rule is the keyword of the schema that refuses the value: required,
	// maximum, x-kubernetes-list-type. It is metadata, apiVersion, kind or
	// scale where no schema does, but the server for all kinds.
	Rule string `json:"rule"`
	// Field is the path in the server's spelling. It is empty where the
	// server gives none, as for anyOf, oneOf, allOf and not.
	Field string `json:"field,omitzero"`
	// Value is the value as the server renders it: text in quotes, other
	// values as JSON. It is empty for Required, Forbidden and TooLong, and
	// for objects and arrays that a rule in CEL refuses.
	Value string `json:"value,omitzero"`
	// Msg says what is wrong.
	Msg string `json:"message,omitzero"`
	// Allowed are the values that are allowed instead, for an enum, as the
	// server renders them.
	Allowed []string `json:"allowed,omitempty"`
	// RuleIndex says which of the rules has refused the value, where Rule is
	// x-kubernetes-validations. The rules are those in the schema of the value
	// to which the first RuleDepth segments of the Finding's path lead. The
	// others are the fieldPath of the rule.
	RuleIndex int `json:"ruleIndex,omitzero"`
	RuleDepth int `json:"ruleDepth,omitzero"`
}

// Error returns the API server's text: field: kind: value: message.
func (e *ValueError) Error() string {
	s := SchemaError{e.Kind, e.Field, e.Value, e.Msg}
	if s.Field == "" {
		s.Field = "<nil>"
	}
	return s.Error()
}

// Size returns how many bytes of text the error has, without those of Allowed.
func (e *ValueError) Size() int { return len(e.Field) + len(e.Value) + len(e.Msg) }

// within returns the error for a part of a larger document, to which the path leads.
func (e *ValueError) within(prefix Path) *ValueError {
	below := *e
	if e.Field == "" || prefix.IsRoot() {
		return &below
	}
	dot := "."
	// The path of the scale subresource begins with a dot, as in the definition.
	if e.Field[0] == '[' || e.Rule == "scale" && e.Field[0] == '.' {
		dot = ""
	}
	below.Field = prefix.String() + dot + e.Field
	return &below
}

// An InvalidError is returned for an object with invalid values, where values
// are validated (decoder.ValueValidation). The API server refuses it with the
// status 422 (Invalid). The result that comes with the error is complete.
//
// errors.As finds each *Finding in it.
//
// An InvalidError is immutable, because its methods return copies.
type InvalidError struct {
	list    List
	omitted int
}

// NewInvalidError returns the error for the findings in list. omitted is how
// many further findings were not kept. The list belongs to the error
// afterwards.
func NewInvalidError(list List, omitted int) *InvalidError { return &InvalidError{list, omitted} }

// Findings returns the invalid values, in the order of the document. The list
// is a copy that belongs to the caller.
func (e *InvalidError) Findings() List { return slices.Clone(e.list) }

// Omitted returns how many findings were beyond the limits and were not kept.
func (e *InvalidError) Omitted() int { return e.omitted }

// Error has the API server's text for each value: the object is invalid:
// spec.a: Required value, spec.b: Invalid value: 7: ...
func (e *InvalidError) Error() string {
	return "the object is invalid: " + joinFindings(e.list, e.omitted, (*Finding).Error)
}

// Unwrap returns the findings, each a *Finding. They are copies that belong to
// the caller.
func (e *InvalidError) Unwrap() []error { return unwrapFindings(e.Findings()) }

// MarshalJSON returns the error for logs: an object with the member findings,
// and with the member omitted if findings were omitted.
func (e *InvalidError) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Findings List `json:"findings"`
		Omitted  int  `json:"omitted,omitzero"`
	}{e.list, e.omitted})
}
