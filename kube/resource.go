package kube

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// A Resource is a kind of custom resource with a schema for each of its
// versions. It decodes the objects of the kind. It is immutable, and any number
// of goroutines can use it. [NewResource] and [ForCRD] make resources. A zero
// Resource decodes nothing, and functions that take a resource refuse it.
type Resource struct {
	options
	groupKind runtimeschema.GroupKind
	// embeddedRoot says that the root of some version's schema is an embedded resource.
	embeddedRoot bool
	versions     map[string]*version
	// first is the version that is tried first if nothing says which it is.
	first *version
	// unversioned decodes objects of versions that do not exist, and foreign objects of other
	// kinds.
	unversioned, foreign *version
	// anything decodes objects of which nothing is pruned.
	anything *decoder.Pool
}

// An Option changes how a [Resource] decodes. Options are given to functions
// that make resources, and have no effect on a resource that exists. Their
// order does not matter, except that of two options that set the same thing the
// last one counts.
type Option interface{ apply(*options) }

// options are the combined effect of all options.
type options struct {
	preserve    bool
	serverTexts bool // strict errors have the server's texts
	limits      decoder.Limits
	rules       validation.RuleCompiler
	hasRules    bool // rules was given, and may be nil
	// strategy is how versions are converted, or empty if that is not known.
	strategy apiextensionsv1.ConversionStrategyType
}

func (o *options) set(opts []Option) error {
	for i, opt := range opts {
		if opt == nil {
			return fmt.Errorf("kube: option %d of %d is nil", i+1, len(opts))
		}
		opt.apply(o)
	}
	return nil
}

// An optionFunc is an option that is made by a function.
type optionFunc func(*options)

func (f optionFunc) apply(o *options) { f(o) }

// Limits bounds what an object may cost. Fields that are zero keep their
// defaults. NumberBytes and NameBytes have no effect, because the API server
// has no such limits. Functions that make resources panic if a limit is
// negative.
func Limits(l decoder.Limits) Option {
	return optionFunc(func(o *options) { o.limits = o.limits.With(l) })
}

// Rules makes a [Validator] evaluate the rules in a schema that are expressions
// in CEL (x-kubernetes-validations), with the compiler of the module cel or
// another one. Without it they are ignored.
func Rules(c validation.RuleCompiler) Option {
	return optionFunc(func(o *options) { o.rules, o.hasRules = c, true })
}

// PreserveUnknownFields sets whether the definition has
// spec.preserveUnknownFields set, as definitions that were made in v1beta1
// still may: outside of metadata nothing is pruned and no null is dropped.
func PreserveUnknownFields(does bool) Option {
	return optionFunc(func(o *options) { o.preserve = does })
}

// ConversionStrategy sets how objects of a version become objects of another
// one: spec.conversion.strategy of the definition. For
// apiextensionsv1.NoneConverter a [StorageDecoder] changes the apiVersion
// itself, which is faster. For any other strategy, which is the default, it
// calls its converter.
func ConversionStrategy(s apiextensionsv1.ConversionStrategyType) Option {
	return optionFunc(func(o *options) { o.strategy = s })
}

// NewResource returns the resource of a group and kind with the schemas of its
// versions. If the schema of a version is nil, or the version is missing in
// versions, all fields except apiVersion, kind and metadata are pruned, as in
// the API server. Defaults are pruned by their schemas, except with
// [PreserveUnknownFields]. Nothing is validated.
//
// The resource shares the schemas with its caller, such as an API server, which
// has pruned their defaults. Only what has defaults that are still to be pruned
// is copied. NewResource changes nothing, and keeps no reference to the map. The
// schemas must not be changed while the resource is in use.
func NewResource(
	groupKind runtimeschema.GroupKind, versions map[string]*structuralschema.Structural,
	opts ...Option,
) (*Resource, error) {
	if groupKind.Kind == "" {
		return nil, errors.New("kube: a resource needs a kind")
	}
	r := &Resource{groupKind: groupKind, versions: make(map[string]*version, len(versions))}
	if err := r.set(opts); err != nil {
		return nil, err
	}
	r.anything = patchPool(anyProgram(), r.limits)
	var last *version
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		v, err := r.addVersion(name, versions[name], last)
		if err != nil {
			return nil, fmt.Errorf("version %s: %w", name, err)
		}
		if r.first == nil {
			r.first = v
		}
		last = v
	}
	var err error
	if r.unversioned, err = r.newVersion("", nil); err != nil {
		return nil, err
	}
	if r.first == nil {
		r.first = r.unversioned
	}
	keep := structuralschema.Structural{Extensions: structuralschema.Extensions{XPreserveUnknownFields: true}}
	r.foreign, err = r.newVersion("", &keep)
	return r, err
}

// addVersion adds a version with a schema, which may be nil. If the schema is equal to that of the
// last version, both have one program.
func (r *Resource) addVersion(
	name string, s *structuralschema.Structural, last *version,
) (*version, error) {
	if s != nil && !r.preserve {
		var err error
		if s, err = prepared(s); err != nil {
			return nil, err
		}
	}
	r.embeddedRoot = r.embeddedRoot || s != nil && s.XEmbeddedResource
	if last != nil && sameCore(s, last.structural) {
		same := *last
		same.name, same.typ = name, newTypeOfVersion(r.groupKind.WithVersion(name))
		r.versions[name] = &same
		return &same, nil
	}
	v, err := r.newVersion(name, s)
	if err == nil {
		r.versions[name] = v
	}
	return v, err
}

// ForCRD returns the resource that a CustomResourceDefinition defines, with all
// its versions, served or not. Its kind is status.acceptedNames.kind, which is
// the kind that the API server serves, or spec.names.kind if that is empty.
// Objects are pruned unless spec.preserveUnknownFields is set. If it is set, a
// schema that is not structural counts as missing, as in the server.
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
		withoutValidations(s)
		versions[v.Name] = s
	}
	groupKind := runtimeschema.GroupKind{
		Group: crd.Spec.Group,
		Kind:  kindOf(crd),
	}
	own := []Option{PreserveUnknownFields(crd.Spec.PreserveUnknownFields)}
	if crd.Spec.Conversion != nil {
		own = append(own, ConversionStrategy(crd.Spec.Conversion.Strategy))
	}
	return NewResource(groupKind, versions, append(own, opts...)...)
}

// kindOf returns the kind that a definition defines.
func kindOf(crd *apiextensionsv1.CustomResourceDefinition) string {
	return cmp.Or(crd.Status.AcceptedNames.Kind, crd.Spec.Names.Kind)
}

// GroupKind returns the group and kind of the resource.
func (r *Resource) GroupKind() runtimeschema.GroupKind { return r.groupKind }

// version returns the version that decodes objects of a type.
func (r *Resource) version(gvk runtimeschema.GroupVersionKind) *version {
	if gvk.GroupKind() != r.groupKind {
		return r.foreign
	}
	if v := r.versions[gvk.Version]; v != nil {
		return v
	}
	return r.unversioned
}

// errNotMade is for a zero or nil Resource, which has no schema to prune by.
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
	program    *schema.Program
	typ        typeOfVersion
	// The decoders for requests, for requests of typed objects, which may lack a kind, for stored
	// objects, for those that are converted to another version, and for those that were.
	requests, typedRequests, stored, unconverted, converted *decoder.Pool
	mergePatches                                            func() (*decoder.Pool, error)
}

func (r *Resource) newVersion(
	name string, structural *structuralschema.Structural,
) (*version, error) {
	var m coreMaker
	s := m.core(structural)
	if m.err != nil {
		return nil, m.err
	}
	program, err := schema.Compile(s, schema.PreserveUnknownFields(r.preserve))
	if err != nil {
		return nil, err
	}
	pool := func(mode decoder.ServerMode) *decoder.Pool {
		return decoder.NewPool(program, r.limits, decoder.NumbersAsSent(true), decoder.Ignore, mode)
	}
	return &version{
		name: name, structural: structural, program: program,
		typ:           newTypeOfVersion(r.groupKind.WithVersion(name)),
		requests:      pool(decoder.ServerRequests),
		typedRequests: pool(decoder.ServerTypedRequests),
		stored:        pool(decoder.ServerStorage),
		unconverted:   pool(decoder.ServerUnconverted),
		converted:     pool(decoder.ServerConversions),
		mergePatches:  r.mergePatchPool(structural),
	}, nil
}
