package decoder

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/spec"
	"github.com/espalier-dev/espalier/schema"
)

// benchSchema is a workload-like resource: nested objects, lists, maps, an
// int-or-string, a preserved subtree, and defaults.
const benchSchema = `
type: object
properties:
  spec:
    type: object
    properties:
      replicas: {type: integer, default: 1}
      paused: {type: boolean}
      selector: {type: object, additionalProperties: {type: string}}
      strategy:
        type: object
        default: {}
        properties:
          type: {type: string, default: RollingUpdate}
          maxSurge: {x-kubernetes-int-or-string: true}
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
                env:
                  type: array
                  items:
                    type: object
                    properties:
                      name: {type: string}
                      value: {type: string}
                ports:
                  type: array
                  items:
                    type: object
                    properties:
                      containerPort: {type: integer}
                      protocol: {type: string, default: TCP}
                resources:
                  type: object
                  properties:
                    limits: {type: object, additionalProperties: {x-kubernetes-int-or-string: true}}
                    requests: {type: object, additionalProperties: {x-kubernetes-int-or-string: true}}
      config: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

// benchDocument returns a document of about the size. One in twenty members of its containers is
// unknown, or nearly all of the document if mostly is set.
func benchDocument(size int, mostly bool) string {
	var b strings.Builder
	b.WriteString(`{"apiVersion":"apps.example.com/v1","kind":"Workload",` +
		`"metadata":{"name":"web","namespace":"shop",` +
		`"labels":{"app.kubernetes.io/name":"web","team":"checkout"},"annotations":{"example.com/owner":"jane@example.com"}},` +
		`"spec":{"replicas":3,"selector":{"app.kubernetes.io/name":"web"},"config":{"logLevel":"debug","ratio":0.25,"tags":["a","b"]},` +
		`"template":{"serviceAccountName":"web","containers":[`)
	for i := 0; b.Len() < size; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		unknown := ""
		if mostly {
			unknown = `"extra":[`
			for j := range 20 {
				unknown += fmt.Sprintf(`{"text":"some \"escaped\" text of a length that is common",`+
					`"n":[1,2,3,4.5e1],"k%d":{"a":null}},`, j)
			}
			unknown += "{}],"
		} else if i%3 == 0 {
			unknown = `"lifecycleHook":{"exec":{"command":["sh","-c","sleep 5"]}},`
		}
		fmt.Fprintf(&b, `{"name":"container-%d","image":"registry.example.com/shop/web:v1.%d.0",`+
			`%s"command":["/bin/web","--port","8080"],`+
			`"env":[{"name":"DATABASE_URL","value":"postgres://db.shop.svc:5432/web"},`+
			`{"name":"LOG_LEVEL","value":"info"}],`+
			`"ports":[{"containerPort":8080},{"containerPort":9090,"protocol":"UDP"}],`+
			`"resources":{"limits":{"cpu":"500m","memory":"256Mi"},`+
			`"requests":{"cpu":1,"memory":"128Mi"}}}`, i, i, unknown)
	}
	b.WriteString(`]}}}`)
	return b.String()
}

var benchSizes = []struct {
	name   string
	size   int
	mostly bool
}{
	{"1kB", 600, false}, {"20kB", 20_000, false}, {"1MB", 1_000_000, false},
	{"1MB_unknown", 1_000_000, true},
}

func members(src string) int { return strings.Count(src, `":`) }

func BenchmarkAppendJSON(b *testing.B) {
	p := compileYAML(b, benchSchema)
	for _, size := range benchSizes {
		src := []byte(benchDocument(size.size, size.mostly))
		for _, v := range []FieldValidation{Ignore, Warn, Strict} {
			b.Run(size.name+"/"+v.String(), func(b *testing.B) {
				d := New(p, v)
				var dst []byte
				b.SetBytes(int64(len(src)))
				b.ReportAllocs()
				for b.Loop() {
					dst, _ = d.AppendJSON(dst[:0], src)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(members(string(src))),
					"ns/member")
			})
		}
	}
}

// BenchmarkEntryPoints does the work of BenchmarkAppendJSON under Warn through the other entry
// points.
func BenchmarkEntryPoints(b *testing.B) {
	p := compileYAML(b, benchSchema)
	for _, size := range benchSizes {
		src := []byte(benchDocument(size.size, size.mostly))
		run := func(name string, do func(d *Decoder) error) {
			b.Run(size.name+"/"+name, func(b *testing.B) {
				d := New(p)
				b.SetBytes(int64(len(src)))
				b.ReportAllocs()
				for b.Loop() {
					if err := do(d); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		var dst []byte
		run("AppendJSON", func(d *Decoder) (err error) {
			dst, err = d.AppendJSON(dst[:0], src)
			return err
		})
		run("Reader", func(d *Decoder) error {
			_, err := d.NewReader(bytes.NewReader(src)).WriteTo(io.Discard)
			return err
		})
		run("Writer", func(d *Decoder) error {
			w := d.NewWriter(io.Discard)
			for chunk := range slices.Chunk(src, 16<<10) {
				if _, err := w.Write(chunk); err != nil {
					return err
				}
			}
			return w.Close()
		})
		run("Unmarshal", func(d *Decoder) error { var m map[string]any; return d.Unmarshal(src, &m) })
	}
}

// BenchmarkSpec does the work of BenchmarkAppendJSON as the specification says it: over a tree, in a
// walk for each rule.
func BenchmarkSpec(b *testing.B) {
	s, err := schema.Parse([]byte(benchSchema))
	require.NoError(b, err)
	rules := spec.NewRules(s, schema.Deployed, true)
	for _, size := range benchSizes {
		src := []byte(benchDocument(size.size, size.mostly))
		b.Run(size.name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				document, err := spec.Parse(src)
				if err != nil {
					b.Fatal(err)
				}
				result, _, _ := rules.Decode(document)
				spec.Text(result)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(members(string(src))),
				"ns/member")
		})
	}
}

// BenchmarkNew measures the cost of a decoder that is not kept.
func BenchmarkNew(b *testing.B) {
	p := compileYAML(b, benchSchema)
	b.ReportAllocs()
	for b.Loop() {
		New(p)
	}
}
