package schema

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
)

// openAPI is a document like those of an API server, with what is special in them:
// references, wrapped and not, that lead back to themselves, int-or-string in both
// spellings, defaults of Go types, opaque objects, lists.
const openAPI = `
openapi: 3.0.0
components:
  schemas:
    io.k8s.api.example.v1.Tree:
      type: object
      properties:
        apiVersion: {type: string}
        kind: {type: string}
        metadata: {allOf: [{$ref: "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}], default: {}}
        spec: {allOf: [{$ref: "#/components/schemas/io.k8s.api.example.v1.Node"}], description: The root., default: {}}
      x-kubernetes-group-version-kind: [{group: example.k8s.io, kind: Tree, version: v1}]
    io.k8s.api.example.v1.TreeList:
      type: object
      properties:
        metadata: {$ref: "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta"}
        items: {type: array, items: {$ref: "#/components/schemas/io.k8s.api.example.v1.Tree"}}
      x-kubernetes-group-version-kind: [{group: example.k8s.io, kind: TreeList, version: v1}]
    io.k8s.api.example.v1.Node:
      type: object
      properties:
        name: {type: string, default: ""}
        port: {$ref: "#/components/schemas/io.k8s.apimachinery.pkg.util.intstr.IntOrString"}
        old: {type: string, format: int-or-string}
        any: {type: object}
        raw: {description: JSON.}
        children:
          type: array
          items: {allOf: [{$ref: "#/components/schemas/io.k8s.api.example.v1.Node"}], default: {}}
          x-kubernetes-list-type: map
          x-kubernetes-list-map-keys: [name]
        byName: {type: object, additionalProperties: {$ref: "#/components/schemas/io.k8s.api.example.v1.Node"}}
    io.k8s.apimachinery.pkg.util.intstr.IntOrString: {format: int-or-string, oneOf: [{type: integer}, {type: string}]}
    io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta: {type: object, properties: {name: {type: string}}}
    io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta: {type: object, properties: {continue: {type: string}}}
    com.example.v1.Custom:
      type: object
      properties:
        metadata: {allOf: [{$ref: "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}]}
        size: {type: integer, default: 3}
        empty: {type: object}
        kept: {type: object, x-kubernetes-preserve-unknown-fields: true}
        both:
          allOf: [{$ref: "#/components/schemas/com.example.v1.A"}, {$ref: "#/components/schemas/com.example.v1.B"}]
          properties: {c: {type: string}}
      x-kubernetes-group-version-kind: [{group: example.com, kind: Custom, version: v1}, {group: "", kind: Custom, version: v2}]
    com.example.v1.A: {type: object, properties: {a: {$ref: "#/components/schemas/com.example.v1.B"}}}
    com.example.v1.B: {type: object, properties: {b: {type: string}}}
`

func TestOpenAPI(t *testing.T) {
	kinds, err := ParseOpenAPI([]byte(openAPI))
	require.NoError(t, err)
	require.Len(t, kinds, 3, "a list is none")
	assert.Equal(t, []string{"Custom", "Custom", "Tree"}, []string{kinds[0].Kind, kinds[1].Kind, kinds[2].Kind})

	c := NewCatalog(CheckTypes(true))
	c.AddOpenAPI(kinds...)
	c.AddOpenAPI(kinds...) // the first ones stay

	tree, err := c.Lookup("example.k8s.io/v1", "Tree")
	require.NoError(t, err)
	root := errors.Path{}.Child("spec")
	for _, path := range []errors.Path{root, root.Child("children").Element(1), root.Child("byName").Child("x").Child("children").Element(0)} {
		assert.Equal(t, []string{"any", "byName", "children", "name", "old", "port", "raw"}, tree.FieldNames(path), path)
	}
	assert.NotContains(t, tree.String(), "default", "those of Go types are none")
	assert.Contains(t, tree.String(), "integer or string")

	custom, err := c.Lookup("v2", "Custom")
	require.NoError(t, err, "of the core group")
	assert.Equal(t, []string{"a", "b", "c"}, custom.FieldNames(errors.Path{}.Child("both")))
	assert.Equal(t, []string{"b"}, custom.FieldNames(errors.Path{}.Child("both").Child("a")))
	assert.Contains(t, custom.String(), "3", "defaults of others are kept")

	_, err = c.Lookup("example.k8s.io/v1", "TreeList")
	assert.ErrorAs(t, err, new(*NotFoundError))
}

func TestOpenAPIErrors(t *testing.T) {
	kind := `, "x-kubernetes-group-version-kind": [{"group": "a", "version": "v1", "kind": "A"}]`
	for name, test := range map[string]struct{ text, want string }{
		"v2":       {`{"swagger": "2.0", "definitions": {}}`, "OpenAPI v2"},
		"index":    {`{"paths": {"api/v1": {"serverRelativeURL": "/openapi/v3/api/v1"}}}`, "list of the documents"},
		"other":    {`{"a": 1}`, "1:1: there are no components.schemas"},
		"broken":   {`{"components": {"schemas": {"a": {"type": 1}}}}`, "must be a string"},
		"nowhere":  {`{"components": {"schemas": {"a": {"properties": {"metadata": {"$ref": "#/components/schemas/b"}}` + kind + `}}}}`, `components.schemas[a]: components.schemas has no "b"`},
		"outside":  {`{"components": {"schemas": {"a": {"properties": {"metadata": {"$ref": "other.json"}}` + kind + `}}}}`, `the reference "other.json" does not lead to`},
		"circular": {`{"components": {"schemas": {"a": {"properties": {"metadata": {}, "b": {"$ref": "#/components/schemas/b"}}` + kind + `}, "b": {"$ref": "#/components/schemas/b"}}}}`, "refers to nothing but itself"},
		"syntax":   {`{"components": `, "1:"},
	} {
		_, err := ParseOpenAPI([]byte(test.text))
		assert.ErrorContains(t, err, test.want, name)
	}
}

// TestOpenAPIBesideDefinitions: a definition goes before a document, in any order.
func TestOpenAPIBesideDefinitions(t *testing.T) {
	kinds, err := ParseOpenAPI([]byte(openAPI))
	require.NoError(t, err)
	c := NewCatalog()
	require.NoError(t, c.AddFS(fstest.MapFS{"crd.yaml": {Data: []byte(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition,
  spec: {group: example.com, names: {kind: Custom, plural: customs}, scope: Namespaced,
    versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {mine: {type: string}}}}}]}}`)}}))
	c.AddOpenAPI(kinds...)
	p, err := c.Lookup("example.com/v1", "Custom")
	require.NoError(t, err)
	assert.Contains(t, p.FieldNames(errors.Path{}), "mine")
	assert.NoError(t, kinds[0].Validate())
}

// TestOpenAPIRecursion compiles schemas that hold themselves in all ways, under both
// dialects.
func TestOpenAPIRecursion(t *testing.T) {
	kinds, err := ParseOpenAPI([]byte(`{"components": {"schemas": {"a": {"type": "object",
  "properties": {"metadata": {}, "a": {"$ref": "#/components/schemas/a"}, "l": {"type": "array", "items": {"$ref": "#/components/schemas/l"}}},
  "additionalProperties": {"$ref": "#/components/schemas/m"},
  "x-kubernetes-group-version-kind": [{"group": "a", "version": "v1", "kind": "A"}]},
 "l": {"type": "array", "items": {"$ref": "#/components/schemas/l"}},
 "m": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/m"}}}}}`))
	require.NoError(t, err)
	for _, d := range []Dialect{Kubernetes, KEP} {
		for _, typed := range []bool{false, true} {
			p, err := Compile(kinds[0].Versions[0].Schema, Semantics(d), CheckTypes(typed))
			require.NoError(t, err)
			assert.Less(t, len(p.Table().Nodes), 60)
		}
	}
}
