package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/espalier-dev/espalier/internal/laws"
	"github.com/espalier-dev/espalier/sample"
	"github.com/espalier-dev/espalier/schema"
)

type object = map[string]any

func one[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// A valueSource makes objects of a version, and values of its status.
type valueSource struct {
	object func(seed uint64) []byte
	status func(seed uint64) []byte // nil if the version has none
}

// sampled makes objects that are valid, nearly valid, or have any mistakes, also in their metadata.
func sampled(crd *schema.CRD, version *schema.Version) valueSource {
	apiVersion := crd.Group + "/" + version.Name
	objects := sample.New(version.Schema, apiVersion, crd.Kind)
	source := valueSource{object: func(seed uint64) []byte {
		js := made(objects, seed)
		if seed%4 == 3 {
			js = withMetadata(js, rand.New(rand.NewPCG(seed, 31)))
		}
		return js
	}}
	if status := version.Schema.Properties["status"]; status != nil {
		alone := &schema.Structural{Type: "object", Properties: map[string]*schema.Structural{"status": status}}
		statuses := sample.New(alone, apiVersion, crd.Kind)
		source.status = func(seed uint64) []byte { return member(made(statuses, seed), "status") }
	}
	return source
}

// made returns an object that is valid, nearly valid, or has any mistakes.
func made(m *sample.Maker, seed uint64) (js []byte) {
	var err error
	switch seed % 8 {
	case 0, 3:
		js, err = m.Valid(sample.Bytes(seed))
	case 1, 2, 5, 6:
		js, _, err = m.NearlyValid(sample.Bytes(seed))
	}
	if js == nil || err != nil {
		return m.Mutated(sample.Bytes(seed))
	}
	return js
}

// member returns a member of an object, or nil.
func member(js []byte, name string) []byte {
	var members map[string]json.RawMessage
	if json.Unmarshal(js, &members) != nil {
		return nil
	}
	return members[name]
}

// grown makes objects of a random definition.
func grown(crd *schema.CRD, seed uint64) valueSource {
	document := func(n uint64) []byte { return laws.RandomDocument(rand.New(rand.NewPCG(seed, n<<8|32)), crd) }
	return valueSource{object: document, status: func(n uint64) []byte { return member(document(n|1<<40), "status") }}
}

// withMetadata returns an object with other metadata, which has mistakes as a rule.
func withMetadata(js []byte, r *rand.Rand) []byte {
	var x map[string]json.RawMessage
	if json.Unmarshal(js, &x) != nil || x == nil {
		return js
	}
	metadata, err := json.Marshal(metadata(r))
	if err != nil {
		panic(err)
	}
	x["metadata"] = metadata
	if js, err = json.Marshal(x); err != nil {
		panic(err)
	}
	return js
}

// metadata returns metadata that can be decoded. The namespace can be a segment of a path.
func metadata(r *rand.Rand) object {
	m := object{"name": "n"}
	for range 1 + r.IntN(3) {
		switch name := one(r, "name", "generateName", "namespace", "labels", "annotations", "finalizers", "finalizers", "generation", "ownerReferences", "unknown"); name {
		case "name":
			m[name] = one(r, "a.b", "A", "", ".", "..", "a/b", "a%b", "n-", "é", strings.Repeat("a", 253), strings.Repeat("a", 254))
		case "generateName":
			delete(m, "name")
			m[name] = one(r, "a-", "a.", "A", "a/", "-", strings.Repeat("b", 70), "é")
		case "namespace":
			m[name] = one(r, "other", "A", "n.n", "n-", strings.Repeat("n", 64))
		case "labels", "annotations":
			m[name] = object{one(r, "a", "A/b", "a/b/c", "/a", "a/", "ä", "", strings.Repeat("k", 64), "x.y/z"): one(r, "", "v", "v v", strings.Repeat("v", 64)), "b": one(r, "ü", "b")}
		case "finalizers":
			m[name] = []string{one(r, "a/b", "orphan", "_", "x.y", "plain"), one(r, "foregroundDeletion", "", "a/b", "kubernetes", "a/b/c", "ä")}
		case "generation":
			m[name] = r.IntN(3) - 1
		case "ownerReferences":
			a := owner(r)
			m[name] = one(r, []object{a}, []object{a, a}, []object{a, owner(r)}, []object{owner(r), a, owner(r), a})
		case "unknown":
			m["unknown"] = 1
		}
	}
	return m
}

func owner(r *rand.Rand) object {
	return object{
		"apiVersion": one(r, "v1", "a/v1", "a/v1", "", "a/", "a/b/c", "/v1"), "kind": one(r, "K", "K", "Event", ""),
		"name": one(r, "n", "n", ""), "uid": one(r, "u", "w", ""), "controller": r.IntN(2) == 0,
	}
}

// A valueCase is an object of the kind Arbor that has shown something, or that nothing makes. Its
// status is sent as an update of the status of a valid object.
type valueCase struct{ name, metadata, spec, status string }

const valid = `name: pear, rows: 1, flag: true`

func valueCases() []valueCase {
	long := strings.Repeat("a", 64<<10)
	return []valueCase{
		{"valid", ``, valid, `phase: Ready`},
		{"nothing is there", ``, ``, ``},
		{"several mistakes", `labels: {-: "b c", "a/b/c": d}`, `name: P, rows: 0, kind: apple, tags: [a, a, abcde], replicas: -1, flag: 1`, `phase: No, replicas: 3000000000, selector: 5, message: longer, ratio: 0.3`},
		{"every junctor", ``, valid + `, source: {git: a, url: b}, range: {from: 1, to: 7}, address: x, any: {never: 1}, port: [1]`, `phase: Ready, conditions: [{type: a, status: "True"}, {type: a, status: "False"}]`},
		{"nulls", ``, valid + `, level: null, day: null, kind: null, due: null, source: {git: a, depth: null}`, `phase: null, conditions: [{type: a, status: "True", code: null}]`},
		{"wrong types", ``, `name: 5, rows: "1", height: x, tags: {}, plants: [1], labels: [], template: 7, source: a, flag: {}, any: [1]`, `phase: [], replicas: "3", addresses: 1, last: x`},
		{"a status of another type", ``, valid, `"x"`},
		{"numbers", ``, `name: pear, rows: 10, height: 12.5, size: 2147483648, replicas: 2147483648, level: 2.0, port: 65536`, `phase: Ready, ratio: 1.5, replicas: -1, conditions: [{type: a, status: "True", code: 2}]`},
		{"fractions", ``, `name: pear, rows: 1.5, height: 0.3, replicas: 1.5, size: 1e3`, `phase: Ready, replicas: 1.5, ratio: 0.25`},
		{"too few", ``, valid + `, tags: [], labels: {}, odd: ""`, ` `},
		{"patterns", ``, `name: Pear, rows: 1, labels: {a: v, b: x, c: ""}, port: "50"`, `phase: Ready`},
		{"characters", ``, `name: éééééééé, rows: 1, odd: "", tags: [éééé, ééééé]`, `phase: Ready, message: ééééé`},
		{"formats", ``, valid + `, due: now, day: 2026-02-30, id: x, key: "*", mail: "@", address: "1.2.3"`, `phase: Ready, since: 2026-01-01, addresses: [1.2.3.4, 1.2.3]`},
		{"the same keys", ``, valid + `, plants: [{name: a}, {name: a, row: 1}, {name: a, row: 2, water: {litres: 6}}, {row: 2}]`, `phase: Ready, addresses: [1.2.3.4, 1.2.3.4]`},
		{"embedded resources", ``, valid + `, template: {apiVersion: a/b/c, kind: "K_", metadata: {name: "a/b", labels: {-: b}}}, job: {apiVersion: v1, kind: Job, metadata: {name: toolong}, spec: {}}`, `phase: Ready, last: {apiVersion: v1, kind: ""}`},
		{"embedded resources without a type", ``, valid + `, template: {}, job: {metadata: {name: "", generateName: "-"}}`, `phase: Ready, last: {metadata: {name: .}}`},
		{"warnings", `finalizers: [b, a.b, a/b, a, a, orphan], ownerReferences: [{apiVersion: v1, kind: K, name: own, uid: u}, {apiVersion: v1, kind: K, name: own, uid: u}]`, valid + `, unknown: 1, plants: [{name: a, unknown: {}}]`, `phase: Ready, unknown: 1`},
		{"no warnings about finalizers of what is refused", `finalizers: [b], ownerReferences: [{apiVersion: v1, kind: K, name: own, uid: u}, {apiVersion: v1, kind: K, name: own, uid: u}]`, `name: pear, rows: 10`, `phase: Failed`},
		{"owners", `ownerReferences: [{apiVersion: v1, kind: K, name: own, uid: u, controller: true}, {apiVersion: v1, kind: Event, name: "", uid: w, controller: true}, {apiVersion: a/b/c, kind: "", name: own, uid: ""}]`, valid, `phase: Ready`},
		{"finalizers", `finalizers: [orphan, foregroundDeletion, "", -]`, valid, `phase: Ready`},
		{"managed fields are reset", `managedFields: [{}]`, valid, `phase: Ready`},
		{"managed fields that cannot be read", `managedFields: [{operation: X, manager: "\a"}]`, valid, `phase: Ready`},
		{"managed fields", `managedFields: [{operation: Update, apiVersion: garden.example.com/v1, fieldsType: FieldsV1, manager: "\a", fieldsV1: {"f:spec": {"f:height": {}}}}]`, valid, `phase: Ready`},
		{"long annotations", fmt.Sprintf(`annotations: {a: %s, b: %[1]s, c: %[1]s, d: %[1]s}`, long), valid, `phase: Ready`},
		{"a name without end", `name: ` + strings.Repeat("n", 300), valid, `phase: Ready`},
		{"a generated name", `name: "", generateName: A_`, valid, `phase: Ready`},
		{"no name", `name: ""`, valid, `phase: Ready`},
		{"a long text", ``, valid + `, odd: ` + long + `, kind: ` + long, `phase: ` + long},
	}
}
