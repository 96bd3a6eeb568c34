package main

import (
	_ "embed"
	"errors"
	"fmt"
	"net"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	generatedopenapi "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/authentication/request/anonymous"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/util/compatibility"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/yaml"

	"github.com/espalier-dev/espalier/kube"
)

var errChanged = errors.New("the object has been changed by somebody else")

//go:embed crd.yaml
var manifest []byte

// newServer returns a generic API server for trellises that decodes and validates them by their
// schema. It needs no cluster: on the loopback interface, everybody may do everything.
func newServer(listener net.Listener, certDirectory string) (*genericapiserver.GenericAPIServer, error) {
	scheme := newScheme()
	codecs := serializer.NewCodecFactory(scheme)
	crd := new(apiextensionsv1.CustomResourceDefinition)
	if err := yaml.UnmarshalStrict(manifest, crd); err != nil {
		return nil, err
	}
	trellises, err := kube.ForCRD(crd)
	if err != nil {
		return nil, err
	}
	validator, err := kube.NewValidator(crd, groupVersion.Version)
	if err != nil {
		return nil, err
	}
	config, err := newConfig(codecs, scheme, crd, listener, certDirectory)
	if err != nil {
		return nil, err
	}
	server, err := config.Complete(nil).New("garden", genericapiserver.NewEmptyDelegate())
	if err != nil {
		return nil, err
	}
	group := genericapiserver.NewDefaultAPIGroupInfo(groupVersion.Group, scheme, runtime.NewParameterCodec(scheme), codecs)
	group.VersionedResourcesStorageMap[groupVersion.Version] = map[string]rest.Storage{"trellises": newStore(validator)}
	// No more code is needed to prune, default and validate fields by the schema.
	if group.NegotiatedSerializer, err = kube.NewNegotiatedSerializer(codecs, scheme, scheme, trellises); err != nil {
		return nil, err
	}
	return server, server.InstallAPIGroup(&group)
}

func newConfig(codecs serializer.CodecFactory, scheme *runtime.Scheme, crd *apiextensionsv1.CustomResourceDefinition, listener net.Listener, certDirectory string) (*genericapiserver.Config, error) {
	config := genericapiserver.NewConfig(codecs)
	config.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	config.Authentication.Authenticator = anonymous.NewAuthenticator(nil)
	config.Authorization.Authorizer = authorizerfactory.NewAlwaysAllowAuthorizer()

	serving := genericoptions.NewSecureServingOptions().WithLoopback()
	serving.Listener = listener
	serving.BindPort = listener.Addr().(*net.TCPAddr).Port
	serving.ServerCert.CertDirectory = certDirectory
	if err := serving.MaybeDefaultWithSelfSignedCerts("localhost", nil, []net.IP{net.IPv4(127, 0, 0, 1)}); err != nil {
		return nil, err
	}
	if err := serving.ApplyTo(&config.SecureServing, &config.LoopbackClientConfig); err != nil {
		return nil, err
	}
	definitions, err := openAPIDefinitions(crd)
	if err != nil {
		return nil, err
	}
	namer := openapi.NewDefinitionNamer(scheme)
	config.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(definitions, namer)
	config.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(definitions, namer)
	return config, nil
}

// openAPIDefinitions publishes the schema of the definition, which server-side apply needs, too.
func openAPIDefinitions(crd *apiextensionsv1.CustomResourceDefinition) (common.GetOpenAPIDefinitions, error) {
	var internal apiextensions.JSONSchemaProps
	v1 := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v1, &internal, nil); err != nil {
		return nil, err
	}
	structural, err := structuralschema.NewStructural(&internal)
	if err != nil {
		return nil, fmt.Errorf("schema of trellises: %w", err)
	}
	return func(ref common.ReferenceCallback) map[string]common.OpenAPIDefinition {
		definitions := generatedopenapi.GetOpenAPIDefinitions(ref) // those of metadata
		refTo := func(name string) spec.Schema { return spec.Schema{SchemaProps: spec.SchemaProps{Ref: ref(name)}} }
		text := *spec.StringProperty()
		meta, listMeta := metav1.ObjectMeta{}.OpenAPIModelName(), metav1.ListMeta{}.OpenAPIModelName()
		trellis := *structural.ToKubeOpenAPI()
		trellis.SetProperty("apiVersion", text).SetProperty("kind", text).SetProperty("metadata", refTo(meta))
		definitions[Trellis{}.OpenAPIModelName()] = common.OpenAPIDefinition{Schema: trellis, Dependencies: []string{meta}}
		items := refTo(Trellis{}.OpenAPIModelName())
		list := *new(spec.Schema).Typed("object", "")
		list.SetProperty("apiVersion", text).SetProperty("kind", text).SetProperty("metadata", refTo(listMeta)).
			SetProperty("items", *spec.ArrayProperty(&items))
		definitions[TrellisList{}.OpenAPIModelName()] = common.OpenAPIDefinition{Schema: list, Dependencies: []string{listMeta, Trellis{}.OpenAPIModelName()}}
		return definitions
	}, nil
}
