package e2e

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/kube/controllerruntime/fakes"
)

// A fakeCase is a sequence of writes of one object, which are to have the same outcome with a fake client and the server.
type fakeCase struct {
	name  string
	steps []func(client.Client, *unstructured.Unstructured) error
}

func newOne(spec object) func(client.Client, *unstructured.Unstructured) error {
	return func(c client.Client, u *unstructured.Unstructured) error {
		u.Object["spec"] = (&unstructured.Unstructured{Object: spec}).DeepCopy().Object
		u.Object["status"] = object{"phase": "Failed"}
		return c.Create(ctx, u)
	}
}

func updating(change func(*unstructured.Unstructured)) func(client.Client, *unstructured.Unstructured) error {
	return func(c client.Client, u *unstructured.Unstructured) error {
		change(u)
		return c.Update(ctx, u)
	}
}

func updatingStatus(status object) func(client.Client, *unstructured.Unstructured) error {
	return func(c client.Client, u *unstructured.Unstructured) error {
		u.Object["status"] = (&unstructured.Unstructured{Object: status}).DeepCopy().Object
		return c.Status().Update(ctx, u)
	}
}

func patching(of types.PatchType, text string, opts ...client.PatchOption) func(client.Client, *unstructured.Unstructured) error {
	return func(c client.Client, u *unstructured.Unstructured) error {
		return c.Patch(ctx, u, client.RawPatch(of, []byte(text)), opts...)
	}
}

func applying(owner string, content object, opts ...client.ApplyOption) func(client.Client, *unstructured.Unstructured) error {
	return func(c client.Client, u *unstructured.Unstructured) error {
		own := &unstructured.Unstructured{Object: (&unstructured.Unstructured{Object: content}).DeepCopy().Object}
		own.SetGroupVersionKind(releaseKind)
		own.SetNamespace(u.GetNamespace())
		own.SetName(u.GetName())
		return c.Apply(ctx, client.ApplyConfigurationFromUnstructured(own), append(opts, client.FieldOwner(owner))...)
	}
}

func setting(value any, fields ...string) func(*unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) { _ = unstructured.SetNestedField(u.Object, value, fields...) }
}

var strict = client.FieldValidation("Strict")

var fakeCases = []fakeCase{
	{"create", []func(client.Client, *unstructured.Unstructured) error{newOne(object{"replicas": int64(3)})}},
	{"create with unknown fields", []func(client.Client, *unstructured.Unstructured) error{
		newOne(object{"replicas": int64(3), "replcas": int64(4), "containers": []any{object{"name": "a", "img": "b"}}, "values": object{"any": object{"thing": true}}}),
	}},
	{"create, strict", []func(client.Client, *unstructured.Unstructured) error{func(c client.Client, u *unstructured.Unstructured) error {
		u.Object["spec"] = object{"replcas": int64(4), "noets": "a"}
		return c.Create(ctx, u, strict)
	}}},
	{"create with a null and a default", []func(client.Client, *unstructured.Unstructured) error{newOne(object{"notes": nil, "replicas": nil, "version": nil})}},
	{"create, invalid", []func(client.Client, *unstructured.Unstructured) error{newOne(object{"replicas": int64(-1)})}},
	{"create, wrong type", []func(client.Client, *unstructured.Unstructured) error{newOne(object{"replicas": "three"})}},
	{"create against a rule", []func(client.Client, *unstructured.Unstructured) error{newOne(object{"replicas": int64(100)})}},
	{"create twice", []func(client.Client, *unstructured.Unstructured) error{newOne(object{}), func(c client.Client, u *unstructured.Unstructured) error {
		again := u.DeepCopy()
		again.SetResourceVersion("")
		again.SetUID("")
		return c.Create(ctx, again)
	}}},
	{"create with a name that is none", []func(client.Client, *unstructured.Unstructured) error{func(c client.Client, u *unstructured.Unstructured) error {
		u.SetName("No_Name")
		return c.Create(ctx, u)
	}}},
	{"update", []func(client.Client, *unstructured.Unstructured) error{
		newOne(object{}), updating(setting(int64(5), "spec", "replicas")), updating(setting("b", "metadata", "labels", "a")),
		updating(setting("Failed", "status", "phase")), updating(setting(int64(-5), "spec", "replicas")), updating(setting(int64(6), "spec", "replicas")),
	}},
	{"update with an unknown field", []func(client.Client, *unstructured.Unstructured) error{newOne(object{}), updating(setting("x", "spec", "other"))}},
	{"update with an old version", []func(client.Client, *unstructured.Unstructured) error{
		newOne(object{}), updating(setting(int64(5), "spec", "replicas")), func(c client.Client, u *unstructured.Unstructured) error {
			u.SetResourceVersion("1")
			return c.Update(ctx, u)
		},
	}},
	{"update of the generation", []func(client.Client, *unstructured.Unstructured) error{
		newOne(object{}), updating(func(u *unstructured.Unstructured) { u.SetGeneration(9) }), updating(func(u *unstructured.Unstructured) { u.SetUID("") }),
	}},
	{"update of what is not there", []func(client.Client, *unstructured.Unstructured) error{updating(setting(int64(5), "spec", "replicas"))}},
	{"status", []func(client.Client, *unstructured.Unstructured) error{
		newOne(object{}), updatingStatus(object{"phase": "Deployed", "ready": int64(1), "other": "x"}), updatingStatus(object{"phase": "Gone"}),
		updating(setting(int64(5), "spec", "replicas")),
		func(c client.Client, u *unstructured.Unstructured) error {
			_ = unstructured.SetNestedField(u.Object, int64(9), "spec", "replicas")
			return c.Status().Patch(ctx, u, client.RawPatch(types.MergePatchType, []byte(`{"status":{"ready":2},"spec":{"replicas":8}}`)))
		},
	}},
	{"merge patch", []func(client.Client, *unstructured.Unstructured) error{
		newOne(object{"hosts": []any{"a", "b"}}), patching(types.MergePatchType, `{"spec":{"hosts":["c"],"replicas":4}}`),
		patching(types.MergePatchType, `{"spec":{"replicas":null,"notes":null}}`), patching(types.MergePatchType, `{"spec":{"replcas":4}}`),
		patching(types.MergePatchType, `{"spec":{"replcas":4}}`, strict), patching(types.MergePatchType, `{"spec":{"replicas":-4}}`),
		patching(types.MergePatchType, `{"spec":{"version":"1","version":"2"}}`), patching(types.MergePatchType, `{"status":{"ready":3}}`),
		patching(types.MergePatchType, `{"metadata":{"labels":{"a":"b"}}}`), patching(types.MergePatchType, `{"spec":`),
	}},
	{"JSON patch", []func(client.Client, *unstructured.Unstructured) error{
		newOne(object{"hosts": []any{"a", "b"}}), patching(types.JSONPatchType, `[{"op":"add","path":"/spec/hosts/1","value":"c"}]`),
		patching(types.JSONPatchType, `[{"op":"remove","path":"/spec/none"}]`), patching(types.JSONPatchType, `[{"op":"test","path":"/spec/replicas","value":7}]`),
		patching(types.JSONPatchType, `[{"op":"add","path":"/spec/other","value":7}]`), patching(types.JSONPatchType, `[{"op":"replace","path":"/spec/replicas","value":"x"}]`),
	}},
	{"strategic merge patch", []func(client.Client, *unstructured.Unstructured) error{newOne(object{}), patching(types.StrategicMergePatchType, `{"spec":{"replicas":2}}`)}},
	{"apply", []func(client.Client, *unstructured.Unstructured) error{
		applying("a", object{"spec": object{"replicas": int64(2), "containers": []any{object{"name": "web", "image": "1"}}}}),
		applying("b", object{"spec": object{"containers": []any{object{"name": "worker", "image": "1"}}}}),
		applying("b", object{"spec": object{"containers": []any{object{"name": "web", "image": "2"}}}}),
		applying("a", object{"spec": object{"replicas": int64(3)}}), applying("a", object{"spec": object{"replicas": int64(300)}}),
		applying("a", object{"spec": object{"replcas": int64(3)}}), applying("b", object{"spec": object{"replicas": int64(4)}}, client.ForceOwnership),
		applying("b", object{"status": object{"phase": "Failed"}}),
	}},
	{"delete with a finalizer", []func(client.Client, *unstructured.Unstructured) error{
		func(c client.Client, u *unstructured.Unstructured) error {
			u.SetFinalizers([]string{"hold"})
			return c.Create(ctx, u)
		},
		func(c client.Client, u *unstructured.Unstructured) error { return c.Delete(ctx, u) },
		patching(types.MergePatchType, `{"spec":{"replicas":4}}`), patching(types.MergePatchType, `{"metadata":{"finalizers":null}}`),
	}},
}

// warned remembers warnings.
type warned []string

func (w *warned) HandleWarningHeader(_ int, _ string, text string) { *w = append(*w, text) }

// testFakes asserts that fake clients do to writes what the server does.
func testFakes(t *testing.T, config *rest.Config, crd *apiextensionsv1.CustomResourceDefinition) {
	theirs, ours := new(warned), new(warned)
	real := rest.CopyConfig(config)
	real.WarningHandler = theirs
	server, err := client.New(real, releaseOptions())
	require.NoError(t, err)
	o := releaseOptions()
	builder, err := fakes.NewClientBuilder(fakes.Options{Scheme: runtime.NewScheme(), Warnings: ours}, crd)
	require.NoError(t, err)
	fake := builder.WithRESTMapper(o.Mapper).Build()
	for at, c := range fakeCases {
		t.Run(c.name, func(t *testing.T) {
			name := fmt.Sprintf("fake-%d", at)
			want, got := newRelease("fakes", name, 0), newRelease("fakes", name, 0)
			want.Object["spec"], got.Object["spec"] = object{}, object{}
			for i, step := range c.steps {
				*theirs, *ours = nil, nil
				wantErr, gotErr := step(server, want), step(fake, got)
				require.Equal(t, textOf(wantErr), textOf(gotErr), "step %d", i)
				assert.Equal(t, reasonOf(wantErr), reasonOf(gotErr), "step %d", i)
				assert.Equal(t, *theirs, *ours, "step %d: warnings", i)
				wantStored, wantErr := stored(server, want)
				gotStored, gotErr := stored(fake, got)
				require.Equal(t, reasonOf(wantErr), reasonOf(gotErr), "step %d", i)
				assert.Equal(t, wantStored, gotStored, "step %d: what is stored", i)
				assert.Equal(t, judgedOf(want), judgedOf(got), "step %d: what is returned", i)
			}
		})
	}
}

func stored(c client.Client, u *unstructured.Unstructured) (object, error) {
	read := new(unstructured.Unstructured)
	read.SetGroupVersionKind(releaseKind)
	if err := c.Get(ctx, client.ObjectKeyFromObject(u), read); err != nil {
		return nil, err
	}
	return judgedOf(read), nil
}

// judgedOf is what fakes decide of an object.
func judgedOf(u *unstructured.Unstructured) object {
	o := only(u.DeepCopy().Object, "apiVersion", "kind", "spec", "status")
	o["generation"], o["labels"], o["finalizers"] = u.GetGeneration(), u.GetLabels(), u.GetFinalizers()
	o["deleted"] = u.GetDeletionTimestamp() != nil
	return o
}

// textOf returns the text of an error, in which the order of several causes is that of their texts.
func textOf(err error) string {
	if err == nil {
		return ""
	}
	text := regexp.MustCompile(`(patch: Invalid value: ").*("$|": )`).ReplaceAllString(err.Error(), "$1...$2") // it has the stored object
	before, causes, several := strings.Cut(text, " is invalid: [")
	if !several {
		return before
	}
	parts := strings.Split(strings.TrimSuffix(causes, "]"), ", ")
	slices.Sort(parts)
	return before + ": " + strings.Join(parts, ", ")
}

func reasonOf(err error) string {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return string(status.Status().Reason)
	}
	return ""
}
