package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/santhosh-tekuri/jsonschema/v6"
	kubeconformresource "github.com/yannh/kubeconform/pkg/resource"
	kubeconformvalidator "github.com/yannh/kubeconform/pkg/validator"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
)

// Two peers are not here: kubectl-validate v0.0.4, the last one, does not compile with Kubernetes
// 1.37, and the validator of flux-schema is an internal package.

const notInJSONSchema = "prunes nothing, no defaults, no list types, no metadata"

// peersVerdict validate by the JSON Schema that jsonSchema makes.
func peersVerdict() []Contender {
	return []Contender{
		{"jsonschema v6, with its UnmarshalJSON", Valid, notInJSONSchema, func(d *Document) Run {
			s := jsonSchemaOf(d.Schema)
			return verdict(func() error {
				v, err := jsonschema.UnmarshalJSON(bytes.NewReader(d.Src))
				if err != nil {
					return err
				}
				return s.Validate(v)
			})
		}},
		{"jsonschema v6, of a value", Valid, "reads nothing; " + notInJSONSchema, func(d *Document) Run {
			s := jsonSchemaOf(d.Schema)
			v, err := jsonschema.UnmarshalJSON(bytes.NewReader(d.Src))
			return verdict(func() error {
				if err != nil {
					return err
				}
				return s.Validate(v)
			})
		}},
		kubeconformOn(func(d *Document) []byte { return d.Src }),
	}
}

func peersVerdictYAML() []Contender {
	return []Contender{kubeconformOn(func(d *Document) []byte { return d.YAML })}
}

func kubeconformOn(text func(d *Document) []byte) Contender {
	return Contender{"kubeconform, strict", Valid, notInJSONSchema, func(d *Document) Run {
		v := made(d.Schema, "kubeconform", func() kubeconformvalidator.Validator { return newKubeconform(d.Definition) })
		src := text(d)
		return verdict(func() error {
			r := v.ValidateResource(kubeconformresource.Resource{Bytes: src})
			if r.Status != kubeconformvalidator.Valid {
				return fmt.Errorf("status %d: %w", r.Status, r.Err)
			}
			return nil
		})
	}}
}

// newKubeconform returns a validator that has read its schema, from a folder that is gone.
func newKubeconform(d *Definition) kubeconformvalidator.Validator {
	dir, err := os.MkdirTemp("", "espalier-bench-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "schema.json")
	js, err := json.Marshal(jsonSchema(d.Schema))
	if err != nil {
		panic(err)
	}
	if err := os.WriteFile(name, js, 0o666); err != nil {
		panic(err)
	}
	v, err := kubeconformvalidator.New([]string{name}, kubeconformvalidator.Opts{Strict: true})
	if err != nil {
		panic(err)
	}
	empty := fmt.Sprintf(`{"apiVersion": %q, "kind": %q}`, d.APIVersion(), d.Kind)
	if r := v.ValidateResource(kubeconformresource.Resource{Bytes: []byte(empty)}); r.Status == kubeconformvalidator.Error {
		panic(r.Err)
	}
	return v
}

func jsonSchemaOf(s *Schema) *jsonschema.Schema {
	return made(s, "jsonschema", func() *jsonschema.Schema {
		c := jsonschema.NewCompiler()
		c.DefaultDraft(jsonschema.Draft4) // as kubeconform does: an exclusiveMinimum is a boolean
		c.RegisterFormat(&jsonschema.Format{Name: "duration", Validate: validateDuration})
		if err := c.AddResource("schema.json", jsonSchema(s.Definition.Schema)); err != nil {
			panic(err)
		}
		return c.MustCompile("schema.json")
	})
}

// validateDuration takes the durations of Kubernetes. That of JSON Schema is another format.
func validateDuration(v any) error {
	if text, ok := v.(string); ok {
		_, err := strfmt.ParseDuration(text)
		return err
	}
	return nil
}

// jsonSchema returns the JSON Schema of draft 4 that accepts what the value validation in
// openAPIV3Schema accepts, and refuses unknown fields. It does what the converter of kubeconform
// does, and knows nullable and embedded resources, too.
func jsonSchema(openAPIV3Schema []byte) map[string]any {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(openAPIV3Schema))
	if err != nil {
		panic(err)
	}
	s := v.(map[string]any)
	s["x-kubernetes-embedded-resource"] = true // a resource has what these have
	convert(s, true)
	return s
}

// convert converts a schema in place. Those in junctors constrain a value that is described
// elsewhere, and so they are open to other fields.
func convert(s map[string]any, isStructural bool) {
	fields, hasFields := s["properties"].(map[string]any)
	if s["x-kubernetes-embedded-resource"] == true {
		if fields == nil {
			fields = make(map[string]any)
			s["properties"] = fields
		}
		for name, kind := range map[string]string{"apiVersion": "string", "kind": "string", "metadata": "object"} {
			if fields[name] == nil {
				fields[name] = map[string]any{"type": kind}
			}
		}
		fields["metadata"].(map[string]any)["x-kubernetes-preserve-unknown-fields"] = true
	}
	for _, field := range fields {
		convert(field.(map[string]any), isStructural)
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if below, ok := s[key].(map[string]any); ok {
			convert(below, isStructural)
		}
	}
	if below, ok := s["not"].(map[string]any); ok {
		convert(below, false)
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := s[key].([]any)
		for _, below := range list {
			convert(below.(map[string]any), false)
		}
	}
	if isStructural && hasFields && s["additionalProperties"] == nil && s["x-kubernetes-preserve-unknown-fields"] != true {
		s["additionalProperties"] = false
	}
	if s["x-kubernetes-int-or-string"] == true {
		s["type"] = []any{"integer", "string"}
	}
	if s["nullable"] == true {
		switch kind := s["type"].(type) {
		case string:
			s["type"] = []any{kind, "null"}
		case []any:
			s["type"] = append(kind, "null")
		}
	}
	for _, key := range []string{"description", "default", "nullable", "title", "example", "externalDocs"} {
		delete(s, key)
	}
	for key := range s {
		if len(key) > 2 && key[:2] == "x-" {
			delete(s, key)
		}
	}
}
