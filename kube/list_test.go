package kube

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
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

// TestListsFromBytes compares the two ways to decode a list, with each other where both do it.
func TestListsFromBytes(t *testing.T) {
	const item = `{"kind":"Trellis","apiVersion":"garden.example.com/v1","metadata":{"name":"a","junk":1},"spec":{"height":1.0,"rows":null,"bad":{"a":1e2},"plants":[{"name":"x"}]}}`
	const other = `{"apiVersion":"garden.example.com/v2","kind":"Trellis","spec":{"wires":1.50,"template":1}}`
	const gate = `{"apiVersion":"garden.example.com/v1","kind":"Gate","x":1}`
	gates, err := NewResource(runtimeschema.GroupKind{Group: "garden.example.com", Kind: "Gate"}, nil)
	require.NoError(t, err)
	many := make([]string, 120)
	for i := range many {
		many[i] = fmt.Sprintf(`{"kind":"Trellis","apiVersion":"garden.example.com/v1","x%d":1}`, i)
	}
	head := `"kind":"TrellisList","apiVersion":"garden.example.com/v1"`
	for name, c := range map[string]struct {
		doc  string
		fast bool
	}{
		"a list":                   {`{` + head + `,"metadata":{"resourceVersion":"1","continue":"x"},"items":[` + item + `,` + other + "\n, " + item + `]}`, true},
		"items first":              {` {"items" : [ ` + item + ` ] , "a":[1.0,null], ` + head + `} `, true},
		"two kinds":                {`{` + head + `,"items":[` + gate + `,` + item + `,` + gate + `]}`, true},
		"many findings":            {`{` + head + `,"items":[` + strings.Join(many, ",") + `]}`, true},
		"a List":                   {`{"kind":"List","apiVersion":"v1","items":[` + other + `]}`, true},
		"no list by its kind":      {`{"kind":"Basket","apiVersion":"v1","items":[` + item + `]}`, true},
		"nothing":                  {`{` + head + `,"items":[]}`, false},
		"null":                     {`{` + head + `,"items":null}`, false},
		"no items":                 {`{` + head + `}`, false},
		"an object":                {`{` + head + `,"items":{"a":1}}`, false},
		"a foreign item":           {`{` + head + `,"items":[` + item + `,{"apiVersion":"v1","kind":"Pod","metadata":{"x":1}}]}`, false},
		"an item without a type":   {`{` + head + `,"items":[{"spec":{"bad":1}}]}`, false},
		"an item without version":  {`{` + head + `,"items":[{"kind":"Trellis","spec":{"bad":1}}]}`, false},
		"an item that is null":     {`{` + head + `,"items":[null]}`, false},
		"repeated in an item":      {`{` + head + `,"items":[` + item + `,{"kind":"Gate","kind":"Trellis","apiVersion":"garden.example.com/v1"}]}`, false},
		"repeated beside items":    {`{` + head + `,"a":{"b":1,"b":2},"items":[` + item + `]}`, false},
		"repeated items":           {`{` + head + `,"items":[` + item + `],"items":[]}`, false},
		"another case":             {`{` + head + `,"KIND":"x","items":[` + item + `]}`, false},
		"another case, of no type": {`{` + head + `,"KIND":5,"items":[` + item + `]}`, false},
		"no kind":                  {`{"apiVersion":"v1","items":[` + item + `]}`, false},
		"no version":               {`{"kind":"List","items":[` + item + `]}`, false},
		"no group and version":     {`{"kind":"TrellisList","apiVersion":"a/b/c","items":[` + item + `]}`, false},
		"deeper than the server":   {`{` + head + `,"items":[{"kind":"Trellis","apiVersion":"garden.example.com/v1","x":` + strings.Repeat("[", 9_998) + strings.Repeat("]", 9_998) + `}]}`, false},
		"a kind of a wrong type":   {`{"apiVersion":"v1","kind":5,"items":[` + item + `]}`, false},
		"an item that is refused":  {`{` + head + `,"items":[{"kind":"Trellis","apiVersion":"garden.example.com/v1","metadata":5}]}`, false},
		"malformed":                {`{` + head + `,"items":[` + item + `}`, false},
		"malformed at the end":     {`{` + head + `,"items":[` + item + `]}x`, false},
		"malformed around":         {`{` + head + `,"items":[` + item + `],}`, false},
		"UTF-8":                    {`{` + head + `,"a":"` + "\xff" + `","items":[` + item + `]}`, false},
		"escapes":                  {`{` + head + `,"\u0061":"\n","items":[` + item + `]}`, false},
	} {
		for _, strict := range []bool{false, true} {
			s := newSerializer(t, json.SerializerOptions{Strict: strict}, trellis(t), gates)
			got, want := new(unstructured.UnstructuredList), new(unstructured.UnstructuredList)
			gvk, err, ok := s.decodeItems([]byte(c.doc), got)
			assert.Equal(t, c.fast || name == "repeated in an item" && !strict, ok, name)
			if !ok {
				assert.Equal(t, want, got, "%s: it is unchanged", name)
				continue
			}
			obj, wantType, refusal := s.decodeParsed([]byte(c.doc), nil, want)
			require.NotNil(t, obj, name)
			assert.Equal(t, want, got, name)
			assert.Equal(t, wantType, gvk, name)
			if !strict {
				require.NoError(t, err, name)
				continue
			}
			require.EqualError(t, err, refusal.Error(), name)
			for _, err := range strictList(t, err) {
				if f, ok := err.(*ferrors.Finding); ok {
					field := f.FieldPath()[strings.LastIndex(f.FieldPath(), ".")+1:]
					assert.True(t, strings.HasPrefix(c.doc[f.Position.Offset:], `"`+field+`"`), "%s: %s", name, f.Detail())
				}
			}
		}
	}
}

func strictList(t *testing.T, err error) []error {
	strict, ok := runtime.AsStrictDecodingError(err)
	require.True(t, ok)
	return strict.Errors()
}

// listBody returns a list of n objects of about 2 kB.
func listBody(n int) []byte {
	doc := []byte(`{"kind":"TrellisList","apiVersion":"garden.example.com/v1","metadata":{},"items":[`)
	for i := range n {
		doc = append(append(doc, body(i, managed)...), ',')
	}
	return append(doc[:len(doc)-1], "]}"...)
}

// BenchmarkUnstructuredList decodes a list of 500 objects, as a client does. The serializer of
// k8s.io/apimachinery prunes nothing and inserts no defaults.
func BenchmarkUnstructuredList(b *testing.B) {
	doc := listBody(500)
	s := newSerializer(b, json.SerializerOptions{}, trellis(b))
	decode := func(d runtime.Decoder) func() error {
		return func() error { _, _, err := d.Decode(doc, nil, new(unstructured.UnstructuredList)); return err }
	}
	compare(b, len(doc), decode(s), decode(s.delegate))
}
