package validation

import (
	"encoding/json"
	stderrors "errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/internal/schemapath"
	"github.com/espalier-dev/espalier/schema"
)

// TestValidate runs the cases of testdata/schema-validate, whose files explain their sections.
func TestValidate(t *testing.T) {
	const root = "openAPIV3Schema"
	checks := map[string]func(s *schema.Structural) errors.SchemaErrors{
		".want":   func(s *schema.Structural) errors.SchemaErrors { return validateAt(s, root, false) },
		".status": func(s *schema.Structural) errors.SchemaErrors { return validateAt(s, root, true) },
		".warn":   Warnings,
	}
	files, err := filepath.Glob("../../testdata/schema-validate/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases: ", err)
	}
	for _, file := range files {
		ar, err := corpus.ReadArchive(file)
		if err != nil {
			t.Fatal(err)
		}
		var s *schema.Structural
		schemaName := ""
		for _, section := range ar.Sections {
			ext := filepath.Ext(section.Name)
			name := strings.TrimSuffix(section.Name, ext)
			if ext == ".yaml" {
				schemaName = name
				if s, err = schema.Parse(section.Data); err != nil {
					t.Fatalf("%s: %s: %v", file, name, err)
				}
				continue
			}
			check := checks[ext]
			if check == nil || name != schemaName {
				t.Fatalf("%s: unexpected section %s", file, section.Name)
			}
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar")+"/"+section.Name, func(t *testing.T) {
				compareLines(t, check(s), string(section.Data))
			})
		}
	}
}

func parseText(t testing.TB, text string) *schema.Structural {
	t.Helper()
	s, err := schema.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func compareLines(t *testing.T, errs errors.SchemaErrors, want string) {
	t.Helper()
	var got strings.Builder
	for _, err := range errs {
		got.WriteString(err.Error() + "\n")
	}
	if got.String() != want {
		t.Errorf("got:\n%swant:\n%s", got.String(), want)
	}
}

func TestValidateError(t *testing.T) {
	s := &schema.Structural{Type: "array"}
	var errs errors.SchemaErrors
	if err := Structural(s); !stderrors.As(err, &errs) || len(errs) != 2 {
		t.Fatalf("got %v, want a list of two", err)
	}
	if err := Structural(&schema.Structural{Type: "object"}); err != nil {
		t.Fatalf("got %v for a structural schema", err)
	}
}

func TestValidateMissing(t *testing.T) {
	var s *schema.Structural
	compareLines(t, validateAt(s, "spec.versions[1].schema.openAPIV3Schema", true),
		"spec.versions[1].schema.openAPIV3Schema: Required value\n")
	if len(Warnings(s)) > 0 {
		t.Error("warnings on no schema")
	}
}

// A tree that was made by hand may have nil in the place of schemas.
func TestValidateHandmade(t *testing.T) {
	s := &schema.Structural{
		Type:       "object",
		Properties: map[string]*schema.Structural{"a": nil, "metadata": nil},
		Items:      &schema.SchemaOrArray{},
		AllOf:      []*schema.Structural{nil},
		AnyOf:      []*schema.Structural{nil, nil},
		OneOf:      []*schema.Structural{nil},
		Enum:       nil,
		Default:    []byte(`{"apiVersion":"v1","kind":"K","a":{}}`),
	}
	compareLines(t, validateAt(s, "P", false), `P.properties[a].type: Required value: must not be empty for specified object fields
P.properties[metadata].type: Invalid value: "": must be object
P.properties[metadata].type: Required value: must not be empty for specified object fields
`)
	s.Properties["a"] = &schema.Structural{Type: "object", XPreserveUnknownFields: new(bool)}
	compareLines(t, validateAt(s, "P", true)[1:], "P.properties[a].x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined\n")
}

// Schemas that no parser accepts are refused as well.
func TestValidateHandmadeValues(t *testing.T) {
	s := &schema.Structural{Type: "object", Properties: map[string]*schema.Structural{"a": {Type: "string", Default: []byte(`{`)}}}
	compareLines(t, validateAt(s, "P", false), "P.properties[a].default: Invalid value: {: unexpected end of JSON input\n")
	s.Properties = nil
	s.XValidations = []json.RawMessage{[]byte(`"x"`)}
	if errs := validateAt(s, "P", false); len(errs) != 1 || !strings.HasPrefix(errs[0].Error(), `P.x-kubernetes-validations[0]: Invalid value: "x": must be a rule: `) {
		t.Error(errs)
	}
}

// TestValidateMetadataLimits has names and texts in metadata of the greatest allowed length, and of
// one byte more.
func TestValidateMetadataLimits(t *testing.T) {
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
			resource := decodeRaw([]byte(strings.ReplaceAll(c.resource, "%", strings.Repeat("a", c.limit+more)))).(map[string]any)
			resource["apiVersion"] = "v1"
			if resource["kind"] == nil {
				resource["kind"] = "K"
			}
			errs := metaErrors(schemapath.Root("P"), resource, &schema.Structural{XEmbeddedResource: true})
			if want == "" && len(errs) == 0 {
				continue
			}
			if len(errs) != 1 || errs[0].Field != "P."+c.field || !strings.HasSuffix(errs[0].Error(), want) || want == "" {
				t.Errorf("%s with %d bytes: %.300v", c.field, c.limit+more, errs)
			}
		}
	}
}

// Two elements with the same JSON are equal only if their types are.
func TestUniqueItems(t *testing.T) {
	for _, test := range []struct {
		list string
		want bool
	}{
		{`[1, 1]`, true}, {`[1, 1.0]`, false}, {`[{"a": [1]}, {"a": [1]}]`, true}, {`["1", 1, null]`, false}, {`[null, null]`, true},
	} {
		list := decodeRaw([]byte(test.list)).([]any)
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
		if got := enumEqual(decodeRaw([]byte(test.value)), decodeRaw([]byte(test.allowed))); got != test.want {
			t.Errorf("%s and %s: got %v", test.value, test.allowed, got)
		}
	}
}

// TestCheckSteps validates a value in as many steps as it needs, and in fewer: the count then says
// so, wherever the steps are used up.
func TestCheckSteps(t *testing.T) {
	s := parseText(t, `{type: object, required: [s, gone], properties: {s: {type: string, pattern: ^a, enum: [b, c]}, l: {type: array, uniqueItems: true, items: {minimum: 2}}},
		additionalProperties: {type: integer}, anyOf: [{required: [gone]}, {properties: {s: {maxLength: 0}}}]}`)
	x := decodeRaw([]byte(`{"s": "b", "l": [1, 1, 3], "more": "x"}`))
	const enough = 1 << 20
	left := enough
	all := checkValue(s, x, &left)
	needed := enough - left
	if len(all) < 7 || needed < 50 {
		t.Fatalf("%d errors in %d steps", len(all), needed)
	}
	for steps := range needed + 1 {
		left := steps
		errs := checkValue(s, x, &left)
		if (left < 0) != (steps < needed) || left >= 0 && !reflect.DeepEqual(errs, all) {
			t.Errorf("with %d steps of %d, %d are left and there are %d errors of %d", steps, needed, left, len(errs), len(all))
		}
	}
}
