package kube

import (
	"bytes"
	"encoding/json"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/espalier-dev/espalier/schema"
)

// FromStructural returns the schema that is s in the API server's packages; s
// may be nil. The result has everything that decoding depends on, and the value
// validations except additionalProperties below allOf, anyOf, oneOf and not. It
// keeps no reference to s.
func FromStructural(s *structuralschema.Structural) (*schema.Structural, error) {
	if s == nil {
		return new(schema.Structural), nil
	}
	s = s.DeepCopy()
	keepFloats(s)
	return parse(s.ToKubeOpenAPI())
}

// keepFloats changes defaults so that a float64 of 1 is marshalled as a float.
func keepFloats(s *structuralschema.Structural) {
	if s == nil {
		return
	}
	s.Default.Object = withFloats(s.Default.Object)
	keepFloats(s.Items)
	if s.AdditionalProperties != nil {
		keepFloats(s.AdditionalProperties.Structural)
	}
	for name, property := range s.Properties {
		keepFloats(&property)
		s.Properties[name] = property
	}
}

// withFloats replaces each float64 in a JSON value.
func withFloats(v any) any {
	switch v := v.(type) {
	case float64:
		return float(v)
	case map[string]any:
		for name := range v {
			v[name] = withFloats(v[name])
		}
	case []any:
		for i := range v {
			v[i] = withFloats(v[i])
		}
	}
	return v
}

// A float is marshalled with a point or an exponent.
type float float64

func (f float) MarshalJSON() ([]byte, error) {
	b, err := json.Marshal(float64(f))
	if err == nil && !bytes.ContainsAny(b, ".e") {
		b = append(b, ".0"...)
	}
	return b, err
}

// FromProps returns the schema that is props in a CustomResourceDefinition of
// apiextensions.k8s.io/v1; props may be nil. The result keeps no reference to
// props.
func FromProps(props *apiextensionsv1.JSONSchemaProps) (*schema.Structural, error) {
	if props == nil {
		return new(schema.Structural), nil
	}
	return parse(props)
}

func parse(openAPI any) (*schema.Structural, error) {
	js, err := json.Marshal(openAPI)
	if err != nil {
		return nil, fmt.Errorf("marshalling the schema: %w", err)
	}
	return schema.Parse(js)
}

// structuralOf returns the schema of a version as the API server has it: nil if there is none, and
// without the parts of defaults that would be pruned.
func structuralOf(
	v *apiextensionsv1.CustomResourceDefinitionVersion,
) (*structuralschema.Structural, error) {
	if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
		return nil, nil
	}
	var internal apiextensions.JSONSchemaProps
	convert := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps
	if err := convert(v.Schema.OpenAPIV3Schema, &internal, nil); err != nil {
		return nil, err
	}
	return structuralschema.NewStructural(&internal)
}
