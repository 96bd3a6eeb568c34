// A program that decodes an object with a serializer of k8s.io/apimachinery.
package main

import (
	"fmt"
	"log"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"

	"github.com/espalier-dev/espalier/kube"
)

func main() {
	crd := new(apiextensionsv1.CustomResourceDefinition)
	crd.Spec.Group = "example.com"
	crd.Spec.Names.Kind = "Widget"
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true,
		Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}}}}
	r, err := kube.ForCRD(crd)
	if err != nil {
		log.Fatal(err)
	}
	s, err := kube.NewSerializer(nil, nil, json.SerializerOptions{Strict: true}, r)
	if err != nil {
		log.Fatal(err)
	}
	_, _, err = s.Decode([]byte(`{"apiVersion":"example.com/v1","kind":"Widget","bad":1}`), nil, nil)
	fmt.Println(err)
}
