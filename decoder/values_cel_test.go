package decoder_test

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// A fakeRules is a compiler for rules, and its rules. It refuses objects that say so, and notes what
// it was given.
type fakeRules struct {
	self, oldSelf *validation.Selection
	got           []*validation.RuleRequest
	resource      bool
	none          bool
}

func (f *fakeRules) CompileRules(s *schema.Structural, isResource bool) validation.Rules {
	f.resource = isResource
	if f.none {
		return nil
	}
	return f
}

func (f *fakeRules) Selections() (self, oldSelf *validation.Selection) { return f.self, f.oldSelf }

func (f *fakeRules) Evaluate(r *validation.RuleRequest) (list []validation.RuleError) {
	f.got = append(f.got, r)
	object, _ := r.Object.(map[string]any)
	spec, _ := object["spec"].(map[string]any)
	if spec["size"] == int64(7) {
		list = append(list, validation.RuleError{
			Path:  []ferrors.Segment{{Name: "spec", IsName: true}, {Name: "size", IsName: true}},
			Depth: 1, Kind: ferrors.SchemaForbidden, Field: "spec.size", Msg: "not seven", Index: 2,
		})
	}
	return list
}

const allParts = `{type: object, properties: {
	spec: {type: object, properties: {size: {type: integer}, name: {type: string, maxLength: 3}, list: {type: array, items: {type: integer}},
		map: {type: object, additionalProperties: {type: string}}}},
	status: {type: object, properties: {phase: {type: string, maxLength: 3}}}}}`

func ruledProgram(t testing.TB, text string, rules validation.RuleCompiler) *schema.Program {
	t.Helper()
	s, err := schema.Parse([]byte(text))
	require.NoError(t, err)
	crd := &schema.CRD{Group: "example.com", Kind: "Trellis", Scope: "Namespaced",
		Versions: []schema.Version{{Name: "v1", Schema: s, HasStatus: true}}}
	p, err := crd.Program("v1", validation.Values(rules))
	require.NoError(t, err)
	return p
}

// TestRules asserts that rules are evaluated on valid objects and on others that do not hinder them,
// with the selected parts, as the server has them then.
func TestRules(t *testing.T) {
	rules := &fakeRules{self: &validation.Selection{Members: map[string]*validation.Selection{
		"spec":     {Members: map[string]*validation.Selection{"size": {}, "list": {}, "map": {Others: &validation.Selection{}}}},
		"status":   {All: true},
		"metadata": {Members: map[string]*validation.Selection{"name": {}}},
	}}}
	p := ruledProgram(t, allParts, rules)
	assert.True(t, rules.resource)
	const head = `{"apiVersion":"example.com/v1","kind":"Trellis","metadata":{"generateName":"a"},"status":{"phase":"x"},"spec":`
	meta := map[string]any{"name": "axxxxx", "generateName": "a", "generation": int64(1), "namespace": "default"}
	for _, c := range []struct {
		spec  string
		built map[string]any
		found string
	}{
		{`{"size":6,"name":"a"}`, map[string]any{"size": int64(6)}, ""},
		{`{"size":7,"list":[1,2],"map":{"a":"\u0062"}}`, map[string]any{"size": int64(7), "list": []any{}, "map": map[string]any{"a": "b"}},
			"1:119: spec.size: Forbidden: not seven"},
		{`{"size":7,"name":"long"}`, nil, ""},
	} {
		for _, as := range []string{"bytes", "stream", "YAML"} {
			rules.got = nil
			d := decoder.New(p, decoder.ValidateCreate)
			var err error
			switch as {
			case "bytes":
				_, err = d.AppendJSON(nil, []byte(head+c.spec+"}"))
			case "YAML":
				_, err = d.AppendYAML(nil, []byte(head+c.spec+"}"))
			default:
				_, err = io.ReadAll(d.NewReader(strings.NewReader(head + c.spec + "}")))
			}
			if c.built == nil {
				require.Empty(t, rules.got)
				list := d.Findings()
				require.Len(t, list, 2)
				assert.Equal(t, "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; "+
					"correct the existing errors to complete validation", list[0].Invalid.Error())
				assert.Equal(t, "x-kubernetes-validations", list[0].Invalid.Rule)
				assert.Equal(t, 1, list[0].Position.Column)
				continue
			}
			require.Len(t, rules.got, 1, as)
			assert.Equal(t, map[string]any{"spec": c.built, "metadata": meta}, rules.got[0].Object)
			assert.Nil(t, rules.got[0].Old)
			assert.Nil(t, rules.got[0].Whole)
			if c.found == "" {
				require.NoError(t, err)
				continue
			}
			require.IsType(t, (*ferrors.InvalidError)(nil), err)
			list := d.Findings()
			require.Len(t, list, 1)
			assert.Equal(t, c.found, list[0].Detail())
			assert.Equal(t, []int{2, 1}, []int{list[0].Invalid.RuleIndex, list[0].Invalid.RuleDepth})
		}
	}
	none := ruledProgram(t, allParts, &fakeRules{none: true})
	d := decoder.New(none, decoder.ValidateCreate)
	_, err := d.AppendJSON(nil, []byte(head+`{"size":7}}`))
	require.NoError(t, err)
	assert.PanicsWithValue(t, "validation: Values: there can be one compiler for rules", func() { validation.Values(rules, rules) })
	assert.PanicsWithValue(t, "validation: Values: the compiler for rules is nil", func() { validation.Values(nil) })
}

// TestRulesOfMetadata asserts that metadata that rules compare as a whole has the generation that the
// server gives it: the stored one, unless something else has changed, which they need not read.
func TestRulesOfMetadata(t *testing.T) {
	const head = `{"apiVersion":"example.com/v1","kind":"Trellis","metadata":{"name":"a","namespace":"b"},"spec":`
	old := strings.Replace(head, `"name"`, `"generation":3,"name"`, 1) + `{"size":1,"list":[1]},"status":{"phase":"x"}}`
	metadata := &validation.Selection{Members: map[string]*validation.Selection{"metadata": {All: true}}}
	for _, s := range []*validation.Selection{metadata, {All: true}, {Others: &validation.Selection{All: true}}} {
		rules := &fakeRules{self: s, oldSelf: s}
		d := decoder.New(ruledProgram(t, allParts, rules), decoder.ValidateUpdate)
		d.SetOld([]byte(old))
		for spec, want := range map[string]int64{`{"list":[1],"size":1}}`: 3, `{"size":1,"list":[2]}}`: 4} {
			rules.got = nil
			_, err := d.AppendJSON(nil, []byte(head+spec))
			require.NoError(t, err)
			require.Len(t, rules.got, 1)
			assert.Equal(t, map[string]any{"name": "a", "namespace": "b", "generation": want}, rules.got[0].Object.(map[string]any)["metadata"], spec)
		}
		rules.got = nil
		d.SetOld([]byte(head + `{}}`))
		_, err := d.AppendJSON(nil, []byte(head+`{}}`))
		require.NoError(t, err)
		assert.Equal(t, map[string]any{"name": "a", "namespace": "b"}, rules.got[0].Object.(map[string]any)["metadata"], "there is none yet")
		bare := []byte(strings.Replace(head, `,"namespace":"b"`, "", 1) + `{}}`)
		d.SetOld(bare)
		_, err = d.AppendJSON(nil, bare)
		require.NoError(t, err)
		last := rules.got[len(rules.got)-1]
		assert.Equal(t, map[string]any{"name": "a", "namespace": "default"}, last.Old.(map[string]any)["metadata"], "as in manifests")
		assert.Equal(t, last.Object, last.Old)
		d.SetOld([]byte(`{"metadata":[]}`))
		_, err = d.AppendJSON(nil, []byte(`{"apiVersion":"example.com/v1","kind":"Trellis"}`))
		require.IsType(t, (*ferrors.InvalidError)(nil), err)
	}
}

// TestRulesOfAbsentParts asserts that rules are not evaluated for an object without the values that
// they are about, and always for an update.
func TestRulesOfAbsentParts(t *testing.T) {
	within := &validation.Selection{Within: true, Members: map[string]*validation.Selection{"spec": {}}}
	rules := &fakeRules{self: within, oldSelf: within}
	p := ruledProgram(t, allParts, rules)
	object := []byte(`{"apiVersion":"example.com/v1","kind":"Trellis","metadata":{"name":"a","namespace":"b"}}`)
	_, err := decoder.New(p, decoder.ValidateCreate).AppendJSON(nil, object)
	require.NoError(t, err)
	assert.Empty(t, rules.got)
	d := decoder.New(p, decoder.ValidateUpdate)
	d.SetOld(object)
	_, err = d.AppendJSON(nil, object)
	require.NoError(t, err)
	require.Len(t, rules.got, 1)
	assert.Equal(t, map[string]any{}, rules.got[0].Old)
}

// TestRulesOfEndlessSchemas asserts that rules in a schema that contains itself are not compiled. No
// definition has one, but a kind in an OpenAPI document may.
func TestRulesOfEndlessSchemas(t *testing.T) {
	s, err := schema.Parse([]byte(`{type: object, properties: {spec: {type: object}}}`))
	require.NoError(t, err)
	s.Properties["spec"].Properties = map[string]*schema.Structural{"spec": s}
	rules := &fakeRules{}
	p, err := schema.Compile(s, schema.ResourceRoot(true), validation.Values(rules))
	require.NoError(t, err)
	_, err = decoder.New(p, decoder.ValidateCreate).AppendJSON(nil, []byte(`{"apiVersion":"a/v1","kind":"A","metadata":{"name":"a"},"spec":{"spec":{}}}`))
	require.NoError(t, err)
	assert.Empty(t, rules.got)
}

// TestBudgetOfRules asserts that what is built for rules is given back after each document.
func TestBudgetOfRules(t *testing.T) {
	rules := &fakeRules{self: &validation.Selection{All: true}}
	budget := &purse{room: 1 << 30}
	d := decoder.New(ruledProgram(t, allParts, rules), decoder.ValidateCreate, decoder.WithBudget(budget))
	base := d.Cap()
	src := []byte(`{"apiVersion":"example.com/v1","kind":"Trellis","metadata":{"name":"a"},"spec":{"list":[` + strings.Repeat("1,", 10_000) + `1]}}`)
	for i := range 4 {
		out, err := d.AppendJSON(nil, src)
		require.NoError(t, err)
		budget.taken -= cap(out)
		assert.InDelta(t, d.Cap()-base, budget.taken, 4096, i)
	}
	assert.Len(t, rules.got, 4)
}
