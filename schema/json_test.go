package schema_test

import (
	"encoding/json"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/schema"
)

const schemaWithAll = `{"properties":{"a":{"items":{"type":"string","pattern":"<&>"},"type":"array"},"b":{"additionalProperties":false,"type":"object"}},` +
	`"additionalProperties":{"type":"integer","default":1},"items":[{"type":"string"},{"items":{"type":"number"}}],"x-kubernetes-preserve-unknown-fields":true,` +
	`"nullable":true,"default":{"z":[1,null,"\u2028"]},"type":"object","enum":[null,1e3,{"b":1,"a":2}],"not":{"additionalProperties":true},"additionalItems":{"type":"string"},` +
	`"dependencies":{"a":["b"],"c":{"type":"object"}}}`

// TestJSON holds that encoding/json and its second version write and read the same, by themselves and within other values.
func TestJSON(t *testing.T) {
	type within struct {
		Schema  *schema.Structural
		Value   schema.Structural
		Schemas map[string][]*schema.Structural
		Bool    *schema.SchemaOrBool
		Array   *schema.SchemaOrArray
	}
	text := `{"Schema":` + schemaWithAll + `,"Value":` + schemaWithAll + `,"Schemas":{"a":[` + schemaWithAll + `,null]},"Bool":true,"Array":[` + schemaWithAll + `]}`
	var v1, v2 within
	require.NoError(t, json.Unmarshal([]byte(text), &v1))
	require.NoError(t, jsonv2.Unmarshal([]byte(text), &v2))
	require.Equal(t, v2, v1)
	require.Equal(t, &schema.Structural{Type: "integer", Default: []byte("1")}, v1.Schema.AdditionalProperties.Schema)
	require.False(t, v1.Value.Properties["b"].AdditionalProperties.Allows)
	require.Equal(t, "string", v1.Schema.Items.Schemas[0].Type)

	for _, marshal := range []func(any) ([]byte, error){json.Marshal, func(v any) ([]byte, error) { return jsonv2.Marshal(v) }} {
		for _, v := range []any{v1, &v1} {
			out, err := marshal(v)
			require.NoError(t, err)
			assert.JSONEq(t, text, string(out))
		}
	}
	for text, v := range map[string]json.Unmarshaler{"true": new(schema.SchemaOrBool), `[{"type":"string"}]`: new(schema.SchemaOrArray), `{"type":"string"}`: new(schema.Structural)} {
		require.NoError(t, v.UnmarshalJSON([]byte(text)))
		out, err := v.(json.Marshaler).MarshalJSON()
		require.NoError(t, err)
		assert.Equal(t, text, string(out))
	}
}

// TestJSONRefuses holds that encoding/json reads no more leniently than Parse.
func TestJSONRefuses(t *testing.T) {
	var s schema.Structural
	require.NoError(t, json.Unmarshal([]byte(`{"Type":"object","PROPERTIES":{"a":{}},"properties":{"b":{"TYPE":"string"}}}`), &s))
	assert.Equal(t, schema.Structural{Properties: map[string]*schema.Structural{"b": {}}}, s, "names of other case are other names")
	for _, text := range []string{`{"type":1}`, `{"items":1}`, `{"additionalProperties":[]}`, `[]`} {
		assert.Error(t, json.Unmarshal([]byte(text), new(schema.Structural)), text)
	}
	loop := &schema.Structural{}
	loop.Not = loop
	_, err := json.Marshal(loop)
	assert.Error(t, err, "a schema that holds itself has no end")
}
