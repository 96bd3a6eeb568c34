package e2e

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/espalier-dev/espalier/projection"
)

// A Release is the controller's own type: less than the definition has.
type Release struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ReleaseSpec   `json:"spec"`
	Status            ReleaseStatus `json:"status,omitempty"`
}

type ReleaseSpec struct {
	Version    string      `json:"version,omitempty"`
	Replicas   int64       `json:"replicas"`
	Hosts      []string    `json:"hosts,omitempty"`
	Containers []Container `json:"containers,omitempty"`
}

type Container struct {
	Name  string `json:"name"`
	Image string `json:"image,omitempty"`
}

type ReleaseStatus struct {
	Phase string `json:"phase,omitempty"`
	Ready int64  `json:"ready,omitempty"`
}

func (r *Release) DeepCopyObject() runtime.Object {
	to := *r
	r.ObjectMeta.DeepCopyInto(&to.ObjectMeta)
	to.Spec.Hosts = append([]string(nil), r.Spec.Hosts...)
	to.Spec.Containers = append([]Container(nil), r.Spec.Containers...)
	return &to
}

type ReleaseList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Release `json:"items"`
}

func (l *ReleaseList) DeepCopyObject() runtime.Object {
	to := *l
	to.Items = make([]Release, len(l.Items))
	for i := range l.Items {
		to.Items[i] = *l.Items[i].DeepCopyObject().(*Release)
	}
	return &to
}

func releaseScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(releases.GroupVersion(), &Release{}, &ReleaseList{})
	metav1.AddToGroupVersion(scheme, releases.GroupVersion())
	return scheme
}

// releaseOptions are those of clients. The server lacks the discovery of a whole cluster.
func releaseOptions() client.Options {
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.AddSpecific(releaseKind, releases, releases.GroupVersion().WithResource("release"), meta.RESTScopeNamespace)
	return client.Options{Scheme: releaseScheme(), Mapper: mapper}
}

// A writeCase is what a controller does with an object that it has read through a projection.
type writeCase struct {
	name string
	// write is given the client, the object that was read, and a copy of that.
	write func(w writer) error
	// refused says that the transport refuses it. Then nothing may have changed.
	refused bool
	// want changes the stored object as the write is meant to. nil is that nothing changes.
	want func(o object)
	// fails says whether an error of the server is the one that is expected.
	fails func(error) bool
}

// A writer writes a release that was read through a projection.
type writer struct {
	client.Client
	dynamic dynamic.ResourceInterface
	u, old  *unstructured.Unstructured
	small   *Release // the same as Go values, with the fields of the type alone
}

func (w writer) set(value any, fields ...string) writer {
	if err := unstructured.SetNestedField(w.u.Object, value, fields...); err != nil {
		panic(err)
	}
	return w
}

func (w writer) mergeFrom() error {
	return w.Patch(context.Background(), w.u, client.MergeFrom(w.old))
}

func (w writer) raw(of types.PatchType, text string) error {
	return w.Patch(context.Background(), w.u, client.RawPatch(of, []byte(text)))
}

func (w writer) merge(text string) error { return w.raw(types.MergePatchType, text) }
func (w writer) json(text string) error  { return w.raw(types.JSONPatchType, text) }

// own is a configuration that the controller has made, and not read.
func (w writer) own(text object) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: maps.Clone(text)}
	u.SetGroupVersionKind(releaseKind)
	u.SetNamespace(w.u.GetNamespace())
	u.SetName(w.u.GetName())
	return u
}

func in(o object, name string) object { return o[name].(object) }

func container(o object, i int) object { return in(o, "spec")["containers"].([]any)[i].(object) }

// containers are those of a release, as it was read.
func (w writer) containers() []any { return in(w.u.Object, "spec")["containers"].([]any) }

var ctx = context.Background()

// writeCases are for a client that keeps the fields in kept.
var writeCases = []writeCase{
	{name: "update, unchanged", refused: true, write: func(w writer) error { return w.Update(ctx, w.u) }},
	{name: "update of a label", refused: true, write: func(w writer) error {
		w.u.SetLabels(nil)
		return w.Update(ctx, w.u)
	}},
	{name: "update that adds a finalizer", refused: true, write: func(w writer) error {
		controllerutil.AddFinalizer(w.u, "example.com/hold")
		return w.Update(ctx, w.u)
	}},
	{name: "update without annotations and version", refused: true, write: func(w writer) error {
		w.u.SetAnnotations(nil)
		w.u.SetResourceVersion("")
		w.u.SetUID("")
		return w.Update(ctx, w.u)
	}},
	{name: "update of a Go value", refused: true, write: func(w writer) error {
		w.small.Spec.Replicas = 5
		return w.Update(ctx, w.small)
	}},
	{name: "update until there is no conflict", refused: true, write: func(w writer) error {
		return retry.RetryOnConflict(retry.DefaultRetry, func() error { return w.Update(ctx, w.small) })
	}},
	{name: "update by CreateOrUpdate", refused: true, write: func(w writer) error {
		_, err := controllerutil.CreateOrUpdate(ctx, w.Client, w.small, func() error { w.small.Spec.Replicas = 5; return nil })
		return err
	}},
	{name: "update with the dynamic client", refused: true, write: func(w writer) error {
		_, err := w.dynamic.Update(ctx, w.set(int64(5), "spec", "replicas").u, metav1.UpdateOptions{})
		return err
	}},
	{name: "update, dry run", refused: true, write: func(w writer) error { return w.Update(ctx, w.u, client.DryRunAll) }},
	{name: "create of a copy", refused: true, write: func(w writer) error {
		w.u.SetName("copy")
		w.u.SetResourceVersion("")
		return w.Create(ctx, w.u)
	}},
	{name: "create again, after a deletion", refused: true, write: func(w writer) error {
		w.small.ResourceVersion = ""
		return w.Create(ctx, w.small)
	}},
	{name: "create of another", write: func(w writer) error {
		u := w.own(object{"spec": object{"notes": "mine", "replicas": int64(1)}})
		u.SetName(w.u.GetName() + "-other")
		return w.Create(ctx, u)
	}},
	{name: "apply of what was read", refused: true, write: func(w writer) error {
		w.u.SetManagedFields(nil)
		//nolint:staticcheck // it is what controllers did before Apply
		return w.Patch(ctx, w.u, client.Apply, client.FieldOwner("e2e"), client.ForceOwnership)
	}},
	{name: "apply of what was read, as a configuration", refused: true, write: func(w writer) error {
		return w.Apply(ctx, client.ApplyConfigurationFromUnstructured(w.u), client.FieldOwner("e2e"), client.ForceOwnership)
	}},
	{name: "apply with the dynamic client", refused: true, write: func(w writer) error {
		_, err := w.dynamic.Apply(ctx, w.u.GetName(), w.u, metav1.ApplyOptions{FieldManager: "e2e", Force: true})
		return err
	}},
	{name: "apply of an own configuration", write: func(w writer) error {
		u := w.own(object{"spec": object{"version": "2", "containers": []any{object{"name": "web", "image": "new"}}}})
		return w.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner("e2e"), client.ForceOwnership)
	}, want: func(o object) {
		in(o, "spec")["version"] = "2"
		container(o, 0)["image"] = "new"
	}},
	{name: "apply of an own status", write: func(w writer) error {
		u := w.own(object{"status": object{"phase": "Failed"}})
		return w.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner("e2e"), client.ForceOwnership)
	}, want: func(o object) { in(o, "status")["phase"] = "Failed" }},

	{name: "merge patch of labels", write: func(w writer) error {
		w.u.SetLabels(map[string]string{"app": "shop"})
		return w.mergeFrom()
	}, want: func(o object) { in(o, "metadata")["labels"] = object{"app": "shop"} }},
	{name: "merge patch that removes all annotations", write: func(w writer) error {
		w.u.SetAnnotations(nil)
		return w.mergeFrom()
	}, want: func(o object) { delete(in(o, "metadata"), "annotations") }},
	{name: "merge patch of a number", write: func(w writer) error { return w.set(int64(6), "spec", "replicas").mergeFrom() },
		want: func(o object) { in(o, "spec")["replicas"] = int64(6) }},
	{name: "merge patch of a Go value", write: func(w writer) error {
		old := w.small.DeepCopyObject().(*Release)
		w.small.Spec.Replicas = 6
		return w.Patch(ctx, w.small, client.MergeFrom(old))
	}, want: func(o object) { in(o, "spec")["replicas"] = int64(6) }},
	{name: "merge patch by CreateOrPatch", write: func(w writer) error {
		_, err := controllerutil.CreateOrPatch(ctx, w.Client, w.small, func() error { w.small.Spec.Replicas = 6; return nil })
		return err
	}, want: func(o object) { in(o, "spec")["replicas"] = int64(6) }},
	{name: "merge patch with the version", write: func(w writer) error {
		w.set(int64(6), "spec", "replicas")
		return w.Patch(ctx, w.u, client.MergeFromWithOptions(w.old, client.MergeFromWithOptimisticLock{}))
	}, want: func(o object) { in(o, "spec")["replicas"] = int64(6) }},
	{name: "merge patch with an old version", fails: apierrors.IsConflict, write: func(w writer) error {
		w.old.SetResourceVersion("1")
		w.set(int64(6), "spec", "replicas")
		return w.Patch(ctx, w.u, client.MergeFromWithOptions(w.old, client.MergeFromWithOptimisticLock{}))
	}},
	{name: "merge patch of a finalizer", write: func(w writer) error {
		controllerutil.AddFinalizer(w.u, "example.com/hold")
		return w.mergeFrom()
	}, want: func(o object) { in(o, "metadata")["finalizers"] = []any{"example.com/keep", "example.com/hold"} }},
	{name: "merge patch without the finalizer", write: func(w writer) error {
		controllerutil.RemoveFinalizer(w.u, "example.com/keep")
		return w.mergeFrom()
	}, want: func(o object) { delete(in(o, "metadata"), "finalizers") }},
	{name: "merge patch of an owner", write: func(w writer) error {
		w.u.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "a", UID: "1"}})
		return w.mergeFrom()
	}, want: func(o object) {
		in(o, "metadata")["ownerReferences"] = []any{object{"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "1"}}
	}},
	{name: "merge patch of a list that is kept whole", write: func(w writer) error {
		return w.set([]any{"b.example.com"}, "spec", "hosts").mergeFrom()
	}, want: func(o object) { in(o, "spec")["hosts"] = []any{"b.example.com"} }},
	{name: "merge patch of an item", refused: true, write: func(w writer) error {
		w.containers()[0].(object)["image"] = "new"
		return w.mergeFrom()
	}},
	{name: "merge patch that adds an item", refused: true, write: func(w writer) error {
		return w.set(append(w.containers(), object{"name": "third"}), "spec", "containers").mergeFrom()
	}},
	{name: "merge patch that removes one item", refused: true, write: func(w writer) error {
		return w.set(w.containers()[1:], "spec", "containers").mergeFrom()
	}},
	{name: "merge patch of an item of a Go value", refused: true, write: func(w writer) error {
		old := w.small.DeepCopyObject().(*Release)
		w.small.Spec.Containers[1].Image = "new"
		return w.Patch(ctx, w.small, client.MergeFrom(old))
	}},
	{name: "merge patch without the list", write: func(w writer) error {
		delete(in(w.u.Object, "spec"), "containers")
		return w.mergeFrom()
	}, want: func(o object) { delete(in(o, "spec"), "containers") }},
	{name: "merge patch of what is not kept", refused: true, write: func(w writer) error { return w.merge(`{"spec":{"notes":"new"}}`) }},
	{name: "merge patch within what is not kept", refused: true, write: func(w writer) error {
		return w.merge(`{"spec":{"values":{"component-00":{"enabled":true}}}}`)
	}},
	{name: "merge patch that removes what is not kept", write: func(w writer) error { return w.merge(`{"spec":{"values":null}}`) },
		want: func(o object) { delete(in(o, "spec"), "values") }},
	{name: "merge patch that is the object", refused: true, write: func(w writer) error {
		text, err := w.u.MarshalJSON()
		if err != nil {
			return err
		}
		return w.merge(string(text))
	}},
	{name: "merge patch of metadata alone", write: func(w writer) error {
		partial := &metav1.PartialObjectMetadata{}
		partial.SetGroupVersionKind(releaseKind)
		partial.Namespace, partial.Name = w.u.GetNamespace(), w.u.GetName()
		return w.Patch(ctx, partial, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"app":null}}}`)))
	}, want: func(o object) { delete(in(in(o, "metadata"), "labels"), "app") }},
	{name: "strategic merge patch", fails: apierrors.IsUnsupportedMediaType, write: func(w writer) error {
		return w.raw(types.StrategicMergePatchType, `{"spec":{"replicas":6}}`)
	}},

	{name: "JSON patch of a number", write: func(w writer) error { return w.json(`[{"op":"replace","path":"/spec/replicas","value":6}]`) },
		want: func(o object) { in(o, "spec")["replicas"] = int64(6) }},
	{name: "JSON patch of a label", write: func(w writer) error {
		return w.json(`[{"op":"add","path":"/metadata/labels/example.com~1tier","value":"1"}]`)
	}, want: func(o object) { in(in(o, "metadata"), "labels")["example.com/tier"] = "1" }},
	{name: "JSON patch of an image", write: func(w writer) error {
		return w.json(`[{"op":"replace","path":"/spec/containers/1/image","value":"new"}]`)
	}, want: func(o object) { container(o, 1)["image"] = "new" }},
	{name: "JSON patch of an item", refused: true, write: func(w writer) error {
		return w.json(`[{"op":"replace","path":"/spec/containers/1","value":{"name":"worker","image":"new"}}]`)
	}},
	{name: "JSON patch of a list", refused: true, write: func(w writer) error {
		return w.json(`[{"op":"replace","path":"/spec/containers","value":[{"name":"web"}]}]`)
	}},
	{name: "JSON patch of the spec", refused: true, write: func(w writer) error {
		return w.json(`[{"op":"add","path":"/spec","value":{"replicas":6}}]`)
	}},
	{name: "JSON patch of the whole", refused: true, write: func(w writer) error {
		text, err := w.u.MarshalJSON()
		if err != nil {
			return err
		}
		return w.json(fmt.Sprintf(`[{"op":"replace","path":"","value":%s}]`, text))
	}},
	{name: "JSON patch of what is not kept", refused: true, write: func(w writer) error {
		return w.json(`[{"op":"replace","path":"/spec/notes","value":"new"}]`)
	}},
	{name: "JSON patch of what was tested", write: func(w writer) error {
		return w.json(`[{"op":"test","path":"/spec/values/component-00/enabled","value":false},{"op":"replace","path":"/spec/values/component-00/enabled","value":true}]`)
	}, want: func(o object) { in(in(in(o, "spec"), "values"), "component-00")["enabled"] = true }},
	{name: "JSON patch that inserts an item", write: func(w writer) error {
		return w.json(`[{"op":"add","path":"/spec/containers/-","value":{"name":"third"}}]`)
	}, want: func(o object) {
		in(o, "spec")["containers"] = append(in(o, "spec")["containers"].([]any), object{"name": "third"})
	}},
	{name: "JSON patch that removes", write: func(w writer) error {
		return w.json(`[{"op":"remove","path":"/spec/values/component-03"},{"op":"remove","path":"/spec/containers/0"}]`)
	}, want: func(o object) {
		delete(in(in(o, "spec"), "values"), "component-03")
		in(o, "spec")["containers"] = in(o, "spec")["containers"].([]any)[1:]
	}},
	{name: "JSON patch that moves a part over a whole", refused: true, write: func(w writer) error {
		return w.json(`[{"op":"copy","from":"/spec/hosts","path":"/spec/containers"}]`)
	}},

	{name: "update of the status", write: func(w writer) error { return w.Status().Update(ctx, w.set("Failed", "status", "phase").u) },
		want: func(o object) { in(o, "status")["phase"] = "Failed" }},
	{name: "update of the status with other changes", write: func(w writer) error {
		w.set(int64(6), "spec", "replicas").set("Failed", "status", "phase")
		return w.Status().Update(ctx, w.u)
	}, want: func(o object) { in(o, "status")["phase"] = "Failed" }},
	{name: "merge patch of the status", write: func(w writer) error {
		return w.Status().Patch(ctx, w.set(int64(3), "status", "ready").u, client.MergeFrom(w.old))
	}, want: func(o object) { in(o, "status")["ready"] = int64(3) }},
	{name: "merge patch of conditions", write: func(w writer) error {
		conditions := in(w.u.Object, "status")["conditions"].([]any)
		conditions[0].(object)["status"] = "False"
		return w.Status().Patch(ctx, w.u, client.MergeFrom(w.old))
	}, want: func(o object) { in(o, "status")["conditions"].([]any)[0].(object)["status"] = "False" }},
	{name: "JSON patch of the status", write: func(w writer) error {
		p := client.RawPatch(types.JSONPatchType, []byte(`[{"op":"replace","path":"/status/phase","value":"Failed"}]`))
		return w.Status().Patch(ctx, w.u, p)
	}, want: func(o object) { in(o, "status")["phase"] = "Failed" }},
	{name: "update of the scale", write: func(w writer) error {
		scale := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: w.u.GetName(), Namespace: w.u.GetNamespace()}, Spec: autoscalingv1.ScaleSpec{Replicas: 6}}
		return w.SubResource("scale").Update(ctx, w.u, client.WithSubResourceBody(scale))
	}, want: func(o object) { in(o, "spec")["replicas"] = int64(6) }},
	{name: "delete", write: func(w writer) error {
		return w.Delete(ctx, w.u, client.Preconditions{UID: uidOf(w.u)})
	}, want: func(o object) { in(o, "metadata")["deletionGracePeriodSeconds"] = int64(0) }},
	{name: "delete of all", write: func(w writer) error {
		return w.DeleteAllOf(ctx, w.u, client.InNamespace(w.u.GetNamespace()), client.MatchingFields{"metadata.name": w.u.GetName()})
	}, want: func(o object) { in(o, "metadata")["deletionGracePeriodSeconds"] = int64(0) }},
}

func uidOf(u *unstructured.Unstructured) *types.UID {
	uid := u.GetUID()
	return &uid
}

// partCases are for a client that keeps spec.replicas, and of the status the phase and types of conditions.
var partCases = []writeCase{
	{name: "update of a status of which a part was read", refused: true, write: func(w writer) error {
		return w.Status().Update(ctx, w.set("Failed", "status", "phase").u)
	}},
	{name: "merge patch of a phase", write: func(w writer) error {
		return w.Status().Patch(ctx, w.set("Failed", "status", "phase").u, client.MergeFrom(w.old))
	}, want: func(o object) { in(o, "status")["phase"] = "Failed" }},
	{name: "merge patch of conditions of which a part was read", refused: true, write: func(w writer) error {
		in(w.u.Object, "status")["conditions"].([]any)[0].(object)["type"] = "Other"
		return w.Status().Patch(ctx, w.u, client.MergeFrom(w.old))
	}},
	{name: "JSON patch of conditions", refused: true, write: func(w writer) error {
		p := client.RawPatch(types.JSONPatchType, []byte(`[{"op":"replace","path":"/status/conditions","value":[{"type":"Ready"}]}]`))
		return w.Status().Patch(ctx, w.u, p)
	}},
}

// testWrites asserts that no write of an object that was read through a projection loses a field.
func testWrites(t *testing.T, config *rest.Config) {
	whole, err := client.New(config, releaseOptions())
	require.NoError(t, err)
	for name, of := range map[string]struct {
		keep  []string
		cases []writeCase
	}{
		"kept whole":   {kept, writeCases},
		"kept in part": {[]string{"spec.replicas", "status.phase", "status.conditions[].type"}, partCases},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := projection.New(projection.Options{}, projection.Rule{Group: releases.Group, Resource: releases.Resource, Keep: of.keep})
			require.NoError(t, err)
			projected := rest.CopyConfig(config)
			projected.Wrap(p.Transport)
			c, err := client.New(projected, releaseOptions())
			require.NoError(t, err)
			d, err := dynamic.NewForConfig(projected)
			require.NoError(t, err)
			refused := 0
			for i, write := range of.cases {
				t.Run(write.name, func(t *testing.T) {
					name := fmt.Sprintf("%s-%d", map[bool]string{true: "whole", false: "part"}[reflect.DeepEqual(of.keep, kept)], i)
					testWrite(t, whole, writer{Client: c, dynamic: d.Resource(releases).Namespace("writes")}, name, write)
				})
				if write.refused {
					refused++
				}
			}
			assert.Equal(t, uint64(refused), p.Counts().Refused)
			t.Logf("%d writes, of which %d were refused", len(of.cases), refused)
		})
	}
}

func testWrite(t *testing.T, whole client.Client, w writer, name string, c writeCase) {
	stored := newRelease("writes", name, 3)
	stored.SetFinalizers([]string{"example.com/keep"})
	require.NoError(t, whole.Create(ctx, stored))
	stored.Object["status"] = newStatus(3)
	require.NoError(t, whole.Status().Update(ctx, stored))

	read := new(unstructured.Unstructured)
	read.SetGroupVersionKind(releaseKind)
	require.NoError(t, w.Get(ctx, client.ObjectKeyFromObject(stored), read))
	require.NotContains(t, in(read.Object, "spec"), "values")
	w.u, w.old, w.small = read, read.DeepCopy(), new(Release)
	require.NoError(t, w.Get(ctx, client.ObjectKeyFromObject(stored), w.small))

	want := content(stored)
	err := c.write(w)
	switch {
	case c.refused:
		require.Error(t, err)
		assert.True(t, apierrors.IsInvalid(err), "%v", err)
		assert.Contains(t, err.Error(), "refused by the projection of this client, not by the server")
	case c.fails != nil:
		require.Error(t, err)
		assert.True(t, c.fails(err), "%v", err)
	default:
		require.NoError(t, err)
		if c.want != nil {
			c.want(want)
		}
	}
	after := new(unstructured.Unstructured)
	after.SetGroupVersionKind(releaseKind)
	require.NoError(t, whole.Get(ctx, client.ObjectKeyFromObject(stored), after))
	assert.Equal(t, want, content(after), "what is stored")
	assert.Equal(t, stored.GetUID(), after.GetUID())
}

// content is a copy of what people and controllers write of an object.
func content(u *unstructured.Unstructured) object {
	o := u.DeepCopy().Object
	for _, name := range []string{"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "deletionTimestamp"} {
		delete(in(o, "metadata"), name)
	}
	return o
}
