package fuzz

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCommandExamples makes examples of the built-in kinds of Kubernetes. The command finds nothing
// wrong with them.
func TestCommandExamples(t *testing.T) {
	made := 0
	for e := range openAPICatalog(t).All() {
		if e.Kind == "CustomResourceDefinition" {
			continue // which check validates as a definition, and not only by its schema
		}
		name := filepath.Join(t.TempDir(), "example.yaml")
		require.NoError(t, os.WriteFile(name, espalier(t, 0, "schema", "example", "--openapi", e.CRD.File, e.APIVersion, e.Kind), 0o666))
		assert.Empty(t, string(espalier(t, 0, "check", "-q", "--fail-on", "warning", "--openapi", e.CRD.File, name)), e.Kind)
		made++
	}
	assert.Greater(t, made, 80)
}
