package sample

import (
	"encoding/json"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/schema"
)

// hostileSchemas are those whose objects would take a lot of memory or time.
func hostileSchemas() map[string]*schema.Structural {
	large, dozens := int64(1)<<62, int64(100)
	of := func(s *schema.Structural) *schema.SchemaOrArray { return &schema.SchemaOrArray{Schema: s} }
	nested := &schema.Structural{Type: "integer"}
	for range 6 {
		nested = &schema.Structural{Type: "array", MinItems: &dozens, Items: of(nested)}
	}
	tree := &schema.Structural{Type: "object", Required: []string{"left", "right"}}
	tree.Properties = map[string]*schema.Structural{"left": tree, "right": tree}
	var some, others []json.RawMessage
	for i := range 3000 {
		some = append(some, json.RawMessage(strconv.Itoa(i)))
		others = append(others, json.RawMessage(strconv.Itoa(i+3000)))
	}
	return map[string]*schema.Structural{
		"a long text":      {Type: "string", MinLength: &large},
		"a long list":      {Type: "array", MinItems: &large, Items: of(&schema.Structural{Type: "integer"})},
		"a large map":      {Type: "object", MinProperties: &large, AdditionalProperties: &schema.SchemaOrBool{Allows: true, Schema: &schema.Structural{Type: "integer"}}},
		"lists of lists":   {Type: "array", MinItems: &dozens, Items: of(nested)},
		"an endless tree":  tree,
		"enums, no common": {Type: "integer", Enum: some, AllOf: []*schema.Structural{{Enum: others}}},
	}
}

// TestHostileSchemas asserts that no object is too much, and that it does not matter if it can be
// left out.
func TestHostileSchemas(t *testing.T) {
	for name, s := range hostileSchemas() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			m := New(&schema.Structural{Type: "object", Required: []string{"a"}, Properties: map[string]*schema.Structural{"a": s}}, "v1", "K")
			_, err := m.Smallest()
			require.ErrorContains(t, err, "no valid object was found")
			assert.True(t, json.Valid(m.Mutated(Bytes(1))))

			m = New(&schema.Structural{Type: "object", Properties: map[string]*schema.Structural{"a": s, "b": {Type: "integer"}}}, "v1", "K")
			js, err := m.Full()
			require.NoError(t, err)
			assert.Equal(t, `{"apiVersion":"v1","kind":"K","metadata":{"name":"a"},"b":0}`, string(js))
			js, err = m.Valid(Bytes(1))
			require.NoError(t, err)
			assert.Less(t, len(js), 10_000)
			assert.Less(t, time.Since(start), time.Minute)
		})
	}
}

// TestTooMuchToSearch asserts that searches for a text share what may be spent.
func TestTooMuchToSearch(t *testing.T) {
	work := 100
	_, ok := matchingAll([]*pattern{patternOf(t, `a{1000}`)}, &choices{}, 0, -1, &work)
	require.False(t, ok)
	work = 1000
	_, ok = matchingAll([]*pattern{patternOf(t, `^(a|b)*c{30}$`)}, &choices{}, 1000, math.MaxInt32, &work)
	require.False(t, ok)
	require.LessOrEqual(t, work, 0)
}
