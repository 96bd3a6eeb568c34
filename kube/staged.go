package kube

// This file puts the server's packages together as the server does, for stored objects. The parts
// between them, which the server does not export, are here.

import (
	"bytes"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured/unstructuredscheme"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/recognizer"
	"k8s.io/apimachinery/pkg/runtime/serializer/versioning"
)

// selfDescribed is how CBOR starts in the server's storage: the tag 55799 of RFC 8949, section
// 3.4.6.
var selfDescribed = []byte{0xd9, 0xd9, 0xf7}

func isCBOR(data []byte) bool { return bytes.HasPrefix(data, selfDescribed) }

// stagedStorage returns the decoder for storage of the server's handler of custom resources: that
// of crdConversionRESTOptionsGetter, around that of NewCRDRESTOptionsGetter. The converter must
// coerce its results.
func (r *Resource) stagedStorage(
	version string, converter runtime.ObjectConvertor,
) runtime.Decoder {
	creater, typer := unstructuredscheme.NewUnstructuredCreator(), unstructuredscheme.NewUnstructuredObjectTyper()
	stored := recognizer.NewDecoder(cbor.NewSerializer(creater, typer), unstructured.UnstructuredJSONScheme)
	return versioning.NewCodec(nil, coercingDecoder{stored, r}, converter,
		creater, typer, r, nil, r.groupKind.WithVersion(version).GroupVersion(), "kube")
}

// A coercingDecoder coerces the stored objects that another decoder decodes.
type coercingDecoder struct {
	delegate runtime.Decoder
	resource *Resource
}

func (d coercingDecoder) Decode(
	data []byte, defaults *runtimeschema.GroupVersionKind, into runtime.Object,
) (runtime.Object, *runtimeschema.GroupVersionKind, error) {
	obj, gvk, err := d.delegate.Decode(data, defaults, into)
	if err != nil {
		return nil, gvk, err
	}
	if u, ok := obj.(*unstructured.Unstructured); ok {
		_, err = d.resource.coerce(u, true, false)
	}
	if err != nil {
		return nil, gvk, err
	}
	return obj, gvk, nil
}

// A coercingConverter coerces the results of another converter.
type coercingConverter struct {
	runtime.ObjectConvertor
	resource *Resource
}

func (c coercingConverter) Convert(in, out, context any) error {
	// The converter may convert in place.
	to := out.(*unstructured.Unstructured)
	converted, err := c.ConvertToVersion(in.(runtime.Object), to.GroupVersionKind().GroupVersion())
	if err != nil {
		return err
	}
	u, ok := converted.(*unstructured.Unstructured)
	if !ok {
		return errNotAnObject(converted)
	}
	to.Object = u.Object
	return nil
}

func (c coercingConverter) ConvertToVersion(
	in runtime.Object, gv runtime.GroupVersioner,
) (runtime.Object, error) {
	out, err := c.ObjectConvertor.ConvertToVersion(in, gv)
	if err != nil {
		return nil, err
	}
	switch u := out.(type) {
	case *unstructured.Unstructured:
		_, err = c.resource.coerce(u, false, false)
	case *unstructured.UnstructuredList:
	default:
		err = errNotAnObject(out)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// errNotAnObject returns the error for a converter that returns something else than it should.
func errNotAnObject(obj runtime.Object) error {
	return fmt.Errorf("kube: the converter returned a %T instead of *unstructured.Unstructured", obj)
}

// A renaming is the server's converter for the strategy None: crConverter with its nopConverter. It
// changes the apiVersion, in place.
type renaming struct{ resource *Resource }

func (c renaming) ConvertToVersion(
	in runtime.Object, gv runtime.GroupVersioner,
) (runtime.Object, error) {
	from := in.GetObjectKind().GroupVersionKind()
	to, ok := gv.KindForGroupVersionKinds([]runtimeschema.GroupVersionKind{from})
	if !ok {
		return nil, fmt.Errorf("%v is unstructured and is not suitable for converting to %q", from, gv)
	}
	for _, side := range []struct {
		word string
		gv   runtimeschema.GroupVersion
	}{{"to", to.GroupVersion()}, {"from", from.GroupVersion()}} {
		if !c.resource.has(side.gv) {
			return nil, fmt.Errorf("request to convert CR %s an invalid group/version: %s", side.word, side.gv)
		}
	}
	if list, ok := in.(*unstructured.UnstructuredList); ok {
		if err := c.renameItems(list, to.GroupVersion()); err != nil {
			return nil, err
		}
	}
	in.GetObjectKind().SetGroupVersionKind(to.GroupVersion().WithKind(from.Kind))
	return in, nil
}

func (c renaming) renameItems(list *unstructured.UnstructuredList, to runtimeschema.GroupVersion) error {
	for i := range list.Items {
		if gv := list.Items[i].GroupVersionKind().GroupVersion(); !c.resource.has(gv) {
			return fmt.Errorf("request to convert CR list failed, list index %d has invalid group/version: %s", i, gv)
		}
	}
	for i := range list.Items {
		item := &list.Items[i]
		item.SetGroupVersionKind(to.WithKind(item.GroupVersionKind().Kind))
	}
	return nil
}

func (c renaming) Convert(_, _, _ any) error { return errNotConverted }

func (c renaming) ConvertFieldLabel(
	_ runtimeschema.GroupVersionKind, _, _ string,
) (string, string, error) {
	return "", "", errNotConverted
}

var errNotConverted = errors.New("kube: this converter converts objects to versions only")

// A noConverter has an error for all objects of other versions.
type noConverter struct{ renaming }

func (noConverter) ConvertToVersion(
	in runtime.Object, gv runtime.GroupVersioner,
) (runtime.Object, error) {
	from := in.GetObjectKind().GroupVersionKind()
	if to, ok := gv.KindForGroupVersionKinds([]runtimeschema.GroupVersionKind{from}); ok && to == from {
		return in, nil
	}
	return nil, fmt.Errorf("kube: an object of kind %q is stored in %q, and there is no converter to %q: "+
		"give one to StorageDecoder", from.Kind, from.GroupVersion(), gv)
}
