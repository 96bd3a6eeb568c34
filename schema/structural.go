package schema

import (
	"bytes"
	"encoding/json"
)

// A Structural is a schema in the subset of OpenAPI v3 that custom resource
// definitions are written in (JSONSchemaProps of apiextensions.k8s.io/v1). It
// is a plain tree that can be printed, compared, changed, and marshalled back
// to the JSON that [Parse] reads.
//
// The type also holds schemas that are not structural, so that package
// schema/validation can say why they are not. Parse drops member names that the
// type does not have, as the API server does.
type Structural struct {
	// The core, and the extensions of Kubernetes for pruning and defaulting. Compiling spends its
	// time reading these. The first ones therefore share a cache line.

	Properties             map[string]*Structural `json:"properties,omitempty"`
	AdditionalProperties   *SchemaOrBool          `json:"additionalProperties,omitzero"`
	Items                  *SchemaOrArray         `json:"items,omitzero"`
	XPreserveUnknownFields *bool                  `json:"x-kubernetes-preserve-unknown-fields,omitzero"`
	XEmbeddedResource      bool                   `json:"x-kubernetes-embedded-resource,omitzero"`
	XIntOrString           bool                   `json:"x-kubernetes-int-or-string,omitzero"`
	Nullable               bool                   `json:"nullable,omitzero"`
	Default                json.RawMessage        `json:"default,omitzero"`
	Type                   string                 `json:"type,omitzero"`

	// Other extensions of Kubernetes.

	XListMapKeys []string          `json:"x-kubernetes-list-map-keys,omitempty"`
	XListType    *string           `json:"x-kubernetes-list-type,omitzero"`
	XMapType     *string           `json:"x-kubernetes-map-type,omitzero"`
	XValidations []json.RawMessage `json:"x-kubernetes-validations,omitempty"`

	// Documentation.

	Title        string          `json:"title,omitzero"`
	Description  string          `json:"description,omitzero"`
	ExternalDocs json.RawMessage `json:"externalDocs,omitzero"`
	Example      json.RawMessage `json:"example,omitzero"`

	// Value validation.

	Format           string            `json:"format,omitzero"`
	Maximum          *float64          `json:"maximum,omitzero"`
	ExclusiveMaximum bool              `json:"exclusiveMaximum,omitzero"`
	Minimum          *float64          `json:"minimum,omitzero"`
	ExclusiveMinimum bool              `json:"exclusiveMinimum,omitzero"`
	MaxLength        *int64            `json:"maxLength,omitzero"`
	MinLength        *int64            `json:"minLength,omitzero"`
	Pattern          string            `json:"pattern,omitzero"`
	MaxItems         *int64            `json:"maxItems,omitzero"`
	MinItems         *int64            `json:"minItems,omitzero"`
	UniqueItems      bool              `json:"uniqueItems,omitzero"`
	MultipleOf       *float64          `json:"multipleOf,omitzero"`
	Enum             []json.RawMessage `json:"enum,omitempty"`
	MaxProperties    *int64            `json:"maxProperties,omitzero"`
	MinProperties    *int64            `json:"minProperties,omitzero"`
	Required         []string          `json:"required,omitempty"`
	AllOf            []*Structural     `json:"allOf,omitempty"`
	AnyOf            []*Structural     `json:"anyOf,omitempty"`
	OneOf            []*Structural     `json:"oneOf,omitempty"`
	Not              *Structural       `json:"not,omitzero"`

	// Keywords of OpenAPI or JSON Schema that structural schemas must not have.

	ID                string                     `json:"id,omitzero"`
	Schema            string                     `json:"$schema,omitzero"`
	Ref               *string                    `json:"$ref,omitzero"`
	PatternProperties map[string]*Structural     `json:"patternProperties,omitempty"`
	AdditionalItems   *SchemaOrBool              `json:"additionalItems,omitzero"`
	Definitions       map[string]*Structural     `json:"definitions,omitempty"`
	Dependencies      map[string]json.RawMessage `json:"dependencies,omitempty"`
}

// A SchemaOrBool is the value of additionalProperties: a schema, true or false.
// Pruning and defaulting treat true and false alike.
type SchemaOrBool struct {
	Allows bool        // true if Schema is set
	Schema *Structural // nil for true and false
}

// A SchemaOrArray is the value of items: one schema for all elements or, where
// it is not structural, one schema for each position.
type SchemaOrArray struct {
	Schema  *Structural
	Schemas []*Structural // if Schema is nil
}

// preserves reports whether unknown fields of values of s are kept.
func (s *Structural) preserves() bool {
	return s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields
}

// element returns the schema of the elements of arrays, or nil.
func (s *Structural) element() *Structural {
	if s.Items == nil {
		return nil
	}
	return s.Items.Schema
}

// value returns the schema of undeclared members, or nil.
func (s *Structural) value() *Structural {
	if s.AdditionalProperties == nil {
		return nil
	}
	return s.AdditionalProperties.Schema
}

// member returns the schema of the members with a name, declared or not, or
// nil.
func (s *Structural) member(name string) *Structural {
	if declared := s.Properties[name]; declared != nil {
		return declared
	}
	return s.value()
}

// hasDefault reports whether s has a default. As in the server, null is none.
func (s *Structural) hasDefault() bool {
	if s.Default == nil { // in the first cache line; the length is not
		return false
	}
	return len(s.Default) > 0 && !bytes.Equal(s.Default, []byte("null"))
}
