package fuzz

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"sigs.k8s.io/yaml"

	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/kube"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// An adapterPair has the decoders of package kube and the server for one schema.
type adapterPair struct {
	server *Server
	gvk    runtimeschema.GroupVersionKind
	// json, yaml and lenient decode requests, and stored decodes stored objects.
	json, yaml, lenient, stored runtime.Decoder
}

func newAdapterPair(js []byte, gvk runtimeschema.GroupVersionKind) (*adapterPair, error) {
	server, err := NewServer(js, gvk.GroupVersion(), gvk.Kind)
	if err != nil {
		return nil, err
	}
	s, err := ToStructural(js)
	if err != nil {
		return nil, err
	}
	r, err := kube.NewResource(gvk.GroupKind(), map[string]*structural.Structural{gvk.Version: s}, kube.ServerTexts(true))
	if err != nil {
		return nil, err
	}
	p := &adapterPair{server: server, gvk: gvk, stored: r.StorageDecoder(gvk.Version, nil)}
	for to, options := range map[*runtime.Decoder]json.SerializerOptions{&p.json: {Strict: true}, &p.yaml: {Strict: true, Yaml: true}, &p.lenient: {}} {
		if *to, err = kube.NewSerializer(nil, nil, options, r); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// An entryPoint has our decoder and the server's.
type entryPoint struct {
	ours   runtime.Decoder
	theirs func([]byte) (*Answer, error)
}

func (p *adapterPair) entryPoints() map[string]entryPoint {
	return map[string]entryPoint{
		"JSON": {p.json, p.server.Decode}, "YAML": {p.yaml, p.server.DecodeYAML},
		"lenient": {p.lenient, p.server.Decode}, "stored": {p.stored, p.server.DecodeStored},
	}
}

// compare decodes a document with both, and describes the difference.
func (p *adapterPair) compare(doc []byte, ours runtime.Decoder, theirs func([]byte) (*Answer, error)) (what, detail string) {
	answer, refusal := theirs(doc)
	var fault *StageError
	if errors.As(refusal, &fault) && (fault.Stage == Capped || fault.Stage == Panic) {
		return "", ""
	}
	u := new(unstructured.Unstructured)
	obj, _, err := ours.Decode(doc, &p.gvk, u)
	strict, isStrict := runtime.AsStrictDecodingError(err)
	switch {
	case ours == p.stored && err != nil && strings.Contains(err.Error(), "no converter"):
		return "", ""
	case refusal != nil && (err == nil || isStrict):
		if fault.Stage == YAML {
			if k, _, _ := asServer.compare(doc, nil); k == yamlMark || k == yamlAliasing {
				return "", "" // and yamlMode.onlyTheyRefuse these
			}
		}
		return "verdict", fmt.Sprintf("they: %v", refusal)
	case refusal != nil:
		return compareErrors(fault, err)
	case err != nil && !isStrict:
		return "verdict", fmt.Sprintf("we: %v", err)
	case obj != u || !reflect.DeepEqual(u.Object, answer.Object):
		return "value", fmt.Sprintf("they: %s\nwe:   %s", show(answer.Object), show(u.Object))
	}
	var list []error
	if isStrict {
		list = strict.Errors()
	}
	return compareStrict(answer, list, ours == p.lenient || ours == p.stored)
}

// mapOrder matches messages that name a random one of several.
var mapOrder = regexp.MustCompile(`metadata: Invalid value|must be a string|parsing time|json: cannot unmarshal`)

func compareErrors(fault *StageError, err error) (what, detail string) {
	var limit *ferrors.LimitError
	theirs := fault.Err.Error()
	if fault.Stage == Kind { // the rest is the document, with or without white space at its end
		if runtime.IsMissingKind(err) {
			return "", ""
		}
	}
	if err.Error() == theirs || errors.As(err, &limit) || mapOrder.MatchString(theirs) && mapOrder.MatchString(err.Error()) {
		return "", ""
	}
	return "text of an error", fmt.Sprintf("they: %s\nwe:   %s", theirs, err)
}

// compareStrict compares the entries of strict errors.
func compareStrict(a *Answer, list []error, lenient bool) (what, detail string) {
	theirs := a.Strict()
	if lenient {
		theirs = nil
	}
	ours := make([]string, len(list))
	for i, err := range list {
		ours[i] = err.Error()
	}
	if !slices.Equal(ours, theirs) {
		return "strict errors", fmt.Sprintf("they: %q\nwe:   %q", theirs, ours)
	}
	return "", ""
}

// TestKube compares the decoders of package kube with the server's on generated pairs: values with
// their Go types, strict errors, and the texts of all other errors.
func TestKube(t *testing.T) {
	y := newTally()
	forSchemas(t, *pairsFlag/8, func(first uint64) {
		s, js := NewSchema(first)
		p, err := newAdapterPair(js, testVersion.WithKind(testKind))
		require.NoError(t, err)
		for seed := first; seed < first+DocumentsPerSchema; seed++ {
			doc := NewDocument(seed, s)
			p.compareAll(fmt.Sprintf("seed %d\n%s", seed, js), doc, y)
		}
	})
	y.log(t)
}

// compareAll compares a document at all entry points.
func (p *adapterPair) compareAll(name string, doc []byte, y *tally) {
	for by, entry := range p.entryPoints() {
		k := same
		what, detail := p.compare(doc, entry.ours, entry.theirs)
		if what != "" {
			k, what = differs, by+": "+what
		}
		y.add(k, what, func() string { return fmt.Sprintf("%s: %s\n%.2000q\n%.2000s", name, what, doc, detail) })
	}
}

// TestKubeRealResources compares the resources of the corpus, as they are and with mistakes in them.
func TestKubeRealResources(t *testing.T) {
	mutations := uint64(4)
	if testing.Short() {
		mutations = 0
	}
	pairs := realPairs(t)
	objects, y := 0, newTally()
	for o := range realObjects(t) {
		p := pairs[runtimeschema.FromAPIVersionAndKind(o.apiVersion, o.kind)]
		if p == nil {
			continue
		}
		objects++
		p.compareAll(o.file, o.js, y)
		for n := range mutations {
			seed := uint64(objects)<<32 | n
			p.compareAll(o.file, Mutate(o.js, rand.New(rand.NewPCG(seed, 3))), y)
		}
	}
	t.Logf("%d schemas, %d resources", len(pairs), objects)
	y.log(t)
	require.Greater(t, objects, 500)
}

// realPairs are the schemas of the corpus, for definitions of v1.
func realPairs(t *testing.T) map[runtimeschema.GroupVersionKind]*adapterPair {
	pairs := make(map[runtimeschema.GroupVersionKind]*adapterPair)
	for file := range corpus.CRDs(t) {
		for doc := range yamlbridge.Documents(file.Data) {
			var m manifest
			require.NoError(t, yaml.Unmarshal(doc.Bytes, &m), file.Name)
			for _, v := range m.Spec.Versions {
				if v.Schema == nil || len(v.Schema.OpenAPIV3Schema) == 0 || m.Spec.PreserveUnknownFields != nil && *m.Spec.PreserveUnknownFields {
					continue
				}
				gvk := runtimeschema.GroupVersionKind{Group: m.Spec.Group, Version: v.Name, Kind: m.Spec.Names.Kind}
				p, err := newAdapterPair(v.Schema.OpenAPIV3Schema, gvk)
				require.NoError(t, err, "%s: %s", file.Name, gvk)
				pairs[gvk] = p
			}
		}
	}
	return pairs
}
