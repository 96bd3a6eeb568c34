// Command manager is a controller-runtime manager whose cache has all releases, for TestManager of
// package e2e, which measures it. It reads an order on standard input, ends when that is closed, and
// writes what was measured to standard output.
package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	crlog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/espalier-dev/espalier/projection"
)

// An Order says what to do.
type Order struct {
	Host  string
	Token string
	TLS   rest.TLSClientConfig
	// Objects are what the cache has: maps, whole (Go values with all fields) or small (with some).
	Objects string
	// Keep are the paths of a projection. Without any there is none.
	Keep []string
	// Group, Version, Resource and Kind are those of releases.
	Group, Version, Resource, Kind string
}

// A Report is what was measured until the cache had synchronized.
type Report struct {
	PeakBytes int64
	CPU, Sync time.Duration
	Objects   int
	// Digest is a hash of what is to be the same with and without a projection.
	Digest string
	Counts projection.Counts
}

func main() {
	log.SetFlags(0)
	crlog.SetLogger(logr.Discard())
	klog.SetOutput(io.Discard)
	in := bufio.NewReader(os.Stdin)
	line, err := in.ReadBytes('\n')
	if err != nil {
		log.Fatal(err)
	}
	var order Order
	if err := json.Unmarshal(line, &order); err != nil {
		log.Fatal(err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, in)
		os.Exit(1) // whoever has ordered is gone
	}()
	report, err := run(order)
	if err != nil {
		log.Fatal(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(report); err != nil {
		log.Fatal(err)
	}
}

func run(o Order) (report Report, err error) {
	config := &rest.Config{Host: o.Host, BearerToken: o.Token, TLSClientConfig: o.TLS}
	var p *projection.Projection
	if len(o.Keep) > 0 {
		if p, err = projection.New(projection.Options{}, projection.Rule{Group: o.Group, Resource: o.Resource, Keep: o.Keep}); err != nil {
			return report, err
		}
		config.Wrap(p.Transport)
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	gv := schema.GroupVersion{Group: o.Group, Version: o.Version}
	obj, list, err := o.types(gv)
	if err != nil {
		return report, err
	}
	mgr, err := manager.New(config, o.options(gv, obj, list))
	if err != nil {
		return report, err
	}
	began := time.Now()
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	if _, err := mgr.GetCache().GetInformer(ctx, obj); err != nil {
		return report, err
	}
	if !mgr.GetCache().WaitForCacheSync(ctx) {
		return report, fmt.Errorf("the cache has not synchronized")
	}
	report.Sync = time.Since(began)
	if report.CPU, report.PeakBytes, err = used(); err != nil {
		return report, err
	}
	if report.Objects, report.Digest, err = digest(ctx, mgr.GetCache(), list); err != nil {
		return report, err
	}
	if p != nil {
		report.Counts = p.Counts()
	}
	cancel()
	return report, <-ended
}

// types returns an object and a list of the kind that the order asks for.
func (o Order) types(gv schema.GroupVersion) (obj client.Object, list client.ObjectList, err error) {
	switch o.Objects {
	case "maps":
		u, l := new(unstructured.Unstructured), new(unstructured.UnstructuredList)
		u.SetGroupVersionKind(gv.WithKind(o.Kind))
		l.SetGroupVersionKind(gv.WithKind(o.Kind + "List"))
		return u, l, nil
	case "whole":
		return new(Whole), new(WholeList), nil
	case "small":
		return new(Small), new(SmallList), nil
	}
	return nil, nil, fmt.Errorf("there are no objects %q", o.Objects)
}

// options are those of the manager. The server has no discovery, and metrics would take a port.
func (o Order) options(gv schema.GroupVersion, obj client.Object, list client.ObjectList) manager.Options {
	scheme := runtime.NewScheme()
	if o.Objects != "maps" {
		scheme.AddKnownTypeWithName(gv.WithKind(o.Kind), obj)
		scheme.AddKnownTypeWithName(gv.WithKind(o.Kind+"List"), list)
		metav1.AddToGroupVersion(scheme, gv)
	}
	return manager.Options{
		Scheme: scheme, Metrics: server.Options{BindAddress: "0"},
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) {
			m := meta.NewDefaultRESTMapper(nil)
			m.AddSpecific(gv.WithKind(o.Kind), gv.WithResource(o.Resource), gv.WithResource(o.Kind), meta.RESTScopeNamespace)
			return m, nil
		},
	}
}

// digest counts the objects of a cache, and hashes what a small object has of each.
func digest(ctx context.Context, from client.Reader, list client.ObjectList) (n int, hash string, err error) {
	if err := from.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return 0, "", err
	}
	var lines []string
	err = meta.EachListItem(list, func(obj runtime.Object) error {
		whole, err := json.Marshal(obj)
		if err != nil {
			return err
		}
		small := new(Small)
		if err := json.Unmarshal(whole, small); err != nil {
			return err
		}
		small.TypeMeta, small.ManagedFields = metav1.TypeMeta{}, nil
		line, err := json.Marshal(small)
		lines = append(lines, string(line))
		return err
	})
	slices.Sort(lines)
	sum := sha256.New()
	for _, line := range lines {
		_, _ = io.WriteString(sum, line)
	}
	return len(lines), fmt.Sprintf("%x", sum.Sum(nil)), err
}
