package sample

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/schema"
)

// FuzzMaker holds that for any schema, structural or not, all that is made is JSON, that the same
// bytes make the same object, that valid objects are valid and nearly valid ones are not, and that
// nothing takes long.
func FuzzMaker(f *testing.F) {
	corpus.AddSeeds(f)
	f.Add(`{type: object, required: [spec], properties: {spec: {type: object, minProperties: 1, maxProperties: 9, additionalProperties: {type: string, nullable: true, format: date}}}}`, []byte("\x01\x02\xff\xfe123"))
	f.Add(`{properties: {a: {type: array, minItems: 2, maxItems: 4, x-kubernetes-list-type: set, items: {type: integer, minimum: -1.5, maximum: 1e9, multipleOf: 0.5}}}}`, Bytes(1))
	f.Add(`{properties: {a: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {pattern: "^[0-9]+%$"}], not: {enum: [1, "2%"]}}, b: {type: boolean, default: true, example: 1}}}`, Bytes(2))
	f.Add(`{x-kubernetes-preserve-unknown-fields: true, oneOf: [{required: [a]}, {required: [b], maxLength: 1}], allOf: [{properties: {c: {minLength: 99999999999}}}]}`, Bytes(3))
	f.Add(`{properties: {a: {type: object, x-kubernetes-embedded-resource: true}, metadata: {properties: {name: {pattern: "^a+$", maxLength: 9}, labels: {minProperties: 2}}}}}`, Bytes(4))
	f.Fuzz(func(t *testing.T, text string, data []byte) {
		s, err := schema.Parse([]byte(text))
		if err != nil {
			return
		}
		start := time.Now()
		m := New(s, "example.com/v1", "Trellis")
		isValid := func(js []byte) bool {
			v, err := parse(js)
			require.NoError(t, err, "%s", js)
			require.True(t, json.Valid(js), "%s", js)
			return m.validate(v) == nil
		}
		js, err := m.Valid(data)
		again, errAgain := m.Valid(data)
		require.Equal(t, string(js), string(again))
		require.Equal(t, err == nil, errAgain == nil)
		if err == nil {
			require.True(t, isValid(js), "%s", js)
			changed, err := m.Changed(js, data)
			require.NoError(t, err)
			require.True(t, isValid(changed), "%s", changed)
			near, violation, err := m.NearlyValid(data)
			require.NoError(t, err)
			require.False(t, isValid(near), "%v: %s", violation, near)
		}
		full, err := m.Full()
		if err == nil {
			require.True(t, isValid(full), "%s", full)
			_, err = m.Commented(full)
			require.NoError(t, err)
		}
		isValid(m.Mutated(data))
		assert.Less(t, time.Since(start), 30*time.Second)
	})
}
