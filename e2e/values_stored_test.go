package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// compareStored shows what the server's answers owe to what is not known here: the stored object of
// which the status is updated, and the managers of fields.
func (s *valueServer) compareStored(k *valueKind) {
	stored := s.compareCreate(k, yamlType, caseDocument(valueCase{spec: valid + `, tags: [a, b]`}))
	require.NotNil(s, stored)
	for _, c := range []struct {
		name, metadata, spec string
		causes               int
	}{
		{"labels", `labels: {"-": "b c"}`, valid, 2},
		{"managed fields", `managedFields: [{operation: X}]`, valid, 1},
		{"a set", ``, valid + `, tags: [a, a]`, 1},
	} {
		changed := caseDocument(valueCase{metadata: c.metadata, spec: c.spec, status: `phase: Ready`})
		doc := s.over(stored, changed)
		theirs := s.update(k, jsonType, stored, doc, true)
		causes, fatal := s.judge(k.status, jsonType, doc)
		require.NoError(s, fatal, c.name)
		require.Equal(s, http.StatusOK, theirs.code, "%s: %v", c.name, theirs.status)
		require.Len(s, causes, c.causes, "%s: %v", c.name, causes)
		s.seen.explained[fromStored]++
		stored = theirs.object
	}
	s.compareManagers(k)
	s.compareExcused()
	assert.Equal(s, map[string]int{fromStored: 3, managers: 1, excused: 2}, s.seen.explained)
}

// compareManagers creates an object with an entry of managedFields that the server drops: the object
// sets its only field, which is the client's from then on.
func (s *valueServer) compareManagers(k *valueKind) {
	doc := caseDocument(valueCase{spec: valid, metadata: `managedFields: [{operation: Update, apiVersion: garden.example.com/v1,
		fieldsType: FieldsV1, manager: "\a", fieldsV1: {"f:spec": {"f:name": {}}}}]`})
	theirs := s.send(http.MethodPost, k.path("managers", ""), yamlType, doc, false)
	require.Equal(s, http.StatusCreated, theirs.code, "%v", theirs.status)
	causes, fatal := s.judge(k.create, yamlType, doc)
	require.NoError(s, fatal)
	require.Len(s, causes, 1)
	assert.Equal(s, "metadata.managedFields[0].manager", causes[0].Field)
	s.seen.explained[managers]++
}

// over returns a stored object with the metadata, the spec and the status of another.
func (s *valueServer) over(stored map[string]any, manifest []byte) []byte {
	s.Helper()
	var x map[string]any
	require.NoError(s, yaml.Unmarshal(manifest, &x))
	for name, value := range stored["metadata"].(map[string]any) {
		if metadata := x["metadata"].(map[string]any); metadata[name] == nil {
			metadata[name] = value
		}
	}
	doc, err := json.Marshal(x)
	require.NoError(s, err)
	return doc
}

// compareExcused updates the status of objects that were valid when they were stored, by the
// definition of that time.
func (s *valueServer) compareExcused() {
	const manifest = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: ledges.garden.example.com}, spec: {
		group: garden.example.com, scope: Namespaced, names: {kind: Ledge, listKind: LedgeList, plural: ledges, singular: ledge}, versions: [{
		name: v1, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, properties: {
		status: {type: object, properties: {phase: {type: string}, note: {type: string}, tags: {type: array, items: {type: string}}}}}}}}]}}`
	k := s.await(s.define([]byte(manifest)))[0]
	stored := s.compareCreate(k, jsonType, []byte(`{"apiVersion":"garden.example.com/v1","kind":"Ledge","metadata":{"name":"a"}}`))
	require.NotNil(s, stored)
	stored = s.compareStatus(k, jsonType, stored, []byte(`{"phase":"Odd","tags":["a","a"]}`))

	k = s.tighten(k)
	require.Eventually(s, func() bool {
		doc := withStatus(s.T, stored, []byte(`{"phase":"New"}`))
		return s.update(k, jsonType, stored, doc, false).code == http.StatusUnprocessableEntity
	}, time.Minute, 20*time.Millisecond)
	doc := withStatus(s.T, stored, []byte(`{"phase":"Odd","tags":["a","a"],"note":"new"}`))
	theirs := s.update(k, jsonType, stored, doc, true)
	require.Equal(s, http.StatusOK, theirs.code, "%v", theirs.status)
	causes, fatal := s.judge(k.status, jsonType, doc)
	require.NoError(s, fatal)
	require.Len(s, causes, 2)
	assert.Equal(s, []string{"status.phase", "status.tags[1]"}, []string{causes[0].Field, causes[1].Field})
	s.seen.explained[excused] += len(causes)
}

// tighten updates the definition of ledges, so that some phases are invalid, and tags are a set.
func (s *valueServer) tighten(k *valueKind) *valueKind {
	s.Helper()
	crd, err := s.definitions.Get(context.Background(), k.manifest.Name, metav1.GetOptions{})
	require.NoError(s, err)
	status := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"]
	phase, tags, set := status.Properties["phase"], status.Properties["tags"], "set"
	phase.Enum = []apiextensionsv1.JSON{{Raw: []byte(`"Ready"`)}}
	tags.XListType = &set
	status.Properties["phase"], status.Properties["tags"] = phase, tags
	crd, err = s.definitions.Update(context.Background(), crd, metav1.UpdateOptions{})
	require.NoError(s, err)
	return s.kindsOf(crd)[0]
}
