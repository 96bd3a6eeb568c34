package schema_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/schema"
)

// TestRefusedOptions holds that options without a meaning are refused when they are given.
func TestRefusedOptions(t *testing.T) {
	s := &schema.Structural{Type: "object"}
	for want, opt := range map[string]schema.Option{
		"schema: option 1 of 1 is nil":                                        nil,
		"schema: there is no Semantics(77)":                                   schema.Semantics(77),
		"schema: MaxExpansion: -1 and 0 are no bounds: they are at least 0":   schema.MaxExpansion(-1, 0),
		"schema: MaxExpansion: 0 and NaN are no bounds: they are at least 0":  schema.MaxExpansion(0, math.NaN()),
		"schema: MaxExpansion: 0 and -0.5 are no bounds: they are at least 0": schema.MaxExpansion(0, -0.5),
	} {
		p, err := schema.Compile(s, opt)
		require.EqualError(t, err, want)
		assert.Nil(t, p)
		assert.PanicsWithValue(t, want, func() { schema.NewCatalog(opt) })
		_, err = (&schema.CRD{Versions: []schema.Version{{Name: "v1"}}}).Program("v1", opt)
		assert.ErrorContains(t, err, want)
	}
	_, err := schema.Entry{}.Program()
	require.EqualError(t, err, "schema: an Entry that is of no Catalog has no program")
	var c schema.Catalog
	require.EqualError(t, c.Add(&schema.CRD{Group: "g", Kind: "K"}, nil), "schema: Catalog.Add: definition 2 of 2 is nil")
	require.NoError(t, c.Add(&schema.CRD{Group: "g", Kind: "K", Versions: []schema.Version{{Name: "v1", Served: true}}}), "the zero Catalog")
	_, err = c.Lookup("g/v1", "K")
	require.NoError(t, err)
}

// TestProgramOfDefinition holds that settings of a definition for all of its versions apply to the
// program of one.
func TestProgramOfDefinition(t *testing.T) {
	crds, err := schema.ParseCRD([]byte(`
apiVersion: apiextensions.k8s.io/v1beta1
kind: CustomResourceDefinition
metadata: {name: foos.example.com}
spec:
  group: example.com
  names: {kind: Foo, plural: foos}
  versions: [{name: v2, served: true, storage: true}, {name: v1, served: false, storage: false}]
  validation: {openAPIV3Schema: {type: object, properties: {a: {type: string, nullable: false}}}}
`))
	require.NoError(t, err)
	crd := crds[0]
	const doc = `{"apiVersion":"example.com/v2","kind":"Foo","metadata":{"x":1},"a":null,"b":1}`
	decode := func(version string, opts ...schema.Option) string {
		p, err := crd.Program(version, opts...)
		require.NoError(t, err)
		out, err := decoder.New(p).AppendJSON(nil, []byte(doc))
		require.NoError(t, err)
		return string(out)
	}
	const kept = `{"apiVersion":"example.com/v2","kind":"Foo","metadata":{},"a":null,"b":1}`
	require.True(t, crd.PreserveUnknownFields, "the default of v1beta1")
	assert.Equal(t, kept, decode("v2"))
	assert.Equal(t, kept, decode("v1"), "whether it is served is not asked")
	assert.Equal(t, kept, decode("v2", schema.PreserveUnknownFields(false)), "the definition has the last word")
	crd.PreserveUnknownFields = false
	assert.Equal(t, `{"apiVersion":"example.com/v2","kind":"Foo","metadata":{}}`, decode("v2"))
	assert.Equal(t, kept, decode("v2", schema.PreserveUnknownFields(true)))
	crd.Versions[0].Schema = nil
	assert.Equal(t, `{"apiVersion":"example.com/v2","kind":"Foo","metadata":{}}`, decode("v2"))

	_, err = crd.Program("v3")
	var e *schema.NotFoundError
	require.ErrorAs(t, err, &e)
	require.EqualError(t, err, `no matches for kind "Foo" in version "example.com/v3": the kind has v1, v2`)
}
