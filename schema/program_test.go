package schema_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/schema"
)

// TestProgramsOfCases runs the programs of the schemas under testdata on the
// documents there, as JSON: the decoder's own tests have all other ways.
func TestProgramsOfCases(t *testing.T) {
	for _, c := range corpus.Load(t, "*/*") {
		for _, semantics := range c.Semantics {
			if c.JSON == nil {
				continue
			}
			t.Run(c.Name+"/"+semantics, func(t *testing.T) {
				s, err := schema.Parse(c.Schema)
				require.NoError(t, err)
				dialect, opts := schema.Kubernetes, []decoder.Option{decoder.AllowMissingKind(c.KindOptional)}
				switch semantics {
				case corpus.KEP:
					dialect = schema.KEP
				case corpus.Server:
					opts = append(opts, decoder.Kubernetes())
				case corpus.Storage:
					opts = append(opts, decoder.FromStorage())
				}
				if c.KindOptional {
					opts = append(opts, decoder.AllowMissingKind(true))
				}
				p, err := schema.Compile(s, schema.Semantics(dialect), schema.ResourceRoot(!c.ValueRoot))
				require.NoError(t, err)
				out, err := decoder.New(p, opts...).AppendJSON(nil, c.JSON)
				if c.Failure(semantics) != nil {
					require.Error(t, err)
					return
				}
				require.NoError(t, err)
				want, _ := c.Want(semantics)
				require.Equal(t, canonical(t, jsontext.Value(want)), canonical(t, jsontext.Value(out)))
			})
		}
	}
}
