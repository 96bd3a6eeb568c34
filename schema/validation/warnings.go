package validation

import (
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/schemapath"
	"github.com/espalier-dev/espalier/schema"
)

// This file has the rules of the announcement of structural schemas ("Future of CRDs: Structural
// Schemas", Kubernetes blog, 2019-06-20) that the API server does not enforce, or not in that form.

// Warnings returns what is questionable in a schema even if [Structural]
// accepts it: violations of rules for structural schemas that the API server
// does not enforce. Each message says what to do about it. The order is that of
// the schema, with members sorted by name.
func Warnings(s *schema.Structural) errors.SchemaErrors {
	var r report
	root := schemapath.Root("openAPIV3Schema")
	if why := infinite(orEmpty(s)); why != "" {
		r.forbidden(root, why)
		return r.list
	}
	r.warnings(orEmpty(s), root, true)
	return r.errors(root)
}

// warnings visits the nodes of the core.
func (r *report) warnings(s *schema.Structural, p *schemapath.Path, isRoot bool) {
	r.oneShape(s, p)
	r.intOrString(s, p)
	if !isRoot { // Structural reports those at the root
		incomplete(s, s, p, p, func(missing, named *schemapath.Path) {
			if r.hasRoom() {
				r.required(missing, "it is restricted in "+named.String()+" and not declared, so that pruning removes it "+
					"before it is validated: declare it here, or remove the restriction")
			}
		})
	}
	if item := element(s); item != nil {
		r.warnings(item, p.Child("items"), false)
	}
	for _, name := range sortedKeys(s.Properties) {
		if name == "true" || name == "false" {
			r.invalid(p.Property(name), name, "this may have been y, n, yes, no, on or off in YAML, which Kubernetes reads as a boolean: "+
				"quote the name if it was meant as it stands")
		}
		r.warnings(orEmpty(s.Properties[name]), p.Property(name), false)
	}
	if value := additional(s); value != nil {
		r.warnings(value, p.Child("additionalProperties"), false)
	}
}

// oneShape warns unless a node is only one of an object with fields, a map, and an array.
func (r *report) oneShape(s *schema.Structural, p *schemapath.Path) {
	const remove = ": remove it, or split the node"
	hasFields, isMap := len(s.Properties) > 0, s.AdditionalProperties != nil
	if hasFields && isMap {
		r.forbidden(p.Child("additionalProperties"), "a node with properties should not be a map too"+remove)
	}
	if s.Items != nil && (hasFields || isMap) {
		r.forbidden(p.Child("items"), "a node with properties or additionalProperties should not be an array too"+remove)
	}
	switch {
	case s.Type == "" || s.Type == "object":
	case hasFields:
		r.forbidden(p.Child("properties"), "only objects have fields: set type to object, or remove the properties")
	case isMap:
		r.forbidden(p.Child("additionalProperties"), "only objects have members: set type to object, or remove it")
	}
	if s.Items != nil && s.Type != "" && s.Type != "array" {
		r.forbidden(p.Child("items"), "only arrays have elements: set type to array, or remove the items")
	}
}

// intOrString warns of other forms than the extension, alone or with the one anyOf that the server
// allows.
func (r *report) intOrString(s *schema.Structural, p *schemapath.Path) {
	if s.XIntOrString && s.Type != "" {
		r.forbidden(p.Child("type"), "the type follows from x-kubernetes-int-or-string: remove it")
	}
	if s.XIntOrString && isIntOrString(s.OneOf) {
		r.forbidden(p.Child("oneOf"), "the API server refuses oneOf here: write anyOf, with integer first, or remove it")
	}
	if s.XIntOrString {
		return
	}
	const set = "this is the form of an integer or string: set x-kubernetes-int-or-string to true, or remove the types"
	if isIntOrString(s.AnyOf) {
		r.required(p.Child("x-kubernetes-int-or-string"), set)
	} else if len(s.AllOf) > 0 && isIntOrString(orEmpty(s.AllOf[0]).AnyOf) {
		r.required(p.Child("x-kubernetes-int-or-string"), set)
	}
}
