package schema_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/schema"
)

// canonical returns JSON in a form in which equal values are equal bytes.
func canonical(t testing.TB, v any) string {
	t.Helper()
	js, ok := v.([]byte)
	if !ok {
		var err error
		js, err = json.Marshal(v)
		require.NoError(t, err)
	}
	c := jsontext.Value(js).Clone()
	require.NoError(t, c.Canonicalize(), "%s", js)
	return string(c)
}

// sections returns the sections of a txtar file by their names.
func sections(t testing.TB, file string) map[string][]byte {
	t.Helper()
	a, err := corpus.ReadArchive(file)
	require.NoError(t, err)
	require.NotEmpty(t, a.Comment, "%s: no comment says what it shows", file)
	m := map[string][]byte{}
	for _, f := range a.Sections {
		m[f.Name] = f.Data
	}
	return m
}

// files returns the txtar files of a folder of testdata.
func files(t testing.TB, folder string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("..", "testdata", folder, "*.txtar"))
	require.NoError(t, err)
	require.NotEmpty(t, names)
	return names
}

func errorLines(err error) []string {
	list, ok := err.(errors.SchemaErrors)
	if !ok {
		return []string{err.Error()}
	}
	var lines []string
	for _, e := range list {
		lines = append(lines, e.Error())
	}
	return lines
}

func TestSkeleton(t *testing.T) {
	for _, file := range files(t, "skeleton") {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			s := sections(t, file)
			skeleton, err := schema.Skeleton(s["schema.json"])
			if want, ok := s["errors"]; ok {
				require.Error(t, err)
				require.Nil(t, skeleton)
				require.Equal(t, strings.TrimSpace(string(want)), strings.Join(errorLines(err), "\n"))
				return
			}
			require.NoError(t, err)
			require.Equal(t, canonical(t, s["skeleton.json"]), canonical(t, skeleton))
			checkSkeletonLaws(t, s["schema.json"], skeleton)
		})
	}
}

// checkSkeletonLaws checks the properties of all skeletons.
func checkSkeletonLaws(t testing.TB, source []byte, skeleton *schema.Structural) {
	t.Helper()
	js, err := json.Marshal(skeleton, json.Deterministic(true))
	require.NoError(t, err)
	again, err := schema.Skeleton(js)
	require.NoError(t, err, "skeleton of %s", js)
	require.Equal(t, skeleton, again, "the skeleton of a skeleton is the same")
	parsed, err := schema.Parse(source)
	require.NoError(t, err)
	full, err := json.Marshal(parsed)
	require.NoError(t, err)
	if !strings.Contains(string(source), "no-prun") {
		require.LessOrEqual(t, len(js), len(full), "size(skel(s)) <= size(s)")
	}
}

// The skeleton of a structural schema has all fields of the core, and compiles.
func TestSkeletonOfCorpus(t *testing.T) {
	n := 0
	for file := range corpus.CRDs(t) {
		crds, err := schema.ParseCRD(file.Data)
		require.NoError(t, err, file.Name)
		for _, crd := range crds {
			for _, v := range crd.Versions {
				js, err := json.Marshal(v.Schema)
				require.NoError(t, err)
				skeleton, err := schema.Skeleton(js)
				require.NoError(t, err, "%s %s", crd.Name, v.Name)
				requireCore(t, v.Schema, skeleton)
				checkSkeletonLaws(t, js, skeleton)
				n++
			}
		}
	}
	require.Equal(t, 240, n)
}

// requireCore requires that got has the core of want.
func requireCore(t testing.TB, want, got *schema.Structural) {
	t.Helper()
	require.NotNil(t, got)
	require.Equal(t, want.Default, got.Default)
	require.Equal(t, want.Nullable, got.Nullable)
	require.Equal(t, want.XIntOrString, got.XIntOrString)
	require.Equal(t, want.XEmbeddedResource, got.XEmbeddedResource)
	require.Equal(t, want.XPreserveUnknownFields, got.XPreserveUnknownFields)
	for name, s := range want.Properties {
		requireCore(t, s, got.Properties[name])
	}
	if want.Items != nil {
		require.NotNil(t, got.Items)
		requireCore(t, want.Items.Schema, got.Items.Schema)
	}
	if want.AdditionalProperties != nil && want.AdditionalProperties.Schema != nil {
		require.NotNil(t, got.AdditionalProperties)
		requireCore(t, want.AdditionalProperties.Schema, got.AdditionalProperties.Schema)
	}
}

// TestSkeletonIsLinear holds that memory, and with it time, is in proportion to the definition.
// Computed literally, from the bottom up, the definition costs the product of depth and size, and
// of branches and size if a schema is merged with lists.
func TestSkeletonIsLinear(t *testing.T) {
	var fields strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&fields, `"f%d": {"type": "string"},`, i)
	}
	inner := `{"properties": {` + fields.String() + `"last": {}}}`
	const depth = 3000
	shapes := map[string]string{
		"junctors":    strings.Repeat(`{"properties": {"x": {}}, "anyOf": [`, depth) + inner + strings.Repeat(`]}`, depth),
		"not":         strings.Repeat(`{"not": `, depth) + inner + strings.Repeat(`}`, depth),
		"fields":      strings.Repeat(`{"anyOf": [{"properties": {"x": {}}}], "properties": {"x": `, depth) + inner + strings.Repeat(`}}`, depth),
		"list":        `{"items": ` + inner + `, "anyOf": [{"items": [{}` + strings.Repeat(`, {}`, depth) + `]}]}`,
		"errors":      strings.Repeat(`{"properties": {"a": {}}, "additionalProperties": `, depth) + inner + strings.Repeat(`}`, depth),
		"no pruning":  strings.Repeat(`{"x-kubernetes-no-prune": true, "items": `, depth) + inner + strings.Repeat(`}`, depth),
		"many null":   `{"allOf": [null` + strings.Repeat(`, null`, 50_000) + `]}`,
		"many fields": `{"allOf": [` + strings.Repeat(`{"properties": {"a": {"type": "string"}, "b": null}},`, 20_000) + `{}]}`,
	}
	for name, js := range shapes {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _ = schema.Skeleton([]byte(js))
			runtime.ReadMemStats(&after)
			assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(256*len(js)),
				"allocated for %d bytes", len(js))
		})
	}
}

func TestSkeletonErrors(t *testing.T) {
	_, err := schema.Skeleton([]byte("properties:\n  a: 5\n"))
	var syntax *errors.SyntaxError
	require.ErrorAs(t, err, &syntax)
	require.Equal(t, `2:6: must be an object, not a number in "properties.a"`, err.Error())
	for _, in := range []string{"", "{", "a: b: c"} {
		_, err = schema.Skeleton([]byte(in))
		require.ErrorAs(t, err, &syntax, in)
	}

	// Errors are bounded.
	bad := `{"properties": {"a": {}}, "additionalProperties": true}`
	_, err = schema.Skeleton([]byte(`{"items": [` + strings.Repeat(bad+",", 1000) + bad + `]}`))
	require.Len(t, err, 100)
	long := `{"properties": {"` + strings.Repeat("n", 1<<19) + `": {"$ref": "a", "allOf": [{"$ref": "b"}, {"$ref": "c"}]}}}`
	_, err = schema.Skeleton([]byte(long))
	require.Len(t, err, 2, "paths of half a megabyte each")
}

func ExampleSkeleton() {
	s, err := schema.Skeleton([]byte(`
properties:
  replicas: {type: integer, minimum: 0}
oneOf:
- properties:
    image: {type: string}
- properties:
    build:
      properties:
        context: {type: string}
  required: [build]
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	json.MarshalWrite(os.Stdout, s, json.Deterministic(true), jsontext.WithIndent("  "))
	// Output:
	// {
	//   "properties": {
	//     "build": {
	//       "properties": {
	//         "context": {
	//           "type": "string"
	//         }
	//       }
	//     },
	//     "image": {
	//       "type": "string"
	//     },
	//     "replicas": {
	//       "type": "integer"
	//     }
	//   }
	// }
}

// TestSkeletonNulls has nulls in the place of schemas before a member that is found in the text: they are read
// over.
func TestSkeletonNulls(t *testing.T) {
	for _, before := range []string{
		`"properties": null`, `"patternProperties": null`, `"additionalProperties": null`, `"items": null`, `"not": null`, `"allOf": null`, `"anyOf": null`, `"oneOf": null`,
		`"properties": {"a": null}`, `"allOf": [null]`, `"title": null`, `"additionalProperties": true`,
	} {
		s, err := schema.Skeleton([]byte(`{` + before + `, "x-kubernetes-no-prune": true}`))
		require.NoError(t, err, before)
		require.NotNil(t, s.XPreserveUnknownFields, before)
	}
	// A list of items of the core is one of several sources: what only it preserves would be lost.
	_, err := schema.Skeleton([]byte(`{"items": [{"x-kubernetes-preserve-unknown-fields": true}], "allOf": [{"items": {"type": "string"}}]}`))
	require.EqualError(t, err, "openAPIV3Schema.items[0].x-kubernetes-preserve-unknown-fields: Forbidden: must not be used in allOf, anyOf, oneOf or not")
}
