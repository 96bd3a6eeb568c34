package kube

// This file validates the values of objects as the strategy of custom resources does.

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// NOTE: an object is written as JSON, and a decoder that prunes and defaults nothing validates it.
// That is a fraction of what the server's packages take, because nearly all objects are valid, which
// the decoder sees in its walk. If there are errors, the object is written again with its names
// sorted, so that the order of the errors is always the same.

// A Validator validates the values of the objects of one version of a custom
// resource, as the API server does when it has decoded, pruned and defaulted
// them and they have gone through admission. Its methods are those of
// rest.RESTCreateStrategy and rest.RESTUpdateStrategy in k8s.io/apiserver, so
// that a strategy can embed it. Any number of goroutines can use it.
//
// The rules are those of the server: types, bounds, patterns and formats of the
// schema, enums, anyOf, oneOf, allOf and not, the elements of sets and maps,
// metadata, also that of embedded resources, and the values of the scale
// subresource. Rules in CEL (x-kubernetes-validations) are evaluated if there is
// a compiler for them: see [Rules].
type Validator struct {
	kind                   runtimeschema.GroupVersionKind
	create, update, status *decoder.Pool
}

// NewValidator returns the validator of a version of a definition, served or
// not. Of the options only [Limits] and [Rules] have an effect: by default, 100
// errors of an object are kept. NewValidator does not change the definition, and
// keeps no reference to it.
func NewValidator(
	crd *apiextensionsv1.CustomResourceDefinition, version string, opts ...Option,
) (*Validator, error) {
	if crd == nil {
		return nil, errors.New("kube: the CustomResourceDefinition is nil")
	}
	var o options
	if err := o.set(opts); err != nil {
		return nil, err
	}
	var rules []validation.RuleCompiler
	if o.hasRules {
		if o.rules == nil {
			return nil, errors.New("kube: the compiler for rules is nil")
		}
		rules = []validation.RuleCompiler{o.rules}
	}
	at := slices.IndexFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return v.Name == version
	})
	if at < 0 {
		return nil, fmt.Errorf("kube: the definition of kind %s has no version %s", kindOf(crd), version)
	}
	own, err := versionOf(&crd.Spec.Versions[at])
	if err != nil {
		return nil, fmt.Errorf("version %s: %w", version, err)
	}
	definition := &schema.CRD{
		Group: crd.Spec.Group, Kind: kindOf(crd), Scope: string(crd.Spec.Scope),
		PreserveUnknownFields: true, // what admission has added is validated, too
		Versions:              []schema.Version{own},
	}
	program, err := definition.Program(version, validation.Values(rules...))
	if err != nil {
		return nil, err
	}
	pool := func(v decoder.ValueValidation) *decoder.Pool {
		return decoder.NewPool(program, o.limits, decoder.Ignore, v)
	}
	return &Validator{
		kind:   runtimeschema.GroupVersionKind{Group: definition.Group, Version: version, Kind: definition.Kind},
		create: pool(decoder.ValidateCreate),
		update: pool(decoder.ValidateUpdate),
		status: pool(decoder.ValidateStatusUpdate),
	}, nil
}

// versionOf returns what objects of a version are validated by.
func versionOf(v *apiextensionsv1.CustomResourceDefinitionVersion) (own schema.Version, err error) {
	own.Name = v.Name
	if v.Schema != nil && v.Schema.OpenAPIV3Schema != nil {
		props := v.Schema.OpenAPIV3Schema.DeepCopy()
		dropDefaults(props)
		if own.Schema, err = FromProps(props); err != nil {
			return own, err
		}
	}
	if sub := v.Subresources; sub != nil {
		own.HasStatus = sub.Status != nil
		if scale := sub.Scale; scale != nil {
			own.Scale = &schema.Scale{
				SpecReplicasPath: scale.SpecReplicasPath, StatusReplicasPath: scale.StatusReplicasPath,
				LabelSelectorPath: scale.LabelSelectorPath,
			}
		}
	}
	return own, nil
}

// dropDefaults removes the defaults from a schema. They are not looked for below anyOf, oneOf, allOf
// and not, where there are none.
func dropDefaults(s *apiextensionsv1.JSONSchemaProps) {
	s.Default = nil
	if s.Items != nil && s.Items.Schema != nil {
		dropDefaults(s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		dropDefaults(s.AdditionalProperties.Schema)
	}
	for name, property := range s.Properties {
		dropDefaults(&property)
		s.Properties[name] = property
	}
}

// GroupVersionKind returns the type of the objects that are validated.
func (v *Validator) GroupVersionKind() runtimeschema.GroupVersionKind { return v.kind }

// Validate validates an object that is created, after PrepareForCreate. Where
// the version has a status subresource, the status is not looked at. A Go type
// is validated as the object that it is in JSON; if it does not say its own type,
// it is of the type of the validator.
//
// The errors have the type, the field, the value and the text of the server's.
// Those in the object's metadata come first, as in the server. The others are in
// the order of the names of fields, and what is missing comes before its
// siblings; the server's order of these is random. An entry at the end counts
// errors beyond the limit.
func (v *Validator) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	return v.validate(v.create, obj, nil)
}

// ValidateUpdate validates an object that replaces old, the stored one, after
// PrepareForUpdate. Errors of the schema are excused where a value has not
// changed. Where the version has a status subresource, the status of old is
// validated in the place of the object's own.
//
// Metadata is compared with that of old, and has all errors that
// rest.ValidateUpdate finds in it, too. A resourceVersion may be missing: that
// is left to rest.ValidateUpdate.
func (v *Validator) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	return v.validateUpdate(v.update, obj, old)
}

// ValidateStatusUpdate is ValidateUpdate for an object that is written through
// its status subresource: it validates old with the status of the object.
func (v *Validator) ValidateStatusUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	return v.validateUpdate(v.status, obj, old)
}

// ValidateStatus is [Validator.ValidateStatusUpdate] where the stored object is
// not known: all but the status is taken from the object, nothing is excused,
// and nothing is compared.
func (v *Validator) ValidateStatus(_ context.Context, obj runtime.Object) field.ErrorList {
	return v.validate(v.status, obj, nil)
}

// WarningsOnCreate returns the server's warnings about an object that is created:
// those about the names of its finalizers.
func (v *Validator) WarningsOnCreate(ctx context.Context, obj runtime.Object) []string {
	return v.WarningsOnUpdate(ctx, obj, nil)
}

// WarningsOnUpdate returns the server's warnings about an object that replaces
// old: those about the names of finalizers that are new. The server has none
// about updates of the status.
func (v *Validator) WarningsOnUpdate(_ context.Context, obj, old runtime.Object) (warnings []string) {
	object, err := meta.Accessor(obj)
	if err != nil {
		return nil
	}
	finalizers := slices.Clone(object.GetFinalizers())
	if old != nil {
		stored, err := meta.Accessor(old)
		if err != nil {
			return nil
		}
		finalizers = slices.DeleteFunc(finalizers, func(name string) bool {
			return slices.Contains(stored.GetFinalizers(), name)
		})
	}
	slices.Sort(finalizers)
	for _, name := range slices.Compact(finalizers) {
		faults := utilvalidation.IsQualifiedName(name)
		switch {
		case strings.Contains(name, "/"), slices.Contains(standardFinalizers, name):
		case strings.Contains(name, "."):
			faults = append(faults, "prefer a domain-qualified finalizer name including a path (/) "+noConflicts)
		default:
			faults = append(faults, "prefer a domain-qualified finalizer name "+noConflicts)
		}
		for _, fault := range faults {
			warnings = append(warnings, fmt.Sprintf("metadata.finalizers: %q: %s", name, fault))
		}
	}
	return warnings
}

var standardFinalizers = []string{
	metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents,
	"kubernetes", // FinalizerKubernetes of k8s.io/api/core/v1
}

const noConflicts = "to avoid accidental conflicts with other finalizer writers"

func (v *Validator) validateUpdate(pool *decoder.Pool, obj, old runtime.Object) field.ErrorList {
	if old == nil {
		return field.ErrorList{field.InternalError(nil, errors.New("kube: the stored object is nil"))}
	}
	return v.validate(pool, obj, old)
}

// validate validates an object, which replaces old unless that is nil.
func (v *Validator) validate(pool *decoder.Pool, obj, old runtime.Object) field.ErrorList {
	object, err := v.contentOf(obj)
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	d := pool.Get()
	defer pool.Put(d)
	if old != nil {
		stored := takeBuffer()
		defer giveBuffer(stored)
		content, err := v.contentOf(old)
		if err == nil {
			*stored, err = appendJSON((*stored)[:0], content, false)
		}
		if err != nil {
			return field.ErrorList{field.InternalError(nil, fmt.Errorf("the stored object: %w", err))}
		}
		d.SetOld(*stored)
	}
	text, result := takeBuffer(), takeBuffer()
	defer giveBuffer(text)
	defer giveBuffer(result)
	for _, sorted := range []bool{false, true} {
		if *text, err = appendJSON((*text)[:0], object, sorted); err != nil {
			break
		}
		if *result, err = d.AppendJSON((*result)[:0], *text); err == nil {
			return nil
		}
	}
	return fieldErrors(err, object)
}

// contentOf returns an object as maps.
func (v *Validator) contentOf(obj runtime.Object) (map[string]any, error) {
	if u, ok := obj.(runtime.Unstructured); ok {
		return withTypeAsText(u.UnstructuredContent()), nil
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, err
	}
	// The server clears the type of a Go value when it has decoded it.
	if object["apiVersion"] == nil && object["kind"] == nil {
		object["apiVersion"], object["kind"] = v.kind.ToAPIVersionAndKind()
	}
	return object, nil
}

// withTypeAsText returns an object without apiVersion and kind that are no strings, which the server
// takes for missing ones.
func withTypeAsText(object map[string]any) map[string]any {
	for _, name := range []string{"apiVersion", "kind"} {
		value, isThere := object[name]
		if _, isText := value.(string); isThere && !isText {
			object = maps.Clone(object)
			delete(object, name)
		}
	}
	return object
}
