package kube

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/espalier-dev/espalier/decoder"
)

var (
	turnsFlag = flag.Int("turns", 0, "how often TestTurns measures this package and the server's in turns")
	crdFlag   = flag.String("crd", "", "a definition whose cost TestDefinitionCost measures")
)

// TestTurns measures this package and the server's packages in turns, in time of the processor, and
// prints the median of the ratios and its quartiles. Other programs on the machine matter less for
// it than for the benchmarks.
func TestTurns(t *testing.T) {
	if *turnsFlag == 0 {
		t.Skip("there is no flag -turns")
	}
	r := trellis(t, ConversionStrategy(apiextensionsv1.NoneConverter))
	for _, isYAML := range []bool{false, true} {
		doc := body(1, "")
		if isYAML {
			var err error
			doc, err = yaml.JSONToYAML(doc)
			require.NoError(t, err)
		}
		s := newSerializer(t, json.SerializerOptions{Strict: true, Yaml: isYAML}, r)
		takeTurns(t, fmt.Sprint("create, YAML ", isYAML), func() error {
			_, _, err := s.Decode(doc, &trellisV1, new(unstructured.Unstructured))
			return err
		}, func() error {
			_, err := decodeAsServer(r, doc, reading{strict: true, yaml: isYAML})
			return err
		})
	}
	decode := func(d runtime.Decoder, doc []byte, into func() runtime.Object) func() error {
		return func() error { _, _, err := d.Decode(doc, nil, into()); return err }
	}
	for _, version := range []string{"v1", "v2"} {
		into := func() runtime.Object { return typed(trellisV1.GroupKind().WithVersion(version)) }
		staged := r.stagedStorage(version, coercingConverter{safely{renaming{r}}, r})
		takeTurns(t, "stored in v1, read in "+version, decode(r.StorageDecoder(version, nil), body(1, managed), into), decode(staged, body(1, managed), into))
	}

	s := newSerializer(t, json.SerializerOptions{}, r)
	current := new(unstructured.Unstructured)
	_, _, err := s.Decode(body(1, managed), nil, current)
	require.NoError(t, err)
	patch := []byte(`{"metadata":{"labels":{"a":"b"}},"spec":{"rows":5,"note":null}}`)
	takeTurns(t, "merge patch", func() error {
		_, _, err := r.Patch(current, types.MergePatchType, patch, decoder.Warn)
		return err
	}, func() error {
		_, _, err := patchAsServer(t, r, current, types.MergePatchType, patch)
		return err
	})
	list := func() runtime.Object { return new(unstructured.UnstructuredList) }
	takeTurns(t, "list of 500", decode(s, listBody(500), list), decode(s.delegate, listBody(500), list))
}

func takeTurns(t *testing.T, name string, ours, theirs func() error) {
	run := func(f func() error, n int) float64 {
		start := processorTime(t)
		for range n {
			require.NoError(t, f())
		}
		return float64(processorTime(t)-start) / float64(n) / 1000
	}
	enough := func(f func() error) int { return max(3, int(20_000/max(run(f, 5), 1))) }
	n, m := enough(ours), enough(theirs)
	var ratios, our, their []float64
	for range *turnsFlag {
		x, y := run(ours, n), run(theirs, m)
		ratios, our, their = append(ratios, y/x), append(our, x), append(their, y)
	}
	for _, list := range [][]float64{ratios, our, their} {
		slices.Sort(list)
	}
	at := len(ratios) / 2
	t.Logf("%s: %.1f (%.1f to %.1f), %.0f µs for %.0f µs", name, ratios[at], ratios[at/2], ratios[at+at/2], our[at], their[at])
}

// processorTime returns what the process has used.
func processorTime(t *testing.T) time.Duration {
	var u syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestDefinitionCost prints what the resource of a definition costs beside the schemas of a server.
func TestDefinitionCost(t *testing.T) {
	if *crdFlag == "" || underRace {
		t.Skip("there is no flag -crd")
	}
	text, err := os.ReadFile(*crdFlag)
	require.NoError(t, err)
	crd := new(apiextensionsv1.CustomResourceDefinition)
	require.NoError(t, yaml.Unmarshal(text, crd))
	schemas := func(int) any {
		versions := make(map[string]*structuralschema.Structural)
		for i := range crd.Spec.Versions {
			v := &crd.Spec.Versions[i]
			versions[v.Name], err = structuralOf(v)
			require.NoError(t, err)
		}
		return versions
	}
	versions := schemas(0).(map[string]*structuralschema.Structural)
	const n = 10
	for name, compile := range map[string]func(int) any{
		"schemas": schemas,
		"NewResource": func(int) any {
			r, err := NewResource(trellisV1.GroupKind(), versions)
			require.NoError(t, err)
			return r
		},
		"ForCRD": func(int) any {
			r, err := ForCRD(crd)
			require.NoError(t, err)
			return r
		},
	} {
		compile(0)
		kept := retained(n, compile)
		start := processorTime(t)
		for i := range n {
			compile(i)
		}
		t.Logf("%s: %d KiB, %v", name, kept>>10, ((processorTime(t) - start) / n).Round(10*time.Microsecond))
	}
}
