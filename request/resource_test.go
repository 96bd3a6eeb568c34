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

// TestFromEntryOfCircle has a schema that holds itself, as there are in OpenAPI documents.
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
	for range 7 { // 20 to the power of that
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
