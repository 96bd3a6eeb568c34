package counted

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestThree(t *testing.T) {
	for i := range 2 {
		assert.Less(t, i, 2)
	}
	require.True(t, true)
}

func TestNested(t *testing.T) {
	t.Run("a", func(t *testing.T) { assert.True(t, true) })
	t.Run("b", func(t *testing.T) { assert.False(t, false) })
}
