package kube_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/kube"
)

// backupPlans reads the definition of the quickstart.
func backupPlans() *kube.Resource {
	manifest, err := os.ReadFile("../testdata/quickstart/crd.yaml")
	if err != nil {
		log.Fatal(err)
	}
	crd := new(apiextensionsv1.CustomResourceDefinition)
	if err := yaml.Unmarshal(manifest, crd); err != nil {
		log.Fatal(err)
	}
	r, err := kube.ForCRD(crd)
	if err != nil {
		log.Fatal(err)
	}
	return r
}

// A serializer decodes objects that clients send. If it is strict, findings come with the object,
// each with its position.
func Example() {
	s, err := kube.NewSerializer(nil, nil, json.SerializerOptions{Yaml: true, Strict: true}, backupPlans())
	if err != nil {
		log.Fatal(err)
	}
	body := []byte(`
apiVersion: backup.example.com/v1
kind: BackupPlan
metadata:
  name: databases
spec:
  schedule: 0 2 * * *
  retention:
    dayly: 14
`)
	u := new(unstructured.Unstructured)
	_, gvk, err := s.Decode(body, nil, u)
	if strict, ok := runtime.AsStrictDecodingError(err); ok {
		for _, finding := range strict.Errors() {
			fmt.Println(finding.(interface{ Detail() string }).Detail())
		}
	} else if err != nil {
		log.Fatal(err)
	}
	fmt.Println(gvk.Kind, u.Object["spec"].(map[string]any)["retention"])
	// Output:
	// 9:5: unknown field "spec.retention.dayly"
	// BackupPlan map[daily:7 monthly:12]
}

// Controllers and tests have objects in a form other than the one that a server stores.
func ExampleResource_Prune() {
	r := backupPlans()
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "backup.example.com/v1", "kind": "BackupPlan",
		"spec": map[string]any{"schedule": "0 2 * * *", "suspended": true},
	}}
	unknown, err := r.Prune(u)
	if err != nil {
		log.Fatal(err)
	}
	r.Default(u)
	spec := u.Object["spec"].(map[string]any)
	names := make([]string, 0, len(spec))
	for name := range spec {
		names = append(names, name)
	}
	slices.Sort(names)
	fmt.Println(unknown, names)
	// Output:
	// [spec.suspended] [retention schedule suspend]
}

// A patch is applied as the API server applies it, and findings come with the result.
func ExampleResource_Patch() {
	current := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "backup.example.com/v1", "kind": "BackupPlan",
		"spec": map[string]any{"schedule": "0 2 * * *", "suspend": true},
	}}
	patch := []byte(`{"spec":{"suspend":null,"suspended":true}}`)
	patched, warnings, err := backupPlans().Patch(current, types.MergePatchType, patch, decoder.Warn)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(warnings)
	fmt.Println(patched.Object["spec"].(map[string]any)["suspend"])
	// Output:
	// [unknown field "spec.suspended"]
	// false
}

// The body of a server-side apply is decoded as it is. What the server's merge would refuse is
// found with its place.
func ExampleResource_DecodeApply() {
	body := []byte(`
apiVersion: backup.example.com/v1
kind: BackupPlan
metadata: {name: databases}
spec:
  suspended: true
`)
	object, findings, err := backupPlans().DecodeApply(body, decoder.Warn)
	if err != nil {
		log.Fatal(err)
	}
	for _, err := range findings {
		var f *ferrors.Finding
		if errors.As(err, &f) {
			fmt.Println(f.Detail())
		}
	}
	fmt.Println(object.Object["spec"])
	// Output:
	// 6:3: unknown field "spec.suspended"
	// map[suspended:true]
}

// Objects that are stored in v1 are read in v2. The definition's strategy for conversion is None,
// so that the decoder needs no converter.
func ExampleConversionStrategy() {
	schemas := map[string]*structuralschema.Structural{
		"v1": {Properties: map[string]structuralschema.Structural{"height": {}, "width": {}}},
		"v2": {Properties: map[string]structuralschema.Structural{"height": {}}},
	}
	kind := runtimeschema.GroupKind{Group: "garden.example.com", Kind: "Trellis"}
	r, err := kube.NewResource(kind, schemas, kube.ConversionStrategy(apiextensionsv1.NoneConverter))
	if err != nil {
		log.Fatal(err)
	}
	stored := []byte(`{"apiVersion":"garden.example.com/v1","kind":"Trellis","metadata":{},"height":2,"width":3}`)
	object, gvk, err := r.StorageDecoder("v2", nil).Decode(stored, nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	u := object.(*unstructured.Unstructured)
	fmt.Println(gvk.Version, u.GetAPIVersion(), u.Object["height"], u.Object["width"])
	// Output:
	// v1 garden.example.com/v2 2 <nil>
}

// The calls that docs/kubernetes.md shows.
func Example_calls() {
	if err := calls(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// [spec.a]
	// {"schedule":"daily"}
	// n []
}

func calls() error {
	text, err := os.ReadFile("../testdata/quickstart/crd.yaml")
	if err != nil {
		return err
	}
	crd := new(apiextensionsv1.CustomResourceDefinition)
	if err := yaml.Unmarshal(text, crd); err != nil {
		return err
	}
	options, scheme := json.SerializerOptions{Yaml: true, Strict: true}, runtime.NewScheme()
	codecs := serializer.NewCodecFactory(scheme)
	r, err := kube.ForCRD(crd)
	if err != nil {
		return err
	}
	s, err := kube.NewSerializer(nil, nil, options, r)
	if err != nil {
		return err
	}
	n, err := kube.NewNegotiatedSerializer(codecs, scheme, scheme, r)
	if err != nil {
		return err
	}
	d := r.StorageDecoder("v1", nil)
	if !s.IsStrict() || len(n.SupportedMediaTypes()) == 0 || d == nil {
		return errors.New("these are no decoders")
	}
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "backup.example.com/v1", "kind": "BackupPlan", "metadata": map[string]any{"name": "n"}, "spec": map[string]any{"a": "b"},
	}}
	unknown, err := r.Prune(object)
	if err != nil {
		return err
	}
	fmt.Println(unknown)
	r.Default(object)
	patch := []byte(`{"spec":{"schedule":"daily"}}`)
	patched, warnings, err := r.Patch(object, types.MergePatchType, patch, decoder.Warn)
	if err != nil || len(warnings) > 0 {
		return errors.Join(append(warnings, err)...)
	}
	schedule, _, err := unstructured.NestedString(patched.Object, "spec", "schedule")
	if err != nil {
		return err
	}
	fmt.Printf("{\"schedule\":%q}\n", schedule)
	body, err := yaml.Marshal(patched.Object)
	if err != nil {
		return err
	}
	object, findings, err := r.DecodeApply(body, decoder.Warn)
	fmt.Println(object.GetName(), findings)
	return err
}

// potDefinition returns a definition whose objects must have a plant.
func potDefinition() *apiextensionsv1.CustomResourceDefinition {
	crd := new(apiextensionsv1.CustomResourceDefinition)
	if err := yaml.Unmarshal([]byte(`
spec:
  group: garden.example.com
  names: {kind: Pot}
  scope: Namespaced
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [plant]
            properties:
              plant: {type: string, maxLength: 5}
              litres: {type: integer, maximum: 9}
`), crd); err != nil {
		log.Fatal(err)
	}
	return crd
}

// In an API server, an object is validated after admission: by the strategy of its store.
func ExampleValidator() {
	crd := potDefinition()
	v, err := kube.NewValidator(crd, "v1")
	if err != nil {
		log.Fatal(err)
	}
	pot := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "garden.example.com/v1", "kind": "Pot",
		"metadata": map[string]any{"name": "a", "namespace": "b"},
		"spec":     map[string]any{"litres": int64(10)},
	}}
	for _, err := range v.Validate(context.Background(), pot) {
		fmt.Println(err)
	}
	// Output:
	// spec.plant: Required value
	// spec.litres: Invalid value: 10: spec.litres in body should be less than or equal to 9
}

// What is invalid in the stored object may stay: only what an update changes is refused.
func ExampleValidator_ValidateUpdate() {
	crd := potDefinition()
	v, err := kube.NewValidator(crd, "v1")
	if err != nil {
		log.Fatal(err)
	}
	old := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "garden.example.com/v1", "kind": "Pot",
		"metadata": map[string]any{"name": "a", "namespace": "b"},
		"spec":     map[string]any{"plant": "orchid", "litres": int64(9)},
	}}
	pot := old.DeepCopy()
	pot.Object["spec"].(map[string]any)["litres"] = int64(10)
	for _, err := range v.ValidateUpdate(context.Background(), pot, old) {
		fmt.Println(err)
	}
	// Output: spec.litres: Invalid value: 10: spec.litres in body should be less than or equal to 9
}
