package kube

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
)

// A StorageDecoder decodes unstructured objects in JSON that the API server has stored, as
// the server decodes them: members of metadata that cannot be read are dropped instead of
// being refused, and defaults of the stored version are inserted.
type StorageDecoder struct {
	resource  *Resource
	version   string
	converter runtime.ObjectConvertor
}

// StorageDecoder returns a decoder to a version of the resource. Objects that are stored in
// another version are converted by the converter, and then pruned by the schema of this
// one; without a converter they are an error.
func (r *Resource) StorageDecoder(version string, converter runtime.ObjectConvertor) *StorageDecoder {
	return &StorageDecoder{r, version, converter}
}

// Decode decodes an object; defaults are not used. into is nil or a
// *unstructured.Unstructured, which is overwritten. The type is that of the object that is
// returned. Unlike the API server, it decodes objects without metadata.
func (d *StorageDecoder) Decode(data []byte, _ *runtimeschema.GroupVersionKind, into runtime.Object) (runtime.Object, *runtimeschema.GroupVersionKind, error) {
	u, ok := into.(*unstructured.Unstructured)
	if into == nil {
		u = new(unstructured.Unstructured)
	} else if !ok {
		return nil, nil, fmt.Errorf("kube: a StorageDecoder decodes into *unstructured.Unstructured, not %T", into)
	}
	expected := d.resource.groupKind.WithVersion(d.version)
	object, gvk, _, err := d.resource.decode(data, &expected, reading{stored: true})
	if err != nil {
		return nil, gvk, err
	}
	if gvk.GroupKind() != d.resource.groupKind || gvk.Version == d.version {
		u.Object = object
		return u, gvk, nil
	}
	return d.convert(&unstructured.Unstructured{Object: object}, gvk, u)
}

// convert converts an object to the decoder's version.
func (d *StorageDecoder) convert(from *unstructured.Unstructured, gvk *runtimeschema.GroupVersionKind, to *unstructured.Unstructured) (runtime.Object, *runtimeschema.GroupVersionKind, error) {
	if d.converter == nil {
		return nil, gvk, fmt.Errorf("kube: an object of %s is stored in version %q, and there is no converter to %q", gvk.GroupKind(), gvk.Version, d.version)
	}
	out, err := d.converter.ConvertToVersion(from, runtimeschema.GroupVersion{Group: gvk.Group, Version: d.version})
	if err != nil {
		return nil, gvk, err
	}
	converted, ok := out.(*unstructured.Unstructured)
	if !ok {
		return nil, gvk, fmt.Errorf("kube: the converter returned a %T instead of *unstructured.Unstructured", out)
	}
	if _, err := d.resource.coerce(converted, false, false); err != nil {
		return nil, gvk, err
	}
	to.Object = converted.Object
	return to, typeOf(to.Object), nil
}
