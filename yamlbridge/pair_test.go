package yamlbridge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// The copies of merge keys are limited in mappings of one member without braces as well.
func TestMergesInPairs(t *testing.T) {
	const each = 3000
	doc := func(n int) []byte {
		return []byte("a: &a {k: " + strings.Repeat("x", each) + "}\nb: [" + strings.Repeat("<<: *a, ", n) + "c]\n")
	}
	var r yamlbridge.Reader
	_, err := r.AppendJSON(nil, doc(yamlbridge.MaxAliasBytes/(each+100)))
	require.NoError(t, err)
	_, err = r.AppendJSON(nil, doc(yamlbridge.MaxAliasBytes/each))
	var limit *errors.LimitError
	require.ErrorAs(t, err, &limit)
	require.Equal(t, errors.LimitAliasBytes, limit.Limit)
}
