// Package fakes makes fake clients of controller-runtime that treat custom
// resources as the API server does, so that tests of controllers see what a
// cluster would do.
//
// The fake client of controller-runtime stores what it is given. These prune
// unknown fields, insert defaults, and refuse invalid values, by schemas and by
// rules in CEL (x-kubernetes-validations), on creation, on updates, patches and
// server-side apply, and on writes of the status. What was invalid before and
// has not changed may stay. The status is written by itself where the
// definition has the subresource, the generation counts changes, strategic merge
// patches are refused, and server-side apply knows the lists that are maps or
// sets. Errors are those of the server, texts included.
//
//	builder, err := fakes.NewClientBuilder(fakes.Options{Scheme: scheme}, crd)
//	c := builder.WithObjects(stored...).Build()
//
// What they do not do: they convert no object from one version to another, so
// that each version has objects of its own; they set neither metadata.uid nor
// creationTimestamp; and a dry run does nothing at all, as in controller-runtime.
package fakes

import (
	"errors"
	"fmt"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/managedfields"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/testing"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/espalier-dev/espalier/cel"
	"github.com/espalier-dev/espalier/kube"
)

// Options are the options of [NewClientBuilder].
type Options struct {
	// Scheme has the Go types of objects. A kind without one is stored as
	// unstructured objects, and is added to the scheme by the fake client. By
	// default it is that of client-go.
	Scheme *runtime.Scheme
	// Warnings is given the warnings that the server would send: about unknown
	// fields, unless a request asks for another field validation, and about
	// finalizers. By default nobody is. Writes call it one after another if
	// they are made so.
	Warnings rest.WarningHandler
}

// NewClientBuilder returns a builder of fake clients that treat the kinds of the
// definitions as the API server does, and others as controller-runtime's fake
// clients do. Objects that it is given (WithObjects) are stored ones: they are
// pruned and defaulted, but may be invalid.
//
// The builder has its scheme, an object tracker, the kinds that have a status
// subresource, and interceptor functions; setting these again takes the server's
// behaviour away. Functions of a test can be put in front of the client with
// interceptor.NewClient.
//
// A definition is an error if a server cannot serve it. NewClientBuilder changes
// no definition, and keeps no reference to one.
func NewClientBuilder(
	o Options, definitions ...*apiextensionsv1.CustomResourceDefinition,
) (*fake.ClientBuilder, error) {
	if o.Scheme == nil {
		o.Scheme = clientgoscheme.Scheme
	}
	if o.Warnings == nil {
		o.Warnings = rest.NoWarnings{}
	}
	server := &server{warnings: o.Warnings, kinds: make(map[schema.GroupVersionKind]*kind)}
	for _, crd := range definitions {
		if err := server.add(crd); err != nil {
			return nil, err
		}
	}
	b := fake.NewClientBuilder().WithScheme(o.Scheme).WithInterceptorFuncs(server.funcs())
	for gvk, k := range server.kinds {
		if k.hasStatus {
			u := new(unstructured.Unstructured)
			u.SetGroupVersionKind(gvk)
			b.WithStatusSubresource(u)
		}
	}
	decoder := serializer.NewCodecFactory(o.Scheme).UniversalDecoder()
	return b.WithObjectTracker(&tracker{
		ObjectTracker: testing.NewObjectTracker(o.Scheme, decoder),
		server:        server, scheme: o.Scheme, decoder: decoder,
		converter: newConverter(server.kinds),
	}), nil
}

// A server knows the kinds of the definitions, by the types of their objects.
type server struct {
	warnings rest.WarningHandler
	kinds    map[schema.GroupVersionKind]*kind

	apply    sync.Mutex
	applying *unstructured.Unstructured // what is applied by whoever holds the mutex
}

// A kind is a version of a definition.
type kind struct {
	gvk schema.GroupVersionKind
	// resourceName is the plural, as in the paths of requests.
	resourceName string
	resource     *kube.Resource
	validator    *kube.Validator
	hasStatus    bool
	converter    managedfields.TypeConverter
}

// add adds the served versions of a definition.
func (s *server) add(crd *apiextensionsv1.CustomResourceDefinition) error {
	if crd == nil {
		return errors.New("fakes: a definition is nil")
	}
	failed := func(err error) error { return fmt.Errorf("fakes: definition %q: %w", crd.Name, err) }
	resource, err := kube.ForCRD(crd)
	if err != nil {
		return failed(err)
	}
	for _, v := range crd.Spec.Versions {
		if !v.Served {
			continue
		}
		k := &kind{gvk: resource.GroupKind().WithVersion(v.Name), resource: resource, resourceName: crd.Spec.Names.Plural}
		if s.kinds[k.gvk] != nil {
			return failed(fmt.Errorf("another one defines %v, too", k.gvk))
		}
		if k.validator, err = kube.NewValidator(crd, v.Name, kube.Rules(rules)); err != nil {
			return failed(err)
		}
		if k.converter, err = converterOf(crd, v.Name); err != nil {
			return failed(err)
		}
		k.hasStatus = v.Subresources != nil && v.Subresources.Status != nil
		s.kinds[k.gvk] = k
	}
	return nil
}

// rules compiles a rule once for all builders.
var rules = cel.Rules()

// converterOf returns what server-side apply knows of the fields of a version.
func converterOf(
	crd *apiextensionsv1.CustomResourceDefinition, version string,
) (managedfields.TypeConverter, error) {
	if kind := crd.Spec.Names.Kind; crd.Spec.Names.ListKind == "" {
		crd = crd.DeepCopy()
		crd.Spec.Names.ListKind = kind + "List"
	}
	spec, err := builder.BuildOpenAPIV3(crd, version, builder.Options{})
	if err != nil {
		return nil, err
	}
	return managedfields.NewTypeConverter(spec.Components.Schemas, crd.Spec.PreserveUnknownFields)
}

// kindOf returns the kind of an object, which is nil if no definition has it.
func (s *server) kindOf(obj runtime.Object, typer runtime.ObjectTyper) *kind {
	gvk := obj.GetObjectKind().GroupVersionKind()
	if gvk.Empty() {
		if known, _, err := typer.ObjectKinds(obj); err == nil {
			gvk = known[0]
		}
	}
	return s.kinds[gvk]
}
