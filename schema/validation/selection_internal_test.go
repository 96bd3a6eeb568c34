package validation

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/internal/torture"
	"github.com/espalier-dev/espalier/internal/validate"
	"github.com/espalier-dev/espalier/schema"
)

func free(int) {}

// TestSelection asserts which parts of a value are built.
func TestSelection(t *testing.T) {
	const text = ` {"a" : {"b":[1, {"c":"\u0064", "e":null}], "f": {}}, "\u0067":[[true,false],[]], "h":-0.5 , "i":"é"} `
	there := &Selection{}
	members := func(parts map[string]*Selection) *Selection { return &Selection{Members: parts} }
	within := func(parts map[string]*Selection) *Selection { return &Selection{Members: parts, Within: true} }
	for _, c := range []struct {
		selected *Selection
		want     any
	}{
		{nil, nil},
		{there, map[string]any{}},
		{members(map[string]*Selection{"a": there, "g": there, "h": there, "z": there}),
			map[string]any{"a": map[string]any{}, "g": []any{}, "h": -0.5}},
		{members(map[string]*Selection{"a": {Members: map[string]*Selection{"b": {Elements: there}}}}),
			map[string]any{"a": map[string]any{"b": []any{int64(1), map[string]any{}}}}},
		{members(map[string]*Selection{"a": {Others: &Selection{Elements: &Selection{Members: map[string]*Selection{"c": there, "e": there}}}}}),
			map[string]any{"a": map[string]any{"b": []any{int64(1), map[string]any{"c": "d", "e": nil}}, "f": map[string]any{}}}},
		{members(map[string]*Selection{"g": {Elements: &Selection{Elements: there}}}),
			map[string]any{"g": []any{[]any{true, false}, []any{}}}},
		{&Selection{Members: map[string]*Selection{"a": nil, "g": nil}, Others: there}, map[string]any{"h": -0.5, "i": "é"}},
		{&Selection{Elements: there, Members: map[string]*Selection{"i": whole}}, map[string]any{"i": "é"}},
		{within(map[string]*Selection{"z": there}), nil},
		{within(map[string]*Selection{"a": within(map[string]*Selection{"z": there}), "g": {Elements: there}}),
			map[string]any{"g": []any{[]any{}, []any{}}}},
		{within(map[string]*Selection{"a": within(map[string]*Selection{"f": there})}), map[string]any{"a": map[string]any{"f": map[string]any{}}}},
		{within(map[string]*Selection{"a": within(map[string]*Selection{"b": {Within: true, Elements: within(map[string]*Selection{"c": there, "e": there})}})}),
			map[string]any{"a": map[string]any{"b": []any{nil, map[string]any{"c": "d"}}}}},
		{within(map[string]*Selection{"g": {Within: true, Elements: within(map[string]*Selection{"c": there})}}), nil},
		{within(map[string]*Selection{"g": {Within: true, Elements: &Selection{Within: true, Elements: there}}}),
			map[string]any{"g": []any{[]any{true, false}, nil}}},
		{within(map[string]*Selection{"a": {Within: true, Others: within(map[string]*Selection{"c": there})}}), nil},
	} {
		assert.Equal(t, c.want, c.selected.built([]byte(text), free))
	}
	assert.Nil(t, whole.built(nil, free))
}

// TestSelectionOfAll asserts that values that are built as a whole are those of validate.Decode.
func TestSelectionOfAll(t *testing.T) {
	s, err := schema.Parse([]byte(`{x-kubernetes-preserve-unknown-fields: true}`))
	require.NoError(t, err)
	p, err := schema.Compile(s, schema.ResourceRoot(false))
	require.NoError(t, err)
	d := decoder.New(p)
	for _, text := range []string{
		`9223372036854775807`, `-9223372036854775808`, `9223372036854775808`, `-0`, `0`, `-0.0`, `1e3`, `1.0`, `123456789012345678`, `1234567890123456789`,
		`1e-400`, `"\ud83c\udf33\n\\\"\/"`, `""`, `[]`, `{}`, `[ ]`, `{ }`, "[\n1 ,\t2\r]", `{"a":1,"b":[{"c":null}]}`, `true`, `null`,
	} {
		want, err := validate.Decode([]byte(text))
		require.NoError(t, err)
		require.Equal(t, want, whole.built([]byte(text), free), text)
	}
	r := rand.New(rand.NewPCG(1, 51))
	compared := 0
	for range 2000 {
		out, err := d.AppendJSON(nil, torture.JSON(r, nil))
		if err != nil {
			continue
		}
		want, err := validate.Decode(out)
		require.NoError(t, err)
		require.Equal(t, want, whole.built(out, free), string(out))
		compared++
	}
	require.Greater(t, compared, 100)
}

// TestSelectionIsCharged asserts that memory is charged for what is built, and for nothing else.
func TestSelectionIsCharged(t *testing.T) {
	text := []byte(`{"a":[` + strings.Repeat(`"x",`, 10_000) + `""],"b":{"c":"` + strings.Repeat(`\n`, 5000) + `"}}`)
	charged := func(s *Selection) (bytes int) {
		s.built(text, func(n int) { bytes += n })
		return bytes
	}
	assert.Greater(t, charged(whole), 10_000*64)
	assert.Less(t, charged(whole), 10_000*160)
	assert.Less(t, charged(&Selection{Members: map[string]*Selection{"a": {}}}), 8<<10)
	few := charged(&Selection{Members: map[string]*Selection{"b": {Members: map[string]*Selection{"c": {}}}}})
	assert.Greater(t, few, 15_000)
	assert.Less(t, few, 24_000)
	absent := &Selection{Members: map[string]*Selection{"b": {Members: map[string]*Selection{"d": {}}, Within: true}}, Within: true}
	assert.Greater(t, charged(&Selection{Members: map[string]*Selection{"a": {Within: true, Elements: &Selection{}}}, Within: true}), 10_000*64)
	assert.Zero(t, charged(absent))
	assert.Zero(t, testing.AllocsPerRun(10, func() { absent.built(text, free) }))
	allocated := testing.AllocsPerRun(10, func() { (&Selection{Members: map[string]*Selection{"b": nil}}).built(text, free) })
	assert.Less(t, allocated, 4.0)
}
