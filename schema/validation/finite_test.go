package validation_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// TestSchemaWithoutEnd holds that a schema which contains itself is refused, wherever it does so.
func TestSchemaWithoutEnd(t *testing.T) {
	const loops = "must not hold itself, or be deeper than 10000"
	refused := func(s *schema.Structural, why string) {
		t.Helper()
		require.EqualError(t, validation.Structural(s), "openAPIV3Schema: Forbidden: "+why)
		require.EqualError(t, validation.Warnings(s), "openAPIV3Schema: Forbidden: "+why)
		crd := &schema.CRD{APIVersion: "apiextensions.k8s.io/v1beta1", Group: "g", Kind: "K", PreserveUnknownFields: true, Versions: []schema.Version{{Name: "v1", Schema: s}}}
		require.EqualError(t, validation.CRD(crd), "spec.versions[0].schema.openAPIV3Schema: Forbidden: "+why)
	}
	for _, put := range []func(s, in *schema.Structural){
		func(s, in *schema.Structural) { s.Properties = map[string]*schema.Structural{"a": in} },
		func(s, in *schema.Structural) { s.PatternProperties = map[string]*schema.Structural{"a": in} },
		func(s, in *schema.Structural) { s.Definitions = map[string]*schema.Structural{"a": in} },
		func(s, in *schema.Structural) {
			s.AdditionalProperties = &schema.SchemaOrBool{Allows: true, Schema: in}
		},
		func(s, in *schema.Structural) { s.AdditionalItems = &schema.SchemaOrBool{Allows: true, Schema: in} },
		func(s, in *schema.Structural) { s.Items = &schema.SchemaOrArray{Schema: in} },
		func(s, in *schema.Structural) {
			s.Items = &schema.SchemaOrArray{Schemas: []*schema.Structural{nil, in}}
		},
		func(s, in *schema.Structural) { s.AllOf = []*schema.Structural{{}, in} },
		func(s, in *schema.Structural) { s.AnyOf = []*schema.Structural{in} },
		func(s, in *schema.Structural) { s.OneOf = []*schema.Structural{in} },
		func(s, in *schema.Structural) { s.Not = in },
	} {
		s, within := &schema.Structural{Type: "object"}, &schema.Structural{Type: "object"}
		put(s, within)
		assert.NotContains(t, errorText(validation.Structural(s)), "hold itself")
		put(within, s)
		refused(s, loops)
		put(s, s)
		refused(s, loops)
	}

	deep := &schema.Structural{Type: "object"}
	wide := &schema.Structural{Type: "object", Properties: map[string]*schema.Structural{}}
	for range schema.MaxDepth + 1 {
		deep = &schema.Structural{Type: "object", Not: deep}
	}
	refused(deep, loops)
	for range 25 { // 2^25 places of 26 schemas
		wide = &schema.Structural{Type: "object", Properties: map[string]*schema.Structural{"a": wide, "b": wide}}
	}
	refused(wide, "has more than 16777216 places: a schema counts once for each place that it is in")
}

// TestOpenAPI holds that kinds of OpenAPI documents have no errors: no server judges them by these
// rules.
func TestOpenAPI(t *testing.T) {
	kinds, err := schema.ParseOpenAPI([]byte(`{"components": {"schemas": {"k": {
		"x-kubernetes-group-version-kind": [{"kind": "K", "version": "v1"}], "properties": {"metadata": {}, "untyped": {}}}}}}`))
	require.NoError(t, err)
	require.Error(t, validation.Structural(kinds[0].Versions[0].Schema))
	require.True(t, kinds[0].OpenAPI)
	require.NoError(t, validation.CRD(kinds[0]))
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
