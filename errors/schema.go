package errors

import "strings"

// A SchemaErrorKind says what is wrong with a schema, in the words of the API
// server's field errors (k8s.io/apimachinery/pkg/util/validation/field).
type SchemaErrorKind string

// These are the kinds of errors that the API server uses for definitions and for
// values.
const (
	SchemaRequired    SchemaErrorKind = "Required value"
	SchemaInvalid     SchemaErrorKind = "Invalid value"
	SchemaForbidden   SchemaErrorKind = "Forbidden"
	SchemaUnsupported SchemaErrorKind = "Unsupported value"
	SchemaDuplicate   SchemaErrorKind = "Duplicate value"
	SchemaTooLong     SchemaErrorKind = "Too long"
	SchemaTooMany     SchemaErrorKind = "Too many"

	// SchemaTypeInvalid is about a value of another type or format than the
	// schema has. The text of such an error is that of SchemaInvalid.
	SchemaTypeInvalid SchemaErrorKind = "Invalid type"

	// SchemaInternal is about a rule in CEL that could not be evaluated to its
	// end, as it takes too long or fails in an unexpected way.
	SchemaInternal SchemaErrorKind = "Internal error"
)

// A SchemaError says why a schema is refused, or what is questionable in it.
type SchemaError struct {
	Kind SchemaErrorKind
	// Field leads to the place in the definition, in the spelling of the
	// API server: spec.validation.openAPIV3Schema.properties[spec].type.
	Field string
	// Value is the offending value as the API server renders it: text in
	// quotes, other values as JSON. It is empty for Required, Forbidden and
	// TooLong, and where the server leaves it out.
	Value string
	// Msg says what is wrong.
	Msg string
}

// Error returns the API server's text: field: kind: value: message.
func (e *SchemaError) Error() string {
	var b strings.Builder
	if e.Field != "" {
		b.WriteString(e.Field + ": ")
	}
	if e.Kind == SchemaTypeInvalid {
		b.WriteString(string(SchemaInvalid))
	} else {
		b.WriteString(string(e.Kind))
	}
	if e.Kind != SchemaRequired && e.Kind != SchemaForbidden && e.Kind != SchemaTooLong && e.Value != "" {
		b.WriteString(": " + e.Value)
	}
	if e.Msg != "" {
		b.WriteString(": " + e.Msg)
	}
	return b.String()
}

// SchemaErrors are the reasons why a schema is refused, in the order of the API
// server. errors.As finds each *SchemaError in it.
type SchemaErrors []*SchemaError

// Error returns the messages. Several messages are separated by commas and put
// in brackets.
func (e SchemaErrors) Error() string {
	if len(e) == 1 {
		return e[0].Error()
	}
	msgs := make([]string, len(e))
	for i, err := range e {
		msgs[i] = err.Error()
	}
	return "[" + strings.Join(msgs, ", ") + "]"
}

// Unwrap returns the errors, each a *SchemaError.
func (e SchemaErrors) Unwrap() []error {
	errs := make([]error, len(e))
	for i, err := range e {
		errs[i] = err
	}
	return errs
}
