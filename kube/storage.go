package kube

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/recognizer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// A StorageDecoder decodes unstructured JSON objects that the API server has
// stored, as the server decodes them. It drops members of metadata that cannot
// be read instead of refusing them, inserts the defaults of the stored version,
// and converts objects of other versions.
type StorageDecoder struct {
	resource  *Resource
	version   string
	converter runtime.ObjectConvertor
}

var _ recognizer.RecognizingDecoder = (*StorageDecoder)(nil)

// StorageDecoder returns a decoder to a version of the resource. Objects that
// are stored in another group or version, or in a version that the resource
// does not have, are passed to the converter, and its result is pruned by the
// schema of its version. The API server's converter refuses other groups, and
// versions that do not exist. Without a converter all such objects are an
// error.
//
// It panics if the resource was not made by [NewResource] or [ForCRD].
func (r *Resource) StorageDecoder(
	version string, converter runtime.ObjectConvertor,
) *StorageDecoder {
	if err := r.check(); err != nil {
		panic(err)
	}
	return &StorageDecoder{r, version, converter}
}

// RecognizesData recognizes data that starts like a JSON object, and reports
// that all other data is unknown. The decoder can therefore be used with others
// in a recognizer, where it decodes the data that none of them recognizes.
func (d *StorageDecoder) RecognizesData(data []byte) (ok, unknown bool, err error) {
	ok = utilyaml.IsJSONBuffer(data)
	return ok, !ok, nil
}

// Decode decodes an object and ignores the defaults. into is nil or a
// *unstructured.Unstructured, which is overwritten. If into has an apiVersion,
// the object is converted to that. The returned type is the one that was
// stored.
//
// Unlike the API server, it decodes objects without metadata, converts to the
// decoder's version even if into has no apiVersion, and does not make a list of
// an object with items if into is nil.
func (d *StorageDecoder) Decode(
	data []byte, _ *runtimeschema.GroupVersionKind, into runtime.Object,
) (runtime.Object, *runtimeschema.GroupVersionKind, error) {
	u, ok := into.(*unstructured.Unstructured)
	if !ok && into != nil {
		return nil, nil, fmt.Errorf("kube: a StorageDecoder decodes into *unstructured.Unstructured, not %T", into)
	}
	if err := d.resource.check(); err != nil {
		return nil, nil, err
	}
	expected := d.resource.groupKind.WithVersion(d.version)
	target := expected.GroupVersion()
	if u == nil {
		u = new(unstructured.Unstructured)
	} else if wanted := u.GroupVersionKind().GroupVersion(); !wanted.Empty() {
		target = wanted
	}
	object, gvk, _, err := d.resource.decode(data, &expected, reading{stored: true})
	if err != nil {
		return nil, gvk, err
	}
	if gvk.GroupVersion() != target || d.converter != nil && !d.resource.has(target) {
		if object, err = d.convert(object, gvk, target); err != nil {
			return nil, gvk, err
		}
	}
	u.Object = object
	return u, gvk, nil
}

// convert converts an object to a version.
func (d *StorageDecoder) convert(
	object map[string]any, gvk *runtimeschema.GroupVersionKind, target runtimeschema.GroupVersion,
) (map[string]any, error) {
	if d.converter == nil {
		return nil, fmt.Errorf("kube: an object of kind %q is stored in %q, and there is no converter to %q: "+
			"give one to StorageDecoder", gvk.Kind, gvk.GroupVersion(), target)
	}
	out, err := d.converter.ConvertToVersion(&unstructured.Unstructured{Object: object}, target)
	if err != nil {
		return nil, err
	}
	converted, ok := out.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("kube: the converter returned a %T instead of *unstructured.Unstructured", out)
	}
	_, err = d.resource.coerce(converted, false, false)
	return converted.Object, err
}
