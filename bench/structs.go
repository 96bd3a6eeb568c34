package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/decoder"
)

// structs is the name of the job that decodes into Go structs. Each schema has a type made of it.
const structs = "struct"

// structJob decodes into the same struct with each contender. The parsers among them ignore what the
// struct does not have, and insert no defaults.
func structJob() *Job {
	less := "no defaults, names no unknown field"
	return &Job{Name: structs, Title: "JSON to Go structs: decode, prune, drop nulls, default", Contenders: slices.Concat([]Contender{
		toStruct("Espalier Unmarshal, Ignore", DecodedStruct, "", func(d *Document) func(v any) error {
			dec := decoderOf(d.Schema, decoder.Ignore)
			return func(v any) error { return dec.Unmarshal(d.Src, v) }
		}),
		toStruct("Kubernetes + FromUnstructured", DecodedStruct, "no metadata round trip", func(d *Document) func(v any) error {
			return func(v any) error {
				m, err := decodePlain(d.Src, d.Structural, stageDefault)
				if err != nil {
					return err
				}
				return runtime.DefaultUnstructuredConverter.FromUnstructured(m, v)
			}
		}),
		parserToStruct("Kubernetes: sigs.k8s.io/json", less, kjson.UnmarshalCaseSensitivePreserveInts),
		parserToStruct("go-json-experiment/json", less+"; rejects duplicates", func(src []byte, v any) error { return jsonv2.Unmarshal(src, v) }),
		parserToStruct("sonic", less+"; "+notAllChecked, sonicAPI.Unmarshal),
		parserToStruct("encoding/json", less, json.Unmarshal),
	}, standardToStruct(less))}
}

func parserToStruct(name, less string, unmarshal func([]byte, any) error) Contender {
	return toStruct(name, ParsedStruct, less, func(d *Document) func(v any) error {
		return func(v any) error { return unmarshal(d.Src, v) }
	})
}

// toStruct is a contender that decodes into a new struct. Its result, to compare, is the JSON of all
// fields.
func toStruct(name string, output Output, less string, start func(d *Document) func(v any) error) Contender {
	return Contender{name, output, less, func(d *Document) Run {
		of := structOf(d.Schema)
		decode := start(d)
		var v any
		return Run{
			Do: func() error {
				v = reflect.New(of).Interface()
				return decode(v)
			},
			Result: func() any {
				js, err := json.Marshal(v)
				if err != nil {
					panic(err) // the struct is made of types that have JSON
				}
				return js
			},
		}
	}}
}

// wantedStruct returns the fields of a struct that a document is decoded into by Kubernetes.
func wantedStruct(d *Document, src []byte) (any, error) {
	v := reflect.New(structOf(d.Schema)).Interface()
	if err := kjson.UnmarshalCaseSensitivePreserveInts(src, v); err != nil {
		return nil, err
	}
	js, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return valueOf(js)
}

// wantedDecodedStruct is wantedStruct of a document that was pruned and defaulted.
func wantedDecodedStruct(d *Document) (any, error) {
	m, _, err := decodeStrict(d.Src, d.Structural)
	if err != nil {
		return nil, err
	}
	js, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	return wantedStruct(d, js)
}

// Typed returns a workload of the documents whose values have the types of their structs: no parser
// decodes the others.
func Typed(w *Workload) *Workload {
	typed := &Workload{Name: "typed", Typed: true}
	for _, d := range w.Docs {
		if _, err := wantedStruct(d, d.Src); err == nil {
			typed.Docs = append(typed.Docs, d)
		}
	}
	typed.What = fmt.Sprintf("%d of the resources of %s, whose values have the types of Go structs", len(typed.Docs), w.Name)
	return typed
}

// structOf returns the type of a schema, as generators of definitions have it: an optional object is
// a pointer, metadata is an ObjectMeta, and what has no type is an interface.
func structOf(s *Schema) reflect.Type {
	return made(s, structs, func() reflect.Type {
		root := *s.Structural
		root.Properties = maps.Clone(root.Properties)
		delete(root.Properties, "metadata")
		return structWith(&root, fieldOf("Kind", "kind", reflect.TypeFor[string]()),
			fieldOf("APIVersion", "apiVersion", reflect.TypeFor[string]()),
			fieldOf("ObjectMeta", "metadata", reflect.TypeFor[metav1.ObjectMeta]()))
	})
}

func fieldOf(name, inJSON string, t reflect.Type) reflect.StructField {
	return reflect.StructField{Name: name, Type: t, Tag: reflect.StructTag(fmt.Sprintf("json:%q", inJSON))}
}

func structWith(s *structural.Structural, fields ...reflect.StructField) reflect.Type {
	has := func(name string) bool {
		return slices.ContainsFunc(fields, func(f reflect.StructField) bool { return f.Tag.Get("json") == name })
	}
	required := requiredOf(s)
	for i, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if has(name) {
			continue
		}
		property := s.Properties[name]
		t := typeOf(&property)
		if t.Kind() == reflect.Struct && !slices.Contains(required, name) || property.Nullable && t.Kind() != reflect.Interface {
			t = reflect.PointerTo(t)
		}
		fields = append(fields, fieldOf(fmt.Sprintf("F%d", i), name, t))
	}
	return reflect.StructOf(fields)
}

func requiredOf(s *structural.Structural) []string {
	if s.ValueValidation == nil {
		return nil
	}
	return s.ValueValidation.Required
}

func typeOf(s *structural.Structural) reflect.Type {
	switch s.Type {
	case "string":
		return reflect.TypeFor[string]()
	case "integer":
		return reflect.TypeFor[int64]()
	case "number":
		return reflect.TypeFor[float64]()
	case "boolean":
		return reflect.TypeFor[bool]()
	case "array":
		if s.Items == nil {
			return reflect.TypeFor[[]any]()
		}
		return reflect.SliceOf(typeOf(s.Items))
	case "object":
		switch {
		case s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil:
			return reflect.MapOf(reflect.TypeFor[string](), typeOf(s.AdditionalProperties.Structural))
		case len(s.Properties) == 0 || s.XPreserveUnknownFields || s.XEmbeddedResource:
			return reflect.TypeFor[map[string]any]()
		}
		return structWith(s)
	}
	return reflect.TypeFor[any]() // int-or-string, and what has no type
}
