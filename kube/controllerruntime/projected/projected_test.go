package projected_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/espalier-dev/espalier/kube/controllerruntime/projected"
	"github.com/espalier-dev/espalier/projection"
)

// A Widget has the fields that the controller reads. The definition has many more.
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              WidgetSpec `json:"spec"`
}

type WidgetSpec struct {
	Size int64 `json:"size"`
}

func (w *Widget) DeepCopyObject() runtime.Object {
	to := *w
	w.ObjectMeta.DeepCopyInto(&to.ObjectMeta)
	return &to
}

type WidgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Widget `json:"items"`
}

func (l *WidgetList) DeepCopyObject() runtime.Object {
	to := *l
	to.Items = make([]Widget, len(l.Items))
	for i := range l.Items {
		to.Items[i] = *l.Items[i].DeepCopyObject().(*Widget)
	}
	return &to
}

var widgets = schema.GroupVersion{Group: "example.com", Version: "v1"}

func options() manager.Options {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(widgets, &Widget{}, &WidgetList{})
	metav1.AddToGroupVersion(scheme, widgets)
	return manager.Options{Scheme: scheme, Metrics: server.Options{BindAddress: "0"}}
}

var key = types.NamespacedName{Namespace: "b", Name: "a"}

func TestWhole(t *testing.T) {
	api, writes := newServer()
	defer api.Close()
	config := &rest.Config{Host: api.URL}
	mgr, err := projected.NewManager(config, options(),
		projection.Rule{Group: "example.com", Resource: "widgets", Keep: []string{"spec.size"}})
	require.NoError(t, err)
	assert.Nil(t, config.WrapTransport, "it is the caller's")
	require.NotNil(t, mgr.GetConfig().WrapTransport)

	read := func(c client.Reader) map[string]any {
		u := new(unstructured.Unstructured)
		u.SetGroupVersionKind(widgets.WithKind("Widget"))
		require.NoError(t, c.Get(t.Context(), key, u))
		return u.Object
	}
	direct, err := client.New(mgr.GetConfig(), client.Options{})
	require.NoError(t, err)
	for _, c := range []client.Reader{mgr.GetAPIReader(), mgr.GetClient(), direct} { // of unstructured objects there is no cache
		object := read(c)
		assert.Equal(t, map[string]any{"size": int64(3)}, object["spec"])
		assert.NotContains(t, object, "status")
	}
	assert.Equal(t, uint64(3), mgr.Projection().Counts().Objects)

	object := read(mgr.Whole())
	assert.Equal(t, map[string]any{"size": int64(3), "template": map[string]any{"much": "more"}}, object["spec"])
	require.NoError(t, mgr.Whole().Update(t.Context(), &unstructured.Unstructured{Object: object}))
	assert.Len(t, writes.all(), 1)
	assert.Contains(t, writes.all()[0], `"template":{"much":"more"}`)
}

func TestRefusedOptions(t *testing.T) {
	config := &rest.Config{Host: "http://127.0.0.1:1"}
	rule := projected.Type[Widget]("example.com", "widgets")
	_, err := projected.NewManager(nil, options(), rule)
	require.Error(t, err)
	o := options()
	o.Client.HTTPClient = http.DefaultClient
	_, err = projected.NewManager(config, o, rule)
	require.ErrorContains(t, err, "would go around the projection")
	o = options()
	o.Cache.HTTPClient = http.DefaultClient
	_, err = projected.NewManager(config, o, rule)
	require.ErrorContains(t, err, "would go around the projection")
	_, err = projected.NewManager(config, options(), rule, rule)
	require.ErrorContains(t, err, "projected: ")
	_, err = projected.NewManager(config, options(), projected.Type[Widget]("example.com", "widgets", "spec[[")) // no path
	require.Error(t, err)
}
