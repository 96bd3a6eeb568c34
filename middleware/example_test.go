package middleware_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/middleware"
	"github.com/espalier-dev/espalier/request"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
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

func mustLoad(manifest string) *schema.Catalog {
	crds, err := schema.ParseCRD([]byte(manifest))
	if err != nil {
		log.Fatal(err)
	}
	catalog := schema.NewCatalog()
	if err := catalog.Add(crds...); err != nil {
		log.Fatal(err)
	}
	return catalog
}

// The handler after the middleware gets objects without unknown fields, and with defaults.
func ExampleNew() {
	store := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "stored %s", body)
	})
	find := request.ByPath(mustLoad(webCRD))
	server := httptest.NewServer(middleware.New(find, middleware.Options{})(store))
	defer server.Close()

	for _, query := range []string{"", "?fieldValidation=Strict"} {
		response, err := http.Post(server.URL+"/apis/example.com/v1/namespaces/prod/webs"+query, "application/yaml", strings.NewReader(`
apiVersion: example.com/v1
kind: Web
spec:
  hots: example.com
`))
		if err != nil {
			log.Fatal(err)
		}
		body, _ := io.ReadAll(response.Body)
		response.Body.Close()
		fmt.Println(response.StatusCode, response.Header["Warning"])
		fmt.Println(strings.TrimSpace(string(body)))
	}
	// Output:
	// 200 [299 - "unknown field \"spec.hots\""]
	// stored {"apiVersion":"example.com/v1","kind":"Web","spec":{"replicas":1}}
	// 400 []
	// {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Web in version \"v1\" cannot be handled as a Web: strict decoding error: unknown field \"spec.hots\"","reason":"BadRequest","code":400}
}

// If paths do not name the kind, the object does. Clients other than those of Kubernetes may prefer
// problem details.
func ExampleByKind() {
	find := request.ByKind(mustLoad(webCRD))
	handler := middleware.New(find, middleware.Options{Options: request.Options{ProblemDetails: true}})(http.NotFoundHandler())

	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/hook?fieldValidation=Strict", strings.NewReader(
		`{"kind":"Web","apiVersion":"example.com/v1","spec":{"hots":"a"}}`)))
	fmt.Println(w.Code, w.Body)
	// Output:
	// 400 {"type":"about:blank","title":"Bad Request","status":400,"detail":"Web in version \"v1\" cannot be handled as a Web: strict decoding error: unknown field \"spec.hots\"","reason":"BadRequest","errors":[{"detail":"unknown field \"spec.hots\"","pointer":"/spec/hots","line":1,"column":53}]}
}

// A server that has no validation of its own refuses objects with invalid values when they are
// created.
func ExampleNew_values() {
	catalog := schema.NewCatalog(validation.Values())
	crds, err := schema.ParseCRD([]byte(strings.Replace(webCRD, "default: 1", "default: 1, maximum: 9", 1)))
	if err != nil {
		log.Fatal(err)
	}
	if err := catalog.Add(crds...); err != nil {
		log.Fatal(err)
	}
	find := request.ByPath(catalog, decoder.ValidateCreate)
	handler := middleware.New(find, middleware.Options{})(http.NotFoundHandler())

	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/apis/example.com/v1/namespaces/prod/webs", strings.NewReader(
		`{"apiVersion":"example.com/v1","kind":"Web","metadata":{"name":"a"},"spec":{"replicas":10}}`)))
	var status struct{ Reason, Message string }
	if err := json.Unmarshal(w.Body.Bytes(), &status); err != nil {
		log.Fatal(err)
	}
	fmt.Println(w.Code, status.Reason)
	fmt.Println(status.Message)
	// Output:
	// 422 Invalid
	// Web.example.com "a" is invalid: spec.replicas: Invalid value: 10: spec.replicas in body should be less than or equal to 9
}
