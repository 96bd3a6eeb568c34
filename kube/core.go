package kube

// NOTE: an API server has a structural schema for each version of each definition, and a resource
// shares these with it. Of the schemas of package schema, from which programs are compiled, nothing
// stays in memory. They are made without a detour over JSON, and only of the parts that pruning and
// defaulting look at.

import (
	"maps"
	"reflect"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"

	"github.com/espalier-dev/espalier/schema"
)

// A coreMaker makes schemas of which only the structural core is set.
type coreMaker struct {
	err error // about a default that is no JSON
}

var preserves = true

// core returns the core of a schema, which may be nil.
func (m *coreMaker) core(s *structuralschema.Structural) *schema.Structural {
	if s == nil {
		return nil
	}
	c := &schema.Structural{
		Type: s.Type, Nullable: s.Nullable, Default: m.defaultOf(s),
		XEmbeddedResource: s.XEmbeddedResource, XIntOrString: s.XIntOrString,
	}
	if s.XPreserveUnknownFields {
		c.XPreserveUnknownFields = &preserves
	}
	if s.Items != nil {
		c.Items = &schema.SchemaOrArray{Schema: m.core(s.Items)}
	}
	if more := s.AdditionalProperties; more != nil {
		c.AdditionalProperties = &schema.SchemaOrBool{
			Allows: more.Bool || more.Structural != nil, Schema: m.core(more.Structural),
		}
	}
	if len(s.Properties) > 0 {
		c.Properties = make(map[string]*schema.Structural, len(s.Properties))
		for name, property := range s.Properties {
			c.Properties[name] = m.core(&property)
		}
	}
	return c
}

// defaultOf returns the default as JSON, or nil.
func (m *coreMaker) defaultOf(s *structuralschema.Structural) []byte {
	if s.Default.Object == nil {
		return nil
	}
	text, err := appendJSON(nil, s.Default.Object, true)
	if err != nil && m.err == nil {
		m.err = err
	}
	return text
}

// prepared returns a schema whose defaults are pruned by it, as in the server. That is s itself if
// they are pruned already, which they are in a server. Otherwise it is a copy that shares with s
// what has no defaults.
func prepared(s *structuralschema.Structural) (*structuralschema.Structural, error) {
	pruned := withOwnDefaults(s)
	if pruned == s {
		return s, nil
	}
	if err := defaulting.PruneDefaults(pruned); err != nil {
		return nil, err
	}
	if sameCore(s, pruned) {
		return s, nil
	}
	return pruned, nil
}

// withOwnDefaults returns s, which may be nil, with copies of all defaults. What has no defaults is
// shared with s.
func withOwnDefaults(s *structuralschema.Structural) *structuralschema.Structural {
	if s == nil {
		return nil
	}
	own := *s
	changed := s.Default.Object != nil
	own.Default = s.Default.DeepCopy()
	own.Items = withOwnDefaults(s.Items)
	changed = changed || own.Items != s.Items
	if more := s.AdditionalProperties; more != nil {
		if value := withOwnDefaults(more.Structural); value != more.Structural {
			own.AdditionalProperties = &structuralschema.StructuralOrBool{Structural: value, Bool: more.Bool}
			changed = true
		}
	}
	isCopy := false
	for name, property := range s.Properties {
		of := withOwnDefaults(&property)
		if of == &property {
			continue
		}
		if !isCopy {
			own.Properties = maps.Clone(s.Properties)
			isCopy = true
		}
		own.Properties[name] = *of
	}
	if !changed && !isCopy {
		return s
	}
	return &own
}

// sameCore reports whether two schemas, which may be nil, prune and default alike.
func sameCore(a, b *structuralschema.Structural) bool {
	if a == b {
		return true
	}
	if a == nil || b == nil || len(a.Properties) != len(b.Properties) ||
		a.Type != b.Type || a.Nullable != b.Nullable || a.XIntOrString != b.XIntOrString ||
		a.XPreserveUnknownFields != b.XPreserveUnknownFields || a.XEmbeddedResource != b.XEmbeddedResource ||
		!reflect.DeepEqual(a.Default.Object, b.Default.Object) || !sameCore(a.Items, b.Items) {
		return false
	}
	x, y := a.AdditionalProperties, b.AdditionalProperties
	if (x == nil) != (y == nil) || x != nil && !sameCore(x.Structural, y.Structural) {
		return false
	}
	for name, property := range a.Properties {
		other, ok := b.Properties[name]
		if !ok || !sameCore(&property, &other) {
			return false
		}
	}
	return true
}

// withoutValidations removes what nothing of this package reads from a schema that belongs to the
// resource alone.
func withoutValidations(s *structuralschema.Structural) {
	if s == nil {
		return
	}
	s.Description, s.Title, s.Example, s.ExternalDocs = "", "", structuralschema.JSON{}, nil
	s.ValueValidation, s.XValidations = nil, nil
	withoutValidations(s.Items)
	if s.AdditionalProperties != nil {
		withoutValidations(s.AdditionalProperties.Structural)
	}
	for name, property := range s.Properties {
		withoutValidations(&property)
		s.Properties[name] = property
	}
}
