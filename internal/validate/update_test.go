package validate

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// ratchetSchema has a rule in each place where values are compared in another way.
const ratchetSchema = `{type: object, required: [spec], properties: {
	apiVersion: {type: string, maxLength: 2}, kind: {type: string},
	metadata: {type: object},
	spec: {type: object, x-kubernetes-preserve-unknown-fields: true, required: [r], properties: {
		r: {type: integer}, q: {type: integer, maximum: 1}, s: {type: string, maxLength: 1}, f: {type: number, maximum: 1}, z: {type: string, nullable: true, enum: [a]},
		atomic: {type: array, maxItems: 9, items: {type: integer, maximum: 1}},
		set: {type: array, x-kubernetes-list-type: set, items: {type: integer, maximum: 1}},
		keyed: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], maxItems: 2, items: {type: object,
			properties: {k: {}, v: {type: integer, maximum: 1}, l: {type: array, items: {type: object, properties: {a: {type: integer, maximum: 1}}}}}}},
		keys: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a, b], items: {type: object,
			properties: {a: {}, b: {}, v: {type: integer, maximum: 1}}}},
		map: {type: object, additionalProperties: {type: integer, maximum: 1}},
		any: {type: object, properties: {q: {type: integer, maximum: 1}}, anyOf: [{properties: {q: {maximum: 1}}}]}}},
	status: {type: object, properties: {kind: {type: string, maxLength: 1}, q: {type: integer, maximum: 1}}}}}`

func ratchetKind(t *testing.T) *Kind {
	return &Kind{APIVersion: "a/v1", Kind: "K", Namespaced: true, HasStatus: true, Schema: parse(t, ratchetSchema)}
}

// object returns an object with a spec and a status.
func objectOf(t *testing.T, members string) map[string]any {
	return decode(t, `{"apiVersion":"a/v1","kind":"K","metadata":{"name":"a","namespace":"b"},`+members+`}`).(map[string]any)
}

// TestRatcheting has specs that replace others. TestUpdates of the fuzz module compares generated ones
// with the server.
func TestRatcheting(t *testing.T) {
	const tooMuch, allOf = "should be less than or equal to 1", "/apiVersion maxLength: apiVersion: Too long: may not be more than 2 bytes\n"
	for _, c := range []struct{ old, spec, errors string }{
		{`{"r":1,"q":7}`, `{"r":1,"q":7}`, ""},
		{`{"r":1,"q":7}`, `{"r":1,"q":8}`, "/spec/q maximum: spec.q: Invalid value: 8: spec.q in body " + tooMuch},
		{`{"r":1}`, `{"r":1,"q":7}`, "/spec/q maximum: spec.q: Invalid value: 7: spec.q in body " + tooMuch},
		{`{"r":1,"q":7.5}`, `{"r":1,"q":7}`, "/spec/q maximum: spec.q: Invalid value: 7: spec.q in body " + tooMuch},
		{`{"q":1}`, `{"q":1}`, ""},
		{`{"q":1}`, `{"q":0}`, "/spec/r required: spec.r: Required value"},
		// What the schema does not declare counts as changed.
		{`{"u":1}`, `{"u":1}`, "/spec/r required: spec.r: Required value"},
		{`{"r":1,"z":"b"}`, `{"r":1,"z":"b"}`, ""},
		{`{"r":1,"z":null}`, `{"r":1,"z":null}`, ""},
		{`{"r":1,"z":"b"}`, `{"r":1,"z":null}`, `/spec/z enum: spec.z: Unsupported value: null: supported values: "a"`},
		{`{"r":1,"q":{}}`, `{"r":1,"q":[]}`, `/spec/q type: spec.q: Invalid value: "array": spec.q in body must be of type integer: "array"`},
		{`{"r":1,"q":[]}`, `{"r":1,"q":{}}`, `/spec/q type: spec.q: Invalid value: "object": spec.q in body must be of type integer: "object"`},
		{`{"r":1,"q":{}}`, `{"r":1,"q":{}}`, ""},
		// Elements of other lists than maps replace none.
		{`{"r":1,"atomic":[7,1]}`, `{"r":1,"atomic":[7,1]}`, ""},
		{`{"r":1,"atomic":[7,1]}`, `{"r":1,"atomic":[7]}`, "/spec/atomic/0 maximum: spec.atomic[0]: Invalid value: 7: spec.atomic[0] in body " + tooMuch},
		{`{"r":1,"atomic":[7,1]}`, `{"r":1,"atomic":[7,0]}`, "/spec/atomic/0 maximum: spec.atomic[0]: Invalid value: 7: spec.atomic[0] in body " + tooMuch},
		{`{"r":1,"atomic":[{"a":[7]}]}`, `{"r":1,"atomic":[{"a":[8]}]}`, `/spec/atomic/0 type: spec.atomic[0]: Invalid value: "object": spec.atomic[0] in body must be of type integer: "object"`},
		{`{"r":1,"atomic":[{"a":[7]}]}`, `{"r":1,"atomic":[{"a":[7]}]}`, ""},
		{`{"r":1,"atomic":[{"a":7}]}`, `{"r":1,"atomic":[{"b":7}]}`, `/spec/atomic/0 type: spec.atomic[0]: Invalid value: "object": spec.atomic[0] in body must be of type integer: "object"`},
		{`{"r":1,"atomic":[{"a":7}]}`, `{"r":1,"atomic":[[7]]}`, `/spec/atomic/0 type: spec.atomic[0]: Invalid value: "array": spec.atomic[0] in body must be of type integer: "array"`},
		{`{"r":1,"atomic":[[7]]}`, `{"r":1,"atomic":[{"a":7}]}`, `/spec/atomic/0 type: spec.atomic[0]: Invalid value: "object": spec.atomic[0] in body must be of type integer: "object"`},
		{`{"r":1,"set":[7]}`, `{"r":1,"set":[7,0]}`, "/spec/set/0 maximum: spec.set[0]: Invalid value: 7: spec.set[0] in body " + tooMuch},
		// Those of maps replace those of the same keys, in any order.
		{`{"r":1,"keyed":[{"k":"a","v":7},{"k":1,"v":8}]}`, `{"r":1,"keyed":[{"k":1,"v":8},{"k":"a","v":7}]}`, ""},
		{`{"r":1,"keyed":[{"k":"a","v":7},{"k":1,"v":8}]}`, `{"r":1,"keyed":[{"k":1,"v":7},{"k":"b","v":7}]}`,
			"/spec/keyed/0/v maximum: spec.keyed[0].v: Invalid value: 7: spec.keyed[0].v in body " + tooMuch +
				"\n/spec/keyed/1/v maximum: spec.keyed[1].v: Invalid value: 7: spec.keyed[1].v in body " + tooMuch},
		{`{"r":1,"keyed":[{"k":1.0,"v":7}]}`, `{"r":1,"keyed":[{"k":1,"v":7}]}`, "/spec/keyed/0/v maximum: spec.keyed[0].v: Invalid value: 7: spec.keyed[0].v in body " + tooMuch},
		{`{"r":1,"keyed":[{"k":[],"v":7}]}`, `{"r":1,"keyed":[{"k":[],"v":7}]}`, "/spec/keyed/0/v maximum: spec.keyed[0].v: Invalid value: 7: spec.keyed[0].v in body " + tooMuch},
		{`{"r":1,"keyed":["x"]}`, `{"r":1,"keyed":["x"]}`, `/spec/keyed/0 type: spec.keyed[0]: Invalid value: "string": spec.keyed[0] in body must be of type object: "string"`},
		{`{"r":1,"keyed":[{"v":7}]}`, `{"r":1,"keyed":[{"v":7}]}`, "/spec/keyed/0/v maximum: spec.keyed[0].v: Invalid value: 7: spec.keyed[0].v in body " + tooMuch},
		{`{"r":1,"keyed":[{"k":"a","v":6},{"k":"a","v":7}]}`, `{"r":1,"keyed":[{"k":"a","v":6}]}`, ""},
		{`{"r":1,"keyed":[{"k":1},{"k":2},{"k":3}]}`, `{"r":1,"keyed":[{"k":3},{"k":2},{"k":1}]}`, ""},
		{`{"r":1,"keyed":[{"k":1},{"k":2},{"k":3}]}`, `{"r":1,"keyed":[{"k":3},{"k":2},{"k":4}]}`, "/spec/keyed maxItems: spec.keyed: Too many: 3: must have at most 2 items"},
		{`{"r":1,"keys":[{"a":true,"b":1.5,"v":7},{"a":1,"b":"x","v":8},{"a":[],"b":1,"v":9}]}`, `{"r":1,"keys":[{"a":1,"b":"x","v":8},{"a":true,"b":1.5,"v":7},{"a":[],"b":1,"v":9}]}`,
			"/spec/keys/2/v maximum: spec.keys[2].v: Invalid value: 9: spec.keys[2].v in body " + tooMuch},
		{`{"r":1,"map":{"a":7}}`, `{"r":1,"map":{"a":7,"b":7}}`, "/spec/map/b maximum: spec.map.b: Invalid value: 7: spec.map.b in body " + tooMuch},
		// Below anyOf nothing is excused, unless the value around it is.
		{`{"r":1,"any":{"q":7}}`, `{"r":1,"any":{"q":7}}`, ""},
		{`{"r":1,"any":{"q":7}}`, `{"r":1,"any":{"q":7,"x":1}}`,
			"/spec/any anyOf: <nil>: Invalid value: \"\": \"spec.any\" must validate at least one schema (anyOf)" +
				"\n/spec/any/q maximum: spec.any.q: Invalid value: 7: spec.any.q in body " + tooMuch},
	} {
		var v Validator
		errs := v.Update(ratchetKind(t), objectOf(t, `"spec":`+c.spec), objectOf(t, `"spec":`+c.old), new(enough))
		want := allOf // the apiVersion is never excused
		if c.errors != "" {
			want += c.errors + "\n"
		}
		assert.Equal(t, want, ruled(errs), "%s, after %s", c.spec, c.old)
	}
}

// TestRatchetingOfStatus has the status by itself, whose kind is not excused either.
func TestRatchetingOfStatus(t *testing.T) {
	for _, c := range []struct{ old, object, errors string }{
		{`"status":{"q":7}`, `"status":{"q":7}`, ""},
		{`"status":{"q":7}`, `"status":{"q":8}`, "/status/q maximum: status.q: Invalid value: 8: q in body should be less than or equal to 1\n"},
		{`"spec":1`, `"status":{"q":7}`, "/status/q maximum: status.q: Invalid value: 7: q in body should be less than or equal to 1\n"},
		{`"status":{"kind":"ab","q":1}`, `"status":{"kind":"ab","q":0}`, "/status/kind maxLength: status.kind: Too long: may not be more than 1 byte\n"},
		{`"status":{"q":7}`, `"spec":{"q":7}`, ""},
	} {
		var v Validator
		old := objectOf(t, c.old)
		old["metadata"].(map[string]any)["managedFields"] = []any{map[string]any{"operation": "X"}}
		assert.Equal(t, c.errors, ruled(v.StatusUpdateOf(ratchetKind(t), objectOf(t, c.object), old, new(enough))), "%s, after %s", c.object, c.old)
	}
	k := &Kind{Schema: parse(t, ratchetSchema)}
	assert.Empty(t, new(Validator).StatusUpdateOf(k, objectOf(t, `"status":{"q":7}`), objectOf(t, `"spec":1`), new(enough)), "no subresource")
}

// TestUpdatedMetadata has metadata that replaces another one.
func TestUpdatedMetadata(t *testing.T) {
	const deleted = `"name":"a","deletionTimestamp":"2020-01-01T00:00:00Z","deletionGracePeriodSeconds":3,"finalizers":["f/a"]`
	for _, c := range []struct{ old, metadata, errors string }{
		{`"name":"a","uid":"u","creationTimestamp":"2020-01-01T00:00:00Z","generation":2`, `"name":"a"`, ""},
		{`"name":"a","uid":"u"`, `"name":"a","uid":"v"`, "metadata.uid: Invalid value: \"v\": field is immutable"},
		{`"name":"a"`, `"name":"a","creationTimestamp":"2020-01-01T00:00:00Z"`, "metadata.creationTimestamp: Invalid value: \"2020-01-01T00:00:00Z\": field is immutable"},
		{`"name":"a","creationTimestamp":"2020-01-01T00:00:00Z"`, `"name":"a","creationTimestamp":"2021-01-01T00:00:00Z"`, ""},
		{`"name":"a"`, `"name":"a","deletionTimestamp":"2020-01-01T00:00:00Z"`, "metadata.deletionTimestamp: Invalid value: \"2020-01-01T00:00:00Z\": field is immutable"},
		{`"name":"a"`, `"name":"a","deletionGracePeriodSeconds":3`, "metadata.deletionGracePeriodSeconds: Invalid value: 3: field is immutable"},
		{deleted, `"name":"a","deletionTimestamp":null`, ""},
		{deleted, `"name":"a","finalizers":["f/b","f/a","f/b","c"]`,
			"metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{\"c\", \"f/b\"}"},
		{deleted, `"name":"a","deletionGracePeriodSeconds":4`, "metadata.deletionGracePeriodSeconds: Invalid value: 4: field is immutable"},
		{`"name":"a","generation":9223372036854775807`, `"name":"a"`,
			"metadata.generation: Invalid value: -9223372036854775808: must not be decremented\nmetadata.generation: Invalid value: -9223372036854775808: must be greater than or equal to 0"},
		{`"name":"a","namespace":"n"`, `"name":"a","namespace":"m"`, "metadata.namespace: Invalid value: \"m\": field is immutable"},
		{`"name":"a","namespace":"n"`, `"name":"a"`, ""},
		{`"name":"a"`, `"name":"a","namespace":"m"`, ""},
		{`"name":"a"`, `"generateName":"a"`, "metadata.name: Required value: name or generateName is required\nmetadata.name: Invalid value: \"\": field is immutable"},
		{`"name":"a"`, `"name":"a/"`, "metadata.name: Invalid value: \"a/\": may not contain '/'\nmetadata.name: Invalid value: \"a/\": field is immutable"},
		{`"name":"_"`, `"name":"_"`, ""},
		{`"name":"a"`, `"name":"a","finalizers":["orphan","foregroundDeletion"]`,
			`metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set`},
		{`"name":"a"`, `"name":"a","labels":{"a":"-"}`, `metadata.labels: Invalid value: "-": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', ` +
			`and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`},
		{`"name":1`, `"name":"a"`, `metadata: Invalid value: {"name":1}: json: cannot unmarshal number into Go struct field ObjectMeta.name of type string`},
		{`"name":"a"`, `"name":1`, `metadata: Invalid value: {"generation":1,"name":1,"namespace":"default"}: json: cannot unmarshal number into Go struct field ObjectMeta.name of type string`},
		{`"name":"a"`, `"name":"a","managedFields":[{"operation":"X"}],"ownerReferences":[{"apiVersion":"v1","kind":"P","name":"p","uid":"1"},` +
			`{"apiVersion":"v1","kind":"P","name":"p","uid":"1"},{"apiVersion":"v1","kind":"P","name":"","uid":"1"}]`, `metadata.ownerReferences[1].name: Required value: must not be empty`},
	} {
		var v Validator
		k := &Kind{APIVersion: "a/v1", Kind: "K", Namespaced: true}
		of := func(metadata string) map[string]any {
			return decode(t, `{"apiVersion":"a/v1","kind":"K","spec":`+string(rune('0'+len(metadata)%10))+`,"metadata":{`+metadata+`}}`).(map[string]any)
		}
		old := of(c.old)
		if strings.Contains(c.old, "92233") {
			old["spec"] = "another"
		}
		want := ""
		if c.errors != "" {
			want = c.errors + "\n"
		}
		assert.Equal(t, want, texts(v.Update(k, of(c.metadata), old, new(enough))), "%s, after %s", c.metadata, c.old)
	}
	var v Validator
	cluster := &Kind{APIVersion: "a/v1", Kind: "K"}
	assert.Empty(t, v.Update(cluster, objectOf(t, `"spec":1`), decode(t, `{"metadata":{"name":"a","namespace":"c"}}`).(map[string]any), new(enough)),
		"it is in no namespace")
	assert.Empty(t, v.StatusUpdateOf(cluster, objectOf(t, `"status":1`), objectOf(t, `"status":1`), new(enough)))
	errs := v.Update(cluster, map[string]any{"metadata": "a"}, objectOf(t, `"spec":1`), new(enough))
	assert.Equal(t, "metadata: Invalid value: \"a\": json: cannot unmarshal string into Go value of type v1.ObjectMeta\n"+
		"kind: Invalid value: \"\": must be K\napiVersion: Invalid value: \"\": must be a/v1\n", texts(errs))
	errs = v.Update(cluster, map[string]any{"apiVersion": "a/v1", "kind": "K"}, map[string]any{"apiVersion": "a/v1", "kind": "K"}, new(enough))
	assert.Equal(t, "metadata.name: Required value: name or generateName is required\n", texts(errs))
}

// TestUpdatesHinderRules asserts which errors keep rules in CEL from being evaluated: not those that
// any resource has.
func TestUpdatesHinderRules(t *testing.T) {
	var v Validator
	k := &Kind{APIVersion: "a/v1", Kind: "K", Schema: parse(t, `{type: object, required: [spec]}`)}
	hindering := func(errs []Error) (n int) {
		for i := range errs {
			if errs[i].Hinders() {
				n++
			}
		}
		return n
	}
	nameless := map[string]any{"apiVersion": "a/v1", "kind": "K", "metadata": map[string]any{}, "spec": int64(1)}
	errs := v.Update(k, nameless, nameless, new(enough))
	require.Len(t, errs, 1)
	assert.Zero(t, hindering(errs))
	owned := map[string]any{"apiVersion": "a/v1", "kind": "K", "metadata": map[string]any{"name": "a", "ownerReferences": []any{map[string]any{
		"apiVersion": "v1", "kind": "", "name": "p", "uid": "1"}}}}
	assert.Equal(t, 2, hindering(v.Update(k, owned, nameless, new(enough))))
	owned["kind"] = "L"
	assert.Zero(t, hindering(v.Update(k, owned, nameless, new(enough))))
	assert.Zero(t, hindering(v.StatusUpdateOf(k, nameless, owned, new(enough))))
	assert.Equal(t, 2, hindering(v.Create(&Kind{Schema: k.Schema}, owned, new(enough))))
}

// TestUpdatedLists asserts that lists are not looked at if the stored object has an invalid one, also in
// another place.
func TestUpdatedLists(t *testing.T) {
	k := &Kind{Schema: parse(t, `{type: object, properties: {a: {type: array, x-kubernetes-list-type: set, items: {}}, b: {type: array, x-kubernetes-list-type: set, items: {}}}}`)}
	var v Validator
	value := func(text string) any { return decode(t, text) }
	assert.Equal(t, "a[1]: Duplicate value: 1\n", texts(v.PartUpdate(k, value(`{"a":[1,1]}`), value(`{"a":[1]}`), new(enough))))
	assert.Empty(t, v.PartUpdate(k, value(`{"a":[1,1]}`), value(`{"b":[2,2]}`), new(enough)))
}

// TestUpdateSteps validates updates in as many steps as they need, and in fewer.
func TestUpdateSteps(t *testing.T) {
	k := ratchetKind(t)
	k.Schema = &schema.Structural{Type: "object", Properties: k.Schema.Properties}
	long := `"` + strings.Repeat("long", 99) + `"`
	old := objectOf(t, `"spec":{"r":1,"q":7,"keyed":[{"k":`+long+`,"v":7,"l":[{"a":2}]}],"keys":[{"a":`+long+`,"b":1,"v":7}],"s":`+long+`,"atomic":[[{"a":`+long+`}]]},"status":{"q":7}`)
	x := objectOf(t, `"spec":{"r":1,"q":7,"keyed":[{"k":`+long+`,"v":7,"l":[{"a":2}]}],"keys":[{"a":`+long+`,"b":1,"v":7}],"s":`+long+`,"atomic":[[{"a":`+long+`}]],"x":1},"status":{"q":8}`)
	x["metadata"].(map[string]any)["name"] = "b"
	var v Validator
	for name, validate := range map[string]func(steps *int) []Error{
		"update": func(steps *int) []Error { return v.Update(k, x, old, steps) },
		"status": func(steps *int) []Error { return v.StatusUpdateOf(k, x, old, steps) },
	} {
		assert.NotEmpty(t, inFewerSteps(t, name, validate), name)
	}
}

// TestSettled has what the server makes of objects before it evaluates rules.
func TestSettled(t *testing.T) {
	k := ratchetKind(t)
	x, old := objectOf(t, `"spec":1,"status":2`), objectOf(t, `"spec":3`)
	assert.NotContains(t, k.Settled(OfCreate, x, nil, new(enough)), "status")
	assert.NotContains(t, k.Settled(OfUpdate, x, old, new(enough)), "status")
	assert.Equal(t, int64(3), k.Settled(OfStatusUpdate, x, old, new(enough))["spec"])
	assert.Equal(t, x, k.Settled(OfUpdate, x, nil, new(enough)))
	assert.NotContains(t, k.Settled(OfStatusUpdate, objectOf(t, `"spec":1`), objectOf(t, `"status":3`), new(enough)), "status")
	assert.False(t, k.IsOld(OfUpdate, nil))
	assert.True(t, k.IsOld(OfUpdate, []errors.Segment{{Name: "status", IsName: true}}))
}

// TestUpdateWarnings has finalizers that are new.
func TestUpdateWarnings(t *testing.T) {
	of := func(finalizers ...any) map[string]any {
		return map[string]any{"metadata": map[string]any{"finalizers": finalizers}}
	}
	var v Validator
	assert.Equal(t, []string{`metadata.finalizers: "b": prefer a domain-qualified finalizer name ` + noConflicts},
		v.UpdateWarnings(of("a", "b", "c/d"), of("a", 1)))
}
