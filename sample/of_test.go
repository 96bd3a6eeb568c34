package sample

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/schema"
)

func TestOf(t *testing.T) {
	crds, err := schema.ParseCRD([]byte(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Trellis, plural: trellises}
  versions:
  - {name: v2, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {slats: {type: integer}, pod: {type: object, x-kubernetes-embedded-resource: true}}}}}
  - {name: v1, served: false, storage: false}
  - {name: v4, served: true, storage: false, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, properties: {status: {type: string}, slats: {type: integer}}}}}
  - {name: v5, served: true, storage: false, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, properties: {status: {type: object, properties: {status: {type: string}}}}}}}
`))
	require.NoError(t, err)
	for version, want := range map[string]string{
		"v1": `{"apiVersion":"example.com/v1","kind":"Trellis","metadata":{"name":"a","namespace":"default"}}`,
		"v2": `{"apiVersion":"example.com/v2","kind":"Trellis","metadata":{"name":"a","namespace":"default"},` +
			`"pod":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}},"slats":0}`,
		"v4": `{"apiVersion":"example.com/v4","kind":"Trellis","metadata":{"name":"a","namespace":"default"},"slats":0}`,
		"v5": `{"apiVersion":"example.com/v5","kind":"Trellis","metadata":{"name":"a","namespace":"default"}}`,
	} {
		m, err := Of(crds[0], version)
		require.NoError(t, err)
		object, err := m.Full()
		require.NoError(t, err)
		assert.Equal(t, want, string(object))
		object, err = m.Smallest()
		require.NoError(t, err)
		assert.Equal(t, `{"apiVersion":"example.com/`+version+`","kind":"Trellis","metadata":{"name":"a"}}`, string(object))
	}
	_, err = Of(crds[0], "v3")
	assert.Equal(t, &schema.NotFoundError{APIVersion: "example.com/v3", Kind: "Trellis", Versions: []string{"v1", "v2", "v4", "v5"}}, err)

	kinds, err := schema.ParseOpenAPI([]byte(`{"components": {"schemas": {"io.k8s.api.core.v1.Service": {"type": "object", "properties": {"metadata": {"type": "object"}},
		"x-kubernetes-group-version-kind": [{"group": "", "version": "v1", "kind": "Service"}]}}}}`))
	require.NoError(t, err)
	m, err := Of(kinds[0], "v1")
	require.NoError(t, err)
	object, err := m.Full()
	require.NoError(t, err)
	assert.Equal(t, `{"apiVersion":"v1","kind":"Service","metadata":{"name":"a"}}`, string(object))
}
