package schema_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// describe writes a definition in the form of the files in testdata/crd.
func describe(t testing.TB, c *schema.CRD) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "document %d at %s: %s: %s %s %s %s %s %s", c.Document, c.Position, c.Name, c.Group, c.Kind, c.ListKind, c.Plural, c.Singular, c.Scope)
	if c.PreserveUnknownFields {
		b.WriteString(" preserve")
	}
	if c.ConversionWebhook {
		b.WriteString(" webhook")
	}
	b.WriteString("\n")
	for _, v := range c.Versions {
		b.WriteString("  " + v.Name)
		for flag, set := range []bool{v.Served, v.Storage, v.HasStatus} {
			if set {
				b.WriteString([]string{" served", " storage", " status"}[flag])
			}
		}
		if v.Scale != nil {
			fmt.Fprintf(&b, " scale %q %q", v.Scale.SpecReplicasPath, v.Scale.StatusReplicasPath)
			if v.Scale.LabelSelectorPath != nil {
				fmt.Fprintf(&b, " %q", *v.Scale.LabelSelectorPath)
			}
		}
		if v.Deprecated {
			fmt.Fprintf(&b, " deprecated %q", v.DeprecationWarning)
		}
		if v.Schema == nil {
			b.WriteString(" none\n")
		} else {
			b.WriteString(" " + canonical(t, v.Schema) + "\n")
		}
	}
	return b.String()
}

func TestParseCRD(t *testing.T) {
	for _, file := range files(t, "crd") {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			s := sections(t, file)
			manifest, ok := s["manifest.yaml"]
			if !ok {
				manifest = s["manifest.json"]
			}
			crds, err := schema.ParseCRD(manifest)
			if want, ok := s["error"]; ok {
				require.ErrorContains(t, err, strings.TrimSpace(string(want)))
				require.True(t, strings.HasPrefix(err.Error(), strings.TrimSpace(string(want))), err)
				require.Nil(t, crds)
				return
			}
			require.NoError(t, err)
			var got strings.Builder
			for _, c := range crds {
				got.WriteString(describe(t, c))
			}
			require.Equal(t, string(s["crds"]), got.String())
		})
	}
}

// TestParseCRDNulls: in v1beta1, too, a null in the place of a schema is the empty schema.
func TestParseCRDNulls(t *testing.T) {
	crds, err := schema.ParseCRD([]byte(`{apiVersion: apiextensions.k8s.io/v1beta1, kind: CustomResourceDefinition,
  spec: {version: v1, validation: {openAPIV3Schema: {properties: {a: null}}}}}`))
	require.NoError(t, err)
	require.Equal(t, &schema.Structural{Properties: map[string]*schema.Structural{"a": {}}}, crds[0].Versions[0].Schema)
}

func TestParseCRDNothing(t *testing.T) {
	for _, in := range []string{"", "\n# nothing\n", "---\n---\n", "null", "[]", `{"kind": "List"}`, `{"kind": "List", "items": 5}`, `{"kind": "List", "items": [[{}]]}`, "5"} {
		crds, err := schema.ParseCRD([]byte(in))
		require.NoError(t, err, "%q", in)
		require.Empty(t, crds, "%q", in)
	}
}

// Finding the position of each definition must not count all lines before it.
func TestParseCRDIsLinear(t *testing.T) {
	const item = `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"},`
	crds, err := schema.ParseCRD([]byte(`{"kind": "List", "items": [` + strings.Repeat(item, 20_000) + `{}]}`))
	require.NoError(t, err)
	require.Len(t, crds, 20_000)
	require.Equal(t, "1:"+fmt.Sprint(1+len(`{"kind": "List", "items": [`)+19_999*len(item)), crds[19_999].Position.String())
}

// Every third-party definition is read, is valid, compiles, and is marshalled as it was written.
func TestCorpusCRDs(t *testing.T) {
	var definitions, schemas int
	for file := range corpus.CRDs(t) {
		crds, err := schema.ParseCRD(file.Data)
		require.NoError(t, err, file.Name)
		want := rawSchemas(t, file.Data)
		for _, c := range crds {
			definitions++
			require.NoError(t, validation.CRD(c), "%s: %s", file.Name, c.Name)
			for _, v := range c.Versions {
				schemas++
				require.NotNil(t, v.Schema, "%s: %s", file.Name, c.Name)
				_, err := schema.Compile(v.Schema)
				require.NoError(t, err, "%s: %s", file.Name, c.Name)
				js, err := json.Marshal(dropUnknown(want[c.Name+"/"+v.Name]))
				require.NoError(t, err)
				require.Equal(t, canonical(t, js), canonical(t, v.Schema), "%s: %s", file.Name, c.Name)
			}
		}
	}
	require.Equal(t, 201, definitions)
	require.Equal(t, 240, schemas)
}

// rawSchemas reads the schemas of a manifest of v1 with another reader.
func rawSchemas(t testing.TB, manifest []byte) map[string]any {
	t.Helper()
	schemas := map[string]any{}
	d := yaml.NewDecoder(strings.NewReader(string(manifest)))
	for {
		var m struct {
			Metadata struct{ Name string }
			Spec     struct {
				Versions []struct {
					Name   string
					Schema struct {
						OpenAPIV3Schema any `yaml:"openAPIV3Schema"`
					}
				}
			}
		}
		if err := d.Decode(&m); err != nil {
			return schemas
		}
		for _, v := range m.Spec.Versions {
			schemas[m.Metadata.Name+"/"+v.Name] = v.Schema.OpenAPIV3Schema
		}
	}
}

func ExampleParseCRD() {
	crds, err := schema.ParseCRD([]byte(`
apiVersion: v1
kind: Namespace
metadata: {name: garden}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: trees.garden.example.com
spec:
  group: garden.example.com
  scope: Namespaced
  names: {plural: trees, kind: Tree}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: array}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range crds {
		fmt.Println(c.Group, c.Kind, c.Versions[0].Name, "at line", c.Position.Line)
		fmt.Println(validation.CRD(c))
	}
	// Output:
	// garden.example.com Tree v1 at line 6
	// spec.validation.openAPIV3Schema.properties[spec].items: Required value: must be specified
}
