package schema

import "github.com/espalier-dev/espalier/errors"

// This file has the rules that the announcement of structural schemas states
// ("Future of CRDs: Structural Schemas", Kubernetes blog, 2019-06-20) and that
// the API server does not hold schemas to, or not in that form.

// Warnings says what is doubtful in a schema although [Structural.Validate] may
// accept it: rules for structural schemas that the API server does not enforce.
// Each says what to do about it. The order is that of the schema, by name.
func (s *Structural) Warnings() errors.SchemaErrors {
	var r report
	root := &place{name: "openAPIV3Schema"}
	if why := s.orEmpty().infinite(); why != "" {
		r.forbidden(root, why)
		return r.list
	}
	r.warnings(s.orEmpty(), root, true)
	return r.errors(root)
}

// warnings goes through the core.
func (r *report) warnings(s *Structural, p *place, isRoot bool) {
	r.oneShape(s, p)
	r.intOrString(s, p)
	if !isRoot { // Validate reports those at the root
		incomplete(s, s, p, p, func(missing, named *place) {
			if r.hasRoom() {
				r.required(missing, "it is restricted in "+named.String()+" and not declared, so that pruning removes it "+
					"before it is validated: declare it here, or remove the restriction")
			}
		})
	}
	if item := s.element(); item != nil {
		r.warnings(item, p.child("items"), false)
	}
	for _, name := range sortedKeys(s.Properties) {
		if name == "true" || name == "false" {
			r.invalid(p.property(name), name, "this may have been y, n, yes, no, on or off in YAML, which Kubernetes reads as a boolean: "+
				"quote the name if it was meant as it stands")
		}
		r.warnings(s.Properties[name].orEmpty(), p.property(name), false)
	}
	if value := s.value(); value != nil {
		r.warnings(value, p.child("additionalProperties"), false)
	}
}

// oneShape: a node is an object with fields, a map, or an array.
func (r *report) oneShape(s *Structural, p *place) {
	const remove = ": remove it, or split the node"
	hasFields, isMap := len(s.Properties) > 0, s.AdditionalProperties != nil
	if hasFields && isMap {
		r.forbidden(p.child("additionalProperties"), "a node with properties should not be a map too"+remove)
	}
	if s.Items != nil && (hasFields || isMap) {
		r.forbidden(p.child("items"), "a node with properties or additionalProperties should not be an array too"+remove)
	}
	switch {
	case s.Type == "" || s.Type == "object":
	case hasFields:
		r.forbidden(p.child("properties"), "only objects have fields: set type to object, or remove the properties")
	case isMap:
		r.forbidden(p.child("additionalProperties"), "only objects have members: set type to object, or remove it")
	}
	if s.Items != nil && s.Type != "" && s.Type != "array" {
		r.forbidden(p.child("items"), "only arrays have elements: set type to array, or remove the items")
	}
}

// intOrString: the extension alone says it, or with the one anyOf that the
// server allows.
func (r *report) intOrString(s *Structural, p *place) {
	if s.XIntOrString && s.Type != "" {
		r.forbidden(p.child("type"), "the type follows from x-kubernetes-int-or-string: remove it")
	}
	if s.XIntOrString && isIntOrString(s.OneOf) {
		r.forbidden(p.child("oneOf"), "the API server refuses oneOf here: write anyOf, with integer first, or remove it")
	}
	if s.XIntOrString {
		return
	}
	const set = "this is the form of an integer or string: set x-kubernetes-int-or-string to true, or remove the types"
	if isIntOrString(s.AnyOf) {
		r.required(p.child("x-kubernetes-int-or-string"), set)
	} else if len(s.AllOf) > 0 && isIntOrString(s.AllOf[0].orEmpty().AnyOf) {
		r.required(p.child("x-kubernetes-int-or-string"), set)
	}
}
