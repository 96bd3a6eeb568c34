package origin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

const definition = `
- apiVersion: apiextensions.k8s.io/v1
  kind: CustomResourceDefinition
  metadata: {name: things.ex.io}
  spec:
    group: ex.io
    names: {kind: Thing, plural: things, singular: thing, listKind: ThingList}
    scope: Namespaced
    versions:
    - {name: v0, served: false, storage: false}
    - name: v1
      served: true
      storage: true
      subresources: {scale: {specReplicasPath: .spec.a, statusReplicasPath: .status.b, labelSelectorPath: .status.c}}
      schema:
        openAPIV3Schema:
          type: object
          minProperties: 1
          properties:
            list:
              type: array
              x-kubernetes-list-type: set
              items: {enum: [a, b], type: string, maxLength: 2}
            map: {type: object, additionalProperties: {type: integer, minimum: 1}}
            any:
              allOf:
              - required: [x, z]
                properties: {x: {pattern: ^a, format: ipv4}}
              anyOf:
              - properties: {x: {format: ipv6}}
              oneOf:
              - properties: {x: {pattern: ^b}}
              not: {properties: {x: {enum: [c]}}}
            none:
`

// list is a file with several documents, the last of which is a List of definitions. The document
// before it cannot be read.
const list = "a: 1\n---\nb: [ \n---\napiVersion: v1\nkind: List\nitems:" + definition

// entryOf returns the entry for a version of the kind in the list.
func entryOf(t *testing.T, version string) schema.Entry {
	t.Helper()
	name := filepath.Join(t.TempDir(), "list.yaml")
	require.NoError(t, os.WriteFile(name, []byte(strings.Replace(list, "[ ", "[]", 1)), 0o666))
	c := schema.NewCatalog()
	require.NoError(t, c.AddPath(name))
	require.NoError(t, os.WriteFile(name, []byte(list), 0o666))
	for e := range c.All() {
		if e.APIVersion == "ex.io/"+version {
			return e
		}
	}
	t.Fatal("there is no such version")
	return schema.Entry{}
}

func TestRule(t *testing.T) {
	entry := entryOf(t, "v1")
	lines := strings.Split(list, "\n")
	root := errors.Path{}
	x := root.Child("any").Child("x")
	var f Files
	for _, c := range []struct {
		path errors.Path
		why  errors.ValueError
		want string // the start of the text at the place
	}{
		{root, errors.ValueError{Rule: "minProperties"}, "minProperties: 1"},
		{root.Child("list"), errors.ValueError{Rule: "type", Msg: `must be of type array: "object"`}, "type: array"},
		{root.Child("list").Element(2), errors.ValueError{Rule: "x-kubernetes-list-type"}, "x-kubernetes-list-type: set"},
		{root.Child("list").Element(2), errors.ValueError{Rule: "enum", Allowed: []string{`"a"`, `"b"`}}, "enum: [a, b]"},
		{root.Child("list").Element(2), errors.ValueError{Rule: "maxLength"}, "maxLength: 2"},
		{root.Child("map").Child("k"), errors.ValueError{Rule: "minimum"}, "minimum: 1"},
		// The schemas of junctors are those of the value, too.
		{root.Child("any").Child("z"), errors.ValueError{Rule: "required"}, "z]"},
		{x, errors.ValueError{Rule: "pattern", Msg: "should match '^a'"}, "pattern: ^a"},
		{x, errors.ValueError{Rule: "pattern", Msg: "should match '^b'"}, "pattern: ^b"},
		{x, errors.ValueError{Rule: "format", Msg: "must be of type ipv6"}, "format: ipv6"},
		{x, errors.ValueError{Rule: "enum", Allowed: []string{`"c"`}}, "enum: [c]"},
		{root.Child("any"), errors.ValueError{Rule: "anyOf"}, "anyOf:"},
		// Without the keyword there is the schema.
		{root.Child("map"), errors.ValueError{Rule: "maxItems"}, "map: {type: object"},
		{root.Child("map"), errors.ValueError{Rule: "enum", Allowed: []string{"1"}}, "map: {type: object"},
		// The scale subresource.
		{root.Child("spec").Child("a"), errors.ValueError{Rule: "scale", Field: ".spec.a"}, "specReplicasPath: .spec.a"},
		{root.Child("status").Child("b"), errors.ValueError{Rule: "scale", Field: ".status.b"}, "statusReplicasPath: .status.b"},
		{root.Child("status").Child("c"), errors.ValueError{Rule: "scale", Field: ".status.c"}, "labelSelectorPath: .status.c"},
		// What no definition says.
		{root.Child("metadata").Child("name"), errors.ValueError{Rule: "metadata"}, ""},
		{root.Child("undeclared"), errors.ValueError{Rule: "minimum"}, ""},
		{root.Child("none").Child("x"), errors.ValueError{Rule: "minimum"}, ""},
		{root, errors.ValueError{Rule: "kind"}, ""},
		// A path without all of its names.
		{root.Child(strings.Repeat("x", 2*errors.MaxPathBytes)).Child("y"), errors.ValueError{Rule: "minimum"}, ""},
	} {
		for range 2 { // the second time from memory
			place := f.Rule(entry, c.path, &c.why)
			got := ""
			if place.At.IsValid() {
				assert.Equal(t, entry.CRD.File, place.File)
				got = lines[place.At.Line-1][place.At.ByteColumn-1:]
			}
			assert.True(t, strings.HasPrefix(got, c.want) && (got == "") == (c.want == ""), "%s %s: %s", c.path, c.why.Rule, got)
		}
	}
}

// TestNoPlace: a definition that is gone, or has changed, has no places.
func TestNoPlace(t *testing.T) {
	why := &errors.ValueError{Rule: "minProperties"}
	entry := entryOf(t, "v0")
	assert.Zero(t, new(Files).Rule(entry, errors.Path{}, why), "it has no schema")
	entry = entryOf(t, "v1")
	require.NoError(t, os.WriteFile(entry.CRD.File, []byte("a: 1\n---\nb: 2\n---\nkind: List\n"), 0o666))
	assert.Zero(t, new(Files).Rule(entry, errors.Path{}, why), "it is another one")
	require.NoError(t, os.Remove(entry.CRD.File))
	var f Files
	assert.Zero(t, f.Rule(entry, errors.Path{}, why), "it is gone")
	trace, err := entry.Trace(errors.Path{}.Child("list"))
	require.NoError(t, err)
	for _, place := range f.Schemas(entry, trace) {
		assert.Equal(t, entry.CRD.File, place.String())
	}
}
