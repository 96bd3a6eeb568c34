// A program that decodes the object of an admission request.
package main

import (
	"fmt"
	"log"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/espalier-dev/espalier/kube"
	"github.com/espalier-dev/espalier/kube/controllerruntime/admission"
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
	d, err := admission.NewDecoder(runtime.NewScheme(), true, r)
	if err != nil {
		log.Fatal(err)
	}
	object := new(unstructured.Unstructured)
	err = d.DecodeRaw(runtime.RawExtension{Raw: []byte(`{"apiVersion":"example.com/v1","kind":"Widget","bad":1}`)}, object)
	fmt.Println(object.GetKind(), err)
}
