package apiserver

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/conversion"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	structuraldefaulting "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured/unstructuredscheme"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/recognizer"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"sigs.k8s.io/yaml"

	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/fuzz"
)

// TestEspalierDifferential compares the handler's own decoders, stock and ours, on generated documents for
// generated schemas: JSON and YAML, strict and not, and stored objects of each version. It compares objects,
// their types, strict errors, and the texts of all other errors.
//
// ESPALIER_DOCUMENTS says how many documents, and ESPALIER_FROM which. Each of them is decoded in eight ways, and
// one in eight is decoded in others besides: into nothing, into options, into an object that has a type, and as
// CBOR that is stored, whole and damaged.
func TestEspalierDifferential(t *testing.T) {
	d := &differential{t: t, explained: make(map[string]int)}
	documents, from := d.number("ESPALIER_DOCUMENTS", 4000), d.number("ESPALIER_FROM", 0)
	for first := from; first < from+documents; first += fuzz.DocumentsPerSchema {
		d.schema(first, min(fuzz.DocumentsPerSchema, from+documents-first))
	}
	t.Logf("Espalier decoded %d documents in %d ways, of which both sides refused %d and had strict errors for %d",
		d.documents, d.compared, d.refused, d.strict)
	for why, n := range d.explained {
		t.Logf("Espalier differs %d times: %s", n, why)
	}
	if d.refused == 0 || d.strict == 0 || d.compared < 7*int(documents) {
		t.Error("the documents are too much alike")
	}
}

type differential struct {
	t                                    *testing.T
	documents, compared, refused, strict int
	failed                               int
	explained                            map[string]int
}

func (d *differential) number(variable string, otherwise uint64) uint64 {
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		d.t.Fatal(err)
	}
	return n
}

// differentialKind is the type of the generated objects.
var differentialKind = schema.GroupVersionKind{Group: "fuzz.example.com", Version: "v1", Kind: "Trellis"}

// A way is a decoder of each side.
type way struct {
	name         string
	theirs, ours runtime.Decoder
	defaults     *schema.GroupVersionKind
	into         func() runtime.Object
	isStored     bool
	isRare       bool // for one in eight documents
	isCBOR       bool
}

// schema compares documents of a generated schema. v2 has another one.
func (d *differential) schema(first, documents uint64) {
	s, js := fuzz.NewSchema(first)
	schemas := make(map[string]*structuralschema.Structural)
	_, other := fuzz.NewSchema(first + 1<<40)
	for version, js := range map[string][]byte{"v1": js, "v2": other} {
		structural, err := fuzz.ToStructural(js)
		if err != nil {
			d.t.Fatal(err)
		}
		structural = structural.DeepCopy()
		if err := structuraldefaulting.PruneDefaults(structural); err != nil {
			d.t.Fatal(err)
		}
		schemas[version] = structural
	}
	capped, err := fuzz.NewServer(js, differentialKind.GroupVersion(), differentialKind.Kind)
	if err != nil {
		d.t.Fatal(err)
	}
	ways := d.ways(schemas)
	for seed := first; seed < first+documents; seed++ {
		doc := differentialDocument(fuzz.NewDocument(seed, s), seed)
		var costly *fuzz.StageError
		if _, err := capped.DecodeYAML(doc); errors.As(err, &costly) && costly.Stage == fuzz.Capped {
			continue // it would take the server gigabytes
		}
		d.documents++
		binary := d.differentialCBOR(doc, seed)
		for _, w := range ways {
			given := doc
			switch {
			case w.isRare && seed%8 != 0 || w.isCBOR && binary == nil:
				continue
			case w.isCBOR:
				given = binary
			}
			d.compare(fmt.Sprintf("seed %d, %s", seed, w.name), given, w)
		}
	}
}

// differentialDocument changes a document, or nothing: makes the mistakes of people, has other types, and
// becomes YAML.
func differentialDocument(doc []byte, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 26))
	one := func(of ...string) []byte { return []byte(of[r.IntN(len(of))]) }
	if r.IntN(3) == 0 {
		doc = fuzz.Mutate(doc, r)
	}
	if r.IntN(6) == 0 {
		doc = bytes.Replace(doc, []byte(`"`+differentialKind.Kind+`"`),
			one(`"Other"`, `5`, `null`, `""`, `"TrellisList"`, `"DeleteOptions"`, `"Trellis","Kind":5`, `5,"kind":"Trellis"`), 1)
	}
	if r.IntN(6) == 0 {
		doc = bytes.Replace(doc, []byte(`"fuzz.example.com/v1"`),
			one(`"fuzz.example.com/v2"`, `"fuzz.example.com/v3"`, `"other.example.com/v1"`, `"v1"`, `7`, `""`, `"a/b/c"`, `"fuzz.example.com/v1","APIVERSION":{}`), 1)
	}
	if r.IntN(3) == 0 {
		if block, err := yaml.JSONToYAML(doc); err == nil {
			doc = block
		}
		if r.IntN(2) == 0 {
			doc = fuzz.MutateYAML(doc, doc, r)
		}
	}
	return doc
}

// differentialCBOR returns a document as the server stores it with CBOR, in half of all cases with a byte that
// is wrong. It returns nothing for what is no object.
func (d *differential) differentialCBOR(doc []byte, seed uint64) []byte {
	u, encoded := new(unstructured.Unstructured), new(bytes.Buffer)
	if _, _, err := unstructured.UnstructuredJSONScheme.Decode(doc, nil, u); err != nil {
		return nil
	}
	if err := differentialBinary.Encode(u, encoded); err != nil {
		return nil
	}
	binary := encoded.Bytes()
	if r := rand.New(rand.NewPCG(seed, 4222)); r.IntN(2) == 0 {
		binary[r.IntN(len(binary))] = byte(r.Uint32())
	}
	return binary
}

var differentialBinary = cbor.NewSerializer(unstructuredscheme.NewUnstructuredCreator(), unstructuredscheme.NewUnstructuredObjectTyper())

// ways returns the decoders of a definition with two versions.
func (d *differential) ways(schemas map[string]*structuralschema.Structural) (ways []way) {
	fatal := func(err error) {
		if err != nil {
			d.t.Fatal(err)
		}
	}
	crd := new(apiextensionsv1.CustomResourceDefinition)
	crd.Spec.Group, crd.Status.AcceptedNames.Kind, crd.Spec.Names.Kind = differentialKind.Group, differentialKind.Kind, differentialKind.Kind
	crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
	parameters := runtime.NewScheme()
	for _, version := range []string{"v1", "v2"} {
		crd.Spec.Versions = append(crd.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{Name: version, Served: true, Storage: version == "v1"})
		parameters.AddUnversionedTypes(schema.GroupVersion{Group: crd.Spec.Group, Version: version},
			&metav1.ListOptions{}, &metav1.GetOptions{}, &metav1.DeleteOptions{})
	}
	factory, err := conversion.NewCRConverterFactory(nil, nil)
	fatal(err)
	converter, _, err := factory.NewConverter(crd)
	fatal(err)
	typer, creator := newUnstructuredObjectTyper(parameters), unstructuredCreator{}
	serializer := func(options json.SerializerOptions) runtime.Serializer {
		return json.NewSerializerWithOptions(json.DefaultMetaFactory, creator, typer, options)
	}
	stock := unstructuredNegotiatedSerializer{
		typer: typer, creator: creator, converter: converter,
		structuralSchemas: schemas, structuralSchemaGK: differentialKind.GroupKind(),
		supportedMediaTypes: []runtime.SerializerInfo{{
			MediaType: "application/json", EncodesAsText: true,
			Serializer: serializer(json.SerializerOptions{}), StrictSerializer: serializer(json.SerializerOptions{Strict: true}),
		}, {
			MediaType: "application/yaml", EncodesAsText: true,
			Serializer: serializer(json.SerializerOptions{Yaml: true}), StrictSerializer: serializer(json.SerializerOptions{Yaml: true, Strict: true}),
		}},
	}
	espalier, err := newEspalier(crd, schemas, converter)
	fatal(err)
	changed, err := espalier.negotiated(stock, creator, typer)
	fatal(err)
	empty := func() runtime.Object { return new(unstructured.Unstructured) }
	for i, theirs := range stock.SupportedMediaTypes() {
		ours := changed.SupportedMediaTypes()[i]
		gv := differentialKind.GroupVersion()
		for name, both := range map[string][2]runtime.Decoder{
			"":         {theirs.Serializer, ours.Serializer},
			", strict": {theirs.StrictSerializer, ours.StrictSerializer},
		} {
			w := way{
				name: theirs.MediaType + name, defaults: &differentialKind, into: empty,
				theirs: stock.DecoderToVersion(both[0], gv), ours: changed.DecoderToVersion(both[1], gv),
			}
			ways = append(ways, w)
			for name, into := range map[string]func() runtime.Object{
				"into nothing":       func() runtime.Object { return nil },
				"into DeleteOptions": func() runtime.Object { return new(metav1.DeleteOptions) },
				"into an object that has a type": func() runtime.Object {
					u := new(unstructured.Unstructured)
					u.SetGroupVersionKind(differentialKind)
					return u
				},
			} {
				rare := w
				rare.name, rare.into, rare.isRare = w.name+", "+name, into, true
				ways = append(ways, rare)
			}
		}
	}
	for _, version := range []string{"v1", "v2"} {
		gv := schema.GroupVersion{Group: crd.Spec.Group, Version: version}
		codec := func(espalier *espalierDecoders) runtime.Decoder {
			options, err := crdConversionRESTOptionsGetter{
				RESTOptionsGetter: differentialOptions{}, converter: converter,
				encoderVersion: differentialKind.GroupVersion(), decoderVersion: gv,
				structuralSchemas: schemas, structuralSchemaGK: differentialKind.GroupKind(), espalier: espalier,
			}.GetRESTOptions(schema.GroupResource{}, nil)
			fatal(err)
			return options.StorageConfig.Codec
		}
		w := way{name: "stored, to " + version, theirs: codec(nil), ours: codec(espalier), isStored: true}
		w.into = func() runtime.Object {
			u := new(unstructured.Unstructured)
			u.SetGroupVersionKind(gv.WithKind(differentialKind.Kind))
			return u
		}
		ways = append(ways, w)
		binary := w
		binary.name, binary.isRare, binary.isCBOR = w.name+", CBOR", true, true
		w.name, w.into = w.name+", into nothing", func() runtime.Object { return nil }
		ways = append(ways, w, binary)
	}
	return ways
}

// differentialOptions are those of a storage with JSON, which decodes CBOR, too: NewCRDRESTOptionsGetter.
type differentialOptions struct{}

func (differentialOptions) GetRESTOptions(schema.GroupResource, runtime.Object) (generic.RESTOptions, error) {
	stored := recognizer.NewDecoder(differentialBinary, unstructured.UnstructuredJSONScheme)
	config := storagebackend.Config{Codec: runtime.NewCodec(unstructured.UnstructuredJSONScheme, stored)}
	return generic.RESTOptions{StorageConfig: config.ForResource(schema.GroupResource{})}, nil
}

var errDifferentialPanic = errors.New("the server panics")

// compare compares one way. What differs has a name, or the test fails.
func (d *differential) compare(name string, doc []byte, w way) {
	d.compared++
	want, wantKind, refusal := guarded(w.theirs, doc, w)
	got, gotKind, err := w.ours.Decode(doc, w.defaults, w.into())
	strictWant, isStrict := strictTexts(refusal)
	strictGot, _ := strictTexts(err)
	what := ""
	switch {
	case refusal != nil && !isStrict:
		d.refused++
		if err == nil || err.Error() != refusal.Error() {
			what = fmt.Sprintf("they: %v\nwe:   %v", refusal, err)
		} else if runtime.IsMissingKind(err) != runtime.IsMissingKind(refusal) || runtime.IsMissingVersion(err) != runtime.IsMissingVersion(refusal) {
			what = fmt.Sprintf("they: %T, we: %T", refusal, err)
		}
	case !slices.Equal(strictWant, strictGot) || (err == nil) != (refusal == nil):
		what = fmt.Sprintf("they: %v\nwe:   %v", refusal, err)
	case !reflect.DeepEqual(want, got):
		what = fmt.Sprintf("they: %v\nwe:   %v", want, got)
	case !reflect.DeepEqual(wantKind, gotKind):
		what = fmt.Sprintf("they: %v\nwe:   %v", wantKind, gotKind)
	}
	if isStrict {
		d.strict++
	}
	if what == "" {
		return
	}
	if why := explainDifference(w, doc, want, got, refusal, err); why != "" {
		d.explained[why]++
		return
	}
	if d.failed++; d.failed <= 10 {
		d.t.Errorf("%s: %.1000q\n%.2000s", name, doc, what)
	}
}

func guarded(decoder runtime.Decoder, doc []byte, w way) (obj runtime.Object, gvk *schema.GroupVersionKind, err error) {
	defer func() {
		if r := recover(); r != nil {
			obj, gvk, err = nil, nil, fmt.Errorf("%w: %v", errDifferentialPanic, r)
		}
	}()
	return decoder.Decode(doc, w.defaults, w.into())
}

func strictTexts(err error) (list []string, isStrict bool) {
	strict, isStrict := runtime.AsStrictDecodingError(err)
	if isStrict {
		for _, err := range strict.Errors() {
			list = append(list, err.Error())
		}
	}
	return list, isStrict
}

// differentialChance matches errors of which the server names one of several, in the order of a map.
var differentialChance = regexp.MustCompile(`metadata: Invalid value|must be a string|parsing time|json: cannot unmarshal`)

// explainDifference returns why a difference is there, or nothing.
func explainDifference(w way, doc []byte, want, got runtime.Object, refusal, err error) string {
	var limit *ferrors.LimitError
	switch {
	case errors.Is(refusal, errDifferentialPanic) && w.isStored && !hasMetadata(doc):
		return "a stored object without metadata makes the server panic"
	case errors.As(err, &limit) && refusal == nil:
		return "a limit that the server does not have: " + strings.TrimSpace(limit.Error())
	case refusal != nil && err != nil && differentialChance.MatchString(refusal.Error()) && maySay(w, doc, err):
		return "which of several errors is named is by chance"
	case err != nil && !w.isStored && runtime.IsNotRegisteredError(refusal):
		return "an object for which there is no type is refused with another text"
	case !w.isStored && refusal == nil && err != nil && strings.HasPrefix(err.Error(), `parsing time "10000-`):
		return "metadata of what becomes a Go type cannot be read again"
	case !w.isStored && differsInItems(want, got):
		return "items of lists are pruned"
	}
	return ""
}

// maySay reports whether the server, asked again and again, gives an error that we give.
func maySay(w way, doc []byte, err error) bool {
	for range 1000 {
		if _, _, refusal := guarded(w.theirs, doc, w); refusal != nil && refusal.Error() == err.Error() {
			return true
		}
	}
	return false
}

func hasMetadata(doc []byte) bool {
	u := new(unstructured.Unstructured)
	if _, _, err := differentialBinary.Decode(doc, nil, u); err != nil {
		_ = yaml.Unmarshal(doc, &u.Object)
	}
	return u.Object["metadata"] != nil
}

// differsInItems reports whether two objects are lists by their kind, and alike but for their items.
func differsInItems(want, got runtime.Object) bool {
	theirs, isOne := want.(*unstructured.Unstructured)
	ours, isOther := got.(*unstructured.Unstructured)
	if !isOne || !isOther || !strings.HasSuffix(theirs.GetKind(), "List") || theirs.Object["items"] == nil {
		return false
	}
	ours = &unstructured.Unstructured{Object: maps.Clone(ours.Object)}
	ours.Object["items"] = theirs.Object["items"]
	return reflect.DeepEqual(theirs.Object, ours.Object)
}
