package formats

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/schema"
)

// TestEmbeddedMetadata finds metadata wherever a schema has a resource, and ignores the formats of
// the schema itself. Module fuzz compares the formats with the API server's types.
func TestEmbeddedMetadata(t *testing.T) {
	s, err := schema.Parse([]byte(`{type: object, properties: {
		time: {type: string, format: date-time},
		metadata: {type: object, properties: {name: {type: string, format: date-time}}},
		one: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true},
		list: {type: array, items: {type: object, properties: {in: {type: object, x-kubernetes-embedded-resource: true}}}},
		map: {type: object, additionalProperties: {type: object, x-kubernetes-embedded-resource: true}}}}`))
	require.NoError(t, err)
	const resource = `{"metadata": {"name": "x", "creationTimestamp": "x", "managedFields": [{"time": null}, {"time": "y"}]}}`
	js := []byte(`{"time": "x", "metadata": {"name": "x", "creationTimestamp": "x"}, "other": ` + resource + `, "one": ` + resource + `, "list": [{}, {"in": ` + resource + `}], "map": {"a": ` + resource + `}}`)
	bad, more := Find(js, Of(s, false), false, 4)
	var paths []string
	for _, b := range bad {
		paths = append(paths, b.Path.String())
		assert.Equal(t, byte('"'), js[b.Offset])
	}
	assert.Equal(t, []string{"metadata.creationTimestamp", "one.metadata.creationTimestamp", "one.metadata.managedFields[1].time", "list[1].in.metadata.creationTimestamp"}, paths)
	assert.Equal(t, 3, more)
}

// TestRecursiveSchemas has schemas that contain themselves, as those of OpenAPI documents may.
func TestRecursiveSchemas(t *testing.T) {
	s := &schema.Structural{Type: "object", XEmbeddedResource: true}
	s.Properties = map[string]*schema.Structural{"in": s}
	bad, _ := Find([]byte(`{"in": {"in": {"metadata": {"deletionTimestamp": "x"}}}}`), Of(s, false), false, 1)
	require.Len(t, bad, 1)
	assert.Equal(t, "in.in.metadata.deletionTimestamp", bad[0].Path.String())
	plain := &schema.Structural{Type: "object"}
	plain.Properties = map[string]*schema.Structural{"in": plain}
	bad, _ = Find([]byte(`{"in": {"in": {"metadata": {"deletionTimestamp": "x"}}}}`), Of(plain, false), false, 1)
	assert.Empty(t, bad)
}

// TestSpellings has names with escapes and blanks around all tokens.
func TestSpellings(t *testing.T) {
	js := []byte("\n{\t\"\\u006detadata\" :\r{ \"managedFields\" : [ {\n} , { \"time\" : \"\\u0078\" } ] , \"creation\\u0054imestamp\" : \"2026-01-02T15:04:05\\u005a\" } }")
	bad, _ := Find(js, Of(nil, false), false, 2)
	require.Len(t, bad, 1)
	assert.Equal(t, "metadata.managedFields[1].time", bad[0].Path.String())
	assert.Equal(t, `"\u0078"`, string(js[bad[0].Offset:bad[0].Offset+8]))
}

// TestMalformed has what Find is not meant for: it must come to an end.
func TestMalformed(t *testing.T) {
	list := &schema.Structural{Items: &schema.SchemaOrArray{Schema: &schema.Structural{Type: "string", Format: "date-time"}}}
	fields := &schema.Structural{Properties: map[string]*schema.Structural{"a": list}}
	whole := `{"a": ["x", "y"], "b": {"a": [1]}, "a": []}`
	for _, s := range []*schema.Structural{nil, list, fields} {
		for i := range whole {
			Find([]byte(whole[:i]), s, false, 1)
			Find([]byte(whole[:i]+"!"+whole[i:]), s, false, 1)
			Find([]byte(whole[i:]), s, false, 1)
		}
	}
	bad, more := Find([]byte(whole), fields, false, 1)
	assert.Len(t, bad, 1)
	assert.Equal(t, 1, more)
}

// TestNumbersOfYAML has numbers that are rewritten before the API server decodes them.
func TestNumbersOfYAML(t *testing.T) {
	s := &schema.Structural{Properties: map[string]*schema.Structural{"n": {Type: "integer", Format: "int32"}}}
	for number, want := range map[string][2]int{"1": {0, 0}, "1.0": {1, 0}, "1.5": {1, 1}, "1e2": {1, 0}, "2147483648": {1, 1}} {
		js := []byte(`{"n":` + number + `}`)
		asJSON, _ := Find(js, s, false, 1)
		asYAML, _ := Find(js, s, true, 1)
		assert.Equal(t, want, [2]int{len(asJSON), len(asYAML)}, number)
	}
}
