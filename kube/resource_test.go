package kube

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/types"

	"github.com/espalier-dev/espalier/decoder"
)

// TestRefusedAtConstruction has arguments that would fail with the first document.
func TestRefusedAtConstruction(t *testing.T) {
	r, scheme, codecs := trellis(t), runtime.NewScheme(), serializer.NewCodecFactory(runtime.NewScheme())
	var noScheme *runtime.Scheme
	for name, construct := range map[string]func() (any, error){
		"no resource":          func() (any, error) { return NewSerializer(nil, nil, json.SerializerOptions{}) },
		"a nil resource":       func() (any, error) { return NewSerializer(nil, nil, json.SerializerOptions{}, r, nil) },
		"a zero resource":      func() (any, error) { return NewSerializer(nil, nil, json.SerializerOptions{}, new(Resource)) },
		"no typer":             func() (any, error) { return NewSerializer(scheme, nil, json.SerializerOptions{}, r) },
		"no creater":           func() (any, error) { return NewSerializer(nil, scheme, json.SerializerOptions{}, r) },
		"half a scheme":        func() (any, error) { return NewSerializer(noScheme, scheme, json.SerializerOptions{}, r) },
		"negotiated, no inner": func() (any, error) { return NewNegotiatedSerializer(nil, scheme, scheme, r) },
		"negotiated, none":     func() (any, error) { return NewNegotiatedSerializer(codecs, scheme, scheme) },
		"negotiated, nil":      func() (any, error) { return NewNegotiatedSerializer(codecs, scheme, scheme, nil) },
		"negotiated, no typer": func() (any, error) { return NewNegotiatedSerializer(codecs, scheme, noScheme, r) },
		"no definition":        func() (any, error) { return ForCRD(nil) },
		"no kind":              func() (any, error) { return NewResource(runtimeschema.GroupKind{Group: "g"}, nil) },
		"prune, nil":           func() (any, error) { return (*Resource)(nil).Prune(new(unstructured.Unstructured)) },
		"prune, zero":          func() (any, error) { return new(Resource).Prune(new(unstructured.Unstructured)) },
		"storage, zero":        func() (any, error) { _, _, err := new(StorageDecoder).Decode([]byte(`{}`), nil, nil); return nil, err },
		"serializer, zero":     func() (any, error) { _, _, err := new(Serializer).Decode([]byte(`{}`), nil, nil); return nil, err },
		"merge patch, zero": func() (any, error) {
			_, _, err := new(Resource).DecodeMergePatch("v1", []byte(`{}`), decoder.Warn)
			return nil, err
		},
		"patch, zero": func() (any, error) {
			_, _, err := new(Resource).Patch(new(unstructured.Unstructured), types.MergePatchType, []byte(`{}`), decoder.Warn)
			return nil, err
		},
	} {
		made, err := construct()
		assert.Error(t, err, name)
		assert.Empty(t, made, name)
	}
	assert.PanicsWithError(t, errNotMade.Error(), func() { new(Resource).StorageDecoder("v1", nil) })
	assert.PanicsWithError(t, errNotMade.Error(), func() { (*Resource)(nil).StorageDecoder("v1", nil) })
	u := &unstructured.Unstructured{Object: map[string]any{"kind": "K"}}
	new(Resource).Default(u)
	assert.Equal(t, map[string]any{"kind": "K"}, u.Object)

	s, err := NewSerializer(noScheme, noScheme, json.SerializerOptions{}, r)
	require.NoError(t, err, "as if both were nil")
	_, _, err = s.Decode([]byte(`{"kind":"Trellis","apiVersion":"garden.example.com/v1"}`), nil, nil)
	assert.NoError(t, err)
}

// TestKindOfCRD asserts that the kind is the one that the server serves.
func TestKindOfCRD(t *testing.T) {
	crd := parseCRD(t, trellises)
	crd.Status.AcceptedNames = apiextensionsv1.CustomResourceDefinitionNames{Kind: "OldTrellis"}
	r, err := ForCRD(crd)
	require.NoError(t, err)
	assert.Equal(t, runtimeschema.GroupKind{Group: "garden.example.com", Kind: "OldTrellis"}, r.GroupKind())
}

// TestVersionsWithoutSchema asserts that a version without a schema is decoded alike whether it is
// in the map or not: it is not in the server's map.
func TestVersionsWithoutSchema(t *testing.T) {
	schemas := func(versions ...string) map[string]*structuralschema.Structural {
		m := make(map[string]*structuralschema.Structural)
		for _, v := range versions {
			m[v] = nil
		}
		return m
	}
	const doc = `{"apiVersion":"garden.example.com/v1","kind":"Trellis","metadata":{"name":"a"},"spec":{"rows":4}}`
	for _, versions := range []map[string]*structuralschema.Structural{schemas("v1", "v2"), schemas("v2"), schemas(), nil} {
		r, err := NewResource(trellisV1.GroupKind(), versions)
		require.NoError(t, err)
		u := new(unstructured.Unstructured)
		_, _, err = newSerializer(t, json.SerializerOptions{Strict: true}, r).Decode([]byte(doc), nil, u)
		assert.EqualError(t, err, `strict decoding error: unknown field "spec"`)
		assert.Equal(t, object(t, `{apiVersion: garden.example.com/v1, kind: Trellis, metadata: {name: a}}`), u.Object)
		for _, converter := range []runtime.ObjectConvertor{nil, renamer{}} {
			obj, _, err := r.StorageDecoder("v1", converter).Decode([]byte(doc), nil, nil)
			require.NoError(t, err)
			assert.Equal(t, object(t, `{apiVersion: garden.example.com/v1, kind: Trellis, metadata: {name: a, generation: 1}}`), obj.(*unstructured.Unstructured).Object)
		}
	}
}

// TestPreservingCRD asserts that definitions which preserve unknown fields keep their defaults
// unchanged, and may have schemas that are not structural.
func TestPreservingCRD(t *testing.T) {
	crd := parseCRD(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: trellises.garden.example.com}
spec:
  group: garden.example.com
  scope: Namespaced
  preserveUnknownFields: true
  names: {kind: Trellis, plural: trellises}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, default: {a: 1}}}}}}
  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object, properties: {spec: {$ref: "#/x"}}}}}
`)
	r, err := ForCRD(crd)
	require.NoError(t, err)
	for version, want := range map[string]string{"v1": `{apiVersion: garden.example.com/v1, kind: Trellis, spec: {a: 1}}`, "v2": `{apiVersion: garden.example.com/v2, kind: Trellis}`} {
		u := new(unstructured.Unstructured)
		_, _, err = newSerializer(t, json.SerializerOptions{}, r).Decode([]byte(`{"apiVersion":"garden.example.com/`+version+`","kind":"Trellis"}`), nil, u)
		require.NoError(t, err)
		assert.Equal(t, object(t, want), u.Object)
	}
	crd.Spec.PreserveUnknownFields = false
	_, err = ForCRD(crd)
	assert.ErrorContains(t, err, "version v2")
}
