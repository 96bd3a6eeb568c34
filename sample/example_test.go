package sample_test

import (
	"fmt"

	"github.com/espalier-dev/espalier/sample"
	"github.com/espalier-dev/espalier/schema"
)

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Trellis, plural: trellises}
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
            required: [height]
            properties:
              height: {type: integer, minimum: 1, maximum: 40, description: How many feet it is high.}
              wood: {type: string, enum: [oak, ash, larch], default: ash}
`

func trellises() *sample.Maker {
	crds, err := schema.ParseCRD([]byte(definition))
	if err != nil {
		panic(err)
	}
	m, err := sample.Of(crds[0], "v1")
	if err != nil {
		panic(err)
	}
	return m
}

func ExampleMaker_Smallest() {
	object, err := trellises().Smallest()
	fmt.Println(string(object), err)
	// Output: {"apiVersion":"example.com/v1","kind":"Trellis","metadata":{"name":"a"}} <nil>
}

func ExampleMaker_Commented() {
	m := trellises()
	object, err := m.Full()
	if err != nil {
		panic(err)
	}
	text, err := m.Commented(object)
	fmt.Print(string(text), err)
	// Output:
	// apiVersion: example.com/v1
	// kind: Trellis
	// metadata:
	//   name: a
	//   namespace: default
	// spec:
	//   # How many feet it is high.
	//   # required; integer; 1 to 40
	//   height: 1
	//   # one of "oak", "ash", "larch"; default "ash"
	//   wood: ash
	// <nil>
}

// Each object has one value that is just wrong.
func ExampleMaker_NearlyValid() {
	m := trellises()
	for _, seed := range []uint64{3, 17, 20} {
		object, violation, err := m.NearlyValid(sample.Bytes(seed))
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s, %s: %s\n", violation.Pointer, violation.Keyword, object)
	}
	// Output:
	// /spec/wood, type: {"apiVersion":"example.com/v1","kind":"Trellis","metadata":{"name":"b"},"spec":{"height":1,"wood":{}}}
	// /spec, required: {"apiVersion":"example.com/v1","kind":"Trellis","metadata":{"name":"default.true"},"spec":{"wood":"larch"}}
	// /spec/height, maximum: {"apiVersion":"example.com/v1","kind":"Trellis","metadata":{"name":"kube-system.hapgf5"},"spec":{"height":41}}
}

// An update is a pair of objects.
func ExampleMaker_Changed() {
	m := trellises()
	before, err := m.Valid(sample.Bytes(11))
	if err != nil {
		panic(err)
	}
	after, err := m.Changed(before, sample.Bytes(12))
	fmt.Printf("%s\n%s %v\n", before, after, err)
	// Output:
	// {"apiVersion":"example.com/v1","kind":"Trellis","metadata":{"name":"zam"},"spec":{"height":1,"wood":"larch"}}
	// {"apiVersion":"example.com/v1","kind":"Trellis","metadata":{"name":"zam"},"spec":{"height":20,"wood":"oak"}} <nil>
}
