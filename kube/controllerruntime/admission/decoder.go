// Package admission decodes the objects of admission requests, pruned and
// defaulted by their schemas, for webhooks that are made with
// controller-runtime. It has a strict mode. A [Validator] validates their
// values.
//
// The decoder of controller-runtime does neither. It drops unknown fields
// silently, or keeps them in unstructured objects. An object that an earlier
// webhook has changed may lack defaults.
package admission

import (
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/espalier-dev/espalier/kube"
)

// A Decoder is an admission.Decoder of controller-runtime. Any number of
// goroutines can use it.
type Decoder struct {
	serializer *kube.Serializer
}

var _ admission.Decoder = (*Decoder)(nil)

// NewDecoder returns a decoder for objects of the resources, of which there
// must be at least one. Objects of other kinds are decoded as by
// controller-runtime, except that the metadata of unstructured ones is pruned.
// If strict is set, unknown and duplicate fields are an error that
// runtime.IsStrictDecodingError recognizes, and the object is complete.
func NewDecoder(
	scheme *runtime.Scheme, strict bool, resources ...*kube.Resource,
) (*Decoder, error) {
	if scheme == nil {
		return nil, errors.New("admission: the scheme is nil: give the one of the manager")
	}
	options := json.SerializerOptions{Strict: strict}
	s, err := kube.NewSerializer(scheme, scheme, options, resources...)
	if err != nil {
		return nil, err
	}
	return &Decoder{s}, nil
}

// Decode decodes the object of the request into an object, which may be a
// *unstructured.Unstructured. The object of a deletion is in OldObject: use
// DecodeRaw for it.
func (d *Decoder) Decode(req admission.Request, into runtime.Object) error {
	return d.DecodeRaw(req.Object, into)
}

var (
	errNoContent = errors.New("there is no content to decode")
	errNotMade   = errors.New("admission: the decoder was not made by NewDecoder")
)

// DecodeRaw decodes any object of a request, such as OldObject, into an object,
// which may be a *unstructured.Unstructured.
func (d *Decoder) DecodeRaw(raw runtime.RawExtension, into runtime.Object) error {
	if d.serializer == nil {
		return errNotMade
	}
	if len(raw.Raw) == 0 {
		return errNoContent
	}
	if u, ok := into.(*unstructured.Unstructured); ok {
		_, _, err := d.serializer.Decode(raw.Raw, nil, u)
		return err
	}
	err := runtime.DecodeInto(d.serializer, raw.Raw, into)
	return err
}
