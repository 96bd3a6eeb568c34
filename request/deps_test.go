package request_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNoHTTP holds that judging bodies does not depend on the protocol that carries them.
func TestNoHTTP(t *testing.T) {
	list, err := exec.Command("go", "list", "-deps", ".").Output()
	require.NoError(t, err)
	deps := strings.Fields(string(list))
	assert.Contains(t, deps, "net/url")
	for _, dep := range deps {
		assert.False(t, dep == "net/http" || strings.HasPrefix(dep, "net/http/"), dep)
	}
}
