package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// mistakesSchema has one rule for each kind of mistake in Mistakes.
const mistakesSchema = `
type: object
required: [spec]
properties:
  apiVersion: {type: string}
  kind: {type: string}
  metadata: {type: object}
  spec:
    type: object
    required: [mode]
    minProperties: 1
    properties:
      mode: {type: string, enum: [Manual, Automatic]}
      schedule: {type: string, pattern: '^(@hourly|@daily|[0-9*/ ,-]+)$', minLength: 5, maxLength: 20}
      replicas: {type: integer, format: int32, minimum: 1, maximum: 9}
      ratio: {type: number, minimum: 0, exclusiveMinimum: true}
      size: {type: integer, multipleOf: 8}
      until: {type: string, format: date-time}
      timeout: {type: string, format: duration}
      owner: {type: string, format: email}
      port:
        anyOf: [{type: integer}, {type: string}]
        x-kubernetes-int-or-string: true
      zones: {type: array, x-kubernetes-list-type: set, minItems: 1, maxItems: 3, items: {type: string}}
      steps:
        type: array
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [name]
        items:
          type: object
          required: [name]
          properties: {name: {type: string}, run: {type: string}}
      labels: {type: object, maxProperties: 2, additionalProperties: {type: string, maxLength: 8}}
      source:
        type: object
        properties: {git: {type: string}, bucket: {type: string}}
        oneOf: [{required: [git]}, {required: [bucket]}]
      target:
        type: object
        properties: {host: {type: string}, socket: {type: string}}
        anyOf: [{required: [host]}, {required: [socket]}]
        not: {required: [host, socket]}
      template: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
      parked: {type: string, nullable: true}
      scale: {type: integer}
      retention: {type: string, default: 30d}
`

const mistakesCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: plans.backup.example.com}
spec:
  group: backup.example.com
  scope: Namespaced
  names: {kind: Plan, plural: plans}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {scale: {specReplicasPath: .spec.scale, statusReplicasPath: .status.scale}}
    schema:
      openAPIV3Schema:
`

// flawless is an object without mistakes.
const flawless = `{"apiVersion":"backup.example.com/v1","kind":"Plan","metadata":{"name":"nightly","namespace":"shop","labels":{"app":"web"}},` +
	`"spec":{"mode":"Manual","schedule":"0 3 * * *","replicas":3,"ratio":0.5,"size":64,"until":"2026-11-23T10:00:00Z","timeout":"1h30m","owner":"jane@example.com",` +
	`"port":"http","zones":["a","b"],"steps":[{"name":"dump","run":"pg_dump"},{"name":"push"}],"labels":{"tier":"gold"},"source":{"git":"shop"},"target":{"host":"db"},` +
	`"template":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"},"spec":{}},"parked":null,"scale":4}}`

// Mistakes are objects that a server refuses, each for one mistake. Each is flawless with a part
// replaced.
var Mistakes = []struct{ Name, Old, New string }{
	{"type", `"replicas":3`, `"replicas":"3"`},
	{"required", `"mode":"Manual",`, ``},
	{"required in a list", `{"name":"push"}`, `{"run":"push"}`},
	{"enum", `"Manual"`, `"manual"`},
	{"pattern", `"0 3 * * *"`, `"at three"`},
	{"minLength", `"0 3 * * *"`, `"* *"`},
	{"maxLength", `"0 3 * * *"`, `"0 3 * * * * * * * * * * * * *"`},
	{"minimum", `"replicas":3`, `"replicas":0`},
	{"maximum", `"replicas":3`, `"replicas":10`},
	{"exclusiveMinimum", `"ratio":0.5`, `"ratio":0`},
	{"multipleOf", `"size":64`, `"size":63`},
	{"format date-time", `"2026-11-23T10:00:00Z"`, `"tomorrow"`},
	{"format duration", `"1h30m"`, `"long"`},
	{"format email", `"jane@example.com"`, `"jane"`},
	{"int-or-string", `"port":"http"`, `"port":true`},
	{"minItems", `["a","b"]`, `[]`},
	{"maxItems", `["a","b"]`, `["a","b","c","d"]`},
	{"list type set", `["a","b"]`, `["a","a"]`},
	{"list type map", `{"name":"push"}`, `{"name":"dump"}`},
	{"maxProperties", `{"tier":"gold"}`, `{"tier":"gold","a":"b","c":"d"}`},
	{"additionalProperties", `{"tier":"gold"}`, `{"tier":"goldgoldgold"}`},
	{"oneOf", `{"git":"shop"}`, `{"git":"shop","bucket":"shop"}`},
	{"anyOf", `{"host":"db"}`, `{}`},
	{"not", `{"host":"db"}`, `{"host":"db","socket":"/run/db"}`},
	{"metadata.name", `"name":"nightly"`, `"name":"Nightly_"`},
	{"metadata.labels", `"app":"web"`, `"app":"the web"`},
	{"metadata of an embedded resource", `"metadata":{"name":"x"}`, `"metadata":{"name":"x/y"}`},
	{"no kind in an embedded resource", `"kind":"Pod",`, ``},
	{"scale subresource", `"scale":4`, `"scale":-1`},
	{"unknown field", `"replicas":3`, `"replicsa":3`},
	{"duplicate field", `"replicas":3`, `"replicas":3,"replicas":3`},
}

// mistakesIn returns the schema of Mistakes.
func mistakesIn() *Schema {
	list, err := NewDefinitions([]byte(mistakesCRD+indent(mistakesSchema, 8)), func(string) bool { return true })
	if err != nil {
		panic(err)
	}
	return list[0]
}

// misses returns the mistakes that a contender accepts.
func misses(c *Contender) (list []string) {
	s := mistakesIn()
	for _, m := range Mistakes {
		text := []byte(strings.Replace(flawless, m.Old, m.New, 1))
		if c.Start(&Document{Schema: s, Src: text, YAML: text}).Do() == nil {
			list = append(list, m.Name)
		}
	}
	return list
}

// withMistake returns the document with a mistake for which a server refuses it, or nil if its
// schema has no rule that a mistake breaks.
func withMistake(d *Document, random *rand.Rand) *Document {
	var m map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(d.Src, &m); err != nil {
		panic(err) // a server takes it
	}
	n := len(spoilers(m, d.Structural))
	for _, i := range random.Perm(n) {
		other := runtime.DeepCopyJSON(m)
		spoilers(other, d.Structural)[i]()
		var js bytes.Buffer
		e := json.NewEncoder(&js)
		e.SetEscapeHTML(false)
		if err := e.Encode(other); err != nil {
			panic(err)
		}
		wrong := &Document{Schema: d.Schema, Src: bytes.TrimSpace(js.Bytes())}
		if serverOf(d.Schema).verdict(wrong.Src) == nil {
			continue
		}
		text, err := yaml.JSONToYAML(wrong.Src)
		if err != nil {
			panic(err)
		}
		wrong.YAML = text
		return wrong
	}
	return nil
}

// spoilers returns functions each of which breaks a rule for a value in the object m, or most
// likely does. They are in the same order each time.
func spoilers(m map[string]any, s *structural.Structural) (list []func()) {
	if s.ValueValidation != nil {
		for _, name := range s.ValueValidation.Required {
			list = append(list, func() { delete(m, name) })
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		below, known := s.Properties[name]
		if !known && s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
			below, known = *s.AdditionalProperties.Structural, true
		}
		if known {
			list = append(list, spoilersOf(m[name], &below, func(v any) { m[name] = v })...)
		}
	}
	return list
}

func spoilersOf(v any, s *structural.Structural, put func(any)) (list []func()) {
	to := func(other any) { list = append(list, func() { put(other) }) }
	switch s.Type {
	case "": // any
	case "array":
		to(map[string]any{})
	default:
		to([]any{})
	}
	rules := s.ValueValidation
	if rules == nil {
		rules = new(structural.ValueValidation)
	}
	if len(rules.Enum) > 0 || rules.Pattern != "" || rules.Format != "" && s.Type == "string" {
		to("?")
	}
	if rules.MaxLength != nil && *rules.MaxLength < 1000 {
		to(strings.Repeat("a", int(*rules.MaxLength)+1))
	}
	if rules.MinLength != nil {
		to("")
	}
	if rules.Minimum != nil {
		to(int64(*rules.Minimum) - 1)
	}
	if rules.Maximum != nil {
		to(int64(*rules.Maximum) + 1)
	}
	switch v := v.(type) {
	case map[string]any:
		list = append(list, spoilers(v, s)...)
	case []any:
		if s.Items == nil {
			break
		}
		for i := range v {
			list = append(list, spoilersOf(v[i], s.Items, func(other any) { v[i] = other })...)
		}
		if len(v) > 0 && s.XListType != nil && *s.XListType != "atomic" {
			to(append(slices.Clone(v), v[0]))
		}
		if rules.MinItems != nil {
			to([]any{})
		}
	}
	return list
}
