package validate

import (
	"maps"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// This file validates the parts of an object one by one, for callers that never have all of it. The
// errors of all parts are those of the object, in another order, except that an error whose text
// repeats in another part is not left out.

// A Scope is what the parts are validated for.
type Scope uint8

const (
	OfAnything     Scope = iota // as Part does: the whole is no custom resource
	OfCreate                    // as Create does
	OfUpdate                    // as Update does
	OfStatusUpdate              // as StatusUpdate does
)

// A partial is a place in an object, and what is said there.
type partial struct {
	schema *schema.Structural
	// The trails of the place, in the spellings of kube-openapi and of field.Path.
	values, fields *trail
	hasValues      bool // values are validated here
	underStatus    bool // the path of the whole is status
}

// partial returns the place at the end of a path.
func (k *Kind) partial(scope Scope, path []errors.Segment) partial {
	p := partial{schema: orEmpty(k.Schema), hasValues: scope != OfStatusUpdate}
	for i, step := range path {
		s := p.schema
		switch declared, ok := s.Properties[step.Name]; {
		case !step.IsName:
			p.schema = orEmpty(element(s))
			p.values, p.fields = p.values.element(step.Index), p.fields.element(step.Index)
		case ok:
			if i == 0 && scope == OfStatusUpdate && step.Name == statusField && k.HasStatus {
				p.hasValues, p.underStatus = true, true
				p.values = p.values.to(statusField, "")
			} else {
				p.values = p.values.property(step.Name)
			}
			p.schema, p.fields = orEmpty(declared), p.fields.child(step.Name)
		default:
			p.schema = &empty
			if ap := s.AdditionalProperties; ap != nil {
				p.schema = orEmpty(ap.Schema)
			}
			p.values, p.fields = p.values.member(step.Name), p.fields.key(step.Name)
		}
	}
	return p
}

// check validates a value by the schema of its place, or another one.
func (p *partial) check(v *Validator, s *schema.Structural, x any, steps *int) []Error {
	if !p.hasValues {
		return nil
	}
	return p.located(checker{rules: ofObjects, by: v, steps: steps}.with(s, p.values).check(x).errs)
}

// located adds the path of the whole to errors.
func (p *partial) located(errs []Error) []Error {
	if p.underStatus {
		for i := range errs {
			errs[i].Field = "." + statusField + errs[i].Field
		}
	}
	return errs
}

const statusField = "status"

// isDropped reports whether the server drops what is at the path before it validates.
func (k *Kind) isDropped(scope Scope, path []errors.Segment) bool {
	return scope == OfCreate && k.HasStatus && len(path) > 0 && path[0].Name == statusField
}

// At validates the value at a path. The type of the object is taken for the right one.
func (v *Validator) At(k *Kind, scope Scope, path []errors.Segment, x any, steps *int) []Error {
	switch {
	case k.isDropped(scope, path):
		return nil
	case scope != OfAnything && len(path) == 1 && path[0].Name == "metadata":
		return v.metadata(k, scope, map[string]any{"metadata": x}, steps)
	}
	p := k.partial(scope, path)
	r := report{steps: steps, errs: p.check(v, p.schema, x, steps)}
	if k.Scale != nil && scope != OfAnything {
		r.scaleAt(k.Scale, scope, path, x)
	}
	if scope != OfStatusUpdate {
		r.rule = embeddedRule
		r.resources(p.fields, x, p.schema)
	}
	r.rule = listRule
	r.listsAt(p.fields, x, p.schema)
	return r.errs
}

// metadata validates the metadata of an object whose type is right, and which has nothing else.
func (v *Validator) metadata(k *Kind, scope Scope, object map[string]any, steps *int) []Error {
	alone := *k
	alone.Scale, alone.Schema = nil, &schema.Structural{}
	if s, ok := orEmpty(k.Schema).Properties["metadata"]; ok {
		alone.Schema.Properties = map[string]*schema.Structural{"metadata": s}
	}
	object["apiVersion"], object["kind"] = k.APIVersion, k.Kind
	if scope == OfStatusUpdate {
		return v.StatusUpdate(&alone, object, steps)
	}
	return v.Create(&alone, object, steps)
}

// scaleAt validates what the scale subresource shows of the value at a path.
func (r *report) scaleAt(s *schema.Scale, scope Scope, path []errors.Segment, x any) {
	for _, step := range path {
		if !step.IsName {
			return // no path of a scale subresource has elements
		}
	}
	for i := len(path) - 1; i >= 0; i-- {
		x = map[string]any{path[i].Name: x}
	}
	object := x.(map[string]any)
	if scope == OfCreate {
		r.scaleSpec(s, object)
	}
	r.scaleStatus(s, object)
}

// Members validates which members the object at a path has. Of those that the schema declares all
// names are given, and there must be no rules for others. What the schema says of the values of
// members is left out, so junctors may say nothing of these.
func (v *Validator) Members(k *Kind, scope Scope, path []errors.Segment, names []string, steps *int) []Error {
	if k.isDropped(scope, path) {
		return nil
	}
	p := k.partial(scope, path)
	own := *p.schema
	own.AdditionalProperties, own.XEmbeddedResource = nil, false
	own.Properties = maps.Clone(own.Properties)
	for name := range own.Properties {
		own.Properties[name] = nil
	}
	object := make(map[string]any, len(names))
	for _, name := range names {
		object[name] = nil
	}
	var errs []Error
	if len(path) == 0 && scope != OfAnything {
		if _, ok := object["metadata"]; !ok {
			errs = v.metadata(k, scope, make(map[string]any), steps)
			object["metadata"] = nil // creating an object adds it
		}
		if k.isDropped(scope, []errors.Segment{{Name: statusField}}) {
			delete(object, statusField)
		}
	}
	return append(errs, p.check(v, &own, object, steps)...)
}

// Elements validates how many elements the array at a path has.
func (v *Validator) Elements(k *Kind, scope Scope, path []errors.Segment, n int, steps *int) []Error {
	if k.isDropped(scope, path) {
		return nil
	}
	p := k.partial(scope, path)
	if !p.hasValues {
		return nil
	}
	counted := new(result)
	checker{steps: steps}.with(p.schema, p.values).checkItems(counted, int64(n))
	return p.located(counted.errs)
}

// Type validates the type of an object.
func (v *Validator) Type(k *Kind, apiVersion, kind any, steps *int) []Error {
	r := report{steps: steps}
	r.typeMeta(k, map[string]any{"apiVersion": apiVersion, "kind": kind})
	return r.errs
}

// Settle brings metadata in the value at a path into the form that it has when the server validates
// it: that of the object, and that of embedded resources. Metadata without such a form stays as it is.
// The value may be changed.
func Settle(k *Kind, scope Scope, path []errors.Segment, x any) any {
	steps := 0
	r := report{steps: &steps}
	if scope != OfAnything {
		object, _ := x.(map[string]any)
		switch _, has := object["metadata"]; {
		case len(path) == 1 && path[0].Name == "metadata":
			whole := map[string]any{"metadata": x}
			r.coerceField(nil, whole, "metadata")
			x = whole["metadata"]
		case len(path) == 0 && has:
			r.coerceField(nil, object, "metadata")
		}
	}
	r.coerce(nil, x, k.partial(scope, path).schema)
	return x
}
