package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/espalier-dev/espalier/cel"
	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/middleware"
	requests "github.com/espalier-dev/espalier/request"
	"github.com/espalier-dev/espalier/schema/validation"
)

// TestUpdates sends objects to a server that replaces stored ones, by updates and patches of the whole
// and of the status, and compares its answers with what is said of them here, with the stored objects
// and with rules in CEL. The stored objects need not be valid: when they were stored, the definition
// allowed everything.
func TestUpdates(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	config, _, _ := startServer(t)
	clients, err := clientset.NewForConfig(config)
	require.NoError(t, err)
	s := &updateServer{
		valueServer: &valueServer{
			T: t, config: config, client: newEndpoint(t, "updates", config).client,
			definitions: clients.ApiextensionsV1().CustomResourceDefinitions(), rules: make(map[string]int), names: new(int), seen: newValuesSeen(),
		},
		compiler: cel.Rules(), tally: make(map[string]*updateTally),
	}
	t.Run("cases", func(t *testing.T) { s.on(t).compareCases() })
	t.Run("creation", func(t *testing.T) { s.on(t).compareCreations() })
	t.Run("generated", func(t *testing.T) { s.on(t).compareGenerated() })
	for _, way := range slices.Sorted(maps.Keys(s.tally)) {
		t.Logf("%s: %+v", way, *s.tally[way])
	}
}

// An updateServer has definitions with rules.
type updateServer struct {
	*valueServer
	compiler validation.RuleCompiler
	tally    map[string]*updateTally // by the ways to send something
}

// An updateTally counts what was compared.
type updateTally struct{ requests, refused, excused, broken, blocked int }

func (s *updateServer) on(t *testing.T) *updateServer {
	sub := *s
	sub.valueServer = s.valueServer.on(t)
	return &sub
}

// An updateKind is a version of a definition, and what judges its objects here.
type updateKind struct {
	*valueKind
	update *decoder.Decoder
}

// ruled returns a kind with its rules in CEL.
func (s *updateServer) ruled(k *valueKind) *updateKind {
	program, err := k.crd.Program(k.version.Name, validation.Values(s.compiler))
	require.NoError(s, err)
	limits := decoder.Limits{Findings: 1 << 20, FindingBytes: 1 << 30}
	k.create = decoder.New(program, limits, decoder.ServerRequests, decoder.ValidateCreate)
	k.status = decoder.New(program, limits, decoder.ServerRequests, decoder.ValidateStatusUpdate)
	find := requests.Always(&requests.Resource{
		APIVersion: k.crd.Group + "/" + k.version.Name, Kind: k.crd.Kind, Program: program,
		Decoder: []decoder.Option{limits, decoder.ServerRequests, decoder.ValidateCreate},
	})
	k.gate = middleware.New(find, middleware.Options{})(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
	}))
	return &updateKind{k, decoder.New(program, limits, decoder.ServerRequests, decoder.ValidateUpdate)}
}

// relaxed returns a copy of a definition that allows all values, but has the same fields and defaults.
func relaxed(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	crd = crd.DeepCopy()
	for i := range crd.Spec.Versions {
		relax(crd.Spec.Versions[i].Schema.OpenAPIV3Schema)
	}
	return crd
}

func relax(s *apiextensionsv1.JSONSchemaProps) {
	kept := apiextensionsv1.JSONSchemaProps{
		Type: s.Type, Properties: s.Properties, Items: s.Items, AdditionalProperties: s.AdditionalProperties, Default: s.Default, Nullable: s.Nullable,
		XPreserveUnknownFields: s.XPreserveUnknownFields, XEmbeddedResource: s.XEmbeddedResource, XIntOrString: s.XIntOrString,
	}
	if kept.XIntOrString {
		kept.AnyOf, kept.AllOf = s.AnyOf, s.AllOf
	}
	*s = kept
	if s.Items != nil && s.Items.Schema != nil {
		relax(s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		relax(s.AdditionalProperties.Schema)
	}
	for name, property := range s.Properties {
		relax(&property)
		s.Properties[name] = property
	}
}

// defineRelaxed creates a definition that allows everything.
func (s *updateServer) defineRelaxed(manifest []byte) (strict *apiextensionsv1.CustomResourceDefinition, lax *valueKind) {
	strict = new(apiextensionsv1.CustomResourceDefinition)
	require.NoError(s, yaml.Unmarshal(manifest, strict))
	strict.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
	js, err := json.Marshal(relaxed(strict))
	require.NoError(s, err)
	for _, k := range s.define(js) {
		if lax == nil || k.version.Storage {
			lax = k
		}
	}
	s.await([]*valueKind{lax})
	return strict, lax
}

// tightened replaces a definition by a strict one, with a mark by which it is seen when the server
// uses it.
func (s *updateServer) tightened(strict *apiextensionsv1.CustomResourceDefinition, lax *valueKind) *updateKind {
	s.Helper()
	ctx := context.Background()
	current, err := s.definitions.Get(ctx, strict.Name, metav1.GetOptions{})
	require.NoError(s, err)
	current.Spec = *strict.Spec.DeepCopy()
	for i := range current.Spec.Versions {
		root := current.Spec.Versions[i].Schema.OpenAPIV3Schema
		if root.Properties == nil {
			root.Properties = make(map[string]apiextensionsv1.JSONSchemaProps)
		}
		root.Properties["strictMark"] = apiextensionsv1.JSONSchemaProps{Type: "string", Enum: []apiextensionsv1.JSON{{Raw: []byte(`"on"`)}}}
	}
	current, err = s.definitions.Update(ctx, current, metav1.UpdateOptions{})
	require.NoError(s, err)
	probe := fmt.Appendf(nil, `{"apiVersion":"%s/%s","kind":%q,"metadata":{"name":"probe"},"strictMark":"off"}`, lax.crd.Group, lax.version.Name, lax.crd.Kind)
	seen := 0
	require.Eventually(s, func() bool {
		theirs := s.send(http.MethodPost, lax.path("probe", ""), jsonType, probe, false)
		if slices.ContainsFunc(theirs.causes, func(c metav1.StatusCause) bool { return c.Field == "strictMark" }) {
			seen++
		}
		return seen == 3
	}, time.Minute, 10*time.Millisecond)
	for _, k := range s.kindsOf(current) {
		if k.version.Name == lax.version.Name {
			return s.ruled(k)
		}
	}
	require.Fail(s, "the version is gone")
	return nil
}

// store stores an object, and its status.
func (s *updateServer) store(k *valueKind, object map[string]any) map[string]any {
	s.Helper()
	*s.names++
	namespace := fmt.Sprint("u", *s.names)
	js, err := json.Marshal(object)
	require.NoError(s, err)
	stored := s.send(http.MethodPost, k.path(namespace, ""), jsonType, js, true)
	if stored.object == nil {
		return nil
	}
	if object["status"] == nil || !k.version.HasStatus {
		return stored.object
	}
	status, err := json.Marshal(object["status"])
	require.NoError(s, err)
	updated := s.update(k, jsonType, stored.object, withStatus(s.T, stored.object, status), true)
	if updated.object == nil {
		return stored.object
	}
	return updated.object
}

// A sending is a request that replaces a stored object.
type sending struct {
	way, method, contentType string
	body                     any
	isStatus                 bool
	object                   map[string]any // what the body makes of the stored object
}

// compareSending compares what both sides say of a request, which changes nothing.
func (s *updateServer) compareSending(k *updateKind, name string, stored map[string]any, r *sending) (causes []metav1.StatusCause) {
	s.Helper()
	metadata := stored["metadata"].(map[string]any)
	namespace, _ := metadata["namespace"].(string)
	path := k.path(namespace, metadata["name"].(string))
	d := k.update
	if r.isStatus {
		path, d = path+"/status", k.status
	}
	path += "?fieldManager=e2e"
	if r.contentType == applyType {
		path += "&force=true"
	}
	body, err := json.Marshal(r.body)
	require.NoError(s, err)
	theirs := s.send(r.method, path, r.contentType, body, false)
	theirs.causes = withoutRepeats(theirs.causes)
	old, err := json.Marshal(stored)
	require.NoError(s, err)
	object, err := json.Marshal(r.object)
	require.NoError(s, err)
	d.SetOld(old)
	causes, fatal := s.judge(d, jsonType, object)
	y := s.tally[r.way]
	if y == nil {
		y = new(updateTally)
		s.tally[r.way] = y
	}
	y.requests++
	switch {
	case theirs.code == http.StatusBadRequest && fatal != nil:
		return nil
	case theirs.code == http.StatusInternalServerError && strings.HasPrefix(theirs.status.Message, "failed to create typed patch object"):
		return nil // the fields or their types are not those of the schema: there is nothing to apply
	case fatal != nil || theirs.code >= 300 && theirs.code != http.StatusUnprocessableEntity, !equal(theirs.causes, causes):
		if s.seen.failed++; s.seen.failed <= 6 {
			s.Errorf("%s, %s: they: %d %v\nonly they: %q\nonly we:   %q %v\nold: %.1500s\nnew: %.1500s", name, r.way, theirs.code, theirs.status,
				minus(theirs.causes, causes), minus(causes, theirs.causes), fatal, old, object)
		}
	case len(causes) > 0:
		y.refused++
		if slices.ContainsFunc(causes, isNotChecked) {
			y.blocked++
		} else if slices.ContainsFunc(causes, k.isRule) {
			y.broken++
		}
	default:
		if created, _ := s.judge(k.create, jsonType, object); len(created) > 0 {
			y.excused++
		}
	}
	return causes
}

// withoutRepeats leaves out repeated errors in metadata, which the server validates several times.
func withoutRepeats(causes []metav1.StatusCause) (list []metav1.StatusCause) {
	for _, c := range causes {
		if !strings.HasPrefix(c.Field, "metadata") || !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	return list
}

// with returns a stored object with other members.
func with(stored map[string]any, members map[string]any) map[string]any {
	object := maps.Clone(stored)
	for name, value := range members {
		if value == nil {
			delete(object, name)
		} else {
			object[name] = value
		}
	}
	return object
}

// mergePatch returns a patch (RFC 7396) that makes the object to of from.
func mergePatch(from, to map[string]any) map[string]any {
	patch := make(map[string]any)
	for name, value := range to {
		old, isThere := from[name]
		a, isObject := old.(map[string]any)
		b, isToo := value.(map[string]any)
		switch {
		case isThere && reflect.DeepEqual(old, value):
		case isObject && isToo:
			patch[name] = mergePatch(a, b)
		default:
			patch[name] = value
		}
	}
	for name := range from {
		if _, ok := to[name]; !ok {
			patch[name] = nil
		}
	}
	return patch
}

// applied returns what applying a value to a stored one makes, which stays where nothing replaces it.
// It is not ok if there are lists, which would be merged, or nulls.
func applied(stored, value any) (result any, ok bool) {
	switch value := value.(type) {
	case nil, []any:
		return nil, false
	case map[string]any:
		old, _ := stored.(map[string]any)
		object := maps.Clone(old)
		if object == nil {
			object = make(map[string]any)
		}
		for name, x := range value {
			if object[name], ok = applied(old[name], x); !ok {
				return nil, false
			}
		}
		return object, true
	}
	return value, true
}

// sendings returns all ways to replace the spec of a stored object, and those to replace its status.
func sendings(stored map[string]any, metadata, spec, status map[string]any) (list []*sending) {
	changed := with(stored, map[string]any{"spec": spec})
	if metadata != nil {
		changed["metadata"] = with(stored["metadata"].(map[string]any), metadata)
	}
	if spec != nil || metadata != nil {
		list = append(list,
			&sending{way: "update", method: http.MethodPut, contentType: jsonType, body: changed, object: changed},
			&sending{way: "merge patch", method: http.MethodPatch, contentType: mergePatchType, body: mergePatch(stored, changed), object: changed},
			&sending{way: "JSON patch", method: http.MethodPatch, contentType: jsonPatchType, object: changed, body: []map[string]any{
				{"op": "add", "path": "/spec", "value": changed["spec"]}, {"op": "add", "path": "/metadata", "value": changed["metadata"]},
			}})
		if result, ok := applied(stored["spec"], any(spec)); ok && metadata == nil {
			config := map[string]any{"apiVersion": stored["apiVersion"], "kind": stored["kind"], "spec": spec, "metadata": map[string]any{"name": stored["metadata"].(map[string]any)["name"]}}
			list = append(list, &sending{way: "apply", method: http.MethodPatch, contentType: applyType, body: config, object: with(stored, map[string]any{"spec": result})})
		}
	}
	if status != nil {
		object := with(stored, map[string]any{"status": status})
		list = append(list,
			&sending{way: "update of the status", method: http.MethodPut, contentType: jsonType, isStatus: true, body: object, object: object},
			&sending{way: "merge patch of the status", method: http.MethodPatch, contentType: mergePatchType, isStatus: true, body: mergePatch(stored, object), object: object})
	}
	return list
}

// An updateCase is a stored object, and what replaces it. The last is how many errors there are of
// the whole, and of the status.
type updateCase struct {
	name, old, oldStatus, metadata, spec, status string
	errs, statusErrs                             int
}

func updateCases() []updateCase {
	list := strings.Repeat("8, ", 100)
	return []updateCase{
		{name: "nothing changes", old: "rows: 1", spec: "rows: 1", oldStatus: "phase: New", status: "phase: New"},
		{name: "what is invalid stays", old: "rows: 10, mode: odd, short: long, pattern: b, one: {}, low: 5, high: 1, banned: x, wanted: '', divisor: 0, twin: b", spec: "rows: 10, mode: odd, short: long, pattern: b, one: {}, low: 5, high: 1, banned: x, wanted: '', divisor: 0, twin: b", errs: 1},
		{name: "what is invalid stays, beside what is not", old: "rows: 10, mode: odd, short: long, pattern: b, one: {}, kind: a", spec: "rows: 10, mode: odd, short: long, pattern: b, one: {}, kind: a, owner: b"},
		{name: "what is invalid is invalid in another way", old: "rows: 10, mode: odd, short: long, pattern: b, one: {}", spec: "rows: 11, mode: other, short: longer, pattern: c, one: {a: abc, b: c}", errs: 7},
		{name: "within anyOf and oneOf", old: "rows: 1, one: {a: abc}", spec: "rows: 1, one: {a: abc, b: c}", errs: 1},
		{name: "immutable", old: "rows: 1, kind: a", spec: "rows: 1, kind: b", errs: 1},
		{name: "immutable, removed", old: "rows: 1, kind: a", spec: "rows: 1", errs: 1},
		{name: "immutable, added", old: "rows: 1", spec: "rows: 1, kind: a", errs: 1},
		{name: "optional old value", old: "rows: 1, owner: a", spec: "rows: 1, owner: b", errs: 1},
		{name: "no old value", old: "rows: 1", spec: "rows: 1, owner: late", errs: 1},
		{name: "messageExpression and fieldPath", old: "rows: 1", spec: "rows: 1, low: 20", errs: 1},
		{name: "reasons", old: "rows: 1", spec: "rows: 1, banned: a, wanted: '', twin: b", errs: 3},
		{name: "division by zero", old: "rows: 1", spec: "rows: 1, divisor: 0", errs: 1},
		{name: "a rule that was broken before, and something else", old: "rows: 1, low: 20, banned: a", spec: "rows: 2, low: 20, banned: a", errs: 2},
		{name: "not checked", old: "rows: 1", spec: "rows: 1, mode: odd, kind: b", errs: 2},
		{name: "not checked, for a list", old: "rows: 1", spec: "rows: 1, tags: [t1, t2, t3, t4, t5, t6]", errs: 2},
		{name: "checked beside what does not block", old: "rows: 1, kind: a", spec: "rows: 10, kind: b", errs: 2},
		{name: "a set", old: "rows: 1, tags: [ta, tb]", spec: "rows: 1, tags: [tb, tc]", errs: 1},
		{name: "a set in another order", old: "rows: 1, tags: [ta, tb]", spec: "rows: 1, tags: [tb, ta]"},
		{name: "a set with repeats", old: "rows: 1, tags: [ta, ta]", spec: "rows: 1, tags: [ta, ta]"},
		{name: "a set with other repeats", old: "rows: 1, tags: [ta, ta]", spec: "rows: 1, tags: [ta, ta, tb, tb]"},
		{name: "a set with new repeats", old: "rows: 1, tags: [ta]", spec: "rows: 1, tags: [ta, ta]", errs: 1},
		{name: "lists that are correlated", old: "rows: 1, plants: [{name: a, height: 5}, {name: b, height: 7}]", spec: "rows: 1, plants: [{name: b, height: 6}, {name: c, height: 1}, {name: a, height: 5}]", errs: 1},
		{name: "elements that are invalid stay", old: "rows: 1, plants: [{name: a, height: 150, colour: odd}, {name: b}]", spec: "rows: 1, plants: [{name: b, height: 3}, {name: a, height: 150, colour: odd}]"},
		{name: "elements that are invalid change", old: "rows: 1, plants: [{name: a, height: 150, colour: odd}]", spec: "rows: 1, plants: [{name: a, height: 160, colour: odd}]", errs: 1},
		{name: "elements with the same keys", old: "rows: 1, plants: [{name: a}, {name: a, height: 2}]", spec: "rows: 1, plants: [{name: a, height: 1}, {name: a, height: 2}]"},
		{name: "lists that are not correlated", old: "rows: 1, stones: [{weight: 60}, {weight: 1}]", spec: "rows: 1, stones: [{weight: 60}, {weight: 2}]", errs: 1},
		{name: "lists that are not correlated, and rules", old: "rows: 1, stones: [{weight: 0}, {weight: 1}]", spec: "rows: 1, stones: [{weight: 0}, {weight: 2}]", errs: 1},
		{name: "maps", old: "rows: 1, labels: {a: vvv, b: x, c: vv}", spec: "rows: 1, labels: {a: v, b: x, c: vv, d: w}", errs: 2},
		{name: "the budget", old: "rows: 1", spec: "rows: 1, numbers: [" + list + "8]", errs: 2},
		{name: "the budget, within the limit", old: "rows: 1", spec: "rows: 1, numbers: [" + strings.TrimSuffix(list, ", ") + "]", errs: -1},
		{name: "embedded resources", old: "rows: 1, job: {apiVersion: v1, kind: Job, metadata: {name: a}}", spec: "rows: 1, job: {apiVersion: v1, kind: Pod, metadata: {name: bad}}", errs: 2},
		{name: "embedded resources are not excused", old: "rows: 1", spec: "rows: 1, job: {apiVersion: a/b/c, kind: K, metadata: {name: A_, labels: {-: b}}}", errs: -1},
		{name: "wrong types", old: "rows: 1, kind: a", spec: "rows: x, kind: 7, tags: {}, plants: [1]", errs: -1},
		{name: "nulls", old: "rows: 1, kind: a, low: 3", spec: "rows: 1, kind: null, low: null", errs: 1},
		{name: "unknown fields", old: "rows: 1", spec: "rows: 1, unknown: 1"},
		{name: "labels", old: "rows: 1", metadata: `labels: {"-": "b c"}, annotations: {"a/b/c": d}`, spec: "rows: 1", errs: 3},
		{name: "finalizers and owners", old: "rows: 1", metadata: `finalizers: [x, orphan, foregroundDeletion], ownerReferences: [{apiVersion: v1, kind: Event, name: a, uid: u}]`, spec: "rows: 1", errs: 2},
		{name: "metadata that the server keeps", old: "rows: 1", metadata: `generation: 99, creationTimestamp: "2020-01-01T00:00:00Z", deletionTimestamp: "2020-01-01T00:00:00Z", deletionGracePeriodSeconds: 5, selfLink: a`, spec: "rows: 2", errs: -1},
		{name: "generateName", old: "rows: 1", metadata: `generateName: bad-`, spec: "rows: 1", errs: 1},
		{name: "the status is kept", old: "rows: 3", oldStatus: "rows: 3", spec: "rows: 2", errs: 1},
		{name: "the status", old: "rows: 3", oldStatus: "phase: Done", status: "phase: New, note: long note, rows: 4, replicas: 3000000000", statusErrs: -1},
		{name: "the status, blocked", old: "rows: 3", oldStatus: "phase: Done", status: "phase: Odd", statusErrs: 2},
		{name: "the status is final", old: "rows: 3", oldStatus: "phase: Done", status: "phase: New", statusErrs: 1},
		{name: "the status was invalid", old: "rows: 3", oldStatus: "phase: Odd, note: long note", status: "phase: Odd, note: long note, rows: 1"},
		{name: "the spec was invalid", old: "rows: 30, mode: odd, low: 20, kind: a, tags: [x, x], numbers: [1, 0, 0]", status: "phase: New"},
		{name: "the spec was invalid, and so is the status", old: "rows: 30, mode: odd, low: 20, kind: a, tags: [x, x]", status: "phase: Odd", statusErrs: 2},
		{name: "the status is not an object", old: "rows: 1", status: "", oldStatus: "phase: New"},
		{name: "scale", old: "rows: 1, replicas: 1", spec: "rows: 1, replicas: -1", errs: 1},
	}
}

// flow reads the members of an object in YAML.
func flow(t *testing.T, members string) map[string]any {
	t.Helper()
	if members == "" {
		return nil
	}
	js, err := yaml.YAMLToJSON([]byte("{" + members + "}"))
	require.NoError(t, err, members)
	var x map[string]any
	d := json.NewDecoder(strings.NewReader(string(js)))
	require.NoError(t, d.Decode(&x))
	return x
}

// compareCases sends the cases that are written by hand.
func (s *updateServer) compareCases() {
	manifest, err := os.ReadFile("testdata/updates.yaml")
	require.NoError(s, err)
	strict, lax := s.defineRelaxed(manifest)
	stored := make(map[string]map[string]any)
	for _, c := range updateCases() {
		object := map[string]any{"apiVersion": "garden.example.com/v1", "kind": "Hedge", "metadata": map[string]any{"name": "hedge"}, "spec": flow(s.T, c.old)}
		if c.oldStatus != "" {
			object["status"] = flow(s.T, c.oldStatus)
		}
		if stored[c.name] = s.store(lax, object); stored[c.name] == nil {
			require.Fail(s, "not stored", c.name)
		}
	}
	k := s.tightened(strict, lax)
	for _, c := range updateCases() {
		for _, r := range sendings(stored[c.name], flow(s.T, c.metadata), flow(s.T, c.spec), flow(s.T, c.status)) {
			causes := s.compareSending(k, c.name, stored[c.name], r)
			want := c.errs
			if r.isStatus {
				want = c.statusErrs
			}
			if want >= 0 && r.way != "apply" {
				assert.Len(s, causes, want, "%s, %s: %v", c.name, r.way, causes)
			}
		}
	}
	for _, way := range []string{"update", "merge patch", "JSON patch", "apply", "update of the status", "merge patch of the status"} {
		y := s.tally[way]
		require.NotNil(s, y, way)
		assert.NotZero(s, y.refused, way)
		assert.NotZero(s, y.broken, way)
		assert.NotZero(s, y.blocked, way)
		assert.NotZero(s, y.excused, way)
	}
	for _, rule := range []string{"x-kubernetes-validations", "metadata", "scale", "enum", "oneOf", "x-kubernetes-list-type"} {
		assert.NotZero(s, s.rules[rule], rule)
	}
}

// compareCreations creates objects of the kind of the cases.
func (s *updateServer) compareCreations() {
	crd, err := s.definitions.Get(context.Background(), "hedges.garden.example.com", metav1.GetOptions{})
	require.NoError(s, err)
	k := s.ruled(s.kindsOf(crd)[0])
	for _, metadata := range []string{"name: hedge", "generateName: bad-", "generateName: hedge-", "name: " + strings.Repeat("n", 20), "name: A"} {
		for _, c := range updateCases() {
			object := map[string]any{"apiVersion": "garden.example.com/v1", "kind": "Hedge", "metadata": flow(s.T, metadata), "spec": flow(s.T, c.spec), "status": flow(s.T, c.status)}
			js, err := json.Marshal(object)
			require.NoError(s, err)
			s.compareCreate(k.valueKind, jsonType, js)
		}
	}
	assert.Greater(s, s.seen.invalid, s.seen.creates/2)
	assert.Greater(s, s.seen.stored, s.seen.creates/20)
	assert.Zero(s, s.seen.explained[celRules])
}

// compareGenerated replaces objects of the definitions of gateway-api and of others with rules by
// objects that differ in a few places.
func (s *updateServer) compareGenerated() {
	var files [][]byte
	for f := range corpus.CRDs(s.T) { // skips the test if there are none
		for _, project := range []string{"kubernetes-sigs__gateway-api__", "cert-manager", "cnpg"} {
			if strings.Contains(f.Name, project) && strings.Contains(string(f.Data), "x-kubernetes-validations") {
				files = append(files, f.Data)
			}
		}
	}
	require.NotEmpty(s, files)
	objects := max(3, *valuesFlag/len(files)/6)
	for _, manifest := range files {
		strict, lax := s.defineRelaxed(manifest)
		source := sampled(lax.crd, lax.version)
		var stored, others []map[string]any
		for seed := uint64(0); len(stored) < objects && seed < uint64(4*objects); seed++ {
			var x map[string]any
			if json.Unmarshal(source.object(seed+*fromFlag), &x) != nil || x == nil {
				continue
			}
			if seed%2 == 1 {
				others = append(others, x)
				continue
			}
			x["metadata"] = map[string]any{"name": "a"}
			if of := s.store(lax, x); of != nil {
				stored = append(stored, of)
			}
		}
		if len(stored) == 0 || len(others) == 0 {
			continue
		}
		k := s.tightened(strict, lax)
		for i, old := range stored {
			r := rand.New(rand.NewPCG(uint64(i)+*fromFlag, 51))
			for range 3 {
				other := one(r, others...)
				spec, _ := crossed(r, old["spec"], other["spec"]).(map[string]any)
				status, _ := crossed(r, old["status"], other["status"]).(map[string]any)
				if !k.version.HasStatus || old["status"] == nil {
					status = nil
				}
				for _, sent := range sendings(old, nil, spec, status) {
					if sent.way != "apply" {
						s.compareSending(k, k.crd.Kind, old, sent)
					}
				}
			}
		}
	}
	y := s.tally["update"]
	assert.Greater(s, y.broken, 5)
	assert.Greater(s, y.excused, 5)
}

// crossed returns a value that differs from another one in a few places, where it has the values of a
// third.
func crossed(r *rand.Rand, x, other any) any {
	x = runtime.DeepCopyJSONValue(x)
	for range r.IntN(3) {
		x = crossedOnce(r, x, other)
	}
	return x
}

func crossedOnce(r *rand.Rand, x, other any) any {
	object, ok := x.(map[string]any)
	from, isToo := other.(map[string]any)
	if !ok || !isToo || len(object)+len(from) == 0 {
		if other == nil {
			return x
		}
		return runtime.DeepCopyJSONValue(other)
	}
	names := slices.Sorted(maps.Keys(object))
	for name := range maps.Keys(from) {
		if _, isThere := object[name]; !isThere {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	name := one(r, names...)
	value, isOther := from[name]
	switch {
	case r.IntN(8) == 0:
		delete(object, name)
	case isOther && object[name] != nil:
		object[name] = crossedOnce(r, object[name], value)
	case isOther:
		object[name] = runtime.DeepCopyJSONValue(value)
	}
	return object
}
