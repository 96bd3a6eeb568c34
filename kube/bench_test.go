package kube

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/espalier-dev/espalier/decoder"
)

// managed is metadata that a server adds to record who wrote which fields.
const managed = `"managedFields":[{"manager":"kubectl-client-side-apply","operation":"Update","apiVersion":"garden.example.com/v1",` +
	`"time":"2026-01-02T03:04:05Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:example.com/owner":{},"f:example.com/note":{}},` +
	`"f:labels":{".":{},"f:app.kubernetes.io/name":{},"f:app.kubernetes.io/part-of":{}}},"f:spec":{".":{},"f:rows":{},"f:labels":{".":{},"f:a":{},"f:c":{}},"f:note":{},"f:plants":{}}}}],`

// body returns an object of about 1.5 kB, or of about 2 kB with managed, as it is stored.
func body(n int, managed string) []byte {
	plants := make([]string, 16)
	for i := range plants {
		plants[i] = fmt.Sprintf(`{"name":"pear-%d-%d","water":{"litres":%d}}`, n, i, i)
	}
	return fmt.Appendf(nil, `{"apiVersion":"garden.example.com/v1","kind":"Trellis","metadata":{%s"name":"trellis-%d","namespace":"garden",`+
		`"uid":"5e4f0c4a-8d0b-4c0e-9b53-3f6b7d1c9a42","resourceVersion":"%d","generation":3,"creationTimestamp":"2026-01-02T03:04:05Z",`+
		`"labels":{"app.kubernetes.io/name":"trellis","app.kubernetes.io/part-of":"garden"},"annotations":{"example.com/owner":"orchard","example.com/note":"%s"}},`+
		`"spec":{"rows":4,"labels":{"a":"b","c":"d"},"note":"%s","plants":[%s]}}`, managed, n, n, strings.Repeat("x", 100), strings.Repeat("y", 200), strings.Join(plants, ","))
}

// decodeAsServer decodes a request with the server's own packages, as this package calls them for
// their errors.
func decodeAsServer(r *Resource, data []byte, how reading) (*unstructured.Unstructured, error) {
	u, _, err := parseAsServer(data, nil, how)
	if err != nil {
		return nil, err
	}
	if _, err := r.coerce(u, false, how.strict); err != nil {
		return nil, err
	}
	r.Default(u)
	return u, nil
}

// BenchmarkCreate decodes the body of one request, as under Warn and Strict.
func BenchmarkCreate(b *testing.B) { benchmarkCreate(b, body(1, ""), false) }

// BenchmarkCreateYAML does so in YAML.
func BenchmarkCreateYAML(b *testing.B) {
	doc, err := yaml.JSONToYAML(body(1, ""))
	require.NoError(b, err)
	benchmarkCreate(b, doc, true)
}

func benchmarkCreate(b *testing.B, doc []byte, isYAML bool) {
	r := trellis(b)
	how := reading{strict: true, yaml: isYAML}
	s := newSerializer(b, json.SerializerOptions{Strict: true, Yaml: isYAML}, r)
	want, err := decodeAsServer(r, doc, how)
	require.NoError(b, err)
	got := new(unstructured.Unstructured)
	_, _, err = s.Decode(doc, &trellisV1, got)
	require.NoError(b, err)
	require.Equal(b, want, got)
	compare(b, len(doc), func() error {
		_, _, err := s.Decode(doc, &trellisV1, new(unstructured.Unstructured))
		return err
	}, func() error {
		_, err := decodeAsServer(r, doc, how)
		return err
	})
}

// compare measures this package and the server's packages.
func compare(b *testing.B, size int, ours, theirs func() error) {
	for _, side := range []struct {
		name string
		do   func() error
	}{{"espalier", ours}, {"apiextensions", theirs}} {
		b.Run(side.name, func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if err := side.do(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkMergePatch patches an object under Warn.
func BenchmarkMergePatch(b *testing.B) {
	r := trellis(b)
	current := new(unstructured.Unstructured)
	_, _, err := newSerializer(b, json.SerializerOptions{}, r).Decode(body(1, managed), nil, current)
	require.NoError(b, err)
	patch := []byte(`{"metadata":{"labels":{"a":"b"}},"spec":{"rows":5,"note":null}}`)
	compare(b, len(patch), func() error {
		_, _, err := r.Patch(current, types.MergePatchType, patch, decoder.Warn)
		return err
	}, func() error {
		_, _, err := patchAsServer(b, r, current, types.MergePatchType, patch)
		return err
	})
}

// BenchmarkDefinition makes the resource of a definition, for a server that has the schemas.
func BenchmarkDefinition(b *testing.B) {
	crd := parseCRD(b, trellises)
	for i := range crd.Spec.Versions {
		crd.Spec.Versions[i].Schema = crd.Spec.Versions[0].Schema
	}
	versions := make(map[string]*structuralschema.Structural)
	for i := range crd.Spec.Versions {
		s, err := structuralOf(&crd.Spec.Versions[i])
		require.NoError(b, err)
		versions[crd.Spec.Versions[i].Name] = s
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := NewResource(trellisV1.GroupKind(), versions); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkList decodes 500 stored objects, as for a list.
func BenchmarkList(b *testing.B) {
	r := trellis(b)
	stored := make([][]byte, 500)
	size := 0
	for i := range stored {
		stored[i] = body(i, managed)
		size += len(stored[i])
	}
	d := r.StorageDecoder("v1", nil)
	staged := r.stagedStorage("v1", coercingConverter{safely{renaming{r}}, r})
	want, _, err := staged.Decode(stored[0], nil, nil)
	require.NoError(b, err)
	got, _, err := d.Decode(stored[0], nil, nil)
	require.NoError(b, err)
	require.Equal(b, want, got)

	all := func(d runtime.Decoder) func() error {
		return func() error {
			for _, doc := range stored {
				if _, _, err := d.Decode(doc, nil, typed(trellisV1)); err != nil {
					return err
				}
			}
			return nil
		}
	}
	compare(b, size, all(d), all(staged))
}

// BenchmarkOtherVersion decodes a stored object to another version than the stored one.
func BenchmarkOtherVersion(b *testing.B) {
	r := trellis(b, ConversionStrategy(apiextensionsv1.NoneConverter))
	doc := body(1, managed)
	gvk := trellisV1.GroupKind().WithVersion("v2")
	staged := r.stagedStorage("v2", coercingConverter{safely{renaming{r}}, r})
	d := r.StorageDecoder("v2", nil)
	want, _, err := staged.Decode(doc, nil, typed(gvk))
	require.NoError(b, err)
	got, _, err := d.Decode(doc, nil, typed(gvk))
	require.NoError(b, err)
	require.Equal(b, want, got)
	one := func(d runtime.Decoder) func() error {
		return func() error { _, _, err := d.Decode(doc, nil, typed(gvk)); return err }
	}
	compare(b, len(doc), one(d), one(staged))
}
