package apiserver

import (
	"sync/atomic"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/espalier-dev/espalier/kube"
)

// EspalierRequests and EspalierStored count what was decoded by Espalier, for a test that it was.
var EspalierRequests, EspalierStored atomic.Int64

// espalierDecoders are the decoders for the objects of a definition.
type espalierDecoders struct {
	resource  *kube.Resource
	converter runtime.ObjectConvertor
}

// newEspalier returns the decoders of a definition. A version without a schema prunes everything.
func newEspalier(
	crd *apiextensionsv1.CustomResourceDefinition, schemas map[string]*structuralschema.Structural,
	converter runtime.ObjectConvertor,
) (*espalierDecoders, error) {
	versions := make(map[string]*structuralschema.Structural, len(crd.Spec.Versions))
	for i := range crd.Spec.Versions {
		name := crd.Spec.Versions[i].Name
		versions[name] = schemas[name]
	}
	kind := schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Status.AcceptedNames.Kind}
	options := []kube.Option{kube.PreserveUnknownFields(crd.Spec.PreserveUnknownFields), kube.ServerTexts(true)}
	if crd.Spec.Conversion != nil {
		options = append(options, kube.ConversionStrategy(crd.Spec.Conversion.Strategy))
	}
	r, err := kube.NewResource(kind, versions, options...)
	if err != nil {
		return nil, err
	}
	return &espalierDecoders{r, converter}, nil
}

// negotiated returns a serializer whose decoders for JSON and YAML are ours.
func (e *espalierDecoders) negotiated(
	inner runtime.NegotiatedSerializer, creater runtime.ObjectCreater, typer runtime.ObjectTyper,
) (runtime.NegotiatedSerializer, error) {
	n, err := kube.NewNegotiatedSerializer(inner, creater, typer, e.resource)
	if err != nil {
		return nil, err
	}
	return espalierSerializer{n}, nil
}

// An espalierSerializer counts.
type espalierSerializer struct{ *kube.NegotiatedSerializer }

func (s espalierSerializer) DecoderToVersion(d runtime.Decoder, gv runtime.GroupVersioner) runtime.Decoder {
	decoder := s.NegotiatedSerializer.DecoderToVersion(d, gv)
	if _, ours := d.(*kube.Serializer); !ours {
		return decoder
	}
	return espalierCounter{decoder, &EspalierRequests}
}

// storage returns a codec that decodes what is stored by our decoder, and encodes as stock does. Without
// decoders, it is stock.
func (e *espalierDecoders) storage(stock runtime.Codec, version string) runtime.Codec {
	if e == nil {
		return stock
	}
	ours := e.resource.StorageDecoder(version, e.converter)
	return runtime.NewCodec(stock, espalierCounter{ours, &EspalierStored})
}

// An espalierCounter counts what a decoder decodes.
type espalierCounter struct {
	runtime.Decoder
	count *atomic.Int64
}

func (c espalierCounter) Decode(
	data []byte, defaults *schema.GroupVersionKind, into runtime.Object,
) (runtime.Object, *schema.GroupVersionKind, error) {
	c.count.Add(1)
	return c.Decoder.Decode(data, defaults, into)
}
