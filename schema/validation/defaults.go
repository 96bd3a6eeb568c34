package validation

import (
	"reflect"
	"slices"
	"strconv"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/schemapath"
	"github.com/espalier-dev/espalier/internal/validate"
	"github.com/espalier-dev/espalier/schema"
)

// This file validates defaults: ValidateDefaults of apiextensions-apiserver
// (pkg/apiserver/schema/defaulting/validation.go). Like the server, it validates each default by
// itself, without inserting other defaults into it, and none below additionalProperties.

// defaultErrors validates the defaults in the schema of a resource. The schema must satisfy
// [structuralErrors].
func defaultErrors(s *schema.Structural, p *schemapath.Path, kept keeps) report {
	r := defaultReport{report: report{kept: kept}, steps: MaxDefaultSteps}
	root := *s
	root.XEmbeddedResource = true
	r.defaults(&root, p, nil)
	if r.steps < 0 {
		r.add(errors.SchemaTooMany, p, strconv.Itoa(MaxDefaultSteps),
			"is how many steps there are for the validation of defaults: what is left of them is not validated")
	}
	return r.report
}

// MaxDefaultSteps is how many steps the validation of the defaults of a schema
// may take. A step is, for example, the comparison with one value of an enum,
// or one byte of a message. The number is bounded because each part of a
// default is checked against each alternative for it, and the steps are the
// product of both sizes.
const MaxDefaultSteps = 1 << 20

// A defaultReport collects errors about defaults.
type defaultReport struct {
	report
	validator validate.Validator
	steps     int // that are left
}

// A metaField leads from a resource to a schema within its apiVersion, kind or metadata. It is nil
// for schemas outside of these.
type metaField struct {
	up       *metaField
	resource *schema.Structural // that the field begins in
	name     string             // empty for the elements of an array
}

// around returns a resource that has x in the field.
func (f *metaField) around(x any) map[string]any {
	for ; f.up != nil; f = f.up {
		if f.name == "" {
			x = []any{x}
		} else {
			x = map[string]any{f.name: x}
		}
	}
	resource := map[string]any{"kind": "Validation", "apiVersion": "validation/v1"}
	resource[f.name] = x
	return resource
}

func (r *defaultReport) defaults(s *schema.Structural, p *schemapath.Path, meta *metaField) {
	if s.XEmbeddedResource {
		meta = nil
	}
	if hasDefault(s) {
		r.checkDefault(s, p.Child("default"), meta)
	}
	inside := func(name string) *metaField {
		switch {
		case meta != nil:
			return &metaField{up: meta, resource: meta.resource, name: name}
		case s.XEmbeddedResource && slices.Contains(reserved, name):
			return &metaField{resource: s, name: name}
		}
		return nil
	}
	if item := element(s); item != nil {
		r.defaults(item, p.Child("items"), inside(""))
	}
	for _, name := range sortedKeys(s.Properties) {
		r.defaults(orEmpty(s.Properties[name]), p.Property(name), inside(name))
	}
}

func (r *defaultReport) checkDefault(s *schema.Structural, p *schemapath.Path, meta *metaField) {
	x, err := validate.Decode(s.Default)
	if err != nil { // the server refuses such a definition earlier
		r.invalid(p, s.Default, err.Error())
		return
	}
	if meta != nil {
		if errs := metaErrors(meta.around(decodeRaw(s.Default)), meta.resource); len(errs) > 0 {
			r.invalid(p, x, "must result in valid metadata: "+aggregate(errs))
			return
		}
	} else {
		pruned := decodeRaw(s.Default)
		pruneValue(pruned, s, false)
		isPruned := reflect.DeepEqual(pruned, x)
		errs := metaErrors(x, s)
		if !isPruned && !r.kept.unprunedDefaults {
			r.invalid(p, x, "must not have unknown fields") // x as pruning has left it
		}
		if len(errs) > 0 {
			for i := range errs {
				r.fault(p, &errs[i])
			}
			return
		}
	}
	for _, e := range r.validator.Default(s, x, &r.steps) {
		r.fault(p, &e)
	}
}

// fault adds an error about a value in the place p.
func (r *defaultReport) fault(p *schemapath.Path, e *validate.Error) {
	if r.hasRoom() {
		r.keep(e.Below(p))
	}
}

// metaErrors brings the metadata in x into its canonical form and validates it.
func metaErrors(x any, s *schema.Structural) []validate.Error {
	room := MaxErrorBytes
	return validate.Metadata(s, x, &room)
}

// aggregate returns the text of errors in a value without a path.
func aggregate(errs []validate.Error) string {
	var list errors.SchemaErrors
	for _, e := range validate.Distinct(errs) {
		list = append(list, e.Below(nil))
	}
	return list.Error()
}

// pruneValue prunes x in place. keep says that unknown fields are kept. That ends at a declared
// field (prune and skipPrune of pkg/apiserver/schema/pruning/algorithm.go).
func pruneValue(x any, s *schema.Structural, keep bool) {
	if s != nil && preserves(s) {
		keep = true
	}
	if s == nil && keep {
		return
	}
	switch x := x.(type) {
	case map[string]any:
		for name, v := range x {
			if s != nil && s.XEmbeddedResource && slices.Contains(reserved, name) {
				continue
			}
			if sub, ok := member(s, name); ok {
				pruneValue(v, sub, false)
			} else if !keep {
				delete(x, name)
			}
		}
	case []any:
		var item *schema.Structural
		if s != nil {
			item = element(s)
		}
		for _, v := range x {
			pruneValue(v, item, keep)
		}
	}
}
