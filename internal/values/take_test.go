package values

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const schemaWithDefaults = `
type: object
properties:
  s: {type: string, default: x}
  t: {type: string, default: "` + "a\\u00e9\\\"" + `"}
  list: {type: array, items: {type: object, properties: {"n": {type: number, default: 2.5}, deep: {type: object, default: {}, properties: {b: {type: boolean, default: true}}}}}}
  raw: {x-kubernetes-preserve-unknown-fields: true}
`

// TestTake asserts that a document is taken with its defaults, after one that is in doubt, and that
// its value does not refer to it.
func TestTake(t *testing.T) {
	m, root := makerFor(t, schemaWithDefaults, nameBytes)
	for _, c := range []struct {
		doc  string
		want any // nil if there is a doubt
	}{
		{`{"list":[{},{"n":1`, nil},
		{` {"list":[{},{"n":1}],"s":"y"} `, map[string]any{"s": "y", "t": `aé"`, "list": []any{
			map[string]any{"n": 2.5, "deep": map[string]any{"b": true}}, map[string]any{"n": int64(1), "deep": map[string]any{"b": true}},
		}}},
		{`{"raw":{"a":1,"a":1}}`, nil},
		{`{}`, map[string]any{"s": "x", "t": `aé"`}},
		{`{} {`, nil},
		{`{"raw":` + strings.Repeat("[", MostDepth-1) + strings.Repeat("]", MostDepth) + `}`, nil},
		{`{"list":[` + strings.Repeat(`{},`, MostDefaults/10) + `{}]}`, nil},
	} {
		src := padded(c.doc)
		v, ok := m.Take(src, root)
		clear(src)
		require.Equal(t, c.want != nil, ok, c.doc)
		if ok {
			assert.Equal(t, c.want, v)
		}
		assert.Nil(t, m.src)
		assert.Nil(t, m.root[0])
		assert.Equal(t, []any{int64(1), nil}, mustMake(m, `[1,null]`, nil), "a result is not judged")
	}
}
