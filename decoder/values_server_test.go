package decoder

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// TestValuesAsServer validates values as the server reads them, and not as it writes them: 1.0 is no
// integer, and what normalisation leaves out of metadata is not there.
func TestValuesAsServer(t *testing.T) {
	s, err := schema.Parse([]byte(`{type: object, properties: {
  metadata: {type: object},
  a: {type: boolean},
  list: {type: array, x-kubernetes-list-type: set, items: {type: number}},
  resource: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true, enum: [1]},
}}`))
	require.NoError(t, err)
	p, err := schema.Compile(s, validation.Values())
	require.NoError(t, err)
	for _, c := range []struct {
		js     string
		want   []string
		result string // under ServerRequests
	}{
		{
			`{"kind":"A","metadata":{"name":"n"},"a":1.0,"list":[1.0,1]}`,
			[]string{`a: Invalid value: "number": a in body must be of type boolean: "number"`},
			`{"kind":"A","metadata":{"name":"n"},"a":1,"list":[1,1]}`,
		},
		{ // the server refuses the time
			`{"kind":"A","metadata":{"name":"","creationTimestamp":"x"}}`,
			[]string{`metadata.name: Required value: name or generateName is required`}, "",
		},
		{
			`{"kind":"A","metadata":null,"resource":{"apiVersion":"v1","kind":"A","metadata":{"name":"m","labels":{}}}}`,
			[]string{
				`metadata.name: Required value: name or generateName is required`,
				`resource: Unsupported value: {"apiVersion":"v1","kind":"A","metadata":{"name":"m"}}: supported values: "1"`,
			},
			`{"kind":"A","metadata":{},"resource":{"apiVersion":"v1","kind":"A","metadata":{"name":"m"}}}`,
		},
	} {
		for _, mode := range []ServerMode{Standalone, ServerRequests} {
			d := New(p, ValidateCreate, mode)
			out, err := d.AppendJSON(nil, []byte(c.js))
			if c.result == "" && mode != Standalone {
				require.ErrorAs(t, err, new(*errors.ObjectError))
				continue
			}
			var got []string
			for _, f := range d.Findings() {
				got = append(got, f.Error())
			}
			require.ErrorIs(t, err, errors.ErrInvalidValue)
			assert.Equal(t, c.want, got, "%s", mode)
			if mode != Standalone {
				assert.Equal(t, c.result, string(out))
			}
		}
	}
}

// TestValuesWithinBudget validates values with less and less memory, until there is enough.
func TestValuesWithinBudget(t *testing.T) {
	s, err := schema.Parse([]byte(`{type: object, properties: {list: {type: array, maxItems: 1, items: {type: string}}}}`))
	require.NoError(t, err)
	p, err := schema.Compile(s, validation.Values())
	require.NoError(t, err)
	js := []byte(`{"kind":"A","metadata":{"name":"n"},"list":[` + strings.Repeat(`"a",`, 10_000) + `"b"]}`)
	for room := 0; ; room += 16 << 10 {
		budget := &limitedBudget{room: room}
		d := New(p, ValidateCreate, WithBudget(budget))
		before := d.Cap()
		out, err := d.AppendJSON(nil, js)
		if err != errors.ErrBudget {
			require.ErrorIs(t, err, errors.ErrInvalidValue)
			assert.Greater(t, budget.most, 40*len(js))
			assert.InDelta(t, d.Cap()-before+cap(out), budget.taken, 4096)
			return
		}
		require.LessOrEqual(t, budget.taken, 96<<10, "with room for %d bytes", room)
		require.Empty(t, d.Findings())
	}
}
