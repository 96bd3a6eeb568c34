package kube

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
)

// TestLists asserts that each item of a list is decoded as if it were sent by itself, with the same
// findings, whatever the list is decoded into.
func TestLists(t *testing.T) {
	r := trellis(t)
	const head = `"apiVersion":"garden.example.com/v1","kind":"Trellis"`
	items := []string{
		`{` + head + `,"metadata":{"name":"a","z":1},"spec":{"bad":1,"plants":[{"worse":2,"name":"pear"}],"note":null}}`,
		`{` + head + `,"metadata":{"name":"b"},"spec":{"height":2.0,"rows":3,"labels":{"a":"<&> \u2028"}}}`,
		`{"apiVersion":"garden.example.com/v2","kind":"Trellis","spec":{"height":2,"template":{}}}`,
		`{"apiVersion":"garden.example.com/v9","kind":"Trellis","spec":{}}`,
		`{` + head + `,"\u001f":1,"":{}}`,
		`{"apiVersion":"v1","kind":"Gate","spec":{"z":1.0}}`,
	}
	for _, yaml := range []bool{false, true} { // in YAML 2.0 is 2
		var objects, found []any
		single := newSerializer(t, json.SerializerOptions{Strict: true, Yaml: yaml}, r)
		for i, item := range items {
			u := new(unstructured.Unstructured)
			_, _, err := single.Decode([]byte(item), nil, u)
			objects = append(objects, u.Object)
			if err != nil {
				for _, text := range texts(t, err) {
					text = strings.Replace(text, `field "`, fmt.Sprintf(`field "items[%d].`, i), 1)
					found = append(found, strings.Replace(text, ".[", "[", 1))
				}
			}
		}
		require.Len(t, found, 8)
		for kind, apiVersion := range map[string]string{"TrellisList": "garden.example.com/v1", "List": "v1"} {
			doc := fmt.Appendf(nil, `{"kind":%q,"apiVersion":%q,"metadata":{"resourceVersion":"1"},"items":[%s]}`, kind, apiVersion, strings.Join(items, ","))
			for _, strict := range []bool{false, true} {
				s := newSerializer(t, json.SerializerOptions{Strict: strict, Yaml: yaml}, r)
				for _, into := range []runtime.Object{new(unstructured.UnstructuredList), new(unstructured.Unstructured), nil} {
					where := fmt.Sprintf("%s, YAML %v, strict %v, into %T", kind, yaml, strict, into)
					obj, gvk, err := s.Decode(doc, nil, into)
					require.NotNil(t, obj, where)
					assert.Equal(t, kind, gvk.Kind)
					content := obj.(runtime.Unstructured).UnstructuredContent()
					assert.Equal(t, objects, content["items"], where)
					assert.Equal(t, map[string]any{"resourceVersion": "1"}, content["metadata"], where)
					if !strict {
						assert.NoError(t, err, where)
						continue
					}
					var got []any
					for _, text := range texts(t, err) {
						got = append(got, text)
					}
					assert.Equal(t, found, got, where)
				}
			}
		}
	}
}

func TestListsWithoutTypes(t *testing.T) {
	s := newSerializer(t, json.SerializerOptions{Strict: true}, trellis(t))
	const doc = `{"kind":"TrellisList","apiVersion":"garden.example.com/v1","items":[{"spec":{"bad":1,"bad":2}},{"kind":"Gate","z":1},null,[]]}`
	u := new(unstructured.Unstructured)
	_, _, err := s.Decode([]byte(doc), nil, u)
	assert.EqualError(t, err, `strict decoding error: duplicate field "items[0].spec.bad", unknown field "items[0].spec.bad"`)
	assert.Equal(t, object(t, `{kind: TrellisList, apiVersion: garden.example.com/v1, items: [{spec: {height: 1.5, rows: 2}}, {kind: Gate, z: 1}, null, []]}`), u.Object)

	list := new(unstructured.UnstructuredList)
	_, _, err = s.Decode([]byte(strings.Replace(doc, ",null,[]", "", 1)), nil, list)
	assert.EqualError(t, err, `strict decoding error: duplicate field "items[0].spec.bad", unknown field "items[0].spec.bad"`)
	strict, _ := runtime.AsStrictDecodingError(err)
	unknown, isFinding := strict.Errors()[1].(*ferrors.Finding)
	require.True(t, isFinding)
	assert.Equal(t, "/items/0/spec/bad", unknown.Path.Pointer())
	require.Len(t, list.Items, 2)
	assert.NotContains(t, list.Items[0].Object["spec"], "bad")

	for _, other := range []string{
		`{"kind":"Basket","apiVersion":"v1","items":[{"kind":"Trellis","apiVersion":"garden.example.com/v1","z":1}]}`,
		`{"kind":"TrellisList","apiVersion":"garden.example.com/v1","items":{"z":1}}`,
		`{"kind":"TrellisList","apiVersion":"other.example.com/v1","items":[{"z":1}]}`,
	} {
		_, _, err = s.Decode([]byte(other), nil, u)
		require.NoError(t, err)
		assert.Equal(t, object(t, other), u.Object, "no list, or not of the resource")
	}
}

func TestListErrors(t *testing.T) {
	r := trellis(t, Limits(decoder.Limits{Findings: 3}))
	s := newSerializer(t, json.SerializerOptions{Strict: true}, r)
	list := func(items ...string) []byte {
		return []byte(`{"kind":"TrellisList","apiVersion":"garden.example.com/v1","items":[` + strings.Join(items, ",") + `]}`)
	}
	const item = `{"kind":"Trellis","apiVersion":"garden.example.com/v1"`
	for _, into := range []runtime.Object{new(unstructured.UnstructuredList), new(unstructured.Unstructured)} {
		obj, _, err := s.Decode(list(item+`}`, item+`,"metadata":5}`), nil, into)
		assert.Nil(t, obj)
		assert.ErrorContains(t, err, "items[1]: ")
		var e *Error
		assert.ErrorAs(t, err, &e)

		_, _, err = s.Decode(list(item+`,"a":1,"b":1}`, item+`,"c":1,"d":1,"e":1,"f":1,"g":1}`), nil, into)
		assert.Equal(t, []string{`unknown field "items[0].a"`, `unknown field "items[0].b"`, `unknown field "items[1].c"`, "and 4 more"}, texts(t, err))
	}
}
