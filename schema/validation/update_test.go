package validation

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// TestUpdate runs the cases of testdata/crd-update: what the server says when new.yaml is created,
// and when it replaces old.yaml.
func TestUpdate(t *testing.T) {
	files, err := filepath.Glob("../../testdata/crd-update/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		sections := sectionsOf(t, file)
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			c, old := oneDefinition(t, sections["new.yaml"]), oneDefinition(t, sections["old.yaml"])
			compareLines(t, schemaErrors(t, CRD(c)), string(sections["create"]))
			compareLines(t, schemaErrors(t, Update(c, old)), string(sections["update"]))
		})
	}
}

func oneDefinition(t *testing.T, manifest []byte) *schema.CRD {
	crds, err := schema.ParseCRD(manifest)
	require.NoError(t, err)
	require.Len(t, crds, 1)
	return crds[0]
}

func schemaErrors(t *testing.T, err error) errors.SchemaErrors {
	if err == nil {
		return nil
	}
	require.IsType(t, errors.SchemaErrors{}, err)
	return err.(errors.SchemaErrors)
}

// TestUpdateOfWhatCannotBeUpdated looks at definitions that are none, and at those with schemas that
// hold themselves.
func TestUpdateOfWhatCannotBeUpdated(t *testing.T) {
	c := &schema.CRD{Group: "example.com", Versions: []schema.Version{{Name: "v1", Schema: &schema.Structural{Type: "object"}}}}
	require.NoError(t, Update(c, &schema.CRD{OpenAPI: true}))
	require.NoError(t, Update(&schema.CRD{OpenAPI: true}, c))

	loop := &schema.Structural{Type: "object"}
	loop.Properties = map[string]*schema.Structural{"a": loop}
	old := &schema.CRD{Group: "example.com", Versions: []schema.Version{{Name: "v1", Schema: loop}}}
	require.ErrorContains(t, Update(c, old), "must not hold itself")
	require.ErrorContains(t, Update(old, c), "must not hold itself")
}

// TestStepsOfOldDefaults has so many defaults in the old definition that not all of them are looked
// at. What is not known excuses nothing.
func TestStepsOfOldDefaults(t *testing.T) {
	const depth = 90
	unpruned := func(n int) bool {
		s := &schema.Structural{Type: "object", Properties: map[string]*schema.Structural{}}
		for i := range n {
			s.Properties[fmt.Sprint(i)] = &schema.Structural{Type: "object", Default: json.RawMessage(`{"a":1}`)}
		}
		for range depth - 1 {
			s = &schema.Structural{Type: "object", Properties: map[string]*schema.Structural{"a": s}}
		}
		return hasUnprunedDefaults(s)
	}
	assert.True(t, unpruned(MaxDefaultSteps/depth))
	assert.False(t, unpruned(MaxDefaultSteps/depth+1))
}
