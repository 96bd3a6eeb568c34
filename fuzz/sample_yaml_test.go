package fuzz

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/espalier-dev/espalier/sample"
)

// TestSampleYAML reads the YAML of objects that were made, with comments and without, as the API
// server reads it. The values are those of the JSON.
func TestSampleYAML(t *testing.T) {
	objects := 0
	for v := range realVersions(t) {
		m, err := sample.Of(v.crd, v.version.Name)
		require.NoError(t, err)
		for n := range uint64(5) {
			object := m.Mutated(sample.Bytes(n))
			if n == 0 {
				if object, err = m.Full(); err != nil {
					continue
				}
			}
			var want any
			require.NoError(t, json.Unmarshal(object, &want))
			for _, write := range []func([]byte) ([]byte, error){sample.YAML, m.Commented} {
				text, err := write(object)
				require.NoError(t, err)
				read, err := yaml.YAMLToJSON(text)
				require.NoError(t, err, "%s", text)
				var got any
				require.NoError(t, json.Unmarshal(read, &got))
				require.Equal(t, want, got, "%s\n%s", object, text)
			}
			objects++
		}
	}
	t.Logf("%d objects", objects)
}
