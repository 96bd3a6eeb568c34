package validation

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/schema"
)

// TestCRD runs the cases of testdata/crd that have the server's errors for a definition.
func TestCRD(t *testing.T) {
	files, err := filepath.Glob("../../testdata/crd/*.txtar")
	require.NoError(t, err)
	compared := 0
	for _, file := range files {
		sections := sectionsOf(t, file)
		want, ok := sections["validate"]
		if !ok {
			continue
		}
		compared++
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			crds, err := schema.ParseCRD(append(sections["manifest.yaml"], sections["manifest.json"]...))
			require.NoError(t, err)
			var faults errors.SchemaErrors
			for _, c := range crds {
				faults = append(faults, schemaErrors(t, CRD(c))...)
			}
			compareLines(t, faults, string(want))
		})
	}
	require.Greater(t, compared, 3)
}

func sectionsOf(t *testing.T, file string) map[string][]byte {
	archive, err := corpus.ReadArchive(file)
	require.NoError(t, err)
	sections := make(map[string][]byte)
	for _, s := range archive.Sections {
		sections[s.Name] = s.Data
	}
	return sections
}
