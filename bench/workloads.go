package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// A Document is a text with the schema by which it is decoded.
type Document struct {
	*Schema
	Src  []byte // JSON
	YAML []byte // the same in YAML, if the workload has it
	// Times is how many times the items of the list Src are read in a row, as one list, if that is
	// more than once.
	Times int
	// Among is how many documents the workload has, if these are many.
	Among int
}

// A Workload is measured as a whole: one document, or the documents of the corpus.
type Workload struct {
	Name, What string
	Docs       []*Document
	// Repeat is how many times in a row a document is read, if that is more than once. Its text, its
	// program and its code are then in the caches, which a workload of many kinds is too large for.
	Repeat int
	// Verdict is set for the workloads of Verdicts, and Invalid for that of objects that a server
	// refuses.
	Verdict, Invalid bool
	// Rules is set for the workload of resources whose kinds have rules in CEL.
	Rules bool
	// Typed is set for the workload of Typed.
	Typed bool
}

// Size returns how many bytes of JSON, or of YAML, a workload has.
func (w *Workload) Size(inYAML bool) (n int) {
	for _, d := range w.Docs {
		if inYAML {
			n += len(d.YAML)
		} else {
			n += len(d.Src) * max(1, d.Times)
		}
	}
	return n
}

// itemSchema is the schema of an element of W2, W3, W7 and W8, and of the content of W1: nested
// objects, lists, maps, int-or-strings, and defaults, some of which the documents override.
const itemSchema = `
type: object
properties:
  name: {type: string}
  image: {type: string}
  imagePullPolicy: {type: string, default: IfNotPresent}
  replicas: {type: integer, default: 1}
  weight: {type: number}
  paused: {type: boolean}
  command: {type: array, items: {type: string}}
  labels: {type: object, additionalProperties: {type: string}}
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
        name: {type: string}
        protocol: {type: string, default: TCP}
  probe:
    type: object
    properties:
      httpGet:
        type: object
        properties:
          path: {type: string}
          port: {x-kubernetes-int-or-string: true}
      periodSeconds: {type: integer, default: 10}
      timeoutSeconds: {type: integer}
  resources:
    type: object
    properties:
      limits: {type: object, additionalProperties: {x-kubernetes-int-or-string: true}}
      requests: {type: object, additionalProperties: {x-kubernetes-int-or-string: true}}
  volumes:
    type: array
    items:
      type: object
      properties:
        name: {type: string}
        mountPath: {type: string}
        readOnly: {type: boolean, default: false}
        source:
          type: object
          properties:
            configMap:
              type: object
              properties:
                name: {type: string}
                defaultMode: {type: integer, default: 420}
            size: {x-kubernetes-int-or-string: true}
`

// resourceSchema returns the schema of a resource with a spec.
func resourceSchema(spec string) string {
	return `
type: object
properties:
  apiVersion: {type: string}
  kind: {type: string}
  metadata: {type: object}
  spec:
` + indent(spec, 4)
}

func indent(text string, by int) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	return strings.Repeat(" ", by) + strings.Join(lines, "\n"+strings.Repeat(" ", by)) + "\n"
}

// specSchema is the spec of W1, W2 and W3: a few fields and the items.
var specSchema = `
type: object
properties:
  replicas: {type: integer, default: 1}
  selector: {type: object, additionalProperties: {type: string}}
  strategy:
    type: object
    default: {}
    properties:
      type: {type: string, default: RollingUpdate}
      maxSurge: {x-kubernetes-int-or-string: true}
  items:
    type: array
    items:
` + indent(itemSchema, 6)

// A generator writes documents. The same seed gives the same bytes anywhere.
type generator struct {
	strings.Builder
	*rand.Rand
}

func newGenerator(seed uint64) *generator {
	return &generator{Rand: rand.New(rand.NewPCG(seed, 6))}
}

func (g *generator) printf(format string, args ...any) { fmt.Fprintf(g, format, args...) }

func (g *generator) pick(words ...string) string { return words[g.IntN(len(words))] }

// list writes n elements with commas between them.
func (g *generator) list(n int, element func(i int)) {
	for i := range n {
		if i > 0 {
			g.WriteByte(',')
		}
		element(i)
	}
}

// word returns a lower case word, as in names and labels.
func (g *generator) word() string {
	return g.pick("web", "cache", "checkout", "gateway", "metrics", "ingest", "billing", "search", "auth", "frontend") +
		g.pick("", "-a", "-b", "-canary", "-7d9f8") + g.pick("", "-0", "-1", "-primary")
}

// head writes the start of a resource, up to the content of its spec.
func (g *generator) head() {
	g.printf(`{"apiVersion":"apps.example.com/v1","kind":"Workload","metadata":{"name":"%s","namespace":"shop","labels":{"app.kubernetes.io/name":"web","team":"%s"},"annotations":{"example.com/owner":"jane@example.com"}},"spec":{`, g.word(), g.word())
}

// item writes an element. share percent of its bytes are in unknown subtrees: up to 5, every third
// element has one, above that all have one.
func (g *generator) item(i, share, volumes int) {
	from := g.Len()
	g.printf(`{"name":"%s-%d","image":"registry.example.com/shop/%s:v1.%d.%d","replicas":%d,`, g.word(), i, g.word(), g.IntN(40), g.IntN(10), 1+g.IntN(900))
	if g.IntN(3) == 0 {
		g.printf(`"weight":%g,"paused":%t,`, float64(g.IntN(1000))/8, g.IntN(2) == 0)
	}
	g.printf(`"labels":{"app":"%s","tier":"%s"},"command":["/bin/%s","--port","%d"],"env":[`, g.word(), g.word(), g.word(), 1024+g.IntN(9000))
	g.list(3, func(int) {
		g.printf(`{"name":"%s","value":"%s"}`, g.pick("DATABASE_URL", "LOG_LEVEL", "ZONE", "CACHE_SIZE"), g.pick("info", "postgres://db.shop.svc:5432/web", "eu-west-1b", "512Mi", `say \"hi\"`))
	})
	g.WriteString(`],"ports":[`)
	g.list(2, func(int) {
		g.printf(`{"containerPort":%d`, 1024+g.IntN(60000))
		g.WriteString(g.pick("}", `,"protocol":"UDP"}`, `,"name":"http"}`))
	})
	g.printf(`],"probe":{"httpGet":{"path":"/healthz/%s","port":%s},"timeoutSeconds":%d},`, g.word(), g.pick("8080", `"http"`), g.IntN(30))
	g.printf(`"resources":{"limits":{"cpu":"%dm","memory":"%dMi"},"requests":{"cpu":%d,"memory":"128Mi"}}`, 100+g.IntN(900), 64+g.IntN(900), 1+g.IntN(4))
	g.volumes(volumes)
	if share > 5 || share > 0 && i%3 == 0 {
		known := g.Len() - from
		if share <= 5 {
			known *= 3
		}
		g.unknown(known * share / (100 - share))
	}
	g.WriteByte('}')
}

func (g *generator) volumes(n int) {
	if n == 0 {
		return
	}
	g.WriteString(`,"volumes":[`)
	g.list(n, func(i int) {
		g.printf(`{"name":"%s","mountPath":"/var/lib/%s/%d","source":{"configMap":{"name":"%s"},"size":"%dGi"}}`, g.word(), g.word(), i, g.word(), 1+g.IntN(90))
	})
	g.WriteByte(']')
}

// unknown writes a member of about that many bytes that no schema here declares.
func (g *generator) unknown(size int) {
	end := g.Len() + size
	g.printf(`,"x%s":{"mode":"%s","steps":[`, g.word(), g.word())
	for first := true; g.Len() < end-8; first = false {
		if !first {
			g.WriteByte(',')
		}
		g.printf(`{"run":"sleep %d","after":[%d,%d.5,null]}`, g.IntN(90), g.IntN(9), g.IntN(300))
	}
	g.WriteString(`]}`)
}

// items writes a resource with that many items.
func (g *generator) items(n, share, volumes int) {
	g.head()
	g.WriteString(`"replicas":3,"selector":{"app.kubernetes.io/name":"web"},"items":[`)
	g.list(n, func(i int) { g.item(i, share, volumes) })
	g.WriteString(`]}}`)
}

func itemsDocument(seed uint64, n, share int) []byte {
	g := newGenerator(seed)
	g.items(n, share, 3)
	return []byte(g.String())
}

// mostlyUnknown is W4: records of undeclared subtrees and long strings with escapes, and a declared
// name.
func mostlyUnknown(size int) []byte {
	g := newGenerator(4)
	g.head()
	g.WriteString(`"items":[`)
	for i := 0; g.Len() < size; i++ {
		if i > 0 {
			g.WriteByte(',')
		}
		g.printf(`{"name":"%s-%d","image":"shop/%s:v1.%d"`, g.word(), i, g.word(), i)
		g.unknown(300 + g.IntN(300))
		g.WriteString(`,"script":"`)
		for range 5 + g.IntN(20) {
			g.WriteString(g.pick(`set -e\n`, `echo \"$HOME\"\n`, `for f in /etc/web/*.conf; do\n\tenvsubst < \"$f\"\ndone\n`,
				`# größer als erwartet, \u00fcber alles\n`, `exec /bin/web --listen 0.0.0.0:8080 --config /etc/web/web.conf --verbose\n`, `C:\\Users\\jane\n`))
		}
		g.WriteString(`"}`)
	}
	g.WriteString(`]}}`)
	return []byte(g.String())
}

// preserved is W5: a tree of settings under x-kubernetes-preserve-unknown-fields.
func preserved(size int) []byte {
	g := newGenerator(5)
	g.head()
	g.WriteString(`"config":{"sections":[`)
	for i := 0; g.Len() < size; i++ {
		if i > 0 {
			g.WriteByte(',')
		}
		g.printf(`{"id":"%s-%d","ratio":%d.%d,"limit":%d,"on":%t,"tags":[`, g.word(), i, g.IntN(10), 1+g.IntN(9), g.IntN(100000), g.IntN(2) == 0)
		g.list(4+g.IntN(8), func(int) { g.printf(`"%s"`, g.word()) })
		g.WriteString(`],"rules":{`)
		g.list(1+g.IntN(9), func(i int) { g.printf(`"rule%d":{"match":"^/api/%s","to":"%s"}`, i, g.word(), g.word()) })
		g.WriteString(`}}`)
	}
	g.WriteString(`]}}}`)
	return []byte(g.String())
}

// stringMap is W6: one map of strings.
func stringMap(keys int) []byte {
	g := newGenerator(6)
	g.head()
	g.WriteString(`"data":{`)
	g.list(keys, func(i int) {
		g.printf(`"key-%d-%s":"value %d"`, i, strconv.FormatUint(g.Uint64()>>40, 36), g.IntN(1e6))
	})
	g.WriteString(`}}}`)
	return []byte(g.String())
}

// listOf is W8: a list of resources like W2.
func listOf(n int) []byte {
	g := newGenerator(8)
	g.WriteString(`{"apiVersion":"apps.example.com/v1","kind":"WorkloadList","metadata":{"resourceVersion":"1"},"items":[`)
	g.list(n, func(int) { g.items(20, 5, 3) })
	g.WriteString(`]}`)
	return []byte(g.String())
}

// small is W1: a resource of one item without volumes, all of it declared.
func small() []byte {
	g := newGenerator(1)
	g.items(1, 0, 0)
	return []byte(g.String())
}

const listSchemaHead = `
type: object
properties:
  apiVersion: {type: string}
  kind: {type: string}
  metadata: {type: object}
  items:
    type: array
    items:
`

// Generated returns W1 to W8. W9 is W1 to W3 in YAML.
func Generated() []*Workload {
	w3 := itemsDocument(3, 1000, 5)
	var w7 bytes.Buffer
	if err := json.Indent(&w7, w3, "", "  "); err != nil {
		panic(err) // the generator has a fault
	}
	list := []*Workload{
		newWorkload("W1", "0.9 kB, all declared", resourceSchema(specSchema), small()),
		newWorkload("W2", "21 kB, 5 % unknown", resourceSchema(specSchema), itemsDocument(2, 20, 5)),
		newWorkload("W3", "1.1 MB, 1 000 items, 5 % unknown", resourceSchema(specSchema), w3),
		newWorkload("W4", "1.1 MB, 95 % unknown", resourceSchema(specSchema), mostlyUnknown(1_100_000)),
		newWorkload("W5", "1 MB, preserved", resourceSchema(`{type: object, properties: {config: {type: object, x-kubernetes-preserve-unknown-fields: true}}}`), preserved(1_000_000)),
		newWorkload("W6", "3 MB, a map of 100 000 strings", resourceSchema(`{type: object, properties: {data: {type: object, additionalProperties: {type: string}}}}`), stringMap(100_000)),
		newWorkload("W7", "W3 pretty-printed", resourceSchema(specSchema), w7.Bytes()),
		newWorkload("W8", "10 MB, a list of 480 objects", listSchemaHead+indent(resourceSchema(specSchema), 6), listOf(480)),
	}
	for _, w := range list[:3] {
		w.addYAML()
	}
	return list
}

// longListOf is for what is larger than memory: the items of W8 a hundred times, generated as they are
// read.
func longListOf(w8 *Workload) *Workload {
	d := *w8.Docs[0]
	d.Times = 100
	return &Workload{Name: "1 GB", What: "a list of 48 000 objects, generated as it is read", Docs: []*Document{&d}}
}

func newWorkload(name, what, openAPIV3Schema string, src []byte) *Workload {
	return &Workload{Name: name, What: what, Docs: []*Document{{Schema: MustSchema(openAPIV3Schema), Src: src}}}
}

// addYAML adds the documents as YAML, in the form that the tools of Kubernetes write.
func (w *Workload) addYAML() {
	for _, d := range w.Docs {
		var err error
		if d.YAML, err = yaml.JSONToYAML(d.Src); err != nil {
			panic(err)
		}
	}
}
