package kube

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/recognizer"
	"k8s.io/apimachinery/pkg/types"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// trellises has two versions that declare the same names differently.
const trellises = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: trellises.garden.example.com}
spec:
  group: garden.example.com
  scope: Namespaced
  names: {kind: Trellis, plural: trellises}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              height: {type: number, default: 1.5}
              rows: {type: integer, default: 2}
              plants:
                type: array
                items:
                  type: object
                  properties:
                    name: {type: string}
                    water: {type: object, default: {}, properties: {litres: {type: integer, default: 1}}}
              labels: {type: object, additionalProperties: {type: string}}
              note: {type: string}
              template: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
  - name: v2
    served: true
    storage: false
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              rows: {type: integer}
              wires: {type: integer, default: 3}
  - name: v0
    served: false
    storage: false
`

var trellisV1 = runtimeschema.GroupVersionKind{Group: "garden.example.com", Version: "v1", Kind: "Trellis"}

func parseCRD(t testing.TB, text string) *apiextensionsv1.CustomResourceDefinition {
	crd := new(apiextensionsv1.CustomResourceDefinition)
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), crd))
	return crd
}

func trellis(t testing.TB, opts ...Option) *Resource {
	r, err := ForCRD(parseCRD(t, trellises), opts...)
	require.NoError(t, err)
	return r
}

func newSerializer(t testing.TB, options json.SerializerOptions, resources ...*Resource) *Serializer {
	s, err := NewSerializer(nil, nil, options, resources...)
	require.NoError(t, err)
	return s
}

func object(t testing.TB, text string) (m map[string]any) {
	js, err := yaml.YAMLToJSON([]byte(text))
	require.NoError(t, err)
	require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(js, &m))
	return m
}

func texts(t testing.TB, err error) []string {
	strict, ok := runtime.AsStrictDecodingError(err)
	require.True(t, ok, "%v", err)
	list := make([]string, len(strict.Errors()))
	for i, e := range strict.Errors() {
		list[i] = e.Error()
	}
	return list
}

func TestDecodeUnstructured(t *testing.T) {
	s := newSerializer(t, json.SerializerOptions{Strict: true}, trellis(t))
	for _, c := range []struct{ name, in, want string }{
		{"defaults and pruning",
			`{"apiVersion":"garden.example.com/v1","kind":"Trellis","metadata":{"name":"a","labels":{},"x":1},"spec":{"plants":[{"name":"pear","y":1}],"note":null,"z":[{}]}}`,
			`{apiVersion: garden.example.com/v1, kind: Trellis, metadata: {name: a}, spec: {height: 1.5, rows: 2, plants: [{name: pear, water: {litres: 1}}]}}`},
		{"the other version",
			`{"apiVersion":"garden.example.com/v2","kind":"Trellis","spec":{"height":1,"rows":4}}`,
			`{apiVersion: garden.example.com/v2, kind: Trellis, spec: {rows: 4, wires: 3}}`},
		{"a version without a schema",
			`{"apiVersion":"garden.example.com/v0","kind":"Trellis","metadata":{"name":"a"},"spec":{"rows":4}}`,
			`{apiVersion: garden.example.com/v0, kind: Trellis, metadata: {name: a}}`},
		{"no version of the resource",
			`{"apiVersion":"garden.example.com/v9","kind":"Trellis","spec":{"rows":4}}`,
			`{apiVersion: garden.example.com/v9, kind: Trellis}`},
		{"another kind",
			`{"apiVersion":"garden.example.com/v1","kind":"Gate","metadata":{"name":"a","x":1},"spec":{"rows":null,"z":[{}]}}`,
			`{apiVersion: garden.example.com/v1, kind: Gate, metadata: {name: a}, spec: {rows: null, z: [{}]}}`},
		{"a list of another kind",
			`{"apiVersion":"garden.example.com/v1","kind":"GateList","items":[{"spec":{"z":1}}]}`,
			`{apiVersion: garden.example.com/v1, kind: GateList, items: [{spec: {z: 1}}]}`},
	} {
		u := new(unstructured.Unstructured)
		obj, gvk, err := s.Decode([]byte(c.in), &trellisV1, u)
		if err != nil {
			texts(t, err)
		}
		assert.Same(t, u, obj, c.name)
		assert.Equal(t, object(t, c.want), u.Object, c.name)
		assert.Equal(t, u.GroupVersionKind(), *gvk, c.name)
		again, _, err := s.Decode([]byte(c.in), nil, nil)
		if err != nil {
			texts(t, err)
		}
		assert.Equal(t, u, again, "%s: into nothing", c.name)
	}
}

func TestStrictErrors(t *testing.T) {
	r := trellis(t)
	js := []byte(`{"apiVersion":"garden.example.com/v1","kind":"Trellis","kind":"Trellis",
"metadata":{"name":"a","z":1,"name":"b"},"zz":1,
"spec":{"rows":1,"rows":2,"plants":[{"b":1,"a":2}],"template":{"apiVersion":"v1","kind":"Pod","metadata":{"junk":1}}}}`)
	want := []string{
		`duplicate field "kind"`, `duplicate field "metadata.name"`, `duplicate field "spec.rows"`, `unknown field "metadata.z"`,
		`unknown field "spec.plants[0].a"`, `unknown field "spec.plants[0].b"`, `unknown field "zz"`, `unknown field "spec.template.metadata.junk"`,
	}
	u := new(unstructured.Unstructured)
	_, _, err := newSerializer(t, json.SerializerOptions{Strict: true}, r).Decode(js, nil, u)
	assert.Equal(t, want, texts(t, err))
	strict, _ := runtime.AsStrictDecodingError(err)
	var f *ferrors.Finding
	require.ErrorAs(t, strict.Errors()[3], &f)
	assert.Equal(t, "2:24", f.Position.String(), "entries know their places")

	lenient := new(unstructured.Unstructured)
	_, _, err = newSerializer(t, json.SerializerOptions{}, r).Decode(js, nil, lenient)
	assert.NoError(t, err)
	assert.Equal(t, u, lenient)

	_, _, err = newSerializer(t, json.SerializerOptions{Strict: true, Yaml: true}, r).Decode([]byte(`
apiVersion: garden.example.com/v1
kind: Trellis
kind: Trellis
spec:
  rows: 1
  rows: 2
  q: 1
`), nil, u)
	assert.Equal(t, []string{"yaml: unmarshal errors:\n  line 4: key \"kind\" already set in map\n  line 7: key \"rows\" already set in map", `unknown field "spec.q"`}, texts(t, err))

	// The server says nothing of names that are equal only as strings.
	_, _, err = newSerializer(t, json.SerializerOptions{Strict: true, Yaml: true}, r).Decode([]byte(`
apiVersion: garden.example.com/v1
kind: Trellis
spec:
  labels: {1: a, '1': b}
`), nil, u)
	assert.NoError(t, err)

	many := `{"apiVersion":"garden.example.com/v1","kind":"Trellis","spec":{` + strings.Repeat(`"x":1,`, 3) + `"a":1,"b":1}}`
	_, _, err = newSerializer(t, json.SerializerOptions{Strict: true}, trellis(t, Limits(decoder.Limits{Findings: 2}))).Decode([]byte(many), nil, u)
	list := texts(t, err)
	require.Len(t, list, 3)
	assert.Equal(t, "and 2 more", list[2])
}

// TestFatalErrors compares the texts with those of the server's packages.
func TestFatalErrors(t *testing.T) {
	r := trellis(t)
	head := `{"apiVersion":"garden.example.com/v1","kind":"Trellis",`
	for _, yaml := range []bool{false, true} {
		for _, doc := range []string{
			``, `null`, `[]`, `7`, `{`, `{"a":`, head + `"spec":1e999}`, head + `}x`, `{"apiVersion":"v1"}`, `{"kind":""}`,
			`{"kind":5}`, `{"apiVersion":{},"kind":"Trellis"}`, `{"apiVersion":"a/b/c","kind":"Trellis"}`,
			head + `"metadata":5}`, head + `"metadata":{"labels":{"a":5}}}`, head + `"metadata":{"creationTimestamp":"x"}}`,
			head + `"spec":{"template":{"apiVersion":5}}}`, head + `"spec":{"template":{"metadata":{"name":{}}}}}`,
			head + `"KIND":5}`, head + `"apiversion":"a/b/c","Kind":[]}`, `{"kind":"Trellis","APIVERSION":{}}`,
			head + `"spec":` + strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001) + `}`,
		} {
			for _, strict := range []bool{false, true} {
				how := reading{yaml: yaml, strict: strict}
				u, gvk, server := parseAsServer([]byte(doc), &trellisV1, how)
				if server == nil {
					_, server = r.coerce(u, false, true)
				}
				if yaml && server == nil {
					continue // 1e999 is a text
				}
				require.Error(t, server, doc)
				s := newSerializer(t, json.SerializerOptions{Yaml: yaml, Strict: strict}, r)
				obj, got, err := s.Decode([]byte(doc), &trellisV1, new(unstructured.Unstructured))
				assert.Nil(t, obj)
				assert.EqualError(t, err, server.Error())
				assert.Equal(t, runtime.IsMissingKind(server), runtime.IsMissingKind(err))
				assert.Equal(t, gvk, got, "%.60s", doc)
				var explained *Error
				if errors.As(err, &explained) {
					assert.Error(t, explained.Err)
				}
			}
		}
	}
	var syntax *ferrors.SyntaxError
	_, _, err := newSerializer(t, json.SerializerOptions{}, r).Decode([]byte("{\n\"kind\": x}"), nil, new(unstructured.Unstructured))
	require.ErrorAs(t, err, &syntax)
	assert.Equal(t, "2:9", syntax.Position.String())

	var limit *ferrors.LimitError
	s := newSerializer(t, json.SerializerOptions{}, trellis(t, Limits(decoder.Limits{DefaultBytes: 8})))
	_, _, err = s.Decode([]byte(head+`"spec":{}}`), nil, new(unstructured.Unstructured))
	assert.ErrorAs(t, err, &limit)
}

func TestSerializer(t *testing.T) {
	_, err := NewSerializer(nil, nil, json.SerializerOptions{})
	assert.Error(t, err)
	r := trellis(t)
	s := newSerializer(t, json.SerializerOptions{Strict: true}, r)
	assert.True(t, s.IsStrict())
	assert.False(t, newSerializer(t, json.SerializerOptions{Yaml: true}, r).IsStrict())

	// Encoding, and the identifier by which its results are shared, are those of the JSON
	// serializer.
	for _, options := range []json.SerializerOptions{{}, {Strict: true}, {Yaml: true}, {Pretty: true}} {
		theirs := json.NewSerializerWithOptions(json.DefaultMetaFactory, nil, nil, options)
		ours := newSerializer(t, options, r)
		assert.Equal(t, theirs.Identifier(), ours.Identifier())
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "K", "a": []any{1.5}}}
		want, err := runtime.Encode(theirs, u)
		require.NoError(t, err)
		got, err := runtime.Encode(ours, u)
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got))
	}

	// Of several decoders, the one that recognizes the data decodes it.
	y := newSerializer(t, json.SerializerOptions{Yaml: true}, r)
	for _, doc := range []string{`{"apiVersion":"garden.example.com/v1","kind":"Trellis","spec":{}}`, "apiVersion: garden.example.com/v1\nkind: Trellis\nspec: {}\n"} {
		obj, _, err := recognizer.NewDecoder(y, s).Decode([]byte(doc), nil, new(unstructured.Unstructured))
		require.NoError(t, err)
		assert.Equal(t, map[string]any{"height": 1.5, "rows": int64(2)}, obj.(*unstructured.Unstructured).Object["spec"])
	}

	list := new(unstructured.UnstructuredList)
	_, _, err = s.Decode([]byte(`{"kind":"TrellisList","apiVersion":"garden.example.com/v1","items":[{"kind":"Trellis","apiVersion":"garden.example.com/v1","q":1}]}`), nil, list)
	assert.EqualError(t, err, `strict decoding error: unknown field "items[0].q"`)
	require.Len(t, list.Items, 1)
	assert.NotContains(t, list.Items[0].Object, "q")

	unknown := new(runtime.Unknown)
	_, gvk, err := s.Decode([]byte(`{"kind":"Trellis","apiVersion":"garden.example.com/v1","q":1}`), nil, unknown)
	require.NoError(t, err)
	assert.Equal(t, trellisV1, *gvk)
	assert.Contains(t, string(unknown.Raw), `"q":1`, "raw data stay as they are")
}

func TestSerializerOfSeveralResources(t *testing.T) {
	gate, err := NewResource(runtimeschema.GroupKind{Group: "garden.example.com", Kind: "Gate"}, map[string]*structuralschema.Structural{"v1": {
		Properties: map[string]structuralschema.Structural{"open": {Generic: structuralschema.Generic{Default: structuralschema.JSON{Object: true}}}},
	}})
	require.NoError(t, err)
	s := newSerializer(t, json.SerializerOptions{}, trellis(t), gate)
	u := new(unstructured.Unstructured)
	_, _, err = s.Decode([]byte(`{"apiVersion":"garden.example.com/v1","kind":"Gate","metadata":{"x":1},"spec":{}}`), nil, u)
	require.NoError(t, err)
	assert.Equal(t, object(t, `{apiVersion: garden.example.com/v1, kind: Gate, metadata: {}, open: true}`), u.Object)
}

func TestPruneAndDefault(t *testing.T) {
	r := trellis(t)
	u := &unstructured.Unstructured{Object: object(t, `
apiVersion: garden.example.com/v1
kind: Trellis
metadata: {name: a, zz: 1, labels: {}}
spec: {q: 1, note: null, rows: null, plants: [{z: 1}], template: {metadata: {junk: 1}}}`)}
	unknown, err := r.Prune(u)
	require.NoError(t, err)
	assert.Equal(t, []string{"metadata.zz", "spec.plants[0].z", "spec.q", "spec.template.metadata.junk"}, unknown)
	assert.Equal(t, object(t, `
apiVersion: garden.example.com/v1
kind: Trellis
metadata: {name: a}
spec: {rows: null, plants: [{}], template: {metadata: {}}}`), u.Object)

	var defaulter runtime.ObjectDefaulter = r
	u.Object["spec"].(map[string]any)["added"] = "by admission"
	defaulter.Default(u)
	assert.Equal(t, object(t, `
apiVersion: garden.example.com/v1
kind: Trellis
metadata: {name: a}
spec: {rows: 2, height: 1.5, added: by admission, plants: [{water: {litres: 1}}], template: {metadata: {}}}`), u.Object)

	other := &unstructured.Unstructured{Object: object(t, `{apiVersion: v1, kind: Gate, spec: {}}`)}
	defaulter.Default(other)
	assert.Equal(t, object(t, `{apiVersion: v1, kind: Gate, spec: {}}`), other.Object)
	defaulter.Default(new(runtime.Unknown)) // nothing happens

	_, err = r.Prune(&unstructured.Unstructured{Object: map[string]any{"kind": 5}})
	assert.Error(t, err)
}

func TestPreserveUnknownFields(t *testing.T) {
	crd := parseCRD(t, trellises)
	crd.Spec.PreserveUnknownFields = true
	r, err := ForCRD(crd)
	require.NoError(t, err)
	u := new(unstructured.Unstructured)
	_, _, err = newSerializer(t, json.SerializerOptions{}, r).Decode([]byte(`{"apiVersion":"garden.example.com/v1","kind":"Trellis","metadata":{"x":1},"q":{"r":null}}`), nil, u)
	require.NoError(t, err)
	assert.Equal(t, object(t, `{apiVersion: garden.example.com/v1, kind: Trellis, metadata: {}, q: {r: null}}`), u.Object)
}

// TestConversion asserts that both ways to convert a schema have the same result, except for parts
// that are no schema of the server's.
func TestConversion(t *testing.T) {
	crd := parseCRD(t, trellises)
	v := &crd.Spec.Versions[0]
	fromProps, err := FromProps(v.Schema.OpenAPIV3Schema)
	require.NoError(t, err)
	s, err := structuralOf(v)
	require.NoError(t, err)
	fromStructural, err := FromStructural(s)
	require.NoError(t, err)
	assert.Equal(t, fromProps, fromStructural)
	assert.NotNil(t, fromProps.Properties["spec"].Properties["template"].XPreserveUnknownFields)

	for _, empty := range []func() (*schema.Structural, error){
		func() (*schema.Structural, error) { return FromProps(nil) },
		func() (*schema.Structural, error) { return FromStructural(nil) },
	} {
		s, err := empty()
		require.NoError(t, err)
		assert.Equal(t, new(schema.Structural), s)
	}

	max := 3.0
	rich := &structuralschema.Structural{
		Generic:              structuralschema.Generic{Type: "object", Nullable: true, Description: "d", Default: structuralschema.JSON{Object: map[string]any{"a": 1.0, "b": []any{int64(1), 1e30, nil}}}},
		AdditionalProperties: &structuralschema.StructuralOrBool{Bool: false},
		Extensions:           structuralschema.Extensions{XEmbeddedResource: true, XIntOrString: true, XListMapKeys: []string{"k"}},
		ValueValidation: &structuralschema.ValueValidation{Maximum: &max, Required: []string{"a"}, Enum: []structuralschema.JSON{{Object: "x"}},
			AnyOf: []structuralschema.NestedValueValidation{{ForbiddenGenerics: structuralschema.Generic{Type: "integer"}}}},
	}
	before := rich.DeepCopy()
	got, err := FromStructural(rich)
	require.NoError(t, err)
	assert.True(t, reflect.DeepEqual(before, rich), "the schema is not changed")
	assert.JSONEq(t, `{"a":1.0,"b":[1,1e30,null]}`, string(got.Default))
	assert.Contains(t, string(got.Default), `"a":1.0`)
	assert.Contains(t, string(got.Default), `"b":[1,1e+30,null]`)
	assert.Equal(t, &schema.SchemaOrBool{}, got.AdditionalProperties)
	assert.True(t, got.XEmbeddedResource && got.XIntOrString && got.Nullable)
	assert.Equal(t, 3.0, *got.Maximum)
	assert.Equal(t, "integer", got.AnyOf[0].Type)
}

// TestConcurrentUse asserts that everything in the package that is shared says the same to many
// goroutines as to one. They decode objects of changing versions, so that the guesses of decoders
// are wrong for most.
func TestConcurrentUse(t *testing.T) {
	r := trellis(t, ConversionStrategy(apiextensionsv1.NoneConverter), ServerTexts(true))
	options := json.SerializerOptions{Strict: true}
	requests := newSerializer(t, options, r)
	options.Yaml = true
	manifests := newSerializer(t, options, r)
	stored := map[string]*StorageDecoder{"v1": r.StorageDecoder("v1", nil), "v2": r.StorageDecoder("v2", nil)}
	validator, err := NewValidator(parseCRD(t, trellises), "v1")
	require.NoError(t, err)
	uses := make(map[string]func() (any, error))
	for _, version := range []string{"v1", "v2", "v9"} {
		doc := fmt.Appendf(nil, `{"apiVersion":"garden.example.com/%s","kind":"Trellis","metadata":{"name":"%[1]s","junk":1},"spec":{"a":1,"note":null,"rows":%d}}`, version, len(version))
		list := fmt.Appendf(nil, `{"apiVersion":"v1","kind":"List","items":[%s,%s]}`, doc, doc)
		given := &unstructured.Unstructured{Object: object(t, string(doc))}
		decoding := func(d runtime.Decoder, doc []byte, into runtime.Object) func() (any, error) {
			return func() (any, error) {
				obj, _, err := d.Decode(doc, &trellisV1, into.DeepCopyObject())
				return obj, err
			}
		}
		uses["request "+version] = decoding(requests, doc, new(unstructured.Unstructured))
		uses["YAML "+version] = decoding(manifests, doc, new(unstructured.Unstructured))
		uses["list "+version] = decoding(requests, list, new(unstructured.UnstructuredList))
		for to, d := range stored {
			uses["storage of "+version+" to "+to] = decoding(d, doc, new(unstructured.Unstructured))
		}
		uses["patch "+version] = func() (any, error) {
			obj, _, err := r.Patch(given, types.MergePatchType, []byte(`{"spec":{"height":3}}`), decoder.Warn)
			return obj, err
		}
		uses["patch without object "+version] = func() (any, error) {
			text, _, err := r.DecodeMergePatch(version, doc, decoder.Warn)
			return string(text), err
		}
		uses["apply "+version] = func() (any, error) {
			obj, _, err := r.DecodeApply(doc, decoder.Warn)
			return obj, err
		}
		uses["validate "+version] = func() (any, error) {
			return validator.ValidateUpdate(t.Context(), given, given).ToAggregate(), nil
		}
		uses["prune "+version] = func() (any, error) {
			u := given.DeepCopy()
			_, err := r.Prune(u)
			r.Default(u)
			return u, err
		}
	}
	text := func(use func() (any, error)) string { got, err := use(); return fmt.Sprintf("%v, %v", got, err) }
	want := make(map[string]string)
	for name, use := range uses {
		want[name] = text(use)
	}
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 30 {
				for name, use := range uses { // in another order each time
					assert.Equal(t, want[name], text(use), name)
				}
			}
		})
	}
	wait.Wait()
}
