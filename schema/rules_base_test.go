package schema_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// TestCopiesOfCommonNodes holds that copies of nodes that all programs with validations share allow
// the types that these did before they had rules.
func TestCopiesOfCommonNodes(t *testing.T) {
	s, err := schema.Parse([]byte(`{type: object, properties: {e: {type: object, x-kubernetes-embedded-resource: true, properties: {
  metadata: {type: object, properties: {annotations: {type: object, nullable: true}}},
}}}}`))
	require.NoError(t, err)
	const js = `{"e":{"apiVersion":"v1","kind":"K","metadata":{"annotations":{"a":null}}}}`
	for _, opts := range [][]schema.Option{nil, {validation.Values()}} {
		p, err := schema.Compile(s, opts...)
		require.NoError(t, err)
		out, err := decoder.New(p).AppendJSON(nil, []byte(js))
		require.NoError(t, err)
		assert.Equal(t, js, string(out))
	}
}

// TestValuesOfDefinition validates values that only the definition has rules for, those of the fields by
// which it is scaled, and values that come from a default.
func TestValuesOfDefinition(t *testing.T) {
	s, err := schema.Parse([]byte(`{type: object, properties: {spec: {type: object, properties: {
  replicas: {type: integer}, size: {type: integer, maximum: 3, default: 4},
}}}}`))
	require.NoError(t, err)
	crd := &schema.CRD{Group: "g", Kind: "K", Plural: "ks", Versions: []schema.Version{{
		Name: "v1", Served: true, Schema: s, Scale: &schema.Scale{SpecReplicasPath: ".spec.replicas"},
	}}}
	p, err := crd.Program("v1", validation.Values())
	require.NoError(t, err)
	d := decoder.New(p, decoder.ValidateCreate)
	for spec, want := range map[string]string{
		`{"size":1,"replicas":0}`:  "",
		`{"size":1,"replicas":-1}`: "spec.replicas: Invalid value: -1: should be a non-negative integer",
		`{"size":5}`:               "spec.size: Invalid value: 5: spec.size in body should be less than or equal to 3",
		`{}`:                       "spec.size: Invalid value: 4: spec.size in body should be less than or equal to 3",
	} {
		_, err := d.AppendJSON(nil, []byte(`{"apiVersion":"g/v1","kind":"K","metadata":{"name":"a"},"spec":`+spec+`}`))
		if want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, want, spec)
		}
	}
}
