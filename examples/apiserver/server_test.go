package main

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// startServer starts the server and returns the configuration for a client.
func startServer(t *testing.T) *rest.Config {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server, err := newServer(listener, t.TempDir())
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.PrepareRun().RunWithContext(ctx) }()
	t.Cleanup(func() {
		stop()
		assert.NoError(t, <-ended)
	})
	config := rest.CopyConfig(server.LoopbackClientConfig)
	client, err := rest.HTTPClientFor(config)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		response, err := client.Get(config.Host + "/readyz")
		if err != nil {
			return false
		}
		_ = response.Body.Close()
		return response.StatusCode == http.StatusOK
	}, time.Minute, 20*time.Millisecond)
	return config
}

// A recorder keeps the warnings of requests.
type recorder struct{ texts []string }

func (r *recorder) HandleWarningHeader(_ int, _, text string) { r.texts = append(r.texts, text) }

func (r *recorder) take() []string {
	texts := r.texts
	r.texts = nil
	return texts
}

func trellis(spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "garden.example.com/v1", "kind": "Trellis",
		"metadata": map[string]any{"name": "a"}, "spec": spec,
	}}
}

func TestServer(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	config := startServer(t)
	warnings := new(recorder)
	config.WarningHandler = warnings
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	trellises := client.Resource(groupVersion.WithResource("trellises")).Namespace("default")
	ctx := context.Background()
	pear := func() map[string]any { return map[string]any{"name": "pear", "colour": "green"} }

	_, err = trellises.Create(ctx, trellis(map[string]any{"plants": []any{pear()}}), metav1.CreateOptions{FieldValidation: "Strict"})
	assert.True(t, apierrors.IsBadRequest(err))
	assert.ErrorContains(t, err, `Trellis in version "v1" cannot be handled as a Trellis: strict decoding error: unknown field "spec.plants[0].colour"`)

	created, err := trellises.Create(ctx, trellis(map[string]any{"plants": []any{pear()}}), metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, []string{`unknown field "spec.plants[0].colour"`}, warnings.take())
	want := map[string]any{"rows": int64(2), "plants": []any{map[string]any{"name": "pear", "litres": int64(1)}}}
	assert.Equal(t, want, created.Object["spec"], "pruned and defaulted")

	invalid := trellis(map[string]any{"rows": int64(10)})
	invalid.SetName("c")
	_, err = trellises.Create(ctx, invalid, metav1.CreateOptions{})
	assert.True(t, apierrors.IsInvalid(err))
	assert.EqualError(t, err, `Trellis.garden.example.com "c" is invalid: spec.rows: Invalid value: 10: spec.rows in body should be less than or equal to 9`)
	finalized := trellis(nil)
	finalized.SetName("d")
	finalized.SetFinalizers([]string{"prune"})
	_, err = trellises.Create(ctx, finalized, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, []string{`metadata.finalizers: "prune": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers`},
		warnings.take())
	require.NoError(t, trellises.Delete(ctx, "d", metav1.DeleteOptions{}))

	got, err := trellises.Get(ctx, "a", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, want, got.Object["spec"])

	got.Object["spec"] = map[string]any{"rows": int64(5), "wires": int64(1)}
	_, err = trellises.Update(ctx, got, metav1.UpdateOptions{FieldValidation: "Ignore"})
	require.NoError(t, err)
	assert.Empty(t, warnings.take())

	patched, err := trellises.Patch(ctx, "a", types.MergePatchType, []byte(`{"spec":{"rows":null,"plants":[{"name":"fig","name":"plum","z":1}]}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	assert.Equal(t, []string{`duplicate field "spec.plants[0].name"`, `unknown field "spec.plants[0].z"`}, warnings.take())
	assert.Equal(t, map[string]any{"rows": int64(2), "plants": []any{map[string]any{"name": "plum", "litres": int64(1)}}}, patched.Object["spec"])

	patched, err = trellises.Patch(ctx, "a", types.JSONPatchType, []byte(`[{"op":"replace","path":"/spec/rows","value":7}]`), metav1.PatchOptions{FieldValidation: "Strict"})
	require.NoError(t, err)
	assert.Equal(t, int64(7), patched.Object["spec"].(map[string]any)["rows"])

	applied, err := trellises.Apply(ctx, "b", &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "garden.example.com/v1", "kind": "Trellis", "metadata": map[string]any{"name": "b"}, "spec": map[string]any{"rows": int64(1)},
	}}, metav1.ApplyOptions{FieldManager: "test"})
	if assert.Error(t, err, "the store creates nothing for an update") {
		assert.Nil(t, applied)
		assert.True(t, apierrors.IsNotFound(err), err)
	}

	list, err := trellises.List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, list.Items, 1)
	assert.Equal(t, "a", list.Items[0].GetName())

	require.NoError(t, trellises.Delete(ctx, "a", metav1.DeleteOptions{}))
	_, err = trellises.Get(ctx, "a", metav1.GetOptions{})
	assert.True(t, apierrors.IsNotFound(err))
}
