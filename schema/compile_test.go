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

// TestCompileErrorPaths has errors in each kind of place.
func TestCompileErrorPaths(t *testing.T) {
	for text, path := range map[string]string{
		`{type: object, properties: {a: %s}}`:                              ".properties[a]",
		`{type: object, additionalProperties: %s}`:                         ".additionalProperties",
		`{type: array, items: %s}`:                                         ".items",
		`{type: object, additionalProperties: {type: array, items: %s}}`:   ".additionalProperties.items",
		`{type: array, items: {type: object, properties: {a: {}, b: %s}}}`: ".items.properties[b]",
	} {
		_, err := Compile(parseText(t, fmt.Sprintf(text, `{type: integer, default: x}`)), KEP, ResourceRoot(false))
		assert.EqualError(t, err, "openAPIV3Schema"+path+`.default: Invalid value: "x": must be of type integer`)
	}
}

// TestCompileErrorInLoops has an error beside places that lead back in more ways than one. Each schema is
// visited once to find the path.
func TestCompileErrorInLoops(t *testing.T) {
	s := parseText(t, `{type: object, properties: {z: {type: integer, default: x}}}`)
	s.Properties["a"], s.Properties["b"] = s, s
	_, err := Compile(s, KEP, ResourceRoot(false))
	assert.EqualError(t, err, `openAPIV3Schema.properties[z].default: Invalid value: "x": must be of type integer`)
}

// TestCompileEmptyDefault has a default that is no JSON, and none by its length.
func TestCompileEmptyDefault(t *testing.T) {
	_, err := Compile(&Structural{Type: "object", Properties: map[string]*Structural{"a": {Type: "string", Default: []byte{}}}})
	require.NoError(t, err)
}

// TestMayOverflow has numbers beyond float64, others that are close to these, and texts like numbers. What is
// found is read as a number; what is not found is never beyond float64.
func TestMayOverflow(t *testing.T) {
	for text, want := range map[string]bool{
		`1e400`: true, `1E400`: true, `1e+400`: true, `0e999`: true, `9e100`: true, `[1e309]`: true, `1.5e999`: true,
		`1e40`: false, `1e-400`: false, `1e+40`: false, `"e999"`: false, `e999`: false, `ae999`: false, `[1e10,200]`: false, `1e 999`: false, `:e999`: false, `/e999`: false,
		strings.Repeat("9", 300): true, strings.Repeat("9", 299): false, strings.Repeat("9", 150) + "." + strings.Repeat("9", 150): false,
	} {
		assert.Equal(t, want, mayOverflow([]byte(text)), text)
	}
}

// TestDefaultsInDefaults has defaults within another, for objects that have none of their fields, some and all.
func TestDefaultsInDefaults(t *testing.T) {
	for value, want := range map[string]string{
		`{}`: `{"a":1,"b":2}`, `{"a":3}`: `{"a":3,"b":2}`, `{"b":3}`: `{"b":3,"a":1}`, `{"b":3,"a":4}`: `{"b":3,"a":4}`, `{ "c" : [ 1 ] }`: `{"c":[1],"a":1,"b":2}`,
	} {
		s := parseText(t, `{type: object, properties: {f: {type: object, properties: {a: {type: integer, default: 1}, b: {type: integer, default: 2}, c: {type: array}}}}}`)
		s.Properties["f"].Default = []byte(value)
		p, err := Compile(s)
		require.NoError(t, err)
		assert.Equal(t, want, program.Of(p).Root.Find([]byte("f")).Default)
	}
}

// TestDefaultsOfMetadata has defaults of each length that metadata takes over.
func TestDefaultsOfMetadata(t *testing.T) {
	for n := range 200 {
		name := strings.Repeat("n", n+1)
		p, err := Compile(parseText(t, `{type: object, properties: {e: {type: object, x-kubernetes-embedded-resource: true, properties: {
			metadata: {type: object, properties: {name: {type: string, default: "`+name+`"}, labels: {type: object, properties: {l: {type: string, default: v}}}}}}}}}`))
		require.NoError(t, err)
		metadata := program.Of(p).Root.Find([]byte("e")).Node.Find([]byte("metadata")).Node
		require.Equal(t, `"`+name+`"`, metadata.Find([]byte("name")).Default)
		require.Equal(t, `"v"`, metadata.Find([]byte("labels")).Node.Find([]byte("l")).Default)
	}
}

// TestKeptWhole has values in which nothing can change. They are only validated, which is faster.
func TestKeptWhole(t *testing.T) {
	for text, want := range map[string][2]bool{
		`{x-kubernetes-preserve-unknown-fields: true}`:                                                         {true, true},
		`{x-kubernetes-preserve-unknown-fields: true, items: {type: string, default: x}}`:                      {true, false},
		`{x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}}}`:                        {false, true},
		`{x-kubernetes-preserve-unknown-fields: true, additionalProperties: {type: object}}`:                   {false, true},
		`{type: object, properties: {a: {type: string}}}`:                                                      {false, false},
		`{x-kubernetes-preserve-unknown-fields: true, items: {type: object, properties: {a: {type: string}}}}`: {true, false},
	} {
		p, err := Compile(parseText(t, text), ResourceRoot(false))
		require.NoError(t, err)
		n := program.Of(p).Root
		assert.Equal(t, want, [2]bool{n.KeepObject, n.KeepArray}, text)
	}
	// By the KEP, pruning starts again at the elements, as these have properties.
	p, err := Compile(parseText(t, `{x-kubernetes-preserve-unknown-fields: true, items: {type: object, properties: {a: {type: string}}}}`), ResourceRoot(false), KEP)
	require.NoError(t, err)
	assert.True(t, program.Of(p).Root.KeepObject)
	assert.Nil(t, program.Of(p).Root.Elements.Node.Unknown)
	p, err = Compile(parseText(t, `{type: object, x-kubernetes-preserve-unknown-fields: true}`), ResourceRoot(false), CheckTypes(true))
	require.NoError(t, err)
	assert.True(t, program.Of(p).Root.KeepObject)
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
  spec: {type: object, properties: {b: {type: string, default: x}, a: {type: string}}}
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
