package fuzz_test

import (
	"fmt"
	"log"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/schema"
)

// An Unstructured takes the map as it is. Its numbers are int64 and float64, and it shares nothing
// with other results.
func Example_unstructured() {
	s, err := schema.Parse([]byte(`
type: object
properties:
  spec:
    type: object
    properties:
      host: {type: string}
      replicas: {type: integer, default: 1}
`))
	if err != nil {
		log.Fatal(err)
	}
	program, err := schema.Compile(s)
	if err != nil {
		log.Fatal(err)
	}

	d := decoder.New(program)
	var u unstructured.Unstructured
	err = d.Unmarshal([]byte(`{"apiVersion":"example.com/v1","kind":"Web","metadata":{"name":"x"},"spec":{"hots":"a"}}`), &u.Object)
	if err != nil {
		log.Fatal(err)
	}
	replicas, _, err := unstructured.NestedInt64(u.Object, "spec", "replicas")
	fmt.Println(u.GroupVersionKind(), u.GetName(), replicas, err)

	changed := u.DeepCopy()
	changed.SetName("y")
	fmt.Println(u.GetName(), changed.GetName())
	fmt.Println(d.Findings()[0].Detail())
	// Output:
	// example.com/v1, Kind=Web x 1 <nil>
	// x y
	// 1:77: unknown field "spec.hots"
}
