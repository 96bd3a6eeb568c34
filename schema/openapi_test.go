package schema

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/program"
)

// openAPI is a document like those of an API server, with their specialities: references, wrapped
// and not, that lead back to themselves, int-or-string in both spellings, defaults of Go types,
// opaque objects, lists.
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
    io.k8s.api.example.v1.ShrubList:
      type: object
      properties:
        metadata: {allOf: [{$ref: "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta"}], default: {}}
      x-kubernetes-group-version-kind: [{group: example.k8s.io, kind: ShrubList, version: v1}]
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
	require.NoError(t, c.Add(kinds...))
	require.NoError(t, c.Add(kinds...)) // the first ones stay

	tree, err := c.Lookup("example.k8s.io/v1", "Tree")
	require.NoError(t, err)
	root := errors.Path{}.Child("spec")
	for _, path := range []errors.Path{root, root.Child("children").Element(1), root.Child("byName").Child("x").Child("children").Element(0)} {
		assert.Equal(t, []string{"any", "byName", "children", "name", "old", "port", "raw"}, tree.FieldNames(path), path)
	}
	assert.NotContains(t, tree.String(), "default", "those of Go types are none")
	assert.Contains(t, tree.String(), "integer or string")
	node := kinds[2].Versions[0].Schema.Properties["spec"].Properties
	for name, want := range map[string]program.Types{
		"name": program.String, "port": program.Integer | program.String, "old": program.Integer | program.String,
		"any": program.Object, "raw": program.Any, "children": program.Array, "byName": program.Object,
	} {
		assert.Equal(t, want|program.Null, types(node[name]), name)
	}

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
		"no map":   {`{"components": 5}`, `1:16: must be an object, not a number in "components"`},
		"no kinds": {`{"components": {"schemas": {"a": {"x-kubernetes-group-version-kind": 5}}}}`, "1:70: must be an array, not a number in "},
		"items":    {`{"components": {"schemas": {"a": {"properties": {"metadata": {"items": {"$ref": "#/components/schemas/b"}}}` + kind + `}}}}`, `has no "b"`},
		"values":   {`{"components": {"schemas": {"a": {"properties": {"metadata": {"additionalProperties": {"$ref": "#/components/schemas/b"}}}` + kind + `}}}}`, `has no "b"`},
		"allOf":    {`{"components": {"schemas": {"a": {"properties": {"metadata": {"allOf": [{"$ref": "#/components/schemas/b"}]}}` + kind + `}}}}`, `has no "b"`},
	} {
		_, err := ParseOpenAPI([]byte(test.text))
		assert.ErrorContains(t, err, test.want, name)
	}
}

// TestOpenAPIPath reads the documents of a folder, with a schema that says nothing.
func TestOpenAPIPath(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	write("a.json", `{"components": {"schemas": {"a~/b": {"properties": {"metadata": {"$ref": "#/components/schemas/c~0~1d"}}, "x-kubernetes-group-version-kind": [{"group": "a", "version": "v1", "kind": "A"}]}, "c~/d": null}}}`)
	write("b.yaml", openAPI)
	c := NewCatalog()
	require.NoError(t, c.AddOpenAPIPath(dir))
	var files []string
	for e := range c.All() {
		files = append(files, e.Kind+" "+filepath.Base(e.CRD.File))
	}
	assert.Equal(t, []string{"Custom b.yaml", "A a.json", "Custom b.yaml", "Tree b.yaml"}, files)

	write("c.json", `{"components": {}}`)
	err := NewCatalog().AddOpenAPIPath(dir)
	assert.ErrorContains(t, err, filepath.Join(dir, "c.json")+": 1:1: there are no components.schemas")
	assert.ErrorIs(t, NewCatalog().AddOpenAPIPath(filepath.Join(dir, "none")), os.ErrNotExist)
}

// TestOpenAPIBesideDefinitions: a definition takes precedence over a document, in any order.
func TestOpenAPIBesideDefinitions(t *testing.T) {
	kinds, err := ParseOpenAPI([]byte(openAPI))
	require.NoError(t, err)
	c := NewCatalog()
	require.NoError(t, c.AddFS(fstest.MapFS{"crd.yaml": {Data: []byte(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition,
  spec: {group: example.com, names: {kind: Custom, plural: customs}, scope: Namespaced,
    versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {mine: {type: string}}}}}]}}`)}}))
	require.NoError(t, c.Add(kinds...))
	p, err := c.Lookup("example.com/v1", "Custom")
	require.NoError(t, err)
	assert.Contains(t, p.FieldNames(errors.Path{}), "mine")
}

// TestOpenAPIGoTypes: in Go types, an object without further keywords, or a schema without a type,
// allows anything. Defaults in them do not count.
func TestOpenAPIGoTypes(t *testing.T) {
	for text, want := range map[string]bool{
		`{}`: true, `{type: object, default: {}}`: true, `{type: string, default: ""}`: false, `{type: array}`: false, `{x-kubernetes-map-type: atomic}`: true,
		`{properties: {a: {}}}`: false, `{additionalProperties: true}`: false, `{items: {}}`: false, `{allOf: [{}]}`: false,
		`{type: object, x-kubernetes-preserve-unknown-fields: false}`: false,
	} {
		s := parseText(t, text)
		s.asGoType()
		assert.Equal(t, want, s.preserves(), text)
		assert.Nil(t, s.Default)
	}
}

// TestOpenAPITake: a schema's own contents take precedence over those that it takes. Only flags are
// true if either schema sets them.
func TestOpenAPITake(t *testing.T) {
	const one = `{type: object, properties: {a: {type: string}, b: {type: string}}, additionalProperties: true, items: {type: string},
		x-kubernetes-preserve-unknown-fields: true, default: 1}`
	const other = `{type: array, properties: {b: {type: integer}, c: {type: integer}}, additionalProperties: false, items: {type: integer},
		x-kubernetes-preserve-unknown-fields: false, x-kubernetes-embedded-resource: true, nullable: true, default: 2}`
	const both = `{type: object, properties: {a: {type: string}, b: {type: string}, c: {type: integer}}, additionalProperties: true, items: {type: string},
		x-kubernetes-preserve-unknown-fields: true, x-kubernetes-embedded-resource: true, nullable: true, default: 1}`
	for _, c := range []struct{ s, from, want string }{
		{`{}`, one, one}, {`{}`, other, other}, {one, `{}`, one}, {one, other, both},
		{`{x-kubernetes-int-or-string: true}`, `{type: string}`, `{x-kubernetes-int-or-string: true}`},
		{`{type: string}`, `{x-kubernetes-int-or-string: true}`, `{type: string, x-kubernetes-int-or-string: true}`},
	} {
		s := parseText(t, c.s)
		s.take(parseText(t, c.from))
		assert.Equal(t, parseText(t, c.want), s)
	}
}

// TestOpenAPISaysNothing: a schema that consists of one reference under allOf is the one that it refers to,
// unless it says anything that counts.
func TestOpenAPISaysNothing(t *testing.T) {
	for text, want := range map[string]bool{
		`{}`: true, `{description: d, title: t}`: true, `{properties: {a: {}}}`: false, `{additionalProperties: true}`: false, `{items: {}}`: false,
		`{x-kubernetes-preserve-unknown-fields: false}`: false, `{type: object}`: false, `{x-kubernetes-int-or-string: true}`: false,
		`{x-kubernetes-embedded-resource: true}`: false, `{nullable: true}`: false, `{default: 1}`: false,
	} {
		assert.Equal(t, want, parseText(t, text).saysNothing(), text)
	}
}

// TestOpenAPIMerge has references under allOf, one and more, that change nothing of what they refer to.
func TestOpenAPIMerge(t *testing.T) {
	kinds, err := ParseOpenAPI([]byte(`{"components": {"schemas": {
		"k": {"x-kubernetes-group-version-kind": [{"group": "g", "version": "v1", "kind": "K"}], "properties": {
			"metadata": null, "a": {"$ref": "#/components/schemas/A"}, "b": {"$ref": "#/components/schemas/B"},
			"one": {"description": "d", "allOf": [{"$ref": "#/components/schemas/A"}]}, "oneAgain": {"allOf": [{"$ref": "#/components/schemas/A"}]},
			"s": {"$ref": "#/components/schemas/S"}, "sAgain": {"$ref": "#/components/schemas/S"},
			"two": {"allOf": [{"$ref": "#/components/schemas/A"}, {"$ref": "#/components/schemas/B"}]},
			"three": {"nullable": true, "allOf": [{"$ref": "#/components/schemas/A"}, {"$ref": "#/components/schemas/B"}, {"properties": {"c": null}}]}}},
		"S": {"allOf": [{"$ref": "#/components/schemas/A"}]}, "A": {"properties": {"a": {"type": "string"}}}, "B": {"properties": {"b": null}}}}}`))
	require.NoError(t, err)
	p := kinds[0].Versions[0].Schema.Properties
	names := func(s *Structural) []string {
		assert.Nil(t, s.AllOf)
		return slices.Sorted(maps.Keys(s.Properties))
	}
	assert.Same(t, p["a"], p["one"])
	assert.Same(t, p["a"], p["oneAgain"])
	assert.Same(t, p["a"], p["s"])
	assert.Same(t, p["a"], p["sAgain"])
	assert.Equal(t, []string{"a", "b"}, names(p["two"]))
	assert.Equal(t, []string{"a", "b", "c"}, names(p["three"]))
	assert.Equal(t, []string{"a"}, names(p["a"]))
	assert.Equal(t, []string{"b"}, names(p["b"]))
	assert.NotNil(t, p["b"].Properties["b"])
}

// TestOpenAPIChains has many references to the start of a chain of references: it is followed once.
func TestOpenAPIChains(t *testing.T) {
	const size = 2000
	var b strings.Builder
	for i := range size {
		fmt.Fprintf(&b, `"c%d":{"$ref":"#/components/schemas/c%d"},`, i, i+1)
	}
	kinds, err := ParseOpenAPI([]byte(`{"components":{"schemas":{` + b.String() + fmt.Sprintf(`"c%d":{"type":"string"}`, size) +
		`,"k":{"x-kubernetes-group-version-kind":[{"group":"g","kind":"K","version":"v1"}],"properties":{"metadata":{},` +
		manyMembers(`{"$ref":"#/components/schemas/c0"}`, size) + `}}}}}`))
	require.NoError(t, err)
	assert.Equal(t, "string", kinds[0].Versions[0].Schema.Properties["k7"].Type)
}

// TestOpenAPISiblings has more schemas side by side than may be nested.
func TestOpenAPISiblings(t *testing.T) {
	kinds, err := ParseOpenAPI([]byte(`{"components":{"schemas":{"k":{"x-kubernetes-group-version-kind":[{"group":"g","kind":"K","version":"v1"}],"properties":{"metadata":{},` +
		manyMembers(`{}`, MaxDepth) + `}}}}}`))
	require.NoError(t, err)
	assert.Len(t, kinds[0].Versions[0].Schema.Properties, MaxDepth+1)
}

// TestOpenAPIRecursion compiles schemas that contain themselves in all ways, under both dialects.
func TestOpenAPIRecursion(t *testing.T) {
	kinds, err := ParseOpenAPI([]byte(`{"components": {"schemas": {"a": {"type": "object",
  "properties": {"metadata": {}, "a": {"$ref": "#/components/schemas/a"}, "l": {"type": "array", "items": {"$ref": "#/components/schemas/l"}}},
  "additionalProperties": {"$ref": "#/components/schemas/m"},
  "x-kubernetes-group-version-kind": [{"group": "a", "version": "v1", "kind": "A"}]},
 "l": {"type": "array", "items": {"$ref": "#/components/schemas/l"}},
 "m": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/m"}}}}}`))
	require.NoError(t, err)
	for _, d := range []Semantics{Deployed, KEP} {
		for _, typed := range []bool{false, true} {
			p, err := Compile(kinds[0].Versions[0].Schema, d, CheckTypes(typed))
			require.NoError(t, err)
			assert.Less(t, len(program.Of(p).Nodes), 60)
		}
	}
}

// TestOpenAPIOfGoTypes distinguishes kinds that are Go types of the server from custom resources,
// including those whose group ends in k8s.io: the defaults of custom resources count, and their
// formats do not.
func TestOpenAPIOfGoTypes(t *testing.T) {
	kinds, err := ParseOpenAPI([]byte(`{"components": {"schemas": {
		"io.k8s.api.core.v1.Thing": {"type": "object", "x-kubernetes-group-version-kind": [{"group": "", "version": "v1", "kind": "Thing"}], "properties": {
			"metadata": {"type": "object"},
			"a": {"type": "string", "default": "x"},
			"q": {"allOf": [{"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity"}]},
			"r": {"nullable": true, "allOf": [{"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity"}]},
			"t": {"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime"},
			"d": {"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.Duration"}}},
		"io.k8s.apimachinery.pkg.api.resource.Quantity": {"oneOf": [{"type": "string"}, {"type": "number"}]},
		"io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": {"type": "string", "format": "date-time"},
		"io.k8s.apimachinery.pkg.apis.meta.v1.Duration": {"type": "string"},
		"io.k8s.networking.gateway.v1.Gateway": {"type": "object", "x-kubernetes-group-version-kind": [{"group": "gateway.networking.k8s.io", "version": "v1", "kind": "Gateway"}], "properties": {
			"metadata": {"type": "object"},
			"o": {"type": "object"},
			"a": {"type": "string", "default": "x"}}}
	}}}`))
	require.NoError(t, err)
	require.Len(t, kinds, 2)
	thing, gateway := kinds[0], kinds[1]
	assert.True(t, thing.GoType)
	p := thing.Versions[0].Schema.Properties
	assert.Nil(t, p["a"].Default)
	assert.Equal(t, FormatQuantity, p["q"].Format)
	assert.Equal(t, FormatQuantity, p["r"].Format)
	assert.Equal(t, FormatMicroTime, p["t"].Format)
	assert.Equal(t, FormatDuration, p["d"].Format)
	assert.False(t, gateway.GoType)
	p = gateway.Versions[0].Schema.Properties
	assert.Equal(t, `"x"`, string(p["a"].Default))
	assert.Nil(t, p["o"].XPreserveUnknownFields)
}

// TestOpenAPIOfTakenReferences has schemas that are within those which they refer to under allOf, beside
// other keywords. So they take over references that are being followed.
func TestOpenAPIOfTakenReferences(t *testing.T) {
	for name, components := range map[string]string{
		"alone":             `"A": {"nullable": true, "allOf": [{"$ref": "#/components/schemas/B"}]}`,
		"beside properties": `"A": {"nullable": true, "properties": {"z": {}}, "allOf": [{"$ref": "#/components/schemas/B"}]}`,
		"by two references": `"A": {"$ref": "#/components/schemas/D"}, "D": {"nullable": true, "allOf": [{"$ref": "#/components/schemas/B"}]}`,
	} {
		kinds, err := ParseOpenAPI([]byte(`{"components": {"schemas": {
			"k": {"x-kubernetes-group-version-kind": [{"group": "g", "version": "v1", "kind": "K"}], "properties": {"metadata": {}, "b": {"$ref": "#/components/schemas/B"}}},
			"B": {"properties": {"x": {"$ref": "#/components/schemas/A"}, "y": {"type": "string"}}, "items": {"$ref": "#/components/schemas/A"}, "additionalProperties": {"$ref": "#/components/schemas/A"}},
			` + components + `}}}`))
		require.NoError(t, err, name)
		b := kinds[0].Versions[0].Schema.Properties["b"]
		a := b.Properties["x"]
		assert.True(t, a.Nullable, name)
		assert.False(t, b.Nullable, name)
		for _, within := range []*Structural{a.Properties["x"], a.element(), a.value(), b.element(), b.value()} {
			assert.Same(t, a, within, name)
		}
		assert.Equal(t, "string", a.Properties["y"].Type, name)
	}
}
