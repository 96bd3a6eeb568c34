package kube

import (
	"fmt"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/types"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
)

// oddNames returns documents whose findings the server words or limits differently.
func oddNames() map[string]string {
	const head = `{"apiVersion":"garden.example.com/v1","kind":"Trellis","metadata":{"name":"a"},`
	many := func(n int, format string) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf(format, i)
		}
		return strings.Join(list, ",")
	}
	return map[string]string{
		"nothing":                head + `"spec":{}}`,
		"plain":                  head + `"spec":{"b":1,"a":2,"rows":1,"rows":2}}`,
		"an empty name":          head + `"spec":{"":1},"":2}`,
		"quotes":                 head + `"spec":{"a\"b":1,"c\\d":1,"e\nf":1,"\u202e":1,"'":1}}`,
		"quotes twice":           head + `"spec":{"labels":{"a\"b":"1","a\"b":"2","\n":"1","\n":"2","":"","":""}}}`,
		"one spelling":           head + `"spec":{"a.b":1,"labels":{"a":"1","a":"2"},"labels":{"a":"1","a":"2"}}}`,
		"brackets":               head + `"spec":{"a[0]":1,"[":1,"]":1,"plants":[{"[1]":1}]}}`,
		"a hundred":              head + `"spec":{` + many(100, `"x%d":1`) + `}}`,
		"more than a hundred":    head + `"spec":{` + many(350, `"x%03d":1`) + `}}`,
		"duplicates":             head + `"spec":{"labels":{` + many(130, `"x%[1]d":"","x%[1]d":""`) + `},"z":1}}`,
		"unknown metadata":       `{"apiVersion":"garden.example.com/v1","kind":"Trellis","metadata":{` + many(130, `"x%d":1`) + `},"spec":{` + many(130, `"y%d":1`) + `}}`,
		"embedded":               head + `"spec":{"template":{"apiVersion":"v1","kind":"Pod","metadata":{"\"":1,"":2,` + many(130, `"x%d":1`) + `}}}}`,
		"a long name":            head + `"spec":{"` + strings.Repeat("x", 3000) + `":1,"` + strings.Repeat("é", 3000) + `":1}}`,
		"a long path":            head + `"spec":{"labels":` + strings.Repeat(`{"a":`, 3000) + `1` + strings.Repeat(`}`, 3000) + `}}`,
		"characters":             head + `"spec":{"é":1,"日本":1,"\u0000":1,"\u007f":1}}`,
		"another kind":           `{"apiVersion":"v1","kind":"Gate","a":{"":1,"":2},"metadata":{"":1}}`,
		"a version of no schema": `{"apiVersion":"garden.example.com/v9","kind":"Trellis","":1,"\"":2}`,
	}
}

// TestServerTexts compares strict errors with those of the server's packages, byte for byte.
func TestServerTexts(t *testing.T) {
	r, plain := trellis(t, ServerTexts(true)), trellis(t)
	for _, yaml := range []bool{false, true} {
		s := newSerializer(t, json.SerializerOptions{Strict: true, Yaml: yaml}, r)
		lenient := newSerializer(t, json.SerializerOptions{Yaml: yaml}, r)
		for name, doc := range oddNames() {
			where := fmt.Sprintf("%s, YAML %v", name, yaml)
			if yaml && name == "a long name" {
				continue // keys have up to 1024 characters there
			}
			list, err := plain.serverList([]byte(doc), reading{yaml: yaml, strict: true})
			require.NoError(t, err, where)
			want := make([]string, len(list))
			for i := range list {
				want[i] = list[i].Error()
			}
			u := new(unstructured.Unstructured)
			_, _, err = s.Decode([]byte(doc), nil, u)
			if len(want) == 0 {
				assert.NoError(t, err, where)
				continue
			}
			assert.Equal(t, want, texts(t, err), where)
			other := new(unstructured.Unstructured)
			_, _, err = newSerializer(t, json.SerializerOptions{Strict: true, Yaml: yaml}, plain).Decode([]byte(doc), nil, other)
			assert.Error(t, err, where)
			assert.Equal(t, other, u, where)
			_, _, err = lenient.Decode([]byte(doc), nil, u)
			assert.NoError(t, err, where)
		}
	}

	_, _, err := newSerializer(t, json.SerializerOptions{Strict: true}, r).Decode([]byte(oddNames()["quotes"]), nil, new(unstructured.Unstructured))
	strict, _ := runtime.AsStrictDecodingError(err)
	var f *ferrors.Finding
	require.ErrorAs(t, strict.Errors()[0], &f, "what has the same text knows its place")
	assert.Equal(t, `unknown field "spec.'"`, f.Error())
	assert.True(t, f.Position.IsValid())

	list := `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"garden.example.com/v1","kind":"Trellis","":1}]}`
	_, _, err = newSerializer(t, json.SerializerOptions{Strict: true}, r).Decode([]byte(list), nil, new(unstructured.Unstructured))
	assert.Equal(t, []string{`unknown field "items[0][""]"`}, texts(t, err), "the server has no texts for items")
}

// TestServerTextsOfPatches compares the findings in patches and in their results with the server's.
func TestServerTextsOfPatches(t *testing.T) {
	r := trellis(t, ServerTexts(true))
	var twice, operations []string
	for i := range 130 {
		twice = append(twice, fmt.Sprintf(`"x%[1]d":"","x%[1]d":""`, i))
		operations = append(operations, fmt.Sprintf(`{"op":"test","path":"/kind","value":"Trellis","z%d":1}`, i))
	}
	for name, c := range map[string]struct {
		kind  types.PatchType
		patch string
	}{
		"plain":               {types.MergePatchType, `{"spec":{"rows":1,"rows":2,"b":1}}`},
		"an empty name":       {types.MergePatchType, `{"spec":{"":1,"":2}}`},
		"quotes":              {types.MergePatchType, `{"spec":{"labels":{"a\"b":"1","a\"b":"2","\n":"","\n":""}},"\u202e":1}`},
		"a hundred":           {types.MergePatchType, `{"spec":{"labels":{` + strings.Join(twice, ",") + `}}}`},
		"many in the result":  {types.MergePatchType, `{"spec":{` + strings.ReplaceAll(strings.Join(twice, ","), `,"x129":""`, "") + `}}`},
		"an operation":        {types.JSONPatchType, `[{"op":"add","path":"/spec/rows","value":1,"":1,"a\"b":1,"op":"add"}]`},
		"within an operation": {types.JSONPatchType, `[{"op":"add","path":"/spec/labels","value":{"":"","":"","\n":"1","\n":"2"}}]`},
		"many operations":     {types.JSONPatchType, "[" + strings.Join(operations, ",") + "]"},
	} {
		want, warnings, err := patchAsServer(t, r, pear(t), c.kind, []byte(c.patch))
		require.NoError(t, err, name)
		got, found, err := r.Patch(pear(t), c.kind, []byte(c.patch), decoder.Warn)
		require.NoError(t, err, name)
		assert.Equal(t, want, got, name)
		list := make([]string, len(found))
		for i := range found {
			list[i] = found[i].Error()
		}
		assert.Equal(t, warnings, list, name)
	}
}

// TestServerTextsOfEmbeddedRoot has findings that the server lists twice.
func TestServerTextsOfEmbeddedRoot(t *testing.T) {
	s, err := structuralOf(&parseCRD(t, strings.Replace(trellises, "type: object\n        properties:\n          spec:", "type: object\n        x-kubernetes-embedded-resource: true\n        properties:\n          spec:", 1)).Spec.Versions[0])
	require.NoError(t, err)
	require.True(t, s.XEmbeddedResource)
	r, err := NewResource(trellisV1.GroupKind(), map[string]*structuralschema.Structural{"v1": s}, ServerTexts(true))
	require.NoError(t, err)
	_, _, err = newSerializer(t, json.SerializerOptions{Strict: true}, r).
		Decode([]byte(`{"apiVersion":"garden.example.com/v1","kind":"Trellis","metadata":{"junk":1}}`), nil, new(unstructured.Unstructured))
	assert.Equal(t, []string{`unknown field "metadata.junk"`, `unknown field "metadata.junk"`}, texts(t, err))
}

// TestServerTextsAreBounded asserts that a document for whose texts the server needs a gigabyte
// gets ours.
func TestServerTextsAreBounded(t *testing.T) {
	object := structuralschema.Structural{Generic: structuralschema.Generic{Type: "object"}}
	m := object
	m.AdditionalProperties = &structuralschema.StructuralOrBool{Structural: &object}
	root := object
	root.Properties = map[string]structuralschema.Structural{"m": m}
	r, err := NewResource(trellisV1.GroupKind(), map[string]*structuralschema.Structural{"v1": &root}, ServerTexts(true))
	require.NoError(t, err)
	s := newSerializer(t, json.SerializerOptions{Strict: true}, r)

	long := strings.Repeat("x", 100_000)
	var unknown, twice strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&unknown, `,"\n%d":1`, i)
		twice.WriteString(`,"a":1,"a":2`)
	}
	for name, c := range map[string]struct {
		m    string
		most int // entries
	}{
		"unknown fields": {`{"` + long + `":{"":1` + unknown.String() + `}}`, decoder.DefaultFindings + 1},
		"duplicates":     {`{"` + long + `":{"":1` + twice.String() + `}}`, 3},
		"depth":          {strings.Repeat(`{"":`, 9000) + `1` + strings.Repeat(`}`, 9000), 1},
	} {
		doc := []byte(`{"apiVersion":"garden.example.com/v1","kind":"Trellis","m":` + c.m + `}`)
		var before, after goruntime.MemStats
		goruntime.ReadMemStats(&before)
		_, _, err := s.Decode(doc, nil, new(unstructured.Unstructured))
		goruntime.ReadMemStats(&after)
		list := texts(t, err)
		assert.LessOrEqual(t, len(list), c.most, name)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(256<<20), name)
		for _, text := range list {
			assert.Less(t, len(text), 5000, name)
		}
	}
}

func TestPathsWithin(t *testing.T) {
	for _, c := range []struct {
		js   string
		size int
	}{
		{`5`, 0}, {`[]`, 0}, {`{}`, 0}, {`{"a":1}`, 2}, {`{"a":{"bc":[],"":{}}}`, 2 + 5 + 3},
		{`{"a":[{"b":1},[{"c":2}]],"d":null}`, 2 + (2 + 12 + 2) + (2 + 24 + 2) + 2},
		{`[[1,2],{"a":1}]`, 12 + 2},
	} {
		assert.True(t, pathsWithin([]byte(c.js), c.size), c.js)
		assert.False(t, c.size > 0 && pathsWithin([]byte(c.js), c.size-1), c.js)
	}
	assert.False(t, pathsWithin([]byte(`{"a":`), 100))
}
