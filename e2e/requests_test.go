package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
)

var codecs = serializer.NewCodecFactory(runtime.NewScheme()).WithoutConversion()

// A request is part of a scenario. Scenarios run in namespaces of their own.
type request struct {
	method, contentType string
	name                string // of the object, after the path of the resource
	query               string
	body                string
}

// An answer is what a client gets for a request, and the object that is stored after it.
type answer struct {
	Code     int
	Status   *metav1.Status // if the answer is one
	Warnings []string
	Object   map[string]any
}

// An endpoint is an address at which the server is reached: directly, through the proxy, or through
// our handler.
type endpoint struct {
	name      string
	client    *rest.RESTClient
	namespace string
}

func newEndpoint(t *testing.T, name string, config *rest.Config) *endpoint {
	config = rest.CopyConfig(config)
	config.ContentType = "application/json"
	config.NegotiatedSerializer = codecs
	client, err := rest.UnversionedRESTClientFor(config)
	require.NoError(t, err)
	return &endpoint{name: name, client: client, namespace: name}
}

func (f *endpoint) path(version, name string) string {
	path := fmt.Sprintf("/apis/garden.example.com/%s/namespaces/%s/trellises", version, f.namespace)
	if name != "" {
		path += "/" + name
	}
	return path
}

// send sends a request and returns the answer, without the members that differ from object to
// object.
func (f *endpoint) send(t *testing.T, r request) answer {
	call := f.client.Verb(r.method).AbsPath(f.path("v1", r.name)).
		SetHeader("Content-Type", r.contentType).SetHeader("User-Agent", "e2e").
		Body([]byte(r.body))
	for _, pair := range strings.Split(r.query, "&") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			call = call.Param(name, value)
		}
	}
	result := call.Do(context.Background())
	var a answer
	result.StatusCode(&a.Code)
	for _, w := range result.Warnings() {
		a.Warnings = append(a.Warnings, w.Text)
	}
	raw, _ := result.Raw() // the error is the code
	var meta metav1.TypeMeta
	require.NoError(t, json.Unmarshal(raw, &meta), "%s", raw)
	if meta.Kind == "Status" {
		a.Status = new(metav1.Status)
		require.NoError(t, json.Unmarshal(raw, a.Status))
		normaliseStatus(a.Status, f.namespace)
	}
	name := r.name
	if name == "" {
		var object struct{ Metadata struct{ Name string } }
		if json.Unmarshal(raw, &object) == nil {
			name = object.Metadata.Name
		}
	}
	if name != "" {
		a.Object = f.stored(t, name)
	}
	return a
}

// stored returns an object, or nil if there is none.
func (f *endpoint) stored(t *testing.T, name string) map[string]any {
	raw, err := f.client.Get().AbsPath(f.path("v1", name)).Do(context.Background()).Raw()
	if err != nil {
		return nil
	}
	var object map[string]any
	require.NoError(t, json.Unmarshal(raw, &object))
	normalise(object)
	return object
}

// normalise removes the members that the server sets anew for each object.
func normalise(object map[string]any) {
	meta, ok := object["metadata"].(map[string]any)
	if !ok {
		return
	}
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "namespace"} {
		delete(meta, field)
	}
	entries, _ := meta["managedFields"].([]any)
	for _, entry := range entries {
		delete(entry.(map[string]any), "time")
	}
}

// volatile matches members that differ from object to object, in a text that quotes JSON.
var volatile = regexp.MustCompile(`\\"(uid|resourceVersion|creationTimestamp|time)\\":\\"[^"\\]*\\"`)

func normaliseStatus(s *metav1.Status, namespace string) {
	mask := func(text string) string {
		return volatile.ReplaceAllString(strings.ReplaceAll(text, namespace, "NAMESPACE"), `\"$1\":\"*\"`)
	}
	s.Message = mask(s.Message)
	if s.Details != nil {
		s.Details.UID = ""
		for i := range s.Details.Causes {
			s.Details.Causes[i].Message = mask(s.Details.Causes[i].Message)
		}
	}
}
