package fuzz

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	kresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/internal/formats"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// TestQuantities compares IsQuantity with resource.ParseQuantity.
func TestQuantities(t *testing.T) {
	check := func(s string) {
		_, err := kresource.ParseQuantity(s)
		assert.Equal(t, err == nil, formats.IsQuantity(s), "%q", s)
	}
	for _, s := range strings.Fields("+ - . -. 0 00 k Ki Mi Gi Ti Pi Ei 0Pi .Ei .0Ei 1Ei E e 1E 1e 1e+ 1e+3 1e-3 e3 e-9 e-10 e4294967296 e-4294967296 1e99999999999999999999 1.5.5 1 1i 1m+ 1ki 1KI 1_000 0x1 1,5 ٣") {
		check(s)
	}
	for _, s := range []string{"", " ", "1 Gi", " 1", "1\n"} {
		check(s)
	}
	const letters = "00112589..+-eEinumkKMGTP "
	large := regexp.MustCompile(`[eE][-+]?\d{4}`) // the server makes numbers of as many digits
	r := rand.New(rand.NewPCG(1, 2))
	taken := 0
	for range 300_000 {
		b := make([]byte, 1+r.IntN(7))
		for i := range b {
			b[i] = letters[r.IntN(len(letters))]
		}
		if s := string(b); !large.MatchString(s) {
			check(s)
			if formats.IsQuantity(s) {
				taken++
			}
		}
	}
	assert.Greater(t, taken, 10_000)
}

// oddScalars are values that some field of a built-in kind cannot be decoded from.
var oddScalars = []string{
	`null`, `true`, `0`, `1.0`, `1.5`, `1e2`, `-1`, `2147483647`, `2147483648`, `-2147483649`, `9223372036854775807`, `9223372036854775808`, `99999999999`, `1e400`,
	`""`, `" "`, `"1"`, `"yesterday"`, `"2026-01-02"`, `"2026-01-02T15:04:05Z"`, `"2026-01-02T15:04:05.1+01:00"`, `"2026-01-02T15:04:05.123456Z"`, `"2026-01-02 15:04:05Z"`, `"2026-1-2T15:04:05Z"`,
	`"\u0032026-01-02T15:04:05Z"`, `"hunter2!"`, `"aHVudGVy"`, `"aHVudGU"`, `"aHVu\nZGU="`, `"aHVu-_=="`, `"1Gi"`, `"1 Gi"`, `" 1Gi "`, `"\u0031"`, `"1\t"`, `"100m"`, `"+"`, `"80%"`, `"1h30m"`,
	`{}`, `[]`, `[1]`, `{"a":1}`,
}

// TestDecodable compares with the typed decoder of Kubernetes which built-in objects are refused.
// The objects are resources of the corpus with some values replaced.
func TestDecodable(t *testing.T) {
	catalog := openAPICatalog(t, schema.CheckTypes(true))
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, batchv1.AddToScheme, networkingv1.AddToScheme, coordinationv1.AddToScheme} {
		require.NoError(t, add(scheme))
	}
	var objects [][]byte
	for file := range corpus.Samples(t) {
		for doc := range yamlbridge.Documents(file.Data) {
			js, err := yamlbridge.AppendJSON(nil, doc.Bytes)
			require.NoError(t, err, file.Name)
			objects = append(objects, js)
		}
	}
	// The corpus has few of these.
	objects = append(objects,
		[]byte(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","creationTimestamp":null,"deletionTimestamp":"2026-01-02T15:04:05Z","generation":1,"managedFields":[{"manager":"m","time":"2026-01-02T15:04:05Z","fieldsV1":{"f:a":{}}}],"ownerReferences":[{"apiVersion":"v1","kind":"k","name":"n","uid":"u","controller":true}]},"data":{"p":"aHVudGVy"},"stringData":{"q":"x"},"immutable":true}`),
		[]byte(`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"l"},"spec":{"holderIdentity":"h","leaseDurationSeconds":1,"acquireTime":"2026-01-02T15:04:05.000000Z","renewTime":"2026-01-02T15:04:05.000000Z"}}`),
		[]byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":80,"hostPort":1}],"resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":1}},"livenessProbe":{"httpGet":{"port":80,"path":"/"},"periodSeconds":1}}],"volumes":[{"name":"v","emptyDir":{"sizeLimit":"1Gi"}}],"terminationGracePeriodSeconds":1}}`),
	)
	r := rand.New(rand.NewPCG(3, 4))
	compared, refused := 0, 0
	for _, js := range objects {
		apiVersion, kind, err := decoder.PeekType(js)
		require.NoError(t, err)
		gvk := kschema.FromAPIVersionAndKind(apiVersion, kind)
		var entry schema.Entry
		for e := range catalog.All() {
			if e.APIVersion == apiVersion && e.Kind == kind {
				entry = e
			}
		}
		if !scheme.Recognizes(gvk) || entry.Version == nil || !entry.CRD.GoType {
			continue
		}
		program, err := entry.Program()
		require.NoError(t, err)
		spans := scalarSpans(t, js)
		for range min(40*len(spans), 2000) {
			at := spans[r.IntN(len(spans))]
			odd := oddScalars[r.IntN(len(oddScalars))]
			if kind == "Secret" && odd[0] == '[' {
				continue // encoding/json takes an array of numbers for bytes, unlike the server's schema
			}
			mutant := append(append(bytes.Clone(js[:at[0]]), odd...), js[at[1]:]...)
			if v, k, err := decoder.PeekType(mutant); err != nil || v != apiVersion || k != kind {
				continue
			}
			object, err := scheme.New(gvk)
			require.NoError(t, err)
			serverErr := kjson.UnmarshalCaseSensitivePreserveInts(mutant, object)
			_, err = decoder.New(program).AppendJSON(nil, mutant)
			bad, _ := formats.Find(mutant, formats.Of(entry.Version.Schema, true), false, 100)
			compared++
			if serverErr != nil {
				refused++
			}
			if (serverErr != nil) != (err != nil || len(bad) > 0) {
				t.Errorf("server: %v\nhere: %v, %v\n%s", serverErr, err, bad, mutant)
			}
		}
	}
	t.Logf("%d compared, %d refused", compared, refused)
	assert.Greater(t, refused, 1000)
}

// scalarSpans returns the places of the values in a document that are not objects or arrays.
func scalarSpans(t *testing.T, js []byte) (spans [][2]int) {
	d := jsontext.NewDecoder(bytes.NewReader(js), jsontext.AllowDuplicateNames(true))
	for {
		switch d.PeekKind() {
		case '{', '}', '[', ']':
			_, err := d.ReadToken()
			require.NoError(t, err)
		case 0:
			return spans
		default:
			kind, length := d.StackIndex(d.StackDepth())
			v, err := d.ReadValue()
			require.NoError(t, err)
			if kind != '{' || length%2 == 1 {
				end := int(d.InputOffset())
				spans = append(spans, [2]int{end - len(v), end})
			}
		}
		if d.StackDepth() == 0 {
			return spans
		}
	}
}

// TestDecodableMetadata compares which metadata of custom resources is refused with the decoding of
// metav1.ObjectMeta, which the server applies to objects that it has decoded already.
func TestDecodableMetadata(t *testing.T) {
	s := formats.Of(nil, false)
	program, err := schema.Compile(&schema.Structural{Type: "object"}, schema.CheckTypes(true))
	require.NoError(t, err)
	refused := 0
	for _, member := range []string{"creationTimestamp", "deletionTimestamp", "name", "uid", "generation", "deletionGracePeriodSeconds", "labels", "annotations", "finalizers", "managedFields", "ownerReferences"} {
		for _, scalar := range oddScalars {
			for _, value := range []string{scalar, "[" + scalar + "]", `{"a":` + scalar + `}`, `[{"time":` + scalar + `}]`, `[{"name":` + scalar + `}]`, `[{"fieldsV1":` + scalar + `}]`, `[{"controller":` + scalar + `}]`} {
				object := []byte(`{"apiVersion":"ex.io/v1","kind":"Widget","metadata":{"` + member + `":` + value + `}}`)
				_, err := decoder.New(program).AppendJSON(nil, object)
				bad, _ := formats.Find(object, s, false, 100)
				var u map[string]any
				serverErr := kjson.UnmarshalCaseSensitivePreserveInts(object, &u)
				if serverErr == nil {
					js, err := json.Marshal(u["metadata"])
					require.NoError(t, err)
					serverErr = kjson.UnmarshalCaseSensitivePreserveInts(js, new(metav1.ObjectMeta))
				}
				if serverErr != nil {
					refused++
				}
				assert.Equal(t, serverErr != nil, err != nil || len(bad) > 0, "server: %v\nhere: %v, %v\n%s", serverErr, err, bad, object)
			}
		}
	}
	assert.Greater(t, refused, 500)
}
