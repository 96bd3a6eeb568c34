package schema_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	kjson "sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/schema"
)

const schemaWithAll = `{"properties":{"a":{"items":{"type":"string","pattern":"<&>"},"type":"array"},"b":{"additionalProperties":false,"type":"object"}},` +
	`"additionalProperties":{"type":"integer","default":1},"items":[{"type":"string"},{"items":{"type":"number"}}],"x-kubernetes-preserve-unknown-fields":true,` +
	`"nullable":true,"default":{"z":[1,null,"\u2028"]},"type":"object","enum":[null,1e3,{"b":1,"a":2}],"not":{"additionalProperties":true},"additionalItems":{"type":"string"},` +
	`"dependencies":{"a":["b"],"c":{"type":"object"}}}`

// TestJSON holds that encoding/json, its second version and sigs.k8s.io/json write and read the
// same, by themselves and within other values.
func TestJSON(t *testing.T) {
	type within struct {
		Schema  *schema.Structural
		Value   schema.Structural
		Schemas map[string][]*schema.Structural
		Bool    *schema.SchemaOrBool
		Array   *schema.SchemaOrArray
	}
	text := `{"Schema":` + schemaWithAll + `,"Value":` + schemaWithAll + `,"Schemas":{"a":[` + schemaWithAll + `,null]},"Bool":true,"Array":[` + schemaWithAll + `]}`
	var v1, v2, kube within
	require.NoError(t, json.Unmarshal([]byte(text), &v1))
	require.NoError(t, jsonv2.Unmarshal([]byte(text), &v2))
	require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts([]byte(text), &kube))
	require.Equal(t, v2, v1)
	require.Equal(t, v2, kube)
	require.Equal(t, json.RawMessage(`{"z":[1,null,"\u2028"]}`), v1.Schema.Default)
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

// TestJSONReplaces holds that nothing stays of what was there before a value is read.
func TestJSONReplaces(t *testing.T) {
	of := schema.SchemaOrBool{Allows: true, Schema: &schema.Structural{Type: "string"}}
	require.NoError(t, of.UnmarshalJSON([]byte(`false`)))
	assert.Zero(t, of)
	list := schema.SchemaOrArray{Schema: &schema.Structural{Type: "string"}}
	require.NoError(t, list.UnmarshalJSON([]byte(`[]`)))
	assert.Nil(t, list.Schema)
	list = schema.SchemaOrArray{Schemas: []*schema.Structural{{Type: "string"}}}
	require.NoError(t, list.UnmarshalJSON([]byte(`{}`)))
	assert.Nil(t, list.Schemas)
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

// TestJSONSorted holds that a schema has one text, whoever writes it.
func TestJSONSorted(t *testing.T) {
	s := &schema.Structural{Properties: map[string]*schema.Structural{}}
	for _, name := range strings.Split("hgfedcba", "") {
		s.Properties[name] = &schema.Structural{Dependencies: map[string]json.RawMessage{"b": []byte("[]"), "a": []byte("[]")}}
	}
	of := func(name string) string { return `"` + name + `":{"dependencies":{"a":[],"b":[]}}` }
	want := `{"properties":{` + strings.Join([]string{of("a"), of("b"), of("c"), of("d"), of("e"), of("f"), of("g"), of("h")}, ",") + `}}`
	for range 10 {
		out, err := jsonv2.Marshal(s)
		require.NoError(t, err)
		require.Equal(t, want, string(out))
		out, err = json.Marshal(s)
		require.NoError(t, err)
		require.Equal(t, want, string(out))
	}
}

// TestJSONDeep holds that a schema is not read or written again for each schema that contains it:
// otherwise deep schemas would take some hundred times as long as others of that length.
func TestJSONDeep(t *testing.T) {
	best := func(text string) (reading, writing time.Duration) {
		reading, writing = time.Hour, time.Hour
		for range 5 {
			s := new(schema.Structural)
			start := time.Now()
			require.NoError(t, s.UnmarshalJSON([]byte(text)))
			read := time.Now()
			out, err := s.MarshalJSON()
			writing = min(writing, time.Since(read))
			reading = min(reading, read.Sub(start))
			require.NoError(t, err)
			require.Equal(t, text, string(out))
		}
		return reading, writing
	}
	const one, depth = `{"not":{"items":{"additionalProperties":`, 9000 / 3
	wideRead, wideWrite := best(`{"allOf":[{}` + strings.Repeat(`,`+one+`{}}}}`, depth) + "]}")
	deepRead, deepWrite := best(strings.Repeat(one, depth) + "{}" + strings.Repeat("}}}", depth))
	assert.Less(t, deepRead, 50*wideRead)
	assert.Less(t, deepWrite, 50*wideWrite)
	t.Logf("reading %.1f times, writing %.1f times", float64(deepRead)/float64(wideRead), float64(deepWrite)/float64(wideWrite))
}

// TestEqual holds that a schema is equal to another with the same contents, and nil to nil alone.
func TestEqual(t *testing.T) {
	parse := func(text string) *schema.Structural {
		s, err := schema.Parse([]byte(text))
		require.NoError(t, err)
		return s
	}
	a := parse(`{type: object, properties: {b: {type: string, default: x}, a: {type: integer}}}`)
	assert.True(t, a.Equal(a))
	assert.True(t, a.Equal(parse(`{properties: {a: {type: integer}, b: {default: x, type: string}}, type: object}`)))
	assert.False(t, a.Equal(parse(`{type: object, properties: {b: {type: string, default: y}, a: {type: integer}}}`)))
	assert.False(t, parse(`{default: {a: 1, b: 2}}`).Equal(parse(`{default: {b: 2, a: 1}}`)), "in another order")
	var none *schema.Structural
	assert.True(t, none.Equal(nil))
	assert.False(t, none.Equal(a))
	assert.False(t, a.Equal(nil))
	assert.False(t, none.Equal(new(schema.Structural)))
}
