package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/espalier-dev/espalier/sample"
	"github.com/espalier-dev/espalier/schema"
)

// An upgrade replaces the definition of beds. marker is a field that the new one alone has a default
// for, so that it can be seen when the server has taken over.
type upgrade struct {
	name   string
	change func(spec, schema map[string]any)
	// What must be among the effects, so that the upgrade shows something.
	shows []string
}

// at returns the object in an object that names lead to.
func at(in map[string]any, names ...string) map[string]any {
	for _, name := range names {
		in = in[name].(map[string]any)
	}
	return in
}

// properties returns the properties of the spec of beds.
func properties(s map[string]any) map[string]any {
	return at(s, "properties", "spec", "properties")
}

func upgrades() []upgrade {
	return []upgrade{
		{"a field is gone", func(_, s map[string]any) { delete(properties(s), "label") }, []string{"lost /spec/label"}},
		{"an object is gone", func(_, s map[string]any) { delete(properties(s), "place") }, []string{"lost /spec/place"}},
		{"fields of elements and values are gone", func(_, s map[string]any) {
			delete(at(properties(s), "rows", "items", "properties"), "plant")
			delete(at(properties(s), "plans", "additionalProperties", "properties"), "task")
		}, []string{"lost /spec/rows/0/plant", "lost /spec/plans/may/task"}},
		{"a field has moved", func(_, s map[string]any) {
			p := properties(s)
			p["caption"] = p["label"]
			delete(p, "label")
		}, []string{"lost /spec/label"}},
		{"unknown fields are no longer preserved", func(_, s map[string]any) {
			delete(at(properties(s), "free"), "x-kubernetes-preserve-unknown-fields")
		}, []string{"lost /spec/free/other", "lost /spec/free/deep"}},
		{"unknown fields are preserved from now on", func(_, s map[string]any) {
			at(properties(s), "place")["x-kubernetes-preserve-unknown-fields"] = true
		}, nil},
		{"a resource is embedded no more", func(_, s map[string]any) {
			delete(at(properties(s), "resource"), "x-kubernetes-embedded-resource")
			delete(at(properties(s), "resource"), "x-kubernetes-preserve-unknown-fields")
		}, []string{"lost /spec/resource/apiVersion"}},
		{"a field is not nullable any more", func(_, s map[string]any) { delete(at(properties(s), "note"), "nullable") }, []string{"lost /spec/note"}},
		{"and has a default", func(_, s map[string]any) {
			delete(at(properties(s), "note"), "nullable")
			at(properties(s), "note")["default"] = "none"
		}, []string{"defaulted /spec/note"}},
		{"new defaults", func(_, s map[string]any) {
			at(properties(s), "shade")["default"] = false
			properties(s)["new"] = map[string]any{"type": "object", "default": map[string]any{"a": "b"}, "properties": map[string]any{"a": map[string]any{"type": "string"}}}
			at(properties(s), "rows", "items", "properties")["depth"] = map[string]any{"type": "integer", "default": 3}
		}, []string{"defaulted /spec/shade", "defaulted /spec/new", "defaulted /spec/rows/0/depth"}},
		{"other defaults", func(_, s map[string]any) { at(properties(s), "depth")["default"] = 40 }, nil},
		{"another type", func(_, s map[string]any) { at(properties(s), "width")["type"] = "string" }, []string{"refused spec.width"}},
		{"an object becomes a text", func(_, s map[string]any) { properties(s)["place"] = map[string]any{"type": "string"} }, []string{"refused spec.place"}},
		{"stricter", func(_, s map[string]any) {
			p := properties(s)
			at(p, "soil")["enum"] = []any{"clay", "loam"}
			at(p, "depth")["maximum"] = 100
			at(p, "label")["pattern"] = "^[a-z]+$"
			at(p, "rows")["maxItems"] = 1
			at(p, "rows", "items")["required"] = []any{"plant"}
		}, []string{"refused spec.soil", "refused spec.rows"}},
		{"a new rule", func(_, s map[string]any) {
			at(s, "properties", "spec")["x-kubernetes-validations"] = []any{map[string]any{"rule": "!has(self.shade) || self.shade"}}
		}, []string{"refused spec"}},
		{"a field is required", func(_, s map[string]any) { at(s, "properties", "spec")["required"] = []any{"label"} }, []string{"refused spec.label"}},
		{"the status loses a field", func(_, s map[string]any) { delete(at(s, "properties", "status", "properties"), "phase") }, []string{"lost /status/phase"}},
		{"another storage version", func(spec, _ map[string]any) {
			versions(spec)[0]["storage"], versions(spec)[1]["storage"] = false, true
		}, nil},
		{"a field is in one version alone", func(spec, s map[string]any) {
			var other map[string]any
			js, _ := json.Marshal(s)
			_ = json.Unmarshal(js, &other)
			delete(properties(other), "label")
			versions(spec)[1]["schema"] = map[string]any{"openAPIV3Schema": other}
			delete(properties(s), "place")
		}, []string{"lost /spec/place"}},
	}
}

// TestAudit replaces a definition that has objects. What the server then returns of them, and what it
// refuses, is what espalier audit says, value by value.
func TestAudit(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	config, _, _ := startServer(t)
	command := buildCommand(t)
	manifest, err := os.ReadFile(filepath.Join("testdata", "beds.yaml"))
	require.NoError(t, err)
	client := newEndpoint(t, "audit", config).client
	for i, u := range upgrades() {
		t.Run(u.name, func(t *testing.T) {
			t.Parallel() // most of the time is spent waiting for the server to use a definition
			a := &auditServer{T: t, client: client, command: command, group: fmt.Sprintf("g%d.audit.example.com", i)}
			a.compare(manifest, &u)
		})
	}
}

// An auditServer has the definition of a group.
type auditServer struct {
	*testing.T
	client  *rest.RESTClient
	command string
	group   string
}

func (a *auditServer) compare(manifest []byte, u *upgrade) {
	js, err := yaml.YAMLToJSON(bytes.ReplaceAll(manifest, []byte("audit.example.com"), []byte(a.group)))
	require.NoError(a, err)
	from := a.define(js)
	to := a.changed(js, u)
	a.create(from)
	before := map[string]map[string]any{}
	files := map[string]string{}
	for _, version := range []string{"v1", "v1beta1"} {
		list := a.list(version)
		before[version] = a.objects(list)
		files[version] = a.file("before.json", list)
		require.Greater(a, len(before[version]), 20)
	}
	a.replace(to)
	args := []string{"audit", "--config=", "--from", a.file("from.json", js), "--to", a.file("to.json", to), "-o", "ndjson"}
	var shown []string
	for version, file := range files {
		found := a.audit(append(slices.Clip(args), file))
		after := a.objects(a.list(version))
		want := map[string]string{}
		for name, object := range before[version] {
			compareValues(want, name, "", object, after[name])
		}
		have := map[string]string{}
		for _, e := range found {
			if e.Effect == "lost" || e.Effect == "defaulted" {
				have[e.Name+" "+e.Pointer] = e.Effect
			}
		}
		assert.Equal(a, want, have, version)
		a.compareRefusals(version, after, found)
		for _, e := range found {
			shown = append(shown, e.Effect+" "+e.Pointer, e.Effect+" "+e.Path)
		}
	}
	for _, what := range u.shows {
		assert.Contains(a, shown, what)
	}
}

// An auditLine is a line of the output.
type auditLine struct {
	Effect, Name, Path, Pointer, Rule, Message string
	MayStay                                    bool
}

func (a *auditServer) audit(args []string) (lines []auditLine) {
	cmd := exec.Command(a.command, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		require.Equal(a, 1, cmd.ProcessState.ExitCode(), "%v: %s", args, stderr.String())
	}
	require.Empty(a, stderr.String())
	for line := range bytes.Lines(out) {
		var l auditLine
		require.NoError(a, json.Unmarshal(line, &l))
		lines = append(lines, l)
	}
	return lines
}

// compareValues notes what has become of the values of an object, as a reader would do it.
func compareValues(to map[string]string, name, pointer string, before, after any) {
	switch old := before.(type) {
	case map[string]any:
		now, ok := after.(map[string]any)
		if !ok {
			to[name+" "+pointer] = "defaulted"
			return
		}
		for key, value := range old {
			at := pointer + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
			if next, ok := now[key]; ok {
				compareValues(to, name, at, value, next)
			} else {
				to[name+" "+at] = "lost"
			}
		}
		for key := range now {
			if _, ok := old[key]; !ok {
				to[name+" "+pointer+"/"+key] = "defaulted"
			}
		}
	case []any:
		now, ok := after.([]any)
		if !ok || len(now) != len(old) {
			to[name+" "+pointer] = "defaulted"
			return
		}
		for i := range old {
			compareValues(to, name, pointer+"/"+strconv.Itoa(i), old[i], now[i])
		}
	default:
		if !assert.ObjectsAreEqual(before, after) {
			to[name+" "+pointer] = "defaulted"
		}
	}
}

// compareRefusals creates copies of objects, and updates the objects without a change.
func (a *auditServer) compareRefusals(version string, after map[string]any, found []auditLine) {
	created, updated := map[string][]string{}, map[string][]string{}
	for _, e := range found {
		if e.Effect != "refused" {
			continue
		}
		created[e.Name] = append(created[e.Name], e.Path)
		if !e.MayStay {
			updated[e.Name] = append(updated[e.Name], e.Path)
		}
	}
	for name, x := range after {
		object := x.(map[string]any)
		assert.ElementsMatch(a, a.causes(http.MethodPut, a.path(version, name), object), updated[name], "%s: update", name)
		meta := maps.Clone(object["metadata"].(map[string]any))
		for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields", "generation"} {
			delete(meta, field)
		}
		meta["name"] = "copy-of-" + name
		object = maps.Clone(object)
		object["metadata"] = meta
		delete(object, "status")
		assert.ElementsMatch(a, a.causes(http.MethodPost, a.path(version, ""), object), created[name], "%s: create", name)
	}
}

// causes returns the fields that the server refuses in an object, in a dry run.
func (a *auditServer) causes(method, path string, object map[string]any) (fields []string) {
	js, err := json.Marshal(object)
	require.NoError(a, err)
	raw, err := a.client.Verb(method).AbsPath(path).Param("dryRun", "All").SetHeader("Content-Type", "application/json").
		Body(js).Do(context.Background()).Raw()
	if err == nil {
		return nil
	}
	var status metav1.Status
	require.NoError(a, json.Unmarshal(raw, &status), "%s", raw)
	require.Equal(a, metav1.StatusReasonInvalid, status.Reason, "%s", raw)
	for _, c := range status.Details.Causes {
		if !isNotChecked(c) {
			fields = append(fields, c.Field)
		}
	}
	return fields
}

func (a *auditServer) path(version, name string) string {
	return path.Join("/apis", a.group, version, "namespaces", "default", "beds", name)
}

const definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// define creates the definition and waits until it is served.
func (a *auditServer) define(js []byte) *schema.CRD {
	raw, err := a.client.Post().AbsPath(definitionsPath).SetHeader("Content-Type", "application/json").Body(js).Do(context.Background()).Raw()
	require.NoError(a, err, "%s", raw)
	require.Eventually(a, func() bool {
		_, err := a.client.Get().AbsPath(a.path("v1", "")).MaxRetries(0).Do(context.Background()).Raw()
		return err == nil
	}, time.Minute, 10*time.Millisecond)
	crds, err := schema.ParseCRD(js)
	require.NoError(a, err)
	return crds[0]
}

// changed returns the new definition.
func (a *auditServer) changed(js []byte, u *upgrade) []byte {
	var manifest map[string]any
	require.NoError(a, json.Unmarshal(js, &manifest))
	spec := manifest["spec"].(map[string]any)
	first := root(spec)
	versions(spec)[1]["schema"] = map[string]any{"openAPIV3Schema": first}
	u.change(spec, first)
	for _, v := range versions(spec) {
		s := v["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)
		properties(s)["marker"] = map[string]any{"type": "string", "default": "new"}
	}
	out, err := json.Marshal(manifest)
	require.NoError(a, err)
	return out
}

// replace updates the definition, and waits until the server uses it.
func (a *auditServer) replace(js []byte) {
	name := definitionsPath + "/beds." + a.group
	raw, err := a.client.Get().AbsPath(name).Do(context.Background()).Raw()
	require.NoError(a, err)
	var stored, manifest map[string]any
	require.NoError(a, json.Unmarshal(raw, &stored))
	require.NoError(a, json.Unmarshal(js, &manifest))
	stored["spec"] = manifest["spec"]
	body, err := json.Marshal(stored)
	require.NoError(a, err)
	raw, err = a.client.Put().AbsPath(name).SetHeader("Content-Type", "application/json").Body(body).Do(context.Background()).Raw()
	require.NoError(a, err, "%s", raw)
	require.Eventually(a, func() bool {
		for _, version := range []string{"v1", "v1beta1"} {
			if !bytes.Contains(a.list(version), []byte(`"marker":"new"`)) {
				return false
			}
		}
		return true
	}, time.Minute, 20*time.Millisecond)
}

// create creates objects in both versions. Large integers become other numbers on the way here, which
// the server refuses.
func (a *auditServer) create(crd *schema.CRD) {
	const full = `{"spec":{"soil":"sand","depth":120,"width":1.5,"note":null,"label":"A1","shade":false,"place":{"row":1,"column":2},
		"rows":[{"plant":"leek","tags":["a"]},{"count":2}],"plans":{"may":{"month":"5","task":"sow"},"a/b~c":{"task":""}},
		"free":{"other":1,"known":{"a":"b"},"deep":{"x":[{"y":1}]}},
		"resource":{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{}},"port":"http"},"status":{"phase":"Dry"}}`
	objects := [][]byte{[]byte(full), []byte(`{"spec":{}}`), []byte(`{}`), []byte(`{"spec":{"rows":[],"plans":{},"free":{},"port":5}}`)}
	s := crd.Versions[0].Schema
	m := sample.New(s, crd.Group+"/v1", crd.Kind)
	for seed := range uint64(40) {
		js, err := m.Valid(sample.Bytes(seed))
		require.NoError(a, err)
		objects = append(objects, js)
	}
	for i, js := range objects {
		var object map[string]any
		require.NoError(a, json.Unmarshal(js, &object))
		version := []string{"v1", "v1beta1"}[i%2]
		name := fmt.Sprintf("bed-%d", i)
		object["apiVersion"], object["kind"], object["metadata"] = a.group+"/"+version, "Bed", map[string]any{"name": name}
		a.send(http.MethodPost, a.path(version, ""), object)
		if object["status"] == nil {
			continue
		}
		raw, err := a.client.Get().AbsPath(a.path(version, name)).Do(context.Background()).Raw()
		if err != nil {
			continue
		}
		var stored map[string]any
		require.NoError(a, json.Unmarshal(raw, &stored))
		stored["status"] = object["status"]
		a.send(http.MethodPut, a.path(version, name)+"/status", stored)
	}
}

func (a *auditServer) send(method, path string, object map[string]any) {
	js, err := json.Marshal(object)
	require.NoError(a, err)
	raw, err := a.client.Verb(method).AbsPath(path).SetHeader("Content-Type", "application/json").Body(js).Do(context.Background()).Raw()
	if err != nil {
		assert.Contains(a, string(raw), `"reason":"Invalid"`)
	}
}

func (a *auditServer) list(version string) []byte {
	raw, err := a.client.Get().AbsPath(a.path(version, "")).Do(context.Background()).Raw()
	require.NoError(a, err)
	return raw
}

// objects returns the items of a list by their names.
func (a *auditServer) objects(list []byte) map[string]any {
	var all struct{ Items []map[string]any }
	require.NoError(a, json.Unmarshal(list, &all))
	byName := map[string]any{}
	for _, item := range all.Items {
		byName[item["metadata"].(map[string]any)["name"].(string)] = item
	}
	return byName
}

func (a *auditServer) file(name string, content []byte) string {
	file := filepath.Join(a.TempDir(), name)
	require.NoError(a, os.WriteFile(file, content, 0o666))
	return file
}
