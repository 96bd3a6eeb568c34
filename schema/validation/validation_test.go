package validation

import (
	"encoding/json"
	stderrors "errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/schema"
)

// TestValidate runs the cases of testdata/schema-validate, whose files explain their sections.
func TestValidate(t *testing.T) {
	const root = "openAPIV3Schema"
	checks := map[string]func(s *schema.Structural) errors.SchemaErrors{
		".want":   func(s *schema.Structural) errors.SchemaErrors { return validateAt(s, root, false, keeps{}) },
		".status": func(s *schema.Structural) errors.SchemaErrors { return validateAt(s, root, true, keeps{}) },
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
	compareLines(t, validateAt(s, "spec.versions[1].schema.openAPIV3Schema", true, keeps{}),
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
	compareLines(t, validateAt(s, "P", false, keeps{}), `P.properties[a].type: Required value: must not be empty for specified object fields
P.properties[metadata].type: Invalid value: "": must be object
P.properties[metadata].type: Required value: must not be empty for specified object fields
`)
	s.Properties["a"] = &schema.Structural{Type: "object", XPreserveUnknownFields: new(bool)}
	compareLines(t, validateAt(s, "P", true, keeps{})[1:], "P.properties[a].x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined\n")
}

// Schemas that no parser accepts are refused as well.
func TestValidateHandmadeValues(t *testing.T) {
	s := &schema.Structural{Type: "object", Properties: map[string]*schema.Structural{"a": {Type: "string", Default: []byte(`{`)}}}
	compareLines(t, validateAt(s, "P", false, keeps{}), "P.properties[a].default: Invalid value: {: unexpected end of JSON input\n")
	s.Properties = nil
	s.XValidations = []json.RawMessage{[]byte(`"x"`)}
	if errs := validateAt(s, "P", false, keeps{}); len(errs) != 1 || !strings.HasPrefix(errs[0].Error(), `P.x-kubernetes-validations[0]: Invalid value: "x": must be a rule: `) {
		t.Error(errs)
	}
}
