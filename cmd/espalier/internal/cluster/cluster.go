// Package cluster reads definitions and objects of a running cluster, which a
// context of a kubeconfig names. Its requests are GET and nothing else. Objects
// come page by page, and as bytes: memory holds a page of each list.
//
// A kubeconfig names programs that client-go runs for credentials. So who writes
// it runs code, and its name comes from the user alone, never from a repository.
package cluster

import (
	"context"
	stderrors "errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/espalier-dev/espalier/schema"
)

// Current stands for the current context of the kubeconfig.
const Current = "."

// A Cluster is what a context leads to. It serves any number of goroutines.
type Cluster struct {
	Context string // its name in the kubeconfig
	client  *rest.RESTClient
}

// rulesOf says where a kubeconfig is. An empty name stands for the files that KUBECONFIG names, or the
// one in the home folder.
func rulesOf(kubeconfig string) *clientcmd.ClientConfigLoadingRules {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	rules.MigrationRules = nil // they copy a file of an old name
	rules.WarnIfAllMissing = false
	return rules
}

// Contexts returns the names of the contexts in a kubeconfig, or none if it cannot be read.
func Contexts(kubeconfig string) []string {
	all, err := rulesOf(kubeconfig).Load()
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(all.Contexts))
}

// Open returns the cluster of a context, and sends nothing yet. Of an empty kubeconfig, see rulesOf.
func Open(kubeconfig, name string) (*Cluster, error) {
	rules := rulesOf(kubeconfig)
	all, err := rules.Load()
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	if name == Current {
		if name = all.CurrentContext; name == "" {
			return nil, stderrors.New("the kubeconfig has no current context: " + contextsText(all))
		}
	}
	switch c := all.Contexts[name]; {
	case c == nil:
		return nil, fmt.Errorf("the kubeconfig has no context %q: %s", name, contextsText(all))
	case all.Clusters[c.Cluster] == nil:
		return nil, fmt.Errorf("the kubeconfig has no cluster %q, which its context %q names", c.Cluster, name)
	}
	config, err := clientcmd.NewNonInteractiveClientConfig(*all, name, &clientcmd.ConfigOverrides{}, rules).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	client, err := newClient(config)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	return &Cluster{Context: name, client: client}, nil
}

// contextsText says which contexts there are.
func contextsText(all *api.Config) string {
	names := slices.Sorted(maps.Keys(all.Contexts))
	if len(names) == 0 {
		return "it has none, or there is no such file"
	}
	return "name one of " + strings.Join(names, ", ")
}

// newClient returns a client that only reads.
func newClient(config *rest.Config) (*rest.RESTClient, error) {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, runtimeschema.GroupVersion{Version: "v1"}) // which has Status
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	config.UserAgent = "espalier"
	config.QPS, config.Burst = 50, 300 // as kubectl
	config.WarningHandler = rest.NoWarnings{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return readOnly{next} })
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	// Credentials are sent with each request, and would go to wherever an answer leads.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return rest.UnversionedRESTClientForConfigAndClient(config, client)
}

// maxStatusBytes is how much is read of an answer that is an error.
const maxStatusBytes = 64 << 10

// A readOnly transport lets no other request through than GET. It bounds the answers that client-go
// reads to their ends.
type readOnly struct{ next http.RoundTripper }

// RoundTrip sends a request.
func (t readOnly) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet {
		return nil, fmt.Errorf("a request %s was not sent, as a cluster is only read", r.Method)
	}
	resp, err := t.next.RoundTrip(r)
	if err == nil && resp.StatusCode != http.StatusOK {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, maxStatusBytes), resp.Body}
	}
	return resp, err
}

// maxDefinitionBytes is how much is read of the definitions of a cluster. They are all in memory.
var maxDefinitionBytes = 512 << 20

// Definitions returns the definitions of custom resources. progress is called with their number after
// each page.
func (c *Cluster) Definitions(ctx context.Context, progress func(n int)) (all []*schema.CRD, err error) {
	l := &List{ctx: ctx, cluster: c, path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", limit: pageObjects}
	for total := 0; ; {
		page, err := l.page()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		if total += len(page); total > maxDefinitionBytes {
			return nil, fmt.Errorf("there are too many: they have more than %d MiB; name files of those that are needed with --crd", maxDefinitionBytes>>20)
		}
		some, err := schema.ParseCRD(page)
		if err != nil {
			return nil, err
		}
		for _, crd := range some {
			crd.File = c.String()
		}
		all = append(all, some...)
		progress(len(all))
	}
}

// String names the cluster in messages.
func (c *Cluster) String() string { return "cluster " + c.Context }

// IsForbidden reports whether the user of the kubeconfig may not read something.
func IsForbidden(err error) bool { return apierrors.IsForbidden(err) }
