package decoder

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/schema"
)

// TestSkeletons prunes by the skeletons of the draft KEP's schemas, as its
// examples do.
func TestSkeletons(t *testing.T) {
	files, err := filepath.Glob("../testdata/skeleton/*.txtar")
	require.NoError(t, err)
	pruned := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		sections := map[string][]byte{}
		for _, f := range corpus.ParseArchive(data).Sections {
			sections[f.Name] = f.Data
		}
		in, ok := sections["in.json"]
		if !ok {
			continue
		}
		pruned++
		t.Run(filepath.Base(file), func(t *testing.T) {
			s, err := schema.Skeleton(sections["schema.json"])
			require.NoError(t, err)
			for _, dialect := range []schema.Semantics{schema.Deployed, schema.KEP} {
				p, err := schema.Compile(s, dialect, schema.ResourceRoot(false))
				require.NoError(t, err)
				out, err := New(p).AppendJSON(nil, in)
				if text, ok := sections["error.kep"]; ok && dialect == schema.KEP {
					assert.EqualError(t, err, strings.TrimSpace(string(text)))
					continue
				}
				require.NoError(t, err)
				assert.JSONEq(t, string(sections["want.json"]), string(out), dialect.String())
			}
		})
	}
	assert.GreaterOrEqual(t, pruned, 4, "examples with an object")
}
