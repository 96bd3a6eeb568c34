package fuzz

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"

	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/kube"
)

// TestKubeVersions compares objects that are stored in one version and read in another one. The
// schemas are generated, and that of the second version is the first one with changes.
func TestKubeVersions(t *testing.T) {
	y := newTally()
	var objects, unlike atomic.Int64
	pairs := forSchemas(t, *pairsFlag/8, func(first uint64) {
		s, js := NewSchema(first)
		p := newVersionPair(t, js, changed(js, rand.New(rand.NewPCG(first, 26))))
		for seed := first; seed < first+DocumentsPerSchema; seed++ {
			doc := NewDocument(seed, s)
			k := same
			what, detail := p.compare(doc)
			objects.Add(p.objects)
			unlike.Add(p.unlike)
			p.objects, p.unlike = 0, 0
			if what != "" {
				k = differs
			}
			y.add(k, what, func() string {
				return fmt.Sprintf("seed %d: %s\n%s\n%s\n%.2000q\n%.2000s", seed, what, js, p.other, doc, detail)
			})
		}
	})
	y.log(t)
	t.Logf("%d objects were converted, %d of them to another value", objects.Load(), unlike.Load())
	require.Greater(t, int(objects.Load()), pairs/4)
	require.Greater(t, int(unlike.Load()), pairs/20)
}

// A versionPair has the decoder of package kube from v1 to v2, and the server with both versions.
type versionPair struct {
	stored, read *Server
	ours         *kube.StorageDecoder
	other        []byte
	// objects counts those that were converted, and unlike those in which that changed more than the
	// apiVersion.
	objects, unlike int64
}

func newVersionPair(t *testing.T, js, other []byte) *versionPair {
	p := &versionPair{other: other}
	schemas := make(map[string]*structural.Structural)
	for version, text := range map[string][]byte{"v1": js, "v2": other} {
		server, err := NewServer(text, runtimeschema.GroupVersion{Group: testVersion.Group, Version: version}, testKind)
		require.NoError(t, err)
		schemas[version], err = ToStructural(text)
		require.NoError(t, err)
		if version == "v1" {
			p.stored = server
		} else {
			p.read = server
		}
	}
	r, err := kube.NewResource(testVersion.WithKind(testKind).GroupKind(), schemas, kube.ConversionStrategy(apiextensionsv1.NoneConverter))
	require.NoError(t, err)
	p.ours = r.StorageDecoder("v2", nil)
	return p
}

// theirs does what the codec for storage does. It reports whether the document is an object of v1.
func (p *versionPair) theirs(doc []byte) (object map[string]any, isStored bool, err error) {
	u := new(unstructured.Unstructured)
	if _, _, err := unstructured.UnstructuredJSONScheme.Decode(doc, nil, u); err != nil {
		return nil, false, err
	}
	matches, err := p.stored.apply(u, new(Answer), coercer{dropInvalid: true, repairGeneration: true})
	if err != nil || !matches {
		return nil, matches, err
	}
	if err := p.stored.insertDefaults(u.Object); err != nil {
		return nil, true, err
	}
	u.SetAPIVersion(testVersion.Group + "/v2")
	before := u.DeepCopy()
	_, err = p.read.apply(u, new(Answer), coercer{})
	p.objects++
	if err == nil && !reflect.DeepEqual(before, u) {
		p.unlike++
	}
	return u.Object, true, err
}

func (p *versionPair) compare(doc []byte) (what, detail string) {
	want, isStored, refusal := p.theirs(doc)
	var fault *StageError
	if errors.As(refusal, &fault) && (fault.Stage == Capped || fault.Stage == Panic) || refusal == nil && !isStored {
		return "", ""
	}
	u := new(unstructured.Unstructured)
	u.SetGroupVersionKind(runtimeschema.GroupVersionKind{Group: testVersion.Group, Version: "v2", Kind: testKind})
	obj, gvk, err := p.ours.Decode(doc, nil, u)
	var limit *ferrors.LimitError
	switch {
	case refusal != nil && err == nil:
		return "verdict", fmt.Sprintf("they: %v", refusal)
	case errors.As(err, &limit):
		return "", ""
	case refusal != nil:
		theirs := refusal.Error()
		if fault != nil {
			theirs = fault.Err.Error()
		}
		if err.Error() != theirs && !(mapOrder.MatchString(theirs) && mapOrder.MatchString(err.Error())) {
			return "text of an error", fmt.Sprintf("they: %s\nwe:   %s", theirs, err)
		}
	case err != nil:
		return "verdict", fmt.Sprintf("we: %v", err)
	case obj != u || !reflect.DeepEqual(u.Object, want):
		return "value", fmt.Sprintf("they: %s\nwe:   %s", show(want), show(u.Object))
	case gvk.GroupVersion() != testVersion:
		return "type", gvk.String()
	}
	return "", ""
}

// changed returns a schema with changes at random, of all that decoding looks at.
func changed(js []byte, r *rand.Rand) []byte {
	var root map[string]any
	if err := json.Unmarshal(js, &root); err != nil {
		panic(err)
	}
	change(root, r, true)
	text, err := json.Marshal(root)
	if err != nil {
		panic(err)
	}
	return text
}

func change(s map[string]any, r *rand.Rand, isRoot bool) {
	if !isRoot {
		for _, extension := range []string{"nullable", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"} {
			switch r.IntN(12) {
			case 0:
				s[extension] = true
			case 1:
				delete(s, extension)
			}
		}
		if r.IntN(6) == 0 {
			delete(s, "default")
		}
	}
	for _, name := range []string{"items", "additionalProperties"} {
		if below, ok := s[name].(map[string]any); ok {
			change(below, r, false)
		}
	}
	properties, _ := s["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if r.IntN(10) == 0 {
			delete(properties, name)
		} else if below, ok := properties[name].(map[string]any); ok {
			change(below, r, false)
		}
	}
}
