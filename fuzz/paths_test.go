package fuzz

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/sets"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/espalier-dev/espalier/request"
	"github.com/espalier-dev/espalier/schema"
)

// TestPathsAsServer compares ByPath with the server's resolver. A path that the server resolves to
// a write of a known resource must resolve to the same here, or be refused. A path that resolves
// here must resolve to the same there.
func TestPathsAsServer(t *testing.T) {
	crds, err := schema.ParseCRD([]byte(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: foos.example.com},
  spec: {group: example.com, names: {kind: Foo, plural: foos}, scope: Namespaced, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}`))
	require.NoError(t, err)
	namespaces, err := schema.ParseCRD([]byte(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: namespaces.example.com},
  spec: {group: example.com, names: {kind: Namespace, plural: namespaces}, scope: Cluster, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}`))
	require.NoError(t, err)
	catalog := schema.NewCatalog()
	require.NoError(t, catalog.Add(append(crds, namespaces...)...))
	find := request.Paths{Catalog: catalog, Unknown: request.PassUnknown}.Finder()
	resolver := &apirequest.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}

	words := []string{"apis", "api", "example.com", "v1", "v2", "namespaces", "foos", "bars", "x", "status", "finalize", "scale", "proxy", "watch", "Foos", "V1", "", ".", "a%20b", "foos.json", "foos;x", "..", "system:x"}
	random := rand.New(rand.NewPCG(1, 2))
	found, refused, passed := 0, 0, 0
	for range 200_000 {
		path := "/apis/example.com/v1"
		if random.IntN(4) == 0 {
			path = ""
		}
		for range random.IntN(7) {
			path += "/" + words[min(random.IntN(len(words)), random.IntN(len(words)))]
		}
		u, err := url.ParseRequestURI("/" + strings.TrimPrefix(path, "/"))
		require.NoError(t, err, path)
		r := httptest.NewRequest([]string{http.MethodPost, http.MethodPut, http.MethodPatch}[random.IntN(3)], "/", nil)
		r.URL = u
		info, err := resolver.NewRequestInfo(r)
		isWrite := err == nil && info.IsResourceRequest && info.APIPrefix == "apis" && info.APIGroup == "example.com" && info.APIVersion == "v1" &&
			(info.Resource == "foos" || info.Resource == "namespaces") && (info.Subresource == "" || info.Subresource == "status") &&
			(info.Verb == "create" || info.Verb == "update" || info.Verb == "patch")
		res, err := find(&request.Request{Method: r.Method, URL: u}, nil)
		switch {
		case err != nil:
			refused++
		case res == request.Pass:
			passed++
			assert.False(t, isWrite, "%s passes, and is %+v", path, info)
		default:
			found++
			assert.True(t, isWrite && strings.EqualFold(info.Resource, res.Kind+"s"), "%s is a %s, and %+v", path, res.Kind, info)
		}
	}
	t.Logf("found %d, refused %d, passed %d", found, refused, passed)
	for _, n := range []int{found, refused, passed} {
		require.Greater(t, n, 1_000)
	}
}
