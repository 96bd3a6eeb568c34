package examine

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/schemas"
	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/schema"
)

// TestCompressedBombs wants input that is small and becomes much to be refused before it
// has, in each form that is read.
func TestCompressedBombs(t *testing.T) {
	for name, text := range map[string]string{
		"a.yaml.gz":   "# " + strings.Repeat(" ", 1023) + "\n",
		"a.json.gz":   strings.Repeat(" ", 1024),
		"a.ndjson.gz": strings.Repeat("\n", 1024),
	} {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		for range 80 << 10 {
			_, err := w.Write([]byte(text))
			require.NoError(t, err)
		}
		require.NoError(t, w.Close())
		require.Less(t, packed.Len()*100, 80<<20, "it is to become more than a hundred times its size")
		s, err := schemas.Load(schemas.Sources{})
		require.NoError(t, err)
		e := New(&Settings{Loaded: s, Validation: decoder.Strict})
		var found []finding.Finding
		e.Input(name, &packed, func(o *Object) bool {
			found = append(found, o.Findings...)
			return true
		})
		require.Len(t, found, 1, name)
		assert.Equal(t, finding.RuleLimit, found[0].Rule, name)
		assert.Contains(t, found[0].Message, "size of a compressed input in bytes, decompressed, exceeds the limit of ")
	}
}

// TestCompressedInputs has as much as is in order.
func TestCompressedInputs(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	const objects = 300_000 // 36 MB, which becomes a hundredth or less
	for range objects {
		_, err := w.Write([]byte(`{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"things-are-all-the-same-here-and-there","x":"y"}}` + "\n"))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	s, err := schemas.Load(schemas.Sources{}, schema.CheckTypes(true))
	require.NoError(t, err)
	set := &Settings{Loaded: s, Validation: decoder.Strict}
	set.IgnoreMissing = true
	n := 0
	New(set).Input("a.ndjson.gz", &packed, func(o *Object) bool {
		assert.Empty(t, o.Findings)
		n++
		return true
	})
	assert.Equal(t, objects, n)
}
