package apiserver

import (
	"encoding/json"
	"testing"

	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const stored = `{"name":"n","namespace":"ns","uid":"u","resourceVersion":"12","generation":3,
	"creationTimestamp":"2026-01-02T03:04:05Z","deletionTimestamp":"2026-01-02T03:04:06Z","deletionGracePeriodSeconds":0,
	"labels":{"a":"","b":"\u00e9"},"annotations":{"c":"<&>"},"finalizers":["f",""],
	"ownerReferences":[{"apiVersion":"v1","kind":"","name":"o","uid":"v","controller":true,"blockOwnerDeletion":false}],
	"managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","time":"2026-01-02T03:04:05Z","fieldsType":"FieldsV1",
		"fieldsV1":{"f:a":{".":{},"k:{\"b\":1}":{}}},"subresource":"status"},{}]}`

func TestCanonical(t *testing.T) {
	for _, in := range []string{`{}`, ` { } `, stored, `{"generation":-1}`, `{"generation":10}`,
		`{"generation":9}`, `{"name":"a"}`} {
		assert.True(t, isCanonical([]byte(in), false), in)
	}
	assert.True(t, isCanonical([]byte(stored), true))
	assert.False(t, isCanonical([]byte(`{"name":"a"}`), true), "the generation becomes 1")
	for _, in := range []string{
		`null`, `[]`, `5`, `""`, `{"x":1}`, `{"name":""}`, `{"name":null}`, `{"name":5}`, `{"n\u0061me":"a"}`,
		`{"generation":0}`, `{"generation":1.0}`, `{"generation":1e3}`, `{"generation":-0}`, `{"generation":"1"}`, `{"generation":9223372036854775808}`,
		`{"deletionGracePeriodSeconds":null}`, `{"creationTimestamp":"2020-01-01T00:00:00+00:00"}`, `{"creationTimestamp":"2020-01-01T00:00:00.5Z"}`,
		`{"creationTimestamp":"2020-13-01T00:00:00Z"}`, `{"creationTimestamp":"0001-01-01T00:00:00Z"}`, `{"creationTimestamp":null}`, `{"creationTimestamp":"\u0032020-01-01T00:0Z"}`,
		`{"labels":{}}`, `{"labels":{"a":null}}`, `{"labels":{"a":1}}`, `{"labels":[]}`, `{"finalizers":[]}`, `{"finalizers":[null]}`, `{"finalizers":{}}`,
		`{"ownerReferences":[{}]}`, `{"ownerReferences":[{"apiVersion":"","kind":"","name":"","uid":"","x":1}]}`,
		`{"ownerReferences":[{"apiVersion":"","kind":"","name":"","uid":"","controller":null}]}`,
		`{"managedFields":[null]}`, `{"managedFields":[{"x":"y"}]}`, `{"managedFields":[{"manager":""}]}`, `{"managedFields":[{"fieldsV1":null}]}`, `{"managedFields":[{"fieldsV1":{"a":[1.0]}}]}`, `{"managedFields":[{"fieldsV1":{"a":0e0}}]}`, `{"managedFields":[{"fieldsV1":{"a":9e9}}]}`, `{"managedFields":[{"fieldsV1":"x"}]}`,
	} {
		assert.False(t, isCanonical([]byte(in), false), in)
	}
}

// FuzzCanonical asserts that a round trip does not change canonical metadata.
func FuzzCanonical(f *testing.F) {
	corpus.AddSeeds(f)
	for _, seed := range []string{stored, `{}`, `{"labels":{"a":"b"},"generation":2}`,
		`{"managedFields":[{"fieldsV1":{"a":"b"}}]}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		var value any
		if json.Unmarshal([]byte(in), &value) != nil {
			return
		}
		in = string(must(json.Marshal(value))) // no name repeats in it
		if !isCanonical([]byte(in), false) {
			return
		}
		m, err := DecodeMetadata([]byte(in))
		require.NoError(t, err, in)
		assert.JSONEq(t, in, string(must(json.Marshal(m))))
	})
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}
