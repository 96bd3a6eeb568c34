package fuzz

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	kjson "sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/validate"
	"github.com/espalier-dev/espalier/kube"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

var updatesFlag = flag.Int("updates", 2_000, "how many generated `pairs` TestUpdates compares")

// Update returns the errors for a decoded object that replaces a stored one (handlers.UpdateResource,
// rest.BeforeUpdate), sorted, and the warnings. Of errors in metadata, which the server validates
// twice, repeats are left out, and so is the one about a missing resourceVersion.
//
// A namespace that is not that of the URL is not decoded by the server; here it is compared. What is
// stored in no namespace is in that of the object.
func (s *Strategy) Update(object, old map[string]any) (errs, warnings []string, prepared [2]*unstructured.Unstructured) {
	u, o := s.pairOf(object, old)
	warnings = dedupOwners(u)
	dropUnreadable(u)
	strategy := s.create.(rest.RESTUpdateStrategy)
	errs = s.before(strategy, u, o)
	return errs, append(warnings, strategy.WarningsOnUpdate(context.Background(), u, o)...), [2]*unstructured.Unstructured{u, o}
}

// UpdateStatus is Update for an object that is written through the status subresource. The stored
// managedFields are left out, which the server has validated.
func (s *Strategy) UpdateStatus(object, old map[string]any) (errs []string, prepared [2]*unstructured.Unstructured) {
	u, o := s.pairOf(object, old)
	if s.isNamespaced && metadataOf(old)["namespace"] == nil {
		o.SetNamespace("default")
	}
	u.SetManagedFields(nil)
	return s.before(s.status, u, o), [2]*unstructured.Unstructured{u, o}
}

func metadataOf(object map[string]any) map[string]any {
	m, _ := object["metadata"].(map[string]any)
	return m
}

func (s *Strategy) pairOf(object, old map[string]any) (u, o *unstructured.Unstructured) {
	u = &unstructured.Unstructured{Object: runtime.DeepCopyJSON(object)}
	o = &unstructured.Unstructured{Object: runtime.DeepCopyJSON(old)}
	switch {
	case !s.isNamespaced:
		o.SetNamespace("")
	case o.GetNamespace() == "" && u.GetNamespace() == "":
		o.SetNamespace("default")
	case o.GetNamespace() == "":
		o.SetNamespace(u.GetNamespace())
	}
	return u, o
}

// before is rest.BeforeUpdate, which also logs errors that repeat. An object of another namespace is
// compared.
func (s *Strategy) before(strategy rest.RESTUpdateStrategy, u, o *unstructured.Unstructured) (errs []string) {
	ctx := context.Background()
	if request := rest.ExpectedNamespaceForScope(o.GetNamespace(), s.isNamespaced); request == "" || u.GetNamespace() == "" {
		u.SetNamespace(request)
	}
	u.SetGeneration(o.GetGeneration())
	strategy.PrepareForUpdate(ctx, u, o)
	if u.GetUID() == "" {
		u.SetUID(o.GetUID())
	}
	if t := o.GetCreationTimestamp(); !t.IsZero() {
		u.SetCreationTimestamp(t)
	}
	if t := o.GetDeletionTimestamp(); !t.IsZero() {
		u.SetDeletionTimestamp(t)
	}
	if o.GetDeletionGracePeriodSeconds() != nil && u.GetDeletionGracePeriodSeconds() == nil {
		u.SetDeletionGracePeriodSeconds(o.GetDeletionGracePeriodSeconds())
	}
	for _, text := range describe(rest.ValidateUpdate(ctx, u, o, strategy)) {
		_, at, _ := strings.Cut(text, " at ")
		isRepeated := strings.HasPrefix(at, "metadata") && slices.Contains(errs, text)
		if !isRepeated && !strings.HasSuffix(text, "must be specified for an update") {
			errs = append(errs, text)
		}
	}
	return errs
}

// An updatePair judges objects that replace others: by package decoder, and as the API server does.
type updatePair struct {
	realVersion
	kind     *validate.Kind
	server   *Server
	strategy *Strategy
	kube     *kube.Validator
	program  *schema.Program
	// exact is update under decoder.ServerRequests.
	update, exact, status, create *decoder.Decoder
}

func newUpdatePair(v realVersion) (*updatePair, error) {
	of, err := newVerdictPair(v)
	if err != nil {
		return nil, err
	}
	p := &updatePair{realVersion: v, kind: validate.KindOf(v.crd, &v.version), server: of.server, strategy: of.strategy}
	if p.program, err = v.crd.Program(v.version.Name, validation.Values()); err != nil {
		return nil, err
	}
	return p, p.setDecoders()
}

// setDecoders makes the validator of package kube, and the decoders of the program.
func (p *updatePair) setDecoders(opts ...kube.Option) error {
	ours, err := newValidatorPair(p.kind, p.js, p.strategy, nil, opts...)
	if err != nil {
		return err
	}
	p.kube = ours.ours
	limits := decoder.Limits{Findings: 1 << 20, FindingBytes: 1 << 30}
	p.update = decoder.New(p.program, limits, decoder.ValidateUpdate)
	p.exact = decoder.New(p.program, limits, decoder.ValidateUpdate, decoder.ServerRequests)
	p.status = decoder.New(p.program, limits, decoder.ValidateStatusUpdate)
	p.create = decoder.New(p.program, limits, decoder.ValidateCreate)
	return nil
}

// An updateVerdict is the outcome of a comparison.
type updateVerdict struct {
	isDecoded                     bool
	errs, statusErrs, createdErrs int
	warnings                      int
	types                         []string
	differences                   []string
}

// compare compares what both sides say of a document that replaces the object old.
func (p *updatePair) compare(doc []byte, old map[string]any) (v updateVerdict) {
	answer, err := p.server.Decode(doc)
	if err != nil {
		return v
	}
	v.isDecoded = true
	stored := marshal(old)
	want, warnings, prepared := p.strategy.Update(answer.Object, old)
	v.errs, v.warnings = len(want), len(warnings)
	for _, text := range want {
		name, _, _ := strings.Cut(text, " at ")
		v.types = append(v.types, name)
	}
	p.update.SetOld(stored)
	p.exact.SetOld(stored)
	p.status.SetOld(stored)
	places := newPlaceFinder(doc, false)
	v.add("update", p.found(p.update, doc, want, places, validate.OfUpdate))
	v.add("exact", p.found(p.exact, doc, want, places, validate.OfUpdate))
	if got := new(validate.Validator).UpdateWarnings(answer.Object, old); !slices.Equal(got, warnings) {
		v.differences = append(v.differences, fmt.Sprintf("warnings: they: %q\nwe: %q", warnings, got))
	}
	v.add("kube", differ(want, describe(p.kube.ValidateUpdate(context.Background(), prepared[0], prepared[1]))))
	if p.kind.HasStatus {
		want, prepared := p.strategy.UpdateStatus(answer.Object, old)
		v.add("kube status", differ(want, describe(p.kube.ValidateStatusUpdate(context.Background(), prepared[0], prepared[1]))))
		v.statusErrs = len(want)
		v.add("status", p.found(p.status, doc, want, places, validate.OfStatusUpdate))
	}
	if _, err := p.create.AppendJSON(nil, doc); err != nil {
		v.createdErrs++
	}
	return v
}

func (v *updateVerdict) add(way, fault string) {
	if fault != "" {
		v.differences = append(v.differences, way+": "+fault)
	}
}

// found compares the findings of a decoder. What only the server decodes is left out.
func (p *updatePair) found(d *decoder.Decoder, doc []byte, want []string, places *placeFinder, scope validate.Scope) string {
	_, err := d.AppendJSON(nil, doc)
	if isFatal(err) {
		return ""
	}
	var got []string
	for _, f := range d.Findings() {
		if f.Kind != ferrors.InvalidValue {
			continue
		}
		text := fmt.Sprintf("%s at %s: %v", errorTypes[f.Invalid.Kind], f.Invalid.Field, f.Invalid)
		got = append(got, text)
		var path []ferrors.Segment
		for s := range f.Path.Segments() {
			path = append(path, s)
		}
		if p.kind.IsOld(scope, path) {
			if f.Position.Offset > int64(strings.Index(string(doc), "{")) {
				return fmt.Sprintf("place: %s is no value of the document", f.Detail())
			}
		} else if fault := places.check(&f); fault != "" && !strings.HasPrefix(f.Invalid.Field, "metadata") {
			return fmt.Sprintf("place: %s: %s", f.Detail(), fault)
		}
	}
	slices.Sort(got)
	return differ(want, got)
}

func differ(want, got []string) string {
	if !slices.Equal(want, got) {
		return fmt.Sprintf("findings: only they: %q\nonly we: %q", without(want, got), without(got, want))
	}
	return ""
}

// A changer changes decoded objects a little.
type changer struct{ *rand.Rand }

// change changes something in a value.
func (g changer) change(x any, depth int) any {
	if depth == 0 || in(g.Rand, 12) {
		return g.scalar(x)
	}
	switch x := x.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(x))
		if len(names) == 0 {
			x[one(g.Rand, "a", "b", "spec")] = g.scalar(nil)
			return x
		}
		name := one(g.Rand, names...)
		switch g.IntN(12) {
		case 0:
			delete(x, name)
		case 1:
			x[one(g.Rand, "a", "b", "x", name+"x")] = runtime.DeepCopyJSONValue(x[name])
		default:
			x[name] = g.change(x[name], depth-1)
		}
		return x
	case []any:
		if len(x) == 0 {
			return append(x, g.scalar(nil))
		}
		i := g.IntN(len(x))
		switch g.IntN(6) {
		case 0:
			return slices.Delete(x, i, i+1)
		case 1:
			g.Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i] })
			return x
		case 2:
			added := g.change(runtime.DeepCopyJSONValue(x[i]), depth-1)
			return slices.Insert(x, g.IntN(len(x)+1), added)
		case 3:
			return append(x, runtime.DeepCopyJSONValue(x[i]))
		}
		x[i] = g.change(x[i], depth-1)
		return x
	}
	return g.scalar(x)
}

// scalar returns another value in the place of one.
func (g changer) scalar(x any) any {
	switch x := x.(type) {
	case string:
		if in(g.Rand, 2) {
			return x + one(g.Rand, "x", "-", "A", strings.Repeat("y", 60))
		}
	case int64:
		if in(g.Rand, 2) {
			return x + int64(g.IntN(5)-2)
		}
	case bool:
		return !x
	}
	return one[any](g.Rand, nil, int64(0), int64(-1), int64(1<<40), 1.5, "", "a", "long-text", true, []any{}, map[string]any{}, []any{nil})
}

// replaced returns a stored object, and a document that replaces it, which differs a little.
func (g changer) replaced(server *Server, base []byte) (doc []byte, old map[string]any) {
	answer, err := server.Decode(base)
	if err != nil {
		return nil, nil
	}
	old = answer.Object
	m, ok := old["metadata"].(map[string]any)
	if !ok {
		m = make(map[string]any)
		old["metadata"] = m
	}
	if m["name"] == nil && !in(g.Rand, 20) {
		m["name"] = "n"
	}
	m["resourceVersion"] = "1"
	if in(g.Rand, 2) {
		m["uid"], m["creationTimestamp"], m["generation"] = "u", "2020-01-01T00:00:00Z", int64(3)
	}
	if in(g.Rand, 8) {
		m["deletionTimestamp"] = "2021-01-01T00:00:00Z"
		m["deletionGracePeriodSeconds"] = int64(g.IntN(3))
		m["finalizers"] = []any{"a/b", "c"}[:g.IntN(3)]
	}
	if in(g.Rand, 30) {
		old[one(g.Rand, "kind", "apiVersion")] = "v1"
	}
	for in(g.Rand, 3) { // what was valid once
		old = g.inside(old)
	}
	if answer, err = server.Decode(marshal(old)); err != nil {
		return nil, nil
	}
	var stored, object map[string]any
	js := marshal(answer.Object)
	for _, x := range []*map[string]any{&stored, &object} {
		if kjson.UnmarshalCaseSensitivePreserveInts(js, x) != nil {
			return nil, nil
		}
	}
	for range g.IntN(4) {
		object = g.inside(object)
	}
	if in(g.Rand, 3) {
		m, _ := object["metadata"].(map[string]any)
		switch name := one(g.Rand, "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "namespace", "name",
			"generation", "finalizers", "labels", "ownerReferences", "managedFields"); {
		case m == nil:
		case in(g.Rand, 2):
			delete(m, name)
		default:
			m[name] = g.inMetadata(name)
		}
	}
	if m, ok := object["metadata"].(map[string]any); ok {
		m["resourceVersion"] = "1"
	}
	doc = marshal(object)
	if in(g.Rand, 20) {
		doc = Mutate(doc, g.Rand)
	}
	return doc, stored
}

// inside changes something in an object, mostly in its spec or its status.
func (g changer) inside(object map[string]any) map[string]any {
	if name := one(g.Rand, "spec", "status", "spec", "status", ""); object[name] != nil {
		object[name] = g.change(object[name], 6)
		return object
	}
	changed, ok := g.change(object, 6).(map[string]any)
	if !ok {
		return object
	}
	return changed
}

func (g changer) inMetadata(name string) any {
	switch name {
	case "uid", "namespace", "name":
		return one(g.Rand, "", "u", "A", "n")
	case "creationTimestamp", "deletionTimestamp":
		return one[any](g.Rand, nil, "2020-01-01T00:00:00Z", "2022-01-01T00:00:00+01:00")
	case "deletionGracePeriodSeconds", "generation":
		return one[any](g.Rand, int64(0), int64(-1), int64(2), nil)
	case "finalizers":
		return one[any](g.Rand, []any{"a/b"}, []any{"a/b", "d", "c"}, []any{"orphan", "foregroundDeletion"}, []any{"-"}, nil)
	case "labels":
		return map[string]any{one(g.Rand, "a", "-", "x/y"): one(g.Rand, "v", "-v")}
	case "ownerReferences":
		o := map[string]any{"apiVersion": "v1", "kind": one(g.Rand, "Event", "Pod"), "name": one(g.Rand, "", "p"), "uid": "1", "controller": true}
		return []any{o, o, map[string]any{"apiVersion": "v1", "kind": "Pod", "name": "q", "uid": "2", "controller": in(g.Rand, 2)}}
	}
	// A malformed fieldsV1 makes the server drop all of them, which is not looked at here.
	return []any{map[string]any{
		"manager": one(g.Rand, "m", strings.Repeat("m", 200)), "operation": "Update", "apiVersion": one(g.Rand, "v1", ""), "fieldsType": "FieldsV1",
	}}
}

// An updateTally counts what was compared.
type updateTally struct {
	sync.Mutex
	pairs, decoded, invalid, invalidStatus, excused, warned, differences int
	types, reported                                                      map[string]int
}

func (y *updateTally) add(t *testing.T, v *updateVerdict, report func() string) {
	y.Lock()
	defer y.Unlock()
	y.pairs++
	if !v.isDecoded {
		return
	}
	y.decoded++
	y.invalid += min(v.errs, 1)
	y.invalidStatus += min(v.statusErrs, 1)
	y.warned += min(v.warnings, 1)
	if v.errs == 0 && v.createdErrs > 0 {
		y.excused++
	}
	for _, name := range v.types {
		y.types[name]++
	}
	if len(v.differences) > 0 {
		y.differences++
		what, _, _ := strings.Cut(v.differences[0], "only")
		if y.reported[what]++; y.reported[what] <= *reportsFlag {
			t.Errorf("%.4000s\n%s", strings.Join(v.differences, "\n"), report())
		}
	}
}

// TestUpdates compares verdicts on objects that replace others, of which they differ in a few places:
// for the definitions of the corpus, and for random ones.
func TestUpdates(t *testing.T) {
	pairs := *updatesFlag
	if testing.Short() {
		pairs = 800
	}
	all := slices.Collect(realVersions(t))
	all = slices.DeleteFunc(all, func(v realVersion) bool { return v.crd.OpenAPI })
	y := &updateTally{types: make(map[string]int), reported: make(map[string]int)}
	t.Run("corpus", func(t *testing.T) {
		if len(all) == 0 {
			t.Skip("there are no definitions")
		}
		testUpdates(t, y, max(2, pairs/2/len(all)), uint64(len(all)), sampledFrom(all, made))
	})
	t.Run("random", func(t *testing.T) {
		testUpdates(t, y, 20, uint64(pairs/2/20), grownVersion)
	})
	t.Logf("%d pairs: %d are decoded, %d invalid, %d as updates of the status, %d invalid where they are created only, %d have warnings, %d differ",
		y.pairs, y.decoded, y.invalid, y.invalidStatus, y.excused, y.warned, y.differences)
	t.Log(y.types)
	assert.Greater(t, y.invalid, y.decoded/10)
	assert.Greater(t, y.excused, y.decoded/50)
}

// testUpdates compares objects for each of a number of versions, in several goroutines.
func testUpdates(t *testing.T, y *updateTally, objects int, versions uint64, newVersion versionMaker) {
	started := time.Now()
	forPairs(t, versions, newVersion, newUpdatePair, func(n uint64, p *updatePair, object func(seed uint64) []byte) {
		p.forUpdates(n, objects, object, func(doc []byte, old map[string]any, report func() string) {
			v := p.compare(doc, old)
			y.add(t, &v, report)
		})
	})
	t.Logf("%v", time.Since(started).Round(time.Second))
}

// forUpdates calls f with stored objects of version n and the documents that replace them.
func (p *updatePair) forUpdates(
	n uint64, objects int, object func(seed uint64) []byte, f func(doc []byte, old map[string]any, report func() string),
) {
	for seed := range uint64(objects) {
		g := changer{rand.New(rand.NewPCG(n<<32|*fromFlag+seed, 41))}
		if doc, old := g.replaced(p.server, object(seed)); doc != nil {
			f(doc, old, func() string {
				return fmt.Sprintf("version %d (%s %s), seed %d\nold: %s\nnew: %s\n%.3000s", n, p.apiVersion, p.crd.Kind, seed, marshal(old), doc, p.js)
			})
		}
	}
}

// TestUpdatesOfNothing asserts that an object may replace itself, whatever its schema says: what is
// invalid in it is excused, unless it is about the whole or has no place in the schema.
func TestUpdatesOfNothing(t *testing.T) {
	s, err := schema.Parse([]byte(`{type: object, properties: {spec: {type: object, required: [b], properties: {a: {type: integer, maximum: 1}}}}}`))
	require.NoError(t, err)
	crd := &schema.CRD{Group: "g", Kind: "K", Scope: "Cluster", Versions: []schema.Version{{Name: "v1", Schema: s}}}
	p, err := crd.Program("v1", validation.Values())
	require.NoError(t, err)
	doc := []byte(`{"apiVersion":"g/v1","kind":"K","metadata":{"name":"n"},"spec":{"a":7}}`)
	d := decoder.New(p, decoder.ValidateUpdate)
	d.SetOld(doc)
	_, err = d.AppendJSON(nil, doc)
	require.NoError(t, err)
}
