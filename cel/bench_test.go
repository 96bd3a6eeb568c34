package cel

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	server "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// realObjects are those of the corpus and of gateway-api that have rules and break none.
func realObjects(tb testing.TB) (of []*pair, objects []any) {
	byKind := map[string]*pair{}
	for _, p := range pairs(tb) {
		byKind[p.name] = p
	}
	add := func(name string, data []byte) {
		for p, x := range objectsIn(tb, byKind, name, data) {
			if len(p.server(x, nil)) == 0 {
				of, objects = append(of, p), append(objects, x)
			}
		}
	}
	if corpus.IsThere(tb) {
		for f := range corpus.Samples(tb) {
			add(f.Name, f.Data)
		}
	}
	for name, data := range filesIn(tb, filepath.Join(gatewayAPI(tb), "examples")) {
		add(name, data)
	}
	return of, objects
}

// BenchmarkEvaluate evaluates the rules of real objects. Each operation is one object.
func BenchmarkEvaluate(b *testing.B) {
	of, objects := realObjects(b)
	requests := make([]*validation.RuleRequest, len(of))
	for i, p := range of {
		requests[i] = p.request(objects[i], nil)
	}
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			i %= len(of)
			if errs := of[i].ours.Evaluate(requests[i]); errs != nil {
				b.Fatal(errs)
			}
		}
	})
	b.Run("server", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			i %= len(of)
			p := of[i]
			if errs, _ := p.theirs.Validate(context.Background(), nil, p.of, objects[i], nil, celconfig.RuntimeCELCostBudget); errs != nil {
				b.Fatal(errs)
			}
		}
	})
}

// BenchmarkCompile compiles the rules of HTTPRoute: by a compiler that has not compiled any, and by one that has.
func BenchmarkCompile(b *testing.B) {
	data, err := os.ReadFile(filepath.Join(gatewayAPI(b), "config/crd/standard/gateway.networking.k8s.io_httproutes.yaml"))
	require.NoError(b, err)
	var route *pair
	for p := range versionsIn(b, func(yield func(string, []byte) bool) { yield("", data) }) {
		route = p
	}
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			Rules().CompileRules(route.schema, true)
		}
	})
	b.Run("again", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			compiler().CompileRules(route.schema, true)
		}
	})
	b.Run("server", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			server.NewValidator(route.of, true, celconfig.PerCallLimit)
		}
	})
}

// BenchmarkFirst takes the definition of HTTPRoute to the verdict on its first object, with a compiler
// that has not compiled any rule. The server's part starts with a schema that is parsed, and with an
// object that is decoded.
func BenchmarkFirst(b *testing.B) {
	dir := gatewayAPI(b)
	manifest, err := os.ReadFile(filepath.Join(dir, "config/crd/standard/gateway.networking.k8s.io_httproutes.yaml"))
	require.NoError(b, err)
	manifest, err = yamlbridge.AppendJSON(nil, manifest)
	require.NoError(b, err)
	example, err := os.ReadFile(filepath.Join(dir, "examples/standard/http-filter.yaml"))
	require.NoError(b, err)
	object, err := yamlbridge.AppendJSON(nil, example)
	require.NoError(b, err)
	b.Run("ours", func(b *testing.B) {
		for range b.N {
			crds, err := schema.ParseCRD(manifest)
			require.NoError(b, err)
			program, err := crds[0].Program("v1", validation.Values(Rules()))
			require.NoError(b, err)
			_, err = decoder.New(program, decoder.ValidateCreate).AppendJSON(nil, object)
			require.NoError(b, err)
		}
	})
	b.Run("server", func(b *testing.B) {
		crds, err := schema.ParseCRD(manifest)
		require.NoError(b, err)
		program, err := crds[0].Program("v1")
		require.NoError(b, err)
		result, err := decoder.New(program).AppendJSON(nil, object)
		require.NoError(b, err)
		x := value(b, result)
		b.ResetTimer()
		for range b.N {
			of := structuralOf(b, crds[0].Versions[0].Schema)
			errs, _ := server.NewValidator(of, true, celconfig.PerCallLimit).
				Validate(context.Background(), nil, of, x, nil, celconfig.RuntimeCELCostBudget)
			require.Empty(b, errs)
		}
	})
}

// BenchmarkMemory reports the heap that all rules of the corpus and of gateway-api need, in KiB a version.
func BenchmarkMemory(b *testing.B) {
	all := pairs(b)
	heap := func() float64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	b.Run("ours", func(b *testing.B) {
		for range b.N {
			kept := make([]validation.Rules, len(all))
			before := heap()
			c := Rules()
			for i, p := range all {
				kept[i] = c.CompileRules(p.schema, true)
			}
			b.ReportMetric((heap()-before)/1024/float64(len(all)), "KiB/version")
			runtime.KeepAlive(kept)
		}
	})
	b.Run("server", func(b *testing.B) {
		for range b.N {
			kept := make([]*server.Validator, len(all))
			before := heap()
			for i, p := range all {
				kept[i] = server.NewValidator(p.of, true, celconfig.PerCallLimit)
			}
			b.ReportMetric((heap()-before)/1024/float64(len(all)), "KiB/version")
			runtime.KeepAlive(kept)
		}
	})
}
