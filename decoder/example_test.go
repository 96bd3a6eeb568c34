package decoder_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

func prune(manifest, object []byte) ([]byte, error) {
	crds, err := schema.ParseCRD(manifest) // JSON or YAML
	if err != nil {
		return nil, err
	}
	program, err := crds[0].Program("v1")
	if err != nil {
		return nil, err
	}
	d := decoder.New(program, decoder.Warn)
	pruned, err := d.AppendJSON(nil, object)
	for _, f := range d.Findings() {
		fmt.Println(f.Detail()) // 3:5: unknown field "spec.replcas"
	}
	return pruned, err
}

func Example() {
	manifest := []byte(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: webs.example.com}
spec:
  group: example.com
  names: {kind: Web, plural: webs}
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
              replicas: {type: integer, default: 1}
`)
	pruned, err := prune(manifest, []byte(`{
  "apiVersion": "example.com/v1", "kind": "Web", "spec": {
    "replcas": 3}
}`))
	fmt.Println(string(pruned), err)
	// Output:
	// 3:5: unknown field "spec.replcas"
	// {
	//   "apiVersion": "example.com/v1", "kind": "Web", "spec": {"replicas":1}
	// } <nil>
}

func mustCompile(text string) *schema.Program {
	s, err := schema.Parse([]byte(text))
	if err != nil {
		log.Fatal(err)
	}
	p, err := schema.Compile(s)
	if err != nil {
		log.Fatal(err)
	}
	return p
}

func ExampleDecoder_AppendJSON() {
	const text = `
type: object
properties: {spec: {type: object, properties: {a: {type: string}}}}
`
	d := decoder.New(mustCompile(text), decoder.Strict, decoder.Compact(true))
	out, err := d.AppendJSON(nil, []byte(`{"spec": {"a": "x", "b": 1, "a": "y"}}`))
	fmt.Println(string(out))
	fmt.Println(err)

	var strict *ferrors.StrictError
	if errors.As(err, &strict) {
		for _, f := range strict.Findings() {
			fmt.Println(f.Kind, f.Path.Pointer(), f.Position)
		}
	}
	// Output:
	// {"spec":{"a":"y"}}
	// strict decoding error: duplicate field "spec.a", unknown field "spec.b"
	// duplicate field /spec/a 1:29
	// unknown field /spec/b 1:21
}

func ExampleDecoder_AppendYAML() {
	d := decoder.New(mustCompile(`
type: object
properties: {spec: {type: object, properties: {a: {type: string}}}}
`))
	out, err := d.AppendYAML(nil, []byte("spec:\n  a: x # kept\n  b: [1, 2]\n"))
	fmt.Println(string(out), err)
	for _, f := range d.Findings() {
		fmt.Println(f.Detail())
	}
	// Output:
	// {"spec":{"a":"x"}} <nil>
	// 3:3: unknown field "spec.b"
}

func ExamplePeekType() {
	src := []byte(`{"kind":"Web","spec":{},"apiVersion":"example.com/v1"}`)
	apiVersion, kind, err := decoder.PeekType(src)
	fmt.Println(apiVersion, kind, err)
	// Output: example.com/v1 Web <nil>
}
