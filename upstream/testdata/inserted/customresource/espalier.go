package customresource

import (
	"context"
	"sync/atomic"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsfeatures "k8s.io/apiextensions-apiserver/pkg/features"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	"github.com/espalier-dev/espalier/cel"
	"github.com/espalier-dev/espalier/kube"
)

// EspalierValidated counts what was validated by Espalier, for a test that it was.
var EspalierValidated atomic.Int64

// espalierRules compiles the rules of all definitions.
var espalierRules = cel.Rules()

// An EspalierValidator validates the objects of a version.
type EspalierValidator struct{ validator *kube.Validator }

// NewEspalierValidator returns the validator of a version. Definitions of v1beta1 may have schemas that are
// not structural; their objects are left to stock.
func NewEspalierValidator(
	crd *apiextensionsv1.CustomResourceDefinition, version string,
) (*EspalierValidator, error) {
	v, err := kube.NewValidator(crd, version, kube.Rules(espalierRules))
	switch {
	case err == nil:
		return &EspalierValidator{v}, nil
	case crd.Spec.PreserveUnknownFields:
		return nil, nil
	}
	return nil, err
}

// WithEspalier returns the strategy with a validator.
func WithEspalier(strategy customResourceStrategy, v *EspalierValidator) customResourceStrategy {
	strategy.espalier = v
	return strategy
}

// judges says whether there is a validator, which has no update without ratcheting.
func (v *EspalierValidator) judges() bool {
	return v != nil && utilfeature.DefaultFeatureGate.Enabled(apiextensionsfeatures.CRDValidationRatcheting)
}

func (v *EspalierValidator) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	EspalierValidated.Add(1)
	return v.validator.Validate(ctx, obj)
}

func (v *EspalierValidator) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	EspalierValidated.Add(1)
	return v.validator.ValidateUpdate(ctx, obj, old)
}

func (v *EspalierValidator) ValidateStatusUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	EspalierValidated.Add(1)
	return v.validator.ValidateStatusUpdate(ctx, obj, old)
}
