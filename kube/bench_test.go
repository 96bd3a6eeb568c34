package kube

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
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
func BenchmarkCreate(b *testing.B) {
	r := trellis(b)
	doc := body(1, "")
	s := newSerializer(b, json.SerializerOptions{Strict: true}, r)
	want, err := decodeAsServer(r, doc, reading{strict: true})
	require.NoError(b, err)
	got := new(unstructured.Unstructured)
	_, _, err = s.Decode(doc, &trellisV1, got)
	require.NoError(b, err)
	require.Equal(b, want, got)

	b.Run("espalier", func(b *testing.B) {
		b.SetBytes(int64(len(doc)))
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := s.Decode(doc, &trellisV1, new(unstructured.Unstructured)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("apiextensions", func(b *testing.B) {
		b.SetBytes(int64(len(doc)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := decodeAsServer(r, doc, reading{strict: true}); err != nil {
				b.Fatal(err)
			}
		}
	})
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

	b.Run("espalier", func(b *testing.B) {
		b.SetBytes(int64(size))
		b.ReportAllocs()
		for b.Loop() {
			for _, doc := range stored {
				if _, _, err := d.Decode(doc, nil, typed(trellisV1)); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("apiextensions", func(b *testing.B) {
		b.SetBytes(int64(size))
		b.ReportAllocs()
		for b.Loop() {
			for _, doc := range stored {
				if _, _, err := staged.Decode(doc, nil, typed(trellisV1)); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
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
	for name, decoder := range map[string]runtime.Decoder{"espalier": d, "apiextensions": staged} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := decoder.Decode(doc, nil, typed(gvk)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
