package decoder_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// TestValuesAsServer validates values as the server reads them, and not as it writes them: 1.0 is no
// integer, although it becomes 1.
func TestValuesAsServer(t *testing.T) {
	s, err := schema.Parse([]byte(`{type: object, properties: {
  a: {type: boolean},
  list: {type: array, x-kubernetes-list-type: set, items: {type: number}},
}}`))
	require.NoError(t, err)
	p, err := schema.Compile(s, validation.Values())
	require.NoError(t, err)
	for _, c := range []struct {
		js     string
		want   []string
		result string // under decoder.ServerRequests
	}{
		{
			`{"kind":"A","metadata":{"name":"n"},"a":1.0,"list":[1.0,1]}`,
			[]string{`a: Invalid value: "number": a in body must be of type boolean: "number"`},
			`{"kind":"A","metadata":{"name":"n"},"a":1,"list":[1,1]}`,
		},
	} {
		for _, mode := range []decoder.ServerMode{decoder.Standalone, decoder.ServerRequests} {
			d := decoder.New(p, decoder.ValidateCreate, mode)
			out, err := d.AppendJSON(nil, []byte(c.js))
			var got []string
			for _, f := range d.Findings() {
				got = append(got, f.Error())
			}
			require.ErrorIs(t, err, errors.ErrInvalidValue)
			assert.Equal(t, c.want, got, "%s", mode)
			if mode != decoder.Standalone {
				assert.Equal(t, c.result, string(out))
			}
		}
	}
}
