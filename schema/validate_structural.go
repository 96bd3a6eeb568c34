package schema

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/espalier-dev/espalier/errors"
)

// This file has the rules that make a schema structural: ValidateStructural of
// apiextensions-apiserver (pkg/apiserver/schema/validation.go, complete.go).
// They see two kinds of nodes. The core is what properties, items and
// additionalProperties lead to. Below allOf, anyOf, oneOf and not are the value
// validations, which may restrict the core and not add to it.

// structuralErrors returns the errors sorted by their text.
func structuralErrors(s *Structural, p *place) report {
	var r report
	r.core(s, p, "at the root")
	incomplete(s, s, p, p, func(missing, defined *place) {
		if r.hasRoom() {
			r.required(missing, "because it is defined in "+defined.String())
		}
	})
	slices.SortFunc(r.list, func(a, b *errors.SchemaError) int {
		return strings.Compare(a.Error(), b.Error())
	})
	return r
}

// core checks a node of the core and what is below it (validateStructuralInvariants).
// level says where it stands, in the words of the message.
func (r *report) core(s *Structural, p *place, level string) {
	isRoot := level == "at the root"
	if item := s.element(); item != nil {
		r.core(item, p.child("items"), "for specified array items")
	} else if s.Type == "array" {
		r.required(p.child("items"), "must be specified")
	}
	for _, name := range sortedKeys(s.Properties) {
		r.core(s.Properties[name].orEmpty(), p.property(name), "for specified object fields")
	}
	if s.AdditionalProperties != nil {
		if isRoot {
			r.forbidden(p.child("additionalProperties"), "must not be used at the root")
		}
		if value := s.value(); value != nil {
			r.core(value, p.child("additionalProperties"), "for specified object fields")
		}
	}
	r.extensions(s, p)
	r.validations(s, p, isIntOrString(s.AnyOf), len(s.AllOf) > 0 && isIntOrString(s.AllOf[0].orEmpty().AnyOf))
	r.coreType(s, p, level)
	if isRoot || s.XEmbeddedResource {
		r.resourceMeta(s, p)
	}
	if meta, ok := s.property("metadata"); ok && isRoot && !restrictsNames(meta) {
		r.forbidden(p.property("metadata"),
			"must not specify anything other than name and generateName, but metadata is implicitly specified")
	}
}

// coreType checks the type of a node of the core.
func (r *report) coreType(s *Structural, p *place, level string) {
	const embedded = "must be object if x-kubernetes-embedded-resource is true"
	switch typ := p.child("type"); {
	case s.XEmbeddedResource && s.Type == "":
		r.required(typ, embedded)
	case s.XEmbeddedResource && s.Type != "object":
		r.invalid(typ, s.Type, embedded)
	case s.Type == "" && !s.XIntOrString && !s.preserves():
		r.required(typ, "must not be empty "+level)
	}
	if level == "at the root" && s.Type != "" && s.Type != "object" {
		r.invalid(p.child("type"), s.Type, "must be object at the root")
	}
}

// extensions checks what the extensions demand of each other and of the node
// (validateExtensions, and the part of validateStructuralInvariants on embedded resources).
func (r *report) extensions(s *Structural, p *place) {
	if s.XIntOrString && s.preserves() {
		r.invalid(p.child("x-kubernetes-preserve-unknown-fields"), true, "must be false if x-kubernetes-int-or-string is true")
	}
	if s.XIntOrString && s.XEmbeddedResource {
		r.invalid(p.child("x-kubernetes-embedded-resource"), true, "must be false if x-kubernetes-int-or-string is true")
	}
	if s.XEmbeddedResource && s.AdditionalProperties != nil {
		r.forbidden(p.child("additionalProperties"), "must not be used if x-kubernetes-embedded-resource is set")
	}
	if s.XEmbeddedResource && !s.preserves() && len(s.Properties) == 0 {
		r.required(p.child("properties"),
			"must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields")
	}
}

// resourceMeta checks what the schema of a resource says of the fields that
// every resource has.
func (r *report) resourceMeta(s *Structural, p *place) {
	for _, field := range []struct{ name, typ string }{
		{"kind", "string"}, {"apiVersion", "string"}, {"metadata", "object"},
	} {
		if prop, ok := s.property(field.name); ok && prop.Type != field.typ {
			r.invalid(p.property(field.name).child("type"), prop.Type, "must be "+field.typ)
		}
	}
}

// restrictsNames reports whether the schema of metadata at the root has no more
// than it may (validateStructuralMetadataInvariants). Its default is refused
// elsewhere.
func restrictsNames(meta *Structural) bool {
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

// isIntOrString reports whether anyOf is the one form in which types may stand
// in a value validation: integer, then string, and nothing else.
func isIntOrString(anyOf []*Structural) bool {
	if len(anyOf) != 2 {
		return false
	}
	for i, typ := range []string{"integer", "string"} {
		rest := *anyOf[i].orEmpty()
		if rest.Type != typ {
			return false
		}
		rest.Type = ""
		if ap := rest.AdditionalProperties; ap != nil && ap.Schema == nil && !ap.Allows {
			rest.AdditionalProperties = nil // absent in a value validation
		}
		if rest.Properties != nil || !isBlank(&rest) {
			return false
		}
	}
	return true
}

// isBlank reports whether s says nothing: then its JSON is {}. Raw values are
// looked at apart, as json leaves out empty ones, and an empty $ref and an empty
// list of items are none.
func isBlank(s *Structural) bool {
	for _, v := range []jsontext.Value{s.Default, s.Example, s.ExternalDocs} {
		if len(v) > 0 {
			return false
		}
	}
	rest := *s
	rest.Ref = nil
	if s.element() == nil {
		rest.Items = nil // items: []
	}
	js, err := json.Marshal(rest)
	return err == nil && string(js) == "{}"
}

// validations checks the value validations of a node (validateValueValidation).
func (r *report) validations(s *Structural, p *place, skipAnyOf, skipFirstAnyOf bool) {
	if !skipAnyOf {
		for i, v := range s.AnyOf {
			r.nested(v.orEmpty(), p.child("anyOf").index(i), false)
		}
	}
	for i, v := range s.AllOf {
		r.nested(v.orEmpty(), p.child("allOf").index(i), skipFirstAnyOf && i == 0)
	}
	for i, v := range s.OneOf {
		r.nested(v.orEmpty(), p.child("oneOf").index(i), false)
	}
	if s.Not != nil {
		r.nested(s.Not, p.child("not"), false)
	}
	if s.Pattern != "" {
		if _, err := regexp.Compile(s.Pattern); err != nil {
			r.invalid(p.child("pattern"), s.Pattern, fmt.Sprintf("must be a valid regular expression, but isn't: %v", err))
		}
	}
}

// nested checks a node below allOf, anyOf, oneOf or not (validateNestedValueValidation).
func (r *report) nested(v *Structural, p *place, skipAnyOf bool) {
	r.validations(v, p, skipAnyOf, false)
	if item := v.element(); item != nil {
		r.nested(item, p.child("items"), false)
	}
	for _, name := range sortedKeys(v.Properties) {
		r.nested(v.Properties[name].orEmpty(), p.property(name), false)
	}
	if _, ok := v.Properties["metadata"]; ok {
		r.forbidden(p.property("metadata"), "must not be specified in a nested context")
	}
	for _, keyword := range []struct {
		isSet bool
		name  string
		must  string
	}{
		{v.Type != "", "type", "empty"},
		{v.Title != "", "title", "empty"},
		{v.Description != "", "description", "empty"},
		{v.hasDefault(), "default", "undefined"},
		{v.Nullable, "nullable", "false"},
		// The server reads false as absent here.
		{v.AdditionalProperties != nil && v.AdditionalProperties.Allows, "additionalProperties", "undefined"},
		{v.preserves(), "x-kubernetes-preserve-unknown-fields", "false"},
		{v.XEmbeddedResource, "x-kubernetes-embedded-resource", "false"},
		{v.XIntOrString, "x-kubernetes-int-or-string", "false"},
		{len(v.XListMapKeys) > 0, "x-kubernetes-list-map-keys", "empty"},
		{v.XListType != nil, "x-kubernetes-list-type", "undefined"},
		{v.XMapType != nil, "x-kubernetes-map-type", "undefined"},
		{len(v.XValidations) > 0, "x-kubernetes-validations", "empty"},
	} {
		if keyword.isSet {
			r.forbidden(p.child(keyword.name), "must be "+keyword.must+" to be structural")
		}
	}
}

// incomplete calls emit for every field and every items that the value
// validations of v name and that s, the node of the core for them, does not
// have: the place where it is missing and the place where it is named.
// The server calls it for the root only (validateValueValidationCompleteness).
func incomplete(v, s *Structural, at, named *place, emit func(missing, named *place)) {
	if v.Not != nil {
		incompleteNested(v.Not, s, at, named.child("not"), emit)
	}
	for i, v := range v.AllOf {
		incompleteNested(v.orEmpty(), s, at, named.child("allOf").index(i), emit)
	}
	for i, v := range v.AnyOf {
		incompleteNested(v.orEmpty(), s, at, named.child("anyOf").index(i), emit)
	}
	for i, v := range v.OneOf {
		incompleteNested(v.orEmpty(), s, at, named.child("oneOf").index(i), emit)
	}
}

func incompleteNested(v, s *Structural, at, named *place, emit func(missing, named *place)) {
	incomplete(v, s, at, named, emit)
	if item := v.element(); item != nil {
		at, named := at.child("items"), named.child("items")
		if s.element() == nil {
			emit(at, named)
		} else {
			incompleteNested(item, s.element(), at, named, emit)
		}
	}
	for _, name := range sortedKeys(v.Properties) {
		at, named := at.property(name), named.property(name)
		if declared, ok := s.property(name); !ok {
			emit(at, named)
		} else {
			incompleteNested(v.Properties[name].orEmpty(), declared, at, named, emit)
		}
	}
}
