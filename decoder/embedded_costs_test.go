package decoder_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
)

// TestMetadataDefaultsOfMany asserts that embedded resources whose metadata has defaults cost
// no more where the schema is large: a decoder was made for each.
func TestMetadataDefaultsOfMany(t *testing.T) {
	var fields strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&fields, "  f%d: {type: string}\n", i)
	}
	p := compile(t, "type: object\nproperties:\n"+fields.String()+`
  list:
    type: array
    items:
      type: object
      x-kubernetes-embedded-resource: true
      properties:
        metadata: {type: object, properties: {name: {type: string, default: some}}}
`)
	const items = 2000
	item := `{"kind":"A","apiVersion":"v1","metadata":{}}`
	src := []byte(`{"kind":"B","apiVersion":"v1","list":[` + strings.Repeat(item+",", items-1) + item + `]}`)
	d := decoder.New(p, decoder.Kubernetes(), decoder.FieldValidation(decoder.Ignore))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	out, err := d.AppendJSON(nil, src)
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.Equal(t, items, strings.Count(string(out), `{"name":"some"}`))
	require.Less(t, int(after.TotalAlloc-before.TotalAlloc), 64*len(src))
}
