package cel_test

import (
	"fmt"

	"github.com/espalier-dev/espalier/cel"
	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// An update of a resource is compared with the stored one: rules see that as oldSelf, and what was
// invalid before may stay.
func Example() {
	crds, err := schema.ParseCRD([]byte(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gates.garden.example.com}
spec:
  group: garden.example.com
  scope: Namespaced
  names: {plural: gates, singular: gate, kind: Gate, listKind: GateList}
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
              bars: {type: integer, maximum: 9}
              height: {type: integer}
            x-kubernetes-validations:
            - rule: self.height >= oldSelf.height
              message: a gate does not shrink
              fieldPath: .height
`))
	if err != nil {
		panic(err)
	}
	crd := crds[0]
	rules := cel.Rules()
	program, err := crd.Program("v1", validation.Values(rules))
	if err != nil {
		panic(err)
	}
	stored := []byte(`{"apiVersion":"garden.example.com/v1","kind":"Gate",` +
		`"metadata":{"name":"north","namespace":"default"},"spec":{"bars":12,"height":5}}`)
	object := []byte(`
apiVersion: garden.example.com/v1
kind: Gate
metadata: {name: north, namespace: default}
spec:
  bars: 12 # too many, but not more than before
  height: 4
`)
	d := decoder.New(program, decoder.ValidateUpdate)
	d.SetOld(stored)
	result, err := d.AppendYAML(nil, object)
	fmt.Println(err)
	for _, f := range d.Findings() {
		fmt.Println(f.Detail())
	}
	fmt.Println(len(result) > 0)
	// Output:
	// the object is invalid: spec.height: Invalid value: a gate does not shrink
	// 7:11: spec.height: Invalid value: a gate does not shrink
	// true
}
