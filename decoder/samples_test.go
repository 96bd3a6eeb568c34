package decoder

import (
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// TestSamples decodes every real resource for which there is a definition.
func TestSamples(t *testing.T) {
	for _, dialect := range []schema.Semantics{schema.Deployed, schema.KEP} {
		t.Run(dialect.String(), func(t *testing.T) {
			all := schema.NewCatalog(dialect)
			require.NoError(t, all.AddPath(filepath.Join(corpus.Dir(t), "crds")))
			catalog := map[string]schema.Entry{}
			for e := range all.All() {
				catalog[e.APIVersion+" "+e.Kind] = e
			}
			objects, mismatched := 0, 0
			for file := range corpus.Samples(t) {
				for doc := range yamlbridge.Documents(file.Data) {
					if program := programFor(t, catalog, doc.Bytes); program != nil {
						objects++
						if !checkSample(t, program, file.Name, doc.Bytes) {
							mismatched++
						}
					}
				}
			}
			assert.Equal(t, 737, objects)
			// The annotations of one resource are a string: it is a template.
			if dialect == schema.Deployed {
				assert.Equal(t, 1, mismatched)
			}
			t.Logf("%d objects, %d of them with values of a wrong type", objects, mismatched)
		})
	}
}

// programFor returns the program for a document, of a version that is served or not, or nil if
// there is none.
func programFor(t *testing.T, catalog map[string]schema.Entry, doc []byte) *schema.Program {
	js, err := yamlbridge.AppendJSON(nil, doc)
	require.NoError(t, err)
	apiVersion, kind, err := PeekType(js)
	require.NoError(t, err)
	entry, ok := catalog[apiVersion+" "+kind]
	if !ok {
		return nil
	}
	program, err := entry.Program()
	require.NoError(t, err)
	return program
}

// writeYAML writes a JSON text as YAML in block style, with its members in the same order.
func writeYAML(t *testing.T, js []byte) []byte {
	var n yaml.Node
	require.NoError(t, yaml.Unmarshal(js, &n))
	var block func(n *yaml.Node)
	block = func(n *yaml.Node) {
		if n.Style &^= yaml.FlowStyle; n.Kind == yaml.ScalarNode && n.Tag == "!!str" {
			n.Style = yaml.DoubleQuotedStyle // dialects disagree about which plain scalars are strings
		}
		for _, below := range n.Content {
			block(below)
		}
	}
	block(&n)
	out, err := yaml.Marshal(&n)
	require.NoError(t, err)
	return out
}

// checkSample reports whether a document has a result, and checks the result. Only values of wrong
// types may prevent one.
func checkSample(t *testing.T, program *schema.Program, name string, doc []byte) bool {
	d := New(program)
	out, err := d.AppendYAML(nil, doc)
	findings := d.Findings()
	for i := range findings {
		assert.True(t, findings[i].Position.IsValid(), name)
	}
	js, errJSON := yamlbridge.AppendJSON(nil, doc)
	require.NoError(t, errJSON)
	fromJSON, errJSON := New(program).AppendJSON(nil, js)
	assert.Equal(t, string(out), string(fromJSON), "%s: JSON and YAML differ", name)
	// The object is decoded from two other forms of YAML: from JSON, and from the output of another
	// library.
	fromFlow, _ := New(program).AppendYAML(nil, js)
	assert.Equal(t, string(out), string(fromFlow), "%s: block and flow style differ", name)
	fromWritten, _ := New(program).AppendYAML(nil, writeYAML(t, js))
	assert.Equal(t, string(out), string(fromWritten), "%s: written YAML differs", name)
	if err != nil {
		var mismatch *errors.TypeError
		assert.ErrorAs(t, err, &mismatch, name)
		assert.ErrorAs(t, errJSON, &mismatch, name)
		return false
	}
	assert.True(t, jsontext.Value(out).IsValid(), name)
	again, err := d.AppendJSON(nil, out)
	assert.NoError(t, err, name)
	assert.Empty(t, d.Findings(), name)
	assert.Equal(t, string(out), string(again), "%s: decoding a result changes it", name)
	return true
}
