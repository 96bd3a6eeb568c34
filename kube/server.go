package kube

// This file does the API server's work after parsing, with the server's own packages, for objects
// that are maps already. It also finds the server's texts for refused documents, by decoding them
// as the server does.

import (
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured/unstructuredscheme"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
)

// parseAsServer parses a document as the API server does before it looks at a schema. If there is
// an error, the type is completed by the one that is expected.
func parseAsServer(
	data []byte, expected *runtimeschema.GroupVersionKind, how reading,
) (*unstructured.Unstructured, *runtimeschema.GroupVersionKind, error) {
	u := new(unstructured.Unstructured)
	options := json.SerializerOptions{Yaml: how.yaml, Strict: how.strict}
	s := json.NewSerializerWithOptions(json.DefaultMetaFactory, unstructuredscheme.NewUnstructuredCreator(),
		unstructuredscheme.NewUnstructuredObjectTyper(), options)
	_, gvk, err := s.Decode(data, expected, u)
	if runtime.IsStrictDecodingError(err) {
		err = nil
	}
	return u, gvk, err
}

// coerce prunes an object, drops nulls, and gives its metadata the form after a round trip through
// ObjectMeta: unstructuredSchemaCoercer.apply of the API server. If track is set, it returns the
// paths of unknown fields.
func (r *Resource) coerce(
	u *unstructured.Unstructured, stored, track bool,
) (unknown []string, err error) {
	kind, hasKind, err := unstructured.NestedString(u.Object, "kind")
	if err != nil {
		return nil, err
	}
	apiVersion, hasAPIVersion, err := unstructured.NestedString(u.Object, "apiVersion")
	if err != nil {
		return nil, err
	}
	meta, hasMeta, unknown, err := objectmeta.GetObjectMetaWithOptions(u.Object,
		objectmeta.ObjectMetaOptions{DropMalformedFields: stored, ReturnUnknownFieldPaths: track})
	if err != nil {
		return nil, err
	}
	gv, err := runtimeschema.ParseGroupVersion(apiVersion)
	if err != nil {
		return nil, err
	}
	if v := r.version(gv.WithKind(kind)); v != r.foreign {
		if !r.preserve {
			unknown = append(unknown, pruning.PruneWithOptions(u.Object, v.structural, true,
				structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: track})...)
			defaulting.PruneNonNullableNullsWithoutDefaults(u.Object, v.structural)
		}
		fault, paths := objectmeta.CoerceWithOptions(nil, u.Object, v.structural, false,
			objectmeta.CoerceOptions{DropInvalidFields: stored, ReturnUnknownFieldPaths: track})
		if fault != nil {
			return nil, fault
		}
		unknown = append(unknown, paths...)
		if stored && hasMeta && meta.Generation == 0 {
			meta.Generation = 1
		}
	}
	if hasKind {
		u.SetKind(kind)
	}
	if hasAPIVersion {
		u.SetAPIVersion(apiVersion)
	}
	if hasMeta {
		err = objectmeta.SetObjectMeta(u.Object, meta)
	}
	return unknown, err
}

// Prune does to a parsed object what the API server does, except for defaults.
// By the schema of the object's version it removes unknown fields, and nulls
// that are neither allowed nor defaulted, and it makes metadata what it is
// after a round trip through ObjectMeta. It works in place, and returns the
// paths of unknown fields in the server's order. Of an object of another kind
// only metadata is pruned.
//
// An error says that metadata, apiVersion or kind cannot be read. The object
// may then be partly pruned.
func (r *Resource) Prune(u *unstructured.Unstructured) (unknown []string, err error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	return r.coerce(u, false, true)
}

// Default inserts the defaults of the schema into an object of the resource, in
// place, as the API server does after admission, where nothing is pruned. It
// changes no other objects. It is a runtime.ObjectDefaulter for unstructured
// objects.
func (r *Resource) Default(in runtime.Object) {
	u, ok := in.(runtime.Unstructured)
	if !ok || r.check() != nil {
		return
	}
	if v := r.version(u.GetObjectKind().GroupVersionKind()); v != r.foreign {
		defaulting.Default(u.UnstructuredContent(), v.structural)
	}
}
