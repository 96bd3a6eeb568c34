package walk

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/skip"
)

// TestPathsShareTheirStart asserts that the steps of one path are reused for the next one.
func TestPathsShareTheirStart(t *testing.T) {
	w := newWalker(compileYAML(t, `
type: object
properties: {a: {type: array, items: {type: object, properties: {b: {type: object}}}}}
`), limits{})
	require.Equal(t, skip.Done, w.Walk(nil, []byte(`{"a":[{"b":{"u":1,"v":1}},{"w":1,"b":{"x":1}}]}`)))
	require.Len(t, w.Found.Records(), 4)
	require.Len(t, w.segments, len([]string{"a", "[1]", "b", "x"}))
}
