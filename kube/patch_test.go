package kube

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	kjson "sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
)

func pear(t testing.TB) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: object(t, `
apiVersion: garden.example.com/v1
kind: Trellis
metadata: {name: a, labels: {b: c}}
spec: {rows: 7, height: 2.5, note: old, plants: [{name: pear, water: {litres: 3}}]}`)}
}

func TestPatch(t *testing.T) {
	r := trellis(t)
	for _, c := range []struct {
		name     string
		kind     types.PatchType
		patch    string
		spec     string
		warnings []string
	}{
		{"a defaulted field comes back", types.MergePatchType, `{"spec":{"rows":null,"note":null}}`,
			`{rows: 2, height: 2.5, plants: [{name: pear, water: {litres: 3}}]}`, nil},
		{"what is unknown goes", types.MergePatchType, `{"spec":{"note":"n","plants":[{"name":"fig","z":1}],"y":{"a":null}},"metadata":{"junk":1}}`,
			`{rows: 7, height: 2.5, note: "n", plants: [{name: fig, water: {litres: 1}}]}`,
			[]string{`unknown field "metadata.junk"`, `unknown field "spec.plants[0].z"`, `unknown field "spec.y"`}},
		{"removing what is not there is no mistake", types.MergePatchType, `{"spec":{"y":null}}`,
			`{rows: 7, height: 2.5, note: old, plants: [{name: pear, water: {litres: 3}}]}`, nil},
		{"duplicates of the patch come first", types.MergePatchType, `{"spec":{"rows":1,"rows":3,"q":1}}`,
			`{rows: 3, height: 2.5, note: old, plants: [{name: pear, water: {litres: 3}}]}`,
			[]string{`duplicate field "spec.rows"`, `unknown field "spec.q"`}},
		{"operations are decoded strictly", types.JSONPatchType, `[{"op":"add","op":"replace","path":"/spec/rows","value":9,"bogus":{"a":1,"a":1}},{"op":"add","path":"/spec/labels","value":{"q":"1","q":"2"}}]`,
			`{rows: 9, height: 2.5, note: old, labels: {q: "2"}, plants: [{name: pear, water: {litres: 3}}]}`,
			[]string{`json patch duplicate field "[0].op"`, `json patch unknown field "[0].bogus"`, `json patch duplicate field "[1].value.q"`, `duplicate field "spec.labels.q"`}},
		{"a JSON patch that removes", types.JSONPatchType, `[{"op":"test","path":"/spec/rows","value":7},{"op":"remove","path":"/spec/rows"}]`,
			`{rows: 2, height: 2.5, note: old, plants: [{name: pear, water: {litres: 3}}]}`, nil},
	} {
		current := pear(t)
		patched, warnings, err := r.Patch(current, c.kind, []byte(c.patch), decoder.Warn)
		require.NoError(t, err, c.name)
		assert.Equal(t, object(t, c.spec), patched.Object["spec"], c.name)
		assert.Equal(t, pear(t), current, c.name)
		var got []string
		for _, w := range warnings {
			got = append(got, w.Error())
		}
		assert.Equal(t, c.warnings, got, c.name)

		ignored, none, err := r.Patch(current, c.kind, []byte(c.patch), decoder.Ignore)
		require.NoError(t, err, c.name)
		assert.Empty(t, none, c.name)
		assert.Equal(t, patched, ignored, c.name)

		strict, _, err := r.Patch(current, c.kind, []byte(c.patch), decoder.Strict)
		if c.warnings == nil {
			require.NoError(t, err, c.name)
			assert.Equal(t, patched, strict, c.name)
			continue
		}
		assert.Nil(t, strict, c.name)
		assert.True(t, apierrors.IsInvalid(err), c.name)
		assert.True(t, strings.HasPrefix(err.Error(), ` "" is invalid: patch: Invalid value: "{\"apiVersion\":`), err)
		assert.True(t, strings.HasSuffix(err.Error(), ": strict decoding error: "+strings.Join(c.warnings, ", ")), err)
	}
}

func TestPatchErrors(t *testing.T) {
	r := trellis(t)
	for _, c := range []struct {
		kind  types.PatchType
		patch string
		code  int32
		text  string
	}{
		{types.MergePatchType, `{`, http.StatusBadRequest, "invalid JSON patch"},
		{types.MergePatchType, `null`, http.StatusBadRequest, "Invalid JSON Patch"},
		{types.MergePatchType, `[1]`, http.StatusBadRequest, "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}"},
		{types.MergePatchType, `{"spec":1e999}`, http.StatusBadRequest, "error decoding patch: json: cannot unmarshal number 1e999 into Go value of type float64"},
		{types.MergePatchType, `{"kind":5}`, http.StatusUnprocessableEntity, "couldn't get version/kind; json parse error"},
		{types.MergePatchType, `{"metadata":{"labels":{"b":{}}}}`, http.StatusUnprocessableEntity, "json: cannot unmarshal object into Go struct field ObjectMeta.labels of type string"},
		{types.JSONPatchType, `{}`, http.StatusBadRequest, "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"},
		{types.JSONPatchType, `[5]`, http.StatusBadRequest, "error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp"},
		{types.JSONPatchType, `[{"op":5}]`, http.StatusBadRequest, "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string"},
		{types.JSONPatchType, `[{"op":"test","path":"/spec/rows","value":1}]`, http.StatusUnprocessableEntity, "the server rejected our request due to an error in our request"},
		{types.JSONPatchType, `[{"op":"replace","path":"/a/b","value":1}]`, http.StatusUnprocessableEntity, "the server rejected our request due to an error in our request"},
		{types.JSONPatchType, `[{"op":"replace","path":""}]`, http.StatusUnprocessableEntity, "the server rejected our request due to an error in our request"},
		{types.JSONPatchType, `[{"op":"test","path":""}]`, http.StatusUnprocessableEntity, "the server rejected our request due to an error in our request"},
		{types.JSONPatchType, `[{"op":"add","path":"/spec/l","value":[1]},{"op":"test","path":"/spec/l","value":[null]}]`, http.StatusUnprocessableEntity, "the server rejected our request due to an error in our request"},
		{types.JSONPatchType, "[" + strings.Repeat(`{"op":"add","path":"/spec/rows","value":1},`, 10_000) + `{"op":"add","path":"/spec/rows","value":1}]`,
			http.StatusRequestEntityTooLarge, "The allowed maximum operations in a JSON patch is 10000, got 10001"},
		{types.StrategicMergePatchType, `{}`, http.StatusUnsupportedMediaType, "application/merge-patch+json"},
	} {
		_, _, err := r.Patch(pear(t), c.kind, []byte(c.patch), decoder.Warn)
		var status *apierrors.StatusError
		require.ErrorAs(t, err, &status, c.patch)
		assert.Equal(t, c.code, status.ErrStatus.Code, c.patch)
		assert.Contains(t, err.Error(), c.text)
	}
}

// TestPatchOmissions asserts that of many findings always the same are kept.
func TestPatchOmissions(t *testing.T) {
	current := pear(t)
	for i := range 200 {
		current.Object[fmt.Sprintf("x%03d", i)] = int64(i)
	}
	for range 4 {
		_, warnings, err := trellis(t).Patch(current, types.MergePatchType, []byte(`{"z":1}`), decoder.Warn)
		require.NoError(t, err)
		require.Len(t, warnings, decoder.DefaultFindings+1)
		for i, warning := range warnings[:decoder.DefaultFindings] {
			require.EqualError(t, warning, fmt.Sprintf(`unknown field "x%03d"`, i))
		}
		require.EqualError(t, warnings[decoder.DefaultFindings], "and 101 more")
	}
}

// TestPatchCopies asserts that copying cannot make an object grow without bound.
func TestPatchCopies(t *testing.T) {
	operations := []string{`{"op":"add","path":"/spec/labels","value":{"a":"` + strings.Repeat("x", 1000) + `"}}`}
	for i := range 40 {
		operations = append(operations, fmt.Sprintf(`{"op":"copy","from":"/spec","path":"/spec/c%d"}`, i))
	}
	_, _, err := trellis(t).Patch(pear(t), types.JSONPatchType, []byte("["+strings.Join(operations, ",")+"]"), decoder.Warn)
	var copied *jsonpatch.AccumulatedCopySizeError
	assert.ErrorAs(t, err, &copied)
}

// TestPatchesLikeServer compares random patches with the results of the server's functions, called
// in the order of its handler (patch.go of k8s.io/apiserver).
func TestPatchesLikeServer(t *testing.T) {
	r := trellis(t)
	random := rand.New(rand.NewPCG(1, 2))
	counts := map[string]int{}
	for range 4000 {
		kind, patch := types.MergePatchType, randomObject(random, 3)
		if random.IntN(2) == 0 {
			kind, patch = types.JSONPatchType, randomOperations(random)
		}
		current := func() *unstructured.Unstructured {
			u := pear(t)
			u.Object["spec"].(map[string]any)["template"] = map[string]any{
				"a": 2.0, "b": []any{1e21, 5e17, 1e-7, math.Copysign(0, -1), nil, map[string]any{"a": nil}}, "metadata": map[string]any{}, "name": nil, "<": "<\u2028\xff",
			}
			return u
		}
		want, warnings, server := patchAsServer(t, r, current(), kind, []byte(patch))
		given := current()
		got, found, err := r.Patch(given, kind, []byte(patch), decoder.Warn)
		require.Equal(t, current(), given, patch)
		ignored, _, refusal := r.Patch(given, kind, []byte(patch), decoder.Ignore)
		if err == nil {
			require.NoError(t, refusal)
			require.Equal(t, got, ignored, patch)
		}
		if kind == types.MergePatchType {
			if _, ok := merged(given.Object, []byte(patch), reading{strict: true}); ok {
				counts["read once"]++
			}
		}
		if server != nil || err != nil {
			require.Error(t, server, "%s: %v", patch, err)
			require.Error(t, err, "%s: %v", patch, server)
			assert.Contains(t, err.Error(), server.Error(), patch)
			counts["refused"]++
			continue
		}
		texts := make([]string, len(found))
		for i := range found {
			texts[i] = found[i].Error()
		}
		assert.Equal(t, want, got, patch)
		if len(warnings) > 0 || len(texts) > 0 {
			assert.Equal(t, warnings, texts, patch)
			counts["found"]++
		}
		counts["patched"]++
	}
	t.Log(counts)
	assert.Greater(t, counts["patched"], 1000)
	assert.Greater(t, counts["found"], 500)
	assert.Greater(t, counts["refused"], 100)
	assert.Greater(t, counts["read once"], 1500)
}

func patchAsServer(t testing.TB, r *Resource, current *unstructured.Unstructured, kind types.PatchType, patch []byte) (*unstructured.Unstructured, []string, error) {
	if !stdjson.Valid(patch) {
		return nil, nil, errors.New("invalid JSON patch")
	}
	text, err := stdjson.Marshal(current.Object)
	require.NoError(t, err)
	var strict []error
	prefix := ""
	if kind == types.JSONPatchType {
		prefix = "json patch "
		if strict, err = kjson.UnmarshalStrict(patch, &[]operation{}); err != nil {
			return nil, nil, err
		}
		operations, err := jsonpatch.DecodePatch(patch)
		if err != nil {
			return nil, nil, err
		}
		if text, err = operations.Apply(text); err != nil {
			return nil, nil, errors.New("the server rejected our request due to an error in our request")
		}
	} else {
		object := map[string]any{}
		if strict, err = kjson.UnmarshalStrict(patch, &object); err != nil {
			return nil, nil, err
		}
		if text, err = jsonpatch.MergePatch(text, patch); err != nil {
			return nil, nil, err
		}
	}
	var warnings []string
	for _, e := range strict {
		warnings = append(warnings, prefix+e.Error())
	}
	object := map[string]any{}
	if strict, err = kjson.UnmarshalStrict(text, &object); err != nil {
		return nil, nil, err
	}
	for _, e := range strict {
		warnings = append(warnings, e.Error())
	}
	u := &unstructured.Unstructured{Object: object}
	_, _, err = parseAsServer(text, nil, reading{strict: true})
	if err == nil {
		var unknown []string
		unknown, err = r.coerce(u, false, true)
		for _, path := range unknown {
			warnings = append(warnings, `unknown field "`+path+`"`)
		}
	}
	if err != nil {
		return nil, nil, invalidPatch(text, err)
	}
	r.Default(u)
	return u, warnings, nil
}

var patchNames = []string{"spec", "rows", "plants", "note", "metadata", "labels", "name", "a", "b", "template", "height", "kind"}

func randomObject(r *rand.Rand, depth int) string {
	members := make([]string, r.IntN(4))
	for i := range members {
		members[i] = fmt.Sprintf("%q:%s", patchNames[r.IntN(len(patchNames))], randomValue(r, depth-1))
	}
	return "{" + strings.Join(members, ",") + "}"
}

func randomValue(r *rand.Rand, depth int) string {
	switch n := r.IntN(10); {
	case n < 5 && depth > 0:
		return randomObject(r, depth)
	case n == 5 && depth > 0:
		return "[" + randomValue(r, depth-1) + "," + randomValue(r, depth-1) + "]"
	case n == 6:
		return "null"
	case n == 7:
		return `"text"`
	}
	return []string{"1", "1.5", "1e3", "true"}[r.IntN(4)]
}

func randomOperations(r *rand.Rand) string {
	operations := make([]string, 1+r.IntN(2))
	for i := range operations {
		members := []string{
			fmt.Sprintf(`"op":%q`, []string{"add", "add", "replace", "remove", "copy", "test", "x"}[r.IntN(7)]),
			fmt.Sprintf(`"path":%q`, []string{"/spec", "/spec/rows", "/spec/plants/-", "/spec/labels", "/a", "/metadata/labels/b", "/b/c"}[r.IntN(7)]),
			`"value":` + randomValue(r, 3),
		}
		for range r.IntN(3) {
			members = append(members, []string{`"from":"/spec"`, `"op":"add"`, `"from":"/metadata"`, `"z":{"a":1,"a":2}`, `"y":1`, `"y":2`}[r.IntN(6)])
		}
		operations[i] = "{" + strings.Join(members, ",") + "}"
	}
	return "[" + strings.Join(operations, ",") + "]"
}

func TestCheckJSONPatch(t *testing.T) {
	found, err := CheckJSONPatch([]byte("[\n{\"op\":\"add\",\n\"op\":\"add\",\"path\":\"/a\",\"value\":{\"b\":1}}]"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	assert.EqualError(t, found[0], `json patch duplicate field "[0].op"`)
	var f *ferrors.Finding
	require.ErrorAs(t, found[0], &f)
	assert.Equal(t, "3:1", f.Position.String())
	assert.Equal(t, "2:2", f.First.String())

	_, err = CheckJSONPatch([]byte(`[{"op":5}]`))
	var mismatch *ferrors.TypeError
	assert.ErrorAs(t, err, &mismatch)
}

// TestUnknownFieldValidation holds that values other than the constants are refused.
func TestUnknownFieldValidation(t *testing.T) {
	r := trellis(t)
	_, _, err := r.Patch(pear(t), types.MergePatchType, []byte("{}"), 9)
	require.EqualError(t, err, "decoder: there is no FieldValidation(9)")
	_, _, err = r.DecodeMergePatch("v1", []byte("{}"), 9)
	require.EqualError(t, err, "decoder: there is no FieldValidation(9)")
}

func TestDecodeMergePatch(t *testing.T) {
	r := trellis(t)
	patch := []byte(`{"metadata":{"labels":{"a":null},"junk":1},"spec":{"rows":null,"rows":1,"plants":[{"water":null,"q":1}],"template":null,"zz":null,"note":"n"}}`)
	const pruned = `{"metadata":{"labels":{"a":null}},"spec":{"rows":1,"plants":[{"water":null}],"template":null,"note":"n"}}`
	want := []string{`duplicate field "spec.rows"`, `unknown field "metadata.junk"`, `unknown field "spec.plants[0].q"`}
	for _, v := range []decoder.FieldValidation{decoder.Ignore, decoder.Warn, decoder.Strict} {
		out, list, err := r.DecodeMergePatch("v1", patch, v)
		assert.Equal(t, pruned, string(out), v)
		var got []string
		for i := range list {
			got = append(got, list[i].Error())
		}
		switch v {
		case decoder.Ignore:
			require.NoError(t, err)
			assert.Empty(t, list)
		case decoder.Warn:
			require.NoError(t, err)
			assert.Equal(t, want, got)
		case decoder.Strict:
			assert.EqualError(t, err, "strict decoding error: "+strings.Join(want, ", "))
			assert.Equal(t, want, got)
		}
	}
	out, _, err := r.DecodeMergePatch("v9", []byte(`{"spec":{"rows":1}}`), decoder.Ignore)
	require.NoError(t, err)
	assert.Equal(t, `{}`, string(out))
	_, _, err = r.DecodeMergePatch("v1", []byte(`{"spec":`), decoder.Warn)
	assert.Error(t, err)

	// The pruned patch changes a pruned object as the patch itself does.
	random := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		patch := []byte(randomObject(random, 3))
		want, warnings, err := r.Patch(pear(t), types.MergePatchType, patch, decoder.Warn)
		if err != nil || want.GetKind() != "Trellis" { // the schema is that of the result
			continue
		}
		out, list, err := r.DecodeMergePatch("v1", patch, decoder.Warn)
		if err != nil {
			continue // metadata of a wrong type that the rest of the patch corrects
		}
		got, none, err := r.Patch(pear(t), types.MergePatchType, out, decoder.Warn)
		require.NoError(t, err, "%s", patch)
		assert.Equal(t, want, got, "%s", patch)
		assert.Empty(t, none, "%s", patch)
		// In arrays names may repeat in the result, too, and nulls stay.
		if !strings.Contains(string(patch), "[") {
			assert.Equal(t, len(warnings), len(list), "%s: %v %v", patch, warnings, list)
		}
	}
}
