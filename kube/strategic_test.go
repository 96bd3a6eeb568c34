package kube

import (
	stdjson "encoding/json"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/espalier-dev/espalier/schema"
)

// podSchema has a part of a Pod. Documents have only fields of that part.
const podSchema = `
type: object
properties:
  spec:
    type: object
    properties:
      hostNetwork: {type: boolean}
      nodeSelector: {type: object, additionalProperties: {type: string}}
      containers:
        type: array
        items:
          type: object
          properties:
            name: {type: string}
            image: {type: string}
            args: {type: array, items: {type: string}}
            ports: {type: array, items: {type: object, properties: {containerPort: {type: integer, default: 80}, name: {type: string}}}}
      volumes:
        type: array
        items:
          type: object
          properties:
            name: {type: string}
            emptyDir: {type: object, properties: {medium: {type: string}}}
            configMap: {type: object, properties: {name: {type: string}}}
`

func podChecker(t *testing.T) *StrategicPatchChecker {
	s, err := schema.Parse([]byte(podSchema))
	require.NoError(t, err)
	c, err := NewStrategicPatchChecker(s)
	require.NoError(t, err)
	return c
}

// TestStrategicPatches asserts that the unknown fields of a patch are those that the server finds
// in the result, for patches with all directives, and that directives are no findings.
func TestStrategicPatches(t *testing.T) {
	c := podChecker(t)
	for _, patch := range []string{
		`{}`,
		`{"spec":{"hostNetwork":null,"containers":[{"name":"a","image":"i:2","imagee":"x"}],"q":1}}`,
		`{"spec":{"$setElementOrder/containers":[{"name":"a"},{"name":"b"}],"containers":[{"name":"b","image":"i","ports":[{"containerPort":1,"nmae":"x"}]}]}}`,
		`{"spec":{"containers":[{"name":"a","$patch":"delete"}],"nodeSelector":{"$patch":"replace","x":"y"}}}`,
		`{"spec":{"containers":[{"$patch":"replace"},{"name":"c","z":1}]}}`,
		`{"spec":{"volumes":[{"name":"v","$retainKeys":["name","configMap"],"configMap":{"name":"n","mode":1},"emptyDir":null}]}}`,
		`{"metadata":{"$deleteFromPrimitiveList/finalizers":["f"],"finalizers":["g"],"labels":{"a":null},"junk":1}}`,
		`{"metadata":{"$setElementOrder/ownerReferences":[{"uid":"u"}],"ownerReferences":[{"uid":"u","kindd":"x"}]}}`,
		`{"spec":{"nope":null}}`,
		`{"apiVersion":"v1","kind":"Pod","spec":{"$patch":"replace","containers":[]}}`,
	} {
		list, err := c.Check([]byte(patch))
		require.NoError(t, err, patch)
		var ours []string
		for i := range list {
			ours = append(ours, indices.ReplaceAllString(list[i].Error(), "[]"))
		}
		assert.ElementsMatch(t, strategicAsServer(t, patch), ours, patch)
	}
	list, err := c.Check([]byte("{\"spec\":{\"hostNetwork\":true,\n\"hostNetwork\":false}}"))
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.Equal(t, `2:1: duplicate field "spec.hostNetwork", first at 1:10`, list[0].Detail())
	list, err = c.Check([]byte(`{"spec":{"$setElementOrder/sidecars":[]}}`))
	require.NoError(t, err)
	require.Len(t, list, 1, "an order for a list that there is none of")
}

// strategicAsServer returns the unknown fields in the result for a Pod.
func strategicAsServer(t *testing.T, patch string) []string {
	var original, patchMap map[string]any
	require.NoError(t, stdjson.Unmarshal([]byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","finalizers":["f"],"ownerReferences":[{"uid":"u"}]},
		"spec":{"hostNetwork":true,"containers":[{"name":"a","image":"i:1"}],"volumes":[{"name":"v","emptyDir":{}}]}}`), &original))
	require.NoError(t, stdjson.Unmarshal([]byte(patch), &patchMap))
	result, err := strategicpatch.StrategicMergeMapPatch(original, patchMap, corev1.Pod{})
	require.NoError(t, err, patch)
	err = runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(result, new(corev1.Pod), true)
	if err == nil {
		return nil
	}
	list := texts(t, err)
	for i := range list {
		list[i] = indices.ReplaceAllString(list[i], "[]")
	}
	return list
}

// indices differ: here they are those of the patch, and there those of the result.
var indices = regexp.MustCompile(`\[\d+\]`)

func TestStrategicDirectives(t *testing.T) {
	// The server ignores it silently.
	const ignored = `{"metadata":{"$deleteFromPrimitiveList/finalizers":"f"}}`
	c := podChecker(t)
	for _, c2 := range []struct{ patch, text string }{
		{`{"spec":{"$patch":"merge"}}`, "unknown patch type: merge"},
		{`{"spec":{"containers":[{"$patch":5}]}}`, "unknown patch type: 5"},
		{`{"spec":{"$retainKeys":"a"}}`, "invalid patch format of retainKeys"},
		{`{"spec":{"$retainKeys":["containers"],"hostNetwork":true}}`, "invalid patch format of retainKeys"},
		{`{"spec":{"$setElementOrder/containers":{}}}`, "invalid patch format of setElementOrder list"},
		{`{"metadata":{"$deleteFromPrimitiveList/finalizers":[{}]}}`, "invalid patch format of primitive list"},
		{ignored, "invalid patch format of primitive list"},
	} {
		_, err := c.Check([]byte(c2.patch))
		var explained *Error
		require.ErrorAs(t, err, &explained, c2.patch)
		assert.Equal(t, c2.text, explained.Text)
		assert.Contains(t, explained.Err.Error(), "$")

		var original, patchMap map[string]any
		require.NoError(t, stdjson.Unmarshal([]byte(`{"metadata":{"finalizers":["f"]},"spec":{"hostNetwork":true,"containers":[{"name":"a"}]}}`), &original))
		require.NoError(t, stdjson.Unmarshal([]byte(c2.patch), &patchMap))
		_, err = strategicpatch.StrategicMergeMapPatch(original, patchMap, corev1.Pod{})
		if c2.patch != ignored {
			assert.Error(t, err, "%s: the server refuses it, too", c2.patch)
		}
	}
	for _, patch := range []string{``, `[]`, `null`, `{"a":`} {
		_, err := c.Check([]byte(patch))
		assert.Error(t, err, patch)
	}
	_, err := NewStrategicPatchChecker(nil)
	assert.NoError(t, err)
}

// TestStrategicPatchesOfCircles has a schema that contains itself, as schemas of OpenAPI documents
// may.
func TestStrategicPatchesOfCircles(t *testing.T) {
	s, err := schema.Parse([]byte(`{"type": "object", "properties": {"name": {"type": "string"}}}`))
	require.NoError(t, err)
	s.Properties["below"] = &schema.Structural{Type: "object", Properties: map[string]*schema.Structural{"name": {Type: "string"}}}
	s.Properties["below"].Properties["below"] = s.Properties["below"]
	c, err := NewStrategicPatchChecker(s)
	require.NoError(t, err)
	found, err := c.Check([]byte(`{"below": {"$patch": "replace", "below": {"$patch": "delete", "junk": 1}}}`))
	require.NoError(t, err)
	require.Len(t, found, 1)
	assert.Equal(t, "below.below.junk", found[0].Path.String())
}
