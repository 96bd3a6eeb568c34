package validation

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/schema"
)

// TestMetadataRules has texts that are surely valid in a place of metadata, and texts that are not.
func TestMetadataRules(t *testing.T) {
	for place, texts := range map[string]map[string]bool{
		"managedFields[].operation":  {"Apply": true, "Update": true, "Delete": false},
		"managedFields[].fieldsType": {"FieldsV1": true, "FieldsV2": false},
		"managedFields[].manager":    {"kubectl": true, "\n": false},
		"creationTimestamp": {
			"2026-11-23T10:00:00Z": true, "2026-02-29T10:00:00Z": false, "2026-11-23 10:00:00Z": false,
			"2026-11-2xT10:00:00Z": false, "2026-13-01T10:00:00Z": false, "": false,
		},
		"ownerReferences[].kind": {"K": true, "Event": false, "": false},
		"finalizers[]":           {"a/b": true, "orphan": false},
		"embedded name":          {"a": true, "..": false, "a/b": false},
		"kind":                   {"Trellis": true, "1": false, "a-b": false, "": false},
		"apiVersion":             {"v1": true, "a/v1": true, "a/b/c": false, "/v1": false},
	} {
		for text, want := range texts {
			require.Equal(t, want, metadataRules[place]([]byte(text)), "%s: %q", place, text)
		}
	}
}

// TestOddSchemas asserts that schemas are compiled that no text has.
func TestOddSchemas(t *testing.T) {
	keyed := "map"
	for _, s := range []*schema.Structural{
		{Type: "string", AnyOf: []*schema.Structural{nil, {MaxLength: new(int64)}}},
		{Type: "array", XListType: &keyed, XListMapKeys: []string{"k"}, Properties: map[string]*schema.Structural{"a": {}}},
	} {
		p, err := schema.Compile(s, Values(), schema.ResourceRoot(false))
		require.NoError(t, err)
		for doc, want := range map[string]bool{`"a"`: s.Type == "string", `[{}]`: s.Type == "array", `[{},{}]`: false} {
			_, err := decoder.New(p, decoder.ValidateCreate).AppendJSON(nil, []byte(doc))
			require.Equal(t, want, err == nil, "%s: %v", doc, err)
		}
	}
}

// TestValidatorOfText asserts that what is no JSON has an error, though decoders have none of it.
func TestValidatorOfText(t *testing.T) {
	p, err := schema.Compile(&schema.Structural{Type: "object"}, Values())
	require.NoError(t, err)
	errs, complete := program.Of(p).Validator.Validate([]byte(`{`), program.Create, 100)
	require.True(t, complete)
	require.Len(t, errs, 1)
	require.Equal(t, errors.SchemaInvalid, errs[0].Kind)
}
