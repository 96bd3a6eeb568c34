// Required prints required.txt of package builtin: the fields of built-in kinds without which the
// API server refuses an object that is created. They are proved with objects that it accepts. Run
// it in its folder, and compare or replace the file:
//
//	GOWORK=off go run . >../../required.txt
//
// A field is printed if the server refuses each object without it that it accepts with it, and if
// the field is
//
//   - one for which the OpenAPI documents ask. They also ask for fields that the server does not
//     ask for. It is not always this field that the server complains about: it has wrong names for
//     some, and misses the selector of a DaemonSet as labels that do not match.
//   - one with such fields below it, about which the server complains, and which no object leaves
//     out: OpenAPI does not ask for the spec of a Pod, but for the containers in it.
//   - metadata.name, whose place metadata.generateName can take, as the server is seen to do.
//
// Elements of arrays that are null are empty objects for the server, and so they have none of the
// fields that elements must have. That is proved as well.
//
// It decodes, defaults and converts with the server's scheme, and validates with the strategies of
// its registry. This links most of the API server, which takes minutes to compile: so it is a
// module that make test leaves alone, and a step of .ci/run.
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	stderrors "errors"
	"fmt"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"sigs.k8s.io/yaml"
)

//go:embed objects.yaml
var objects []byte

func main() {
	log.SetFlags(0)
	schemas, err := readSchemas()
	if err != nil {
		log.Fatal(err)
	}
	all := readObjects()
	p := proof{}
	for _, o := range all {
		if err := create(o); err != nil {
			log.Fatalf("the %s is meant to be valid: %v", o["kind"], err)
		}
		schemas.walk(o, schemas.of(o), nil, func(path []any) {
			p.note(nameOf(o, path), isRefused(without(o, path), nil))
		})
		p.note(nameOf(o, []any{"metadata", "name"}), needsName(o))
	}
	for p.around(all) {
	}
	for _, o := range all {
		p.nulls(o)
	}
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if p[name] {
			fmt.Println(name)
		}
	}
}

// readObjects returns the objects, and for each Pod those with it as their template.
func readObjects() (all []map[string]any) {
	for _, text := range bytes.Split(objects, []byte("\n---\n")) {
		var o map[string]any
		if err := yaml.Unmarshal(text, &o); err != nil {
			log.Fatal(err)
		}
		if all = append(all, o); o["kind"] == "Pod" {
			all = append(all, templated(o["spec"])...)
		}
	}
	return all
}

// templated returns objects of the kinds that have a template of pods.
func templated(pod any) (all []map[string]any) {
	labels := map[string]any{"app": "a"}
	selector := map[string]any{"matchLabels": labels}
	template := map[string]any{"metadata": map[string]any{"labels": labels}, "spec": pod}
	once := map[string]any{"restartPolicy": "Never"}
	for name, value := range pod.(map[string]any) {
		if name != "restartPolicy" {
			once[name] = value
		}
	}
	job := map[string]any{"template": map[string]any{"spec": once}}
	add := func(apiVersion, kind, field string, value any) {
		all = append(all, map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": "a"}, field: value})
	}
	workload := func() map[string]any { return map[string]any{"selector": selector, "template": template} }
	add("v1", "PodTemplate", "template", template)
	add("v1", "ReplicationController", "spec", map[string]any{"selector": labels, "template": template})
	for _, kind := range []string{"DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"} {
		add("apps/v1", kind, "spec", workload())
	}
	add("batch/v1", "Job", "spec", job)
	add("batch/v1", "CronJob", "spec", map[string]any{"schedule": "0 2 * * *", "jobTemplate": map[string]any{"spec": job}})
	return all
}

// create returns the error with which the server refuses to create an object.
func create(o map[string]any) error {
	strategy := strategies[fmt.Sprintf("%s %s", o["apiVersion"], o["kind"])]
	if strategy == nil {
		return stderrors.New("there is no strategy")
	}
	object, err := runtime.Decode(legacyscheme.Codecs.UniversalDecoder(), encode(o))
	if err != nil {
		return err
	}
	metadata, err := meta.Accessor(object)
	if err != nil {
		return err
	}
	namespace := ""
	if strategy.NamespaceScoped() {
		namespace = "default"
	}
	metadata.SetNamespace(namespace)
	rest.FillObjectMetaSystemFields(metadata)
	group, version, isNamed := strings.Cut(o["apiVersion"].(string), "/")
	if !isNamed {
		group, version = "", group
	}
	ctx := request.WithNamespace(request.NewContext(), namespace)
	ctx = request.WithRequestInfo(ctx, &request.RequestInfo{IsResourceRequest: true, Verb: "create", APIGroup: group, APIVersion: version})
	ctx = request.WithUser(ctx, &user.DefaultInfo{Name: "a"})
	return rest.BeforeCreate(strategy, ctx, object)
}

// isRefused reports whether the server refuses an object because of what is at a path or below it.
func isRefused(o map[string]any, path []any) bool {
	var status *apierrors.StatusError
	if !stderrors.As(create(o), &status) || status.Status().Details == nil {
		return false
	}
	name := spelled(path)
	return slices.ContainsFunc(status.Status().Details.Causes, func(c metav1.StatusCause) bool {
		rest, found := strings.CutPrefix(c.Field, name)
		return found && (name == "" || rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}

func encode(o map[string]any) []byte {
	js, err := json.Marshal(o)
	if err != nil {
		log.Fatal(err)
	}
	return js
}

// without returns a copy of an object without the field at a path.
func without(o map[string]any, path []any) map[string]any {
	c := with(o, nil, nil)
	last := len(path) - 1
	delete(at(c, path[:last]).(map[string]any), path[last].(string))
	return c
}

// with returns a copy of an object with another value at a path, if there is one.
func with(o map[string]any, path []any, value any) map[string]any {
	var c map[string]any
	if err := json.Unmarshal(encode(o), &c); err != nil {
		log.Fatal(err)
	}
	if len(path) == 0 {
		return c
	}
	last := path[len(path)-1]
	switch around := at(c, path[:len(path)-1]).(type) {
	case []any:
		around[last.(int)] = value
	case map[string]any:
		around[last.(string)] = value
	}
	return c
}

// at returns the value at a path in an object.
func at(o map[string]any, path []any) (value any) {
	value = o
	for _, step := range path {
		if i, isIndex := step.(int); isIndex {
			value = value.([]any)[i]
		} else {
			value = value.(map[string]any)[step.(string)]
		}
	}
	return value
}

// spelled returns a path as the server writes it, and pattern one without its indices.
func spelled(path []any) string {
	return join(path, func(i int) string { return fmt.Sprintf("[%d]", i) })
}
func pattern(path []any) string { return join(path, func(int) string { return "[]" }) }

func join(path []any, index func(int) string) string {
	var b strings.Builder
	for _, step := range path {
		if i, isIndex := step.(int); isIndex {
			b.WriteString(index(i))
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(step.(string))
	}
	return b.String()
}

// A schema is one of an OpenAPI document.
type schema struct {
	Ref        string                                  `json:"$ref"`
	AllOf      []*schema                               `json:"allOf"`
	Properties map[string]*schema                      `json:"properties"`
	Items      *schema                                 `json:"items"`
	Required   []string                                `json:"required"`
	Kinds      []struct{ Group, Version, Kind string } `json:"x-kubernetes-group-version-kind"`
}

// components are the schemas of all documents, by their names.
type components map[string]*schema

// readSchemas reads the documents in module k8s.io/kubernetes.
func readSchemas() (components, error) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes").Output()
	if err != nil {
		return nil, err
	}
	names, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "api/openapi-spec/v3/*.json"))
	all := components{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var document struct {
			Components struct{ Schemas components }
		}
		if err := json.Unmarshal(text, &document); err != nil {
			return nil, err
		}
		maps.Copy(all, document.Components.Schemas)
	}
	return all, err
}

// of returns the schema of an object.
func (c components) of(o map[string]any) *schema {
	for _, s := range c {
		for _, k := range s.Kinds {
			if strings.TrimPrefix(k.Group+"/"+k.Version, "/") == o["apiVersion"] && k.Kind == o["kind"] {
				return s
			}
		}
	}
	log.Fatalf("there is no schema for %s", encode(o))
	return nil
}

// walk visits the fields of a value that its schema requires, without the metadata of objects. What
// is below fields that are maps is not looked at.
func (c components) walk(value any, s *schema, path []any, visit func(path []any)) {
	for s != nil && (s.Ref != "" || len(s.AllOf) > 0) {
		if s.Ref == "" {
			s = s.AllOf[0]
		}
		s = c[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
	}
	if s == nil {
		return
	}
	switch value := value.(type) {
	case []any:
		for i, element := range value {
			c.walk(element, s.Items, append(slices.Clip(path), i), visit)
		}
	case map[string]any:
		for name, member := range value {
			below := append(slices.Clip(path), name)
			if name == "metadata" {
				continue
			}
			if slices.Contains(s.Required, name) {
				visit(below)
			}
			c.walk(member, s.Properties[name], below, visit)
		}
	}
}
