package fakes_test

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/espalier-dev/espalier/kube/controllerruntime/fakes"
)

// A Fleet is the Go type of the definition in testdata; Spec.Colour is not in that.
type Fleet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              FleetSpec   `json:"spec,omitempty"`
	Status            FleetStatus `json:"status,omitempty"`
}

type FleetSpec struct {
	Ships  int64  `json:"ships,omitempty"`
	Port   string `json:"port,omitempty"`
	Colour string `json:"colour,omitempty"`
	Crew   []Hand `json:"crew,omitempty"`
}

type Hand struct {
	Name string `json:"name"`
	Rank string `json:"rank,omitempty"`
}

type FleetStatus struct {
	Ready int64  `json:"ready,omitempty"`
	Phase string `json:"phase,omitempty"`
}

func (f *Fleet) DeepCopyObject() runtime.Object {
	to := *f
	f.ObjectMeta.DeepCopyInto(&to.ObjectMeta)
	to.Spec.Crew = append([]Hand(nil), f.Spec.Crew...)
	return &to
}

type FleetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Fleet `json:"items"`
}

func (l *FleetList) DeepCopyObject() runtime.Object {
	to := *l
	to.Items = nil
	for i := range l.Items {
		to.Items = append(to.Items, *l.Items[i].DeepCopyObject().(*Fleet))
	}
	return &to
}

var gv = schema.GroupVersion{Group: "harbour.example.com", Version: "v1"}

func typed() *runtime.Scheme {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(gv, &Fleet{}, &FleetList{})
	metav1.AddToGroupVersion(scheme, gv)
	return scheme
}

func definition(t testing.TB) *apiextensionsv1.CustomResourceDefinition {
	text, err := os.ReadFile("testdata/fleets.yaml")
	require.NoError(t, err)
	crd := new(apiextensionsv1.CustomResourceDefinition)
	require.NoError(t, yaml.UnmarshalStrict(text, crd))
	return crd
}

// warnings remembers what it is told.
type warnings []string

func (w *warnings) HandleWarningHeader(_ int, _ string, text string) { *w = append(*w, text) }

func newClient(t *testing.T, scheme *runtime.Scheme, stored ...client.Object) (client.WithWatch, *warnings) {
	w := new(warnings)
	b, err := fakes.NewClientBuilder(fakes.Options{Scheme: scheme, Warnings: w}, definition(t))
	require.NoError(t, err)
	return b.WithObjects(stored...).Build(), w
}

// fleet returns an object as maps.
func fleet(t testing.TB, text string) *unstructured.Unstructured {
	u := new(unstructured.Unstructured)
	require.NoError(t, yaml.Unmarshal([]byte(text), &u.Object))
	u.SetGroupVersionKind(gv.WithKind("Fleet"))
	u.SetName("home")
	u.SetNamespace("sea")
	return u
}

var home = types.NamespacedName{Namespace: "sea", Name: "home"}

// read returns what is stored, without metadata.
func read(t *testing.T, c client.Client) (map[string]any, metav1.Object) {
	u := new(unstructured.Unstructured)
	u.SetGroupVersionKind(gv.WithKind("Fleet"))
	require.NoError(t, c.Get(context.Background(), home, u))
	content := map[string]any{}
	for name, value := range u.Object {
		if name == "spec" || name == "status" {
			content[name] = value
		}
	}
	return content, u
}

func schemes() map[string]*runtime.Scheme {
	return map[string]*runtime.Scheme{"Go types": typed(), "maps": runtime.NewScheme()}
}

func TestCreate(t *testing.T) {
	for name, scheme := range schemes() {
		t.Run(name, func(t *testing.T) {
			c, w := newClient(t, scheme)
			u := fleet(t, `{spec: {ships: 3, colour: red}, status: {ready: 2}}`)
			u.SetFinalizers([]string{"anchor"})
			require.NoError(t, c.Create(t.Context(), u))
			want := map[string]any{"ships": int64(3), "port": "Hull"}
			assert.Equal(t, want, u.Object["spec"], "what is returned")
			content, meta := read(t, c)
			assert.Equal(t, want, content["spec"])
			assert.Empty(t, content["status"], "the status is not written by a create")
			assert.Equal(t, int64(1), meta.GetGeneration())
			assert.Equal(t, warnings{`unknown field "spec.colour"`,
				`metadata.finalizers: "anchor": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers`}, *w)

			other := fleet(t, `{spec: {ships: 3, colour: red}}`)
			other.SetName("other")
			err := client.WithFieldValidation(c, metav1.FieldValidationStrict).Create(t.Context(), other)
			assert.EqualError(t, err, `Fleet in version "v1" cannot be handled as a Fleet: strict decoding error: unknown field "spec.colour"`)
			assert.True(t, apierrors.IsBadRequest(err))
			for text, want := range map[string]string{
				`{spec: {ships: 30}}`:            `spec.ships: Invalid value: 30: spec.ships in body should be less than or equal to 9`,
				`{spec: {ships: 1, port: Rome}}`: `spec: Invalid value: no fleet of one in Rome`,
				`{spec: {}}`:                     `spec.ships: Required value`,
			} {
				u := fleet(t, text)
				u.SetName("other")
				err := c.Create(t.Context(), u)
				require.Error(t, err, text)
				assert.True(t, apierrors.IsInvalid(err), text)
				assert.Contains(t, err.Error(), `Fleet.harbour.example.com "other" is invalid: `)
				assert.Contains(t, err.Error(), want)
			}
			assert.True(t, apierrors.IsAlreadyExists(c.Create(t.Context(), fleet(t, `{spec: {ships: 3}}`))))
		})
	}
}

func TestCreateTyped(t *testing.T) {
	c, w := newClient(t, typed())
	f := &Fleet{ObjectMeta: metav1.ObjectMeta{Namespace: "sea", Name: "home"}, Spec: FleetSpec{Ships: 2, Colour: "red"}, Status: FleetStatus{Ready: 1}}
	require.NoError(t, c.Create(t.Context(), f))
	assert.Equal(t, FleetSpec{Ships: 2, Port: "Hull"}, f.Spec)
	assert.Zero(t, f.Status)
	assert.Equal(t, warnings{`unknown field "spec.colour"`}, *w)
	f.Spec.Ships = 10
	version := f.ResourceVersion
	err := c.Update(t.Context(), f)
	assert.True(t, apierrors.IsInvalid(err), err)
	assert.Equal(t, version, f.ResourceVersion, "it can be tried again")
	f.Spec.Ships = 9
	require.NoError(t, c.Update(t.Context(), f))
	assert.Equal(t, int64(2), f.Generation)
}

func TestUpdate(t *testing.T) {
	for name, scheme := range schemes() {
		t.Run(name, func(t *testing.T) {
			// What is stored may be invalid, and may stay so.
			c, w := newClient(t, scheme, fleet(t, `{spec: {ships: 30, crew: [{name: ann}]}, status: {ready: 2}}`))
			content, meta := read(t, c)
			assert.Equal(t, "Hull", content["spec"].(map[string]any)["port"])
			u := meta.(*unstructured.Unstructured)
			require.NoError(t, unstructured.SetNestedField(u.Object, "Rome", "spec", "port"))
			require.NoError(t, unstructured.SetNestedField(u.Object, int64(7), "status", "ready"))
			require.NoError(t, c.Update(t.Context(), u))
			content, _ = read(t, c)
			assert.Equal(t, "Rome", content["spec"].(map[string]any)["port"])
			assert.Equal(t, map[string]any{"ready": int64(2)}, content["status"])
			assert.Equal(t, int64(1), u.GetGeneration())
			require.NoError(t, unstructured.SetNestedField(u.Object, int64(31), "spec", "ships"))
			assert.True(t, apierrors.IsInvalid(c.Update(t.Context(), u)))
			_, meta = read(t, c)
			u = meta.(*unstructured.Unstructured)
			u.SetLabels(map[string]string{"a": "b"})
			require.NoError(t, c.Update(t.Context(), u))
			assert.Equal(t, int64(1), u.GetGeneration(), "metadata does not count")

			// The status.
			require.NoError(t, unstructured.SetNestedField(u.Object, int64(5), "status", "ready"))
			require.NoError(t, unstructured.SetNestedField(u.Object, int64(9), "spec", "ships"))
			require.NoError(t, unstructured.SetNestedField(u.Object, "x", "status", "odd"))
			require.NoError(t, c.Status().Update(t.Context(), u))
			assert.Contains(t, *w, `unknown field "status.odd"`)
			content, _ = read(t, c)
			assert.Equal(t, map[string]any{"ready": int64(5)}, content["status"])
			assert.Equal(t, int64(30), content["spec"].(map[string]any)["ships"])
			require.NoError(t, unstructured.SetNestedField(u.Object, "sunk", "status", "phase"))
			assert.ErrorContains(t, c.Status().Update(t.Context(), u), `status.phase: Unsupported value: "sunk": supported values: "afloat", "docked"`)
			u.SetResourceVersion("3")
			assert.True(t, apierrors.IsConflict(c.Update(t.Context(), u)))
		})
	}
}

func TestPatch(t *testing.T) {
	for name, scheme := range schemes() {
		t.Run(name, func(t *testing.T) {
			c, w := newClient(t, scheme, fleet(t, `{spec: {ships: 3, crew: [{name: ann}]}, status: {ready: 2}}`))
			patch := func(of types.PatchType, text string) error {
				return c.Patch(t.Context(), fleet(t, `{}`), client.RawPatch(of, []byte(text)))
			}
			require.NoError(t, patch(types.MergePatchType, `{"spec":{"ships":4,"colour":"red"}}`))
			assert.Equal(t, warnings{`unknown field "spec.colour"`}, *w)
			content, meta := read(t, c)
			assert.Equal(t, map[string]any{"ships": int64(4), "port": "Hull", "crew": []any{map[string]any{"name": "ann"}}}, content["spec"])
			assert.Equal(t, int64(1), meta.GetGeneration())
			require.NoError(t, patch(types.MergePatchType, `{"spec":{"port":null}}`), "it has a default")
			assert.True(t, apierrors.IsInvalid(patch(types.MergePatchType, `{"spec":{"ships":10}}`)))
			require.NoError(t, patch(types.JSONPatchType, `[{"op":"replace","path":"/spec/crew/0/name","value":"bob"}]`))
			assert.True(t, apierrors.IsInvalid(patch(types.JSONPatchType, `[{"op":"remove","path":"/spec/ships"}]`)))
			assert.True(t, apierrors.IsInvalid(patch(types.JSONPatchType, `[{"op":"test","path":"/spec/ships","value":1}]`)))
			assert.True(t, apierrors.IsUnsupportedMediaType(patch(types.StrategicMergePatchType, `{}`)))
			content, _ = read(t, c)
			assert.Equal(t, map[string]any{"ships": int64(4), "port": "Hull", "crew": []any{map[string]any{"name": "bob"}}}, content["spec"])

			status := client.RawPatch(types.MergePatchType, []byte(`{"status":{"ready":3},"spec":{"ships":9}}`))
			require.NoError(t, c.Status().Patch(t.Context(), fleet(t, `{}`), status))
			content, meta = read(t, c)
			assert.Equal(t, map[string]any{"ready": int64(3)}, content["status"])
			assert.Equal(t, int64(4), content["spec"].(map[string]any)["ships"])
			generation := meta.GetGeneration()
			partial := &metav1.PartialObjectMetadata{}
			partial.SetGroupVersionKind(gv.WithKind("Fleet"))
			partial.Namespace, partial.Name = home.Namespace, home.Name
			assert.Error(t, c.Update(t.Context(), partial))
			require.NoError(t, c.Patch(t.Context(), partial, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`))))
			content, meta = read(t, c)
			assert.Equal(t, int64(4), content["spec"].(map[string]any)["ships"])
			assert.Equal(t, generation, meta.GetGeneration())
		})
	}
}

func TestApply(t *testing.T) {
	for name, scheme := range schemes() {
		t.Run(name, func(t *testing.T) {
			c, _ := newClient(t, scheme)
			apply := func(owner, text string) error {
				return c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(fleet(t, text)), client.FieldOwner(owner))
			}
			require.NoError(t, apply("a", `{spec: {ships: 3, crew: [{name: ann, rank: mate}]}}`))
			require.NoError(t, apply("b", `{spec: {crew: [{name: bob}]}}`))
			content, meta := read(t, c)
			assert.Equal(t, map[string]any{"ships": int64(3), "port": "Hull",
				"crew": []any{map[string]any{"name": "ann", "rank": "mate"}, map[string]any{"name": "bob"}}}, content["spec"])
			assert.Equal(t, int64(2), meta.GetGeneration())
			require.NoError(t, apply("a", `{spec: {ships: 3}}`))
			content, _ = read(t, c)
			assert.Equal(t, []any{map[string]any{"name": "bob"}}, content["spec"].(map[string]any)["crew"])
			assert.True(t, apierrors.IsConflict(apply("b", `{spec: {ships: 4}}`)))
			assert.True(t, apierrors.IsInvalid(apply("a", `{spec: {ships: 40}}`)))
			assert.ErrorContains(t, apply("a", `{spec: {ships: 3, colour: red}}`), ".spec.colour: field not declared in schema")
			status := client.ApplyConfigurationFromUnstructured(fleet(t, `{status: {ready: 1}}`))
			require.NoError(t, c.Status().Apply(t.Context(), status, client.FieldOwner("b")))
			require.NoError(t, apply("a", `{spec: {ships: 4}}`), "the status has another owner")
			content, _ = read(t, c)
			assert.Equal(t, map[string]any{"ready": int64(1)}, content["status"])
			assert.Equal(t, int64(4), content["spec"].(map[string]any)["ships"], "what was refused is not stored")
		})
	}
}

func TestDelete(t *testing.T) {
	u := fleet(t, `{spec: {ships: 3}}`)
	u.SetFinalizers([]string{"example.com/anchor"})
	u.SetGeneration(1)
	c, _ := newClient(t, typed(), u)
	require.NoError(t, c.Delete(t.Context(), u))
	_, meta := read(t, c)
	assert.NotNil(t, meta.GetDeletionTimestamp())
	assert.Equal(t, int64(2), meta.GetGeneration())
	u = meta.(*unstructured.Unstructured)
	u.SetFinalizers(nil)
	require.NoError(t, c.Update(t.Context(), u))
	assert.True(t, apierrors.IsNotFound(c.Get(t.Context(), home, u)))
}

func TestOtherKinds(t *testing.T) {
	b, err := fakes.NewClientBuilder(fakes.Options{}, definition(t))
	require.NoError(t, err)
	c := b.Build()
	u := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"a": "b"}}}
	u.SetAPIVersion("v1")
	u.SetKind("ConfigMap")
	u.SetName("a")
	u.SetNamespace("b")
	require.NoError(t, c.Create(t.Context(), u))
	require.NoError(t, c.Patch(t.Context(), u, client.RawPatch(types.StrategicMergePatchType, []byte(`{"data":{"c":"d"}}`))))
	assert.Equal(t, map[string]any{"a": "b", "c": "d"}, u.Object["data"])
}

func TestRefusedDefinitions(t *testing.T) {
	_, err := fakes.NewClientBuilder(fakes.Options{}, nil)
	require.Error(t, err)
	_, err = fakes.NewClientBuilder(fakes.Options{}, definition(t), definition(t))
	require.ErrorContains(t, err, "another one defines")
	crd := definition(t)
	crd.Spec.Versions[0].Schema.OpenAPIV3Schema.ID = "x"
	_, err = fakes.NewClientBuilder(fakes.Options{}, crd)
	require.ErrorContains(t, err, `definition "fleets.harbour.example.com"`)
}
