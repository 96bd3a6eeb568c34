package e2e

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// This file has the resource of the tests of clients: releases, of 5 kB each, of which a controller
// reads little.

var (
	releases    = schema.GroupVersionResource{Group: "shop.example.com", Version: "v1", Resource: "releases"}
	releaseKind = releases.GroupVersion().WithKind("Release")
)

// kept is what the controller reads of a release.
var kept = []string{"spec.version", "spec.replicas", "spec.hosts", "spec.containers[].name", "spec.containers[].image", "status"}

// readCRD reads a definition of testdata.
func readCRD(t *testing.T, file string) *apiextensionsv1.CustomResourceDefinition {
	manifest, err := os.ReadFile(file)
	require.NoError(t, err)
	crd := new(apiextensionsv1.CustomResourceDefinition)
	require.NoError(t, yaml.UnmarshalStrict(manifest, crd))
	return crd
}

// serveReleases starts a server that serves the definition of releases.
func serveReleases(t *testing.T) (*rest.Config, generic.RESTOptionsGetter, *apiextensionsv1.CustomResourceDefinition) {
	config, _, storage := startServer(t)
	crd := readCRD(t, "testdata/releases.yaml")
	client, err := clientset.NewForConfig(config)
	require.NoError(t, err)
	_, err = client.ApiextensionsV1().CustomResourceDefinitions().Create(t.Context(), crd, metav1.CreateOptions{})
	require.NoError(t, err)
	objects, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, err := objects.Resource(releases).List(context.Background(), metav1.ListOptions{})
		return err == nil
	}, time.Minute, 20*time.Millisecond)
	return config, storage, crd
}

// newRelease makes a release of some 5 kB as it is stored, with its managed fields.
func newRelease(namespace, name string, i int) *unstructured.Unstructured {
	values := map[string]any{}
	for j := range 16 {
		values[fmt.Sprintf("component-%02d", j)] = map[string]any{
			"enabled": j%3 > 0, "weight": int64(i + j), "memory": fmt.Sprintf("%dMi", 64+j),
			"tags": []any{"blue", fmt.Sprintf("tag-%d", i%97), "stable"},
		}
	}
	container := func(name string) map[string]any {
		return map[string]any{"name": name, "image": fmt.Sprintf("registry.example.com/%s:%d", name, i), "args": []any{"--verbose", "--listen=:8080"},
			"env": []any{map[string]any{"name": "MODE", "value": "production"}, map[string]any{"name": "NUMBER", "value": fmt.Sprint(i)}}}
	}
	u := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{
			"version": fmt.Sprintf("1.%d.0", i), "replicas": int64(i % 7), "hosts": []any{"a.example.com", fmt.Sprintf("h%d.example.com", i)},
			"containers": []any{container("web"), container("worker")},
			"values":     values, "notes": strings.Repeat("What this release brings. ", 20),
		},
	}}
	u.SetGroupVersionKind(releaseKind)
	u.SetNamespace(namespace)
	u.SetName(name)
	u.SetLabels(map[string]string{"team": fmt.Sprintf("team-%d", i%10), "app": "shop"})
	u.SetAnnotations(map[string]string{"example.com/contact": "shop@example.com"})
	return u
}

// newStatus is the status of a release.
func newStatus(i int) map[string]any {
	return map[string]any{
		"phase": "Deployed", "ready": int64(i % 7),
		"conditions": []any{
			map[string]any{"type": "Ready", "status": "True", "message": "all is well"},
			map[string]any{"type": "Synced", "status": "True", "message": "as in git"},
		},
	}
}
