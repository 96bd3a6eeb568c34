package schema_test

import (
	"encoding/json"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/schema"
)

// BenchmarkJSON reads and writes the largest schema of the corpus, without reading YAML.
func BenchmarkJSON(b *testing.B) {
	var largest *schema.Structural
	var text []byte
	for file := range corpus.CRDs(b) {
		crds, err := schema.ParseCRD(file.Data)
		require.NoError(b, err, file.Name)
		for _, crd := range crds {
			for i := range crd.Versions {
				if js, err := jsonv2.Marshal(crd.Versions[i].Schema); err == nil && len(js) > len(text) {
					largest, text = crd.Versions[i].Schema, js
				}
			}
		}
	}
	run := func(name string, do func() error) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				require.NoError(b, do())
			}
		})
	}
	run("Parse", func() error { _, err := schema.Parse(text); return err })
	run("encoding_json/Unmarshal", func() error { var s schema.Structural; return json.Unmarshal(text, &s) })
	run("jsonv2/Unmarshal", func() error { var s schema.Structural; return jsonv2.Unmarshal(text, &s) })
	run("encoding_json/Marshal", func() error { _, err := json.Marshal(largest); return err })
	run("jsonv2/Marshal", func() error { _, err := jsonv2.Marshal(largest); return err })
}
