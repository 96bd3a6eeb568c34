package kube

import (
	"cmp"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	ferrors "github.com/espalier-dev/espalier/errors"
)

// fieldErrors returns the errors for an object that a decoder has refused.
func fieldErrors(err error, object map[string]any) (list field.ErrorList) {
	var invalid *ferrors.InvalidError
	var mismatch *ferrors.TypeError
	switch {
	case errors.As(err, &invalid):
		for _, f := range invalid.Findings() {
			list = append(list, fieldError(&f, object))
		}
		slices.SortStableFunc(list, func(a, b *field.Error) int { return cmp.Compare(rank(a), rank(b)) })
		if n := invalid.Omitted(); n > 0 {
			list = append(list, field.Invalid(nil, "", omitted(n).Error()))
		}
	case errors.As(err, &mismatch):
		// In metadata, or in the type of an embedded resource. Decoding leaves none, but admission
		// may.
		for _, f := range mismatch.Findings {
			list = append(list, &field.Error{
				Type: field.ErrorTypeInvalid, Field: f.FieldPath(), BadValue: valueAt(object, f.Path), Detail: f.Error(),
			})
		}
	default:
		list = append(list, field.InternalError(nil, err))
	}
	return list
}

// rank is 0 for errors in the object's own metadata, with which the server begins, and 1 for others.
func rank(e *field.Error) int {
	if rest, ok := strings.CutPrefix(e.Field, "metadata"); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
		return 0
	}
	return 1
}

// errorTypes are the types of errors by their kinds.
var errorTypes = map[ferrors.SchemaErrorKind]field.ErrorType{
	ferrors.SchemaRequired:    field.ErrorTypeRequired,
	ferrors.SchemaInvalid:     field.ErrorTypeInvalid,
	ferrors.SchemaForbidden:   field.ErrorTypeForbidden,
	ferrors.SchemaUnsupported: field.ErrorTypeNotSupported,
	ferrors.SchemaDuplicate:   field.ErrorTypeDuplicate,
	ferrors.SchemaTooLong:     field.ErrorTypeTooLong,
	ferrors.SchemaTooMany:     field.ErrorTypeTooMany,
	ferrors.SchemaTypeInvalid: field.ErrorTypeTypeInvalid,
	ferrors.SchemaInternal:    field.ErrorTypeInternal,
}

// fieldError returns an error as the server has it.
func fieldError(f *ferrors.Finding, object map[string]any) *field.Error {
	e := f.Invalid
	return &field.Error{
		Type: errorTypes[e.Kind], Field: cmp.Or(e.Field, (*field.Path)(nil).String()),
		BadValue: badValue(f, object), Detail: e.Msg,
	}
}

// badValue returns the value that the server's error has. That is the value in the object, where it
// has the text of the error, and otherwise another one: a name of the object, a type, a count.
func badValue(f *ferrors.Finding, object map[string]any) any {
	text := f.Invalid.Value
	switch f.Invalid.Kind {
	case ferrors.SchemaInternal:
		return nil
	case ferrors.SchemaRequired, ferrors.SchemaForbidden:
		return ""
	case ferrors.SchemaTooLong:
		return field.TooLong(nil, "", 0).BadValue
	case ferrors.SchemaInvalid, ferrors.SchemaDuplicate:
		if text == "" { // an object or array that a rule in CEL refuses
			return field.OmitValueType{}
		}
	case ferrors.SchemaTooMany:
		if n, err := strconv.Atoi(text); err == nil {
			return n
		}
	}
	if own := valueAt(object, f.Path); render(own) == text {
		return own
	}
	if quoted, err := strconv.Unquote(text); err == nil {
		return quoted
	}
	var value any
	if err := kjson.UnmarshalCaseSensitivePreserveInts([]byte(text), &value); err != nil || render(value) != text {
		return stdjson.RawMessage(text)
	}
	return value
}

// render returns a value as field errors show it.
func render(value any) string {
	switch value := value.(type) {
	case string:
		return strconv.Quote(value)
	case int64, float64, bool:
		return fmt.Sprint(value)
	}
	text, _ := stdjson.Marshal(value) // which is JSON
	return string(text)
}

// valueAt returns the value at a path, or nil if there is none, or if the path has a gap.
func valueAt(value any, path ferrors.Path) any {
	for s := range path.Segments() {
		switch of := value.(type) {
		case map[string]any:
			value = of[s.Name]
		case []any:
			if s.Gap > 0 || s.Index >= len(of) {
				return nil
			}
			value = of[s.Index]
		default:
			return nil
		}
	}
	return value
}
