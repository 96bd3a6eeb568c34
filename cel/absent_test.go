package cel

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// TestAbsentParts holds that nothing is built of an object without the values that rules are about.
func TestAbsentParts(t *testing.T) {
	s, err := schema.Parse([]byte(`
type: object
properties:
  spec:
    type: object
    properties:
      size: {type: object, properties: {a: {type: integer}}, x-kubernetes-validations: [{rule: self.a > 0}]}
      list: {type: array, items: {type: object, properties: {b: {type: string, x-kubernetes-validations: [{rule: self != 'x'}]}, c: {type: integer}}}}
      name: {type: string}
`))
	require.NoError(t, err)
	crd := &schema.CRD{Group: "example.com", Kind: "Rack", Versions: []schema.Version{{Name: "v1", Schema: s}}}
	program, err := crd.Program("v1", validation.Values(Rules()))
	require.NoError(t, err)
	d := decoder.New(program, decoder.ValidateCreate)
	var dst []byte
	allocations := func(rest string) float64 {
		object := []byte(`{"apiVersion":"example.com/v1","kind":"Rack","metadata":{"name":"a"}` + rest + `}`)
		return testing.AllocsPerRun(100, func() {
			dst, err = d.AppendJSON(dst[:0], object)
			require.NoError(t, err)
		})
	}
	assert.Zero(t, allocations(``))
	assert.Zero(t, allocations(`,"spec":{"name":"b"}`))
	assert.Zero(t, allocations(`,"spec":{"name":"b","list":[]}`))
	assert.Zero(t, allocations(`,"spec":{"name":"b","list":[{"c":1},{"c":2},{}]}`))
	assert.NotZero(t, allocations(`,"spec":{"size":{"a":1}}`))
	assert.NotZero(t, allocations(`,"spec":{"list":[{"c":1},{"b":"y"}]}`))

	_, err = d.AppendJSON(nil, []byte(`{"apiVersion":"example.com/v1","kind":"Rack","metadata":{"name":"a"},"spec":{"list":[{"c":1},{"b":"x"}]}}`))
	require.Error(t, err)
	assert.Equal(t, "spec.list[1].b", d.Findings()[0].Invalid.Field)
}
