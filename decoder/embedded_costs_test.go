package decoder_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
)

// TestMetadataDefaultsOfMany asserts that embedded resources whose metadata has defaults do not
// cost more if the schema is large. Once each of them made a decoder.
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
	src := []byte(`{"kind":"B","apiVersion":"v1","list":[` +
		strings.Repeat(item+",", items-1) + item + `]}`)
	d := decoder.New(p, decoder.ServerRequests, decoder.Ignore)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	out, err := d.AppendJSON(nil, src)
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.Equal(t, items, strings.Count(string(out), `{"name":"some"}`))
	require.Less(t, int(after.TotalAlloc-before.TotalAlloc), 64*len(src))
}

// TestMetadataDeepDown asserts that embedded resources cost memory by their length, not by the
// length of their paths.
func TestMetadataDeepDown(t *testing.T) {
	const depth, items = 4, 20_000
	name := strings.Repeat("n", 240)
	text := "{type: object, x-kubernetes-embedded-resource: true}"
	text = "{type: object, properties: {list: {type: array, items: " + text + "}}}"
	for range depth {
		text = "{type: object, properties: {" + name + ": " + text + "}}"
	}
	document := func(last string) []byte {
		return []byte(strings.Repeat(`{"`+name+`":`, depth) + `{"list":[` +
			strings.Repeat(`{"metadata":{}},`, items) + last + `]}` + strings.Repeat("}", depth))
	}
	d := decoder.New(compile(t, text), decoder.ServerTypedRequests, decoder.Ignore)
	src := document("{}")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	out, err := d.AppendJSON(nil, src)
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.Less(t, int(after.TotalAlloc-before.TotalAlloc), 16<<10+8*(len(src)+len(out)))

	_, err = d.AppendJSON(nil, document(`{"metadata":{"creationTimestamp":"x"}}`))
	var e *ferrors.ObjectError
	require.ErrorAs(t, err, &e)
	require.Equal(t, fmt.Sprintf("%s.list[%d].metadata",
		strings.Join([]string{name, name, name, name}, "."), items), e.Path.String())
}
