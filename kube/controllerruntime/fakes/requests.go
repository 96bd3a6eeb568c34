package fakes

// This file does what the server does with a request before and after it stores an object: it finds
// unknown fields, sends warnings, and answers with what is stored.

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/espalier-dev/espalier/decoder"
)

// funcs returns what stands between a client and its tracker.
func (s *server) funcs() interceptor.Funcs {
	return interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
			o := new(client.CreateOptions).ApplyOptions(opts)
			r := request{s, c, obj, "", o.DryRun, o.FieldValidation}
			return r.write(ctx, "create", func(obj client.Object) error { return c.Create(ctx, obj, opts...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.UpdateOption) error {
			o := new(client.UpdateOptions).ApplyOptions(opts)
			r := request{s, c, obj, "", o.DryRun, o.FieldValidation}
			return r.write(ctx, "update", func(obj client.Object) error { return c.Update(ctx, obj, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, p client.Patch, opts ...client.PatchOption) error {
			o := new(client.PatchOptions).ApplyOptions(opts)
			r := request{s, c, obj, "", o.DryRun, o.FieldValidation}
			return r.patch(ctx, p, func(p client.Patch) error { return c.Patch(ctx, obj, p, opts...) })
		},
		Apply: func(ctx context.Context, c client.WithWatch, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			write := func() error { return c.Apply(ctx, obj, opts...) }
			return s.whileApplying(nil, obj, "", write)
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, name string, obj client.Object, opts ...client.SubResourceUpdateOption) error {
			o := new(client.SubResourceUpdateOptions).ApplyOptions(opts)
			if name != "status" {
				return c.SubResource(name).Update(ctx, obj, opts...)
			}
			r := request{s, c, obj, name, o.DryRun, o.FieldValidation}
			if o.SubResourceBody != nil {
				r.obj, o.SubResourceBody = o.SubResourceBody, nil
			}
			return r.write(ctx, "update status", func(obj client.Object) error { return c.SubResource(name).Update(ctx, obj, o) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, name string, obj client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			o := new(client.SubResourcePatchOptions).ApplyOptions(opts)
			write := func(p client.Patch) error { return c.SubResource(name).Patch(ctx, obj, p, opts...) }
			if name != "status" {
				return write(p)
			}
			r := request{s, c, obj, name, o.DryRun, o.FieldValidation}
			if o.SubResourceBody != nil {
				r.obj = o.SubResourceBody
			}
			return r.patch(ctx, p, write)
		},
		SubResourceApply: func(ctx context.Context, c client.Client, name string, obj runtime.ApplyConfiguration, opts ...client.SubResourceApplyOption) error {
			write := func() error { return c.SubResource(name).Apply(ctx, obj, opts...) }
			o := new(client.SubResourceApplyOptions).ApplyOpts(opts)
			if name != "status" {
				return write()
			}
			if o.SubResourceBody != nil {
				return s.whileApplying(nil, o.SubResourceBody, name, write)
			}
			return s.whileApplying(nil, obj, name, write)
		},
	}
}

// whileApplying calls a function that applies a configuration, which a tracker can ask for: the fake
// client has filled the one that it gets with the stored status, or with all but that, which its
// owner would own then. The kind is nil if the configuration says which it is.
func (s *server) whileApplying(k *kind, configuration any, subresource string, write func() error) error {
	u, err := asSent(configuration)
	if err != nil {
		return err
	}
	if k == nil {
		k = s.kinds[u.GroupVersionKind()]
	}
	if k == nil {
		return write()
	}
	u.SetGroupVersionKind(k.gvk)
	switch {
	case subresource == "status":
		name, namespace := u.GetName(), u.GetNamespace()
		for field := range u.Object {
			if field != "apiVersion" && field != "kind" && field != "status" {
				delete(u.Object, field)
			}
		}
		u.SetName(name)
		u.SetNamespace(namespace)
	case k.hasStatus:
		delete(u.Object, "status")
	}
	s.apply.Lock()
	defer s.apply.Unlock()
	s.applying = u
	defer func() { s.applying = nil }()
	return write()
}

// asApplied returns what its owner has applied of a configuration that the fake client has filled.
func (s *server) asApplied(filled runtime.Object) runtime.Object {
	object, err := meta.Accessor(filled)
	if s.applying == nil || err != nil {
		return filled
	}
	own := s.applying.DeepCopy()
	own.SetResourceVersion(object.GetResourceVersion())
	return own
}

// A request writes an object.
type request struct {
	server      *server
	client      client.Client
	obj         client.Object
	subresource string
	dryRun      []string
	validation  string
}

// kind returns the kind of the object, or nil if no definition has it or if nothing would be done.
func (r *request) kind() (*kind, error) {
	gvk, err := r.client.GroupVersionKindFor(r.obj)
	if err != nil {
		return nil, err
	}
	if slices.Contains(r.dryRun, metav1.DryRunAll) {
		return nil, nil
	}
	return r.server.kinds[gvk], nil
}

// write creates or updates an object.
func (r *request) write(ctx context.Context, verb string, write func(client.Object) error) error {
	k, err := r.kind()
	if err != nil {
		return err
	}
	if k == nil {
		return write(r.obj)
	}
	if _, ok := r.obj.(*metav1.PartialObjectMetadata); ok {
		return fmt.Errorf("cannot %s using only metadata: did you mean to patch?", verb)
	}
	sent, err := k.content(r.obj)
	if err != nil {
		return err
	}
	paths, err := k.resource.Prune(sent.DeepCopy())
	if err != nil {
		return k.badRequest(err)
	}
	findings := make([]error, len(paths))
	for i, path := range paths {
		findings[i] = fmt.Errorf("unknown field %q", path)
	}
	if len(findings) > 0 && r.validation == metav1.FieldValidationStrict {
		return k.badRequest(runtime.NewStrictDecodingError(findings))
	}
	r.warn(findings) // also if it is refused later
	var old *unstructured.Unstructured
	if verb != "create" {
		old = r.current(ctx, k)
		if err := k.checkVersion(sent, old); err != nil {
			return err
		}
	}
	// The fake client changes what it is given, also if it fails.
	written, err := like(r.obj, sent.DeepCopy())
	if err != nil {
		return err
	}
	obj := written.(client.Object)
	if err := write(obj); err != nil {
		return err
	}
	r.warnOfFinalizers(ctx, k, sent, old)
	return r.answer(ctx, obj)
}

// checkVersion returns the server's error for an object that cannot replace the stored one, which may be nil.
func (k *kind) checkVersion(sent, old *unstructured.Unstructured) error {
	switch version := sent.GetResourceVersion(); {
	case old == nil: // which is an error of its own
	case version == "":
		path := field.NewPath("metadata", "resourceVersion")
		kind := schema.GroupKind{Group: k.gvk.Group, Kind: k.resourceName}
		return apierrors.NewInvalid(kind, sent.GetName(), field.ErrorList{field.Invalid(path, 0, "must be specified for an update")})
	case version != old.GetResourceVersion():
		resource := schema.GroupResource{Group: k.gvk.Group, Resource: k.resourceName}
		return apierrors.NewConflict(resource, sent.GetName(), errModified)
	}
	return nil
}

var errModified = errors.New("the object has been modified; please apply your changes to the latest version and try again")

// patch patches an object.
func (r *request) patch(ctx context.Context, p client.Patch, write func(client.Patch) error) error {
	k, err := r.kind()
	if err != nil {
		return err
	}
	if k == nil {
		return write(p)
	}
	if p.Type() == types.ApplyPatchType {
		return r.server.whileApplying(k, r.obj, r.subresource, func() error { return write(p) })
	}
	if p.Type() == types.StrategicMergePatchType {
		return unsupported()
	}
	data, err := p.Data(r.obj)
	if err != nil {
		return err
	}
	p = client.RawPatch(p.Type(), data)
	old := r.current(ctx, k)
	if old == nil {
		return write(p)
	}
	patched, warnings, err := k.resource.Patch(old, p.Type(), data, fieldValidation(r.validation))
	if err != nil {
		return err
	}
	r.warn(warnings)
	if err := write(p); err != nil {
		return err
	}
	r.warnOfFinalizers(ctx, k, patched, old)
	return r.answer(ctx, r.obj)
}

// current returns the stored object, or nil if there is none.
func (r *request) current(ctx context.Context, k *kind) *unstructured.Unstructured {
	u := new(unstructured.Unstructured)
	u.SetGroupVersionKind(k.gvk)
	if r.client.Get(ctx, client.ObjectKeyFromObject(r.obj), u) != nil {
		return nil
	}
	return u
}

// answer reads the object as it is stored under the name of the one that was written. It may be gone,
// if its last finalizer is.
func (r *request) answer(ctx context.Context, written client.Object) error {
	err := r.client.Get(ctx, client.ObjectKeyFromObject(written), r.obj)
	if u, ok := r.obj.(*unstructured.Unstructured); ok && err != nil && u.Object["status"] == nil {
		delete(u.Object, "status") // the fake client has set it
	}
	return client.IgnoreNotFound(err)
}

func (r *request) warn(findings []error) {
	if r.validation == metav1.FieldValidationIgnore {
		return
	}
	for _, finding := range findings {
		r.server.warnings.HandleWarningHeader(299, "-", finding.Error())
	}
}

func (r *request) warnOfFinalizers(ctx context.Context, k *kind, obj, old *unstructured.Unstructured) {
	if r.subresource != "" {
		return
	}
	var stored runtime.Object
	if old != nil {
		stored = old
	}
	for _, text := range k.validator.WarningsOnUpdate(ctx, obj, stored) {
		r.server.warnings.HandleWarningHeader(299, "-", text)
	}
}

// badRequest is the server's error for a body that it cannot decode.
func (k *kind) badRequest(err error) error {
	return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v",
		k.gvk.Kind, k.gvk.Version, k.gvk.Kind, err))
}

// unsupported is the server's error for patches that custom resources do not have.
func unsupported() error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
		Message: "the body of the request was in an unknown format - accepted media types include: " +
			"application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
	}}
}

// fieldValidation returns what a request asks for; the server's default is to warn.
func fieldValidation(asked string) decoder.FieldValidation {
	switch asked {
	case metav1.FieldValidationStrict:
		return decoder.Strict
	case metav1.FieldValidationIgnore:
		return decoder.Ignore
	}
	return decoder.Warn
}
