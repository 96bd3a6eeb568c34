package validation

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/schemapath"
	"github.com/espalier-dev/espalier/schema"
)

// This file has the rules that make a schema structural: ValidateStructural of
// apiextensions-apiserver (pkg/apiserver/schema/validation.go, complete.go). They distinguish two
// kinds of nodes. The core is reached through properties, items and additionalProperties. Below
// allOf, anyOf, oneOf and not are value validations, which may restrict the core but not add to it.

// structuralErrors returns the errors sorted by their text.
func structuralErrors(s *schema.Structural, p *schemapath.Path) report {
	var r report
	r.core(s, p, "at the root")
	incomplete(s, s, p, p, func(missing, defined *schemapath.Path) {
		if r.hasRoom() {
			r.required(missing, "because it is defined in "+defined.String())
		}
	})
	slices.SortFunc(r.list, func(a, b *errors.SchemaError) int {
		return strings.Compare(a.Error(), b.Error())
	})
	return r
}

// core checks a node of the core and the nodes below it (validateStructuralInvariants). level says
// where the node is, in the words of the message.
func (r *report) core(s *schema.Structural, p *schemapath.Path, level string) {
	isRoot := level == "at the root"
	if item := element(s); item != nil {
		r.core(item, p.Child("items"), "for specified array items")
	} else if s.Type == "array" {
		r.required(p.Child("items"), "must be specified")
	}
	for _, name := range sortedKeys(s.Properties) {
		r.core(orEmpty(s.Properties[name]), p.Property(name), "for specified object fields")
	}
	if s.AdditionalProperties != nil {
		if isRoot {
			r.forbidden(p.Child("additionalProperties"), "must not be used at the root")
		}
		if value := additional(s); value != nil {
			r.core(value, p.Child("additionalProperties"), "for specified object fields")
		}
	}
	r.extensions(s, p)
	skipFirst := len(s.AllOf) > 0 && isIntOrString(orEmpty(s.AllOf[0]).AnyOf)
	r.validations(s, p, isIntOrString(s.AnyOf), skipFirst)
	r.coreType(s, p, level)
	if isRoot || s.XEmbeddedResource {
		r.resourceMeta(s, p)
	}
	if meta, ok := property(s, "metadata"); ok && isRoot && !restrictsNames(meta) {
		r.forbidden(p.Property("metadata"),
			"must not specify anything other than name and generateName, but metadata is implicitly specified")
	}
}

// coreType checks the type of a node of the core.
func (r *report) coreType(s *schema.Structural, p *schemapath.Path, level string) {
	const embedded = "must be object if x-kubernetes-embedded-resource is true"
	switch typ := p.Child("type"); {
	case s.XEmbeddedResource && s.Type == "":
		r.required(typ, embedded)
	case s.XEmbeddedResource && s.Type != "object":
		r.invalid(typ, s.Type, embedded)
	case s.Type == "" && !s.XIntOrString && !preserves(s):
		r.required(typ, "must not be empty "+level)
	}
	if level == "at the root" && s.Type != "" && s.Type != "object" {
		r.invalid(p.Child("type"), s.Type, "must be object at the root")
	}
}

// extensions checks the demands of the extensions on each other and on the node
// (validateExtensions, and the part of validateStructuralInvariants about embedded resources).
func (r *report) extensions(s *schema.Structural, p *schemapath.Path) {
	if s.XIntOrString && preserves(s) {
		r.invalid(p.Child("x-kubernetes-preserve-unknown-fields"), true,
			"must be false if x-kubernetes-int-or-string is true")
	}
	if s.XIntOrString && s.XEmbeddedResource {
		r.invalid(p.Child("x-kubernetes-embedded-resource"), true,
			"must be false if x-kubernetes-int-or-string is true")
	}
	if s.XEmbeddedResource && s.AdditionalProperties != nil {
		r.forbidden(p.Child("additionalProperties"),
			"must not be used if x-kubernetes-embedded-resource is set")
	}
	if s.XEmbeddedResource && !preserves(s) && len(s.Properties) == 0 {
		r.required(p.Child("properties"),
			"must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields")
	}
}

// resourceMeta checks the schemas that the schema of a resource has for the fields of every
// resource.
func (r *report) resourceMeta(s *schema.Structural, p *schemapath.Path) {
	for _, field := range []struct{ name, typ string }{
		{"kind", "string"}, {"apiVersion", "string"}, {"metadata", "object"},
	} {
		if prop, ok := property(s, field.name); ok && prop.Type != field.typ {
			r.invalid(p.Property(field.name).Child("type"), prop.Type, "must be "+field.typ)
		}
	}
}

// restrictsNames reports whether the schema of metadata at the root has only what is allowed there
// (validateStructuralMetadataInvariants). Other rules refuse its default.
func restrictsNames(meta *schema.Structural) bool {
	rest := *meta
	rest.Type, rest.Default = "", nil
	for name := range rest.Properties {
		if name != "name" && name != "generateName" {
			return false
		}
	}
	rest.Properties = nil
	return isBlank(&rest)
}

// isIntOrString reports whether anyOf has the one form in which a value validation may have types:
// integer, then string, and nothing else.
func isIntOrString(anyOf []*schema.Structural) bool {
	if len(anyOf) != 2 {
		return false
	}
	for i, typ := range []string{"integer", "string"} {
		rest := *orEmpty(anyOf[i])
		if rest.Type != typ {
			return false
		}
		rest.Type = ""
		if ap := rest.AdditionalProperties; ap != nil && ap.Schema == nil && !ap.Allows {
			rest.AdditionalProperties = nil // it is absent in value validations
		}
		if rest.Properties != nil || !isBlank(&rest) {
			return false
		}
	}
	return true
}

// isBlank reports whether s says nothing: its JSON would be {}. Raw values are compared separately,
// because encoding/json leaves out empty ones. An empty $ref and an empty list of items say
// nothing.
func isBlank(s *schema.Structural) bool {
	for _, v := range []json.RawMessage{s.Default, s.Example, s.ExternalDocs} {
		if len(v) > 0 {
			return false
		}
	}
	rest := *s
	rest.Ref = nil
	if element(s) == nil {
		rest.Items = nil // items: []
	}
	js, err := rest.MarshalJSON()
	return err == nil && string(js) == "{}"
}

// validations checks the value validations of a node (validateValueValidation).
func (r *report) validations(
	s *schema.Structural, p *schemapath.Path, skipAnyOf, skipFirstAnyOf bool,
) {
	if !skipAnyOf {
		for i, v := range s.AnyOf {
			r.nested(orEmpty(v), p.Child("anyOf").Index(i), false)
		}
	}
	for i, v := range s.AllOf {
		r.nested(orEmpty(v), p.Child("allOf").Index(i), skipFirstAnyOf && i == 0)
	}
	for i, v := range s.OneOf {
		r.nested(orEmpty(v), p.Child("oneOf").Index(i), false)
	}
	if s.Not != nil {
		r.nested(s.Not, p.Child("not"), false)
	}
	if s.Pattern != "" {
		if _, err := regexp.Compile(s.Pattern); err != nil {
			r.invalid(p.Child("pattern"), s.Pattern,
				fmt.Sprintf("must be a valid regular expression, but isn't: %v", err))
		}
	}
}

// nested checks a node below allOf, anyOf, oneOf or not (validateNestedValueValidation).
func (r *report) nested(v *schema.Structural, p *schemapath.Path, skipAnyOf bool) {
	r.validations(v, p, skipAnyOf, false)
	if item := element(v); item != nil {
		r.nested(item, p.Child("items"), false)
	}
	for _, name := range sortedKeys(v.Properties) {
		r.nested(orEmpty(v.Properties[name]), p.Property(name), false)
	}
	if _, ok := v.Properties["metadata"]; ok {
		r.forbidden(p.Property("metadata"), "must not be specified in a nested context")
	}
	for _, keyword := range []struct {
		isSet bool
		name  string
		must  string
	}{
		{v.Type != "", "type", "empty"},
		{v.Title != "", "title", "empty"},
		{v.Description != "", "description", "empty"},
		{hasDefault(v), "default", "undefined"},
		{v.Nullable, "nullable", "false"},
		// The server takes false for absent here.
		{v.AdditionalProperties != nil && v.AdditionalProperties.Allows, "additionalProperties", "undefined"},
		{preserves(v), "x-kubernetes-preserve-unknown-fields", "false"},
		{v.XEmbeddedResource, "x-kubernetes-embedded-resource", "false"},
		{v.XIntOrString, "x-kubernetes-int-or-string", "false"},
		{len(v.XListMapKeys) > 0, "x-kubernetes-list-map-keys", "empty"},
		{v.XListType != nil, "x-kubernetes-list-type", "undefined"},
		{v.XMapType != nil, "x-kubernetes-map-type", "undefined"},
		{len(v.XValidations) > 0, "x-kubernetes-validations", "empty"},
	} {
		if keyword.isSet {
			r.forbidden(p.Child(keyword.name), "must be "+keyword.must+" to be structural")
		}
	}
}

// incomplete calls emit for every field and every items that the value validations in v name and
// that s, the node of the core for them, does not have. emit is given the path where the part is
// missing and the path where it is named. The server does this for the root only
// (validateValueValidationCompleteness).
func incomplete(
	v, s *schema.Structural, at, named *schemapath.Path, emit func(missing, named *schemapath.Path),
) {
	if v.Not != nil {
		incompleteNested(v.Not, s, at, named.Child("not"), emit)
	}
	for i, v := range v.AllOf {
		incompleteNested(orEmpty(v), s, at, named.Child("allOf").Index(i), emit)
	}
	for i, v := range v.AnyOf {
		incompleteNested(orEmpty(v), s, at, named.Child("anyOf").Index(i), emit)
	}
	for i, v := range v.OneOf {
		incompleteNested(orEmpty(v), s, at, named.Child("oneOf").Index(i), emit)
	}
}

func incompleteNested(
	v, s *schema.Structural, at, named *schemapath.Path, emit func(missing, named *schemapath.Path),
) {
	incomplete(v, s, at, named, emit)
	if item := element(v); item != nil {
		at, named := at.Child("items"), named.Child("items")
		if element(s) == nil {
			emit(at, named)
		} else {
			incompleteNested(item, element(s), at, named, emit)
		}
	}
	for _, name := range sortedKeys(v.Properties) {
		at, named := at.Property(name), named.Property(name)
		if declared, ok := property(s, name); !ok {
			emit(at, named)
		} else {
			incompleteNested(orEmpty(v.Properties[name]), declared, at, named, emit)
		}
	}
}
