package admission_test

import (
	"context"
	"strings"
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

func TestValidator(t *testing.T) {
	most := float64(9)
	values, err := kube.NewValidator(&apiextensionsv1.CustomResourceDefinition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{
		Group: "garden.example.com", Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: "Gate"},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Schema: &apiextensionsv1.CustomResourceValidation{
			OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
				"bars": {Type: "integer", Maximum: &most},
				"status": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
					"phase": {Type: "string", Enum: []apiextensionsv1.JSON{{Raw: []byte(`"open"`)}}},
				}},
			}},
		}, Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}}},
	}}, "v1")
	require.NoError(t, err)
	v, err := admission.NewValidator[*unstructured.Unstructured](values)
	require.NoError(t, err)
	hook := crtadmission.WithValidator(runtime.NewScheme(), v)

	const invalid = `{"apiVersion":"garden.example.com/v1","kind":"Gate","metadata":{"name":"a"},"bars":10}`
	const valid = `{"apiVersion":"garden.example.com/v1","kind":"Gate","metadata":{"name":"a","finalizers":["b"]},"bars":9}`
	send := func(operation admissionv1.Operation, object, old string) crtadmission.Response {
		r := request(object)
		r.Operation, r.OldObject = operation, runtime.RawExtension{Raw: []byte(old)}
		return hook.Handle(context.Background(), r)
	}
	refused := send(admissionv1.Create, invalid, "")
	assert.False(t, refused.Allowed)
	assert.Equal(t, int32(422), refused.Result.Code)
	assert.Equal(t, `Gate.garden.example.com "a" is invalid: bars: Invalid value: 10: bars in body should be less than or equal to 9`, refused.Result.Message)
	require.Len(t, refused.Result.Details.Causes, 1)

	passed := send(admissionv1.Create, valid, "")
	assert.True(t, passed.Allowed)
	assert.Equal(t, []string{`metadata.finalizers: "b": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers`}, passed.Warnings)
	assert.True(t, send(admissionv1.Update, invalid, invalid).Allowed, "what was invalid may stay")
	worse := send(admissionv1.Update, strings.Replace(invalid, "10", "11", 1), invalid)
	assert.Equal(t, int32(422), worse.Result.Code)
	assert.Equal(t, `Gate.garden.example.com "a" is invalid: bars: Invalid value: 11: bars in body should be less than or equal to 9`, worse.Result.Message)
	assert.Empty(t, send(admissionv1.Update, valid, valid).Warnings, "the finalizer is not new")
	assert.Equal(t, passed.Warnings, send(admissionv1.Update, valid, invalid).Warnings)

	status := func(object string) crtadmission.Response {
		r := request(object)
		r.Operation, r.SubResource, r.OldObject = admissionv1.Update, "status", runtime.RawExtension{Raw: []byte(invalid)}
		return hook.Handle(context.Background(), r)
	}
	assert.True(t, status(strings.Replace(invalid, "10", "11", 1)).Allowed, "the status alone is written")
	assert.Empty(t, status(valid).Warnings)
	late := status(strings.TrimSuffix(valid, "}") + `,"status":{"phase":"late"}}`)
	assert.False(t, late.Allowed)
	assert.Equal(t, `Gate.garden.example.com "a" is invalid: status.phase: Unsupported value: "late": supported values: "open"`, late.Result.Message)
	assert.True(t, send(admissionv1.Delete, "", invalid).Allowed)

	_, err = admission.NewValidator[*unstructured.Unstructured](nil)
	assert.Error(t, err)
}
