package validation

import (
	"maps"
	"slices"
	"strconv"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/schemapath"
	"github.com/espalier-dev/espalier/internal/validate"
	"github.com/espalier-dev/espalier/schema"
)

// Structural returns the reasons why s is not a structural schema that the API
// server accepts when a definition is created. The result is nil or an
// [errors.SchemaErrors], with the server's messages, its paths below
// openAPIV3Schema, and its order. Rules in CEL (x-kubernetes-validations) are
// not compiled; everything else is checked. A nil s is a missing schema.
//
// The server iterates over some Go maps in random order; Structural iterates by
// name. Its recursion follows s. A schema that contains itself, is deeper than
// [schema.MaxDepth] or has more than 16 million places is refused as a whole;
// parsed schemas never are. Beyond [MaxErrorBytes] errors are only counted, and
// beyond [MaxDefaultSteps] defaults are not validated further. Both are errors
// themselves, of the kind TooMany.
func Structural(s *schema.Structural) error {
	if errs := validateAt(s, "openAPIV3Schema", false, keeps{}); len(errs) > 0 {
		return errs
	}
	return nil
}

// validateAt validates s, in the order of the API server
// (validateCustomResourceDefinitionValidation in the validation of apiextensions). root is the path
// of s. hasStatus says whether the status subresource is on, which restricts the root. kept is for a
// definition that is updated. A nil s is a missing schema.
func validateAt(s *schema.Structural, root string, hasStatus bool, kept keeps) errors.SchemaErrors {
	r := report{kept: kept}
	p := schemapath.Root(root)
	if s == nil {
		r.required(p, "")
		return r.list
	}
	if why := infinite(s); why != "" {
		r.forbidden(p, why)
		return r.list
	}
	if hasStatus {
		r.statusRoot(s, p)
	}
	if s.Nullable {
		r.forbidden(p.Child("nullable"), "nullable cannot be true at the root")
	}
	unsupported := ""
	if !kept.looseSchemas {
		unsupported = unsupportedKeyword(s)
	}
	if unsupported == "" && !kept.looseSchemas {
		more := structuralErrors(s, p)
		if len(more.list) == 0 {
			more = defaultErrors(s, p, kept)
		}
		r.take(more.list)
		r.omitted += more.omitted
	}
	r.definition(s, p, true, metaContext{})
	if len(r.list) == 0 && unsupported != "" {
		r.invalid(p, "", unsupported)
	}
	return r.errors(p)
}

// MaxErrorBytes is how many bytes of text [Structural] and [Warnings] return,
// and [CRD] for one schema: 1 MiB. Without a limit, a schema could have as many
// errors as nodes, each with a path as long as the schema is deep.
const MaxErrorBytes = 1 << 20

// A report collects errors. Its methods have the names of the constructors in
// k8s.io/apimachinery/pkg/util/validation/field.
type report struct {
	list    errors.SchemaErrors
	bytes   int // in list
	omitted int // errors for which there was no room
	kept    keeps
}

// hasRoom reports whether there is room for another error, and counts the error if there is none.
func (r *report) hasRoom() bool {
	if r.bytes >= MaxErrorBytes {
		r.omitted++
		return false
	}
	return true
}

func (r *report) add(kind errors.SchemaErrorKind, p *schemapath.Path, value, msg string) {
	if r.hasRoom() {
		r.keep(&errors.SchemaError{Kind: kind, Field: p.String(), Value: value, Msg: msg})
	}
}

func (r *report) keep(e *errors.SchemaError) {
	r.list = append(r.list, e)
	r.bytes += len(e.Field) + len(e.Value) + len(e.Msg)
}

// take adds the errors of another report.
func (r *report) take(errs errors.SchemaErrors) {
	for _, e := range errs {
		if r.hasRoom() {
			r.keep(e)
		}
	}
}

// errors returns all errors, with one at the end that counts the omitted ones.
func (r *report) errors(root *schemapath.Path) errors.SchemaErrors {
	if r.omitted == 0 {
		return r.list
	}
	return append(r.list, &errors.SchemaError{
		Kind: errors.SchemaTooMany, Field: root.String(), Value: strconv.Itoa(r.omitted),
		Msg: "more faults are not listed: the text of those above is longer than 1 MiB",
	})
}

func (r *report) required(p *schemapath.Path, msg string)  { r.add(errors.SchemaRequired, p, "", msg) }
func (r *report) forbidden(p *schemapath.Path, msg string) { r.add(errors.SchemaForbidden, p, "", msg) }

func (r *report) invalid(p *schemapath.Path, value any, msg string) {
	if r.hasRoom() {
		r.keep(&errors.SchemaError{
			Kind: errors.SchemaInvalid, Field: p.String(), Value: validate.Render(value), Msg: msg,
		})
	}
}

func (r *report) unsupported(p *schemapath.Path, value any, supported []string) {
	if r.hasRoom() {
		r.keep(&errors.SchemaError{
			Kind: errors.SchemaUnsupported, Field: p.String(), Value: validate.Render(value),
			Msg: validate.Supported(supported),
		})
	}
}

// sortedKeys returns the keys of m in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
