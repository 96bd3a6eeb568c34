package kube

import (
	"fmt"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
)

// retained returns how many bytes of the heap n calls of f leave reachable, per call.
func retained(n int, f func(i int) any) int {
	heap := func() int {
		var m goruntime.MemStats
		goruntime.GC()
		goruntime.GC()
		goruntime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	kept := make([]any, n)
	before := heap()
	for i := range kept {
		kept[i] = f(i)
	}
	after := heap()
	goruntime.KeepAlive(kept)
	return (after - before) / n
}

// TestKeptStrings asserts that the strings of objects' types and names keep nothing else in memory,
// and that other strings keep no more than a chunk, however large the body of the request was.
func TestKeptStrings(t *testing.T) {
	if underRace {
		t.Skip("the race detector has memory of its own")
	}
	r := trellis(t, ConversionStrategy(apiextensionsv1.NoneConverter))
	requests := newSerializer(t, json.SerializerOptions{}, r)
	decoders := map[string]runtime.Decoder{
		"requests": requests, "YAML": newSerializer(t, json.SerializerOptions{Yaml: true}, r),
		"storage": r.StorageDecoder("v1", nil), "storage of another version": r.StorageDecoder("v2", nil),
	}
	decode := func(d runtime.Decoder, doc []byte) *unstructured.Unstructured {
		u := new(unstructured.Unstructured)
		_, _, err := d.Decode(doc, nil, u)
		require.NoError(t, err)
		return u
	}
	large := []byte(`{"apiVersion":"garden.example.com/v1","kind":"Trellis","metadata":{"name":"a"},"spec":{"labels":{"key":"value"`)
	for i := range 5000 {
		large = fmt.Appendf(large, `,"%043d":"%0100d"`, i, i)
	}
	large = append(large, "}}}"...)
	for name, d := range decoders {
		decode(d, body(0, managed)) // so that the decoder has its buffers
		for _, get := range []func(u *unstructured.Unstructured) string{
			(*unstructured.Unstructured).GetName, (*unstructured.Unstructured).GetNamespace, (*unstructured.Unstructured).GetKind,
			(*unstructured.Unstructured).GetAPIVersion, (*unstructured.Unstructured).GetResourceVersion,
			func(u *unstructured.Unstructured) string { return string(u.GetUID()) },
		} {
			assert.Less(t, retained(300, func(i int) any { return get(decode(d, body(i, managed))) }), 128, name)
		}
	}
	require.Greater(t, len(large), 700_000)
	for range 20 { // the decoder lets go of large buffers after some calls
		decode(requests, body(0, ""))
	}
	assert.Less(t, retained(10, func(int) any {
		value, _, err := unstructured.NestedString(decode(requests, large).Object, "spec", "labels", "key")
		require.NoError(t, err)
		for range 20 {
			decode(requests, body(0, ""))
		}
		return value
	}), 24<<10)
}

// TestSharedSchemas asserts that a resource shares the schemas of its caller, except where defaults
// are still to be pruned, and that versions of equal schemas share everything.
func TestSharedSchemas(t *testing.T) {
	of := func(text string) *structuralschema.Structural {
		crd := parseCRD(t, strings.Replace(trellises, "height: {type: number, default: 1.5}", text, 1))
		s, err := structuralOf(&crd.Spec.Versions[0])
		require.NoError(t, err)
		return s
	}
	plain, again, dirty := of("height: {type: number, default: 1.5}"), of("height: {type: number, default: 1.5}"), of("height: {type: object, default: {a: 1, z: 2}, properties: {a: {type: integer}}}")
	before := dirty.DeepCopy()
	r, err := NewResource(trellisV1.GroupKind(), map[string]*structuralschema.Structural{"v1": plain, "v2": again, "v3": dirty, "v4": nil, "v5": nil})
	require.NoError(t, err)
	assert.Same(t, plain, r.versions["v1"].structural)
	assert.Same(t, r.versions["v1"].program, r.versions["v2"].program)
	assert.NotSame(t, r.versions["v1"].program, r.versions["v3"].program)
	assert.Same(t, r.versions["v4"].program, r.versions["v5"].program)
	assert.Equal(t, before, dirty, "the caller's schema is not changed")
	pruned := r.versions["v3"].structural
	require.NotSame(t, dirty, pruned)
	height := pruned.Properties["spec"].Properties["height"]
	assert.Equal(t, map[string]any{"a": int64(1)}, height.Default.Object)
	theirs, ours := dirty.Properties["spec"].Properties["plants"], pruned.Properties["spec"].Properties["plants"]
	assert.NotSame(t, theirs.Items, ours.Items, "there is a default within")
	assert.Same(t, theirs.Items.Properties["name"].ValueValidation, ours.Items.Properties["name"].ValueValidation)
	want := dirty.DeepCopy()
	require.NoError(t, defaulting.PruneDefaults(want))
	assert.Equal(t, want, pruned)

	// Each version has a type of its own.
	s := newSerializer(t, json.SerializerOptions{}, r)
	for _, version := range []string{"v1", "v2", "v4"} {
		u := new(unstructured.Unstructured)
		_, _, err = s.Decode([]byte(`{"apiVersion":"garden.example.com/`+version+`","kind":"Trellis"}`), nil, u)
		require.NoError(t, err)
		assert.Equal(t, "garden.example.com/"+version, u.GetAPIVersion())
	}

	different := map[string]func(s *structuralschema.Structural){
		"nullable": func(s *structuralschema.Structural) { s.Nullable = true }, "preserving": func(s *structuralschema.Structural) { s.XPreserveUnknownFields = true },
		"embedded": func(s *structuralschema.Structural) { s.XEmbeddedResource = true }, "int or string": func(s *structuralschema.Structural) { s.XIntOrString = true },
		"a default": func(s *structuralschema.Structural) { s.Default.Object = int64(1) }, "a type": func(s *structuralschema.Structural) { s.Type = "string" },
		"items":  func(s *structuralschema.Structural) { s.Items = new(structuralschema.Structural) },
		"values": func(s *structuralschema.Structural) { s.AdditionalProperties = new(structuralschema.StructuralOrBool) },
		"values of a type": func(s *structuralschema.Structural) {
			s.AdditionalProperties = &structuralschema.StructuralOrBool{Structural: &structuralschema.Structural{}}
		},
		"a field": func(s *structuralschema.Structural) { s.Properties = map[string]structuralschema.Structural{"a": {}} },
		"a field of a type": func(s *structuralschema.Structural) {
			s.Properties = map[string]structuralschema.Structural{"a": {Generic: structuralschema.Generic{Type: "string"}}}
		},
		"another field": func(s *structuralschema.Structural) { s.Properties = map[string]structuralschema.Structural{"b": {}} },
		"nothing":       func(*structuralschema.Structural) {},
	}
	for a, change := range different {
		for b, other := range different {
			var x, y structuralschema.Structural
			change(&x)
			other(&y)
			x.Description, y.ValueValidation = "d", new(structuralschema.ValueValidation)
			assert.Equal(t, a == b, sameCore(&x, &y), "%s, %s", a, b)
		}
	}
}

// TestCostOfDefinition asserts what a resource keeps in memory besides the schemas of its caller: a
// fraction of what these take.
func TestCostOfDefinition(t *testing.T) {
	if underRace {
		t.Skip("the race detector has memory of its own")
	}
	maximum := 5.0
	schemas := func(int) any {
		root := structuralschema.Structural{Properties: make(map[string]structuralschema.Structural)}
		for i := range 40 {
			part := structuralschema.Structural{Generic: structuralschema.Generic{Type: "object"}, Properties: make(map[string]structuralschema.Structural)}
			for j := range 20 {
				field := structuralschema.Structural{Generic: structuralschema.Generic{Type: "integer", Description: fmt.Sprint("What the field is for: ", i, j)}, ValueValidation: &structuralschema.ValueValidation{Maximum: &maximum}}
				if j == i%20 {
					field.Default.Object = int64(i)
				}
				part.Properties[fmt.Sprintf("field%dOf%d", j, i)] = field
			}
			root.Properties[fmt.Sprintf("part%d", i)] = part
		}
		return map[string]*structuralschema.Structural{"v1": &root, "v2": &root}
	}
	given := schemas(0).(map[string]*structuralschema.Structural)
	compile := func(int) any {
		r, err := NewResource(trellisV1.GroupKind(), given)
		require.NoError(t, err)
		return r
	}
	compile(0)
	theirs, ours := retained(4, schemas), retained(4, compile)
	t.Logf("schemas %d bytes, the resource %d", theirs, ours)
	assert.Less(t, ours, theirs/2)
	assert.Less(t, ours, 840*300, "bytes for each field")
}
