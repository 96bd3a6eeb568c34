package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/internal/screen"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// A verdict says whether an object is surely valid, by the rules of a program, and whether it is valid.
type verdict struct{ sure, valid bool }

var (
	sure     = verdict{true, true}
	doubtful = verdict{false, true} // it is valid, but only the validator knows that
	invalid  = verdict{false, false}
)

// judge decodes a document, and has its result judged.
func judge(t *testing.T, p *schema.Program, doc string) verdict {
	t.Helper()
	out, err := decoder.New(p).AppendJSON(nil, []byte(doc))
	require.NoError(t, err, doc)
	of := program.Of(p)
	var m screen.Machine
	errs, complete := of.Validator.Validate(out, program.Create, 1<<24)
	require.True(t, complete)
	return verdict{m.IsValid(of, out, program.Create), len(errs) == 0}
}

// ruled compiles a schema with the rules for values.
func ruled(t *testing.T, text string, opts ...schema.Option) *schema.Program {
	t.Helper()
	s, err := schema.Parse([]byte(text))
	require.NoError(t, err, text)
	p, err := schema.Compile(s, append(opts, validation.Values())...)
	require.NoError(t, err, text)
	return p
}

// TestRules has documents that the rules of a schema know, and those that they leave to the validator
// although they are valid. None is surely valid that is not.
func TestRules(t *testing.T) {
	nots := func(n int) string {
		return `{type: string, ` + strings.Repeat("not: {", n) + `maxLength: 3` + strings.Repeat("}", n) + `}`
	}
	const keyed = `{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k, l], items: {type: object, properties: {k: %s, l: {type: integer}, m: {type: string}}}}`
	withKey := func(key string) string { return fmt.Sprintf(keyed, key) }
	for text, docs := range map[string]map[string]verdict{
		`{type: object, minProperties: 1, maxProperties: 2, properties: {a: {}, b: {}, c: {}}}`: {
			`{}`: invalid, `{"a":1}`: sure, `{"a":1,"b":1}`: sure, `{"a":1,"b":1,"c":1}`: invalid,
		},
		`{type: array, minItems: 1, maxItems: 2}`:                        {`[]`: invalid, `[1]`: sure, `[1,2]`: sure, `[1,2,3]`: invalid},
		`{type: array, uniqueItems: true}`:                               {`[1,2]`: doubtful},
		`{type: object, required: [a], properties: {a: {type: string}}}`: {`{}`: invalid, `{"a":"x"}`: sure},
		`{type: object, required: [a]}`:                                  {`{}`: invalid, `{"a":1}`: invalid}, // it is pruned
		`{type: array, items: {type: object, required: [a]}}`:            {`[]`: sure, `[{}]`: invalid},

		// What is required and not declared is one of the other members.
		`{type: object, required: [x], additionalProperties: {type: integer, minimum: 1}}`: {
			`{}`: invalid, `{"x":1}`: sure, `{"x":0}`: invalid, `{"y":1}`: invalid, `{"x":1,"y":0}`: invalid, `{"x":1,"y":1}`: sure,
		},
		`{type: object, required: [x], additionalProperties: {type: integer, default: 1}}`: {`{"x":1}`: sure, `{"x":null}`: sure, `{}`: invalid},
		`{type: object, required: [x, a], x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: integer}}}`: {
			`{"a":1,"x":{}}`: sure, `{"a":1}`: invalid, `{"x":1}`: invalid,
		},
		`{type: object, additionalProperties: false, properties: {a: {type: integer}}}`:                    {`{"a":1}`: sure, `{}`: sure, `{"b":1}`: invalid},
		`{type: object, additionalProperties: true, properties: {a: {type: integer}}}`:                     {`{"a":1,"b":1}`: sure, `{"a":"x"}`: invalid},
		`{type: object, additionalProperties: {type: integer}, properties: {a: {type: string}}}`:           {`{"a":"x","b":1}`: sure, `{"b":"x"}`: invalid},
		`{type: object, properties: {e: {type: object, x-kubernetes-embedded-resource: true}}}`:            {`{"e":{"apiVersion":"v1","kind":"K"}}`: sure, `{"e":{"kind":"K"}}`: invalid, `{"e":{"apiVersion":"v1"}}`: invalid},
		`{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}`: {`{"apiVersion":"v1","kind":"K"}`: doubtful, `{}`: invalid},
		`{properties: {e: {type: object, x-kubernetes-embedded-resource: true, additionalProperties: true}}}`: {
			`{"e":{"apiVersion":"v1","kind":"K"}}`: doubtful,
		},
		`{properties: {e: {type: object, x-kubernetes-embedded-resource: true, properties: {kind: {type: string, not: {enum: [K]}}}}}}`: {
			`{"e":{"apiVersion":"v1","kind":"K"}}`: invalid, `{"e":{"apiVersion":"v1","kind":"L"}}`: sure,
		},
		`{properties: {e: {type: object, x-kubernetes-embedded-resource: true, properties: {metadata: {type: object, not: {maxProperties: 0}}}}}}`: {
			`{"e":{"apiVersion":"v1","kind":"L","metadata":{}}}`: invalid,
		},
		`{properties: {e: {type: object, x-kubernetes-embedded-resource: true, properties: {metadata: {type: object, properties: {name: {type: string, allOf: [{maxLength: 1}]}}}}}}}`: {
			`{"e":{"apiVersion":"v1","kind":"L","metadata":{"name":"ab"}}}`: invalid, `{"e":{"apiVersion":"v1","kind":"L","metadata":{"name":"a"}}}`: sure,
		},

		// Junctors, of which two of one kind each do not make none, up to a depth.
		`{type: string, allOf: [{maxLength: 3}], anyOf: [{maxLength: 5}]}`: {`"abcd"`: invalid, `"a"`: sure},
		`{type: string, allOf: [{maxLength: 3}], oneOf: [{maxLength: 5}]}`: {`"abcd"`: invalid, `"a"`: sure},
		`{type: string, anyOf: [{maxLength: 3}], oneOf: [{maxLength: 5}]}`: {`"abcd"`: invalid, `"a"`: sure},
		`{type: string, not: {maxLength: 3}}`:                              {`"abc"`: invalid, `"abcd"`: sure},
		nots(16):                                                           {`"abcd"`: invalid, `"a"`: sure},
		nots(17):                                                           {`"a"`: invalid, `"abcd"`: doubtful},
		`{type: object, properties: {a: {type: integer, allOf: [{minimum: 2}]}, b: {type: integer, default: 3}}}`: {`{"a":1}`: invalid, `{"a":2}`: sure},
		`{type: object, anyOf: [{required: [a]}, {required: [b]}], properties: {a: {}, b: {}}}`:                   {`{}`: invalid, `{"a":1}`: sure, `{"b":1}`: sure},

		`{type: object, properties: {p: {type: object, properties: {a: {}, b: {}}, allOf: [{required: [a]}]}, q: {type: object, properties: {a: {}, b: {}}, not: {required: [a]}}}}`: {
			`{"p":{"a":1},"q":{"b":1}}`: sure, `{"p":{"a":1},"q":{"a":1}}`: invalid, `{"p":{}}`: invalid,
		},
		`{type: object, properties: {p: {type: object, properties: {a: {}, b: {}}, allOf: [{required: [a]}]}, q: {type: object, properties: {a: {}, b: {}}, allOf: [{required: [b]}]}}}`: {
			`{"p":{"a":1},"q":{"b":1}}`: sure, `{"p":{"a":1},"q":{"a":1}}`: invalid, `{"p":{"b":1}}`: invalid,
		},

		// Sets, and the keys of lists: scalars tell elements apart.
		`{type: array, x-kubernetes-list-type: set, items: {type: string}}`:                     {`["a","b"]`: sure, `["a","a"]`: invalid},
		`{type: array, x-kubernetes-list-type: set, items: {x-kubernetes-int-or-string: true}}`: {`["a",1]`: sure, `[1,1]`: invalid},
		`{type: array, x-kubernetes-list-type: set, items: {type: object}}`:                     {`[{}]`: doubtful, `[{},{}]`: invalid},
		`{type: array, x-kubernetes-list-type: set}`:                                            {`[1]`: sure},
		`{type: array, x-kubernetes-list-type: atomic, items: {type: string}}`:                  {`["a","a"]`: sure},
		`{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k]}`:           {`[{}]`: sure, `[1]`: invalid},
		withKey(`{type: string}`): {
			`[{"k":"a"},{"k":"b"}]`: sure, `[{"k":"a","l":1},{"k":"a","l":2}]`: sure, `[{"k":"a","l":1},{"k":"b","l":1}]`: sure,
			`[{"k":"a","l":1},{"k":"a","l":1}]`: invalid, `[{"m":"a"},{"m":"b"}]`: invalid,
		},
		withKey(`{x-kubernetes-int-or-string: true}`):                   {`[{"k":"a"},{"k":1}]`: sure, `[{"k":1},{"k":1}]`: invalid},
		withKey(`{type: string, maxLength: 1}`):                         {`[{"k":"a"}]`: sure, `[{"k":"ab"}]`: invalid},
		withKey(`{type: boolean}`):                                      {`[{"k":true},{"k":false}]`: sure},
		withKey(`{type: integer}`):                                      {`[{"k":1},{"k":2}]`: sure},
		withKey(`{type: number}`):                                       {`[{"k":1},{"k":2}]`: sure},
		withKey(`{type: object}`):                                       {`[{"k":{}},{"k":{}}]`: invalid},
		withKey(`{type: string, properties: {x: {}}}`):                  {`[{"k":"a"},{"k":"b"}]`: sure, `[{"k":"a"},{"k":"a"}]`: invalid},
		withKey(`{type: string, additionalProperties: true}`):           {`[{"k":"a"},{"k":"b"}]`: sure, `[{"k":"a"},{"k":"a"}]`: invalid},
		withKey(`{type: string, items: {}}`):                            {`[{"k":"a"},{"k":"b"}]`: sure, `[{"k":"a"},{"k":"a"}]`: invalid},
		withKey(`{type: string, x-kubernetes-embedded-resource: true}`): {`[{"k":"a"},{"k":"a"}]`: invalid},
	} {
		p := ruled(t, text, schema.ResourceRoot(false))
		for doc, want := range docs {
			assert.Equal(t, want, judge(t, p, doc), "%s: %s", text, doc)
		}
	}
}

// nodeAt returns the node at a path of names. The name * leads to undeclared members, and [] to elements.
func nodeAt(t *testing.T, p *schema.Program, path string) *program.Node {
	t.Helper()
	n := program.Of(p).Root
	for _, name := range strings.Fields(path) {
		switch name {
		case "*":
			n = n.Unknown.Node
		case "[]":
			n = n.Elements.Node
		default:
			f := n.Find([]byte(name))
			require.NotNil(t, f, path)
			n = f.Node
		}
	}
	return n
}

// TestJunctorsThatSayNothing asserts that alternatives whose types allow all that there can be are left
// out, and that those which only require members are known as such: neither is looked at twice.
func TestJunctorsThatSayNothing(t *testing.T) {
	for text, want := range map[string]int{
		`{x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}`:                           0,
		`{x-kubernetes-int-or-string: true, anyOf: [{type: integer, description: d}, {type: string, title: t}]}`: 0,
		`{x-kubernetes-int-or-string: true, nullable: true, anyOf: [{type: integer}, {type: string}]}`:           0,
		`{x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string, maxLength: 1}]}`:             1,
		`{x-kubernetes-int-or-string: true, anyOf: [{type: integer}]}`:                                           1,
		`{x-kubernetes-int-or-string: true, oneOf: [{type: integer}, {type: string}]}`:                           1,
		`{type: object, anyOf: [{}, {required: [a]}]}`:                                                           0,
		`{type: object, anyOf: [null, {type: string}]}`:                                                          0,
		`{type: object, anyOf: [{type: object}], allOf: [{minProperties: 1}]}`:                                   1,
	} {
		p := ruled(t, text, schema.ResourceRoot(false))
		assert.Len(t, program.Of(p).Root.Checks.Rules.Junctors, want, text)
	}
	p := ruled(t, `{type: object, properties: {a: {}}, oneOf: [{required: [a], description: d, title: t}, {required: [b], minProperties: 1}, {minProperties: 2}]}`, schema.ResourceRoot(false))
	alternatives := program.Of(p).Root.Checks.Rules.Junctors[0].Alternatives
	require.Len(t, alternatives, 3)
	assert.Equal(t, program.Alternative{Required: []string{"a"}}, alternatives[0])
	assert.NotNil(t, alternatives[1].Node)
	assert.NotNil(t, alternatives[2].Node)
}

// TestRulesOfResources has what only the rules for resources say, by a definition and without.
func TestRulesOfResources(t *testing.T) {
	const head = `{"apiVersion":"g/v1","kind":"K","metadata":{"name":"a"}`
	of := func(text string, version schema.Version) *schema.Program {
		s, err := schema.Parse([]byte(text))
		require.NoError(t, err)
		version.Name, version.Served, version.Schema = "v1", true, s
		p, err := (&schema.CRD{Group: "g", Kind: "K", Plural: "ks", Versions: []schema.Version{version}}).Program("v1", validation.Values())
		require.NoError(t, err)
		return p
	}
	plain, withStatus := schema.Version{}, schema.Version{HasStatus: true}
	labels := ".status.selector"
	scaled := schema.Version{Scale: &schema.Scale{SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas", LabelSelectorPath: &labels}}
	rootScaled := schema.Version{Scale: &schema.Scale{SpecReplicasPath: ".size", StatusReplicasPath: ".spec.a.b"}}
	const status = `status: {type: object, properties: {v: {type: integer, minimum: 1}}}`
	for _, c := range []struct {
		schema  string
		version schema.Version
		docs    map[string]verdict
	}{
		{`{type: object}`, plain, map[string]verdict{
			head + `}`: sure, `{"apiVersion":"g/v1","kind":"L","metadata":{"name":"a"}}`: invalid, `{"apiVersion":"g/v2","kind":"K","metadata":{"name":"a"}}`: invalid,
			`{"apiVersion":"K","kind":"g/v1","metadata":{"name":"a"}}`: invalid, `{"kind":"K","metadata":{"name":"a"}}`: invalid, `{"apiVersion":"g/v1","metadata":{"name":"a"}}`: invalid,
			`{"apiVersion":"g/v1","kind":"K"}`: invalid, `{"apiVersion":"g/v1","kind":"K","metadata":{}}`: invalid,
		}},
		{`{type: object, additionalProperties: true}`, plain, map[string]verdict{head + `}`: doubtful}},
		{`{type: object, x-kubernetes-embedded-resource: true}`, plain, map[string]verdict{head + `}`: doubtful}},
		{`{type: object, properties: {kind: {type: string, not: {enum: [K]}}}}`, plain, map[string]verdict{head + `}`: invalid}},
		{`{type: object, properties: {metadata: {type: object, properties: {name: {type: string, maxLength: 1}}}}}`, plain, map[string]verdict{
			head + `}`: sure, `{"apiVersion":"g/v1","kind":"K","metadata":{"name":"ab"}}`: invalid,
		}},
		{`{type: object, properties: {metadata: {type: object, properties: {name: {type: string, allOf: [{maxLength: 1}]}}}}}`, plain, map[string]verdict{
			head + `}`: sure, `{"apiVersion":"g/v1","kind":"K","metadata":{"name":"ab"}}`: invalid,
		}},

		{`{type: object}`, plain, map[string]verdict{
			`{"apiVersion":"g/v1","kind":"K","metadata":{"name":"a","labels":{"a":"b"}}}`:   sure,
			`{"apiVersion":"g/v1","kind":"K","metadata":{"name":"a","labels":{"a":"b c"}}}`: invalid, `{"apiVersion":"g/v1","kind":"K","metadata":{"name":"a","labels":{"a b":"c"}}}`: invalid,
		}},

		// The status is not looked at, unless the rules of the root need it.
		{`{type: object, properties: {` + status + `}}`, plain, map[string]verdict{head + `,"status":{"v":0}}`: invalid}},
		{`{type: object, properties: {` + status + `}}`, withStatus, map[string]verdict{head + `,"status":{"v":0}}`: sure, head + `}`: sure}},
		{`{type: object, required: [status], properties: {` + status + `}}`, withStatus, map[string]verdict{head + `,"status":{"v":0}}`: invalid}},
		{`{type: object, minProperties: 4, properties: {` + status + `}}`, withStatus, map[string]verdict{head + `,"status":{"v":0}}`: invalid}},
		{`{type: object, maxProperties: 4, properties: {` + status + `}}`, withStatus, map[string]verdict{head + `,"status":{"v":0}}`: doubtful}},
		{`{type: object, anyOf: [{required: [status]}], properties: {` + status + `}}`, withStatus, map[string]verdict{head + `,"status":{"v":1}}`: invalid}},

		// The values by which an object is scaled.
		{`{type: object, properties: {spec: {type: object, properties: {replicas: {type: integer}}}, status: {type: object, properties: {replicas: {type: integer}, selector: {type: string}}}}}`, scaled, map[string]verdict{
			head + `}`: sure, head + `,"spec":{"replicas":1},"status":{"replicas":0,"selector":"a=b"}}`: sure,
			head + `,"spec":{"replicas":-1}}`: invalid, head + `,"status":{"replicas":-1}}`: invalid, head + `,"spec":{}}`: sure,
		}},
		{`{type: object, properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true}, status: {type: object, x-kubernetes-preserve-unknown-fields: true}}}`, scaled, map[string]verdict{
			head + `,"spec":{"replicas":1},"status":{"replicas":0,"selector":"a=b"}}`: sure, head + `,"spec":{"replicas":"1"}}`: invalid, head + `,"spec":{"replicas":-1}}`: invalid,
			head + `,"status":{"replicas":"x"}}`: invalid, head + `,"status":{"selector":1}}`: invalid, head + `,"spec":{"other":-1}}`: sure, head + `,"spec":{}}`: sure,
		}},
		{`{type: object, x-kubernetes-preserve-unknown-fields: true}`, rootScaled, map[string]verdict{
			head + `,"size":1}`: doubtful, head + `,"size":-1}`: invalid, head + `,"spec":{"a":{"b":1}}}`: doubtful, head + `,"spec":{"a":{"b":-1}}}`: invalid,
		}},
		{`{type: object, properties: {size: {type: integer}, spec: {type: object, additionalProperties: {type: object, additionalProperties: {type: integer}}}}}`, rootScaled, map[string]verdict{
			head + `,"size":1}`: sure, head + `,"spec":{"a":{"b":1}}}`: doubtful, head + `,"spec":{"a":{"b":-1}}}`: invalid,
		}},
		{`{type: object, properties: {size: {type: integer}, spec: {type: object, properties: {a: {type: object, properties: {b: {type: integer}}}, b: {type: integer}}}}}`, rootScaled, map[string]verdict{
			head + `,"spec":{"a":{"b":-1}}}`: invalid, head + `,"spec":{"b":-1}}`: sure, head + `,"spec":{"a":{"b":1}}}`: sure, head + `,"size":-1}`: invalid,
		}},
	} {
		p := of(c.schema, c.version)
		for doc, want := range c.docs {
			assert.Equal(t, want, judge(t, p, doc), "%s: %+v: %s", c.schema, c.version, doc)
		}
	}
	// What is on the way to such a value is an object.
	p := of(`{type: object, properties: {spec: {x-kubernetes-preserve-unknown-fields: true}, status: {type: object}}}`, scaled)
	assert.Equal(t, invalid, judge(t, p, head+`,"spec":5}`))
	assert.Equal(t, sure, judge(t, p, head+`,"spec":{"replicas":5}}`))

	// Without a definition any type will do.
	p = ruled(t, `{type: object, properties: {kind: {type: string, not: {enum: [K]}}}}`)
	for doc, want := range map[string]verdict{
		head + `}`: invalid, `{"apiVersion":"v1","kind":"L","metadata":{"name":"a"}}`: sure, `{"apiVersion":"v1","kind":"L"}`: invalid,
	} {
		assert.Equal(t, want, judge(t, p, doc), doc)
	}
}

// TestKeys asserts which nodes have values that tell the elements of a list apart, and by which key: scalars
// without contents.
func TestKeys(t *testing.T) {
	for of, isKey := range map[string]bool{
		`{type: string}`: true, `{type: integer}`: true, `{type: number}`: true, `{type: boolean}`: true, `{x-kubernetes-int-or-string: true}`: true,
		`{type: object}`: false, `{type: array}`: false, `{}`: false, `{type: string, properties: {x: {}}}`: false, `{type: string, items: {}}`: false,
		`{type: string, additionalProperties: true}`: false, `{type: string, x-kubernetes-embedded-resource: true}`: false,
	} {
		numbers := map[bool][]int{true: {0, 1, 2}, false: {0, 0, 0}}[isKey]
		p := ruled(t, `{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [b, c, gone], items: {type: object, properties: {a: `+of+`, b: `+of+`, c: `+of+`}}}`, schema.ResourceRoot(false))
		for i, name := range []string{"a", "b", "c"} {
			assert.Equal(t, numbers[i], nodeAt(t, p, "[] "+name).Checks.Key, "%s: %s", of, name)
		}
		assert.Equal(t, []string{"b", "c", "gone"}, nodeAt(t, p, "[]").Checks.Rules.Keys)
		p = ruled(t, `{type: array, x-kubernetes-list-type: set, items: `+of+`}`, schema.ResourceRoot(false))
		assert.Equal(t, isKey, nodeAt(t, p, "[]").Checks.Key == program.SetKey, of)
	}
}

// TestRuledNodesAreOne asserts that equal nodes are one with rules, too, and that the numbers of nodes are
// theirs.
func TestRuledNodesAreOne(t *testing.T) {
	size := func(text string) int {
		p := ruled(t, text, schema.ResourceRoot(false))
		for i, n := range program.Of(p).Nodes {
			require.Equal(t, i, int(n.ID), text)
		}
		return len(program.Of(p).Nodes)
	}
	for _, part := range []string{
		`{type: object, required: [x], properties: {a: {type: integer, minimum: 1}}}`,
		`{type: object, x-kubernetes-preserve-unknown-fields: true, required: [x]}`,
		`{type: array, x-kubernetes-list-type: set, items: {type: string}}`,
		`{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, properties: {k: {type: string}, l: {type: string}}}}`,
		`{type: object, x-kubernetes-embedded-resource: true, properties: {kind: {type: string, maxLength: 1}, metadata: {type: object, properties: {labels: {type: object, additionalProperties: {type: string}}}}}}`,
		`{anyOf: [{type: string, maxLength: 1}, {required: [a]}]}`,
	} {
		one := size(`{type: object, properties: {a: ` + part + `}}`)
		assert.Equal(t, one, size(`{type: object, properties: {a: `+part+`, b: `+part+`}}`), part)
	}
	assert.Equal(t, 1+size(`{type: object}`), size(`{type: object, properties: {a: {type: string}}}`))

	// What is no key of a list is the node that it is elsewhere.
	const list = `l: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, properties: {k: {type: integer}, l: {type: string}}}}`
	assert.Equal(t, size(`{type: object, properties: {`+list+`}}`), size(`{type: object, properties: {`+list+`, l2: {type: string}}}`))

	p := ruled(t, `{type: object, properties: {`+list+`, l2: {type: string}}}`, schema.ResourceRoot(false))
	assert.Same(t, nodeAt(t, p, "l [] l"), nodeAt(t, p, "l2"))
	assert.NotSame(t, nodeAt(t, p, "l [] k"), nodeAt(t, p, "l2"))

	// Metadata of which a schema says nothing is the same in all programs.
	none, empty := ruled(t, `{type: object}`), ruled(t, `{type: object, properties: {metadata: {type: object}}}`)
	limited := ruled(t, `{type: object, properties: {metadata: {type: object, properties: {name: {type: string, maxLength: 3}}}}}`)
	other := ruled(t, `{type: object, properties: {metadata: {type: object, minProperties: 1}}}`)
	assert.Same(t, nodeAt(t, none, "metadata labels"), nodeAt(t, ruled(t, `{}`), "metadata labels"))
	assert.Same(t, nodeAt(t, none, "metadata labels"), nodeAt(t, empty, "metadata labels"))
	assert.NotSame(t, nodeAt(t, none, "metadata name"), nodeAt(t, limited, "metadata name"))
	assert.NotSame(t, nodeAt(t, none, "metadata"), nodeAt(t, other, "metadata"))
	plain := func(text string) *schema.Program {
		s, err := schema.Parse([]byte(text))
		require.NoError(t, err)
		p, err := schema.Compile(s)
		require.NoError(t, err)
		return p
	}
	assert.Same(t, nodeAt(t, plain(`{}`), "metadata"), nodeAt(t, plain(`{properties: {metadata: {type: object, properties: {name: {type: string, maxLength: 3}}}}}`), "metadata"))
	for _, names := range []string{"labels", "annotations"} {
		assert.NotNil(t, nodeAt(t, none, "metadata "+names+" *").Checks.Names, names)
	}
	assert.Nil(t, nodeAt(t, none, "metadata name").Checks.Names)
	embedded := nodeAt(t, ruled(t, `{properties: {e: {type: object, x-kubernetes-embedded-resource: true}}}`), "e").Checks
	assert.True(t, embedded.Rules.Embedded)
	assert.True(t, embedded.Whole)
}

// TestImplicitFields asserts that members which are required and not declared are fields with a rule, once
// each, and no names that are declared.
func TestImplicitFields(t *testing.T) {
	for text, want := range map[string][]string{
		`{type: object, required: [b, a, b], additionalProperties: {type: integer}, properties: {c: {}}}`:   {"a implicit", "b implicit", "c"},
		`{type: object, required: [c, a], x-kubernetes-preserve-unknown-fields: true, properties: {c: {}}}`: {"a implicit", "c"},
		`{type: object, required: [a]}`: nil,
		`{type: object, required: [a], additionalProperties: {type: integer, default: 1}}`: nil,
	} {
		p := ruled(t, text, schema.ResourceRoot(false))
		var got []string
		for i := range program.Of(p).Root.Fields {
			f := &program.Of(p).Root.Fields[i]
			name := f.Name()
			if f.Implicit {
				name += " implicit"
			}
			got = append(got, name)
		}
		assert.Equal(t, want, got, text)
		if len(want) > 1 {
			assert.Equal(t, []string{"c"}, p.FieldNames(errors.Path{}), text)
		}
	}
}

// TestImplicitFieldsOfResources asserts that what all resources have is declared.
func TestImplicitFieldsOfResources(t *testing.T) {
	p := ruled(t, `{type: object, required: [kind, x], x-kubernetes-preserve-unknown-fields: true}`)
	assert.Len(t, program.Of(p).Root.Fields, 4)
	assert.Equal(t, []string{"apiVersion", "kind", "metadata"}, p.FieldNames(errors.Path{}))
}

// TestRulesOfDefaults asserts that rules change no default: the server drops types of embedded resources
// that are no texts, and what metadata does not have.
func TestRulesOfDefaults(t *testing.T) {
	const text = `{type: object, properties: {e: {type: object, x-kubernetes-embedded-resource: true, default: {apiVersion: v1, kind: 5, metadata: {name: a, x: 1, labels: {a: b}}},
		properties: {kind: {type: string, maxLength: 5}, metadata: {type: object, properties: {name: {type: string, maxLength: 3}}}}}}}`
	for _, dialect := range []schema.Semantics{schema.Deployed, schema.KEP} {
		p := ruled(t, text, dialect)
		assert.JSONEq(t, `{"apiVersion":"v1","metadata":{"name":"a","labels":{"a":"b"}}}`, program.Of(p).Root.Find([]byte("e")).Default)
	}
}

// TestDefaultsBesideJunctors asserts that nothing is inserted by what is below a junctor, and all by what is
// beside one, also if one schema is in both places, as one that is made by hand can be.
func TestDefaultsBesideJunctors(t *testing.T) {
	shared := func() *schema.Structural {
		return &schema.Structural{Type: "object", Properties: map[string]*schema.Structural{"d": {Type: "string", Default: []byte(`"x"`)}}}
	}
	within := shared()
	metadata := &schema.Structural{Type: "object", Properties: map[string]*schema.Structural{"name": {Type: "string", Default: []byte(`"n"`)}}}
	resource := func() *schema.Structural {
		return &schema.Structural{Type: "object", XEmbeddedResource: true, Properties: map[string]*schema.Structural{"metadata": metadata}}
	}
	p, err := schema.Compile(&schema.Structural{Type: "object", Properties: map[string]*schema.Structural{
		"a": {Type: "object", AllOf: []*schema.Structural{within}}, "b": within, "c": {Type: "string", Default: []byte(`"y"`)},
		"e": {Type: "object", AllOf: []*schema.Structural{resource()}}, "f": resource(),
	}}, schema.ResourceRoot(false), validation.Values())
	require.NoError(t, err)
	out, err := decoder.New(p).AppendJSON(nil, []byte(`{"a":{},"b":{},"e":{},"f":{"metadata":{}}}`))
	require.NoError(t, err)
	assert.JSONEq(t, `{"a":{},"b":{"d":"x"},"c":"y","e":{},"f":{"metadata":{"name":"n"}}}`, string(out))
}

// TestCopiesOfKeys asserts that keys of lists are copies of the nodes of their own schemas, though others
// have the same rules.
func TestCopiesOfKeys(t *testing.T) {
	list := func(more string) string {
		return `{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, properties: {k: {type: string` + more + `}}}}`
	}
	p := ruled(t, `{type: object, properties: {a: `+list("")+`, b: `+list(", x-kubernetes-preserve-unknown-fields: true")+`}}`, schema.ResourceRoot(false))
	out, err := decoder.New(p).AppendJSON(nil, []byte(`{"a":[{"k":{"x":1}}],"b":[{"k":{"x":1}}]}`))
	require.NoError(t, err)
	assert.Equal(t, `{"a":[{"k":{}}],"b":[{"k":{"x":1}}]}`, string(out))
}

// TestTypesWithRules asserts that CheckTypes refuses values of other types with rules for values, too.
func TestTypesWithRules(t *testing.T) {
	p := ruled(t, `{type: object, properties: {a: {type: string}, o: {type: object}}}`, schema.CheckTypes(true))
	for _, doc := range []string{`{"a":1}`, `{"o":"x"}`} {
		_, err := decoder.New(p).AppendJSON(nil, []byte(doc))
		require.ErrorAs(t, err, new(*errors.TypeError), doc)
	}
}

// TestRulesOfHandmadeSchemas has what no text has: an alternative that is nil, and a list with keys and
// properties, whose elements have no schema.
func TestRulesOfHandmadeSchemas(t *testing.T) {
	keyed := "map"
	for _, c := range []struct {
		s    *schema.Structural
		docs map[string]verdict
	}{
		{&schema.Structural{Type: "string", AnyOf: []*schema.Structural{nil, {MaxLength: new(int64)}}}, map[string]verdict{`"a"`: sure, `1`: invalid}},
		{&schema.Structural{Type: "string", AllOf: []*schema.Structural{nil, {MaxLength: new(int64)}}}, map[string]verdict{`"a"`: invalid, `""`: sure}},
		{&schema.Structural{Type: "array", XListType: &keyed, XListMapKeys: []string{"k"}, Properties: map[string]*schema.Structural{"a": {}}}, map[string]verdict{
			`[{}]`: doubtful, `[{},{}]`: invalid, `[1]`: invalid,
		}},
	} {
		p, err := schema.Compile(c.s, schema.ResourceRoot(false), validation.Values())
		require.NoError(t, err)
		for doc, want := range c.docs {
			assert.Equal(t, want, judge(t, p, doc), doc)
		}
	}
}
