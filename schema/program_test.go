package schema_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// TestProgramsOfCases runs the programs of the schemas under testdata on the documents there, as
// JSON, without validations and with them. The decoder's own tests cover all other entry points.
func TestProgramsOfCases(t *testing.T) {
	for _, c := range corpus.Load(t, "*/*") {
		for _, semantics := range c.Semantics {
			if c.JSON == nil {
				continue
			}
			t.Run(c.Name+"/"+semantics, func(t *testing.T) {
				s, err := schema.Parse(c.Schema)
				require.NoError(t, err)
				rules, mode := schema.Deployed, decoder.Standalone
				switch {
				case semantics == corpus.KEP:
					rules = schema.KEP
				case semantics == corpus.Server && c.KindOptional:
					mode = decoder.ServerTypedRequests
				case semantics == corpus.Server:
					mode = decoder.ServerRequests
				case semantics == corpus.Storage:
					mode = decoder.ServerStorage
				}
				for _, opts := range [][]schema.Option{nil, {validation.Values()}} {
					p, err := schema.Compile(s, append(opts, rules, schema.ResourceRoot(!c.ValueRoot))...)
					require.NoError(t, err)
					out, err := decoder.New(p, mode).AppendJSON(nil, c.JSON)
					if c.Failure(semantics) != nil {
						require.Error(t, err)
						continue
					}
					require.NoError(t, err)
					want, _ := c.Want(semantics)
					require.Equal(t, canonical(t, jsontext.Value(want)), canonical(t, jsontext.Value(out)))
				}
			})
		}
	}
}
