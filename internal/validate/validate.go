// Package validate tells whether a value is valid under a structural schema, and why not, as a
// kube-apiserver does after decoding and defaulting, with the server's texts.
//
// Values are those of [Decode]: nil, bool, int64, float64, string, []any and map[string]any.
//
// Work is counted in steps: the caller says how many there are, and a count below zero means that
// they did not suffice, and that errors may be missing. A step is, for example, the comparison with
// one value of an enum, or one byte of a message.
package validate

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	kjson "sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/schemapath"
	"github.com/espalier-dev/espalier/schema"
)

// An Error is a reason why a value is invalid.
type Error struct {
	Kind errors.SchemaErrorKind
	// Rule is the keyword of the schema that refuses the value. It is metadata, apiVersion, kind or
	// scale where no schema does, but the server for all kinds.
	Rule string
	// Field is what the server adds to the path of the whole value: .spec.list[0]. It is empty for
	// the whole, and for what anyOf, oneOf, allOf and not demand.
	Field string
	Value string // as the server shows it
	Msg   string
	IsOld bool  // the value is that of the stored object, which the server has kept
	enum  []any // that are allowed instead
	at    *trail
	text  string // in kube-openapi, which recognizes repeated errors by it
	// isCommon says that the error is not one of the strategy for custom resources.
	isCommon bool
}

// Hinders reports whether rules in CEL are not evaluated for an object with the error
// (hasBlockingErr).
func (e *Error) Hinders() bool {
	switch e.Kind {
	case errors.SchemaUnsupported, errors.SchemaRequired, errors.SchemaTooLong, errors.SchemaTooMany,
		errors.SchemaTypeInvalid:
		return !e.isCommon
	}
	return false
}

// Path returns the path to the value that the error is about. It may be missing.
func (e *Error) Path() errors.Path { return e.at.path() }

// Segments returns the path with whole names, of which Path shortens those that are long.
func (e *Error) Segments() []errors.Segment { return e.at.segments() }

// Allowed returns the values of the enum that the error is about, as Value shows values.
func (e *Error) Allowed() (list []string) {
	for _, x := range e.enum {
		list = append(list, Render(x))
	}
	return list
}

// Below returns the error with the path of the whole value, which may be nil.
func (e *Error) Below(p *schemapath.Path) *errors.SchemaError {
	field := e.Field
	if p == nil {
		field = strings.TrimPrefix(field, ".")
	} else {
		field = p.String() + field
	}
	return &errors.SchemaError{Kind: e.Kind, Field: field, Value: e.Value, Msg: e.Msg}
}

// Error returns the server's text for a value without a path.
func (e *Error) Error() string {
	below := e.Below(nil)
	if below.Field == "" {
		below.Field = "<nil>"
	}
	return below.Error()
}

// A Validator validates values, which it only reads. It keeps what it has compiled of a schema, for
// all schemas that it is given: they must not change. The zero Validator is ready for use, by one
// goroutine.
type Validator struct {
	schemas map[*schema.Structural]*prepared
}

// prepared are the parts of a schema that are compiled once for all values.
type prepared struct {
	pattern *regexp.Regexp // nil if it is malformed, which the rules for schemas refuse
	enum    enum
	stored  enum // that of a definition that the server has stored
}

// An enum has the values that are allowed.
type enum struct {
	values    []any
	compounds map[string]bool // the identities of the objects and arrays among them
}

func (e *enum) add(x any) {
	e.values = append(e.values, x)
	switch x.(type) {
	case map[string]any, []any:
		if e.compounds == nil {
			e.compounds = make(map[string]bool)
		}
		e.compounds[string(appendIdentity(nil, x))] = true
	}
}

func (v *Validator) prepare(s *schema.Structural) *prepared {
	p := v.schemas[s]
	if p == nil {
		p = new(prepared)
		p.pattern, _ = regexp.Compile(s.Pattern)
		for _, text := range s.Enum {
			x, _ := Decode(text)
			p.enum.add(x)
			p.stored.add(asStored(x))
		}
		if v.schemas == nil {
			v.schemas = make(map[*schema.Structural]*prepared)
		}
		v.schemas[s] = p
	}
	return p
}

// asStored returns a value of a schema as the server has it after it has stored the definition: a
// number without a fraction is an integer then, also if it was written as 1.0 or 1e2.
func asStored(x any) any {
	js, _ := json.Marshal(x) // what was decoded can be written
	x, _ = Decode(js)
	return x
}

// Default validates a default of s.
func (v *Validator) Default(s *schema.Structural, x any, steps *int) []Error {
	return checker{rules: ofDefaults, by: v, steps: steps}.with(s, nil).check(x).errs
}

// Value validates a value in an object, or the object. It looks at what the schema says of values,
// except for rules in CEL.
func (v *Validator) Value(s *schema.Structural, x any, steps *int) []Error {
	return checker{rules: ofObjects, by: v, steps: steps}.with(s, nil).check(x).errs
}

// Object validates a custom resource that is created, of any type: [Validator.Create] without what
// depends on the kind. A name that is to be generated may be absent. A namespace may be absent,
// too, and is that of a resource in a namespace: the server ignores any other.
func (v *Validator) Object(s *schema.Structural, x map[string]any, steps *int) []Error {
	r := report{steps: steps}
	r.root(x)
	r.errs = append(r.errs, v.Value(s, x, steps)...)
	r.embedded(x, s)
	r.lists(x, s)
	return r.errs
}

// Part validates a value that is no custom resource: its values, the metadata of the resources
// embedded in it, and the elements of its sets and maps.
func (v *Validator) Part(s *schema.Structural, x any, steps *int) []Error {
	r := report{steps: steps, errs: v.Value(s, x, steps)}
	r.embedded(x, s)
	r.lists(x, s)
	return r.errs
}

// TypesAndFormat returns the types that the server compares values of s with, joined by commas, and
// the format that it validates, if there is one.
func TypesAndFormat(s *schema.Structural) (types, format string) {
	c := checker{rules: ofObjects}.with(s, nil)
	return c.types, c.format
}

// Decode decodes a value with the server's rule for numbers: a literal without point and exponent
// that fits an int64 is one, and others are float64. No text is null.
func Decode(text []byte) (x any, err error) {
	if len(text) == 0 {
		return nil, nil
	}
	err = kjson.UnmarshalCaseSensitivePreserveInts(text, &x)
	return x, err
}

// Render returns a value as field errors show it.
func Render(x any) string {
	switch x := x.(type) {
	case string:
		return strconv.Quote(x)
	case int64, float64, bool:
		return fmt.Sprint(x)
	case json.RawMessage:
		return string(x)
	}
	js, _ := json.Marshal(x)
	return string(js)
}

// Supported returns the message of an error about a value that is none of those supported.
func Supported(values []string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = strconv.Quote(v)
	}
	return "supported values: " + strings.Join(quoted, ", ")
}

func tooLong(limit int64) string {
	switch {
	case limit < 0:
		return "value is too long"
	case limit == 1:
		return "may not be more than 1 byte"
	}
	return fmt.Sprintf("may not be more than %d bytes", limit)
}

func tooMany(limit int64) string {
	switch {
	case limit < 0:
		return "has too many items"
	case limit == 1:
		return "must have at most 1 item"
	}
	return fmt.Sprintf("must have at most %d items", limit)
}
