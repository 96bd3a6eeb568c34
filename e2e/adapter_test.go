package e2e

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/types"
	kjson "sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/kube"
)

var gvk = schema.GroupVersionKind{Group: "garden.example.com", Version: "v1", Kind: "Trellis"}

// A result is what package kube makes of a body.
type result struct {
	spec     any
	warnings []string
	message  string // of the answer, if it is refused
}

// compareAdapter asserts that package kube makes of bodies and patches what the server stores, with its
// warnings and messages.
func compareAdapter(t *testing.T, f *front, crd *apiextensionsv1.CustomResourceDefinition) {
	r, err := kube.ForCRD(crd)
	require.NoError(t, err)
	stored, refused := 0, 0
	for _, s := range scenarios() {
		directive := strings.TrimPrefix(s.query, "fieldValidation=")
		isPatch := s.contentType == mergePatchType || s.contentType == jsonPatchType
		if v, ok := validations[directive]; ok && (isPatch || s.contentType == jsonType || s.contentType == yamlType) && s.method != http.MethodDelete {
			var current *unstructured.Unstructured
			want := f.playOn(t, s, func(before *unstructured.Unstructured, body string) { current, s.body = before, body })
			var got result
			if isPatch {
				got = patchLocally(r, current, s, v)
			} else {
				got = decodeLocally(t, r, s, v)
			}
			if compareResult(t, s, want, got, f.namespace) {
				stored++
			} else {
				refused++
			}
		}
	}
	t.Logf("%d stored, %d refused", stored, refused)
	require.Greater(t, stored, 60)
	require.Greater(t, refused, 100)
}

var validations = map[string]decoder.Validation{"": decoder.Warn, "Warn": decoder.Warn, "Strict": decoder.Strict, "Ignore": decoder.Ignore}

// compareResult compares, and reports whether the object was stored.
func compareResult(t *testing.T, s scenario, want answer, got result, namespace string) bool {
	switch {
	case want.Code < 300:
		assert.Empty(t, got.message, s.name)
		assert.Equal(t, asJSON(t, want.Object["spec"]), asJSON(t, got.spec), s.name)
		assert.Equal(t, want.Warnings, got.warnings, s.name)
		return true
	case got.message == "": // what the server refuses later
		later := want.Code == http.StatusUnprocessableEntity || want.Code == http.StatusRequestEntityTooLarge ||
			strings.HasPrefix(want.Status.Message, "the API version in the data")
		assert.True(t, later, "%s: %d %s", s.name, want.Code, want.Status.Message)
	default:
		status := want.Status.DeepCopy()
		status.Message = got.message
		normaliseStatus(status, namespace)
		assert.Equal(t, want.Status.Message, status.Message, s.name)
	}
	return false
}

// asJSON writes a value as it is when it was stored and read once more, which makes 0 of -0.0.
func asJSON(t *testing.T, v any) string {
	js, err := json.Marshal(v)
	require.NoError(t, err)
	var again any
	require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(js, &again))
	js, err = json.Marshal(again)
	require.NoError(t, err)
	return string(js)
}

// decodeLocally decodes the body of a POST or PUT as the server's handler would do it.
func decodeLocally(t *testing.T, r *kube.Resource, s scenario, v decoder.Validation) result {
	decode, err := kube.NewSerializer(nil, nil, serializer.SerializerOptions{Yaml: s.contentType == yamlType, Strict: v != decoder.Ignore}, r)
	require.NoError(t, err)
	u := new(unstructured.Unstructured)
	_, got, err := decode.Decode([]byte(s.body), &gvk, u)
	var out result
	strict, isStrict := runtime.AsStrictDecodingError(err)
	switch {
	case err != nil && (!isStrict || v == decoder.Strict):
		out.message = refusal(got, s.body, err)
		return out
	case isStrict:
		out.warnings = warningsOf(strict.Errors())
	}
	out.spec = u.Object["spec"]
	return out
}

// refusal is the message of the handler's answer (transformDecodeError of k8s.io/apiserver).
func refusal(got *schema.GroupVersionKind, body string, err error) string {
	if got != nil && got.Kind != "" {
		return fmt.Sprintf("%s in version %q cannot be handled as a Trellis: %v", got.Kind, got.Version, err)
	}
	const most = 30
	summary := body[:min(len(body), most)]
	if !strings.HasPrefix(body, "{") {
		summary = hex.EncodeToString([]byte(summary))
	}
	switch {
	case body == "":
		summary = "<empty>"
	case len(body) > most:
		summary += " ..."
	}
	return fmt.Sprintf("the object provided is unrecognized (must be of type Trellis): %v (%s)", err, summary)
}

// warningsOf are the texts of the headers.
func warningsOf(list []error) (texts []string) {
	for _, err := range list {
		for line := range strings.Lines(strings.TrimPrefix(err.Error(), "yaml: unmarshal errors:\n")) {
			texts = append(texts, strings.TrimSpace(line))
		}
	}
	return texts
}

func patchLocally(r *kube.Resource, current *unstructured.Unstructured, s scenario, v decoder.Validation) result {
	patched, warnings, err := r.Patch(current, types.PatchType(s.contentType), []byte(s.body), v)
	if err != nil {
		return result{message: err.Error()}
	}
	return result{spec: patched.Object["spec"], warnings: warningsOf(warnings)}
}

// playOn plays a scenario, and before its request says what the object is and what is sent.
func (f *front) playOn(t *testing.T, s scenario, before func(*unstructured.Unstructured, string)) answer {
	return f.playing(t, s, func(r request) {
		u := new(unstructured.Unstructured)
		if s.clean {
			raw, err := f.client.Get().AbsPath(f.path("v1", r.name)).Do(context.Background()).Raw()
			require.NoError(t, err)
			require.NoError(t, u.UnmarshalJSON(raw))
		}
		before(u, r.body)
	})
}
