// Package admission decodes the objects of admission requests for webhooks that are made
// with controller-runtime: pruned and defaulted by their schemas, with a strict mode.
//
// The decoder of controller-runtime takes whatever is there: unknown fields vanish
// without a word or, in unstructured objects, stay; and defaults are missing in objects that an
// earlier webhook has changed.
package admission

import (
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/espalier-dev/espalier/kube"
)

// A Decoder is an admission.Decoder of controller-runtime. It is for any number of goroutines.
type Decoder struct {
	serializer *kube.Serializer
}

var _ admission.Decoder = (*Decoder)(nil)

// NewDecoder returns a decoder for objects of the resources, of which there is at least one;
// objects of other kinds are decoded as by controller-runtime, but for the metadata of
// unstructured ones, which is pruned. If strict is set, unknown and duplicate fields
// are an error that runtime.IsStrictDecodingError knows, and the object is complete.
func NewDecoder(scheme *runtime.Scheme, strict bool, resources ...*kube.Resource) (*Decoder, error) {
	if scheme == nil {
		return nil, errors.New("admission: the scheme is nil: give the one of the manager")
	}
	s, err := kube.NewSerializer(scheme, scheme, json.SerializerOptions{Strict: strict}, resources...)
	if err != nil {
		return nil, err
	}
	return &Decoder{s}, nil
}

// Decode decodes the object of the request into an object, which may be a
// *unstructured.Unstructured. That of a deletion is in OldObject, for DecodeRaw.
func (d *Decoder) Decode(req admission.Request, into runtime.Object) error {
	return d.DecodeRaw(req.Object, into)
}

var (
	errNoContent = errors.New("there is no content to decode")
	errNotMade   = errors.New("admission: the decoder was not made by NewDecoder")
)

// DecodeRaw decodes any object of a request, such as OldObject.
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
