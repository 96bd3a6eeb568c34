package fakes

import (
	"context"
	"fmt"
	"maps"
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
)

// admit returns what the server stores for an object that replaces old, or is created if that is nil.
// The fake client has copied into the object what its request does not write: the status, or all but
// the status. It changes neither.
func (k *kind) admit(obj, old runtime.Object) (runtime.Object, error) {
	u, err := k.content(obj)
	if err != nil {
		return nil, err
	}
	if _, err := k.resource.Prune(u); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	k.resource.Default(u)
	if old == nil {
		err = k.create(u)
	} else {
		err = k.update(u, old)
	}
	if err != nil {
		return nil, err
	}
	k.resource.Default(u) // as it is read: the status that was removed may have a default
	return like(obj, u)
}

// stored returns an object as the server reads it.
func (k *kind) stored(obj runtime.Object) (runtime.Object, error) {
	u, err := k.content(obj)
	if err != nil {
		return nil, err
	}
	if _, err := k.resource.Prune(u); err != nil {
		return nil, fmt.Errorf("the stored object: %w", err)
	}
	k.resource.Default(u)
	return like(obj, u)
}

// create prepares and validates an object that is new.
func (k *kind) create(u *unstructured.Unstructured) error {
	u.SetGeneration(1)
	if k.hasStatus {
		delete(u.Object, "status")
	}
	if errs := k.validator.Validate(context.Background(), u); len(errs) > 0 {
		return apierrors.NewInvalid(k.gvk.GroupKind(), u.GetName(), errs)
	}
	return nil
}

// update prepares and validates an object that replaces another one.
func (k *kind) update(u *unstructured.Unstructured, old runtime.Object) error {
	stored, err := k.content(old)
	if err != nil {
		return err
	}
	if u.GetUID() == "" {
		u.SetUID(stored.GetUID())
	}
	if created := u.GetCreationTimestamp(); created.IsZero() {
		u.SetCreationTimestamp(stored.GetCreationTimestamp())
	}
	u.SetGeneration(stored.GetGeneration())
	if u.GetDeletionTimestamp() != nil && stored.GetDeletionTimestamp() == nil {
		u.SetGeneration(stored.GetGeneration() + 1)
		return nil // it is deleted, and its finalizers keep it
	}
	validate := k.validator.ValidateUpdate
	if k.hasStatus && !equality.Semantic.DeepEqual(u.Object["status"], stored.Object["status"]) {
		validate = k.validator.ValidateStatusUpdate
	} else if !equality.Semantic.DeepEqual(k.counted(u), k.counted(stored)) {
		u.SetGeneration(stored.GetGeneration() + 1)
	}
	if errs := validate(context.Background(), u, stored); len(errs) > 0 {
		return apierrors.NewInvalid(k.gvk.GroupKind(), u.GetName(), errs)
	}
	return nil
}

// counted returns what the generation counts the changes of.
func (k *kind) counted(u *unstructured.Unstructured) map[string]any {
	rest := maps.Clone(u.Object)
	delete(rest, "metadata")
	if k.hasStatus {
		delete(rest, "status")
	}
	return rest
}

// content returns an object as maps of its own, with its type.
func (k *kind) content(obj any) (*unstructured.Unstructured, error) {
	u, err := asSent(obj)
	if err != nil {
		return nil, err
	}
	u.SetGroupVersionKind(k.gvk)
	return u, nil
}

// asSent returns what a server would read of an object: numbers of any Go type are numbers of JSON.
func asSent(obj any) (*unstructured.Unstructured, error) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		obj = u.Object
	}
	text, err := json.Marshal(obj)
	if err != nil {
		return nil, fmt.Errorf("fakes: %w", err)
	}
	u := new(unstructured.Unstructured)
	if err := json.Unmarshal(text, &u.Object); err != nil {
		return nil, fmt.Errorf("fakes: %w", err)
	}
	return u, nil
}

// like returns an object of another one's Go type.
func like(obj runtime.Object, u *unstructured.Unstructured) (runtime.Object, error) {
	if _, ok := obj.(*unstructured.Unstructured); ok {
		return u, nil
	}
	into, ok := reflect.New(reflect.TypeOf(obj).Elem()).Interface().(runtime.Object)
	if !ok {
		return nil, fmt.Errorf("fakes: %T is no pointer to an object", obj)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, into); err != nil {
		return nil, fmt.Errorf("fakes: the Go type does not fit the definition: %w", err)
	}
	return into, nil
}
