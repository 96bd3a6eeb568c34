package fakes

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	clientgoapplyconfigurations "k8s.io/client-go/applyconfigurations"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/testing"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// NOTE: all writes of the fake client, of whatever kind, end in its tracker, with the object that is
// to be stored. So it is here that objects are pruned, defaulted and validated. client-go's tracker
// of managed fields stores its results itself, which is too early for server-side apply. So each
// write goes through one of its own first, which has only the stored object, and the result is what
// is judged and stored.

// A tracker stores the objects of a fake client.
type tracker struct {
	testing.ObjectTracker // of what is stored, with managed fields

	server    *server
	scheme    *runtime.Scheme
	decoder   runtime.Decoder
	converter managedfields.TypeConverter
}

// Add stores an object that is there before the test begins.
func (t *tracker) Add(obj runtime.Object) error {
	if k := t.server.kindOf(obj, t.scheme); k != nil {
		var err error
		if obj, err = k.stored(obj); err != nil {
			return err
		}
	}
	return t.ObjectTracker.Add(obj)
}

// Create stores an object that is new.
func (t *tracker) Create(
	gvr schema.GroupVersionResource, obj runtime.Object, ns string, opts ...metav1.CreateOptions,
) error {
	obj, err := t.admit(obj, nil)
	if err != nil {
		return err
	}
	managed, err := t.managed(gvr, ns, obj, nil, func(m testing.ObjectTracker) error {
		return m.Create(gvr, obj, ns, opts...)
	})
	if err != nil {
		return err
	}
	return t.ObjectTracker.Create(gvr, managed, ns, opts...)
}

// Update replaces an object.
func (t *tracker) Update(
	gvr schema.GroupVersionResource, obj runtime.Object, ns string, opts ...metav1.UpdateOptions,
) error {
	return t.replace(gvr, obj, ns, func(m testing.ObjectTracker, obj runtime.Object) error {
		return m.Update(gvr, obj, ns, opts...)
	})
}

// Patch replaces an object by the result of a patch.
func (t *tracker) Patch(
	gvr schema.GroupVersionResource, obj runtime.Object, ns string, opts ...metav1.PatchOptions,
) error {
	return t.replace(gvr, obj, ns, func(m testing.ObjectTracker, obj runtime.Object) error {
		return m.Patch(gvr, obj, ns, opts...)
	})
}

func (t *tracker) replace(
	gvr schema.GroupVersionResource, obj runtime.Object, ns string,
	write func(testing.ObjectTracker, runtime.Object) error,
) error {
	live, err := t.live(gvr, ns, obj)
	if err != nil {
		return err
	}
	if obj, err = t.admit(obj, live); err != nil {
		return err
	}
	managed, err := t.managed(gvr, ns, obj, live, func(m testing.ObjectTracker) error { return write(m, obj) })
	if err != nil {
		return err
	}
	return write(t.ObjectTracker, managed)
}

// Apply merges a configuration into the stored object, if there is one (server-side apply).
func (t *tracker) Apply(
	gvr schema.GroupVersionResource, configuration runtime.Object, ns string, opts ...metav1.PatchOptions,
) error {
	live, err := t.live(gvr, ns, configuration)
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	configuration = t.server.asApplied(configuration)
	applied, err := t.managed(gvr, ns, configuration, live, func(m testing.ObjectTracker) error {
		return m.Apply(gvr, configuration, ns, opts...)
	})
	if err != nil {
		return err
	}
	if applied, err = t.admit(applied, live); err != nil {
		return err
	}
	if live == nil {
		return t.ObjectTracker.Create(gvr, applied, ns)
	}
	return t.ObjectTracker.Update(gvr, applied, ns)
}

// live returns the stored object of the name that an object has, or nil and an error.
func (t *tracker) live(gvr schema.GroupVersionResource, ns string, obj runtime.Object) (runtime.Object, error) {
	object, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	live, err := t.Get(gvr, ns, object.GetName())
	if err != nil {
		return nil, err
	}
	return live, nil
}

// managed returns what a write makes of the live object, which may be nil, with its managed fields.
func (t *tracker) managed(
	gvr schema.GroupVersionResource, ns string, obj, live runtime.Object, write func(testing.ObjectTracker) error,
) (runtime.Object, error) {
	object, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	m := testing.NewFieldManagedObjectTracker(t.scheme, t.decoder, t.converter)
	if live != nil {
		if err := m.Add(live); err != nil {
			return nil, err
		}
	}
	if err := write(m); err != nil {
		return nil, err
	}
	return m.Get(gvr, ns, object.GetName())
}

// admit returns what the server makes of an object that replaces the live one, unless that is nil.
func (t *tracker) admit(obj, live runtime.Object) (runtime.Object, error) {
	k := t.server.kindOf(obj, t.scheme)
	if k == nil {
		return obj, nil
	}
	return k.admit(obj, live)
}

// A converter makes typed values of objects: of custom resources by their definitions, of others as
// the fake client of controller-runtime does.
type converter struct {
	kinds  map[schema.GroupVersionKind]*kind
	others []managedfields.TypeConverter
}

func newConverter(kinds map[schema.GroupVersionKind]*kind) managedfields.TypeConverter {
	return &converter{kinds, []managedfields.TypeConverter{
		clientgoapplyconfigurations.NewTypeConverter(clientgoscheme.Scheme),
		managedfields.NewDeducedTypeConverter(),
	}}
}

func (c *converter) ObjectToTyped(
	obj runtime.Object, options ...typed.ValidationOptions,
) (value *typed.TypedValue, err error) {
	if k := c.kinds[obj.GetObjectKind().GroupVersionKind()]; k != nil {
		return k.converter.ObjectToTyped(obj, options...)
	}
	for _, other := range c.others {
		if value, err = other.ObjectToTyped(obj, options...); err == nil {
			break
		}
	}
	return value, err
}

// TypedToObject does not depend on the kind.
func (c *converter) TypedToObject(value *typed.TypedValue) (runtime.Object, error) {
	return c.others[0].TypedToObject(value)
}
