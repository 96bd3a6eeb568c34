package fuzz

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/yamlbridge"
)

var (
	throughputFlag = flag.Bool("throughput", false, "run TestYAMLThroughput")
	roundsFlag     = flag.Int("rounds", 7, "how many `rounds` of it")
)

// A yamlTask is a document with the decoders for it, here and on the server.
type yamlTask struct {
	src     []byte
	decoder *decoder.Decoder
	server  *structural.Structural
}

// TestYAMLThroughput measures our decoder and the server's in turn, in one process. The figure is
// the ratio within a round, as the speed of a machine changes from one minute to the next, for
// both.
func TestYAMLThroughput(t *testing.T) {
	if !*throughputFlag {
		t.Skip("measures only with -throughput")
	}
	texts := [][]yamlTask{}
	names := []string{"1 kB", "20 kB", "1 MB"}
	for _, size := range []int{1000, 20_000, 1_000_000} {
		texts = append(texts, []yamlTask{newYAMLTask(t, benchYAMLSchema, manifestOf(t, size))})
	}
	samples, crds := corpusTasks(t)
	names = append(names, "samples", "crds")

	t.Log("YAML to JSON, with positions; sigs.k8s.io/yaml YAMLToJSON")
	var reader yamlbridge.Reader
	var dst []byte
	geomean(t, names, append(slices.Clone(texts), samples, crds), func(task *yamlTask) {
		dst, _ = reader.AppendJSON(dst[:0], task.src)
	}, func(task *yamlTask) {
		_, _ = yaml.YAMLToJSON(task.src)
	})

	t.Log("AppendYAML under Strict; what the server does, without metadata, to bytes")
	hasSchema := slices.DeleteFunc(slices.Clone(samples), func(task yamlTask) bool { return task.decoder == nil })
	geomean(t, names, append(slices.Clone(texts), hasSchema, crds), func(task *yamlTask) {
		dst, _ = task.decoder.AppendYAML(dst[:0], task.src)
	}, func(task *yamlTask) {
		_, _ = serverPipeline(task)
	})
}

// geomean measures each set, and logs the geometric mean of the medians.
func geomean(t *testing.T, names []string, sets [][]yamlTask, ours, theirs func(*yamlTask)) {
	product := 1.0
	for i, set := range sets {
		product *= measure(t, names[i], set, ours, theirs)
	}
	t.Logf("%-8s %28s geometric mean of the medians %.1f", "", "", math.Pow(product, 1/float64(len(sets))))
}

// measure returns the median of the ratios of time.
func measure(t *testing.T, name string, set []yamlTask, ours, theirs func(*yamlTask)) float64 {
	size := 0
	for _, task := range set {
		size += len(task.src)
	}
	all := func(do func(*yamlTask)) func() {
		return func() {
			for i := range set {
				do(&set[i])
			}
		}
	}
	for range 3 { // buffers grow to the size of the largest document
		all(ours)()
	}
	all(theirs)()
	var ratios, speeds []float64
	var ourAllocs, theirAllocs float64
	for range *roundsFlag {
		var a, b float64
		a, ourAllocs = timeOf(all(ours))
		b, theirAllocs = timeOf(all(theirs))
		ratios = append(ratios, b/a)
		speeds = append(speeds, float64(size)/a*1e3)
	}
	slices.Sort(ratios)
	slices.Sort(speeds)
	median := ratios[len(ratios)/2]
	t.Logf("%-8s %5d documents %9d bytes  ratio %5.1f (%.1f to %.1f)  ours %4.0f MB/s  allocations of a document: ours %.2f, theirs %.0f",
		name, len(set), size, median, ratios[0], ratios[len(ratios)-1], speeds[len(speeds)/2],
		ourAllocs/float64(len(set)), theirAllocs/float64(len(set)))
	return median
}

// timeOf returns the nanoseconds and allocations of a run. It does as many runs as take a tenth of
// a second.
func timeOf(run func()) (ns, allocs float64) {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	runs, start := 0, time.Now()
	for time.Since(start) < 100*time.Millisecond {
		run()
		runs++
	}
	elapsed := time.Since(start)
	runtime.ReadMemStats(&after)
	return float64(elapsed.Nanoseconds()) / float64(runs), float64(after.Mallocs-before.Mallocs) / float64(runs)
}

// serverPipeline makes, of a body in YAML under Strict, the bytes that the server stores, without
// metadata and the wrappers around it.
func serverPipeline(task *yamlTask) ([]byte, error) {
	js, err := yaml.YAMLToJSON(task.src)
	if err != nil {
		return nil, err
	}
	_, _ = yaml.YAMLToJSONStrict(task.src)
	var object map[string]any
	if _, err := kjson.UnmarshalStrict(js, &object); err != nil {
		return nil, err
	}
	pruning.PruneWithOptions(object, task.server, true, structural.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	defaulting.PruneNonNullableNullsWithoutDefaults(object, task.server)
	defaulting.Default(object, task.server)
	return json.Marshal(object)
}

func newYAMLTask(t *testing.T, openAPIV3Schema string, src []byte) yamlTask {
	s, err := schema.Parse([]byte(openAPIV3Schema))
	require.NoError(t, err)
	js, err := yaml.YAMLToJSON([]byte(openAPIV3Schema))
	require.NoError(t, err)
	server, err := NewServer(js, testVersion, testKind)
	require.NoError(t, err)
	task := yamlTask{src, strictDecoder(t, s), server.schema}
	requireSameResult(t, &task)
	return task
}

func strictDecoder(t *testing.T, s *schema.Structural, opts ...schema.Option) *decoder.Decoder {
	program, err := schema.Compile(s, opts...)
	require.NoError(t, err)
	return decoder.New(program, decoder.Strict)
}

// requireSameResult asserts that both do the same work.
func requireSameResult(t *testing.T, task *yamlTask) {
	theirs, err := serverPipeline(task)
	require.NoError(t, err)
	ours, err := task.decoder.AppendYAML(nil, task.src)
	var strict *ferrors.StrictError
	if !errors.As(err, &strict) {
		require.NoError(t, err)
	}
	want, err := decodeJSON(theirs)
	require.NoError(t, err)
	got, err := decodeJSON(ours)
	require.NoError(t, err)
	require.True(t, reflect.DeepEqual(want, got), "they: %.500s\nwe:   %.500s", theirs, ours)
}

// corpusTasks are the documents of the corpus: samples with their schemas, and definitions with a
// schema that keeps everything.
func corpusTasks(t *testing.T) (samples, crds []yamlTask) {
	comparers := realSchemas(t, newComparer)
	decoders := make(map[*comparer]*decoder.Decoder)
	for file := range corpus.Samples(t) {
		for doc := range yamlbridge.Documents(file.Data) {
			task := yamlTask{src: slices.Clone(doc.Bytes)}
			js, err := yamlbridge.AppendJSON(nil, doc.Bytes)
			require.NoError(t, err, file.Name)
			apiVersion, kind, err := decoder.PeekType(js)
			require.NoError(t, err, file.Name)
			if c := comparers[apiVersion+" "+kind]; c != nil {
				if decoders[c] == nil {
					decoders[c] = strictDecoder(t, c.schema, schema.PreserveUnknownFields(c.server.PreserveUnknownFields))
				}
				task.decoder, task.server = decoders[c], c.server.schema
			}
			samples = append(samples, task)
		}
	}
	keep := newYAMLTask(t, `{type: object, x-kubernetes-preserve-unknown-fields: true}`, []byte("a: 1"))
	for file := range corpus.CRDs(t) {
		for doc := range yamlbridge.Documents(file.Data) {
			keep.src = slices.Clone(doc.Bytes)
			crds = append(crds, keep)
		}
	}
	return samples, crds
}

// benchYAMLSchema is a resource like a workload: nested objects, lists, maps, an int-or-string, a
// preserved subtree, and defaults.
const benchYAMLSchema = `
type: object
properties:
  apiVersion: {type: string}
  kind: {type: string}
  metadata: {type: object}
  spec:
    type: object
    properties:
      replicas: {type: integer, default: 1}
      paused: {type: boolean}
      selector: {type: object, additionalProperties: {type: string}}
      template:
        type: object
        properties:
          serviceAccountName: {type: string}
          terminationGracePeriodSeconds: {type: integer, default: 30}
          containers:
            type: array
            items:
              type: object
              properties:
                name: {type: string}
                image: {type: string}
                imagePullPolicy: {type: string, default: IfNotPresent}
                command: {type: array, items: {type: string}}
                args: {type: array, items: {type: string}}
                env:
                  type: array
                  items: {type: object, properties: {name: {type: string}, value: {type: string}}}
                ports:
                  type: array
                  items: {type: object, properties: {containerPort: {type: integer}, protocol: {type: string, default: TCP}}}
                resources:
                  type: object
                  properties:
                    limits: {type: object, additionalProperties: {x-kubernetes-int-or-string: true}}
                    requests: {type: object, additionalProperties: {x-kubernetes-int-or-string: true}}
      config: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

// manifestOf returns a manifest of about that size, as sigs.k8s.io/yaml writes it.
func manifestOf(t *testing.T, size int) []byte {
	var b strings.Builder
	b.WriteString(`{"apiVersion":"apps.example.com/v1","kind":"Workload","metadata":{"name":"web","namespace":"shop",` +
		`"labels":{"app.kubernetes.io/name":"web","team":"checkout"},"annotations":{"example.com/owner":"jane@example.com"}},` +
		`"spec":{"replicas":3,"paused":false,"selector":{"app.kubernetes.io/name":"web"},"config":{"logLevel":"debug","ratio":0.25,"tags":["a","b"]},` +
		`"template":{"serviceAccountName":"web","containers":[`)
	for i := 0; i == 0 || b.Len() < size*8/10; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		script := ""
		if i%5 == 4 {
			script = `"args":["set -e\nfor f in /etc/web/*.conf; do\n  envsubst < \"$f\" > \"/tmp/$(basename $f)\"\ndone\nexec /bin/web\n"],`
		}
		fmt.Fprintf(&b, `{"name":"container-%d","image":"registry.example.com/shop/web:v1.%d.0",%s"command":["/bin/web","--port","8080"],`+
			`"env":[{"name":"DATABASE_URL","value":"postgres://db.shop.svc:5432/web"},{"name":"LOG_LEVEL","value":"info"},{"name":"ZONE","value":"1"}],`+
			`"ports":[{"containerPort":8080},{"containerPort":9090,"protocol":"UDP"}],`+
			`"resources":{"limits":{"cpu":"500m","memory":"256Mi"},"requests":{"cpu":1,"memory":"128Mi"}}}`, i, i, script)
	}
	b.WriteString(`]}}}`)
	src, err := yaml.JSONToYAML([]byte(b.String()))
	require.NoError(t, err)
	return src
}
