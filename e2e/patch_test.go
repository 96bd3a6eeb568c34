package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	kjson "sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/kube"
)

var gvk = schema.GroupVersionKind{Group: "garden.example.com", Version: "v1", Kind: "Trellis"}

var validations = map[string]decoder.FieldValidation{
	"": decoder.Warn, "fieldValidation=Warn": decoder.Warn, "fieldValidation=Strict": decoder.Strict, "fieldValidation=Ignore": decoder.Ignore,
}

// comparePatches asserts that kube.Resource.Patch makes the same of an object as the server, with
// the same warnings, codes and messages.
func comparePatches(t *testing.T, f *endpoint, crd *apiextensionsv1.CustomResourceDefinition) {
	r, err := kube.ForCRD(crd)
	require.NoError(t, err)
	stored, refused := 0, 0
	for _, s := range scenarios() {
		v, known := validations[s.query]
		if s.method != http.MethodPatch || !known {
			continue
		}
		var current *unstructured.Unstructured
		want := f.playing(t, s, func(request) { current = f.get(t, s.request.name) })
		patched, warnings, err := r.Patch(current, types.PatchType(s.contentType), []byte(s.body), v)
		var texts []string
		for _, w := range warnings {
			texts = append(texts, w.Error())
		}
		switch {
		case want.Code < 300:
			require.NoError(t, err, s.name)
			assert.Equal(t, asStored(t, want.Object["spec"]), asStored(t, patched.Object["spec"]), s.name)
			assert.Equal(t, want.Warnings, texts, s.name)
			stored++
		case err == nil: // the server refuses the object as invalid, later
			assert.Equal(t, http.StatusUnprocessableEntity, want.Code, s.name)
			assert.NotContains(t, want.Status.Message, "patch", s.name)
		default:
			status, ok := err.(interface{ Status() metav1.Status })
			require.True(t, ok, "%s: %v", s.name, err)
			got := status.Status()
			normaliseStatus(&got, f.namespace)
			if want.Code != http.StatusUnsupportedMediaType { // the server's text also names Protobuf and more
				assert.Equal(t, want.Status.Message, got.Message, s.name)
			}
			assert.Equal(t, want.Code, int(got.Code), s.name)
			refused++
		}
	}
	t.Logf("%d stored, %d refused", stored, refused)
	require.Greater(t, stored, 8)
	require.Greater(t, refused, 20)
}

func (f *endpoint) get(t *testing.T, name string) *unstructured.Unstructured {
	raw, err := f.client.Get().AbsPath(f.path("v1", name)).Do(context.Background()).Raw()
	require.NoError(t, err)
	u := new(unstructured.Unstructured)
	require.NoError(t, u.UnmarshalJSON(raw))
	return u
}

// asStored returns a value as JSON after it was stored and read.
func asStored(t *testing.T, v any) string {
	js, err := json.Marshal(v)
	require.NoError(t, err)
	var again any
	require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(js, &again))
	js, err = json.Marshal(again)
	require.NoError(t, err)
	return string(js)
}
