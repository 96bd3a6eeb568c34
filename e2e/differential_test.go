package e2e

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/espalier-dev/espalier/kube"
)

var documentsFlag = flag.Uint64("documents", 250, "how many documents TestDecoders generates")

// TestDecoders compares the decoders of package kube with the staged ones of the API server. The
// documents are composed of odd parts. It compares objects, types, strict errors, and the texts and
// types of all other errors. Requests are in JSON and YAML, lenient and strict, into all types that
// the server decodes into. Stored objects are decoded to each version.
func TestDecoders(t *testing.T) {
	p := newDecoderPair(t)
	for _, doc := range handMade() {
		p.compareAll([]byte(doc))
	}
	for seed := *fromFlag; seed < *fromFlag+*documentsFlag; seed++ {
		p.compareAll(document(rand.New(rand.NewPCG(seed, 18))))
	}
	t.Logf("%d comparisons, %d refused by both, %d with strict errors; %v", p.compared, p.refused, p.strict, p.explained)
	for _, why := range []string{metadataMissing, itemsPruned, lateTime} {
		assert.NotZero(t, p.explained[why], "nothing shows any more that %s", why)
	}
	assert.Greater(t, p.compared, 80*int(*documentsFlag))
	assert.Greater(t, p.refused, p.compared/50)
	assert.Greater(t, p.strict, p.compared/50)
}

// A decoderPair has the decoders of both sides.
type decoderPair struct {
	t                         *testing.T
	staged                    *stagedServer
	ours                      *kube.NegotiatedSerializer
	resource                  *kube.Resource
	compared, refused, strict int
	failed                    int
	explained                 map[string]int
}

func newDecoderPair(t *testing.T) *decoderPair {
	manifest, err := os.ReadFile(crdFile)
	require.NoError(t, err)
	crd := new(apiextensionsv1.CustomResourceDefinition)
	require.NoError(t, yaml.UnmarshalStrict(manifest, crd))
	crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
	p := &decoderPair{t: t, staged: newStagedServer(t, crd), explained: make(map[string]int)}
	p.resource, err = kube.ForCRD(crd, kube.ServerTexts(true))
	require.NoError(t, err)
	p.ours, err = kube.NewNegotiatedSerializer(p.staged, p.staged.creater, p.staged.typer, p.resource)
	require.NoError(t, err)
	return p
}

// intos are the objects that the server decodes into.
var intos = map[string]func() runtime.Object{
	"nothing":         func() runtime.Object { return nil },
	"an empty object": func() runtime.Object { return new(unstructured.Unstructured) },
	"an object of v1": func() runtime.Object { return ofKind(gvk) },
	"an object of v2": func() runtime.Object { return ofKind(gvk.GroupKind().WithVersion("v2")) },
	"a list":          func() runtime.Object { return new(unstructured.UnstructuredList) },
	"raw data":        func() runtime.Object { return new(runtime.Unknown) },
	"DeleteOptions":   func() runtime.Object { return new(metav1.DeleteOptions) },
	"Status":          func() runtime.Object { return new(metav1.Status) },
	"Table":           func() runtime.Object { return new(metav1.Table) },
	"Scale": func() runtime.Object {
		scale, err := scheme.Scheme.New(schema.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"})
		if err != nil {
			panic(err)
		}
		return scale
	},
}

func ofKind(gvk schema.GroupVersionKind) *unstructured.Unstructured {
	u := new(unstructured.Unstructured)
	u.SetGroupVersionKind(gvk)
	return u
}

// A decodingCase says how a document is decoded.
type decodingCase struct {
	storage, yaml, strict bool
	into                  string
	version               string
}

// compareAll compares a document in all cases.
func (p *decoderPair) compareAll(doc []byte) {
	theirs, ours := p.staged.SupportedMediaTypes(), p.ours.SupportedMediaTypes()
	for at, name := range []string{"JSON", "YAML"} {
		for into := range intos {
			for _, defaults := range []*schema.GroupVersionKind{nil, &gvk} {
				way := decodingCase{yaml: name == "YAML", into: into}
				p.compare(doc, way, p.staged.DecoderToVersion(theirs[at].Serializer, gvk.GroupVersion()), p.ours.DecoderToVersion(ours[at].Serializer, gvk.GroupVersion()), defaults)
				way.strict = true
				p.compare(doc, way, p.staged.DecoderToVersion(theirs[at].StrictSerializer, gvk.GroupVersion()), p.ours.DecoderToVersion(ours[at].StrictSerializer, gvk.GroupVersion()), defaults)
			}
		}
	}
	for _, version := range []string{"v1", "v2", "v9"} {
		for _, into := range []string{"nothing", "an object of v1", "an object of v2"} {
			way := decodingCase{storage: true, into: into, version: version}
			p.compare(doc, way, p.staged.storage(version), p.resource.StorageDecoder(version, p.staged.converter), nil)
			if data := asCBOR(doc); data != nil {
				p.compare(data, way, p.staged.storage(version), p.resource.StorageDecoder(version, nil), nil)
			}
		}
	}
}

func (p *decoderPair) compare(doc []byte, way decodingCase, theirs, ours runtime.Decoder, defaults *schema.GroupVersionKind) {
	p.compared++
	want, gvk, refusal := decodeGuarded(theirs, doc, defaults, intos[way.into]())
	obj, got, err := ours.Decode(doc, defaults, intos[way.into]())
	what := ""
	strictWant, isStrict := texts(refusal)
	strictGot, _ := texts(err)
	switch {
	case refusal != nil && !isStrict:
		p.refused++
		what = compareRefusals(refusal, err)
	case !slices.Equal(strictWant, strictGot):
		what = fmt.Sprintf("strict errors: they %q, we %q", strictWant, strictGot)
	case (err == nil) != (refusal == nil):
		what = fmt.Sprintf("they: %v, we: %v", refusal, err)
	}
	if isStrict {
		p.strict++
	}
	switch {
	case what != "":
	case !reflect.DeepEqual(want, obj):
		what = fmt.Sprintf("they: %s\nwe:   %s", asJSON(want), asJSON(obj))
	case !reflect.DeepEqual(gvk, got):
		what = fmt.Sprintf(typesDiffer+"they %v, we %v", gvk, got)
	}
	if what == "" {
		return
	}
	if why := explain(way, doc, what, refusal, err); why != "" {
		p.explained[why]++
		return
	}
	if p.failed++; p.failed <= 20 {
		p.t.Errorf("%+v, defaults %v: %.600q\n%.2000s", way, defaults, doc, what)
	}
}

// decodeGuarded decodes with the server's packages, which panic on a few documents.
func decodeGuarded(d runtime.Decoder, doc []byte, defaults *schema.GroupVersionKind, into runtime.Object) (obj runtime.Object, gvk *schema.GroupVersionKind, err error) {
	defer func() {
		if r := recover(); r != nil {
			obj, gvk, err = nil, nil, fmt.Errorf("panic: %v", r)
		}
	}()
	return d.Decode(doc, defaults, into)
}

// texts returns the entries of a strict error.
func texts(err error) (list []string, isStrict bool) {
	strict, isStrict := runtime.AsStrictDecodingError(err)
	if isStrict {
		for _, err := range strict.Errors() {
			list = append(list, err.Error())
		}
	}
	return list, isStrict
}

// compareRefusals compares what programs see of errors: the text, the answers of the functions of
// package runtime, and the types in the chain.
func compareRefusals(theirs, ours error) string {
	if ours == nil || ours.Error() != theirs.Error() {
		return fmt.Sprintf("they: %v\nwe:   %v", theirs, ours)
	}
	for name, is := range map[string]func(error) bool{
		"IsMissingKind": runtime.IsMissingKind, "IsMissingVersion": runtime.IsMissingVersion,
		"IsNotRegisteredError": runtime.IsNotRegisteredError, "IsStrictDecodingError": runtime.IsStrictDecodingError,
	} {
		if is(theirs) != is(ours) {
			return fmt.Sprintf("%s: they %v, we %v", name, is(theirs), is(ours))
		}
	}
	if !errors.As(ours, reflect.New(reflect.TypeOf(theirs)).Interface()) {
		return fmt.Sprintf("they: %T, we: %T, in which there is none", theirs, ours)
	}
	return ""
}

// typesDiffer starts the message if only the returned types differ.
const typesDiffer = "types: "

// Differences that are intended, or cannot be avoided.
const (
	metadataMissing = "a stored object without metadata makes the server panic"
	lateTime        = "metadata of what becomes a Go type cannot be read again"
	itemsPruned     = "items of lists are pruned"
	chance          = "which of several errors is named is by chance"
)

var byChance = regexp.MustCompile(`metadata: Invalid value|must be a string|parsing time|json: cannot unmarshal`)

func explain(way decodingCase, doc []byte, what string, refusal, err error) string {
	if errors.Is(refusal, errPanic) {
		return metadataMissing
	}
	if !strings.HasPrefix(what, typesDiffer) && refusal != nil && err != nil && byChance.MatchString(refusal.Error()) && byChance.MatchString(err.Error()) {
		return chance
	}
	if refusal == nil && err != nil && !way.storage && strings.HasPrefix(err.Error(), `parsing time "10000-`) {
		return lateTime
	}
	var root map[string]any
	if yaml.Unmarshal(doc, &root) != nil {
		return ""
	}
	_, hasItems := root["items"]
	if hasItems && !way.storage {
		if kind, _ := root["kind"].(string); strings.HasSuffix(kind, "List") || way.into == "a list" {
			return itemsPruned
		}
	}
	return ""
}

func asJSON(v any) string {
	js, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%T %s", v, js)
}
