package fuzz

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	k8sschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/validate"
	"github.com/espalier-dev/espalier/sample"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

var strategiesFlag = flag.Int("strategies", 2000, "how many generated `pairs` TestStrategy compares")

// errorTypes are the types of field.Error by the kinds of ours.
var errorTypes = map[ferrors.SchemaErrorKind]field.ErrorType{
	ferrors.SchemaRequired: field.ErrorTypeRequired, ferrors.SchemaInvalid: field.ErrorTypeInvalid,
	ferrors.SchemaTypeInvalid: field.ErrorTypeTypeInvalid, ferrors.SchemaForbidden: field.ErrorTypeForbidden,
	ferrors.SchemaUnsupported: field.ErrorTypeNotSupported, ferrors.SchemaDuplicate: field.ErrorTypeDuplicate,
	ferrors.SchemaTooLong: field.ErrorTypeTooLong, ferrors.SchemaTooMany: field.ErrorTypeTooMany,
}

// A strategyPair validates the objects of a kind by package validate and by the server's strategy.
type strategyPair struct {
	kind      validate.Kind
	validator *validate.Validator
	server    *Strategy
	seen      *strategySeen
}

// strategySeen counts what was compared.
type strategySeen struct {
	objects, invalid, invalidStatus, warned int
	rules                                   map[string]int
}

func newStrategySeen() *strategySeen { return &strategySeen{rules: make(map[string]int)} }

// compare compares the errors and the warnings for a decoded object. Errors are compared with
// repeats and in any order: the server goes through maps.
func (p *strategyPair) compare(t *testing.T, name string, object map[string]any) {
	before := marshal(object)
	explain := func() string { return fmt.Sprintf("%s: %s\n%s", name, marshal(p.kind), before) }
	errs, warnings := p.server.Create(object)
	steps := 1 << 30
	p.compareErrors(t, explain, object, errs, p.validator.Create(&p.kind, object, &steps))
	stored := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(object)}
	stored.SetResourceVersion("1")
	statusErrs := p.server.StatusUpdate(stored.Object)
	p.compareErrors(t, explain, object, statusErrs, p.validator.StatusUpdate(&p.kind, stored.Object, &steps))
	if got := p.validator.Warnings(object); !slices.Equal(warnings, got) {
		require.Equal(t, warnings, got, explain())
	}
	if after := marshal(object); string(before) != string(after) {
		require.JSONEq(t, string(before), string(after), "the object was changed")
	}
	p.seen.objects++
	p.seen.invalid += min(len(errs), 1)
	p.seen.invalidStatus += min(len(statusErrs), 1)
	p.seen.warned += min(len(warnings), 1)
}

func (p *strategyPair) compareErrors(t *testing.T, explain func() string, object any, theirs field.ErrorList, ours []validate.Error) {
	var want, got []string
	for _, err := range theirs {
		want = append(want, string(err.Type)+" "+err.Error())
	}
	for _, err := range ours {
		got = append(got, string(errorTypes[err.Kind])+" "+err.Error())
		p.seen.rules[err.Rule+" "+string(err.Kind)]++
		checkPath(t, object, &err)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		require.Equal(t, want, got, explain())
	}
}

// A strategyVersion is a schema whose kind has each scope, and is with and without subresources.
type strategyVersion struct {
	own    validate.Kind
	schema *strategySchema
	pairs  map[int]*strategyPair // by variant
	seen   *strategySeen
}

func newStrategyVersion(k *validate.Kind, js json.RawMessage, preserveUnknownFields bool, seen *strategySeen) (*strategyVersion, error) {
	s, err := newStrategySchema(js, preserveUnknownFields, false)
	return &strategyVersion{*k, s, make(map[int]*strategyPair), seen}, err
}

// pair returns the pair of a variant. Variant 0 is the kind as it is.
func (v *strategyVersion) pair(t *testing.T, variant int) *strategyPair {
	p := v.pairs[variant]
	if p != nil {
		return p
	}
	k := v.own
	if variant > 0 {
		r := rand.New(rand.NewPCG(uint64(variant), 17))
		k.Namespaced, k.HasStatus, k.Scale = variant&1 > 0, variant&2 > 0, nil
		if variant&4 > 0 {
			k.Scale = &schema.Scale{SpecReplicasPath: aPath(r, k.Schema), StatusReplicasPath: aPath(r, k.Schema)}
			if in(r, 2) {
				k.Scale.LabelSelectorPath = new(aPath(r, k.Schema))
			}
		}
	}
	server, err := v.schema.strategy(&k)
	require.NoError(t, err, "%s %s", k.APIVersion, k.Kind)
	p = &strategyPair{k, new(validate.Validator), server, v.seen}
	v.pairs[variant] = p
	return p
}

// variants are how many variants a version has: each combination, some with several paths of scale.
const variants = 16

// aPath returns a path for the scale subresource, which leads to any value but metadata, in which the
// server sets what is different each time.
func aPath(r *rand.Rand, s *schema.Structural) string {
	if in(r, 4) {
		return one(r, ".spec.replicas", ".status.replicas", "spec", ".a.b", "..a", ".", ".kind.a")
	}
	path := ""
	for s != nil && len(s.Properties) > 0 && (path == "" || !in(r, 4)) {
		name := one(r, slices.Sorted(maps.Keys(s.Properties))...)
		if name == "metadata" {
			break
		}
		path += "." + name
		s = s.Properties[name]
	}
	return path
}

// TestStrategy compares creates and status updates with the server's strategy: the resources of the
// corpus, as they are and with mistakes in them, generated objects of its schemas, and values of
// random schemas.
func TestStrategy(t *testing.T) {
	generated := *strategiesFlag
	if testing.Short() {
		generated = 200
	}
	seen := newStrategySeen()
	versions := make(map[string]*strategyVersion)
	servers := make(map[string]*Server)
	var types []string
	for v := range realVersions(t) {
		server, err := NewServer(v.js, k8sschema.GroupVersion{Group: v.crd.Group, Version: v.version.Name}, v.crd.Kind)
		require.NoError(t, err)
		if v.crd.PreserveUnknownFields {
			server.Preserve()
		}
		name := v.apiVersion + " " + v.crd.Kind
		versions[name], err = newStrategyVersion(validate.KindOf(v.crd, &v.version), v.js, v.crd.PreserveUnknownFields, seen)
		require.NoError(t, err)
		servers[name] = server
		types = append(types, name)
	}
	compare := func(name, typ string, js []byte, seed uint64) {
		answer, err := servers[typ].Decode(js)
		if err != nil {
			return
		}
		if seed%20 == 1 {
			answer.Object[one(rand.New(rand.NewPCG(seed, 0)), "kind", "apiVersion")] = "v1"
		}
		versions[typ].pair(t, int(seed%variants)).compare(t, name, answer.Object)
	}
	n := uint64(0)
	for o := range realObjects(t) {
		typ := o.apiVersion + " " + o.kind
		if versions[typ] == nil {
			continue
		}
		compare(o.file, typ, o.js, 0)
		compare(o.file, typ, o.js, n)
		for range 2 {
			n++
			compare(fmt.Sprintf("%s, seed %d", o.file, n), typ, Mutate(o.js, rand.New(rand.NewPCG(n, 3))), n)
		}
	}
	seen.log(t, "resources")
	for i, typ := range types {
		m := sample.New(versions[typ].own.Schema, versions[typ].own.APIVersion, versions[typ].own.Kind)
		for k := range uint64(generated / 2 / len(types)) {
			seed := *fromFlag + uint64(i)<<32 | k
			js, err := m.Mutated(sample.Bytes(seed)), error(nil)
			switch k % 4 {
			case 0:
				js, err = m.Valid(sample.Bytes(seed))
			case 1, 2:
				js, _, err = m.NearlyValid(sample.Bytes(seed))
			}
			if err == nil {
				compare(fmt.Sprintf("seed %d", seed), typ, js, k)
			}
		}
	}
	seen.log(t, "samples")
	for k := range uint64(generated / 2 / 20) {
		compareRandom(t, *fromFlag+k, seen)
	}
	seen.log(t, "values")
	assert.Greater(t, seen.invalid, seen.objects/4)
	assert.Greater(t, seen.warned, 0)
	if !testing.Short() {
		assert.GreaterOrEqual(t, len(seen.rules), 30)
	}
}

// compareRandom compares values of a random schema.
func compareRandom(t *testing.T, seed uint64, seen *strategySeen) {
	g, root := grownKind(t, seed, 19)
	fields := root["properties"].(object)
	if in(g.Rand, 5) {
		name := object{"type": "string"}
		g.validations(name, name, 9)
		fields["metadata"] = object{"type": "object", "properties": object{one(g.Rand, "name", "generateName"): name}}
	}
	if in(g.Rand, 10) {
		root["x-kubernetes-embedded-resource"], root["x-kubernetes-preserve-unknown-fields"] = true, true
	}
	v, js := newGrownVersion(t, root, seen)
	for i := range 20 {
		x := map[string]any{"apiVersion": "a/v1", "kind": "K", "metadata": g.metadata(true)}
		if in(g.Rand, 30) {
			delete(x, "metadata")
		}
		if in(g.Rand, 20) {
			x[one(g.Rand, "apiVersion", "kind")] = one[any](g.Rand, "", "a", nil, 1)
		}
		for name, value := range g.value(root).(map[string]any) {
			if !slices.Contains([]string{"apiVersion", "kind", "metadata"}, name) {
				x[name] = value
			}
		}
		var object map[string]any
		require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(marshal(x), &object))
		if meta, found, err := objectmeta.GetObjectMeta(object, false); found {
			require.NoError(t, err)
			require.NoError(t, objectmeta.SetObjectMeta(object, meta)) // as decoding does
		}
		v.pair(t, g.IntN(variants)).compare(t, fmt.Sprintf("seed %d, %d: %s", seed, i, js), object)
	}
}

// grownKind returns a random schema for a kind whose spec and status have rules, too, and what made
// it. Sequences of random numbers have their own seeds.
func grownKind(t *testing.T, seed, sequence uint64) (g valueGrower, root object) {
	g = valueGrower{rand.New(rand.NewPCG(seed, sequence)), 6 << (seed % 4)}
	require.NoError(t, json.Unmarshal(g.root(), &root))
	fields := root["properties"].(object)
	for _, name := range []string{"spec", "status"} {
		if !in(g.Rand, 4) {
			fields[name] = json.RawMessage(marshal(g.node(0)))
		}
	}
	return g, root
}

// newGrownVersion returns the version of a random kind and its schema, and gives root the types of
// encoding/json.
func newGrownVersion(t *testing.T, root object, seen *strategySeen) (*strategyVersion, []byte) {
	js := marshal(root)
	s, err := schema.Parse(js)
	require.NoError(t, err, "%s", js)
	require.NoError(t, validation.Structural(s), "%s", js)
	require.NoError(t, json.Unmarshal(js, &root))
	v, err := newStrategyVersion(&validate.Kind{APIVersion: "a/v1", Kind: "K", Namespaced: true, HasStatus: true, Schema: s}, js, false, seen)
	require.NoError(t, err)
	return v, js
}

func (s *strategySeen) log(t *testing.T, what string) {
	t.Logf("with %s: %d objects, %d invalid, %d as status updates, %d with warnings", what, s.objects, s.invalid, s.invalidStatus, s.warned)
	logCounts(t, s.rules)
}

// TestStrategyCases compares the cases of package validate with the server.
func TestStrategyCases(t *testing.T) {
	forValidationCases(t, "../internal/validate/testdata/kinds/*.txtar", func(yml []byte) objectComparer {
		crds, err := schema.ParseCRD(yml)
		require.NoError(t, err)
		var theirs manifest
		require.NoError(t, yaml.Unmarshal(yml, &theirs))
		k := validate.KindOf(crds[0], &crds[0].Versions[0])
		server, err := NewStrategy(k, theirs.schema(0), false)
		require.NoError(t, err)
		return (&strategyPair{*k, new(validate.Validator), server, newStrategySeen()}).compare
	})
}
