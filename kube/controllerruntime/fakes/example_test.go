package fakes_test

import (
	"context"
	"fmt"
	"log"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/espalier-dev/espalier/kube/controllerruntime/fakes"
)

const plans = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: plans.backup.example.com}
spec:
  group: backup.example.com
  scope: Namespaced
  names: {kind: Plan, listKind: PlanList, plural: plans, singular: plan}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              keep: {type: integer, default: 7}
              atMost: {type: integer, default: 30}
            x-kubernetes-validations:
            - {rule: self.keep <= self.atMost, message: keep is more than atMost}
`

// A test of a controller gets a client that treats its kinds as a cluster would.
func ExampleNewClientBuilder() {
	crd := new(apiextensionsv1.CustomResourceDefinition)
	if err := yaml.Unmarshal([]byte(plans), crd); err != nil {
		log.Fatal(err)
	}
	builder, err := fakes.NewClientBuilder(fakes.Options{}, crd)
	if err != nil {
		log.Fatal(err)
	}
	c := builder.Build()

	plan := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "backup.example.com/v1", "kind": "Plan",
		"metadata": map[string]any{"namespace": "default", "name": "nightly"},
		"spec":     map[string]any{"keep": int64(9), "kepe": int64(8)},
	}}
	fmt.Println(c.Create(context.Background(), plan))
	fmt.Println(plan.Object["spec"])

	_ = unstructured.SetNestedField(plan.Object, int64(31), "spec", "keep")
	fmt.Println(c.Update(context.Background(), plan))
	// Output:
	// <nil>
	// map[atMost:30 keep:9]
	// Plan.backup.example.com "nightly" is invalid: spec: Invalid value: keep is more than atMost
}
