package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	extensionsapiserver "k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/conversion"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource/tableconvertor"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured/unstructuredscheme"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/runtime/serializer/versioning"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/sets"
	apifilters "k8s.io/apiserver/pkg/endpoints/filters"
	"k8s.io/apiserver/pkg/endpoints/handlers"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	apirest "k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/rest"

	"github.com/espalier-dev/espalier/kube"
)

// A handler serves a version of a custom resource with the parts that the API server has for it:
// handlers, registry, strategy and etcd. Only the decoders of requests and stored objects are
// Espalier's.
type handler struct {
	crd      *apiextensionsv1.CustomResourceDefinition
	gvk      schema.GroupVersionKind
	resource *kube.Resource
	storage  customresource.CustomResourceStorage
	status   apirest.RESTUpdateStrategy
	scope    handlers.RequestScope
}

// newHandler returns a handler for the first version of a definition.
func newHandler(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition, options generic.RESTOptionsGetter) *handler {
	r, err := kube.ForCRD(crd)
	require.NoError(t, err)
	crd = crd.DeepCopy()
	crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
	gvk := schema.GroupVersionKind{Group: crd.Spec.Group, Version: crd.Spec.Versions[0].Name, Kind: crd.Spec.Names.Kind}
	h := &handler{crd: crd, gvk: gvk, resource: r}
	typer := extensionsapiserver.UnstructuredObjectTyper{Delegate: runtime.NewScheme(), UnstructuredTyper: unstructuredscheme.NewUnstructuredObjectTyper()}
	converters, err := conversion.NewCRConverterFactory(nil, nil)
	require.NoError(t, err)
	safe, unsafe, err := converters.NewConverter(crd)
	require.NoError(t, err)
	h.store(t, typer, options)
	h.serve(t, typer, safe, unsafe)
	return h
}

// store makes the registry, which decodes the objects in etcd.
func (h *handler) store(t *testing.T, typer runtime.ObjectTyper, options generic.RESTOptionsGetter) {
	var props apiextensions.JSONSchemaProps
	require.NoError(t, apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(h.crd.Spec.Versions[0].Schema.OpenAPIV3Schema, &props, nil))
	validator, _, err := validation.NewSchemaValidator(&props)
	require.NoError(t, err)
	structural, err := structuralschema.NewStructural(&props)
	require.NoError(t, err)
	table, err := tableconvertor.New(nil)
	require.NoError(t, err)
	var status *apiextensions.CustomResourceSubresourceStatus
	if sub := h.crd.Spec.Versions[0].Subresources; sub != nil && sub.Status != nil {
		status = &apiextensions.CustomResourceSubresourceStatus{}
	}
	strategy := customresource.NewStrategy(typer, true, h.gvk, validator, nil, structural, status, nil, nil)
	h.status = customresource.NewStatusStrategy(strategy)
	names := h.crd.Spec.Names
	h.storage, err = customresource.NewStorage(h.gvk.GroupVersion().WithResource(names.Plural).GroupResource(), schema.GroupResource{Group: h.gvk.Group, Resource: names.Singular},
		h.gvk, h.gvk.GroupVersion().WithKind(names.ListKind), strategy, decoding{options, h.resource, h.gvk.Version}, nil, table, managedfields.ResourcePathMappings{})
	require.NoError(t, err)
	t.Cleanup(h.storage.CustomResource.DestroyFunc)
}

// A decoding has the options for storage, with our decoder.
type decoding struct {
	generic.RESTOptionsGetter
	resource *kube.Resource
	version  string
}

func (d decoding) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	options, err := d.RESTOptionsGetter.GetRESTOptions(resource, nil)
	if err == nil {
		config := *options.StorageConfig
		config.Codec = runtime.NewCodec(config.Codec, d.resource.StorageDecoder(d.version, nil))
		options.StorageConfig = &config
	}
	return options, err
}

// serve makes the scope of requests, which decodes them.
func (h *handler) serve(t *testing.T, typer runtime.ObjectTyper, safe, unsafe runtime.ObjectConvertor) {
	creater := unstructuredscheme.NewUnstructuredCreator()
	serializer, err := kube.NewNegotiatedSerializer(encoding{typer, creater, safe}, creater, typer, h.resource)
	require.NoError(t, err)
	gvk, equivalent := h.gvk, runtime.NewEquivalentResourceRegistry()
	h.scope = handlers.RequestScope{
		Namer:      handlers.ContextBasedNaming{Namer: runtime.Namer(meta.NewAccessor())},
		Serializer: serializer, StandardSerializers: serializer.SupportedMediaTypes(),
		ParameterCodec: runtime.NewParameterCodec(runtime.NewScheme()),
		Creater:        creater, Convertor: safe, UnsafeConvertor: unsafe, Typer: typer, Defaulter: h.resource,
		EquivalentResourceMapper: equivalent,
		Resource:                 gvk.GroupVersion().WithResource(h.crd.Spec.Names.Plural), Kind: gvk,
		HubGroupVersion: gvk.GroupVersion(), MetaGroupVersion: metav1.SchemeGroupVersion,
		TableConvertor: h.storage.CustomResource, MaxRequestBodyBytes: 3 << 20,
	}
	models, err := builder.BuildOpenAPIV3(h.crd, gvk.Version, builder.Options{})
	require.NoError(t, err)
	types, err := managedfields.NewTypeConverter(models.Components.Schemas, false)
	require.NoError(t, err)
	h.scope.FieldManager, err = managedfields.NewDefaultCRDFieldManager(types, safe, h.resource, creater, gvk, gvk.GroupVersion(), "", nil)
	require.NoError(t, err)
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	info, _ := apirequest.RequestInfoFrom(r.Context())
	store := h.storage.CustomResource
	verbs := map[string]func() http.HandlerFunc{
		"get":    func() http.HandlerFunc { return handlers.GetResource(store, &h.scope) },
		"list":   func() http.HandlerFunc { return handlers.ListResource(store, store, &h.scope, false, time.Minute) },
		"create": func() http.HandlerFunc { return handlers.CreateResource(store, &h.scope, nil) },
		"update": func() http.HandlerFunc { return handlers.UpdateResource(store, &h.scope, nil) },
		"patch": func() http.HandlerFunc {
			return handlers.PatchResource(store, &h.scope, nil, []string{jsonPatchType, mergePatchType, applyType})
		},
		"delete": func() http.HandlerFunc { return handlers.DeleteResource(store, true, &h.scope, nil) },
	}
	verbs[info.Verb]()(w, r)
}

// An encoding is the serializer of the API server's handler, except for the part that our decoder
// replaces.
type encoding struct {
	typer     runtime.ObjectTyper
	creater   runtime.ObjectCreater
	converter runtime.ObjectConvertor
}

func (e encoding) SupportedMediaTypes() []runtime.SerializerInfo {
	serializer := func(options jsonserializer.SerializerOptions) runtime.Serializer {
		return jsonserializer.NewSerializerWithOptions(jsonserializer.DefaultMetaFactory, e.creater, e.typer, options)
	}
	return []runtime.SerializerInfo{
		{
			MediaType: "application/json", MediaTypeType: "application", MediaTypeSubType: "json", EncodesAsText: true,
			Serializer: serializer(jsonserializer.SerializerOptions{}), StrictSerializer: serializer(jsonserializer.SerializerOptions{Strict: true}),
		},
		{
			MediaType: "application/yaml", MediaTypeType: "application", MediaTypeSubType: "yaml", EncodesAsText: true,
			Serializer: serializer(jsonserializer.SerializerOptions{Yaml: true}), StrictSerializer: serializer(jsonserializer.SerializerOptions{Yaml: true, Strict: true}),
		},
		{
			MediaType: "application/vnd.kubernetes.protobuf", MediaTypeType: "application", MediaTypeSubType: "vnd.kubernetes.protobuf",
			Serializer: protobuf.NewSerializer(e.creater, e.typer),
		},
	}
}

func (e encoding) EncoderForVersion(encoder runtime.Encoder, gv runtime.GroupVersioner) runtime.Encoder {
	scheme := extensionsapiserver.Scheme
	return versioning.NewCodec(encoder, nil, e.converter, scheme, scheme, scheme, gv, nil, "e2e")
}

func (e encoding) DecoderToVersion(decoder runtime.Decoder, gv runtime.GroupVersioner) runtime.Decoder {
	scheme := extensionsapiserver.Scheme
	return versioning.NewCodec(nil, decoder, runtime.UnsafeObjectConvertor(scheme), scheme, scheme, scheme, nil, gv, "e2e")
}

// startHandler serves the definition with our decoders, beside the server and on its etcd.
func startHandler(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition, options generic.RESTOptionsGetter) *rest.Config {
	return serveHandler(t, newHandler(t, crd, options))
}

// serveHandler serves requests with a handler, without authentication.
func serveHandler(t *testing.T, h http.Handler) *rest.Config {
	resolver := &apirequest.RequestInfoFactory{APIPrefixes: sets.NewString("apis"), GrouplessAPIPrefixes: sets.NewString()}
	chain := apifilters.WithWarningRecorder(h)
	server := httptest.NewServer(apifilters.WithAuditInit(apifilters.WithRequestInfo(chain, resolver)))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL, QPS: -1, WarningHandler: rest.NoWarnings{}}
}

// compareVersions asserts that objects stored in v1 are decoded to v2 as by the server.
func compareVersions(t *testing.T, f *endpoint, crd *apiextensionsv1.CustomResourceDefinition) {
	crd = crd.DeepCopy()
	crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
	converters, err := conversion.NewCRConverterFactory(nil, nil)
	require.NoError(t, err)
	safe, _, err := converters.NewConverter(crd)
	require.NoError(t, err)
	r, err := kube.ForCRD(crd)
	require.NoError(t, err)
	decode := r.StorageDecoder("v2", safe)

	stored, served := f.list(t, "v1"), f.list(t, "v2")
	require.Greater(t, len(stored), 50)
	require.Len(t, served, len(stored))
	for i := range stored {
		js, err := json.Marshal(stored[i])
		require.NoError(t, err)
		obj, _, err := decode.Decode(js, nil, nil)
		require.NoError(t, err)
		got, err := json.Marshal(obj)
		require.NoError(t, err)
		want, err := json.Marshal(served[i])
		require.NoError(t, err)
		assert.JSONEq(t, string(want), string(got))
	}
}

func (f *endpoint) list(t *testing.T, version string) []map[string]any {
	raw, err := f.client.Get().AbsPath(f.path(version, "")).Do(context.Background()).Raw()
	require.NoError(t, err)
	var list struct{ Items []map[string]any }
	require.NoError(t, json.Unmarshal(raw, &list))
	return list.Items
}
