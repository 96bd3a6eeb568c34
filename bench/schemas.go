package main

import (
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/espalier-dev/espalier/schema"
)

// A Schema is a schema in the form of each side, with the data that contenders make of it. As in a
// server, these are made once, and not for each document.
type Schema struct {
	Program    *schema.Program
	Structural *structural.Structural // with its defaults pruned
	// Parsed and Internal are earlier forms of Structural.
	Parsed   *schema.Structural
	Internal *apiextensions.JSONSchemaProps
	// Definition is nil for a schema by itself.
	Definition *Definition

	made map[any]any
}

// NewSchema reads a schema in YAML or JSON.
func NewSchema(openAPIV3Schema []byte) (*Schema, error) {
	s, err := schema.Parse(openAPIV3Schema)
	if err != nil {
		return nil, err
	}
	p, err := schema.Compile(s)
	if err != nil {
		return nil, err
	}
	internal, err := toInternal(openAPIV3Schema)
	if err != nil {
		return nil, err
	}
	theirs, err := structural.NewStructural(internal)
	if err != nil {
		return nil, err
	}
	if err := defaulting.PruneDefaults(theirs); err != nil {
		return nil, err
	}
	return &Schema{p, theirs, s, internal, nil, make(map[any]any)}, nil
}

// MustSchema is NewSchema for schemas in this module.
func MustSchema(openAPIV3Schema string) *Schema {
	s, err := NewSchema([]byte(openAPIV3Schema))
	if err != nil {
		panic(fmt.Sprintf("%v in %s", err, openAPIV3Schema))
	}
	return s
}

// alone returns the schema without the data of contenders, for a goroutine of its own.
func (s *Schema) alone() *Schema {
	other := *s
	other.made = make(map[any]any)
	return &other
}

// forget drops the data that were made of the schemas of all documents: answers, and data that
// contenders keep for the next document. Otherwise the garbage collector would scan them, and run
// less often because of them, while another contender is timed.
func (w *Workload) forget() {
	for _, d := range w.Docs {
		clear(d.made)
	}
}

// made returns the result of make for the schema, the same one each time for a key.
func made[T any](s *Schema, key any, make func() T) T {
	v, ok := s.made[key].(T)
	if !ok {
		v = make()
		s.made[key] = v
	}
	return v
}

// toInternal does what a server does when it reads the schema of a definition.
func toInternal(openAPIV3Schema []byte) (*apiextensions.JSONSchemaProps, error) {
	js, err := yaml.YAMLToJSON(openAPIV3Schema)
	if err != nil {
		return nil, err
	}
	var v1 apiextensionsv1.JSONSchemaProps
	if err := kjson.UnmarshalCaseSensitivePreserveInts(js, &v1); err != nil {
		return nil, err
	}
	var internal apiextensions.JSONSchemaProps
	return &internal, apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&v1, &internal, nil)
}
