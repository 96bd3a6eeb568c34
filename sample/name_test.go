package sample

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/formats"
	"github.com/espalier-dev/espalier/internal/validate"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// isFormat reports whether the server takes a text as one of a format, in a custom resource, and
// whether Go types for the format can be decoded from it.
func isFormat(t *testing.T, format, text string) (server, decoded bool) {
	t.Helper()
	js, err := json.Marshal(text)
	require.NoError(t, err)
	s := &schema.Structural{Type: "string", Format: format}
	bad, _ := formats.Find(js, s, false, 1)
	s.Default = js
	s = &schema.Structural{Type: "object", Properties: map[string]*schema.Structural{"a": s}}
	return validation.Structural(s) == nil, len(bad) == 0
}

// asMetadata validates metadata as the server does that of an embedded resource.
func asMetadata(t *testing.T, metadata map[string]any) error {
	t.Helper()
	js, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "Foo", "metadata": metadata})
	require.NoError(t, err)
	preserve := true
	s := &schema.Structural{
		Type: "object", XEmbeddedResource: true, XPreserveUnknownFields: &preserve, Default: js,
	}
	return validation.Structural(&schema.Structural{
		Type: "object", Properties: map[string]*schema.Structural{"a": s},
	})
}

func TestNames(t *testing.T) {
	lengths := map[int]bool{}
	for seed := range uint64(2000) {
		c := randomChoices(seed)
		if seed == 0 {
			c = &choices{}
		}
		name, key, value := c.resourceName(), c.labelKey(), c.labelValue()
		isName, _ := isFormat(t, "k8s-long-name", name)
		require.True(t, isName && validate.IsName(name), "%q", name)
		require.NoError(t, asMetadata(t, map[string]any{
			"name": name, "labels": map[string]any{key: value}, "annotations": map[string]any{key: ""},
		}))
		label, _ := isFormat(t, "k8s-short-name", randomChoices(seed).dnsLabel())
		require.True(t, label)
		lengths[len(name)], lengths[len(key)] = true, true
	}
	for _, n := range []int{1, 63, 253, 253 + 1 + 63} {
		require.True(t, lengths[n], n)
	}
	c := &choices{}
	require.Equal(t, "a a a  a z b1", strings.Join([]string{
		c.dnsLabel(), c.resourceName(), c.labelKey(), c.labelValue(), c.mapKey(0), c.mapKey(25), c.mapKey(27),
	}, " "))
}

func TestMapKeys(t *testing.T) {
	distinct := map[string]bool{}
	for seed := range uint64(2000) {
		distinct[randomChoices(seed).mapKey(int(seed%3))] = true
	}
	require.Greater(t, len(distinct), 500)
	odd := 0
	for _, name := range oddNames {
		if distinct[name] {
			odd++
		}
	}
	require.Greater(t, odd, 80, "of %d", len(oddNames))
}
