package kube

import (
	"cmp"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
)

// A NegotiatedSerializer is a runtime.NegotiatedSerializer in which a
// [Serializer] decodes JSON and YAML. It wraps that of a generic API server,
// such as a serializer.CodecFactory, or that of the handler of custom
// resources, and leaves everything else to it.
type NegotiatedSerializer struct {
	inner runtime.NegotiatedSerializer
	infos []runtime.SerializerInfo
}

var _ runtime.NegotiatedSerializer = (*NegotiatedSerializer)(nil)

// NewNegotiatedSerializer returns a NegotiatedSerializer that wraps inner and
// has serializers for the resources. creater and typer are those of
// [NewSerializer].
func NewNegotiatedSerializer(
	inner runtime.NegotiatedSerializer, creater runtime.ObjectCreater, typer runtime.ObjectTyper,
	resources ...*Resource,
) (*NegotiatedSerializer, error) {
	if inner == nil {
		return nil, errors.New("kube: the NegotiatedSerializer that is to be wrapped is nil")
	}
	creater, typer, err := checkArguments(creater, typer, resources)
	if err != nil {
		return nil, err
	}
	n := &NegotiatedSerializer{inner: inner}
	for _, info := range inner.SupportedMediaTypes() {
		yaml := info.MediaType == runtime.ContentTypeYAML
		if yaml || info.MediaType == runtime.ContentTypeJSON {
			if info.StrictSerializer == nil {
				strict := json.SerializerOptions{Yaml: yaml, Strict: true}
				info.StrictSerializer = json.NewSerializerWithOptions(json.DefaultMetaFactory, creater, typer, strict)
			}
			info.Serializer = &Serializer{info.Serializer, yaml, false, typer, creater, resources}
			info.StrictSerializer = &Serializer{info.StrictSerializer, yaml, true, typer, creater, resources}
		}
		n.infos = append(n.infos, info)
	}
	return n, nil
}

// SupportedMediaTypes returns the media types of inner, with serializers for
// JSON and YAML in place of its own.
func (n *NegotiatedSerializer) SupportedMediaTypes() []runtime.SerializerInfo { return n.infos }

// EncoderForVersion returns the encoder of inner.
func (n *NegotiatedSerializer) EncoderForVersion(
	encoder runtime.Encoder, gv runtime.GroupVersioner,
) runtime.Encoder {
	if s, ok := encoder.(*Serializer); ok {
		encoder = s.delegate
	}
	return n.inner.EncoderForVersion(encoder, gv)
}

// DecoderToVersion returns a decoder that converts typed objects and inserts
// the defaults of Go types as that of inner does. Findings stay in the error,
// whatever inner does with errors. If inner refuses an unstructured object, it
// decodes the document once more, to find the server's error. Objects that are
// decoded into *unstructured.Unstructured are not converted: an object that is
// sent for a version of a custom resource is kept in that version until it is
// stored.
func (n *NegotiatedSerializer) DecoderToVersion(
	decoder runtime.Decoder, gv runtime.GroupVersioner,
) runtime.Decoder {
	if s, ok := decoder.(*Serializer); ok {
		return &versioned{n.inner, s, gv}
	}
	return n.inner.DecoderToVersion(decoder, gv)
}

// A versioned decodes objects and converts typed ones.
type versioned struct {
	inner      runtime.NegotiatedSerializer
	serializer *Serializer
	gv         runtime.GroupVersioner
}

func (v *versioned) Decode(
	data []byte, defaults *runtimeschema.GroupVersionKind, into runtime.Object,
) (runtime.Object, *runtimeschema.GroupVersionKind, error) {
	obj, gvk, err := v.serializer.Decode(data, defaults, into)
	if _, ok := into.(*unstructured.Unstructured); ok {
		return obj, gvk, err
	}
	strict, isStrict := runtime.AsStrictDecodingError(err)
	if obj == nil || err != nil && !isStrict {
		return nil, gvk, err
	}
	read := decoded{obj, gvk}
	obj, gvk, err = v.inner.DecoderToVersion(read, v.gv).Decode(data, defaults, into)
	if _, ok := read.obj.(*unstructured.Unstructured); ok && err != nil && !runtime.IsStrictDecodingError(err) {
		obj, gvk, err = nil, read.gvk, v.serverError(data, defaults, into, err)
	}
	// Decoders of inner keep strict errors only of serializers that they know.
	if isStrict {
		err = joinStrict(strict.Errors(), err)
	}
	return obj, gvk, err
}

// serverError returns the server's error for a document that is refused, or refusal if the server
// has none. The server reads metadata once, and then misses the type of an object. Inner may have
// read it a second time, and cannot read what a time of the year 10000 is written as.
func (v *versioned) serverError(
	data []byte, defaults *runtimeschema.GroupVersionKind, into runtime.Object, refusal error,
) error {
	if into != nil {
		into = into.DeepCopyObject()
	}
	// Inner lists unknown fields, with paths of any length, for strict serializers that it knows.
	server := v.inner.DecoderToVersion(struct{ runtime.Decoder }{v.serializer.delegate}, v.gv)
	return cmp.Or(refusalBy(server, data, defaults, into), refusal)
}

// joinStrict returns a strict decoding error that has found, and the entries of err if that is one,
// too. If err is another error, joinStrict returns err.
func joinStrict(found []error, err error) error {
	more, isStrict := runtime.AsStrictDecodingError(err)
	switch {
	case isStrict:
		found = append(slices.Clip(found), more.Errors()...)
	case err != nil:
		return err
	}
	return runtime.NewStrictDecodingError(found)
}

// A decoded is a decoder that returns an object which was decoded before.
type decoded struct {
	obj runtime.Object
	gvk *runtimeschema.GroupVersionKind
}

func (d decoded) Decode(
	[]byte, *runtimeschema.GroupVersionKind, runtime.Object,
) (runtime.Object, *runtimeschema.GroupVersionKind, error) {
	return d.obj, d.gvk, nil
}
