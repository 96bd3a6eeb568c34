package admission_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	crtadmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/espalier-dev/espalier/kube"
	"github.com/espalier-dev/espalier/kube/controllerruntime/admission"
)

func request(object string) crtadmission.Request {
	return crtadmission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Object: runtime.RawExtension{Raw: []byte(object)}}}
}

func gates(t *testing.T) (*runtime.Scheme, *kube.Resource) {
	r, err := kube.ForCRD(&apiextensionsv1.CustomResourceDefinition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{
		Group: "garden.example.com", Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: "Gate"},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Schema: &apiextensionsv1.CustomResourceValidation{
			OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
				"open": {Type: "boolean", Default: &apiextensionsv1.JSON{Raw: []byte(`true`)}},
			}},
		}}},
	}})
	require.NoError(t, err)
	scheme := runtime.NewScheme()
	require.NoError(t, apiextensionsv1.AddToScheme(scheme))
	return scheme, r
}

func TestDecoder(t *testing.T) {
	scheme, r := gates(t)
	const gate = `{"apiVersion":"garden.example.com/v1","kind":"Gate","metadata":{"name":"a"},"opne":false}`
	want := map[string]any{"apiVersion": "garden.example.com/v1", "kind": "Gate", "metadata": map[string]any{"name": "a"}, "open": true}

	var lenient crtadmission.Decoder
	lenient, err := admission.NewDecoder(scheme, false, r)
	require.NoError(t, err)
	u := new(unstructured.Unstructured)
	require.NoError(t, lenient.Decode(request(gate), u))
	assert.Equal(t, want, u.Object)

	strict, err := admission.NewDecoder(scheme, true, r)
	require.NoError(t, err)
	u = new(unstructured.Unstructured)
	err = strict.DecodeRaw(runtime.RawExtension{Raw: []byte(gate)}, u)
	assert.EqualError(t, err, `strict decoding error: unknown field "opne"`)
	assert.Equal(t, want, u.Object)

	// This type has no resource.
	crd := new(apiextensionsv1.CustomResourceDefinition)
	require.NoError(t, strict.Decode(request(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","spec":{"group":"g"}}`), crd))
	assert.Equal(t, "g", crd.Spec.Group)
	assert.Error(t, strict.Decode(request(gate), crd), "an object of another type")

	for _, into := range []runtime.Object{new(unstructured.Unstructured), crd} {
		theirs := crtadmission.NewDecoder(scheme)
		assert.EqualError(t, lenient.Decode(request(""), into), theirs.Decode(request(""), into).Error())
		assert.Error(t, lenient.Decode(request("{"), into))
	}
	_, err = admission.NewDecoder(scheme, false)
	assert.Error(t, err)
}

func TestNotMade(t *testing.T) {
	scheme, r := gates(t)
	_, err := admission.NewDecoder(nil, true, r)
	assert.ErrorContains(t, err, "the scheme is nil")
	_, err = admission.NewDecoder(scheme, true)
	assert.Error(t, err)
	_, err = admission.NewDecoder(scheme, true, nil)
	assert.Error(t, err)
	assert.Error(t, new(admission.Decoder).Decode(request(`{}`), new(unstructured.Unstructured)))
}
