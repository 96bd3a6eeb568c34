package fuzz

import (
	"context"
	"slices"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/api/operation"
	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// A Validator validates decoded objects as the API server does when they are created
// (customResourceStrategy.Validate).
type Validator struct {
	schema *structural.Structural
	values validation.SchemaValidator
	rules  *cel.Validator // nil if there are none
}

// NewValidator returns a validator for a schema in JSON.
func NewValidator(openAPIV3Schema []byte) (*Validator, error) {
	internal, err := toStored(openAPIV3Schema)
	if err != nil {
		return nil, err
	}
	s, err := structural.NewStructural(internal)
	if err != nil {
		return nil, err
	}
	values, _, err := validation.NewSchemaValidator(internal)
	return &Validator{s, values, cel.NewValidator(s, true, celconfig.PerCallLimit)}, err
}

// Parts returns the errors for an object, for each of ValidatorParts. Rules in CEL are not
// evaluated.
func (v *Validator) Parts(object map[string]any) [4]field.ErrorList {
	ctx := context.Background()
	var m metav1.ObjectMeta
	if metadata, ok := object["metadata"].(map[string]any); ok {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(metadata, &m); err != nil {
			panic(err) // decoding leaves no such metadata
		}
	}
	if m.Name == "" && m.GenerateName != "" {
		m.Name = "generated"
	}
	return [4]field.ErrorList{
		metavalidation.ValidateObjectMetaDeclaratively(ctx, operation.Create, &m, nil,
			m.Namespace != "", metavalidation.NameIsDNSSubdomain, field.NewPath("metadata"), true),
		validation.ValidateCustomResource(nil, object, v.values),
		objectmeta.Validate(ctx, nil, object, v.schema, false),
		listtype.ValidateListSetsAndMaps(nil, v.schema, object),
	}
}

// ValidatorParts are the packages that find errors, in the order of the server.
var ValidatorParts = [4]string{"metadata", "values", "objectmeta", "listtype"}

// Validate returns the errors for an object: first those of all parts and, if there are none, those
// of its rules in CEL.
func (v *Validator) Validate(object map[string]any) (errs, rules field.ErrorList) {
	parts := v.Parts(object)
	errs = slices.Concat(parts[:]...)
	if len(errs) == 0 && v.rules != nil {
		rules, _ = v.rules.Validate(context.Background(), nil, v.schema, object, nil, celconfig.RuntimeCELCostBudget)
	}
	return errs, rules
}
