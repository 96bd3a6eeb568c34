package admission

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/espalier-dev/espalier/kube"
)

// A Validator is an admission.Validator of controller-runtime: it refuses
// objects with values that a schema refuses. It is for webhooks whose schema
// says more than the definition in the cluster does, or whose objects no API
// server validates. Any number of goroutines can use it.
//
//	validator, err := kube.NewValidator(crd, "v1")
//	v, err := admission.NewValidator[*unstructured.Unstructured](validator)
//	hook := admission.WithValidator(scheme, v) // of controller-runtime
type Validator[T runtime.Object] struct {
	values *kube.Validator
}

var _ admission.Validator[runtime.Object] = (*Validator[runtime.Object])(nil)

// NewValidator returns a validator for objects of one version of a kind.
func NewValidator[T runtime.Object](values *kube.Validator) (*Validator[T], error) {
	if values == nil {
		return nil, errors.New("admission: the validator is nil")
	}
	return &Validator[T]{values}, nil
}

// ValidateCreate refuses an object that is invalid with the answer of the API
// server, an *apierrors.StatusError with the code 422. A valid object has the
// server's warnings about its finalizers.
func (v *Validator[T]) ValidateCreate(ctx context.Context, obj T) (admission.Warnings, error) {
	if errs := v.values.Validate(ctx, obj); len(errs) > 0 {
		return nil, v.refuse(obj, errs)
	}
	return v.values.WarningsOnCreate(ctx, obj), nil
}

// ValidateUpdate refuses an object that may not replace the stored one, with the
// answer of the API server. What was invalid before, and has not changed, may
// stay. An update of the status is one if the request in the context says so.
func (v *Validator[T]) ValidateUpdate(ctx context.Context, oldObj, newObj T) (admission.Warnings, error) {
	validate, warnings := v.values.ValidateUpdate, v.values.WarningsOnUpdate
	if r, err := admission.RequestFromContext(ctx); err == nil && r.SubResource == "status" {
		validate, warnings = v.values.ValidateStatusUpdate, noWarnings
	}
	if errs := validate(ctx, newObj, oldObj); len(errs) > 0 {
		return nil, v.refuse(newObj, errs)
	}
	return warnings(ctx, newObj, oldObj), nil
}

func noWarnings(context.Context, runtime.Object, runtime.Object) []string { return nil }

func (v *Validator[T]) refuse(obj T, errs field.ErrorList) error {
	name := ""
	if object, err := meta.Accessor(obj); err == nil {
		name = object.GetName()
	}
	return apierrors.NewInvalid(v.values.GroupVersionKind().GroupKind(), name, errs)
}

// ValidateDelete accepts all objects.
func (v *Validator[T]) ValidateDelete(context.Context, T) (admission.Warnings, error) {
	return nil, nil
}
