package fuzz

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	k8sschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/endpoints/handlers"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/espalier-dev/espalier/internal/validate"
	"github.com/espalier-dev/espalier/schema"
)

// A Strategy validates the objects of a kind as the registry of the API server does, without rules
// in CEL.
type Strategy struct {
	isNamespaced bool
	create       rest.RESTCreateStrategy
	status       rest.RESTUpdateStrategy
}

// NewStrategy returns the strategy for a kind whose schema is js, or that has no schema if that is
// nil.
func NewStrategy(k *validate.Kind, js json.RawMessage, preserveUnknownFields bool) (*Strategy, error) {
	s, err := newStrategySchema(js, preserveUnknownFields, false)
	if err != nil {
		return nil, err
	}
	return s.strategy(k)
}

// NewRuledStrategy is NewStrategy with the rules in CEL.
func NewRuledStrategy(k *validate.Kind, js json.RawMessage, preserveUnknownFields bool) (*Strategy, error) {
	s, err := newStrategySchema(js, preserveUnknownFields, true)
	if err != nil {
		return nil, err
	}
	return s.strategy(k)
}

// A strategySchema has the parts of a strategy that depend on nothing but the schema.
type strategySchema struct {
	core           *structural.Structural
	values, status validation.SchemaValidator // status is nil if it is not declared
}

// newStrategySchema reads a schema, with or without its rules in CEL (getOrCreateServingInfoFor in
// customresource_handler.go of apiextensions-apiserver, like strategy).
func newStrategySchema(js json.RawMessage, preserveUnknownFields, isRuled bool) (*strategySchema, error) {
	if js == nil {
		values, _, err := validation.NewSchemaValidator(nil)
		return &strategySchema{values: values}, err
	}
	internal, err := toStored(js)
	if err != nil {
		return nil, err
	}
	s := new(strategySchema)
	s.core, err = structural.NewStructural(internal)
	if err != nil && !preserveUnknownFields {
		return nil, err
	}
	if s.core != nil && !isRuled {
		s.core = s.core.DeepCopy()
		(&structural.Visitor{Structural: func(s *structural.Structural) bool {
			s.XValidations = nil
			return true
		}}).Visit(s.core)
	}
	if !preserveUnknownFields {
		if err := defaulting.PruneDefaults(s.core); err != nil {
			return nil, err
		}
	}
	if status, ok := internal.Properties["status"]; ok {
		if s.status, _, err = validation.NewSchemaValidator(&status); err != nil {
			return nil, err
		}
	}
	s.values, _, err = validation.NewSchemaValidator(internal)
	return s, err
}

func (s *strategySchema) strategy(k *validate.Kind) (*Strategy, error) {
	version, err := k8sschema.ParseGroupVersion(k.APIVersion)
	if err != nil {
		return nil, err
	}
	kind := version.WithKind(k.Kind)
	var status *apiextensions.CustomResourceSubresourceStatus
	var statusValues validation.SchemaValidator
	if k.HasStatus {
		status, statusValues = &apiextensions.CustomResourceSubresourceStatus{}, s.status
	}
	create := customresource.NewStrategy(typer{kind}, k.Namespaced, kind, s.values, statusValues, s.core, status, scaleOf(k.Scale), nil)
	return &Strategy{k.Namespaced, create, customresource.NewStatusStrategy(create)}, nil
}

func scaleOf(s *schema.Scale) *apiextensions.CustomResourceSubresourceScale {
	if s == nil {
		return nil
	}
	return &apiextensions.CustomResourceSubresourceScale{
		SpecReplicasPath: s.SpecReplicasPath, StatusReplicasPath: s.StatusReplicasPath, LabelSelectorPath: s.LabelSelectorPath,
	}
}

// A typer knows one type.
type typer struct{ kind k8sschema.GroupVersionKind }

func (t typer) ObjectKinds(runtime.Object) ([]k8sschema.GroupVersionKind, bool, error) {
	return []k8sschema.GroupVersionKind{t.kind}, false, nil
}

func (t typer) Recognizes(k8sschema.GroupVersionKind) bool { return true }

// Create returns the errors for a decoded object that is created (handlers.CreateResource,
// Store.Create, rest.BeforeCreate), and the warnings. The random part of a generated name is that of
// package validate. The uid and the time are not set, which are different each time and can be seen
// in an error about an enum.
func (s *Strategy) Create(object map[string]any) (field.ErrorList, []string) {
	ctx := context.Background()
	u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(object)}
	rest.WipeObjectMetaSystemFields(u)
	if base := u.GetGenerateName(); base != "" && u.GetName() == "" {
		u.SetName(validate.GeneratedName(base))
	}
	request := "default"
	if u.GetNamespace() != "" {
		request = u.GetNamespace()
	}
	if err := rest.EnsureObjectNamespaceMatchesRequestNamespace(rest.ExpectedNamespaceForScope(request, s.isNamespaced), u); err != nil {
		panic(err) // the namespaces are one
	}
	warnings := dedupOwners(u)
	dropUnreadable(u)
	s.create.PrepareForCreate(ctx, u)
	return rest.ValidateCreate(ctx, u, s.create), append(warnings, s.create.WarningsOnCreate(ctx, u)...)
}

// dedupOwners is dedupOwnerReferencesAndAddWarning of the package handlers, which does not export it.
func dedupOwners(u *unstructured.Unstructured) []string {
	var distinct []metav1.OwnerReference
	var repeated []string
	for _, ref := range u.GetOwnerReferences() {
		if slices.ContainsFunc(distinct, func(r metav1.OwnerReference) bool { return equality.Semantic.DeepEqual(r, ref) }) {
			repeated = append(repeated, string(ref.UID))
		} else {
			distinct = append(distinct, ref)
		}
	}
	if len(repeated) == 0 {
		return nil
	}
	u.SetOwnerReferences(distinct)
	return []string{fmt.Sprintf(handlers.DuplicateOwnerReferencesWarningFormat, strings.Join(repeated, ", "))}
}

// dropUnreadable drops managedFields if they cannot be read, as FieldManager.Update of apimachinery
// does it. The entry of the request, which it adds, is valid.
func dropUnreadable(u *unstructured.Unstructured) {
	if managedfields.ValidateManagedFields(u.GetManagedFields()) != nil {
		u.SetManagedFields(nil)
	}
}

// StatusUpdate returns the errors for a decoded object that is written through its status
// subresource. It must have a resourceVersion. The stored object differs from it in all of its
// status, so that no error is excused, and has no sets and maps.
func (s *Strategy) StatusUpdate(object map[string]any) field.ErrorList {
	u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(object)}
	old := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": u.Object["apiVersion"], "kind": u.Object["kind"], "metadata": u.Object["metadata"], "status": "another one",
	}}
	return s.status.ValidateUpdate(context.Background(), u, old)
}
