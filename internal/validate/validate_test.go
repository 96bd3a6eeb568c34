package validate

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/schema"
)

func parse(t *testing.T, text string) *schema.Structural {
	t.Helper()
	s, err := schema.Parse([]byte(text))
	require.NoError(t, err)
	return s
}

func decode(t *testing.T, text string) any {
	t.Helper()
	x, err := Decode([]byte(text))
	require.NoError(t, err)
	return x
}

// TestMetadataLimits has names and texts in metadata of the greatest allowed length, and of
// one byte more.
func TestMetadataLimits(t *testing.T) {
	for _, c := range []struct {
		resource, field string
		limit           int
		want            string
	}{
		{`{"apiVersion": "v1", "kind": "%"}`, "kind", 63, "must be no more than 63 characters"},
		{`{"metadata": {"namespace": "%"}}`, "metadata.namespace", 63, "must be no more than 63 characters"},
		{`{"metadata": {"labels": {"a": "%"}}}`, "metadata.labels", 63, "must be no more than 63 bytes"},
		{`{"metadata": {"labels": {"%": ""}}}`, "metadata.labels", 63, "name part must be no more than 63 bytes"},
		{`{"metadata": {"labels": {"%/a": ""}}}`, "metadata.labels", 253, "prefix part must be no more than 253 bytes"},
		{`{"metadata": {"annotations": {"ab": "%"}}}`, "metadata.annotations", 256<<10 - 2, "may not be more than 262144 bytes"},
		{`{"metadata": {"managedFields": [{"operation": "Apply", "manager": "%"}]}}`, "metadata.managedFields[0].manager", 128, "may not be more than 128 bytes"},
		{`{"metadata": {"managedFields": [{"operation": "Update", "subresource": "%"}]}}`, "metadata.managedFields[0].subresource", 256, "may not be more than 256 bytes"},
	} {
		for more, want := range []string{"", c.want} {
			resource := decode(t, strings.ReplaceAll(c.resource, "%", strings.Repeat("a", c.limit+more))).(map[string]any)
			resource["apiVersion"] = "v1"
			if resource["kind"] == nil {
				resource["kind"] = "K"
			}
			errs := Metadata(&schema.Structural{XEmbeddedResource: true}, resource, new(1<<20))
			if want == "" && len(errs) == 0 {
				continue
			}
			if len(errs) != 1 || errs[0].Field != "."+c.field || !strings.HasSuffix(errs[0].Error(), want) || want == "" {
				t.Errorf("%s with %d bytes: %.300v", c.field, c.limit+more, errs)
			}
		}
	}
}

// Two elements are equal as reflect.DeepEqual sees them, for the server compares them so.
func TestUniqueItems(t *testing.T) {
	for _, test := range []struct {
		list string
		want bool
	}{
		{`[1, 1]`, true}, {`[1, 1.0]`, false}, {`[{"a": [1]}, {"a": [1]}]`, true}, {`["1", 1, null]`, false}, {`[null, null]`, true},
		{`[0.0, -0.0]`, true}, {`[0, -0.0]`, false}, {`[[0.0], [-0.0]]`, true}, {`[[1], [1.0]]`, false}, {`["f1", 1.0]`, false},
		{`[{"a": 1, "b": 2}, {"b": 2, "a": 1}]`, true}, {`[{"a": 1}, {"a": 1, "b": 2}]`, false}, {`[[], {}]`, false}, {`[[[]], [[], []]]`, false},
		{`["a\",\"b", ["a", "b"]]`, false}, {`[true, "true"]`, false}, {`[1e300, 1E300]`, true},
	} {
		list := decode(t, test.list).([]any)
		equal := false
		for i := range list {
			for j := range i {
				equal = equal || reflect.DeepEqual(list[i], list[j])
			}
		}
		require.Equal(t, test.want, equal, test.list)
		if got := (checker{steps: new(1000)}).hasEqual(list); got != test.want {
			t.Errorf("%s: got %v", test.list, got)
		}
	}
}

// A value of an enum is compared after a conversion as in Go.
func TestEnumEqual(t *testing.T) {
	for _, test := range []struct {
		value, allowed string
		want           bool
	}{
		{`1`, `1`, true}, {`1.5`, `1`, true}, {`1`, `1.0`, true}, {`65`, `"A"`, true}, {`-1`, `"\ufffd"`, true},
		{`0`, `"\u0000"`, true}, {`1114111`, `"\udbff\udfff"`, true}, {`1114112`, `"\ufffd"`, true},
		{`-9223372036854775808.0`, `-9223372036854775808`, true}, {`9223372036854775808`, `9223372036854775807`, false},
		{`"A"`, `65`, false}, {`65.0`, `"A"`, false}, {`null`, `null`, false}, {`{"a":1}`, `{"a":1}`, true}, {`{"a":1}`, `{"a":1.0}`, false},
	} {
		if got := enumEqual(decode(t, test.value), decode(t, test.allowed)); got != test.want {
			t.Errorf("%s and %s: got %v", test.value, test.allowed, got)
		}
	}
}

// TestSteps validates a value in as many steps as it needs, and in fewer: the count then says
// so, wherever the steps are used up.
func TestSteps(t *testing.T) {
	s := parse(t, `{type: object, required: [s, gone], properties: {s: {type: string, pattern: ^a, enum: [b, c]}, l: {type: array, uniqueItems: true, items: {minimum: 2}}},
		additionalProperties: {type: integer}, anyOf: [{required: [gone]}, {properties: {s: {maxLength: 0}}}]}`)
	x := decode(t, `{"s": "b", "l": [1, 1, 3], "more": "x"}`)
	const enough = 1 << 20
	left := enough
	all := new(Validator).Default(s, x, &left)
	needed := enough - left
	if len(all) < 7 || needed < 50 {
		t.Fatalf("%d errors in %d steps", len(all), needed)
	}
	for steps := range needed + 1 {
		left := steps
		errs := new(Validator).Default(s, x, &left)
		if (left < 0) != (steps < needed) || left >= 0 && !reflect.DeepEqual(errs, all) {
			t.Errorf("with %d steps of %d, %d are left and there are %d errors of %d", steps, needed, left, len(errs), len(all))
		}
	}
}

// TestStoredEnums has numbers that the server writes as integers when it stores a definition. Objects
// are validated by the stored one. Then 1.5 is 1 for it, as it converts values to the type of those
// in the enum.
func TestStoredEnums(t *testing.T) {
	s, steps := parse(t, `{"enum": [1.0, 1e2]}`), 1000
	for text, want := range map[string]int{"1": 0, "1.5": 0, "1e2": 0, "2.5": 1} {
		require.Len(t, new(Validator).Value(s, decode(t, text), &steps), want, text)
	}
	require.Len(t, new(Validator).Default(s, 1.5, &steps), 1)
	require.Equal(t, 1.5, asStored(1.5))
}

// TestSchemaInItsJunctor has schemas without end. They take too many steps.
func TestSchemaInItsJunctor(t *testing.T) {
	s := &schema.Structural{Type: "string"}
	s.AnyOf = []*schema.Structural{s}
	steps := 1 << 20
	new(Validator).Value(s, "a", &steps)
	require.Negative(t, steps)
}
