package decoder

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the server sorts findings in embedded metadata by is spelled as far as the path is kept,
// whether a part of a key or of a declared name is left out, or some names are.
func TestOrderOfElidedPaths(t *testing.T) {
	long := strings.Repeat("x", 1100)
	const embedded = "{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}"
	const object = `{"apiVersion":"v1","kind":"K","metadata":{"b":1,"a":1}}`
	for _, c := range []struct{ schema, doc string }{
		{"{type: object, properties: {m: {type: object, additionalProperties: " + embedded + "}}}", `{"m":{"` + long + `":` + object + `}}`},
		{"{type: object, properties: {? " + long + "\n: " + embedded + "}}", `{"` + long + `":` + object + `}`},
		{strings.Repeat("{type: object, properties: {longer-name: ", 100) + embedded + strings.Repeat("}}", 100),
			strings.Repeat(`{"longer-name":`, 100) + object + strings.Repeat("}", 100)},
	} {
		d := New(compileYAML(t, c.schema))
		_, err := d.AppendJSON(nil, []byte(c.doc))
		require.NoError(t, err)
		found := d.Findings()
		require.Len(t, found, 2)
		require.True(t, strings.HasSuffix(found[0].Path.String(), "metadata.a"), "%s", found[0].Path)
		require.True(t, strings.HasSuffix(found[1].Path.String(), "metadata.b"), "%s", found[1].Path)
	}
}
