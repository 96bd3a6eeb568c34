package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
)

// A ruleExample completes the example of a rule.
type ruleExample struct {
	schema string // of spec, as the comment in the example says
	mended string // the example without its fault
}

// ruleExamples has the examples of all rules that have one. The whole objects are made by
// exampleFiles.
var ruleExamples = map[string]ruleExample{
	"unknown-field":         {"properties: {replicas: {type: integer}}", "spec:\n  replicas: 3"},
	"duplicate-field":       {"properties: {suspend: {type: boolean}}", "spec:\n  suspend: false"},
	"type-mismatch":         {"properties: {suspend: {type: boolean}}", "spec:\n  suspend: true"},
	"invalid-format":        {"", "metadata:\n  creationTimestamp: 2026-01-02T03:04:05Z"},
	"dropped-null":          {"properties: {schedule: {type: string}}", "spec: {}"},
	"missing-separator":     {"", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}"},
	"syntax":                {"", "spec: {}"},
	"missing-type":          {"", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a"},
	"invalid-schema":        {"", "properties:\n  spec:\n    type: string"},
	"differing-definitions": {"", "properties: {replicas: {type: integer}}"},
	"unused-suppression":    {"properties: {replicas: {type: integer}}", "replicas: 3"},
	"invalid-suppression":   {"properties: {replicas: {type: integer}}", "replcas: 3 # espalier:ignore unknown-field -- the controller reads it"},
	"server-warning":        {"", "metadata:\n  finalizers: [example.com/cleanup]"},

	"invalid-value/required":                 {"required: [schedule]\nproperties: {schedule: {type: string}}", "spec: {schedule: daily}"},
	"invalid-value/enum":                     {"properties: {compression: {type: string, enum: [none, gzip, zstd]}}", "compression: gzip"},
	"invalid-value/pattern":                  {"properties: {host: {type: string, pattern: '^[a-z.-]+$'}}", "host: a-b"},
	"invalid-value/format":                   {"properties: {at: {type: string, format: date-time}}", "at: 2026-01-02T03:04:05Z"},
	"invalid-value/minLength":                {"properties: {schedule: {type: string, minLength: 9}}", "schedule: \"0 2 * * *\""},
	"invalid-value/maxLength":                {"properties: {code: {type: string, maxLength: 3}}", "code: abc"},
	"invalid-value/minimum":                  {"properties: {daily: {type: integer, minimum: 0}}", "daily: 0"},
	"invalid-value/exclusiveMinimum":         {"properties: {ratio: {type: number, minimum: 0, exclusiveMinimum: true}}", "ratio: 0.1"},
	"invalid-value/maximum":                  {"properties: {percent: {type: integer, maximum: 100}}", "percent: 100"},
	"invalid-value/exclusiveMaximum":         {"properties: {ratio: {type: number, maximum: 1, exclusiveMaximum: true}}", "ratio: 0.9"},
	"invalid-value/multipleOf":               {"properties: {memory: {type: integer, multipleOf: 64}}", "memory: 128"},
	"invalid-value/minItems":                 {"properties: {sources: {type: array, minItems: 1, items: {type: string}}}", "sources: [a]"},
	"invalid-value/maxItems":                 {"properties: {sources: {type: array, maxItems: 2, items: {type: string}}}", "sources: [a, b]"},
	"invalid-value/minProperties":            {"properties: {selector: {type: object, minProperties: 1, additionalProperties: {type: string}}}", "selector: {a: b}"},
	"invalid-value/maxProperties":            {"properties: {source: {type: object, maxProperties: 1, additionalProperties: {type: string}}}", "source: {git: a}"},
	"invalid-value/additionalProperties":     {"properties: {limits: {type: object, additionalProperties: false}}", "limits: {}"},
	"invalid-value/allOf":                    {"properties: {port: {type: integer, allOf: [{minimum: 1}, {maximum: 65535}]}}", "port: 1"},
	"invalid-value/anyOf":                    {"properties: {source: " + sourceSchema + "anyOf: [{required: [git]}, {required: [oci]}]}}", "source: {git: a}"},
	"invalid-value/oneOf":                    {"properties: {source: " + sourceSchema + "oneOf: [{required: [git]}, {required: [oci]}]}}", "source: {oci: b}"},
	"invalid-value/not":                      {"properties: {name: {type: string, not: {enum: [default]}}}", "name: a"},
	"invalid-value/x-kubernetes-list-type":   {"properties: {ports: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, required: [name], properties: {name: {type: string}}}}}", "ports: [{name: web}, {name: metrics}]"},
	"invalid-value/x-kubernetes-validations": {"properties: {min: {type: integer}, max: {type: integer}}\nx-kubernetes-validations: [{rule: self.min <= self.max}]", "spec: {min: 2, max: 3}"},
	"invalid-value/metadata":                 {"", "metadata:\n  name: my-plan"},
	"invalid-value/scale":                    {"properties: {replicas: {type: integer}}", "spec:\n  replicas: 1"},
}

const sourceSchema = "{type: object, properties: {git: {type: string}, oci: {type: string}}, "

// TestExamples: the example of a rule has its finding, and has none when it is mended.
func TestExamples(t *testing.T) {
	for _, rule := range finding.Rules {
		example, ok := ruleExamples[rule.ID]
		assert.Equal(t, rule.Example != "", ok, rule.ID)
		if !ok {
			continue
		}
		check := func(text string) string {
			t.Chdir(write(t, exampleFiles(rule.ID, example.schema, text)))
			stdout, stderr, _ := espalier("", "check", "--crd", "crd.yaml", "example.yaml")
			assert.NotContains(t, stderr, "error: ", rule.ID)
			return stdout
		}
		assert.Contains(t, check(rule.Example), "["+rule.ID+"]", rule.ID)
		assert.Empty(t, check(example.mended), rule.ID)
	}
}

// exampleFiles returns a definition, and a file with an object that an example is a part of.
func exampleFiles(rule, schema, example string) map[string]string {
	definition := `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: plans.example.com}
spec:
  group: example.com
  names: {kind: Plan, listKind: PlanList, plural: plans, singular: plan}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    schema:
      openAPIV3Schema:
        type: object
`
	const object = "apiVersion: example.com/v1\nkind: Plan\n"
	files := map[string]string{"crd.yaml": definition + "        properties:\n          spec:\n            type: object\n" + indented(schema, 12)}
	switch first, _, _ := strings.Cut(example, ":"); {
	case rule == finding.RuleDiffering:
		other := strings.NewReplacer("plan", "trial", "Plan", "Trial")
		parts := strings.Split(example, "\n---\n")
		for i, part := range parts {
			parts[i] = other.Replace(definition) + indented(part, 8)
		}
		example = strings.Join(parts, "---\n") + "---\n" + other.Replace(object) + "metadata: {name: a}"
	case rule == finding.RuleInvalidSchema:
		example = definition + indented(example, 8)
	case first == "apiVersion", rule == finding.RuleMissingType:
	case first == "metadata" && strings.Contains(example, "name:"):
		example = object + example
	case first == "metadata":
		example = object + example + "\n  name: a"
	case first == "spec":
		example = object + "metadata: {name: a}\n" + example
	default:
		example = object + "metadata: {name: a}\nspec:\n" + indented(example, 2)
	}
	files["example.yaml"] = example + "\n"
	return files
}

// indented returns lines behind some spaces.
func indented(lines string, spaces int) string {
	var b strings.Builder
	for line := range strings.Lines(lines) {
		b.WriteString(strings.Repeat(" ", spaces) + line)
	}
	return b.String() + "\n"
}
