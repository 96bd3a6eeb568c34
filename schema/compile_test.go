package schema

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/internal/program"
)

func parseText(t testing.TB, text string) *Structural {
	t.Helper()
	s, err := Parse([]byte(text))
	require.NoError(t, err)
	return s
}

// TestListings compares programs with listings that were written by hand.
func TestListings(t *testing.T) {
	files, err := filepath.Glob("../testdata/compile/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		sections := map[string]string{}
		for _, f := range corpus.ParseArchive(data).Sections {
			sections[f.Name] = string(f.Data)
		}
		for name, opts := range map[string][]Option{
			"kubernetes":    {ResourceRoot(false)},
			"kep":           {ResourceRoot(false), KEP},
			"types checked": {ResourceRoot(false), CheckTypes(true)},
			"resource":      {},
			"preserving":    {ResourceRoot(false), PreserveUnknownFields(true)},
		} {
			want, ok := sections[name]
			if !ok {
				continue
			}
			t.Run(filepath.Base(file)+"/"+name, func(t *testing.T) {
				p, err := Compile(parseText(t, sections["schema.yaml"]), opts...)
				require.NoError(t, err)
				assert.Equal(t, want, p.String())
			})
		}
	}
}

func TestCompileEmbeddedMetadata(t *testing.T) {
	// A part of a default for metadata that ObjectMeta does not have, or has with another type, is
	// dropped (defaulting.PruneDefaults of the server).
	p, err := Compile(parseText(t, `
type: object
properties:
  e:
    type: object
    x-kubernetes-embedded-resource: true
    x-kubernetes-preserve-unknown-fields: true
    default: {apiVersion: v1, kind: 5, metadata: {name: test, junk: 1, finalizers: 5, labels: {a: b}}, other: {x: 1}}
    properties:
      metadata:
        type: object
        properties:
          namespace: {type: string, default: ns}
          labels: {type: object, additionalProperties: {type: string}}
`))
	require.NoError(t, err)
	e := program.Of(p).Root.Find([]byte("e"))
	require.NotNil(t, e)
	assert.JSONEq(t, `{"apiVersion":"v1","metadata":{"name":"test","labels":{"a":"b"},"namespace":"ns"},"other":{"x":1}}`, e.Default)
}

func TestCompileErrors(t *testing.T) {
	var errs errors.SchemaErrors
	_, err := Compile(parseText(t, `{type: object, properties: {a: {type: object, properties: {b: {type: string, default: 5}}}}}`), KEP)
	require.ErrorAs(t, err, &errs)
	assert.EqualError(t, err, `openAPIV3Schema.properties[a].properties[b].default: Invalid value: 5: must be of type string`)

	// No API server reads these, and no decoder lets them pass.
	for _, c := range []struct{ value, msg string }{
		{`1e400`, "must not hold a number beyond the range of float64"},
		{`{"metadata":{"name":"a","finalizers":[1e400]}}`, "must not hold a number beyond the range of float64"},
		{strings.Repeat("9", 400), "must not hold a number beyond the range of float64"},
		{`{"a":`, "must be JSON: "},
	} {
		_, err = Compile(&Structural{Type: "object", Properties: map[string]*Structural{
			"a": {Type: "object", XEmbeddedResource: true, XPreserveUnknownFields: new(true), Default: []byte(c.value)},
		}})
		require.ErrorAs(t, err, &errs)
		assert.ErrorContains(t, err, "openAPIV3Schema.properties[a].default: Invalid value: ")
		assert.ErrorContains(t, err, c.msg)
	}

	// Defaults within defaults multiply: three levels of a thousand each.
	var b strings.Builder
	thousand := "[" + strings.Repeat("{},", 999) + "{}]"
	for range 3 {
		b.WriteString(`{type: array, default: ` + thousand + `, items: {type: object, properties: {l: `)
	}
	b.WriteString(`{type: string, default: abc}` + strings.Repeat("}}}", 3))
	_, err = Compile(parseText(t, `{type: object, properties: {l: `+b.String()+`}}`))
	require.ErrorAs(t, err, &errs)
	assert.ErrorContains(t, err, "must not grow beyond 16 MiB")

	// The tree is not one: a default contains itself.
	s := parseText(t, `{type: object, properties: {a: {type: object, default: {}}}}`)
	s.Properties["a"].Properties = map[string]*Structural{"a": s.Properties["a"]}
	for _, value := range []string{`{}`, `{"a":null}`} {
		s.Properties["a"].Default = []byte(value)
		_, err = Compile(s)
		require.ErrorAs(t, err, &errs)
		assert.ErrorContains(t, err, "must not contain itself")
	}
}

// TestCompileWide has a default that names each of many fields, and fields whose names agree at
// both ends.
func TestCompileWide(t *testing.T) {
	const fields = 40_000
	s := &Structural{Type: "object", Properties: map[string]*Structural{}}
	wide := &Structural{Type: "object", Properties: map[string]*Structural{}}
	s.Properties["a"] = wide
	value := []byte{'{'}
	for i := range fields {
		name := fmt.Sprintf("prefix00-%05d-suffix00", i)
		wide.Properties[name] = &Structural{Type: "string", Default: []byte(`"absent"`)}
		value = fmt.Appendf(value, "%q:\"y\",", name)
	}
	wide.Default = append(value[:len(value)-1], '}')
	p, err := Compile(s)
	require.NoError(t, err)
	assert.Len(t, p.FieldNames(errors.Path{}.Child("a")), fields)
	assert.Len(t, program.Of(p).Root.Find([]byte("a")).Default, len(wide.Default))
}

// TestCompileLoops has a schema that contains itself: trees are built from references.
func TestCompileLoops(t *testing.T) {
	s := parseText(t, `{type: object, properties: {name: {type: string}}}`)
	s.Properties["child"] = s
	s.Properties["children"] = &Structural{Type: "array", Items: &SchemaOrArray{Schema: s}}
	for _, dialect := range []Semantics{Deployed, KEP} {
		p, err := Compile(s, dialect, ResourceRoot(false))
		require.NoError(t, err)
		path := errors.Path{}.Child("child").Child("children").Element(3).Child("child")
		assert.Equal(t, []string{"child", "children", "name"}, p.FieldNames(path))
	}
	loop := &Structural{Type: "array"}
	loop.Items = &SchemaOrArray{Schema: loop}
	_, err := Compile(loop, ResourceRoot(false))
	require.NoError(t, err)
}

func TestFieldNames(t *testing.T) {
	p, err := Compile(parseText(t, `
type: object
properties:
  spec: {type: object, properties: {b: {type: string}, a: {type: string, default: x}}}
  list: {type: array, items: {type: object, properties: {z: {type: string}}}}
  map: {type: object, additionalProperties: {type: object, properties: {inner: {type: string}}}}
`))
	require.NoError(t, err)
	root := errors.Path{}
	assert.Equal(t, []string{"apiVersion", "kind", "list", "map", "metadata", "spec"}, p.FieldNames(root))
	assert.Equal(t, []string{"a", "b"}, p.FieldNames(root.Child("spec")))
	assert.Equal(t, []string{"z"}, p.FieldNames(root.Child("list").Element(7)))
	assert.Equal(t, []string{"inner"}, p.FieldNames(root.Child("map").Child("any")))
	assert.Contains(t, p.FieldNames(root.Child("metadata")), "ownerReferences")
	assert.Nil(t, p.FieldNames(root.Child("unknown")))
	assert.Nil(t, p.FieldNames(root.Child("spec").Child("b")))
}

// TestCompileCorpus compiles all real schemas under both dialects.
func TestCompileCorpus(t *testing.T) {
	versions := 0
	for _, crd := range corpusDefinitions(t) {
		for i := range crd.Versions {
			versions++
			for _, dialect := range []Semantics{Deployed, KEP} {
				_, err := Compile(crd.Versions[i].Schema, dialect)
				assert.NoError(t, err, "%s %s", crd.Name, crd.Versions[i].Name)
			}
		}
	}
	assert.Equal(t, 240, versions)
}

func corpusDefinitions(t testing.TB) (all []*CRD) {
	for file := range corpus.CRDs(t) {
		crds, err := ParseCRD(file.Data)
		require.NoError(t, err, file.Name)
		all = append(all, crds...)
	}
	return all
}

func BenchmarkCompileCorpus(b *testing.B) {
	crds := corpusDefinitions(b)
	b.ReportAllocs()
	for b.Loop() {
		for _, crd := range crds {
			for i := range crd.Versions {
				if _, err := Compile(crd.Versions[i].Schema); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
}
