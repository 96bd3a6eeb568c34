package request_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/request"
	"github.com/espalier-dev/espalier/schema"
)

// TestFromEntryOfCircle has a schema that contains itself, as schemas of OpenAPI documents may.
func TestFromEntryOfCircle(t *testing.T) {
	catalog := schema.NewCatalog()
	kinds, err := schema.ParseOpenAPI([]byte(`{"components": {"schemas": {"k": {"type": "object", "x-kubernetes-group-version-kind": [{"group": "g", "version": "v1", "kind": "K"}],
		"properties": {"metadata": {"type": "object"}, "below": {"$ref": "#/components/schemas/k"}, "list": {"type": "array", "items": {"$ref": "#/components/schemas/k"}},
			"map": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/k"}}, "name": {"type": "string", "default": "x"}}}}}}`))
	require.NoError(t, err)
	require.NoError(t, catalog.Add(kinds...))
	for e := range catalog.All() {
		resource, err := request.FromEntry(e)
		require.NoError(t, err)
		out, err := decoder.New(resource.Patch).AppendJSON(nil, []byte(`{"below":{"list":[{"map":{"a":{"name":null,"junk":1}}}]}}`))
		require.NoError(t, err)
		assert.Equal(t, `{"below":{"list":[{"map":{"a":{"name":null}}}]}}`, string(out))
	}
}

func TestFromEntry(t *testing.T) {
	multiplied := "{type: object}"
	for range 7 { // 20 to the power of 7
		multiplied = "{type: object, properties: {a: {type: array, default: [" + strings.Repeat("{}, ", 20) + "], items: " + multiplied + "}}}"
	}
	crd := func(schema string) []byte {
		return []byte(strings.Replace(fooCRD, "    schema: {openAPIV3Schema: {type: object}}", schema, 1))
	}
	for name, c := range map[string]struct {
		schema string
		fault  string
	}{
		"without a schema":       {"", ""},
		"with too many defaults": {"    schema: {openAPIV3Schema: " + multiplied + "}", "must not grow"},
	} {
		crds, err := schema.ParseCRD(crd(c.schema))
		require.NoError(t, err)
		catalog := schema.NewCatalog()
		require.NoError(t, catalog.Add(crds...))
		for e := range catalog.All() {
			if e.APIVersion != "example.com/v0" {
				continue
			}
			resource, err := request.FromEntry(e)
			if c.fault == "" {
				require.NoError(t, err, name)
				assert.NotNil(t, resource.Patch, name)
			} else {
				require.ErrorContains(t, err, c.fault, name)
			}
		}
	}
}

// TestOptionsStay holds that nobody changes the options of a finder later, and that options that
// make no sense are refused when they are given.
func TestOptionsStay(t *testing.T) {
	c := catalog(t)
	opts := []decoder.Option{decoder.Compact(true)}
	finders := []request.Finder{request.ByPath(c, opts...), request.ByKind(c, opts...)}
	opts[0] = nil
	for _, find := range finders {
		require.Nil(t, judge(t, find, request.Options{}, post(t, foosPath, "", foo(""))).refused)
	}
	for e := range c.All() {
		assert.PanicsWithValue(t, "decoder: option 1 of 1 is nil", func() { _, _ = request.FromEntry(e, nil) })
	}
}

// TestPatchesHaveNoType holds that patches need not have the type that objects must have.
func TestPatchesHaveNoType(t *testing.T) {
	find := request.ByPath(catalog(t), decoder.ExpectType("example.com/v1", "Foo"))
	patch := send(t, "PATCH", foosPath+"/n", `{"spec":{}}`, "Content-Type", "application/merge-patch+json")
	require.Nil(t, judge(t, find, request.Options{}, patch).refused)
	refused(t, judge(t, find, request.Options{}, post(t, foosPath, "", `{"kind":"Foo"}`)), 400)
}
