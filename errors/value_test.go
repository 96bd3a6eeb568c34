package errors

import (
	stderrors "errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestInvalidError holds the texts of invalid values, which are those of field.Error.
func TestInvalidError(t *testing.T) {
	list := List{
		{Kind: InvalidValue, Path: Path{}.Child("a"), Invalid: &ValueError{Kind: SchemaRequired, Rule: "required", Field: "a"}},
		{Kind: InvalidValue, Invalid: &ValueError{Kind: SchemaInvalid, Rule: "anyOf", Value: `""`, Msg: "no schema fits"}},
		{Kind: InvalidValue, Path: Path{}.Element(0), Invalid: &ValueError{
			Kind: SchemaUnsupported, Rule: "enum", Field: "[0]", Value: `"x"`, Msg: `supported values: "y"`, Allowed: []string{`"y"`},
		}},
	}
	e := NewInvalidError(list, 2)
	assert.EqualError(t, e, `the object is invalid: a: Required value, <nil>: Invalid value: "": no schema fits, `+
		`[0]: Unsupported value: "x": supported values: "y" and 2 more`)
	assert.Equal(t, 2, e.Omitted())
	require.ErrorIs(t, e, ErrInvalidValue)
	require.NotErrorIs(t, e, ErrUnknownField)
	assert.Equal(t, "invalid value", list[0].Kind.String())

	f, ok := stderrors.AsType[*Finding](e)
	require.True(t, ok)
	f.Kind = UnknownField
	assert.Equal(t, InvalidValue, e.Findings()[0].Kind, "the list is a copy")

	var below []string
	for _, f := range list {
		prefixed := f.WithPrefix(Path{}.Child("items").Element(3))
		below = append(below, prefixed.Error())
	}
	assert.Equal(t, []string{
		"items[3].a: Required value", `<nil>: Invalid value: "": no schema fits`,
		`items[3][0]: Unsupported value: "x": supported values: "y"`,
	}, below)
	assert.Equal(t, "a", list[0].Invalid.Field, "the finding itself is not changed")
}

// TestValueErrorBelow has fields that begin with a dot, or with none, where they are within others.
// TestValueErrorText: the server shows no object or array that a rule in CEL refuses.
func TestValueErrorText(t *testing.T) {
	e := ValueError{Kind: SchemaInvalid, Field: "spec", Value: `"a"`, Msg: "must be b"}
	assert.Equal(t, `spec: Invalid value: "a": must be b`, e.Error())
	e.Value = ""
	assert.Equal(t, "spec: Invalid value: must be b", e.Error())
}

func TestValueErrorBelow(t *testing.T) {
	items := Path{}.Child("items").Element(0)
	for _, c := range []struct {
		rule, field string
		prefix      Path
		want        string
	}{
		{"minimum", "spec.replicas", items, "items[0].spec.replicas"},
		{"minimum", "[1]", items, "items[0][1]"},
		{"minimum", ".dotted", items, "items[0]..dotted"}, // a member with this name
		{"scale", ".spec.replicas", items, "items[0].spec.replicas"},
		{"scale", "spec.replicas", items, "items[0].spec.replicas"},
		{"scale", ".spec.replicas", Path{}, ".spec.replicas"},
		{"minimum", ".dotted", Path{}, ".dotted"},
		{"minimum", "[1]", Path{}, "[1]"},
		{"minimum", "a", Path{}.Element(0), "[0].a"},
		{"anyOf", "", items, ""},
	} {
		f := Finding{Kind: InvalidValue, Invalid: &ValueError{Kind: SchemaInvalid, Rule: c.rule, Field: c.field}}
		below := f.WithPrefix(c.prefix)
		assert.Equal(t, c.want, below.Invalid.Field, "%s of %s", c.field, c.rule)
		assert.Equal(t, c.field, f.Invalid.Field)
	}
}

// TestSchemaErrorWithoutValue has the texts of errors for which the server shows no value.
func TestSchemaErrorWithoutValue(t *testing.T) {
	assert.Equal(t, "a: Invalid value: failed rule: self.b", (&SchemaError{Kind: SchemaInvalid, Field: "a", Msg: "failed rule: self.b"}).Error())
	assert.Equal(t, `a: Invalid value: "": m`, (&SchemaError{Kind: SchemaInvalid, Field: "a", Value: `""`, Msg: "m"}).Error())
}
