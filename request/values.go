package request

import (
	"bytes"
	"cmp"
	"encoding/json"
	stderrors "errors"
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/apiserver"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/schema"
)

// NOTE: values are validated where an object is created. What the server says of an update depends
// on the stored object, whose parts excuse equal ones that are invalid, and that is not known here.

// errNoValues is for programs that cannot validate values. To accept all values instead would be
// to fail open.
var errNoValues = stderrors.New("request: values are to be validated, and the programs were compiled without validation.Values: " +
	"give it to schema.NewCatalog or schema.Compile")

// valuesOf returns how the options validate values: the last option counts.
func valuesOf(opts []decoder.Option) (values decoder.ValueValidation) {
	for _, opt := range opts {
		if v, ok := opt.(decoder.ValueValidation); ok {
			values = v
		}
	}
	return values
}

// mustBeKnown is valuesOf, and panics for a validation that a request is not enough for.
func mustBeKnown(opts []decoder.Option) decoder.ValueValidation {
	values := valuesOf(opts)
	if values == decoder.ValidateUpdate || values == decoder.ValidateStatusUpdate {
		panic("request: what an update may be depends on the stored object: use decoder.ValidateCreate, " +
			"which applies to POST")
	}
	return values
}

// cannotValidate reports whether the options ask for what the program cannot do.
func cannotValidate(p *schema.Program, opts []decoder.Option) bool {
	return valuesOf(opts) != decoder.AcceptValues && program.Of(p).Validator == nil
}

// use returns what the body is decoded for.
func (x *Exchange) use() use {
	switch {
	case x.form.isPatch():
		return patched
	case x.r.Method == methodPost && valuesOf(x.resource.Decoder) != decoder.AcceptValues:
		return created
	}
	return stored
}

// withoutValues returns the findings that are not about values.
func withoutValues(list errors.List) errors.List {
	return slices.DeleteFunc(slices.Clone(list), func(f errors.Finding) bool { return f.Kind == errors.InvalidValue })
}

// invalidObject returns the answer to an object that is created with invalid values: NewInvalid of
// k8s.io/apimachinery/pkg/api/errors. The findings are charged.
func (x *Exchange) invalidObject(err *errors.InvalidError) *StatusError {
	const copies = 4 // in findings, causes and the message
	invalid := err.Findings()
	if !x.chargeTexts(invalid, copies) {
		return overloaded()
	}
	apiVersion, kind, _ := decoder.PeekType(x.result)
	group, _ := splitAPIVersion(apiVersion)
	causes := make([]Cause, len(invalid))
	for i := range invalid {
		causes[i] = causeOf(invalid[i].Invalid)
	}
	refused := invalidFields(upTo(maxEcho, group), upTo(maxEcho, kind), upTo(maxEcho, createdName(x.result)), causes, err.Omitted())
	refused.Header = warningHeader(x.texts)
	refused.Err = err
	return refused
}

// chargeTexts charges the given number of copies of the texts of invalid values.
func (x *Exchange) chargeTexts(invalid errors.List, copies int) bool {
	size := 0
	for i := range invalid {
		size += 64 + copies*invalid[i].Invalid.Size()
	}
	return x.memory.charge(size)
}

// warnOfValues adds a warning for each invalid value of an object that passes all the same. It does
// so whatever fieldValidation says, which is about fields alone.
func (x *Exchange) warnOfValues(err *errors.InvalidError) *StatusError {
	const copies = 3 // in the findings, in the texts and in headers
	invalid := err.Findings()
	if !x.chargeTexts(invalid, copies) {
		return overloaded()
	}
	for i := range invalid {
		x.texts = append(x.texts, invalid[i].Error())
	}
	return nil
}

// createdName returns the name of an object that is created. A name that is generated ends in five
// random characters, in place of which there are x.
func createdName(result []byte) string {
	metadata := apiserver.Member(result, "metadata")
	name, base := textOf(metadata, "name"), textOf(metadata, "generateName")
	if name != "" || base == "" {
		return name
	}
	const limit = 58 // of names.SimpleNameGenerator
	return base[:min(len(base), limit)] + "xxxxx"
}

// textOf returns the member of an object that is a string, or an empty text.
func textOf(object []byte, name string) (text string) {
	_ = json.Unmarshal(apiserver.Member(object, name), &text) // the text stays empty
	return text
}

// causeOf returns the cause that NewInvalid makes of a field.Error.
func causeOf(e *errors.ValueError) Cause {
	field := cmp.Or(e.Field, "<nil>") // the text of no path
	return Cause{
		Reason:  causeReasons[e.Kind],
		Message: strings.TrimPrefix(e.Error(), field+": "),
		Field:   field,
	}
}

// causeReasons are the types of field errors (k8s.io/apimachinery/pkg/util/validation/field).
var causeReasons = map[errors.SchemaErrorKind]string{
	errors.SchemaRequired:    "FieldValueRequired",
	errors.SchemaInvalid:     "FieldValueInvalid",
	errors.SchemaForbidden:   "FieldValueForbidden",
	errors.SchemaUnsupported: "FieldValueNotSupported",
	errors.SchemaDuplicate:   "FieldValueDuplicate",
	errors.SchemaTooLong:     "FieldValueTooLong",
	errors.SchemaTooMany:     "FieldValueTooMany",
	errors.SchemaTypeInvalid: "FieldValueTypeInvalid",
	errors.SchemaInternal:    "InternalError",
}

// warningHeader returns a header with warnings, or nil. The server sends those of decoding whatever
// follows. The texts are overwritten.
func warningHeader(texts []string) map[string]string {
	values := warnings(texts)
	if len(values) == 0 {
		return nil
	}
	return map[string]string{"Warning": strings.Join(values, ", ")} // a list: RFC 7234 section 5.5
}

// isOfAnotherKind reports whether an object, which may be valid, is invalid for its kind.
func isOfAnotherKind(err *errors.InvalidError) bool {
	return err != nil && slices.ContainsFunc(err.Findings(), func(f errors.Finding) bool { return f.Invalid.Rule == "kind" })
}

// warnOfCreation adds the server's warnings about an object that is created: about owner references
// that repeat and, if it is valid, about the names of its finalizers.
func (x *Exchange) warnOfCreation(isValid bool) *StatusError {
	mayHave := func(text string) bool { return bytes.Contains(x.result, []byte(text)) }
	if !mayHave(`"ownerReferences"`) && !mayHave(`"finalizers"`) && !mayHave(`\u`) {
		return nil
	}
	metadata := apiserver.Member(x.result, "metadata")
	owners, finalizers := apiserver.Member(metadata, "ownerReferences"), []byte(nil)
	if isValid {
		finalizers = apiserver.Member(metadata, "finalizers")
	}
	if owners == nil && finalizers == nil {
		return nil
	}
	// An owner reference takes some copies as a map and as text. A name may have three warnings of
	// some hundred bytes, and is in each of them.
	const perElement, copies = 1 << 10, 100
	size := copies*(len(owners)+len(finalizers)) + perElement*(2+bytes.Count(finalizers, []byte{','}))
	if !x.memory.charge(size) {
		return overloaded()
	}
	x.texts = append(x.texts, program.Of(x.resource.Program).Validator.Warnings(owners, finalizers)...)
	return nil
}
