package request_test

import (
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/request"
	"github.com/espalier-dev/espalier/schema"
)

// found returns what a finder makes of a path: a kind, a status code, or nothing if the path
// passes.
func found(t *testing.T, find request.Finder, path string) string {
	r := send(t, "PUT", path, "")
	res, err := find(&r, nil)
	if err != nil {
		refused, ok := err.(*request.StatusError)
		require.True(t, ok, "%s: %v", path, err)
		return fmt.Sprint(refused.Code)
	}
	if res == request.Pass {
		return ""
	}
	return res.Kind
}

func TestByPath(t *testing.T) {
	find := byPath(t)
	for path, want := range map[string]string{
		"/apis/example.com/v1/foos":                          "Foo",
		"/apis/example.com/v1/foos/":                         "Foo",
		"/apis/example.com/v1/foos/n":                        "Foo",
		"/apis/example.com/v1/foos/n/status":                 "Foo",
		"/apis/example.com/v1/namespaces/x/foos":             "Foo",
		"/apis/example.com/v1/namespaces/x/foos/n":           "Foo",
		"/apis/example.com/v1/namespaces/foos/foos/n/status": "Foo",
		"/apis/example.com/v1/namespaces/x/foos/n/scale":     "",
		"/apis/example.com/v1/namespaces/x/foos/n/status/x":  "Foo", // as in the API server
		"/apis/example.com/v1/namespaces/x/foos/n/scale/x":   "",
		"x:http://host/apis/example.com/v1/foos":             "400",
		"http://host/apis/example.com/v1/foos":               "Foo",
		"/apis/example.com/v1/namespaces/foos":               "403",
		"/apis/example.com/v1/bars":                          "403",
		"/apis/example.com/v0/foos":                          "403", // it is not served
		"/apis/example.com/v1":                               "403",
		"/apis/example.org/v1/foos":                          "",
		"/api/v1/namespaces/x/services/y/proxy//a/./b":       "",
		"/":                                                   "",
		"/foos":                                               "",
		"//apis/example.com/v1/foos":                          "400",
		"/apis//example.com/v1/foos":                          "400",
		"/apis/example.com/v1/foos//":                         "400",
		"/apis/example.com/v1/./foos":                         "400",
		"/apis/example.com/v1/bars/../foos":                   "400",
		"/api/../apis/example.com/v1/foos":                    "400",
		"/apis/example.com/v1/foos/a%2Fb":                     "400",
		"/apis/example.com/v1/foos/a%2f..%2fb/c":              "400",
		"/apis/example.com/v1/namespaces/x/foos/%2e%2e/.././": "400",
	} {
		assert.Equal(t, want, found(t, find, path), path)
	}
}

// A resource may be called namespaces.
func TestByPathNamespaces(t *testing.T) {
	crds, err := schema.ParseCRD([]byte(strings.ReplaceAll(fooCRD, "foos", "namespaces")))
	require.NoError(t, err)
	c := schema.NewCatalog()
	require.NoError(t, c.Add(crds...))
	for path, want := range map[string]string{
		"namespaces": "Foo", "namespaces/n": "Foo", "namespaces/n/status": "Foo", "namespaces/n/finalize": "403",
		"namespaces/x/namespaces": "Foo", "namespaces/x/namespaces/n": "Foo", "namespaces/x/namespaces/n/status": "Foo", "namespaces/x/bars": "403",
	} {
		assert.Equal(t, want, found(t, request.ByPath(c), "/apis/example.com/v1/"+path), path)
	}
}

// Paths that clients of an API server send pass, and below the subresource proxy nearly all paths
// do.
func TestPathsOfOthers(t *testing.T) {
	find := request.Paths{Catalog: catalog(t), Unknown: request.PassUnknownGroups}.Finder()
	for _, path := range []string{
		"/api/v1/namespaces/prod/pods/web-0/exec?command=sh&stdin=true", "/api/v1/namespaces/prod/pods/web-0/attach", "/api/v1/namespaces/prod/pods/web-0/portforward",
		"/api/v1/namespaces/prod/pods/web-0/eviction", "/api/v1/namespaces/prod/serviceaccounts/default/token", "/api/v1/namespaces/my.ns/configmaps/kube-root-ca.crt",
		"/api/v1/nodes/n1/proxy/logs/", "/api/v1/nodes/n1:10250/proxy/run/ns/pod/container?cmd=ls", "/api/v1/nodes/n1/proxy//a/./b",
		"/api/v1/namespaces/x/services/https:web:8443/proxy/api/queues/%2F/a%20b;c=d/%C3%A9t%C3%A9/100%25/a+b/日本/%F0%9F%98%80/...x/..a/a../[1]/{2}", "/api/v1/namespaces/x/pods/p/proxy/a\\b", "/api/v1/nodes/n/proxy",
		"/apis/apps/v1/namespaces/prod/deployments/web/scale", "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node", "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode",
		"/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/oidc:someone@example.com", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/foos.example.com", "/apis/cluster.other.io/v1/clusters/c/proxy/api/v1/a%20b", "/apis/subresources.kubevirt.io/v1/namespaces/x/virtualmachineinstances/y/portforward/22/tcp",
		"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1", "/apis/events.k8s.io/v1/namespaces/x/events/web.17d_8~a",
		"/apis/example.com/v1/namespaces/x/foos/n/scale", "/api", "/api/", "/apis", "/apis/", "/openapi/v3/apis/example.com/v1", "/version", "/healthz/", "/.well-known/openid-configuration",
		"/logs/a%20b", "/apis-docs", "/apiserver", "/v1/apis/example.com/v1/foos", "/\u0430pis/example.com/v1/foos", "/\u00fcber/apis", "/",
	} {
		assert.Equal(t, "", found(t, find, path), path)
	}
}

// TestPathsRefused has a path for each rule.
func TestPathsRefused(t *testing.T) {
	for _, find := range []request.Finder{byPath(t), request.Paths{Catalog: catalog(t), Unknown: request.PassUnknownGroups}.Finder()} {
		for _, path := range []string{
			"/APIS/example.com/v1/foos", "/Api/v1/pods", "/apis/Example.com/v1/foos", "/apis/example.com./v1/foos", "/apis/example.com:443/v1/foos", "/apis/example.com/V1/foos", "/apis/example.com/v1.json/foos",
			"/apis/example.com/v1/Foos", "/apis/example.com/v1/foos.json", "/apis/example.com/v1/foos:create", "/apis/example.com/v1/Namespaces/x/foos", "/apis/example.com/v1/foos/n/Status", "/apis/example.com/v1/foos/n/status.json",
			"/apis/example.com/v1/foos;x", "/apis;x/example.com/v1/foos", "/apis%20/example.com/v1/foos", "/%20apis/example.com/v1/foos", "/apis%5cexample.com/v1/foos", "/apis%2fexample.com/v1/foos", "/apis/example.com/v1%2ffoos", "/apis/example.com/v1/%2566oos",
			"/x/..;/apis/example.com/v1/foos", "/x/..%5capis/example.com/v1/foos", "/x/%252e%252e/apis/example.com/v1/foos", "/x/..", "/x/.../y", "/x/%00", "/x/%c0%ae%c0%ae/y", "/x/%ef%bc%8e%ef%bc%8e/y", "/x/%25u002e%25u002e/y",
			"/%EF%BD%81%EF%BD%90%EF%BD%89%EF%BD%93/example.com/v1/foos", "/api%C5%BF/example.com/v1/foos", "/ap%C4%B1s/x", "/%E2%93%90pi/x", "/apis:/example.com/v1/foos", "/apis@/example.com/v1/foos", "/apis~/example.com/v1/foos", "/apis.json/example.com/v1/foos", "/API.,/v1/pods", "//x/y", "/%5cx/y", "/apis//x", "/apis/other.com/v1/a%20b", "/apis/other.com/v1/x/n/log/a%20b",
			"/api/v1/nodes/n/proxy/../x", "/api/v1/nodes/n/proxy/a/..;x/b", "/api/v1/nodes/n;x/proxy/a", "/api/v1/namespaces/proxy/proxy/a%20b", "/api/v1/namespaces/a/b/proxy/a%20b",
		} {
			assert.Equal(t, "400", found(t, find, path), path)
		}
	}
}

// TestPathsUndeclared has the paths that are refused in groups of the catalog, and everywhere.
func TestPathsUndeclared(t *testing.T) {
	finder := func(unknown request.Unknown) request.Finder {
		return request.Paths{Catalog: catalog(t), Unknown: unknown}.Finder()
	}
	for path, want := range map[string][3]string{
		"/apis/example.com/v1/foos":                         {"Foo", "Foo", "Foo"},
		"/apis/example.com/v1/namespaces/x/foos/n/status":   {"Foo", "Foo", "Foo"},
		"/apis/example.com/v1/namespaces/x/foos/n/status/x": {"Foo", "Foo", "Foo"},
		"/apis/example.com/v1/foos/n/scale":                 {"", "", "403"},
		"/apis/example.com/v1/foos/n/scale/x":               {"", "", "403"},
		"/apis/example.com/v1/foos/n/exec":                  {"", "403", "403"},
		"/apis/example.com/v1/foos/n/proxy/a%20b":           {"", "403", "403"},
		"/apis/example.com/v1/bars":                         {"", "403", "403"},
		"/apis/example.com/v1/watch/foos":                   {"", "403", "403"},
		"/apis/example.com/v1/namespaces/a/b/c/foos":        {"", "403", "403"},
		"/apis/example.com/v1/namespaces/foos":              {"", "403", "403"},
		"/apis/example.com/v0/foos":                         {"", "403", "403"}, // it is not served
		"/apis/example.com/v2/foos":                         {"", "403", "403"},
		"/apis/example.com/v1":                              {"", "403", "403"},
		"/apis/example.com":                                 {"", "403", "403"},
		"/apis/other.com/v1/foos":                           {"", "", "403"},
		"/api/v1/namespaces/x/pods":                         {"", "", "403"},
		"/hook":                                             {"", "", "403"},
	} {
		for i, unknown := range []request.Unknown{request.PassUnknown, request.PassUnknownGroups, request.PassNothing} {
			assert.Equal(t, want[i], found(t, finder(unknown), path), "%s, %d", path, unknown)
		}
	}
	for path, message := range map[string]string{
		"/apis/example.com/v1/bars":       `there is no definition for resource "bars" in "example.com/v1" here, and what has none is not passed on`,
		"/apis/example.com/v1/foos/n/log": `there is no definition for resource "foos", subresource "log", in "example.com/v1" here, and what has none is not passed on`,
		"/hook":                           `there is no definition for this path here, and what has none is not passed on`,
	} {
		j := judge(t, finder(request.PassNothing), request.Options{}, post(t, path, "", foo("")))
		s := refused(t, j, 403)
		assert.Equal(t, message, s.Message)
		assert.Equal(t, "Forbidden", s.Reason)
	}
}

// The answers name the fault in a path.
func TestPathsAreExplained(t *testing.T) {
	for path, message := range map[string]string{
		"/apis//v1/foos":            "is not in its clean form",
		"/apis/example.com/v1/Foos": "differs in case or by a suffix from one that is known",
	} {
		j := judge(t, byPath(t), request.Options{}, post(t, path, "", foo("")))
		assert.Contains(t, refused(t, j, 400).Message, message)
	}
}

func parse(t *testing.T, crd string) []*schema.CRD {
	crds, err := schema.ParseCRD([]byte(crd))
	require.NoError(t, err)
	return crds
}

// TestByPathIsLive: definitions that are added to the catalog are found from then on, and older
// ones stay as they are.
func TestByPathIsLive(t *testing.T) {
	c := schema.NewCatalog()
	find, strict := request.ByPath(c), request.Paths{Catalog: c, Unknown: request.PassUnknownGroups}.Finder()
	assert.Equal(t, "", found(t, find, foosPath))
	require.NoError(t, c.Add(parse(t, fooCRD)...))
	assert.Equal(t, "Foo", found(t, find, foosPath))
	assert.Equal(t, "400", found(t, find, strings.ToUpper(foosPath)))
	r := post(t, foosPath, "", "")
	before, err := find(&r, nil)
	require.NoError(t, err)

	bars := strings.ReplaceAll(foosPath, "foos", "bars")
	assert.Equal(t, "403", found(t, strict, bars))
	require.NoError(t, c.Add(parse(t, strings.NewReplacer("foos", "bars", "Foo", "Bar").Replace(fooCRD))...))
	assert.Equal(t, "Bar", found(t, strict, bars))
	assert.Equal(t, "Bar", found(t, find, bars))
	after, err := find(&r, nil)
	require.NoError(t, err)
	assert.Same(t, before, after, "its decoders are in use")

	byKind := request.ByKind(c)
	bazs := strings.NewReplacer("foos", "bazs", "Foo", "Baz").Replace(fooCRD)
	body := strings.Replace(foo(`,"spec":{"x":1}`), "Foo", "Baz", 1)
	j := judge(t, byKind, request.Options{}, post(t, "/", "", body))
	refused(t, j, 400)
	require.NoError(t, c.Add(parse(t, bazs)...))
	j = judge(t, byKind, request.Options{}, post(t, "/", "", body))
	require.Nil(t, j.refused)
}

// Definitions may be added to a catalog while requests look into it.
func TestByPathConcurrently(t *testing.T) {
	c := schema.NewCatalog()
	find := request.ByPath(c)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 10 {
				plural := fmt.Sprintf("f%dx%ds", g, i)
				crds := parse(t, strings.NewReplacer("foos", plural, "kind: Foo", "kind: "+strings.ToUpper(plural)).Replace(fooCRD))
				assert.NoError(t, c.Add(crds...))
				assert.Equal(t, strings.ToUpper(plural), found(t, find, strings.ReplaceAll(foosPath, "foos", plural)))
			}
		})
	}
	wg.Wait()
}

// TestReplaceUnderLoad: definitions that are replaced while requests arrive change all at once.
// Every request is decided by the old or the new ones, and none passes as if there were no
// definition.
func TestReplaceUnderLoad(t *testing.T) {
	catalogs := make([]*schema.Catalog, 2)
	for i := range catalogs {
		catalogs[i] = schema.NewCatalog()
		require.NoError(t, catalogs[i].Add(parse(t, strings.Replace(fooCRD, "kind: Foo", "kind: "+[]string{"Foo", "Fee"}[i], 1))...))
	}
	c := schema.NewCatalog()
	c.ReplaceAll(catalogs[0])
	find := request.Paths{Catalog: c, Unknown: request.PassUnknownGroups}.Finder()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 500 {
				if v := found(t, find, foosPath); v != "Foo" && v != "Fee" {
					t.Errorf("decided as %q", v)
				}
			}
		})
	}
	for i := range 200 {
		c.ReplaceAll(catalogs[i%2])
	}
	wg.Wait()
	assert.Equal(t, "Fee", found(t, find, foosPath))
	require.True(t, c.Remove("example.com", "Fee"))
	assert.Equal(t, "", found(t, find, foosPath), "of a group that is not known any more")
}

// Kinds of OpenAPI documents have no plural, and so they have no paths.
func TestByPathWithoutPlural(t *testing.T) {
	c := catalog(t)
	kinds, err := schema.ParseOpenAPI([]byte(`{"components": {"schemas": {"k": {"type": "object",
		"x-kubernetes-group-version-kind": [{"group": "apps", "version": "v1", "kind": "Deployment"}], "properties": {"metadata": {"type": "object"}}}}}}`))
	require.NoError(t, err)
	require.NoError(t, c.Add(kinds...))
	find := request.Paths{Catalog: c, Unknown: request.PassUnknownGroups}.Finder()
	for _, path := range []string{"/apis/apps/v1", "/apis/apps/v1/deployments"} {
		assert.Equal(t, "", found(t, find, path), path)
	}
}

// A schema that does not compile is an error for each request.
func TestByPathDoesNotCompile(t *testing.T) {
	deep := "{type: object}"
	for range 7 {
		deep = "{type: object, properties: {a: {type: array, default: [" + strings.Repeat("{}, ", 20) + "], items: " + deep + "}}}"
	}
	c := schema.NewCatalog()
	require.NoError(t, c.Add(parse(t, strings.Replace(fooCRD, "served: false\n    storage: false\n    schema: {openAPIV3Schema: {type: object}}", "served: true\n    storage: false\n    schema: {openAPIV3Schema: "+deep+"}", 1))...))
	find := request.ByPath(c)
	for range 2 {
		j := judge(t, find, request.Options{}, post(t, strings.Replace(foosPath, "v1", "v0", 1), "", foo("")))
		refused(t, j, 500)
	}
}

// Reading a path takes time in proportion to its length: otherwise this would take hours.
func TestLongPaths(t *testing.T) {
	find := byPath(t)
	for path, want := range map[string][2]string{
		"%" + strings.Repeat("25", 2_000_000): {"", "400"},
		strings.Repeat("a//", 1_000_000):      {"", "400"},
		strings.Repeat("a/", 1_000_000):       {"", ""},
		strings.Repeat("%2e/", 500_000):       {"", "400"},
		strings.Repeat(";", 2_000_000):        {"", "400"},
	} {
		r := post(t, "/", "", "")
		for i, prefix := range []string{"/", "/apis/"} {
			u, err := url.Parse(prefix + path)
			require.NoError(t, err)
			r.URL = u
			_, err = find(&r, nil)
			assert.Equal(t, want[i] == "400", err != nil, "%s%.20s", prefix, path)
		}
	}
}

// TestTwoKindsOfOnePath: of two kinds with one plural neither is chosen, until one of them is gone.
func TestTwoKindsOfOnePath(t *testing.T) {
	c := catalog(t)
	find := request.ByPath(c)
	other := parse(t, strings.Replace(fooCRD, "kind: Foo", "kind: Aoo", 1))
	require.NoError(t, c.Add(other...))
	for range 2 {
		_, err := find(&request.Request{Method: "POST", URL: &url.URL{Path: foosPath}}, nil)
		require.ErrorContains(t, err, "two kinds")
		refused(t, judge(t, find, request.Options{}, post(t, foosPath, "", foo(""))), 500)
		require.NoError(t, c.Add(other...)) // a new generation
	}
	require.True(t, c.Remove("example.com", "Foo"))
	assert.Equal(t, "Aoo", found(t, find, foosPath))
	require.NoError(t, c.Replace(parse(t, fooCRD)...))
	assert.Equal(t, "Foo", found(t, find, foosPath))
}
