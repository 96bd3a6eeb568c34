package request_test

import (
	"fmt"
	"log"
	"net/url"
	"strings"

	"github.com/espalier-dev/espalier/request"
	"github.com/espalier-dev/espalier/schema"
)

const webCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: webs.example.com}
spec:
  group: example.com
  names: {kind: Web, plural: webs}
  scope: Namespaced
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
              host: {type: string}
              replicas: {type: integer, default: 1}
`

// A message is a request of a protocol other than net/http's. A proxy hands it over with its
// pseudo-headers, as Envoy's ext_proc does.
type message struct {
	headers map[string]string
	body    string
}

// Values makes a message a request.Header. Its names are in lower case.
func (m message) Values(name string) []string {
	if value, ok := m.headers[strings.ToLower(name)]; ok {
		return []string{value}
	}
	return nil
}

// The protocol that carries a request does not matter: the request has a method, a target, headers
// and a body, and the result is made of values.
func Example() {
	crds, err := schema.ParseCRD([]byte(webCRD))
	if err != nil {
		log.Fatal(err)
	}
	catalog := schema.NewCatalog()
	if err := catalog.Add(crds...); err != nil {
		log.Fatal(err)
	}
	gate, find := request.NewGate(request.Options{}), request.ByPath(catalog)

	process := func(m message) {
		target, err := url.ParseRequestURI(m.headers[":path"])
		if err != nil {
			log.Fatal(err)
		}
		x := gate.Begin(request.Request{
			Method: m.headers[":method"], Host: m.headers[":authority"], URL: target, Header: m,
			ContentLength: int64(len(m.body)), Body: strings.NewReader(m.body),
		})
		defer x.Close() // result.Body is gone afterwards
		result, refused := x.Judge(find)
		switch {
		case refused != nil:
			answer := x.Answer(refused)
			fmt.Printf("answer %d %s\n%s", answer.Code, answer.Header["Content-Type"], answer.Body)
		case result.Untouched:
			fmt.Println("pass it as it is")
		default:
			fmt.Printf("pass %s %s\nwarn %s\n", result.ContentType, result.Body, result.Warnings)
		}
	}
	const path = "/apis/example.com/v1/namespaces/prod/webs"
	yaml := "apiVersion: example.com/v1\nkind: Web\nspec:\n  hots: example.com\n"
	process(message{map[string]string{":method": "POST", ":path": path, "content-type": "application/yaml"}, yaml})
	process(message{map[string]string{":method": "POST", ":path": path + "?fieldValidation=Strict", "content-type": "application/yaml"}, yaml})
	process(message{map[string]string{":method": "DELETE", ":path": path + "/a"}, ""})
	// Output:
	// pass application/json {"apiVersion":"example.com/v1","kind":"Web","spec":{"replicas":1}}
	// warn [299 - "unknown field \"spec.hots\""]
	// answer 400 application/json
	// {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Web in version \"v1\" cannot be handled as a Web: strict decoding error: unknown field \"spec.hots\"","reason":"BadRequest","code":400}
	// pass it as it is
}
