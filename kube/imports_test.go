package kube

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestImports asserts that an API server which links this package links nothing of what stands in
// front of servers, of the command, or of rules in CEL.
func TestImports(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	require.NoError(t, err)
	const root = "github.com/espalier-dev/espalier/"
	packages := strings.Fields(string(out))
	assert.Contains(t, packages, root+"decoder")
	for _, pkg := range packages {
		for _, not := range []string{root + "middleware", root + "request", root + "cel", root + "cmd/", "k8s.io/client-go", "github.com/stretchr/testify", "golang.org/x/tools"} {
			assert.False(t, strings.HasPrefix(pkg, not), pkg)
		}
	}
}
