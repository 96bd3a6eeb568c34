package errors

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLimitNames holds that each limit has words of its own, in logs as well.
func TestLimitNames(t *testing.T) {
	seen := make(map[string]Limit)
	for l := LimitDepth; l <= LimitValidationSteps; l++ {
		require.NotEmpty(t, l.String(), "limit %d", uint8(l))
		require.NotContains(t, seen, l.String())
		seen[l.String()] = l
		text, err := json.Marshal(map[string]Limit{"a": l})
		require.NoError(t, err)
		assert.Equal(t, `{"a":"`+l.String()+`"}`, string(text))
	}
	assert.Equal(t, "depth of nesting", LimitDepth.String())
	assert.Equal(t, "alias bytes", LimitAliasBytes.String())
	assert.Equal(t, "limit(0)", Limit(0).String())
	assert.Equal(t, "limit(14)", (LimitValidationSteps + 1).String())
}
