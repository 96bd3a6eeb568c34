package decoder_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// overlooked are schemas with documents that are invalid, and that were taken for valid once.
var overlooked = []struct{ schema, doc string }{
	// Junctors of what all resources have.
	{`{properties: {kind: {type: string, not: {enum: [Vine]}}}}`, `{"kind":"Vine"}`},
	{`{properties: {apiVersion: {type: string, allOf: [{pattern: ^x}]}}}`, `{"apiVersion":"v1"}`},
	{`{properties: {metadata: {type: object, properties: {name: {type: string, allOf: [{pattern: ^x}]}}}}}`, `{}`},
	{`{properties: {a: {type: object, x-kubernetes-embedded-resource: true, properties: {kind: {type: string, oneOf: [{pattern: ^x}]}}}}}`,
		`{"a":{"kind":"Vine","apiVersion":"v1"}}`},
	{`{properties: {a: {type: object, x-kubernetes-embedded-resource: true, properties: {
		metadata: {type: object, properties: {name: {type: string, anyOf: [{pattern: ^x}]}}}}}}}`,
		`{"a":{"kind":"Vine","apiVersion":"v1","metadata":{"name":"a"}}}`},
	// Additional properties are for what all resources have, too.
	{`{additionalProperties: {type: object}}`, `{}`},
	{`{properties: {a: {type: object, x-kubernetes-embedded-resource: true, additionalProperties: false}}}`,
		`{"a":{"kind":"Vine","apiVersion":"v1"}}`},
	// A single element that is no object.
	{`{properties: {a: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {properties: {k: {type: string}}}}}}`,
		`{"a":["x"]}`},
	{`{properties: {a: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k]}}}`, `{"a":[1]}`},
	// The server takes an array for a string if there is a format.
	{`{properties: {a: {x-kubernetes-preserve-unknown-fields: true, not: {type: string, format: date}}}}`, `{"a":[1]}`},
}

// TestNothingIsOverlooked asserts that a decoder finds what is invalid by the exact rules.
func TestNothingIsOverlooked(t *testing.T) {
	for _, c := range overlooked {
		p := mustCompileWith(t, c.schema, validation.Values())
		doc := []byte(strings.Replace(`{"apiVersion":"v1","kind":"Trellis","metadata":{"name":"a"},`+c.doc[1:], ",}", "}", 1))
		d := decoder.New(p, decoder.Ignore, decoder.ValidateCreate)
		out, err := d.AppendJSON(nil, doc)
		var want, got []string
		errs, complete := program.Of(p).Validator.Validate(out, program.Create, 1<<20)
		require.True(t, complete)
		require.NotEmpty(t, errs, c.doc)
		for i := range errs {
			want = append(want, errs[i].Error())
		}
		for _, f := range d.Findings() {
			got = append(got, f.Invalid.Error())
		}
		assert.ElementsMatch(t, want, got, c.doc)
		assert.IsType(t, (*ferrors.InvalidError)(nil), err)
	}
}

func mustCompileWith(t testing.TB, text string, opts ...schema.Option) *schema.Program {
	t.Helper()
	s, err := schema.Parse([]byte(text))
	require.NoError(t, err)
	p, err := schema.Compile(s, opts...)
	require.NoError(t, err)
	return p
}

// TestValidationsChangeNothing asserts that programs decode the same with validations, where they
// once did not.
func TestValidationsChangeNothing(t *testing.T) {
	keyed := &schema.Structural{Type: "string", Properties: make(map[string]*schema.Structural)}
	listType := "map"
	keyed.Properties["list"] = &schema.Structural{
		Type: "array", XListType: &listType, XListMapKeys: []string{"k"}, Items: &schema.SchemaOrArray{
			Schema: &schema.Structural{Type: "object", Properties: map[string]*schema.Structural{"k": keyed}},
		},
	}
	parse := func(text string) *schema.Structural {
		s, err := schema.Parse([]byte(text))
		require.NoError(t, err)
		return s
	}
	for _, c := range []struct {
		name   string
		schema *schema.Structural
		doc    string
	}{
		{"a key with defaults", parse(`{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {
			type: object, properties: {k: {type: string, properties: {a: {default: 1}}}}}}`), `[{"k":{}}]`},
		{"elements of a set with defaults", parse(`{type: array, x-kubernetes-list-type: set, items: {
			type: string, items: {type: object, properties: {a: {type: integer, default: 1}}}}}`), `[[{}]]`},
		{"a required member of a map", parse(`{x-kubernetes-preserve-unknown-fields: true, required: [c],
			additionalProperties: false}`), `{"c":[{"a":1}]}`},
		{"a key that contains itself", keyed, `{"list":[{"k":{"list":[{"k":[1]}]}}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var results []string
			for _, opts := range [][]schema.Option{{}, {validation.Values()}} {
				p, err := schema.Compile(c.schema, append(opts, schema.ResourceRoot(false))...)
				require.NoError(t, err)
				out, err := decoder.New(p).AppendJSON(nil, []byte(c.doc))
				require.NoError(t, err)
				results = append(results, string(out))
			}
			assert.Equal(t, results[0], results[1])
		})
	}
}

// TestDefaultsOfJunctors has a default that is never inserted, and so need not fit.
func TestDefaultsOfJunctors(t *testing.T) {
	const text = `{type: object, anyOf: [{required: [b], properties: {a: {type: string, default: 1}}}, {required: [c]}]}`
	for _, opts := range [][]schema.Option{{schema.KEP}, {schema.KEP, validation.Values()}} {
		p := mustCompileWith(t, text, append(opts, schema.ResourceRoot(false))...)
		out, err := decoder.New(p).AppendJSON(nil, []byte(`{}`))
		require.NoError(t, err)
		assert.Equal(t, `{}`, string(out))
	}
}

// TestScaleChangesNothing has a value of a map that scaling uses.
func TestScaleChangesNothing(t *testing.T) {
	s, err := schema.Parse([]byte(`{type: object, properties: {spec: {type: object, required: [replicas],
		additionalProperties: {type: object, properties: {a: {type: string, default: x}}}}}}`))
	require.NoError(t, err)
	crd := &schema.CRD{Group: "example.com", Kind: "Trellis", Versions: []schema.Version{{
		Name: "v1", Schema: s, Scale: &schema.Scale{SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas"},
	}}}
	p, err := crd.Program("v1", validation.Values())
	require.NoError(t, err)
	out, err := decoder.New(p).AppendJSON(nil, []byte(`{"spec":{"replicas":{}}}`))
	require.NoError(t, err)
	assert.Equal(t, `{"spec":{"replicas":{"a":"x"}}}`, string(out))
}

// TestRequiredNamesOnStreams has a name that is required and not declared, and repeats. It is no
// declared field for a stream, and none for messages.
func TestRequiredNamesOnStreams(t *testing.T) {
	const text = `{type: object, x-kubernetes-preserve-unknown-fields: true, required: [a], properties: {b: {type: integer}}}`
	var errs []string
	for _, opts := range [][]schema.Option{{}, {validation.Values()}} {
		p := mustCompileWith(t, text, append(opts, schema.ResourceRoot(false))...)
		assert.Equal(t, []string{"b"}, p.FieldNames(ferrors.Path{}))
		d := decoder.New(p)
		for range 2 { // fields are predicted the second time
			out, err := d.AppendJSON(nil, []byte(`{"a":1,"b":2}`))
			require.NoError(t, err)
			assert.Equal(t, `{"a":1,"b":2}`, string(out))
		}
		_, err := io.ReadAll(d.NewReader(strings.NewReader(`{"a":1,"b":2,"a":3}`)))
		errs = append(errs, err.Error())
	}
	assert.Contains(t, errs[0], "first at 1:2")
	assert.Equal(t, errs[0], errs[1])
}

// TestRequiredKeysInMessages has a key of a map that is required. Messages show it as a key.
func TestRequiredKeysInMessages(t *testing.T) {
	const text = `{type: object, properties: {spec: {type: object, required: [a], additionalProperties: {
		type: object, x-kubernetes-embedded-resource: true}}}}`
	for _, opts := range [][]schema.Option{{}, {validation.Values()}} {
		d := decoder.New(mustCompileWith(t, text, opts...), decoder.ServerRequests)
		_, err := d.AppendJSON(nil, []byte(`{"apiVersion":"v1","kind":"K","spec":{"a":{"apiVersion":"v1","kind":"K","metadata":{"b":1}}}}`))
		require.NoError(t, err)
		assert.Equal(t, `1:85: unknown field "spec[a].metadata.b"`, details(d.Findings()))
	}
}

// TestSetsAllocateNothing asserts that sets of any size cost no memory once there is enough.
func TestSetsAllocateNothing(t *testing.T) {
	p := mustCompileWith(t, `{type: array, x-kubernetes-list-type: set, items: {type: integer}}`,
		validation.Values(), schema.ResourceRoot(false))
	var elements []string
	for n := range 70 {
		doc := []byte("[" + strings.Join(elements, ",") + "]")
		elements = append(elements, fmt.Sprint(n))
		budget := &purse{room: 1 << 20}
		d := decoder.New(p, decoder.ValidateCreate, decoder.WithBudget(budget))
		out, err := d.AppendJSON(nil, doc)
		require.NoError(t, err)
		taken := budget.taken
		assert.Zero(t, testing.AllocsPerRun(5, func() { out, _ = d.AppendJSON(out[:0], doc) }), "%d elements", n)
		assert.Equal(t, taken, budget.taken, "%d elements", n)
	}
}

// A purse is a budget with room for some bytes. It remembers the most that it had taken.
type purse struct{ room, taken, most int }

func (p *purse) Take(n int) bool {
	if n > 0 && p.taken+n > p.room {
		return false
	}
	p.taken += n
	p.most = max(p.most, p.taken)
	return true
}
