package screen_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/internal/screen"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// compile compiles the schema of a value that is no resource.
func compile(t testing.TB, text string) *schema.Program {
	s, err := schema.Parse([]byte(text))
	require.NoError(t, err, text)
	p, err := schema.Compile(s, validation.Values(), schema.ResourceRoot(false))
	require.NoError(t, err, text)
	return p
}

// verdict decodes a document, and says whether the screen passes the result and whether it is
// valid.
func verdict(t testing.TB, p *schema.Program, doc string, as program.Request) (passes, valid bool) {
	t.Helper()
	out, err := decoder.New(p).AppendJSON(nil, []byte(doc))
	require.NoError(t, err, doc)
	of := program.Of(p)
	var m screen.Machine
	passes = m.IsValid(of, predictions(of), out, as)
	errs, complete := of.Validator.Validate(out, as, 1<<24)
	require.True(t, complete)
	return passes, len(errs) == 0
}

// TestFaultsOfTheScreen has what the screen once passed although it is invalid.
func TestFaultsOfTheScreen(t *testing.T) {
	for _, c := range []struct{ schema, doc string }{
		{`{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}`, `{}`},
		{`{type: string, enum: ["a\0b"]}`, `"a"`},
		{`{type: number, format: float}`, `1e39`},
		{`{type: object, properties: {e: {type: object, x-kubernetes-embedded-resource: true, properties: {
			metadata: {type: object, properties: {name: {type: string, maxLength: 1}}}}}}}`,
			`{"e":{"apiVersion":"v1","kind":"K","metadata":{"name":"ab"}}}`},
	} {
		passes, valid := verdict(t, compile(t, c.schema), c.doc, program.Create)
		require.False(t, passes || valid, "%s: %s", c.schema, c.doc)
	}
	s, err := schema.Parse([]byte(`{type: object, properties: {metadata: {type: object, properties: {name: {type: string, maxLength: 3}}}}}`))
	require.NoError(t, err)
	p, err := schema.Compile(s, validation.Values())
	require.NoError(t, err)
	for doc, want := range map[string]bool{
		`{"apiVersion":"v1","kind":"K","metadata":{"name":"a"}}`:         true,
		`{"apiVersion":"v1","kind":"K","metadata":{"generateName":"a"}}`: false, // the name becomes axxxxx
	} {
		passes, valid := verdict(t, p, doc, program.Create)
		require.Equal(t, []bool{want, want}, []bool{passes, valid}, doc)
	}
}
