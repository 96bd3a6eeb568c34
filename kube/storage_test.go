package kube

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured/unstructuredscheme"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/recognizer"
	"k8s.io/apimachinery/pkg/runtime/serializer/versioning"
)

func TestStorageDecoder(t *testing.T) {
	r := trellis(t)
	const stored = `{"apiVersion":"garden.example.com/v1","kind":"Trellis","metadata":{"name":"a","labels":5,"junk":1},"spec":{"rows":7,"wires":1}}`
	u := new(unstructured.Unstructured)
	obj, gvk, err := r.StorageDecoder("v1", nil).Decode([]byte(stored), nil, u)
	require.NoError(t, err)
	assert.Same(t, u, obj)
	assert.Equal(t, trellisV1, *gvk)
	assert.Equal(t, object(t, `{apiVersion: garden.example.com/v1, kind: Trellis, metadata: {name: a, generation: 1}, spec: {rows: 7, height: 1.5}}`), u.Object)

	_, gvk, err = r.StorageDecoder("v2", nil).Decode([]byte(stored), nil, nil)
	assert.ErrorContains(t, err, "there is no converter")
	assert.Equal(t, trellisV1, *gvk)
	obj, gvk, err = r.StorageDecoder("v2", renamer{}).Decode([]byte(stored), nil, nil)
	require.NoError(t, err)
	assert.Equal(t, trellisV1, *gvk, "the type that was stored")
	// As in the server, fields that v1 does not have are dropped before, and defaults of v2 are not
	// inserted.
	assert.Equal(t, object(t, `{apiVersion: garden.example.com/v2, kind: Trellis, metadata: {name: a, generation: 1}, spec: {rows: 7}}`), obj.(*unstructured.Unstructured).Object)
	obj, _, err = r.StorageDecoder("v2", renamer{}).Decode([]byte(stored), nil, new(unstructured.Unstructured))
	require.NoError(t, err)
	assert.Equal(t, "garden.example.com/v2", obj.(*unstructured.Unstructured).GetAPIVersion(), "an object that asks for nothing")

	_, _, err = r.StorageDecoder("v1", nil).Decode([]byte(`{"apiVersion":"garden.example.com/v1","kind":"Trellis","metadata":"x"}`), nil, nil)
	assert.ErrorContains(t, err, "invalid metadata: expected object, got string")
	_, _, err = r.StorageDecoder("v1", nil).Decode([]byte(stored), nil, new(runtime.Unknown))
	assert.ErrorContains(t, err, "*runtime.Unknown")
	_, _, err = r.StorageDecoder("v1", nil).Decode([]byte(`{"apiVersion":"v1","kind":"Gate","metadata":{"name":"a","q":1},"a":null}`), nil, nil)
	assert.ErrorContains(t, err, "there is no converter", "to another group")
	obj, _, err = r.StorageDecoder("v1", nil).Decode([]byte(`{"apiVersion":"garden.example.com/v1","kind":"Gate","metadata":{"name":"a","q":1},"a":null}`), nil, nil)
	require.NoError(t, err, "there is nothing to convert")
	assert.Equal(t, object(t, `{apiVersion: garden.example.com/v1, kind: Gate, metadata: {name: a}, a: null}`), obj.(*unstructured.Unstructured).Object)
	_, _, err = r.StorageDecoder("v2", typer{}).Decode([]byte(stored), nil, nil)
	assert.ErrorContains(t, err, "the converter returned a *runtime.Unknown")

	// It works beside other decoders.
	for _, doc := range []string{stored, " " + stored} {
		obj, _, err = recognizer.NewDecoder(r.StorageDecoder("v1", nil)).Decode([]byte(doc), nil, nil)
		require.NoError(t, err)
		assert.Equal(t, "a", obj.(*unstructured.Unstructured).GetName())
	}
	_, _, err = recognizer.NewDecoder(r.StorageDecoder("v1", nil)).Decode([]byte("null"), nil, nil)
	assert.True(t, runtime.IsMissingKind(err), "%v", err)
}

// TestStorageDecoderAsCodec compares it with the codec of the API server, assembled like that of
// crdConversionRESTOptionsGetter.
func TestStorageDecoderAsCodec(t *testing.T) {
	r := trellis(t)
	for _, version := range []string{"v1", "v2", "v9"} {
		gv := trellisV1.GroupKind().WithVersion(version).GroupVersion()
		codec := versioning.NewCodec(nil, staged{r}, coercing{renamer{}, r}, unstructuredscheme.NewUnstructuredCreator(),
			unstructuredscheme.NewUnstructuredObjectTyper(), r, nil, gv, "test")
		ours := r.StorageDecoder(version, renamer{})
		for _, apiVersion := range []string{"garden.example.com/v1", "garden.example.com/v2", "garden.example.com/v0", "garden.example.com/v9", "other.example.com/v1", "v1", "", "a/b/c"} {
			for _, kind := range []string{"Trellis", "Gate", "TrellisList", ""} {
				for _, into := range []func() runtime.Object{
					func() runtime.Object { return nil },
					func() runtime.Object { return typed(gv.WithKind("Trellis")) },
					func() runtime.Object { return typed(trellisV1) },
				} {
					doc := fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,"metadata":{"name":"a","labels":5,"junk":1},"spec":{"rows":7,"wires":1,"note":null},"z":1}`, apiVersion, kind)
					want, gvk, refusal := codec.Decode(doc, nil, into())
					obj, got, err := ours.Decode(doc, nil, into())
					where := fmt.Sprintf("%s to %s, into %v", doc, version, into())
					if refusal != nil {
						assert.EqualError(t, err, refusal.Error(), where)
					} else {
						require.NoError(t, err, where)
						assert.Equal(t, want, obj, where)
					}
					assert.Equal(t, gvk, got, where)
				}
			}
		}
	}
}

// staged is the decoder within the codec of the API server.
type staged struct{ r *Resource }

func (s staged) Decode(data []byte, defaults *runtimeschema.GroupVersionKind, into runtime.Object) (runtime.Object, *runtimeschema.GroupVersionKind, error) {
	obj, gvk, err := unstructured.UnstructuredJSONScheme.Decode(data, defaults, into)
	if err == nil {
		_, err = s.r.coerce(obj.(*unstructured.Unstructured), true, false)
	}
	if err != nil {
		return nil, gvk, err
	}
	return obj, gvk, nil
}

// coercing is the converter within the codec.
type coercing struct {
	renamer
	r *Resource
}

func (c coercing) Convert(in, out, context any) error {
	if err := c.renamer.Convert(in, out, context); err != nil {
		return err
	}
	_, err := c.r.coerce(out.(*unstructured.Unstructured), false, false)
	return err
}

func (c coercing) ConvertToVersion(in runtime.Object, gv runtime.GroupVersioner) (runtime.Object, error) {
	out, err := c.renamer.ConvertToVersion(in, gv)
	if err == nil {
		_, err = c.r.coerce(out.(*unstructured.Unstructured), false, false)
	}
	return out, err
}

// A renamer is the converter None of the API server.
type renamer struct{ runtime.ObjectConvertor }

func (renamer) ConvertToVersion(in runtime.Object, gv runtime.GroupVersioner) (runtime.Object, error) {
	u := in.(*unstructured.Unstructured)
	from := u.GroupVersionKind()
	to, ok := gv.KindForGroupVersionKinds([]runtimeschema.GroupVersionKind{from})
	if !ok {
		return nil, fmt.Errorf("%v is unstructured and is not suitable for converting to %q", from, gv)
	}
	for _, gvk := range []runtimeschema.GroupVersionKind{to, from} {
		if gvk.Version != "v0" && gvk.Version != "v1" && gvk.Version != "v2" {
			return nil, fmt.Errorf("request to convert CR from or to an invalid group/version: %s", gvk.GroupVersion())
		}
	}
	u.SetGroupVersionKind(to)
	return u, nil
}

func (r renamer) Convert(in, out, _ any) error {
	to := out.(*unstructured.Unstructured)
	converted, err := r.ConvertToVersion(in.(*unstructured.Unstructured), to.GroupVersionKind().GroupVersion())
	if err == nil {
		to.Object = converted.(*unstructured.Unstructured).Object
	}
	return err
}

// A typer is a converter whose results are not unstructured.
type typer struct{ runtime.ObjectConvertor }

func (typer) ConvertToVersion(runtime.Object, runtime.GroupVersioner) (runtime.Object, error) {
	return new(runtime.Unknown), nil
}

func typed(gvk runtimeschema.GroupVersionKind) *unstructured.Unstructured {
	u := new(unstructured.Unstructured)
	u.SetGroupVersionKind(gvk)
	return u
}
