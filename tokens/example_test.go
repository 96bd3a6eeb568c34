package tokens_test

import (
	"fmt"
	"io"
	"log"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/tokens"
)

func ExampleNewReader() {
	d := decoder.New(mustCompile(webSchema))
	r := tokens.NewReader(d, strings.NewReader(`{"kind":"Web", "secret":[1,2], "spec":{"host":"a"}}`))
	for {
		token, err := r.ReadToken()
		if err == io.EOF {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%q %v\n", r.StackPointer(), token)
	}
	// Output:
	// "" {
	// "/kind" kind
	// "/kind" Web
	// "/spec" spec
	// "/spec" {
	// "/spec/host" host
	// "/spec/host" a
	// "/spec/replicas" replicas
	// "/spec/replicas" 1
	// "/spec" }
	// "" }
}

func ExampleReader_Decoder() {
	var web struct {
		Spec struct {
			Replicas int `json:"replicas"`
		} `json:"spec"`
	}
	d := decoder.New(mustCompile(webSchema))
	r := tokens.NewReader(d, strings.NewReader(`{"secret":"of any size","spec":{}}`))
	err := json.UnmarshalDecode(r.Decoder(), &web)
	fmt.Println(web.Spec.Replicas, err)
	_, err = r.ReadToken() // the error says that nothing follows
	fmt.Println(err)
	// Output:
	// 1 <nil>
	// EOF
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

// webSchema is the schema of the examples.
const webSchema = `
type: object
properties:
  spec:
    type: object
    properties:
      host: {type: string}
      replicas: {type: integer, default: 1}
`
