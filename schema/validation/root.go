package validation

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/internal/schemapath"
	"github.com/espalier-dev/espalier/internal/validate"
	"github.com/espalier-dev/espalier/schema"
)

// This file restricts the root of schemas if the status subresource is on. The server then cuts the
// schema of status out of properties and validates by that alone. So it allows only keywords whose
// effect is not lost.

// rootKeywords are the keywords that are allowed at the root, by the names of their fields in the
// server's memory.
var rootKeywords = []string{
	"Description", "Type", "Format", "Title", "Maximum", "ExclusiveMaximum", "Minimum", "ExclusiveMinimum",
	"MaxLength", "MinLength", "Pattern", "MaxItems", "MinItems", "UniqueItems", "MultipleOf", "Required",
	"Items", "Properties", "ExternalDocs", "Example", "XPreserveUnknownFields", "XValidations",
}

// statusRoot reports the first keyword that is not allowed, in the order of the
// fields of JSONSchemaProps.
func (r *report) statusRoot(s *schema.Structural, p *schemapath.Path) {
	for _, keyword := range []struct {
		name  string
		isSet bool
	}{
		{"ID", s.ID != ""},
		{"Schema", s.Schema != ""},
		{"Ref", s.Ref != nil},
		{"Type", s.Type != ""},
		{"Nullable", s.Nullable},
		{"Default", hasDefault(s)},
		{"Enum", s.Enum != nil},
		{"MaxProperties", s.MaxProperties != nil},
		{"MinProperties", s.MinProperties != nil},
		{"AllOf", s.AllOf != nil},
		{"OneOf", s.OneOf != nil},
		{"AnyOf", s.AnyOf != nil},
		{"Not", s.Not != nil},
		{"AdditionalProperties", s.AdditionalProperties != nil},
		{"PatternProperties", s.PatternProperties != nil},
		{"Dependencies", s.Dependencies != nil},
		{"AdditionalItems", s.AdditionalItems != nil},
		{"Definitions", s.Definitions != nil},
		{"XEmbeddedResource", s.XEmbeddedResource},
		{"XIntOrString", s.XIntOrString},
		{"XListMapKeys", s.XListMapKeys != nil},
		{"XListType", s.XListType != nil},
		{"XMapType", s.XMapType != nil},
	} {
		switch {
		case !keyword.isSet:
		case keyword.name != "Type" && !slices.Contains(rootKeywords, keyword.name):
			r.invalid(p, inMemory(s), fmt.Sprintf(
				"only %v fields are allowed at the root of the schema if the status subresource is enabled", rootKeywords))
			return
		case keyword.name == "Type" && s.Type != "object":
			r.invalid(p.Child("type"), s.Type,
				`only "object" is allowed as the type at the root of the schema if the status subresource is enabled`)
			return
		}
	}
}

// A memorySchema is a schema as the server holds it in memory (JSONSchemaProps of
// pkg/apis/apiextensions). Some messages show it in that form: all fields, by their names in Go.
type memorySchema struct {
	ID, Schema             string
	Ref                    *string
	Description, Type      string
	Nullable               bool
	Format, Title          string
	Default                any
	Maximum                *float64
	ExclusiveMaximum       bool
	Minimum                *float64
	ExclusiveMinimum       bool
	MaxLength, MinLength   *int64
	Pattern                string
	MaxItems, MinItems     *int64
	UniqueItems            bool
	MultipleOf             *float64
	Enum                   []any
	MaxProperties          *int64
	MinProperties          *int64
	Required               []string
	Items                  *memoryItems
	AllOf, OneOf, AnyOf    []*memorySchema
	Not                    *memorySchema
	Properties             map[string]*memorySchema
	AdditionalProperties   *memorySchemaOrBool
	PatternProperties      map[string]*memorySchema
	Dependencies           map[string]memoryDependency
	AdditionalItems        *memorySchemaOrBool
	Definitions            map[string]*memorySchema
	ExternalDocs           *memoryDocs
	Example                any
	XPreserveUnknownFields *bool
	XEmbeddedResource      bool
	XIntOrString           bool
	XListMapKeys           []string
	XListType, XMapType    *string
	XValidations           []memoryRule
}

type (
	memoryItems struct {
		Schema      *memorySchema
		JSONSchemas []*memorySchema
	}
	memorySchemaOrBool struct {
		Allows bool
		Schema *memorySchema
	}
	memoryDependency struct {
		Schema   *memorySchema
		Property []string
	}
	memoryDocs struct {
		Description, URL string
	}
	memoryRule struct {
		Rule, Message, MessageExpression string
		Reason                           *celReason
		FieldPath                        string
		OptionalOldSelf                  *bool
	}
)

func inMemory(s *schema.Structural) *memorySchema {
	if s == nil {
		return nil
	}
	m := &memorySchema{
		ID: s.ID, Schema: s.Schema, Ref: s.Ref, Description: s.Description, Type: s.Type, Nullable: s.Nullable,
		Format: s.Format, Title: s.Title, Default: decodeRaw(s.Default), Maximum: s.Maximum,
		ExclusiveMaximum: s.ExclusiveMaximum, Minimum: s.Minimum, ExclusiveMinimum: s.ExclusiveMinimum,
		MaxLength: s.MaxLength, MinLength: s.MinLength, Pattern: s.Pattern, MaxItems: s.MaxItems, MinItems: s.MinItems,
		UniqueItems: s.UniqueItems, MultipleOf: s.MultipleOf, MaxProperties: s.MaxProperties,
		MinProperties: s.MinProperties, Required: s.Required, Items: inMemoryItems(s.Items),
		AllOf: inMemoryList(s.AllOf), OneOf: inMemoryList(s.OneOf), AnyOf: inMemoryList(s.AnyOf), Not: inMemory(s.Not),
		Properties: inMemoryMap(s.Properties), AdditionalProperties: inMemoryOrBool(s.AdditionalProperties),
		PatternProperties: inMemoryMap(s.PatternProperties), AdditionalItems: inMemoryOrBool(s.AdditionalItems),
		Definitions: inMemoryMap(s.Definitions), Example: decodeRaw(s.Example),
		XPreserveUnknownFields: s.XPreserveUnknownFields, XEmbeddedResource: s.XEmbeddedResource,
		XIntOrString: s.XIntOrString, XListMapKeys: s.XListMapKeys, XListType: s.XListType, XMapType: s.XMapType,
	}
	for _, v := range s.Enum {
		m.Enum = append(m.Enum, decodeRaw(v))
	}
	for _, v := range s.XValidations {
		var rule celRule
		// A value of another type leaves the field unset, here and below.
		_ = json.Unmarshal(v, &rule)
		m.XValidations = append(m.XValidations, memoryRule(rule))
	}
	if jsonv2.Value(s.ExternalDocs).Kind() == '{' {
		m.ExternalDocs = new(memoryDocs)
		_ = json.Unmarshal(s.ExternalDocs, m.ExternalDocs)
	}
	if s.Dependencies != nil {
		m.Dependencies = make(map[string]memoryDependency)
	}
	for name, v := range s.Dependencies {
		var d memoryDependency
		switch sub := new(schema.Structural); jsonv2.Value(v).Kind() {
		case '{':
			if json.Unmarshal(v, sub) == nil {
				d.Schema = inMemory(sub)
			}
		case '[':
			_ = json.Unmarshal(v, &d.Property)
		}
		m.Dependencies[name] = d
	}
	return m
}

func inMemoryItems(s *schema.SchemaOrArray) *memoryItems {
	if s == nil {
		return nil
	}
	m := &memoryItems{inMemory(s.Schema), inMemoryList(s.Schemas)}
	if m.Schema == nil && m.JSONSchemas == nil {
		m.JSONSchemas = []*memorySchema{}
	}
	return m
}

func inMemoryOrBool(s *schema.SchemaOrBool) *memorySchemaOrBool {
	if s == nil {
		return nil
	}
	return &memorySchemaOrBool{s.Allows, inMemory(s.Schema)}
}

func inMemoryList(list []*schema.Structural) []*memorySchema {
	if list == nil {
		return nil
	}
	m := make([]*memorySchema, len(list))
	for i, s := range list {
		m[i] = inMemory(orEmpty(s))
	}
	return m
}

func inMemoryMap(schemas map[string]*schema.Structural) map[string]*memorySchema {
	if schemas == nil {
		return nil
	}
	m := make(map[string]*memorySchema, len(schemas))
	for name, s := range schemas {
		m[name] = inMemory(orEmpty(s))
	}
	return m
}

// decodeRaw decodes a value as the server does. One that cannot be decoded is nil, like null.
func decodeRaw(raw json.RawMessage) any {
	v, _ := validate.Decode(raw)
	return v
}
