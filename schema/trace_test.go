package schema_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/internal/fieldpath"
	"github.com/espalier-dev/espalier/schema"
)

// entryOf returns the entry of a catalog that has one schema only.
func entryOf(t *testing.T, s *schema.Structural, preserveUnknownFields bool, opts ...schema.Option) schema.Entry {
	t.Helper()
	c := schema.NewCatalog(opts...)
	require.NoError(t, c.Add(&schema.CRD{Group: "example.com", Kind: "Thing", PreserveUnknownFields: preserveUnknownFields,
		Versions: []schema.Version{{Name: "v1", Served: true, Schema: s}}}))
	for e := range c.All() {
		return e
	}
	panic("unreachable")
}

const traced = `
type: object
properties:
  metadata: {type: object, properties: {name: {type: string}}}
  spec:
    type: object
    properties:
      size: {type: integer, default: 1}
      free: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {own: {type: object}}}
      map: {type: object, additionalProperties: {type: string}}
      loose: {type: object, additionalProperties: true}
      list: {type: array, items: {type: object, default: {}, properties: {a: {type: string, default: x}}}}
      bare: {type: array}
      free?: {type: string, nullable: true}
      pod:
        type: object
        x-kubernetes-embedded-resource: true
        properties: {metadata: {type: object, properties: {labels: {type: object, additionalProperties: {type: string, nullable: true}}, x: {type: string}}}}
      job:
        type: object
        x-kubernetes-embedded-resource: true
        properties: {metadata: {type: object, additionalProperties: {type: string}}}
`

func TestTrace(t *testing.T) {
	s, err := schema.Parse([]byte(traced))
	require.NoError(t, err)
	root := errors.Path{}
	spec := root.Child("spec")
	pod := spec.Child("pod")
	for _, test := range []struct {
		path errors.Path
		want string // the steps below the root: kind, keywords, and what happens to nulls
	}{
		{root, ""},
		{root.Child("metadata").Child("name"), "implicit; implicit"},
		{root.Child("metadata").Child("labels").Child("a"), "implicit; implicit; implicit"},
		{root.Child("metadata").Child("ownerReferences").Element(2).Child("uid"), "implicit; implicit; implicit; implicit"},
		{root.Child("metadata").Child("x").Child("y"), "implicit; pruned"},
		{root.Child("kind"), "implicit"},
		{root.Child("x").Child("y"), "pruned"},
		{spec.Child("size"), "property properties spec; property properties size"},
		{spec.Child("size").Child("x"), "property properties spec; property properties size; pruned"},
		{spec.Child("free").Child("x").Element(0).Child("y"), "property properties spec; property properties free; preserved; preserved; preserved"},
		{spec.Child("free").Element(0).Child("y"), "property properties spec; property properties free; preserved; preserved"},
		{spec.Child("free").Child("own").Child("y"), "property properties spec; property properties free; property properties own; pruned"},
		{spec.Child("map").Child("x").Child("y"), "property properties spec; property properties map; value additionalProperties; pruned"},
		{spec.Child("loose").Child("x").Child("y"), "property properties spec; property properties loose; value; pruned"},
		{spec.Child("list").Element(0).Child("a"), "property properties spec; property properties list; element items; property properties a"},
		{spec.Child("bare").Element(0).Child("a"), "property properties spec; property properties bare; unspecified; pruned"},
		{pod.Child("metadata").Child("labels").Child("a"), "property properties spec; property properties pod; implicit properties metadata; implicit properties labels; implicit additionalProperties"},
		{pod.Child("metadata").Child("x"), "property properties spec; property properties pod; implicit properties metadata; pruned"},
		{pod.Child("apiVersion"), "property properties spec; property properties pod; implicit"},
		{spec.Child("job").Child("metadata").Child("name"), "property properties spec; property properties job; implicit properties metadata; implicit additionalProperties"},
		{spec.Child("job").Child("metadata").Child("x"), "property properties spec; property properties job; implicit properties metadata; pruned"},
	} {
		steps, err := entryOf(t, s, false).Trace(test.path)
		require.NoError(t, err)
		require.Equal(t, schema.StepRoot, steps[0].Kind)
		require.Same(t, s, steps[0].Schema)
		at := s
		var got []string
		for _, step := range steps[1:] {
			got = append(got, strings.Join(append([]string{step.Kind.String()}, step.Keywords...), " "))
			if step.Schema != nil {
				at = follow(at, step.Keywords)
				assert.Same(t, at, step.Schema, test.path)
			}
		}
		assert.Equal(t, test.want, strings.Join(got, "; "), test.path)
	}
	assert.Equal(t, "pruned", schema.StepPruned.String())
	assert.Equal(t, "StepKind(8)", (schema.StepPruned + 1).String())
}

// follow goes from a schema to the one that keywords lead to.
func follow(s *schema.Structural, keywords []string) *schema.Structural {
	switch keywords[0] {
	case "items":
		return s.Items.Schema
	case "additionalProperties":
		return s.AdditionalProperties.Schema
	}
	return s.Properties[keywords[1]]
}

// TestTraceNulls has what becomes of nulls and the defaults, by both semantics.
func TestTraceNulls(t *testing.T) {
	s, err := schema.Parse([]byte(traced))
	require.NoError(t, err)
	spec := errors.Path{}.Child("spec")
	for path, want := range map[errors.Path]struct {
		null  schema.NullAction
		value string
	}{
		spec:                          {schema.NullDropped, ""},
		spec.Child("size"):            {schema.NullDefaulted, "1"},
		spec.Child("free?"):           {schema.NullKept, ""},
		spec.Child("list").Element(0): {schema.NullDefaulted, `{"a":"x"}`},
		spec.Child("bare").Element(0): {schema.NullKept, ""},
		spec.Child("map").Child("x"):  {schema.NullDropped, ""},
		// What the schema declares and ObjectMeta does not have is pruned, unless it is dropped before.
		spec.Child("pod").Child("metadata").Child("x"):                  {schema.NullDropped, ""},
		spec.Child("pod").Child("metadata").Child("y"):                  {schema.NullKept, ""},
		spec.Child("job").Child("metadata").Child("x"):                  {schema.NullDropped, ""},
		spec.Child("pod").Child("metadata").Child("labels").Child("x"):  {schema.NullKept, ""},
		errors.Path{}.Child("metadata").Child("annotations").Child("x"): {schema.NullKept, ""},
	} {
		for _, semantics := range []schema.Semantics{schema.Deployed, schema.KEP} {
			steps, err := entryOf(t, s, false, semantics).Trace(path)
			require.NoError(t, err)
			last, null := steps[len(steps)-1], want.null
			if semantics == schema.KEP {
				null = schema.NullKept
			}
			assert.Equal(t, null, last.Null, "%s, %s", path, semantics)
			assert.Equal(t, want.value, last.Default, "%s, %s", path, semantics)
		}
	}
}

// TestTraceOptions: a root that is no resource has no implicit fields, a definition may
// preserve everything, and below what is preserved the KEP prunes only by properties.
func TestTraceOptions(t *testing.T) {
	s, err := schema.Parse([]byte(traced))
	require.NoError(t, err)
	last := func(e schema.Entry, path errors.Path) schema.StepKind {
		steps, err := e.Trace(path)
		require.NoError(t, err)
		return steps[len(steps)-1].Kind
	}
	root := errors.Path{}
	own := root.Child("spec").Child("free").Child("own").Child("y")
	plain := entryOf(t, s, false, schema.ResourceRoot(false))
	assert.Equal(t, schema.StepProperty, last(plain, root.Child("metadata").Child("name")))
	assert.Equal(t, schema.StepPruned, last(plain, root.Child("kind")))
	assert.Equal(t, schema.StepPreserved, last(entryOf(t, s, true), root.Child("spec").Child("x").Child("y")))
	assert.Equal(t, schema.StepPruned, last(entryOf(t, s, true), root.Child("metadata").Child("x")))
	assert.Equal(t, schema.StepPruned, last(entryOf(t, s, false), own))
	assert.Equal(t, schema.StepPreserved, last(entryOf(t, s, false, schema.KEP), own))
	assert.Equal(t, schema.StepPruned, last(entryOf(t, nil, false), root.Child("spec")))
}

func TestTraceFails(t *testing.T) {
	_, err := schema.Entry{}.Trace(errors.Path{})
	assert.Error(t, err)
	long := errors.PathOf(fieldpath.Encode(errors.MaxPathBytes, func(int) ([]byte, int) { return []byte("a"), 0 }))
	s := &schema.Structural{}
	s.Properties = map[string]*schema.Structural{"a": s}
	_, err = entryOf(t, s, false).Trace(long)
	assert.ErrorContains(t, err, "without all of its segments")
}

// TestTraceAgrees walks schemas of cases and of the corpus, and wants a decoder to do to a value,
// to a null and to an absent field what their traces say.
func TestTraceAgrees(t *testing.T) {
	judged := map[string]int{}
	for _, c := range corpus.Load(t, "*/*") {
		s, err := schema.Parse(c.Schema)
		require.NoError(t, err, c.Name)
		for _, opt := range []schema.Option{schema.Deployed, schema.KEP, schema.PreserveUnknownFields(true)} {
			agrees(t, entryOf(t, s, false, opt, schema.ResourceRoot(!c.ValueRoot)), 150, judged)
		}
	}
	assert.Greater(t, len(judged), 20, judged)
	for kind := schema.StepProperty; kind <= schema.StepPruned; kind++ {
		assert.Positive(t, judged[fmt.Sprint(kind, " ", schema.NullKept, " ")], kind)
	}
	if !corpus.IsThere(t) {
		return
	}
	for file := range corpus.CRDs(t) {
		crds, err := schema.ParseCRD(file.Data)
		require.NoError(t, err, file.Name)
		for _, semantics := range []schema.Semantics{schema.Deployed, schema.KEP} {
			c := schema.NewCatalog(semantics)
			require.NoError(t, c.Add(crds...))
			for e := range c.All() {
				agrees(t, e, 50, judged)
			}
		}
	}
}

// A traveller tries places of a schema, and what is below each before the next.
type traveller struct {
	t       *testing.T
	entry   schema.Entry
	decoder *decoder.Decoder
	judged  map[string]int // by the kind of the step, the action for nulls, and null or absent
	left    int
}

func agrees(t *testing.T, e schema.Entry, places int, judged map[string]int) {
	t.Helper()
	p, err := e.Program()
	if err != nil {
		return
	}
	(&traveller{t, e, decoder.New(p, decoder.Ignore), judged, places}).visit(errors.Path{}, e.Version.Schema, 5)
}

func (v *traveller) visit(path errors.Path, s *schema.Structural, depth int) {
	if v.left--; v.left < 0 || depth <= 0 {
		return
	}
	if s == nil {
		depth -= 3 // there is little to see
	}
	names := map[string]*schema.Structural{"undeclared": nil, "metadata": nil, "kind": nil, "labels": nil, "name": nil}
	elements := []*schema.Structural{nil}
	if s != nil {
		maps.Copy(names, s.Properties)
		if s.AdditionalProperties != nil {
			names["undeclared"] = s.AdditionalProperties.Schema
		}
		if s.Items != nil {
			elements = []*schema.Structural{s.Items.Schema}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		v.judge(path.Child(name))
		v.visit(path.Child(name), names[name], depth-1)
	}
	if !path.IsRoot() {
		v.judge(path.Element(0))
		v.visit(path.Element(0), elements[0], depth-1)
	}
}

// judge compares what is traced with what is decoded.
func (v *traveller) judge(path errors.Path) {
	steps, err := v.entry.Trace(path)
	require.NoError(v.t, err)
	last := steps[len(steps)-1]
	isElement := strings.HasSuffix(path.String(), "]")
	values := []string{`{"x":1}`, `"x"`, `5`, "null", ""}
	if isElement {
		values = values[:4]
	}
	for _, value := range values {
		out, err := v.decoder.AppendJSON(nil, document(path, value))
		if err != nil {
			require.ErrorAs(v.t, err, new(*errors.TypeError))
			continue
		}
		tried := map[string]string{"null": "null", "": "absent"}[value]
		v.judged[fmt.Sprint(last.Kind, " ", last.Null, " ", tried)]++
		got, isThere := valueAt(out, path)
		about := fmt.Sprintf("%s = %s: %s, %+v", path, value, out, last)
		switch {
		case last.Kind == schema.StepPruned:
			require.False(v.t, isThere, about)
		case value == "" && isThere || value == "null" && last.Null == schema.NullDefaulted:
			require.JSONEq(v.t, last.Default, got, about)
		case value == "":
			isField := last.Keywords != nil && last.Keywords[0] == "properties"
			require.True(v.t, last.Default == "" || !isField, about)
		case value == "null":
			require.Equal(v.t, last.Null == schema.NullKept, isThere, about)
		default:
			require.True(v.t, isThere, about)
			if last.Kind == schema.StepPreserved {
				require.JSONEq(v.t, value, got, about)
			}
		}
	}
}

// document returns one with a value at a path, or with all that it is in where there is no value.
func document(path errors.Path, value string) []byte {
	segments := slices.Collect(path.Segments())
	for i, s := range slices.Backward(segments) {
		switch {
		case value == "" && i == len(segments)-1:
			value = "{}"
		case s.IsName:
			name, _ := json.Marshal(s.Name)
			value = "{" + string(name) + ":" + value + "}"
		default:
			value = "[" + value + "]"
		}
	}
	return []byte(value)
}

// valueAt returns the value at a path.
func valueAt(js []byte, path errors.Path) (value string, isThere bool) {
	raw := json.RawMessage(js)
	for s := range path.Segments() {
		if s.IsName {
			var object map[string]json.RawMessage
			if json.Unmarshal(raw, &object) != nil || object[s.Name] == nil {
				return "", false
			}
			raw = object[s.Name]
			continue
		}
		var array []json.RawMessage
		if json.Unmarshal(raw, &array) != nil || len(array) <= s.Index {
			return "", false
		}
		raw = array[s.Index]
	}
	return string(raw), true
}

// A decoder keeps this field because its parent preserves unknown fields.
func ExampleEntry_Trace() {
	crds, err := schema.ParseCRD([]byte(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  group: example.com
  names: {kind: Thing}
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, x-kubernetes-preserve-unknown-fields: true}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	var catalog schema.Catalog
	if err := catalog.Add(crds...); err != nil {
		fmt.Println(err)
		return
	}
	for entry := range catalog.All() {
		steps, err := entry.Trace(errors.Path{}.Child("spec").Child("size"))
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, step := range steps {
			fmt.Println(step.Kind, step.Keywords)
		}
	}
	// Output:
	// root []
	// property [properties spec]
	// preserved []
}
