package kube

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured/unstructuredscheme"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/recognizer"
	"k8s.io/apimachinery/pkg/runtime/serializer/versioning"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
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
	delegate := recognizer.NewDecoder(cbor.NewSerializer(unstructuredscheme.NewUnstructuredCreator(), unstructuredscheme.NewUnstructuredObjectTyper()), unstructured.UnstructuredJSONScheme)
	obj, gvk, err := delegate.Decode(data, defaults, into)
	if u, ok := obj.(*unstructured.Unstructured); ok && err == nil {
		_, err = s.r.coerce(u, true, false)
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
	if u, ok := out.(*unstructured.Unstructured); ok && err == nil {
		_, err = c.r.coerce(u, false, false)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// A renamer is the converter None of the API server.
type renamer struct{ runtime.ObjectConvertor }

func (renamer) ConvertToVersion(in runtime.Object, gv runtime.GroupVersioner) (runtime.Object, error) {
	from := in.GetObjectKind().GroupVersionKind()
	to, ok := gv.KindForGroupVersionKinds([]runtimeschema.GroupVersionKind{from})
	if !ok {
		return nil, fmt.Errorf("%v is unstructured and is not suitable for converting to %q", from, gv)
	}
	for i, gvk := range []runtimeschema.GroupVersionKind{to, from} {
		if gvk.Version != "v0" && gvk.Version != "v1" && gvk.Version != "v2" {
			return nil, fmt.Errorf("request to convert CR %s an invalid group/version: %s", []string{"to", "from"}[i], gvk.GroupVersion())
		}
	}
	if list, ok := in.(*unstructured.UnstructuredList); ok {
		for i := range list.Items {
			u := &list.Items[i]
			if v := u.GroupVersionKind().Version; u.GroupVersionKind().Group != trellisV1.Group || v != "v0" && v != "v1" && v != "v2" {
				return nil, fmt.Errorf("request to convert CR list failed, list index %d has invalid group/version: %s", i, u.GroupVersionKind().GroupVersion())
			}
			u.SetGroupVersionKind(to.GroupVersion().WithKind(u.GetKind()))
		}
	}
	in.GetObjectKind().SetGroupVersionKind(to)
	return in, nil
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

// TestStorageOfOtherVersions compares objects with parts of all kinds, stored as JSON and as CBOR,
// with what the codec of the API server makes of them, for all ways to convert.
func TestStorageOfOtherVersions(t *testing.T) {
	none := trellis(t, ConversionStrategy(apiextensionsv1.NoneConverter))
	unknown := trellis(t)
	parts := []string{
		`"metadata":{"name":"a","labels":5,"junk":1,"creationTimestamp":null,"generation":1.5}`,
		`"metadata":{"name":"a","annotations":{"a":null},"managedFields":[{"fieldsV1":{"f:a":{}}}]},"spec":{}`,
		`"metadata":{},"spec":{"height":1.0,"rows":null,"wires":1e2,"note":null,"plants":[{"name":"x","z":1},{"water":null},null,5]}`,
		`"metadata":{},"spec":{"template":{"metadata":{"name":5,"labels":{"a":"b"}},"kind":5,"z":1}}`,
		`"metadata":{},"spec":{"rows":1},"spec":{"rows":2},"KIND":5`,
		`"metadata":{},"items":[]`, `"metadata":{},"items":[{"kind":"Trellis","apiVersion":"garden.example.com/v1","spec":{"z":1}}]`,
		`"metadata":{},"it\u0065ms":null`, `"metadata":{},"spec":{"items":[1]}`,
		`"metadata":{"deletionTimestamp":"0001-01-01T00:00:00Z"}`, `"metadata":{"creationTimestamp":"9999-12-31T23:59:59-12:00"}`,
		`"metadata":5`, `"metadata":{"name":5}`, `"spec":5,"metadata":{}`, `"metadata":{},"spec":`, "\"metadata\":{\"name\":\"\xff\"},\"a\":\"\xff\"",
	}
	var docs [][]byte
	for _, apiVersion := range []string{"garden.example.com/v1", "garden.example.com/v2", "garden.example.com/v0", "garden.example.com/v9", "other/v1"} {
		for _, kind := range []string{"Trellis", "Gate", "TrellisList"} {
			for _, part := range parts {
				doc := fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,%s}`, apiVersion, kind, part)
				docs = append(docs, doc)
				u := new(unstructured.Unstructured)
				if _, _, err := unstructured.UnstructuredJSONScheme.Decode(doc, nil, u); err == nil {
					docs = append(docs, asCBOR(t, u))
				}
			}
		}
	}
	docs = append(docs, nil, []byte("null"), []byte("k8s\x00\x0a"), []byte("\xd9\xd9\xf7\xa0"), []byte("\xd9\xd9\xf7\xff"), []byte("\xd9\xd9\xf7\xa1\x44kind\x44Gate"))
	for _, version := range []string{"v1", "v2", "v0", "v9"} {
		gv := trellisV1.GroupKind().WithVersion(version).GroupVersion()
		for way, ours := range map[string]*StorageDecoder{
			"renaming": none.StorageDecoder(version, nil), "None and a converter": none.StorageDecoder(version, safely{renamer{}}), "a converter": unknown.StorageDecoder(version, safely{renamer{}}),
		} {
			codec := versioning.NewCodec(nil, staged{none}, coercing{renamer{}, none}, unstructuredscheme.NewUnstructuredCreator(),
				unstructuredscheme.NewUnstructuredObjectTyper(), none, nil, gv, "test")
			for _, doc := range docs {
				for _, into := range []func() runtime.Object{
					func() runtime.Object { return nil },
					func() runtime.Object { return typed(gv.WithKind("Trellis")) },
					func() runtime.Object { return typed(trellisV1.GroupKind().WithVersion("v2")) },
				} {
					want, gvk, refusal := codec.Decode(doc, nil, into())
					obj, got, err := ours.Decode(doc, nil, into())
					where := fmt.Sprintf("%s: %q to %s, into %v", way, doc, version, into())
					if refusal != nil {
						assert.EqualError(t, err, refusal.Error(), where)
						assert.Nil(t, obj, where)
					} else if assert.NoError(t, err, where) {
						assert.Equal(t, want, obj, where)
					}
					assert.Equal(t, gvk, got, where)
					if t.Failed() {
						t.FailNow()
					}
				}
			}
		}
	}
}

func asCBOR(t *testing.T, u *unstructured.Unstructured) []byte {
	data, err := runtime.Encode(cbor.NewSerializer(nil, nil), u)
	require.NoError(t, err)
	return data
}

// TestStoredCBOR asserts by which rules what is stored as CBOR is read. They are the server's, and
// docs/upstream.md plans by them.
func TestStoredCBOR(t *testing.T) {
	const head = "6a61706956657273696f6e7567617264656e2e6578616d706c652e636f6d2f7631" + "646b696e64675472656c6c6973" + "686d65746164617461a0" // three members
	const note = "a4" + head + "6473706563" + "a1" + "646e6f7465"
	const height = "a4" + head + "6473706563" + "a1" + "66686569676874"
	d := trellis(t).StorageDecoder("v1", nil)
	for name, c := range map[string]struct {
		item  string
		field string
		want  any // the value of the field, or the error as far as it goes
	}{
		"text":                         {note + "626869", "note", "hi"},
		"a byte string is text":        {note + "426869", "note", "hi"},
		"which need not be UTF-8":      {note + "42ff41", "note", "\xffA"},
		"text must be UTF-8":           {note + "62ff41", "", "invalid UTF-8 string"},
		"base64 by its tag":            {note + "d6426869", "note", "aGk="},
		"a tag of no meaning":          {note + "d863626869", "note", "hi"},
		"a time":                       {note + "c11a5f5e1000", "note", "2020-09-13T12:26:40Z"},
		"an integer":                   {height + "01", "height", int64(1)},
		"a float":                      {height + "f93c00", "height", 1.0},
		"not a number":                 {height + "f97e00", "", "NaN"},
		"an integer that is too large": {height + "1bffffffffffffffff", "", "overflows Go's int64"},
		"a large number":               {height + "c2410a", "", "bignum"},
		"undefined":                    {note + "f7", "", "simple value 23"},
		"no length":                    {"bf" + head + "6473706563" + "a1646e6f7465626869" + "ff", "note", "hi"},
		"a name twice":                 {"a5" + head + "6473706563a0" + "4473706563a0", "", `duplicate map key "spec"`},
		"a name that is no text":       {"a4" + head + "01a0", "", "cannot unmarshal positive integer"},
		"a length that is a lie":       {"bb7fffffffffffffff", "", "exceeded max number of key-value pairs"},
		"more behind the end":          {"a3" + head + "00", "", "extraneous data"},
		"null":                         {"f6", "", "Object 'Kind' is missing"},
		"nothing":                      {"", "", "unexpected EOF"},
	} {
		data, err := hex.DecodeString("d9d9f7" + c.item)
		require.NoError(t, err, name)
		obj, _, err := d.Decode(data, nil, nil)
		if c.field == "" {
			assert.ErrorContains(t, err, c.want.(string), name)
			continue
		}
		require.NoError(t, err, name)
		assert.Equal(t, c.want, obj.(*unstructured.Unstructured).Object["spec"].(map[string]any)[c.field], name)
	}
}

// A safely is a converter that copies objects before it converts them, as that of the server does.
type safely struct{ runtime.ObjectConvertor }

func (s safely) ConvertToVersion(in runtime.Object, gv runtime.GroupVersioner) (runtime.Object, error) {
	return s.ObjectConvertor.ConvertToVersion(in.DeepCopyObject(), gv)
}

// TestConversionErrors asserts that errors of the second walk have no positions, which would be
// those of a text that nobody has.
func TestConversionErrors(t *testing.T) {
	embedded := structuralschema.Structural{Generic: structuralschema.Generic{Type: "object"}, Extensions: structuralschema.Extensions{XPreserveUnknownFields: true}}
	of := func(m structuralschema.Structural) *structuralschema.Structural {
		return &structuralschema.Structural{Generic: structuralschema.Generic{Type: "object"}, Properties: map[string]structuralschema.Structural{"m": m}}
	}
	plain := of(embedded)
	embedded.XEmbeddedResource = true
	r, err := NewResource(trellisV1.GroupKind(), map[string]*structuralschema.Structural{"v1": plain, "v2": of(embedded)}, ConversionStrategy(apiextensionsv1.NoneConverter))
	require.NoError(t, err)
	d := r.StorageDecoder("v2", nil)
	const head = `{"apiVersion":"garden.example.com/v1","kind":"Trellis","metadata":{"name":"a"}`
	_, _, err = d.Decode([]byte(head+"}"), nil, new(unstructured.Unstructured))
	require.NoError(t, err, "the decoder expects v1 from now on")
	for m, want := range map[string]string{
		`{"metadata":5}`:                         `-: field "m.metadata" must be an object, not a number`,
		`{"metadata":{"creationTimestamp":"x"}}`: `-: parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006" in "m.metadata"`,
	} {
		_, _, err = d.Decode([]byte(head+`,"m":`+m+"}"), nil, new(unstructured.Unstructured))
		var e *Error
		require.ErrorAs(t, err, &e)
		assert.EqualError(t, e.Err, want)
	}
}

// TestMetadataOfOneVersion has an embedded resource in the stored version which is none in the other: the server
// reads its metadata once, and keeps the null that it writes for a time that is zero. Defaults with nulls are
// pruned by the schema of the other version.
func TestMetadataOfOneVersion(t *testing.T) {
	object := structuralschema.Structural{Generic: structuralschema.Generic{Type: "object"}, Extensions: structuralschema.Extensions{XPreserveUnknownFields: true}}
	of := func(m structuralschema.Structural, properties map[string]structuralschema.Structural) *structuralschema.Structural {
		m.Properties = properties
		m.Default.Object = map[string]any{"n": nil}
		return &structuralschema.Structural{Generic: structuralschema.Generic{Type: "object"}, Properties: map[string]structuralschema.Structural{"m": m}}
	}
	plain := of(object, map[string]structuralschema.Structural{"n": {Generic: structuralschema.Generic{Type: "string"}}})
	object.XEmbeddedResource = true
	r, err := NewResource(trellisV1.GroupKind(), map[string]*structuralschema.Structural{"v1": of(object, nil), "v2": plain}, ConversionStrategy(apiextensionsv1.NoneConverter))
	require.NoError(t, err)
	renames, webhook := r.StorageDecoder("v2", nil), r.StorageDecoder("v2", safely{renamer{}})
	webhook.renames = false
	v2 := trellisV1.GroupKind().WithVersion("v2")
	for _, doc := range []string{
		`"m":{"metadata":{"name":"a","deletionTimestamp":"0001-01-01T00:00:00Z"}}`, `"m":{"metadata":{"creationTimestamp":"9999-12-31T23:59:59-12:00"}}`,
		`"m":null`, `"m":{"n":null}`, `"z":1`, `"m":{"metadata":{"name":5}}`,
	} {
		doc := []byte(`{"apiVersion":"garden.example.com/v1","kind":"Trellis","metadata":{"name":"a"},` + doc + `}`)
		want, gvk, refusal := renames.staged.Decode(doc, nil, typed(v2))
		require.NoError(t, refusal)
		for _, d := range []*StorageDecoder{renames, webhook} {
			obj, got, err := d.Decode(doc, nil, typed(v2))
			require.NoError(t, err)
			assert.Equal(t, want, obj, "%s", doc)
			assert.Equal(t, gvk, got)
			object, _, _, refusal := d.decodeFast(doc, v2.GroupVersion())
			assert.NotNil(t, object, "%s: %v", doc, refusal)
		}
	}
	for doc, want := range map[string]string{
		`"m":{"metadata":{"deletionTimestamp":"0001-01-01T00:00:00Z"}}`: `{"metadata":{"deletionTimestamp":null}}`, `"z":1`: `{}`,
	} {
		u := new(unstructured.Unstructured)
		_, _, err := renames.Decode([]byte(`{"apiVersion":"garden.example.com/v1","kind":"Trellis","metadata":{},`+doc+`}`), nil, u)
		require.NoError(t, err)
		js, err := json.Marshal(u.Object["m"])
		require.NoError(t, err)
		assert.JSONEq(t, want, string(js))
	}
}

// TestStorageLimits asserts that an object is not refused for a limit because of the defaults of a
// version in which it is not stored.
func TestStorageLimits(t *testing.T) {
	of := func(value string) *structuralschema.Structural {
		field := structuralschema.Structural{Generic: structuralschema.Generic{Type: "string", Default: structuralschema.JSON{Object: value}}}
		return &structuralschema.Structural{Generic: structuralschema.Generic{Type: "object"}, Properties: map[string]structuralschema.Structural{"m": field}}
	}
	r, err := NewResource(trellisV1.GroupKind(), map[string]*structuralschema.Structural{"v1": of("a"), "v2": of(strings.Repeat("b", 100))},
		ConversionStrategy(apiextensionsv1.NoneConverter), Limits(decoder.Limits{DefaultBytes: 50}))
	require.NoError(t, err)
	d := r.StorageDecoder("v2", nil)
	for version, accepted := range map[string]bool{"v1": true, "v2": false} {
		for range 2 {
			doc := fmt.Appendf(nil, `{"apiVersion":"garden.example.com/%s","kind":"Trellis","metadata":{"name":"a"}}`, version)
			obj, _, err := d.Decode(doc, nil, nil)
			if accepted {
				require.NoError(t, err)
				assert.Equal(t, "a", obj.(*unstructured.Unstructured).Object["m"])
				continue
			}
			var limit *ferrors.LimitError
			require.ErrorAs(t, err, &limit)
		}
	}
}
