package kube

import (
	"cmp"
	"errors"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/schema"
)

// A Resource is a kind of custom resource with a schema for each of its versions: what
// decodes its objects. It is immutable and for any number of goroutines. It is made by [NewResource]
// or [ForCRD]: a zero Resource is refused by all that takes one, and decodes nothing.
type Resource struct {
	options
	groupKind runtimeschema.GroupKind
	// embeddedRoot says that the schema of a version has an embedded resource for its root.
	embeddedRoot bool
	versions     map[string]*version
	// first is the version that is tried first where nothing says which it is.
	first *version
	// unversioned decodes objects of versions that there are none of, and foreign
	// those of other kinds.
	unversioned, foreign *version
}

// An Option changes how a [Resource] decodes. Options are for what makes resources: they have no effect on one that
// is there. In which order they are given does not matter, but where two of them say the same thing: then the last
// one holds.
type Option interface{ apply(*options) }

// options are what all options together say.
type options struct {
	preserve    bool
	serverTexts bool // strict errors have the server's texts
	limits      decoder.Limits
}

// An optionFunc is an option that is made by a function.
type optionFunc func(*options)

func (f optionFunc) apply(o *options) { f(o) }

// Limits bounds what an object may cost; fields that are zero keep their defaults.
// NumberBytes and NameBytes have no effect: the API server has no such limits. Those that are less than 0 are refused
// with a panic by what they are given to.
func Limits(l decoder.Limits) Option {
	return optionFunc(func(o *options) { o.limits = o.limits.With(l) })
}

// PreserveUnknownFields is for definitions with spec.preserveUnknownFields set, as those made
// in v1beta1 can still have it: nothing is pruned and no null dropped, but for metadata.
func PreserveUnknownFields(does bool) Option {
	return optionFunc(func(o *options) { o.preserve = does })
}

// NewResource returns the resource of a group and kind with the schemas of its versions. A
// version whose schema is nil has all fields but apiVersion, kind and metadata pruned, as
// in the API server, and so has one that is missing in versions. Defaults are pruned by their
// schemas, but for definitions that preserve unknown fields; nothing is validated. The map and the schemas
// are not changed, and nothing of them is kept.
func NewResource(groupKind runtimeschema.GroupKind, versions map[string]*structuralschema.Structural, opts ...Option) (*Resource, error) {
	if groupKind.Kind == "" {
		return nil, errors.New("kube: a resource needs a kind")
	}
	r := &Resource{groupKind: groupKind, versions: make(map[string]*version, len(versions))}
	for i, opt := range opts {
		if opt == nil {
			return nil, fmt.Errorf("kube: option %d of %d is nil", i+1, len(opts))
		}
		opt.apply(&r.options)
	}
	for name, s := range versions {
		s, err := r.ownSchema(s)
		if err != nil {
			return nil, fmt.Errorf("version %s: %w", name, err)
		}
		converted, err := FromStructural(s)
		if err != nil {
			return nil, fmt.Errorf("version %s: %w", name, err)
		}
		v, err := r.newVersion(name, s, converted)
		if err != nil {
			return nil, fmt.Errorf("version %s: %w", name, err)
		}
		r.versions[name] = v
		r.embeddedRoot = r.embeddedRoot || s != nil && s.XEmbeddedResource
		if r.first == nil || name < r.first.name {
			r.first = v
		}
	}
	var err error
	if r.unversioned, err = r.newVersion("", nil, new(schema.Structural)); err != nil {
		return nil, err
	}
	if r.first == nil {
		r.first = r.unversioned
	}
	keep := true
	r.foreign, err = r.newVersion("", nil, &schema.Structural{XPreserveUnknownFields: &keep})
	return r, err
}

// ForCRD returns the resource that a CustomResourceDefinition defines, with all of its versions,
// served or not. Its kind is status.acceptedNames.kind, which is what the API server serves, or
// spec.names.kind where there is none yet. Its objects are pruned unless spec.preserveUnknownFields
// is set; then a schema that is not structural is none, as on the server.
func ForCRD(crd *apiextensionsv1.CustomResourceDefinition, opts ...Option) (*Resource, error) {
	if crd == nil {
		return nil, errors.New("kube: the CustomResourceDefinition is nil")
	}
	versions := make(map[string]*structuralschema.Structural, len(crd.Spec.Versions))
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		s, err := structuralOf(v)
		if err != nil && !crd.Spec.PreserveUnknownFields {
			return nil, fmt.Errorf("version %s: %w", v.Name, err)
		}
		versions[v.Name] = s
	}
	groupKind := runtimeschema.GroupKind{Group: crd.Spec.Group, Kind: cmp.Or(crd.Status.AcceptedNames.Kind, crd.Spec.Names.Kind)}
	return NewResource(groupKind, versions, append([]Option{PreserveUnknownFields(crd.Spec.PreserveUnknownFields)}, opts...)...)
}

// GroupKind returns the group and kind of the resource.
func (r *Resource) GroupKind() runtimeschema.GroupKind { return r.groupKind }

// version returns the version that is meant by the type of an object.
func (r *Resource) version(gvk runtimeschema.GroupVersionKind) *version {
	if gvk.GroupKind() != r.groupKind {
		return r.foreign
	}
	if v := r.versions[gvk.Version]; v != nil {
		return v
	}
	return r.unversioned
}

// errNotMade is for a zero Resource or a nil one, which has no schema to prune by.
var errNotMade = errors.New("kube: the resource was not made by NewResource or ForCRD")

// check returns an error for a resource that was not made.
func (r *Resource) check() error {
	if r == nil || r.foreign == nil {
		return errNotMade
	}
	return nil
}

// has reports whether the resource has the version.
func (r *Resource) has(gv runtimeschema.GroupVersion) bool {
	return gv.Group == r.groupKind.Group && r.versions[gv.Version] != nil
}

// guess returns the version to try first.
func (r *Resource) guess(gvk *runtimeschema.GroupVersionKind) *version {
	if gvk != nil {
		if v := r.versions[gvk.Version]; v != nil {
			return v
		}
	}
	return r.first
}

// A version is a version of a resource.
type version struct {
	name string
	// structural is the schema for the API server's own packages, which work on maps.
	structural *structuralschema.Structural
	// The decoders for requests, strict or not, for what is stored, and for typed objects,
	// of which a kind may be missing.
	strict, lenient, stored, strictTyped, lenientTyped *decoder.Pool
	mergePatches                                       func() (*decoder.Pool, error)
}

func (r *Resource) newVersion(name string, structural *structuralschema.Structural, s *schema.Structural) (*version, error) {
	program, err := schema.Compile(s, schema.PreserveUnknownFields(r.preserve))
	if err != nil {
		return nil, err
	}
	pool := func(opts ...decoder.Option) *decoder.Pool {
		return decoder.NewPool(program, append([]decoder.Option{r.limits, decoder.NumbersAsSent(true)}, opts...)...)
	}
	warn, ignore := decoder.Warn, decoder.Ignore
	return &version{
		name: name, structural: structural,
		strict:       pool(decoder.ServerRequests, warn),
		lenient:      pool(decoder.ServerRequests, ignore),
		stored:       pool(decoder.ServerStorage, ignore),
		strictTyped:  pool(decoder.ServerTypedRequests, warn),
		lenientTyped: pool(decoder.ServerTypedRequests, ignore),
		mergePatches: r.mergePatchPool(s),
	}, nil
}
