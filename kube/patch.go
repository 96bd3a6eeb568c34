package kube

// This file applies patches as the API server's handler does, and decodes the results (KEP-2885,
// Patch).

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/espalier-dev/espalier/decoder"
)

// These are the limits of the API server for JSON patches.
const (
	// MaxJSONPatchOperations is how many operations a patch may have.
	MaxJSONPatchOperations = 10_000
	// MaxJSONPatchCopyBytes is how many bytes the copy operations of a
	// patch may add: 3 MiB. The library that applies patches has one limit
	// for the whole program. The first use of [Resource.Patch] sets it,
	// unless the program has set it before, as API servers do.
	MaxJSONPatchCopyBytes = 3 << 20
)

// Patch applies a patch to an object of the resource and returns the result,
// pruned and defaulted by its schema. The patch is of types.MergePatchType (RFC
// 7386) or types.JSONPatchType (RFC 6902). Patch does not change current.
//
// Under decoder.Warn, which is the server's default, and decoder.Strict, the
// patch is searched for repeated names, the operations of a JSON patch also for
// unknown fields, and the result for unknown fields, including those that
// current had before. Under Warn these findings are the warnings, and under
// Strict they are an error. A result that cannot be decoded is an error in any
// case.
//
// The errors are those with which the server answers, each an
// *apierrors.StatusError with the code 400, 413, 415 or 422 and the server's
// text, or an *errors.LimitError. A FieldValidation that is not one of the
// constants is another error. The server's other steps are left to the caller:
// admission, managed fields, and validation.
func (r *Resource) Patch(
	current *unstructured.Unstructured, patchType types.PatchType, patch []byte,
	v decoder.FieldValidation,
) (patched *unstructured.Unstructured, warnings []error, err error) {
	if err := r.check(); err != nil {
		return nil, nil, err
	}
	if _, err := v.MarshalText(); err != nil {
		return nil, nil, err
	}
	gvk := current.GroupVersionKind()
	how := reading{strict: v != decoder.Ignore}
	if patchType == types.MergePatchType {
		if text, ok := merged(current.Object, patch, how); ok {
			object, _, strict, err := r.decode(text, &gvk, how)
			if isLimit(err) {
				return nil, nil, err
			}
			if err == nil && (v != decoder.Strict || len(strict) == 0) && !endsEarly(strict) {
				return &unstructured.Unstructured{Object: object}, strict, nil
			}
			// The server's error has the patched text, which is below. Its members are sorted, so
			// that the findings which are kept are always the same.
		}
	}
	// Operations are checked where they are decoded.
	if isChecked := patchType == types.JSONPatchType && how.strict; !isChecked && !stdjson.Valid(patch) {
		return nil, nil, errInvalidPatch()
	}
	text, err := stdjson.Marshal(current.Object)
	if err != nil {
		return nil, nil, err
	}
	var found []error
	switch patchType {
	case types.JSONPatchType:
		text, found, err = r.applyJSONPatch(text, patch, v)
	case types.MergePatchType:
		text, found, err = r.applyMergePatch(text, patch, v)
	default:
		err = apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, "", runtimeschema.GroupResource{}, "",
			fmt.Sprintf("the body of the request was in an unknown format - accepted media types include: %s, %s",
				types.JSONPatchType, types.MergePatchType), 0, false)
	}
	if err != nil {
		return nil, nil, err
	}
	object, _, strict, err := r.decode(text, &gvk, how)
	if isLimit(err) {
		return nil, nil, err
	}
	if err != nil {
		return nil, nil, invalidPatch(text, err)
	}
	found = append(found, strict...)
	if len(found) > 0 && v == decoder.Strict {
		return nil, nil, invalidPatch(text, runtime.NewStrictDecodingError(found))
	}
	return &unstructured.Unstructured{Object: object}, found, nil
}

// endsEarly reports whether findings were omitted from a list.
func endsEarly(found []error) bool {
	if len(found) == 0 {
		return false
	}
	_, isOmitted := found[len(found)-1].(omitted)
	return isOmitted
}

// errInvalidPatch returns the server's error for a patch that is no JSON.
func errInvalidPatch() error { return apierrors.NewBadRequest("invalid JSON patch") }

// invalidPatch returns the server's error for a patch whose result is refused.
func invalidPatch(result []byte, err error) error {
	return apierrors.NewInvalid(runtimeschema.GroupKind{}, "", field.ErrorList{
		field.Invalid(field.NewPath("patch"), string(result), err.Error()),
	})
}

func (r *Resource) applyMergePatch(
	text, patch []byte, v decoder.FieldValidation,
) (result []byte, found []error, err error) {
	if v != decoder.Ignore {
		object := map[string]any{}
		if found, err = checkPatch(anyObject(), patch, &object); err != nil {
			return nil, nil, apierrors.NewBadRequest("error decoding patch: " + err.Error())
		}
		found = r.patchAsServer(patch, &map[string]any{}, found)
	}
	result, err = jsonpatch.MergePatch(text, patch)
	if errors.Is(err, jsonpatch.ErrBadJSONPatch) {
		err = apierrors.NewBadRequest(err.Error())
	}
	return result, found, err
}

func (r *Resource) applyJSONPatch(
	text, patch []byte, v decoder.FieldValidation,
) (result []byte, found []error, err error) {
	atomic.CompareAndSwapInt64(&jsonpatch.AccumulatedCopySizeLimit, 0, MaxJSONPatchCopyBytes)
	if v != decoder.Ignore {
		if found, err = checkPatch(jsonPatches(), patch, &[]operation{}); err != nil {
			if !stdjson.Valid(patch) {
				return nil, nil, errInvalidPatch()
			}
			return nil, nil, apierrors.NewBadRequest("error decoding patch: " + err.Error())
		}
		found = ofJSONPatch(r.patchAsServer(patch, &[]operation{}, found))
	}
	operations, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(err.Error())
	}
	if n := len(operations); n > MaxJSONPatchOperations {
		return nil, nil, apierrors.NewRequestEntityTooLargeError(
			fmt.Sprintf("The allowed maximum operations in a JSON patch is %d, got %d", MaxJSONPatchOperations, n))
	}
	if result, err = apply(operations, text); err != nil {
		status := apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "",
			runtimeschema.GroupResource{}, "", err.Error(), 0, false)
		return nil, nil, &unappliedError{status, err}
	}
	return result, found, nil
}

var errBadValue = errors.New("an operation has no value, or one that the library for patches cannot use")

// apply applies a JSON patch. The library panics if a value is missing or, in a test operation, if
// a list has a null.
func apply(operations jsonpatch.Patch, text []byte) (result []byte, err error) {
	if panicked := guard(func() { result, err = operations.Apply(text) }); panicked {
		return nil, errBadValue
	}
	return result, err
}

// An unappliedError is the server's error for a JSON patch that cannot be applied, which gives no
// reason, together with the cause.
type unappliedError struct {
	*apierrors.StatusError
	cause error
}

func (e *unappliedError) Unwrap() []error { return []error{e.StatusError, e.cause} }
