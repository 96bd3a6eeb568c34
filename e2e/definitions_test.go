package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/espalier-dev/espalier/cel"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// TestDefinitions replaces definitions, and compares what a server says with what is said here of both
// states.
func TestDefinitions(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	config, _, _ := startServer(t)
	s := &valueServer{T: t, config: config, client: newEndpoint(t, "definitions", config).client}
	const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	refused := 0
	for i, c := range []struct {
		name, version string
		change        func(spec map[string]any)
		errs          int
	}{
		{"nothing", ``, func(map[string]any) {}, 0},
		{"scope", ``, func(spec map[string]any) { spec["scope"] = "Cluster" }, 1},
		{"kind", ``, func(spec map[string]any) { names(spec)["kind"] = "Other" }, 1},
		{"group", ``, func(spec map[string]any) { spec["group"] = "other.example.com" }, -1},
		{"plural", ``, func(spec map[string]any) { names(spec)["plural"] = "others" }, -1},
		{"another storage version", ``, func(spec map[string]any) {
			versions(spec)[0]["storage"] = false
			add(spec, `{"name":"v2","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}`)
		}, 0},
		{"a stored version is gone", ``, func(spec map[string]any) { versions(spec)[0]["name"] = "v2" }, 1},
		{"two storage versions", ``, func(spec map[string]any) {
			add(spec, `{"name":"v2","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}`)
		}, 2},
		{"no storage version", ``, func(spec map[string]any) { versions(spec)[0]["storage"] = false }, -1},
		{"the same version twice", ``, func(spec map[string]any) {
			add(spec, `{"name":"v1","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}}`)
		}, 1},
		{"preserveUnknownFields", ``, func(spec map[string]any) { spec["preserveUnknownFields"] = true }, 1},
		{"no structure", ``, func(spec map[string]any) { root(spec)["properties"] = map[string]any{"a": map[string]any{}} }, 1},
		{"a default", ``, func(spec map[string]any) {
			root(spec)["properties"] = map[string]any{"a": map[string]any{"type": "integer", "default": "x"}}
		}, 1},
		{"a rule that cannot be compiled", ``, func(spec map[string]any) {
			root(spec)["x-kubernetes-validations"] = []any{map[string]any{"rule": "self.a == 1"}, map[string]any{"rule": "1"}}
		}, 2},
		{"a rule that is too costly", `,"properties":{"l":{"type":"array","items":{"type":"string"}}}`, func(spec map[string]any) {
			root(spec)["x-kubernetes-validations"] = []any{map[string]any{"rule": "self.l.all(a, self.l.all(b, a != b))"}}
		}, -1},
		{"a rule with oldSelf in a list", ``, func(spec map[string]any) {
			root(spec)["properties"] = map[string]any{"l": map[string]any{"type": "array", "items": map[string]any{
				"type": "integer", "x-kubernetes-validations": []any{map[string]any{"rule": "self == oldSelf"}},
			}}}
		}, 1},
	} {
		name := fmt.Sprintf("bed%ds", i)
		text := fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"%s.garden.example.com"},"spec":{`+
			`"group":"garden.example.com","scope":"Namespaced","names":{"kind":"Bed%d","listKind":"Bed%[2]dList","plural":%[1]q,"singular":"bed%[2]d"},"versions":[`+
			`{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"%[3]s}}}]}}`, name, i, c.version)
		require.NotNil(t, s.send(http.MethodPost, path, jsonType, []byte(text), true).object, c.name)
		var old map[string]any
		require.Eventually(t, func() bool {
			raw, err := s.client.Get().AbsPath(path, name+".garden.example.com").Do(context.Background()).Raw()
			require.NoError(t, err)
			old = nil
			require.NoError(t, json.Unmarshal(raw, &old))
			conditions, _ := json.Marshal(old["status"].(map[string]any)["conditions"])
			var list []metav1.Condition
			require.NoError(t, json.Unmarshal(conditions, &list))
			for _, of := range list {
				if of.Type == "Established" && of.Status == "True" {
					return true
				}
			}
			return false
		}, time.Minute, 20*time.Millisecond)
		before, err := json.Marshal(old)
		require.NoError(t, err)
		c.change(old["spec"].(map[string]any))
		after, err := json.Marshal(old)
		require.NoError(t, err)
		theirs := s.send(http.MethodPut, path+"/"+name+".garden.example.com", jsonType, after, false)
		require.Contains(t, []int{http.StatusOK, http.StatusUnprocessableEntity}, theirs.code, "%s: %v", c.name, theirs.status)
		var want []string
		for _, cause := range theirs.causes {
			want = append(want, ofVersions.ReplaceAllString(cause.Field+": "+cause.Message, "$1$2"))
		}
		var got []string
		crd, earlier := parsed(t, after), parsed(t, before)
		var faults ferrors.SchemaErrors
		errors.As(validation.Update(crd, earlier), &faults)
		for _, fault := range faults {
			got = append(got, ofVersions.ReplaceAllString(fault.Error(), "$1$2"))
		}
		for _, fault := range cel.Definition(crd, earlier) {
			got = append(got, fault.Error())
		}
		assert.ElementsMatch(t, want, got, c.name)
		if c.errs >= 0 {
			assert.Len(t, want, c.errs, c.name)
		} else {
			assert.NotEmpty(t, want, c.name)
		}
		refused += min(len(want), 1)
	}
	assert.Equal(t, 14, refused)
}

// ofVersions is an error about all versions. The server shows its Go values of them, and we their names.
var ofVersions = regexp.MustCompile(`^(spec\.versions: Invalid value: )\[.*\]: (must )`)

func parsed(t *testing.T, js []byte) *schema.CRD {
	t.Helper()
	crds, err := schema.ParseCRD(js)
	require.NoError(t, err)
	require.Len(t, crds, 1)
	return crds[0]
}

func names(spec map[string]any) map[string]any { return spec["names"].(map[string]any) }

func versions(spec map[string]any) (list []map[string]any) {
	for _, v := range spec["versions"].([]any) {
		list = append(list, v.(map[string]any))
	}
	return list
}

func root(spec map[string]any) map[string]any {
	return versions(spec)[0]["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)
}

func add(spec map[string]any, version string) {
	var v map[string]any
	if err := json.Unmarshal([]byte(version), &v); err != nil {
		panic(err)
	}
	spec["versions"] = append(spec["versions"].([]any), v)
}
