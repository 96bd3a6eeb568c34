package decoder_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// webSchema is the schema of the examples.
const webSchema = `
type: object
properties:
  apiVersion: {type: string}
  kind: {type: string}
  metadata: {type: object}
  spec:
    type: object
    properties:
      host: {type: string}
      replicas: {type: integer, default: 1}
`

// A handler decodes the body of a request into a map. It refuses a body with unknown or duplicate
// fields.
func Example_handler() {
	pool := decoder.NewPool(mustCompile(webSchema), decoder.Strict)
	handler := func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 3<<20))
		if err != nil {
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
			return
		}
		d := pool.Get()
		defer pool.Put(d)
		var object map[string]any
		if err := d.Unmarshal(body, &object); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		fmt.Fprintln(w, object["spec"])
	}

	for _, body := range []string{`{"spec":{"host":"a"}}`, `{"spec":{"hots":"a"}}`, `{"spec":`} {
		w := httptest.NewRecorder()
		handler(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body)))
		fmt.Print(w.Code, " ", w.Body)
	}
	// Output:
	// 200 map[host:a replicas:1]
	// 400 strict decoding error: unknown field "spec.hots"
	// 400 1:9: unexpected end of input, where a value is expected in "spec"
}

// A proxy prunes the objects that it passes on, without holding any of them. A malformed object
// never arrives as a whole.
func Example_reverseProxy() {
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err == nil {
			fmt.Fprintf(w, "created %s", body)
		}
	}))
	defer backend.Close()
	target, err := url.Parse(backend.URL)
	if err != nil {
		log.Fatal(err)
	}

	program := mustCompile(webSchema)
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			// The decoder is not from a pool: the body may be closed while it is still read.
			body := decoder.New(program).NewReader(r.In.Body)
			body.SetContext(r.In.Context())
			r.Out.Body = struct {
				io.Reader
				io.Closer
			}{body, r.In.Body}
			r.Out.ContentLength = -1 // the length is not known
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			status := http.StatusBadGateway
			var syntax *ferrors.SyntaxError
			if errors.As(err, &syntax) {
				status = http.StatusBadRequest
			}
			http.Error(w, err.Error(), status)
		},
	})
	defer proxy.Close()

	for _, body := range []string{`{"spec":{"host":"a","hots":"b"}}`, `{"spec":{}]`} {
		answer, err := http.Post(proxy.URL, "application/json", strings.NewReader(body))
		if err != nil {
			log.Fatal(err)
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		fmt.Println(answer.StatusCode, strings.TrimSpace(string(text)))
	}
	// Output:
	// 200 created {"spec":{"host":"a","replicas":1}}
	// 400 1:11: invalid character ']', where ',' or '}' is expected in "spec"
}

// The names of a struct's fields match case-sensitively; tags set them.
func ExampleDecoder_Unmarshal() {
	var web struct {
		Spec struct {
			Host     string `json:"host"`
			Replicas int    `json:"replicas"`
		} `json:"spec"`
	}
	d := decoder.New(mustCompile(webSchema))
	err := d.Unmarshal([]byte(`{"spec": {"host": "a", "Replicas": 3}}`), &web)
	fmt.Println(web.Spec.Host, web.Spec.Replicas, err)
	for _, f := range d.Findings() {
		fmt.Println(f.Detail())
	}
	// Output:
	// a 1 <nil>
	// 1:24: unknown field "spec.Replicas"
}

func ExampleDecoder_UnmarshalYAML() {
	var object map[string]any
	d := decoder.New(mustCompile(webSchema))
	err := d.UnmarshalYAML([]byte("kind: Web\nspec:\n  host: a\n  hots: b\n"), &object)
	fmt.Println(object, err)
	for _, f := range d.Findings() {
		fmt.Println(f.Detail())
	}
	// Output:
	// map[kind:Web spec:map[host:a replicas:1]] <nil>
	// 4:3: unknown field "spec.hots"
}

func ExampleDecoder_NewReader() {
	d := decoder.New(mustCompile(webSchema))
	r := d.NewReader(strings.NewReader(`{"spec":{"secret":["of any size"]}}`))
	n, err := r.WriteTo(os.Stdout)
	fmt.Println()
	fmt.Println(n, err)
	for _, f := range r.Findings() {
		fmt.Println(f.Detail())
	}
	// Output:
	// {"spec":{"replicas":1}}
	// 23 <nil>
	// 1:10: unknown field "spec.secret"
}

// A caller who gets a body in chunks passes them on as they come.
func ExampleDecoder_NewWriter() {
	d := decoder.New(mustCompile(webSchema))
	w := d.NewWriter(os.Stdout)
	for _, chunk := range []string{`{"spec":{"ho`, `st":"a","se`, `cret":[1,2,`, `3]}}`} {
		if _, err := w.Write([]byte(chunk)); err != nil {
			log.Fatal(err)
		}
		if err := w.Flush(); err != nil { // writes the output that is decided so far
			log.Fatal(err)
		}
	}
	if err := w.Close(); err != nil { // nil means that the object is complete
		log.Fatal(err)
	}
	// Output: {"spec":{"host":"a","replicas":1}}
}

func ExampleNewSequence() {
	crds, err := schema.ParseCRD([]byte(webCRD))
	if err != nil {
		log.Fatal(err)
	}
	catalog := schema.NewCatalog()
	if err := catalog.Add(crds...); err != nil {
		log.Fatal(err)
	}

	objects := decoder.NewSequence(strings.NewReader(`
{"apiVersion":"example.com/v1","kind":"Web","spec":{"hots":"a"}}
{"apiVersion":"example.com/v1","kind":"Wep"}
{"apiVersion":"example.com/v1","kind":"Web","spec":{"host":"b"}}
`), catalog.Lookup)
	for {
		if err := objects.Next(); err == io.EOF {
			break
		} else if err != nil {
			log.Fatal(err) // the next object cannot be found
		}
		out, err := objects.AppendJSON(nil)
		if err != nil {
			fmt.Println(objects.Position(), err) // of this object
			continue
		}
		for _, f := range objects.Findings() {
			fmt.Println(f.Detail()) // with its position in the stream
		}
		fmt.Println(string(out))
	}
	// Output:
	// 2:53: unknown field "spec.hots"
	// {"apiVersion":"example.com/v1","kind":"Web","spec":{"replicas":1}}
	// 3:1 no matches for kind "Wep" in version "example.com/v1"
	// {"apiVersion":"example.com/v1","kind":"Web","spec":{"host":"b","replicas":1}}
}

// A list of any length, such as the answer of an API server, is decoded one item at a time. If all
// items are of one kind, they need not have a kind.
func ExampleNewListSequence() {
	program := mustCompile(webSchema)
	ofWebs := func(apiVersion, kind string) (*schema.Program, error) { return program, nil }
	items := decoder.NewListSequence(strings.NewReader(
		`{"kind":"WebList","items":[{"metadata":{"name":"x"}},{"metadata":{"name":"y"},"spec":{}}]}`), ofWebs)
	items.SetContext(context.Background()) // or the context of a request
	for {
		if err := items.Next(); err == io.EOF {
			break
		} else if err != nil {
			log.Fatal(err)
		}
		var object map[string]any
		if err := items.Unmarshal(&object); err != nil {
			log.Fatal(err)
		}
		fmt.Println(object)
	}
	// Output:
	// map[metadata:map[name:x]]
	// map[metadata:map[name:y] spec:map[replicas:1]]
}

const webCRD = `
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
              host: {type: string}
              replicas: {type: integer, default: 1}
`
