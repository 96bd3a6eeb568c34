package decoder_test

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// updated is a schema whose rules are broken by what is stored.
const updated = `{type: object, properties: {
	spec: {type: object, properties: {name: {type: string, maxLength: 3}, size: {type: integer, maximum: 9},
		keyed: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, required: [k],
			properties: {k: {type: string}, v: {type: integer, maximum: 9}}}}}},
	status: {type: object, properties: {phase: {type: string, maxLength: 3}, replicas: {type: integer}}}}}`

func updatedProgram(t testing.TB) *schema.Program {
	t.Helper()
	s, err := schema.Parse([]byte(updated))
	require.NoError(t, err)
	crd := &schema.CRD{Group: "example.com", Kind: "Trellis", Scope: "Namespaced", Versions: []schema.Version{{
		Name: "v1", Schema: s, HasStatus: true, Scale: &schema.Scale{SpecReplicasPath: ".spec.size", StatusReplicasPath: ".status.replicas"},
	}}}
	p, err := crd.Program("v1", validation.Values())
	require.NoError(t, err)
	return p
}

const storedHead = `{"apiVersion":"example.com/v1","kind":"Trellis","metadata":{"name":"a","namespace":"b","uid":"u"},`

// TestUpdates has documents that replace stored objects, in all ways into the decoder.
func TestUpdates(t *testing.T) {
	p := updatedProgram(t)
	const sentHead = `{"apiVersion":"example.com/v1","kind":"Trellis","metadata":{"name":"a","namespace":"b"},`
	for _, c := range []struct {
		as       decoder.ValueValidation
		old, doc string
		found    string
	}{
		{decoder.ValidateUpdate, storedHead + `"spec":{"name":"long"}}`, sentHead + `"spec":{"name":"long"}}`, ""},
		{decoder.ValidateUpdate, storedHead + `"spec":{"name":"long"}}`, sentHead + `"spec":{"name":"longer"}}`,
			`1:104: spec.name: Too long: may not be more than 3 bytes`},
		{decoder.ValidateUpdate, storedHead + `"spec":{"name":"a","name":"long"}}`, sentHead + `"spec":{"name":"long","size":1}}`, ""},
		{
			decoder.ValidateUpdate,
			storedHead + `"spec":{"keyed":[{"k":"a","v":10},{"k":"b","v":11}]}}`,
			sentHead + `"spec":{"keyed":[{"k":"b","v":11},{"k":"c","v":1},{"k":"a","v":12}]}}`,
			`1:152: spec.keyed[2].v: Invalid value: 12: spec.keyed[2].v in body should be less than or equal to 9`,
		},
		// The stored status is kept, and has no place in the document.
		{decoder.ValidateUpdate, storedHead + `"status":{"phase":"long"}}`, sentHead + `"status":{"phase":"longer"}}`, ""},
		{decoder.ValidateUpdate, storedHead + `"status":{"replicas":-1}}`, sentHead + `"spec":{},"status":{"replicas":1}}`,
			`1:1: .status.replicas: Invalid value: -1: should be a non-negative integer`},
		{decoder.ValidateUpdate, storedHead + `"spec":{}}`, `{"apiVersion":"example.com/v1","kind":"Trellis","metadata":{"name":"c","uid":"x"}}`,
			"1:68: metadata.name: Invalid value: \"c\": field is immutable\n1:78: metadata.uid: Invalid value: \"x\": field is immutable"},
		{decoder.ValidateUpdate, strings.Replace(storedHead, `"uid"`, `"deletionTimestamp":"2020-01-01T00:00:00Z","uid"`, 1) + `"spec":{}}`,
			`{"apiVersion":"example.com/v1","kind":"Trellis","metadata":{"name":"a","finalizers":["a/b"]}}`,
			`1:85: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"a/b"}`},
		// All but the status is that of the stored object.
		{decoder.ValidateStatusUpdate, storedHead + `"spec":{"size":-1}}`, `{"metadata":{"name":"x"},"spec":{"name":"long"},"status":{"phase":"x"}}`, ""},
		{decoder.ValidateStatusUpdate, storedHead + `"status":{"phase":"long"}}`, sentHead + `"status":{"phase":"long","replicas":1}}`, ""},
		{decoder.ValidateStatusUpdate, storedHead + `"status":{"phase":"long"}}`, sentHead + `"status":{"phase":"other"}}`,
			`1:107: status.phase: Too long: may not be more than 3 bytes`},
		{decoder.ValidateStatusUpdate, `{"apiVersion":"example.com/v1","kind":"Trellis","metadata":{}}`, sentHead + `"status":{}}`,
			`1:1: metadata.name: Required value: name or generateName is required`},
		{decoder.ValidateStatusUpdate, strings.Replace(storedHead, "Trellis", "Other", 1) + `"spec":{}}`, sentHead + `"status":{"phase":"long"}}`,
			`1:1: kind: Invalid value: "Other": must be Trellis`},
		// The stored object has no effect otherwise.
		{decoder.ValidateCreate, `[`, sentHead + `"spec":{"name":"long"}}`, `1:104: spec.name: Too long: may not be more than 3 bytes`},
		{decoder.AcceptValues, `[`, sentHead + `"spec":{"name":"long"}}`, ``},
	} {
		d := decoder.New(p, c.as)
		d.SetOld([]byte(c.old))
		for way, decode := range map[string]func() error{
			"bytes":  func() error { _, err := d.AppendJSON(nil, []byte(c.doc)); return err },
			"YAML":   func() error { _, err := d.AppendYAML(nil, []byte(c.doc)); return err },
			"stream": func() error { _, err := io.ReadAll(d.NewReader(strings.NewReader(c.doc))); return err },
			"values": func() error { var x any; return d.Unmarshal([]byte(c.doc), &x) },
		} {
			err := decode()
			require.Equal(t, c.found, details(d.Findings()), "%s: %s %s %v", way, c.doc, c.old, err)
			if c.found == "" {
				require.NoError(t, err)
			} else {
				require.IsType(t, (*ferrors.InvalidError)(nil), err)
			}
		}
	}
}

// TestUpdatesFailClosed asserts that there is no result where the stored object is missing or
// cannot be read.
func TestUpdatesFailClosed(t *testing.T) {
	p := updatedProgram(t)
	const doc = storedHead + `"unknown":1,"spec":{"name":"long"}}`
	for old, fault := range map[string]string{
		``:                      "decoder: the stored object is no valid JSON: at byte 0: unexpected end of input, where a value is expected",
		`{"a":`:                 "decoder: the stored object is no valid JSON: at byte 5: unexpected end of input, where a value is expected",
		`{"a":tr`:               "decoder: the stored object is no valid JSON: at byte 7: unexpected end of input within the literal true",
		`{"a":1e999}`:           "decoder: the stored object is no valid JSON: at byte 5: number \"1e999\" is beyond the range of float64",
		`[]`:                    "decoder: the stored object is no JSON object",
		` null `:                "decoder: the stored object is no JSON object",
		strings.Repeat(`[`, 20): "decoder: the stored object exceeds the limit of 9 (depth of nesting)",
	} {
		d := decoder.New(p, decoder.ValidateUpdate, decoder.Limits{Depth: 9})
		d.SetOld([]byte(old))
		_, err := d.AppendJSON(nil, []byte(doc))
		require.EqualError(t, err, fault)
		require.Empty(t, d.Findings())
		_, err = io.ReadAll(d.NewReader(strings.NewReader(doc)))
		require.EqualError(t, err, fault)
	}
	const none = "decoder: ValidateUpdate needs the stored object: see Decoder.SetOld"
	pool := decoder.NewPool(p, decoder.ValidateUpdate)
	for range 2 {
		d := pool.Get()
		_, err := d.AppendJSON(nil, []byte(doc))
		require.EqualError(t, err, none)
		require.Empty(t, d.Findings())
		out, err := io.ReadAll(d.NewReader(strings.NewReader(doc)))
		require.EqualError(t, err, none)
		require.Empty(t, out)
		d.SetOld([]byte(doc))
		_, err = d.AppendJSON(nil, []byte(doc))
		require.NoError(t, err)
		pool.Put(d)
	}
	objects := decoder.NewSequence(strings.NewReader(doc+doc), func(string, string) (*schema.Program, error) { return p, nil }, decoder.ValidateUpdate)
	for range 2 {
		require.NoError(t, objects.Next())
		_, err := objects.AppendJSON(nil)
		require.EqualError(t, err, none)
		objects.SetOld([]byte(doc))
		_, err = objects.AppendJSON(nil)
		require.NoError(t, err)
	}
	d := decoder.New(p, decoder.ValidateUpdate, decoder.Limits{HeldBytes: len(doc) / 2})
	d.SetOld([]byte(doc))
	_, err := io.ReadAll(d.NewReader(strings.NewReader(doc)))
	require.IsType(t, (*ferrors.LimitError)(nil), err, "all of it is held")
}

// TestUpdatesOfParts has a program whose objects are no resources: they have no metadata to compare.
func TestUpdatesOfParts(t *testing.T) {
	p := mustCompileWith(t, `{type: object, properties: {a: {type: integer, maximum: 1}, l: {type: array, x-kubernetes-list-type: set, items: {type: integer}}}}`,
		validation.Values(), schema.ResourceRoot(false))
	d := decoder.New(p, decoder.ValidateUpdate)
	d.SetOld([]byte(`{"a":7,"l":[1,1]}`))
	_, err := d.AppendJSON(nil, []byte(`{"a":7,"l":[2,2]}`))
	require.NoError(t, err)
	_, err = d.AppendJSON(nil, []byte(`{"a":8,"l":[]}`))
	require.EqualError(t, err, "the object is invalid: a: Invalid value: 8: a in body should be less than or equal to 1")
	d.SetOld([]byte(`{"l":[1]}`))
	_, err = d.AppendJSON(nil, []byte(`{"l":[2,2]}`))
	require.EqualError(t, err, "the object is invalid: l[1]: Duplicate value: 2")
}

// TestRulesOfUpdates asserts what rules are given for an update: the object as the server has it then,
// and the stored one.
func TestRulesOfUpdates(t *testing.T) {
	part := func(names ...string) *validation.Selection {
		s := &validation.Selection{Members: make(map[string]*validation.Selection)}
		for _, name := range names {
			s.Members[name] = &validation.Selection{All: true}
		}
		return s
	}
	object := func(members ...any) map[string]any {
		m := make(map[string]any)
		for pair := range slices.Chunk(members, 2) {
			m[pair[0].(string)] = pair[len(pair)-1]
		}
		return m
	}
	const old = storedHead + `"spec":{"name":"a"},"status":{"phase":"o"}}`
	const doc = `{"apiVersion":"example.com/v1","kind":"Trellis","metadata":{"name":"a","creationTimestamp":null},"spec":{"name":"b"},"status":{"phase":"n"}}`
	for _, c := range []struct {
		as                 decoder.ValueValidation
		self, oldSelf      *validation.Selection
		object, old, whole any
	}{
		{decoder.ValidateUpdate, part("spec", "status"), part("spec"),
			object("spec", object("name", "b"), "status", object("phase", "o")), object("spec", object("name", "a")),
			object("name", "a", "namespace", "b", "uid", "u", "generation", int64(1))},
		{decoder.ValidateStatusUpdate, part("spec", "status"), nil,
			object("spec", object("name", "a"), "status", object("phase", "n")), object(),
			object("name", "a", "namespace", "b", "uid", "u")},
		{decoder.ValidateUpdate, nil, part("status"), object(), object("status", object("phase", "o")), nil},
		{decoder.ValidateUpdate, part("metadata"), nil,
			object("metadata", object("name", "a", "namespace", "b", "uid", "u")), object(), nil},
	} {
		rules := &fakeRules{self: c.self, oldSelf: c.oldSelf}
		d := decoder.New(ruledProgram(t, allParts, rules), c.as)
		d.SetOld([]byte(old))
		_, err := d.AppendJSON(nil, []byte(doc))
		require.NoError(t, err)
		require.Len(t, rules.got, 1)
		got := rules.got[0].Object.(map[string]any)
		if c.self == nil || c.self.Members["metadata"] == nil {
			delete(got, "metadata")
		} else {
			delete(got["metadata"].(map[string]any), "generation")
		}
		assert.Equal(t, c.object, got)
		assert.Equal(t, c.old, rules.got[0].Old)
		if c.whole != nil {
			is, was := rules.got[0].Whole()
			assert.Equal(t, c.whole, is.(map[string]any)["metadata"])
			assert.Equal(t, object("name", "a", "namespace", "b", "uid", "u"), was.(map[string]any)["metadata"])
			assert.Equal(t, "Trellis", is.(map[string]any)["kind"])
		}
	}
	// A rule about what is that of the stored object has no place in the document.
	rules := &fakeRules{self: part("spec")}
	d := decoder.New(ruledProgram(t, allParts, rules), decoder.ValidateStatusUpdate)
	d.SetOld([]byte(storedHead + `"spec":{"size":7}}`))
	_, err := d.AppendJSON(nil, []byte(` {"spec":{"size":6}}`))
	require.Error(t, err)
	assert.Equal(t, "1:2: spec.size: Forbidden: not seven", details(d.Findings()))
	// Errors that any resource has do not hinder rules, nor do those about the type.
	d = decoder.New(ruledProgram(t, allParts, rules), decoder.ValidateUpdate)
	d.SetOld([]byte(`{"apiVersion":"example.com/v1","kind":"Trellis","metadata":{}}`))
	_, err = d.AppendJSON(nil, []byte(`{"apiVersion":"example.com/v1","kind":"Trellis","metadata":{},"spec":{"size":7}}`))
	require.Error(t, err)
	assert.Equal(t, "1:60: metadata.name: Required value: name or generateName is required\n1:78: spec.size: Forbidden: not seven", details(d.Findings()))
}

// TestRulesOfAnything has rules for what is no resource, and for metadata that is not named.
func TestRulesOfAnything(t *testing.T) {
	all := &validation.Selection{All: true}
	rules := &fakeRules{self: all, oldSelf: all}
	p := mustCompileWith(t, `{x-kubernetes-preserve-unknown-fields: true}`, validation.Values(rules), schema.ResourceRoot(false))
	require.False(t, rules.resource)
	d := decoder.New(p, decoder.ValidateUpdate)
	d.SetOld([]byte(`{"a":1}`))
	for doc, want := range map[string]any{
		`{"spec":1}`: map[string]any{"spec": int64(1)}, `[1]`: []any{int64(1)}, `null`: nil,
	} {
		rules.got = nil
		_, err := d.AppendJSON(nil, []byte(doc))
		require.NoError(t, err)
		require.Len(t, rules.got, 1)
		assert.Equal(t, want, rules.got[0].Object)
		assert.Equal(t, map[string]any{"a": int64(1)}, rules.got[0].Old)
		is, _ := rules.got[0].Whole()
		assert.Equal(t, want, is)
	}
	rules = &fakeRules{self: &validation.Selection{Others: &validation.Selection{Others: &validation.Selection{}}}}
	d = decoder.New(ruledProgram(t, allParts, rules), decoder.ValidateCreate, decoder.ServerRequests)
	_, err := d.AppendJSON(nil, []byte(`{"apiVersion":"example.com/v1","kind":"Trellis","metadata":{"generateName":"a","labels":{"a":"b"}}}`))
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"apiVersion": "example.com/v1", "kind": "Trellis", "metadata": map[string]any{
		"name": "axxxxx", "generateName": "a", "generation": int64(1), "namespace": "default", "labels": map[string]any{}}}, rules.got[0].Object)
}

// TestRulesWithinBudget asserts that what rules read is charged, and given back.
func TestRulesWithinBudget(t *testing.T) {
	rules := &fakeRules{self: &validation.Selection{Members: map[string]*validation.Selection{"spec": {All: true}}}}
	p := ruledProgram(t, allParts, rules)
	doc := []byte(storedHead + `"spec":{"list":[` + strings.Repeat("1,", 20_000) + `1]}}`)
	b := &purse{room: 1 << 30}
	d := decoder.New(p, decoder.ValidateCreate, decoder.WithBudget(b))
	_, err := d.AppendJSON(make([]byte, 0, 2*len(doc)), doc)
	require.NoError(t, err)
	assert.Greater(t, b.most, 20_000*64)
	assert.Less(t, b.taken, 100_000)
	b.room = b.most / 2
	before := b.taken
	_, err = d.AppendJSON(make([]byte, 0, 2*len(doc)), doc)
	require.Equal(t, ferrors.ErrBudget, err)
	assert.LessOrEqual(t, b.taken, before)
}

// TestUpdatesAtAGlance asserts that a valid update is not validated exactly, which allocates.
func TestUpdatesAtAGlance(t *testing.T) {
	p := updatedProgram(t)
	old := []byte(storedHead + `"st\u0061tus":{"phase":"a"},"spec":{"name":"a"}}`)
	for _, as := range []decoder.ValueValidation{decoder.ValidateUpdate, decoder.ValidateStatusUpdate} {
		d := decoder.New(p, as)
		d.SetOld(old)
		for _, doc := range []string{
			storedHead + `"spec":{"name":"b","keyed":[{"k":"a"},{"k":"b"}]},"status":{"phase":"b"}}`,
			`{"apiVersion":"example.com/v1","kind":"Trellis","metadata":{"name":"a"}}`,
		} {
			out := make([]byte, 0, 1<<10)
			decode := func() {
				if _, err := d.AppendJSON(out, []byte(doc)); err != nil {
					t.Error(err)
				}
			}
			decode()
			assert.LessOrEqual(t, testing.AllocsPerRun(100, decode), 1.0, doc) // the document is one
		}
	}
}
