package validation

import (
	"bytes"

	"github.com/espalier-dev/espalier/schema"
)

// This file reads the nodes of a tree in which a missing schema is nil.

// reserved are the fields of a resource that are specified implicitly.
var reserved = []string{"apiVersion", "kind", "metadata"}

// orEmpty returns the empty schema for a null in the place of a schema, in properties or in allOf,
// as decoding into JSONSchemaProps does.
func orEmpty(s *schema.Structural) *schema.Structural {
	if s == nil {
		return new(schema.Structural)
	}
	return s
}

// property returns the schema that is declared for the name.
func property(s *schema.Structural, name string) (_ *schema.Structural, ok bool) {
	p, ok := s.Properties[name]
	return orEmpty(p), ok
}

// element returns the schema of the elements of arrays, or nil.
func element(s *schema.Structural) *schema.Structural {
	if s.Items == nil {
		return nil
	}
	return s.Items.Schema
}

// additional returns the schema of undeclared members, or nil.
func additional(s *schema.Structural) *schema.Structural {
	if s.AdditionalProperties == nil {
		return nil
	}
	return s.AdditionalProperties.Schema
}

// member returns the schema for a member of an object, which may be nil, and whether there is one.
func member(s *schema.Structural, name string) (*schema.Structural, bool) {
	if s == nil {
		return nil, false
	}
	if p, ok := property(s, name); ok {
		return p, true
	}
	return additional(s), s.AdditionalProperties != nil
}

// preserves reports whether unknown fields of values of s are kept.
func preserves(s *schema.Structural) bool {
	return s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields
}

// hasDefault reports whether s has a default. As in the server, null is none.
func hasDefault(s *schema.Structural) bool {
	return len(s.Default) > 0 && !bytes.Equal(s.Default, []byte("null"))
}
