package projection_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"

	"github.com/espalier-dev/espalier/projection"
	"github.com/espalier-dev/espalier/schema"
)

// A Widget has what the controller reads of widgets.
type Widget struct {
	Spec struct {
		Replicas int `json:"replicas"`
		Hosts    []struct {
			Name string `json:"name"`
		} `json:"hosts"`
	} `json:"spec"`
}

// wrap is rest.Config.Wrap.
func wrap(c *http.Client, w func(http.RoundTripper) http.RoundTripper) {
	c.Transport = w(c.Transport)
}

func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind":"WidgetList","apiVersion":"example.com/v1","metadata":{"resourceVersion":"7"},"items":[`+
			`{"metadata":{"name":"a","managedFields":[{"manager":"x"}]},"spec":{"replicas":3,"hosts":[{"name":"h","ports":[1,2]}],"template":{}},"status":{"phase":"Up"}}]}`)
	}))
	defer server.Close()
	config := server.Client()

	p, err := projection.New(projection.Options{}, projection.Rule{
		Group: "example.com", Resource: "widgets",
		Type: reflect.TypeFor[Widget](),
		Keep: []string{"status"},
	})
	if err != nil {
		panic(err)
	}
	wrap(config, p.Transport)

	resp, err := config.Get(server.URL + "/apis/example.com/v1/widgets")
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	list, err := io.ReadAll(resp.Body)
	fmt.Println(string(list), err)

	r, err := http.NewRequest(http.MethodPut, server.URL+"/apis/example.com/v1/namespaces/n/widgets/a", strings.NewReader("{}"))
	if err != nil {
		panic(err)
	}
	refused, err := config.Do(r)
	if err != nil {
		panic(err)
	}
	defer refused.Body.Close()
	var status struct{ Message string }
	fmt.Println(json.NewDecoder(refused.Body).Decode(&status))
	fmt.Println(status.Message)
	// Output:
	// {"kind":"WidgetList","apiVersion":"example.com/v1","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a"},"spec":{"replicas":3,"hosts":[{"name":"h"}]},"status":{"phase":"Up"}}]} <nil>
	// <nil>
	// PUT refused by the projection of this client, not by the server: an update would remove the fields that were projected away: send a patch
}

// A test of a controller can hold the list of fields that it cannot see.
func ExampleRule() {
	definition, err := schema.Parse([]byte(`{type: object, properties: {spec: {type: object, properties: {
  replicas: {type: integer}, hosts: {type: array, items: {type: object, properties: {
    name: {type: string}, ports: {type: array, items: {type: integer}}}}}, template: {type: object}}}}}`))
	if err != nil {
		panic(err)
	}
	kept, err := schema.Project(reflect.TypeFor[Widget](), "spec.hosts[].port")
	if err != nil {
		panic(err)
	}
	fmt.Println(schema.DroppedFields(kept, definition))
	fmt.Println(schema.CheckProjection(kept, definition))
	// Output:
	// [spec.hosts[].ports spec.template]
	// spec.hosts[].port: Invalid value: is not specified by the schema
}
