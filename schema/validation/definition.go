package validation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/internal/schemapath"
	"github.com/espalier-dev/espalier/schema"
)

// This file has the rules for every schema in a definition, structural or not:
// ValidateCustomResourceDefinitionOpenAPISchema of apiextensions-apiserver
// (pkg/apis/apiextensions/validation/validation.go).

// A metaContext says where in a resource a schema is (specStandardValidatorV3).
type metaContext struct {
	inside     bool   // the schema is for apiVersion, kind or metadata, or within them
	noDefaults bool   // no default may be set, for the reason whyNot
	whyNot     string // in the words of the message
}

func (c metaContext) withoutDefaults(reason string) metaContext {
	c.noDefaults, c.whyNot = true, reason
	return c
}

// definition checks s and all schemas in it: first the keywords of a node, then the schemas below
// it, then the demands of its extensions.
func (r *report) definition(s *schema.Structural, p *schemapath.Path, isRoot bool, c metaContext) {
	r.keywords(s, p, c)
	r.below(s, p, isRoot, c)
	if s.XPreserveUnknownFields != nil && !*s.XPreserveUnknownFields {
		r.invalid(p.Child("x-kubernetes-preserve-unknown-fields"), false, "must be true or undefined")
	}
	r.mapType(s, p)
	r.listType(s, p)
	r.listMap(s, p)
	r.listItems(s, p)
	for i, rule := range s.XValidations {
		r.rule(rule, p.Child("x-kubernetes-validations").Index(i))
	}
}

// openAPITypes are the types of OpenAPI v3.
var openAPITypes = []string{"array", "boolean", "integer", "number", "object", "string"}

// isOfOtherType reports whether s has a type that OpenAPI does not have.
func isOfOtherType(s *schema.Structural) bool {
	return s.Type != "" && !slices.Contains(openAPITypes, s.Type)
}

// keywords checks a node without the schemas below it (specStandardValidatorV3.validate).
func (r *report) keywords(s *schema.Structural, p *schemapath.Path, c metaContext) {
	if isOfOtherType(s) && !r.kept.otherTypes {
		r.unsupported(p.Child("type"), s.Type, openAPITypes)
	}
	if hasDefault(s) && c.noDefaults {
		r.forbidden(p.Child("default"), "must not be set "+c.whyNot)
	}
	for _, keyword := range []struct {
		isSet bool
		name  string
	}{
		{s.ID != "", "id"},
		{s.AdditionalItems != nil, "additionalItems"},
		{len(s.PatternProperties) > 0, "patternProperties"},
		{len(s.Definitions) > 0, "definitions"},
		{s.Dependencies != nil, "dependencies"},
		{s.Ref != nil, "$ref"},
	} {
		if keyword.isSet {
			r.forbidden(p.Child(keyword.name), keyword.name+" is not supported")
		}
	}
	if s.Type == "null" {
		r.forbidden(p.Child("type"), "type cannot be set to null, use nullable as an alternative")
	}
	if s.Items != nil && len(s.Items.Schemas) > 0 {
		r.forbidden(p.Child("items"), "items must be a schema object and not an array")
	}
	if c.inside && s.XEmbeddedResource {
		r.forbidden(p.Child("x-kubernetes-embedded-resource"), "must not be used inside of resource meta")
	}
	if s.UniqueItems {
		r.forbidden(p.Child("uniqueItems"),
			"uniqueItems cannot be set to true since the runtime complexity becomes quadratic")
	}
	ap := s.AdditionalProperties
	if ap != nil && len(s.Properties) > 0 && (ap.Schema != nil || !ap.Allows) {
		r.forbidden(p.Child("additionalProperties"),
			"additionalProperties and properties are mutual exclusive")
	}
}

// below checks the schemas in s.
func (r *report) below(s *schema.Structural, p *schemapath.Path, isRoot bool, c metaContext) {
	if value := additional(s); value != nil {
		sub := c
		if c.inside {
			sub = c.withoutDefaults("inside additionalProperties applying to object metadata")
		}
		r.definition(value, p.Child("additionalProperties"), false, sub)
	}
	for _, name := range sortedKeys(s.Properties) {
		sub := c
		if (isRoot || s.XEmbeddedResource) && slices.Contains(reserved, name) {
			sub.inside = true
			if isRoot {
				sub = sub.withoutDefaults("in top-level " + name)
			}
		}
		r.definition(orEmpty(s.Properties[name]), p.Property(name), false, sub)
	}
	if s.Not != nil {
		r.definition(s.Not, p.Child("not"), false, c)
	}
	r.definitions(s.AllOf, p.Child("allOf"), c)
	r.definitions(s.OneOf, p.Child("oneOf"), c)
	r.definitions(s.AnyOf, p.Child("anyOf"), c)
	for _, name := range sortedKeys(s.Definitions) {
		r.definition(orEmpty(s.Definitions[name]), p.Child("definitions").Key(name), false, c)
	}
	if s.Items != nil {
		if s.Items.Schema != nil {
			r.definition(s.Items.Schema, p.Child("items"), false, c)
		}
		r.definitions(s.Items.Schemas, p.Child("items"), c)
	}
	for _, name := range sortedKeys(s.Dependencies) {
		// Each dependency holds those within it as text that is read again.
		if v := s.Dependencies[name]; jsonv2.Value(v).Kind() == '{' && r.hasRoom() {
			dependency := new(schema.Structural)
			if dependency.UnmarshalJSON(v) == nil {
				r.definition(dependency, p.Child("dependencies").Key(name), false, c)
			}
		}
	}
}

func (r *report) definitions(list []*schema.Structural, p *schemapath.Path, c metaContext) {
	for i, s := range list {
		r.definition(orEmpty(s), p.Index(i), false, c)
	}
}

func (r *report) mapType(s *schema.Structural, p *schemapath.Path) {
	if s.XMapType == nil {
		return
	}
	r.typeMust(s, p, "object", "must be object if x-kubernetes-map-type is specified")
	if t := *s.XMapType; t != "atomic" && t != "granular" {
		r.unsupported(p.Child("x-kubernetes-map-type"), t, []string{"atomic", "granular"})
	}
}

// typeMust checks the type of s. An absent type is an error of the kind Required.
func (r *report) typeMust(s *schema.Structural, p *schemapath.Path, typ, msg string) {
	switch s.Type {
	case typ:
	case "":
		r.required(p.Child("type"), msg)
	default:
		r.invalid(p.Child("type"), s.Type, msg)
	}
}

func (r *report) listType(s *schema.Structural, p *schemapath.Path) {
	keys := p.Child("x-kubernetes-list-type")
	const needsMap = "must be map if x-kubernetes-list-map-keys is non-empty"
	if s.XListType == nil {
		if len(s.XListMapKeys) > 0 {
			r.required(keys, needsMap)
		}
		return
	}
	r.typeMust(s, p, "array", "must be array if x-kubernetes-list-type is specified")
	t := *s.XListType
	if t == "set" && s.Type == "array" && !r.kept.compositeSets {
		r.setItems(element(s), p.Child("items"))
	}
	if t != "atomic" && t != "set" && t != "map" {
		r.unsupported(keys, t, []string{"atomic", "set", "map"})
	}
	if t != "map" && len(s.XListMapKeys) > 0 {
		r.invalid(keys, t, needsMap)
	}
}

// setItems checks the items of a set. Items with parts must be compared as a whole.
func (r *report) setItems(item *schema.Structural, p *schemapath.Path) {
	const msg = "must be atomic as item of a list with x-kubernetes-list-type=set"
	switch {
	case item == nil:
	case item.Type == "array" && item.XListType != nil && *item.XListType != "atomic":
		r.invalid(p.Child("x-kubernetes-list-type"), item.XListType, msg)
	case item.Type == "object" && (item.XMapType == nil || *item.XMapType != "atomic"):
		// The server shows the list type here.
		r.invalid(p.Child("x-kubernetes-map-type"), item.XListType, msg)
	}
}

// listMap checks a list of objects that keys distinguish.
func (r *report) listMap(s *schema.Structural, p *schemapath.Path) {
	if s.XListType == nil || *s.XListType != "map" {
		return
	}
	keys, items := p.Child("x-kubernetes-list-map-keys"), p.Child("items")
	if len(s.XListMapKeys) == 0 {
		r.required(keys, "must not be empty if x-kubernetes-list-type is map")
	}
	item := element(s)
	switch {
	case s.Items == nil:
		r.required(items, "must have a schema if x-kubernetes-list-type is map")
		return
	case item == nil:
		r.invalid(items, inMemoryItems(s.Items),
			"must only have a single schema if x-kubernetes-list-type is map")
		return
	case item.Type != "object":
		r.invalid(items.Child("type"), item.Type,
			"must be object if parent array's x-kubernetes-list-type is map")
		return
	}
	seen := make(map[string]bool)
	for _, k := range s.XListMapKeys {
		if prop, ok := property(item, k); !ok {
			r.invalid(keys, s.XListMapKeys, "entries must all be names of item properties")
		} else if prop.Type == "array" || prop.Type == "object" {
			// The server shows the type of the item here.
			r.invalid(items.Property(k).Child("type"), item.Type,
				"must be a scalar type if parent array's x-kubernetes-list-type is map")
		}
		if seen[k] {
			r.invalid(keys, s.XListMapKeys, "must not contain duplicate entries")
		}
		seen[k] = true
	}
}

// listItems checks that no item of a set or map, and no key of a map, can be missing
// (validateMapListKeysMapSet).
func (r *report) listItems(s *schema.Structural, p *schemapath.Path) {
	item := element(s)
	if item == nil || s.XListType == nil || *s.XListType != "set" && *s.XListType != "map" || r.kept.optionalKeys {
		return
	}
	items := p.Child("items")
	if item.Nullable {
		r.forbidden(items.Child("nullable"),
			"cannot be nullable when x-kubernetes-list-type is "+*s.XListType)
	}
	if *s.XListType == "set" {
		return
	}
	required := make(map[string]bool)
	for _, name := range item.Required {
		required[name] = true
	}
	for _, k := range s.XListMapKeys {
		prop, ok := property(item, k)
		if ok && !required[k] && !hasDefault(prop) {
			r.required(items.Property(k).Child("default"),
				"this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property")
		}
		if prop.Nullable {
			r.forbidden(items.Property(k).Child("nullable"),
				"this property is in x-kubernetes-list-map-keys, so it cannot be nullable")
		}
	}
}

// A celRule is an element of x-kubernetes-validations (ValidationRule).
type celRule struct {
	Rule              string     `json:"rule"`
	Message           string     `json:"message"`
	MessageExpression string     `json:"messageExpression"`
	Reason            *celReason `json:"reason"`
	FieldPath         string     `json:"fieldPath"`
	OptionalOldSelf   *bool      `json:"optionalOldSelf"`
}

type celReason string

// rule checks a rule as far as that is possible without compiling it.
func (r *report) rule(raw json.RawMessage, p *schemapath.Path) {
	var rule celRule
	if err := jsonv2.Unmarshal(raw, &rule); err != nil {
		r.invalid(p, raw, fmt.Sprint("must be a rule: ", err))
		return
	}
	text, msg := strings.TrimSpace(rule.Rule), strings.TrimSpace(rule.Message)
	switch message := p.Child("message"); {
	case text == "":
		r.required(p.Child("rule"), "rule is not specified")
	case rule.Message != "" && msg == "":
		r.invalid(message, rule.Message, "must be non-empty if specified")
	case hasLineBreak(msg):
		r.invalid(message, rule.Message, "must not contain line breaks")
	case hasLineBreak(text) && msg == "":
		r.required(message, "message must be specified if rule contains line breaks")
	}
	if rule.MessageExpression != "" && strings.TrimSpace(rule.MessageExpression) == "" {
		r.required(p.Child("messageExpression"), "messageExpression must be non-empty if specified")
	}
	reasons := []string{"FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"}
	if rule.Reason != nil && !slices.Contains(reasons, string(*rule.Reason)) {
		r.unsupported(p.Child("reason"), *rule.Reason, reasons)
	}
	if rule.FieldPath != "" && strings.TrimSpace(rule.FieldPath) == "" {
		r.invalid(p.Child("fieldPath"), rule.FieldPath, "must be non-empty if specified")
	}
	if hasLineBreak(rule.FieldPath) {
		r.invalid(p.Child("fieldPath"), rule.FieldPath, "must not contain line breaks")
	}
}

func hasLineBreak(s string) bool { return strings.ContainsAny(s, "\n\r") }

// unsupportedKeyword returns the message with which the conversion to a structural schema refuses s
// (NewStructural), or "". The rules above report every such keyword except $schema, and so only the
// message about that is ever shown.
func unsupportedKeyword(s *schema.Structural) string {
	switch {
	case s.Schema != "":
		return "OpenAPIV3Schema 'schema' is not supported"
	case s.ID != "", s.Ref != nil && *s.Ref != "", len(s.PatternProperties) > 0, len(s.Dependencies) > 0,
		s.AdditionalItems != nil, len(s.Definitions) > 0,
		s.XPreserveUnknownFields != nil && !*s.XPreserveUnknownFields,
		s.Items != nil && len(s.Items.Schemas) > 0:
		return "unsupported"
	}
	for _, list := range [][]*schema.Structural{{s.Not}, s.AllOf, s.AnyOf, s.OneOf, {element(s), additional(s)}} {
		for _, sub := range list {
			if sub == nil {
				continue
			}
			if msg := unsupportedKeyword(sub); msg != "" {
				return msg
			}
		}
	}
	for _, prop := range s.Properties {
		if msg := unsupportedKeyword(orEmpty(prop)); msg != "" {
			return msg
		}
	}
	return ""
}
