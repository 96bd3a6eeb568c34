package fuzz

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/validate"
	"github.com/espalier-dev/espalier/sample"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

var verdictsFlag = flag.Int("verdicts", 2_000, "how many generated `pairs` TestVerdicts compares")

// A verdictPair judges the objects of a version when they are created: by package decoder, and as
// the API server does.
type verdictPair struct {
	realVersion
	server *Server
	// strategy validates. For built-in kinds, which the server validates in code of its own, values
	// does it.
	strategy *Strategy
	values   *Validator
	// hardened and exact validate what is created, exact under decoder.ServerRequests. status
	// validates updates of the status. plain does not validate.
	hardened, exact, status, plain *decoder.Decoder
}

func newVerdictPair(v realVersion) (*verdictPair, error) {
	p := &verdictPair{realVersion: v}
	var err error
	if p.server, err = NewServer(v.js, kschema.GroupVersion{Group: v.crd.Group, Version: v.version.Name}, v.crd.Kind); err != nil {
		return nil, err
	}
	p.server.AnyKind = true // the strategy compares the kinds
	if v.crd.PreserveUnknownFields {
		p.server.Preserve()
	}
	if v.crd.OpenAPI {
		p.values, err = NewValidator(v.js)
	} else {
		p.strategy, err = NewStrategy(validate.KindOf(v.crd, &v.version), v.js, v.crd.PreserveUnknownFields)
	}
	if err != nil {
		return nil, err
	}
	program, err := v.crd.Program(v.version.Name, validation.Values())
	if err != nil {
		return nil, err
	}
	plain, err := v.crd.Program(v.version.Name)
	if err != nil {
		return nil, err
	}
	limits := decoder.Limits{Findings: 1 << 20, FindingBytes: 1 << 30}
	p.hardened = decoder.New(program, limits, decoder.ValidateCreate)
	p.exact = decoder.New(program, limits, decoder.ValidateCreate, decoder.ServerRequests)
	p.status = decoder.New(program, limits, decoder.ValidateStatusUpdate)
	p.plain = decoder.New(plain, limits)
	return p, nil
}

// validate returns the server's errors for a decoded object, but for those of rules in CEL.
func (p *verdictPair) validate(object map[string]any) (errs field.ErrorList) {
	if p.strategy != nil {
		errs, _ = p.strategy.Create(object)
		return errs
	}
	u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(object)}
	dropUnreadable(u)
	parts := p.values.Parts(u.Object)
	return slices.Concat(parts[:]...)
}

// A verdict is the outcome of a comparison.
type verdict struct {
	fault        error           // if the server does not decode the document
	object       map[string]any  // otherwise
	errs         field.ErrorList // of the server, but for those of rules in CEL
	statusErrs   field.ErrorList // if the status of a stored object is updated
	what, detail string          // the first difference
}

// compare compares what both sides say of a document, for several ways into the decoder.
func (p *verdictPair) compare(doc []byte, isYAML bool) (v verdict) {
	serve, decode := p.server.Decode, (*decoder.Decoder).AppendJSON
	if isYAML {
		serve, decode = p.server.DecodeYAML, (*decoder.Decoder).AppendYAML
	}
	answer, err := serve(doc)
	if v.fault = err; err == nil {
		v.object = answer.Object
		v.errs = p.validate(answer.Object)
	}
	plain, plainErr := decode(p.plain, nil, doc)
	want := describe(v.errs)
	places := newPlaceFinder(doc, isYAML)

	got, err := decode(p.hardened, nil, doc)
	if isFatal(err) != isFatal(plainErr) || !bytes.Equal(got, plain) {
		v.add("hardened", fmt.Sprintf("the result differs without validation: %s %v\n%s %v", got, err, plain, plainErr))
	}
	v.add("hardened", p.findings(p.hardened, err, want, v.fault, places, false))
	if !isYAML {
		var r io.Reader = bytes.NewReader(doc)
		if len(doc)%2 == 1 {
			r = iotest.OneByteReader(r)
		}
		_, err := io.ReadAll(p.hardened.NewReader(r))
		v.add("stream", p.findings(p.hardened, err, want, v.fault, places, false))
	}
	_, err = decode(p.exact, nil, doc)
	v.add("exact", p.findings(p.exact, err, want, v.fault, places, true))
	if v.fault == nil && p.strategy != nil && p.version.HasStatus && (&unstructured.Unstructured{Object: v.object}).GetResourceVersion() != "" {
		_, err = decode(p.status, nil, doc)
		v.statusErrs = p.strategy.StatusUpdate(v.object)
		v.add("status", p.findings(p.status, err, describe(v.statusErrs), v.fault, places, false))
	}
	return v
}

func (v *verdict) add(way, fault string) {
	if fault != "" && v.what == "" {
		what, detail, _ := strings.Cut(fault, ": ")
		v.what, v.detail = way+": "+what, detail
	}
}

// findings compares the findings of a decoder, which returned err, and says what is wrong. What one
// side does not decode, the other may accept, unless the comparison is exact.
func (p *verdictPair) findings(
	d *decoder.Decoder, err error, want []string, fault error, at *placeFinder, isExact bool,
) string {
	if isFatal(err) || fault != nil {
		stage, _ := errors.AsType[*StageError](fault)
		if isExact && isFatal(err) != (fault != nil) && (stage == nil || stage.Stage != Capped && stage.Stage != Panic) {
			return fmt.Sprintf("a fault for one side: they: %v\nwe:   %v", fault, err)
		}
		return ""
	}
	var got []string
	var invalid ferrors.List
	for _, f := range d.Findings() {
		if f.Kind == ferrors.InvalidValue {
			invalid = append(invalid, f)
			got = append(got, fmt.Sprintf("%s at %s: %v", errorTypes[f.Invalid.Kind], f.Invalid.Field, f.Invalid))
		}
	}
	slices.Sort(got)
	if !slices.Equal(want, got) {
		return fmt.Sprintf("findings: only they: %q\nonly we:   %q", without(want, got), without(got, want))
	}
	refusal, _ := errors.AsType[*ferrors.InvalidError](err)
	if (refusal != nil) != (len(invalid) > 0) || refusal != nil && len(refusal.Findings()) != len(invalid) {
		return fmt.Sprintf("error and findings: %v\n%v", err, invalid)
	}
	for i := range invalid {
		if fault := at.check(&invalid[i]); fault != "" {
			return fmt.Sprintf("place: %s\n%s", invalid[i].Detail(), fault)
		}
	}
	return ""
}

// without returns the texts of a that b does not have, both sorted.
func without(a, b []string) (rest []string) {
	for _, text := range a {
		for len(b) > 0 && b[0] < text {
			b = b[1:]
		}
		if len(b) > 0 && b[0] == text {
			b = b[1:]
		} else {
			rest = append(rest, text)
		}
	}
	return rest
}

// isFatal reports whether there is no result.
func isFatal(err error) bool {
	return err != nil && !errors.As(err, new(*ferrors.InvalidError))
}

// describe returns the types, paths and texts of errors, which a server finds in no order.
func describe(errs field.ErrorList) (texts []string) {
	for _, err := range errs {
		texts = append(texts, fmt.Sprintf("%s at %s: %v", err.Type, strings.TrimPrefix(err.Field, "<nil>"), err))
	}
	slices.Sort(texts)
	return texts
}

// A verdictTally counts what was compared.
type verdictTally struct {
	sync.Mutex
	pairs, faults, invalid, invalidStatus, differences int
	errors                                             map[string]int // by type
	reported                                           map[string]int
}

func (y *verdictTally) add(t *testing.T, v *verdict, report func() string) {
	y.Lock()
	defer y.Unlock()
	y.pairs++
	if v.fault != nil {
		y.faults++
	}
	if len(v.errs) > 0 {
		y.invalid++
	}
	if len(v.statusErrs) > 0 {
		y.invalidStatus++
	}
	for _, err := range v.errs {
		y.errors[string(err.Type)]++
	}
	if v.what != "" {
		y.differences++
		if y.reported[v.what]++; y.reported[v.what] <= *reportsFlag {
			t.Errorf("%s\n%s\n%.4000s", v.what, report(), v.detail)
		}
	}
}

// A versionMaker makes the version of a number, and with it a function that makes its objects.
type versionMaker func(n uint64) (v realVersion, object func(seed uint64) []byte, err error)

// TestVerdicts compares verdicts on generated objects, in JSON and in YAML: for the definitions of
// the corpus, for random ones, in which keywords of value validation are frequent, and for those of
// TestParity, in which defaults are.
func TestVerdicts(t *testing.T) {
	pairs := *verdictsFlag
	if testing.Short() {
		pairs = 800
	}
	t.Run("corpus", func(t *testing.T) {
		all := slices.Collect(realVersions(t))
		if len(all) == 0 {
			t.Skip("there are no definitions")
		}
		testVerdicts(t, pairs/2/len(all), uint64(len(all)), sampledFrom(all, made))
	})
	t.Run("random", func(t *testing.T) {
		testVerdicts(t, 20, uint64(pairs/2/20), grownVersion)
	})
	t.Run("defaults", func(t *testing.T) {
		testVerdicts(t, DocumentsPerSchema, uint64(pairs/8/DocumentsPerSchema+1), func(n uint64) (realVersion, func(seed uint64) []byte, error) {
			first := *fromFlag + n*DocumentsPerSchema
			s, js := NewSchema(first)
			version := schema.Version{Name: testVersion.Version, Schema: s, Served: true, Storage: true}
			crd := &schema.CRD{
				APIVersion: "apiextensions.k8s.io/v1", Name: "trellises." + testVersion.Group, Group: testVersion.Group,
				Kind: testKind, Plural: "trellises", Scope: one(rand.New(rand.NewPCG(first, 16)), "Cluster", "Namespaced"), Versions: []schema.Version{version},
			}
			v := realVersion{crd: crd, version: version, js: js, apiVersion: testVersion.String()}
			return v, func(seed uint64) []byte { return NewDocument(first+seed, s) }, nil
		})
	})
}

// sampledFrom returns real versions, whose objects the function makes of the seeds.
func sampledFrom(all []realVersion, of func(m *sample.Maker, seed uint64) []byte) versionMaker {
	return func(n uint64) (realVersion, func(seed uint64) []byte, error) {
		v := all[n]
		m := sample.New(v.version.Schema, v.apiVersion, v.crd.Kind)
		return v, func(seed uint64) []byte { return of(m, n<<32|*fromFlag+seed) }, nil
	}
}

// made returns an object that is valid, nearly valid, or has any mistakes.
func made(m *sample.Maker, seed uint64) []byte {
	var js []byte
	var err error
	switch seed % 4 {
	case 0:
		js, err = m.Valid(sample.Bytes(seed))
	case 1, 2:
		js, _, err = m.NearlyValid(sample.Bytes(seed))
	}
	if js == nil || err != nil {
		return m.Mutated(sample.Bytes(seed))
	}
	if seed%4 == 2 {
		js = Mutate(js, rand.New(rand.NewPCG(seed, 12)))
	}
	if seed%8 < 4 { // as if it was stored
		js = bytes.Replace(js, []byte(`"metadata":{`), []byte(`"metadata":{"resourceVersion":"1",`), 1)
	}
	return js
}

// forPairs calls f with the pair for each of a number of versions, from several goroutines.
func forPairs[P any](
	t *testing.T, versions uint64, newVersion versionMaker, newPair func(realVersion) (P, error),
	f func(n uint64, p P, object func(seed uint64) []byte),
) {
	inTurns(versions, func(n uint64) {
		version, object, err := newVersion(n)
		var p P
		if err == nil {
			p, err = newPair(version)
		}
		if err != nil {
			t.Errorf("version %d: %v", n, err)
			return
		}
		f(n, p, object)
	})
}

// testVerdicts compares objects for each of a number of versions, in several goroutines.
func testVerdicts(t *testing.T, objects int, versions uint64, newVersion versionMaker) {
	objects = max(objects, 4)
	started := time.Now()
	y := &verdictTally{errors: make(map[string]int), reported: make(map[string]int)}
	forPairs(t, versions, newVersion, newVerdictPair, func(n uint64, p *verdictPair, object func(seed uint64) []byte) {
		for seed := range uint64(objects) {
			doc := object(seed)
			v := p.compare(doc, false)
			report := func() string {
				return fmt.Sprintf("version %d (%s %s), seed %d\n%s\n%.3000s", n, p.apiVersion, p.crd.Kind, seed, doc, p.js)
			}
			y.add(t, &v, report)
			if text, err := yaml.JSONToYAML(doc); err == nil && len(text) < 64<<10 {
				doc = text
				v = p.compare(doc, true)
				y.add(t, &v, report)
			}
		}
	})
	t.Logf("%d pairs of %d versions in %v: %d are invalid, %d as updates of the status, %d no objects, %d differ",
		y.pairs, versions, time.Since(started).Round(time.Second), y.invalid, y.invalidStatus, y.faults, y.differences)
	t.Log(y.errors)
	assert.Greater(t, y.invalid, y.pairs/4)
	assert.Greater(t, y.pairs-y.invalid-y.faults, y.pairs/40)
}

// grownVersion is a versionMaker for random versions, which are as a definition would have them.
func grownVersion(n uint64) (realVersion, func(seed uint64) []byte, error) {
	first := *fromFlag + n
	g := valueGrower{rand.New(rand.NewPCG(first, 13)), 6 << (first % 4)}
	root := object{}
	unmarshal(g.root(), &root)
	properties := root["properties"].(object)
	properties["spec"], properties["status"] = properties["a"], node(g)
	delete(properties, "a")
	if in(g.Rand, 3) {
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			if s := properties[name].(object); in(g.Rand, 3) {
				s["default"] = g.value(s)
			}
		}
	}
	subresources := object{}
	if in(g.Rand, 2) {
		subresources["status"] = object{}
	}
	if in(g.Rand, 2) {
		subresources["scale"] = object{
			"specReplicasPath": ".spec.a", "statusReplicasPath": ".status.a", "labelSelectorPath": one(g.Rand, ".status.b", ".spec.b"),
		}
	}
	js := marshal(root)
	crd := marshal(object{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": object{"name": "things.example.com"},
		"spec": object{
			"group": "example.com", "scope": one(g.Rand, "Cluster", "Namespaced"), "names": object{"kind": "Thing", "plural": "things"},
			"versions": []object{{
				"name": "v1", "served": true, "storage": true,
				"schema": object{"openAPIV3Schema": json.RawMessage(js)}, "subresources": subresources,
			}},
		},
	})
	crds, err := schema.ParseCRD(crd)
	if err != nil {
		return realVersion{}, nil, err
	}
	unmarshal(js, &root)
	v := realVersion{crd: crds[0], version: crds[0].Versions[0], js: js, apiVersion: "example.com/v1"}
	return v, func(seed uint64) []byte {
		g := valueGrower{rand.New(rand.NewPCG(first, seed<<8|14)), 0}
		x := g.value(root).(object)
		x["apiVersion"], x["kind"], x["metadata"] = "example.com/v1", "Thing", object{"name": "n", "resourceVersion": "1"}
		switch g.IntN(8) {
		case 0:
			x[one(g.Rand, "apiVersion", "kind")] = one(g.Rand, "example.com/v2", "Thin", "")
		case 1, 2:
			x["metadata"] = g.metadata(true)
		}
		js := marshal(x)
		if seed%8 == 0 {
			js = Mutate(js, g.Rand)
		}
		return js
	}, nil
}

// node returns a schema that has the types of encoding/json.
func node(g valueGrower) (s object) {
	unmarshal(marshal(g.node(1)), &s)
	return s
}

func unmarshal(js []byte, v any) {
	if err := json.Unmarshal(js, v); err != nil {
		panic(err)
	}
}
