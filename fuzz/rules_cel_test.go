package fuzz

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/espalier-dev/espalier/cel"
	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/validate"
	"github.com/espalier-dev/espalier/kube"
	"github.com/espalier-dev/espalier/sample"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

var rulesFlag = flag.Int("rules", 1_500, "how many generated `pairs` TestCELRules compares")

// ruledVersions returns the versions that have rules in CEL: those of the corpus, and those of
// gateway-api as it is required here.
func ruledVersions(t *testing.T) (all []realVersion) {
	add := func(v realVersion) {
		if !v.crd.OpenAPI && v.version.Schema != nil && bytes.Contains(v.js, []byte(`"x-kubernetes-validations"`)) {
			all = append(all, v)
		}
	}
	for v := range realVersions(t) {
		add(v)
	}
	for f := range fixturesIn(t, moduleDir(t, "sigs.k8s.io/gateway-api")+"/config/crd/experimental") {
		if f.kind != "CustomResourceDefinition" {
			continue
		}
		crds, err := schema.ParseCRD(f.yaml)
		require.NoError(t, err, f.name)
		var m manifest
		require.NoError(t, yaml.Unmarshal(f.yaml, &m), f.name)
		for i, version := range crds[0].Versions {
			add(realVersion{crd: crds[0], version: version, js: m.schema(i), apiVersion: crds[0].Group + "/" + version.Name})
		}
	}
	return all
}

// A ruledPair judges objects that are created or replace others, with the rules in CEL.
type ruledPair struct {
	*updatePair
	unruled *Strategy
}

func newRuledPair(v realVersion, rules validation.RuleCompiler) (*ruledPair, error) {
	p, err := newUpdatePair(v)
	if err != nil {
		return nil, err
	}
	r := &ruledPair{p, p.strategy}
	if p.strategy, err = NewRuledStrategy(p.kind, v.js, v.crd.PreserveUnknownFields); err != nil {
		return nil, err
	}
	if p.program, err = v.crd.Program(v.version.Name, validation.Values(rules)); err != nil {
		return nil, err
	}
	return r, p.setDecoders(kube.Rules(rules))
}

// A ruledVerdict is the outcome of a comparison.
type ruledVerdict struct {
	updateVerdict
	created []string // the errors for the object as a new one
	// broken, excused and blocked are 1 if rules refuse an update, if they refuse the same object as a
	// new one only, and if other errors keep the server from evaluating them.
	broken, excused, blocked int
	retries                  int
}

const notEvaluated = "some validation rules were not checked because the object was invalid"

// compare compares what both sides say of a document that replaces the object old, and that is
// created. Where a rule compares maps that are of other types than in the schema, the server's answer
// is left to chance: then it is asked again.
func (p *ruledPair) compare(doc []byte, old map[string]any) (v ruledVerdict) {
	for retries := range 60 {
		if v = p.compareOnce(doc, old); len(v.differences) == 0 {
			v.retries = retries
			break
		}
	}
	return v
}

func (p *ruledPair) compareOnce(doc []byte, old map[string]any) (v ruledVerdict) {
	v.updateVerdict = p.updatePair.compare(doc, old)
	if !v.isDecoded {
		return v
	}
	answer, err := p.server.Decode(doc)
	if err != nil {
		panic(err) // it was decoded before
	}
	errs, _ := p.strategy.Create(answer.Object)
	v.created = describe(errs)
	v.add("create", p.found(p.create, doc, v.created, newPlaceFinder(doc, false), validate.OfCreate))
	var updated, ofUpdate, ofCreate []string
	if v.errs > 0 {
		updated, _, _ = p.strategy.Update(answer.Object, old)
		plain, _, _ := p.unruled.Update(answer.Object, old)
		ofUpdate = without(updated, plain)
	}
	if len(v.created) > 0 {
		plain, _ := p.unruled.Create(answer.Object)
		ofCreate = without(v.created, describe(plain))
	}
	isBlocked := func(text string) bool { return strings.Contains(text, notEvaluated) }
	switch {
	case slices.ContainsFunc(ofUpdate, isBlocked):
		v.blocked = 1
	case len(ofUpdate) > 0:
		v.broken = 1
	}
	if !slices.ContainsFunc(ofCreate, isBlocked) {
		v.excused = min(len(without(ofCreate, updated)), 1)
	}
	return v
}

// TestCELRules compares verdicts with rules in CEL, on objects that are created, that replace others,
// and whose status is updated: for the definitions with rules of the corpus, and for those of
// gateway-api.
func TestCELRules(t *testing.T) {
	pairs := *rulesFlag
	if testing.Short() {
		pairs = 600
	}
	all := ruledVersions(t)
	y := &updateTally{types: make(map[string]int), reported: make(map[string]int)}
	var mu sync.Mutex
	var broken, excused, blocked, created, chance int
	rules := cel.Rules()
	started := time.Now()
	newPair := func(v realVersion) (*ruledPair, error) { return newRuledPair(v, rules) }
	forPairs(t, uint64(len(all)), sampledFrom(all, mostlyValid), newPair, func(n uint64, p *ruledPair, object func(seed uint64) []byte) {
		p.forUpdates(n, pairs/len(all)+1, object, func(doc []byte, old map[string]any, report func() string) {
			v := p.compare(doc, old)
			y.add(t, &v.updateVerdict, report)
			mu.Lock()
			defer mu.Unlock()
			broken, excused, blocked = broken+v.broken, excused+v.excused, blocked+v.blocked
			created, chance = created+min(len(v.created), 1), chance+min(v.retries, 1)
		})
	})
	t.Logf("%v, %d versions, %d pairs: %d are decoded, %d invalid, %d invalid where they are created; "+
		"%d break rules, %d only where they are created, of %d none are evaluated; %d differ by chance, %d otherwise",
		time.Since(started).Round(time.Second), len(all), y.pairs, y.decoded, y.invalid, created, broken, excused, blocked, chance, y.differences)
	assert.Greater(t, broken, y.decoded/50)
	assert.Greater(t, blocked, y.decoded/50)
	assert.Greater(t, excused, y.decoded/50)
	assert.Less(t, chance, max(y.decoded/200, 5))
}

// mostlyValid returns a valid object for three of four seeds, if one can be made, and otherwise what
// made returns.
func mostlyValid(m *sample.Maker, seed uint64) []byte {
	if valid, err := m.Valid(sample.Bytes(seed)); err == nil && !in(rand.New(rand.NewPCG(seed, 43)), 4) {
		return valid
	}
	return made(m, seed)
}

// TestGatewayRules asserts that the examples of gateway-api that must be refused are refused, all of
// them, and the others accepted, with the server's errors, in each of a hundred runs. Without rules
// in CEL, thirteen of them are accepted.
func TestGatewayRules(t *testing.T) {
	runs := 100
	if testing.Short() {
		runs = 3
	}
	gateway := moduleDir(t, "sigs.k8s.io/gateway-api")
	rules := cel.Rules()
	unruled, ruled, accepted := 0, 0, 0
	for channel, examples := range map[string][]string{"standard": {"standard"}, "experimental": {"standard", "experimental"}} {
		kinds := make(map[string]*ruledPair)
		for name, p := range definitionsIn(t, gateway+"/config/crd/"+channel) {
			var err error
			kinds[name], err = newRuledPair(p.realVersion, rules)
			require.NoError(t, err)
		}
		judge := func(f fixture) (plain, whole []string) {
			p := kinds[f.apiVersion+" "+f.kind]
			if p == nil {
				require.Equal(t, "v1 Namespace", f.apiVersion+" "+f.kind)
				return nil, nil
			}
			answer, err := p.server.Decode(f.js)
			require.NoError(t, err, f.name)
			errs, _ := p.strategy.Create(answer.Object)
			others, _ := p.unruled.Create(answer.Object)
			for run := range runs {
				if run%10 == 0 { // otherwise the decoder is that of the run before
					p.create = decoder.New(p.program, decoder.ValidateCreate)
				}
				_, err := p.create.AppendYAML(nil, f.yaml)
				require.False(t, isFatal(err), "%s: %v", f.name, err)
				got := texts(p.create.Findings())
				if run == 0 {
					whole = got
				}
				require.Equal(t, whole, got, f.name)
			}
			assert.ElementsMatch(t, describe(errs), whole, f.name)
			return describe(others), whole
		}
		for f := range fixturesIn(t, gateway+"/hack/invalid-examples/"+channel) {
			plain, whole := judge(f)
			unruled += min(len(plain), 1)
			ruled += min(len(whole), 1)
		}
		for _, of := range examples {
			for f := range fixturesIn(t, gateway+"/examples/"+of) {
				_, whole := judge(f)
				assert.Empty(t, whole, f.name)
				accepted++
			}
		}
	}
	assert.Equal(t, 23, unruled)
	assert.Equal(t, 36, ruled)
	assert.Greater(t, accepted, 190)
}

// texts are findings of values as describe has errors, in their order.
func texts(list ferrors.List) (all []string) {
	for _, f := range list {
		if f.Kind == ferrors.InvalidValue {
			all = append(all, fmt.Sprintf("%s at %s: %v", errorTypes[f.Invalid.Kind], f.Invalid.Field, f.Invalid))
		}
	}
	return all
}
