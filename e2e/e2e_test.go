package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

const crdFile = "testdata/crd.yaml"

func TestServer(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	command := buildCommand(t)
	config, ca, storage := startServer(t)
	crd := createCRD(t, config)
	direct := newEndpoint(t, "direct", config)

	exact := rest.AnonymousClientConfig(config)
	exact.TLSClientConfig = rest.TLSClientConfig{}
	exact.BearerToken = config.BearerToken
	exact.Host = startProxy(t, command, config, ca, crdFile, "--kubernetes", "--patches", "pass")

	t.Run("proxy", func(t *testing.T) { compareEndpoints(t, direct, newEndpoint(t, "proxied", exact), differences) })
	t.Run("handler", func(t *testing.T) {
		ours := newEndpoint(t, "our-handler", startHandler(t, crd, storage))
		compareEndpoints(t, newEndpoint(t, "direct-again", config), ours, nil)
		compareLists(t, ours, newEndpoint(t, "our-handler", config))
	})
	hardened := rest.CopyConfig(exact)
	hardened.Host = startProxy(t, command, config, ca, crdFile)
	t.Run("hardened proxy", func(t *testing.T) {
		compareHardened(t, newEndpoint(t, "direct-too", config), newEndpoint(t, "hardened", hardened))
	})
	watched, seen := startWatching(t, config)
	validating := rest.CopyConfig(exact)
	validating.Host = startProxy(t, command, watched, ca, crdFile, "--kubernetes", "--patches", "pass", "--values")
	t.Run("validating proxy", func(t *testing.T) {
		compareEndpoints(t, newEndpoint(t, "direct-once-more", config), newEndpoint(t, "validated", validating), differences)
	})
	t.Run("versions", func(t *testing.T) { compareVersions(t, direct, crd) })
	t.Run("patches", func(t *testing.T) { comparePatches(t, newEndpoint(t, "patching", config), crd) })
	t.Run("kubectl", func(t *testing.T) { compareKubectl(t, config, exact) })
	t.Run("kubectl, validated", func(t *testing.T) { compareKubectl(t, config, validating) })
	codes := seen()
	assert.Zero(t, codes[http.StatusUnprocessableEntity], "the server refused what the proxy should have refused")
	assert.Greater(t, codes[http.StatusCreated], 30)
}

// createCRD creates the definition and waits until it is served.
func createCRD(t *testing.T, config *rest.Config) *apiextensionsv1.CustomResourceDefinition {
	manifest, err := os.ReadFile(crdFile)
	require.NoError(t, err)
	crd := new(apiextensionsv1.CustomResourceDefinition)
	require.NoError(t, yaml.UnmarshalStrict(manifest, crd))
	client, err := clientset.NewForConfig(config)
	require.NoError(t, err)
	_, err = client.ApiextensionsV1().CustomResourceDefinitions().Create(context.Background(), crd, metav1.CreateOptions{})
	require.NoError(t, err)
	f := newEndpoint(t, "waiting", config)
	require.Eventually(t, func() bool {
		_, err := f.client.Get().AbsPath(f.path("v1", "")).Do(context.Background()).Raw()
		return err == nil
	}, time.Minute, 20*time.Millisecond)
	return crd
}

// A difference is intended: it has a reason, and a function that removes it from an answer.
type difference struct {
	reason string
	mask   func(*answer)
}

// differences are those between the server and the proxy in front of it, by the name of the body.
// Codes and stored objects are always the same.
var differences = map[string]difference{
	"embedded metadata":  {"the proxy has its own words for metadata in embedded resources, with the place", maskMessage},
	"malformed YAML":     {"the proxy has its own words, with the place", maskMessage},
	"another media type": {"the server takes Protobuf besides", maskMessage},
	"another kind":       {"refused before anything else is validated", maskStatus},
	"another version":    {"refused before the object is decoded by that version's schema", func(a *answer) { maskMessage(a); a.Warnings = nil }},
}

func maskMessage(a *answer) {
	if a.Status != nil {
		a.Status.Message = ""
	}
}

func maskStatus(a *answer) {
	if a.Status != nil {
		a.Status.Message, a.Status.Details = "", nil
	}
}

// compareEndpoints sends all requests to both endpoints and compares the answers.
func compareEndpoints(t *testing.T, a, b *endpoint, differences map[string]difference) {
	codes := map[int]int{}
	warnings, differ := 0, 0
	for _, s := range scenarios() {
		want, got := a.play(t, s), b.play(t, s)
		codes[want.Code]++
		warnings += len(want.Warnings)
		if d, ok := differences[s.of]; ok && show(want) != show(got) {
			differ++
			d.mask(&want)
			d.mask(&got)
		}
		assert.Equal(t, show(want), show(got), s.name)
	}
	t.Logf("codes: %v; %d warnings; %d answers that are meant to differ", codes, warnings, differ)
	require.Greater(t, codes[http.StatusCreated], 30)
	require.Greater(t, codes[http.StatusOK], 30)
	require.Greater(t, codes[http.StatusBadRequest], 100)
	require.Greater(t, codes[http.StatusUnprocessableEntity], 20)
	require.Greater(t, warnings, 200)
}

// compareLists asserts that both endpoints list the same objects.
func compareLists(t *testing.T, a, b *endpoint) {
	list := a.list(t, "v1")
	require.Greater(t, len(list), 50)
	assert.Equal(t, list, b.list(t, "v1"))
}

// refusals are the bodies that a proxy without flags refuses, with the codes of its answers.
var refusals = map[string]int{
	"text":                        http.StatusBadRequest, // half of a surrogate pair
	"invalid UTF-8":               http.StatusBadRequest, // the server replaces both
	"two YAML documents":          http.StatusBadRequest, // the server ignores the second
	"apply with an unknown field": http.StatusBadRequest, // the server answers 500
	"JSON patch":                  http.StatusUnsupportedMediaType,
	"JSON patch with findings":    http.StatusUnsupportedMediaType,
	"JSON patch that fails":       http.StatusUnsupportedMediaType,
	"JSON patch of a wrong type":  http.StatusUnsupportedMediaType,
	"JSON patch malformed":        http.StatusUnsupportedMediaType,
}

// compareHardened compares stored objects, codes and warnings for a proxy without the flags that
// make it decide as the server.
func compareHardened(t *testing.T, direct, proxied *endpoint) {
	for _, s := range scenarios() {
		want, got := direct.play(t, s), proxied.play(t, s)
		if code, ok := refusals[s.of]; ok {
			assert.Equal(t, code, got.Code, s.name)
			continue
		}
		switch s.of {
		case "YAML with anchors": // overriding a merged value is not a duplicate
			assert.Less(t, got.Code, 300, s.name)
			assert.Empty(t, got.Warnings, s.name)
			continue
		case "YAML with findings", "apply with a duplicate": // duplicates have paths
			assert.Len(t, got.Warnings, len(want.Warnings), s.name)
			want.Warnings, got.Warnings = nil, nil
		}
		if d, ok := differences[s.of]; ok {
			d.mask(&want)
			d.mask(&got)
		}
		assert.Equal(t, want.Code, got.Code, s.name)
		assert.Equal(t, want.Object, got.Object, s.name)
		assert.Equal(t, want.Warnings, got.Warnings, s.name)
	}
}

// play sends the requests that a scenario needs first, and then its own.
func (f *endpoint) play(t *testing.T, s scenario) answer { return f.playing(t, s, func(request) {}) }

func (f *endpoint) playing(t *testing.T, s scenario, before func(request)) answer {
	r := s.request
	version := ""
	if s.clean {
		created := f.client.Post().AbsPath(f.path("v1", "")).SetHeader("User-Agent", "e2e").
			Body([]byte(strings.ReplaceAll(strings.ReplaceAll(clean, "NAME", r.name), "VERSION", ""))).Do(context.Background())
		raw, err := created.Raw()
		require.NoError(t, err, "%s: %s", s.name, raw)
		var object struct{ Metadata metav1.ObjectMeta }
		require.NoError(t, json.Unmarshal(raw, &object))
		version = object.Metadata.ResourceVersion
	}
	r.body = strings.ReplaceAll(r.body, "VERSION", version)
	before(r)
	return f.send(t, r)
}

func show(a answer) string {
	js, err := json.MarshalIndent(a, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(js)
}
