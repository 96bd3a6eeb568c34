package origin

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

const definitions = `# Two documents, of which one is a List.
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Namespace}
- apiVersion: apiextensions.k8s.io/v1
  kind: CustomResourceDefinition
  metadata: {name: a}
  spec:
    versions:
    - name: v1
      schema: {openAPIV3Schema: {type: object, properties: {x: {type: string}}}}
---
apiVersion: apiextensions.k8s.io/v1beta1
kind: CustomResourceDefinition
metadata: {name: b}
spec:
  versions: [{name: v1}]
  validation: {openAPIV3Schema: {type: object, properties: {z: {type: string}}}}
`

// TestPositions: places are found in documents and Lists. What does not exist has the place of what
// is around it.
func TestPositions(t *testing.T) {
	crds, err := schema.ParseCRD([]byte(definitions))
	require.NoError(t, err)
	require.Len(t, crds, 2)
	lines := strings.Split(definitions, "\n")
	want := map[string]map[string]string{
		"a": {
			"":              "apiVersion: apiextensions.k8s.io/v1",
			"metadata name": "name: a}",
			"spec versions 0 schema openAPIV3Schema properties x type":  "type: string}",
			"spec validation openAPIV3Schema properties x":              "x: {",
			"spec versions 0 schema openAPIV3Schema properties novelty": "properties: {x",
			"spec versions 1 schema openAPIV3Schema":                    "versions:",
			"status":                                                    "apiVersion: apiextensions.k8s.io/v1",
		},
		"b": {
			"spec versions 0 schema openAPIV3Schema properties z": "z: {",
			"spec versions 0 name":                                "name: v1}]",
			"spec scope":                                          "spec:",
		},
	}
	seen := 0
	Positions("list.yaml", []byte(definitions), crds, func(crd *schema.CRD, at func([]string) errors.Position) {
		for path, start := range want[crd.Name] {
			p := at(strings.Fields(path))
			require.True(t, p.IsValid(), path)
			assert.True(t, strings.HasPrefix(lines[p.Line-1][p.ByteColumn-1:], start), "%s %s: %v", crd.Name, path, p)
			seen++
		}
	})
	assert.Equal(t, 10, seen)
}

// TestPositionsInTemplates: lines that have nothing but actions count.
func TestPositionsInTemplates(t *testing.T) {
	const chart = "{{- if .Values.crds }}\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n{{- if .Values.keep }}\n  annotations: {a: b}\n{{- end }}\n  name: a\n{{- end }}\n"
	crd := &schema.CRD{Name: "a", Document: 1}
	var found []errors.Position
	Positions("chart.yaml", []byte(chart), []*schema.CRD{crd}, func(_ *schema.CRD, at func([]string) errors.Position) {
		found = append(found, at([]string{"metadata", "name"}))
	})
	require.Len(t, found, 1)
	assert.Equal(t, 8, found[0].Line)
	Positions("chart.yaml", []byte("a: ["), []*schema.CRD{crd}, func(*schema.CRD, func([]string) errors.Position) {
		t.Error("there is no definition")
	})
}
