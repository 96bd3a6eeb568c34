package kube

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
)

// TestDecodeApply compares bodies of server-side apply with what applyPatcher and
// validateAndTranscodePatch of the API server make of them.
func TestDecodeApply(t *testing.T) {
	r := trellis(t)
	const head = "apiVersion: garden.example.com/v1\nkind: Trellis\n"
	// Of names that are equal only as strings, such as 1 and "1", the server keeps either value.
	for _, body := range []string{
		head + "metadata: {name: a}\nspec: {rows: 3, height: 1.0, note: null}\n",
		head + "spec:\n  rows: 1\n  rows: 2\n  bad: [1]\n  plants:\n  - {name: x, worse: 1, worse: 2}\nlabels: {}\n",
		`{"apiVersion":"garden.example.com/v1","kind":"Trellis","spec":{"rows":1e2,"height":1.50,"rows":9223372036854775808}}`,
		"apiVersion: v1\nkind: Gate\nspec: {a: 1}\n", "spec: {a: 1}", "{}", "", "null", "# nothing\n", "5", "[1]", "a", "{", "a: b: c", "{\"a\":}", "kind: 5\n", head + "metadata: 5\n", head + "1: a\n\"2\": b\n",
		head + "spec: &a {rows: 1}\nmore: {<<: *a, rows: 2}\n", "a: \xff", "---\na: 1\n---\nb: 2\n", head + "metadata: {junk: 1}\nspec: {template: {metadata: {junk: 1}}}\n",
	} {
		var want map[string]any
		var status string
		if _, err := utilyaml.ToJSON([]byte(body)); err != nil {
			status = "error encoding patch: " + err.Error()
		} else {
			want = map[string]any{}
			if err := utilyaml.Unmarshal([]byte(body), &want); err != nil {
				status = "error decoding patch: " + err.Error()
			}
		}
		strict := utilyaml.UnmarshalStrict([]byte(body), &map[string]any{})
		for _, v := range []decoder.FieldValidation{decoder.Ignore, decoder.Warn, decoder.Strict} {
			where := fmt.Sprintf("%v %q", v, body)
			u, found, err := r.DecodeApply([]byte(body), v)
			if status == "" && v == decoder.Strict && strict != nil {
				status = "error strict decoding patch: " + strict.Error()
			}
			if status != "" {
				assert.EqualError(t, err, status, where)
				assert.True(t, apierrors.IsBadRequest(err), where)
				assert.Nil(t, u, where)
				continue
			}
			require.NoError(t, err, where)
			assert.Equal(t, want, u.Object, where)
			if v == decoder.Ignore {
				assert.Empty(t, found, where)
			} else if strict != nil {
				require.NotEmpty(t, found, where)
				assert.EqualError(t, found[0], strict.Error(), where)
			}
		}
	}

	_, found, err := r.DecodeApply([]byte(head+"spec:\n  rows: 1\n  rows: 2\n  bad: [1]\n"), decoder.Warn)
	require.NoError(t, err)
	require.Len(t, found, 2)
	assert.EqualError(t, found[1], `unknown field "spec.bad"`)
	var f *ferrors.Finding
	require.ErrorAs(t, found[1], &f)
	assert.Equal(t, "6:3", f.Position.String())

	_, _, err = r.DecodeApply([]byte(`{}`), 9)
	require.Error(t, err)
	_, _, err = new(Resource).DecodeApply([]byte(`{}`), decoder.Warn)
	require.ErrorIs(t, err, errNotMade)
	many := head
	for i := range 150 {
		many += fmt.Sprintf("x%d: 1\n", i)
	}
	_, found, err = r.DecodeApply([]byte(many), decoder.Strict)
	require.NoError(t, err)
	assert.Len(t, found, decoder.DefaultFindings+1)
}

// TestDecodeApplyLimits asserts that the limits of the resource hold in every mode, so that no
// finding is lost.
func TestDecodeApplyLimits(t *testing.T) {
	body := []byte("apiVersion: garden.example.com/v1\nkind: Trellis\nspec: {bad: [[[[1]]]], plants: [{name: a}]}\n")
	for _, limits := range []decoder.Limits{{Depth: 5}, {OutputBytes: 20}} {
		for _, v := range []decoder.FieldValidation{decoder.Ignore, decoder.Warn, decoder.Strict} {
			u, found, err := trellis(t, Limits(limits)).DecodeApply(body, v)
			var limit *ferrors.LimitError
			require.ErrorAs(t, err, &limit, "%v %v", limits, v)
			assert.Nil(t, u)
			assert.Empty(t, found)
		}
	}
	// Defaults are inserted only to find what is unknown.
	_, _, err := trellis(t, Limits(decoder.Limits{DefaultBytes: 1})).DecodeApply(body, decoder.Warn)
	var limit *ferrors.LimitError
	require.ErrorAs(t, err, &limit)
}
