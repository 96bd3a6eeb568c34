package e2e

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	extensionsapiserver "k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/conversion"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured/unstructuredscheme"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/recognizer"
	"k8s.io/apimachinery/pkg/runtime/serializer/versioning"
)

// A stagedServer has the decoders of the API server's handler for custom resources, made of its
// packages: unstructuredNegotiatedSerializer, for requests, and the codec of
// crdConversionRESTOptionsGetter, for storage. The code here only replaces what these do not
// export: the order in which the packages are called.
type stagedServer struct {
	encoding
	groupKind schema.GroupKind
	schemas   map[string]*structuralschema.Structural
}

func newStagedServer(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition) *stagedServer {
	s := &stagedServer{
		groupKind: schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind},
		schemas:   make(map[string]*structuralschema.Structural),
	}
	parameters := runtime.NewScheme()
	for _, v := range crd.Spec.Versions {
		var props apiextensions.JSONSchemaProps
		require.NoError(t, apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, &props, nil))
		structural, err := structuralschema.NewStructural(&props)
		require.NoError(t, err)
		structural = structural.DeepCopy()
		require.NoError(t, defaulting.PruneDefaults(structural))
		s.schemas[v.Name] = structural
		parameters.AddUnversionedTypes(schema.GroupVersion{Group: crd.Spec.Group, Version: v.Name},
			&metav1.ListOptions{}, &metav1.GetOptions{}, &metav1.DeleteOptions{})
	}
	converters, err := conversion.NewCRConverterFactory(nil, nil)
	require.NoError(t, err)
	s.converter, _, err = converters.NewConverter(crd)
	require.NoError(t, err)
	s.creater = unstructuredscheme.NewUnstructuredCreator()
	s.typer = extensionsapiserver.UnstructuredObjectTyper{Delegate: parameters, UnstructuredTyper: unstructuredscheme.NewUnstructuredObjectTyper()}
	return s
}

// DecoderToVersion returns the decoder for requests.
func (s *stagedServer) DecoderToVersion(decoder runtime.Decoder, gv runtime.GroupVersioner) runtime.Decoder {
	serializer, ok := decoder.(*jsonserializer.Serializer)
	scheme := extensionsapiserver.Scheme
	c := coercer{server: s, track: ok && serializer.IsStrict()}
	return versioning.NewCodec(nil, coercingDecoder{decoder, c}, runtime.UnsafeObjectConvertor(scheme), scheme, scheme, s, nil, gv, "staged")
}

// storage returns the decoder for stored objects.
func (s *stagedServer) storage(version string) runtime.Decoder {
	c := coercer{server: s}
	// As in NewCRDRESTOptionsGetter.
	both := recognizer.NewDecoder(cbor.NewSerializer(s.creater, unstructuredscheme.NewUnstructuredObjectTyper()), unstructured.UnstructuredJSONScheme)
	stored := coercingDecoder{both, coercer{server: s, dropInvalid: true, repairGeneration: true}}
	return versioning.NewCodec(unstructured.UnstructuredJSONScheme, stored, coercingConverter{s.converter, c}, s.creater,
		unstructuredscheme.NewUnstructuredObjectTyper(), s, gvk.GroupVersion(), schema.GroupVersion{Group: s.groupKind.Group, Version: version}, "staged")
}

// Default does what unstructuredDefaulter does.
func (s *stagedServer) Default(in runtime.Object) {
	u, ok := in.(runtime.Unstructured)
	if !ok || u.GetObjectKind().GroupVersionKind().GroupKind() != s.groupKind {
		extensionsapiserver.Scheme.Default(in)
		return
	}
	defaulting.Default(u.UnstructuredContent(), s.schemas[u.GetObjectKind().GroupVersionKind().Version])
}

// A coercingDecoder coerces the objects of another decoder, and adds what it finds to strict
// errors.
type coercingDecoder struct {
	runtime.Decoder
	coercer coercer
}

func (d coercingDecoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	obj, gvk, err := d.Decoder.Decode(data, defaults, into)
	strict, isStrict := runtime.AsStrictDecodingError(err)
	if err != nil && (!isStrict || obj == nil) {
		return nil, gvk, err
	}
	var found []error
	if isStrict {
		found = strict.Errors()
	}
	if u, ok := obj.(*unstructured.Unstructured); ok {
		unknown, err := d.coercer.coerce(u)
		if err != nil {
			return nil, gvk, err
		}
		for _, path := range unknown {
			found = append(found, fmt.Errorf(`unknown field "%s"`, path)) //nolint:gocritic // as the server does, not quoted
		}
	}
	if d.coercer.track && len(found) > 0 {
		return obj, gvk, runtime.NewStrictDecodingError(found)
	}
	return obj, gvk, nil
}

// A coercingConverter coerces the objects of another converter.
type coercingConverter struct {
	runtime.ObjectConvertor
	coercer coercer
}

func (c coercingConverter) Convert(in, out, context any) error {
	if err := c.ObjectConvertor.Convert(in, out, context); err != nil {
		return err
	}
	return c.coerce(out)
}

func (c coercingConverter) ConvertToVersion(in runtime.Object, gv runtime.GroupVersioner) (runtime.Object, error) {
	out, err := c.ObjectConvertor.ConvertToVersion(in, gv)
	if err == nil {
		err = c.coerce(out)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (c coercingConverter) coerce(v any) (err error) {
	if u, ok := v.(*unstructured.Unstructured); ok {
		_, err = c.coercer.coerce(u)
	}
	return err
}

// A coercer prunes objects, drops nulls and reduces metadata to what the Go types keep of it.
type coercer struct {
	server                               *stagedServer
	track, dropInvalid, repairGeneration bool
}

var errPanic = errors.New("the server panics for stored objects without metadata")

func (c coercer) coerce(u *unstructured.Unstructured) (unknown []string, err error) {
	kind, hasKind, err := unstructured.NestedString(u.Object, "kind")
	if err != nil {
		return nil, err
	}
	apiVersion, hasVersion, err := unstructured.NestedString(u.Object, "apiVersion")
	if err != nil {
		return nil, err
	}
	meta, hasMeta, unknown, err := objectmeta.GetObjectMetaWithOptions(u.Object, objectmeta.ObjectMetaOptions{DropMalformedFields: c.dropInvalid, ReturnUnknownFieldPaths: c.track})
	if err != nil {
		return nil, err
	}
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return nil, err
	}
	if gv.WithKind(kind).GroupKind() == c.server.groupKind {
		structural := c.server.schemas[gv.Version]
		unknown = append(unknown, pruning.PruneWithOptions(u.Object, structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: c.track})...)
		defaulting.PruneNonNullableNullsWithoutDefaults(u.Object, structural)
		fault, paths := objectmeta.CoerceWithOptions(nil, u.Object, structural, false, objectmeta.CoerceOptions{DropInvalidFields: c.dropInvalid, ReturnUnknownFieldPaths: c.track})
		if fault != nil {
			return nil, fault
		}
		unknown = append(unknown, paths...)
		if c.repairGeneration && meta == nil {
			return nil, errPanic
		}
		if c.repairGeneration && meta.Generation == 0 {
			meta.Generation = 1
		}
	}
	if hasKind {
		u.SetKind(kind)
	}
	if hasVersion {
		u.SetAPIVersion(apiVersion)
	}
	if hasMeta {
		err = objectmeta.SetObjectMeta(u.Object, meta)
	}
	return unknown, err
}
