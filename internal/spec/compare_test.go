package spec

import (
	"cmp"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

func rules(t *testing.T, text string, semantics schema.Semantics) Rules {
	s, err := schema.Parse([]byte(text))
	require.NoError(t, err)
	return NewRules(s, semantics, true)
}

// TestDifference has an outcome that is as specified, and what may be wrong with it.
func TestDifference(t *testing.T) {
	r := rules(t, "{type: object, properties: {a: {type: integer, default: 1}}}", schema.Deployed)
	const document = `{"y":1,"x":1,"b":{},"x":2}`
	at := func(kind errors.FindingKind, name string) errors.Finding {
		return errors.Finding{Kind: kind, Path: errors.Path{}.Child(name)}
	}
	b, x, y := at(errors.UnknownField, "b"), at(errors.UnknownField, "x"), at(errors.UnknownField, "y")
	found := errors.List{at(errors.DuplicateField, "x"), b, x, y}
	refused := func(name string) error {
		return &errors.TypeError{Findings: errors.List{at(errors.TypeMismatch, name)}}
	}
	for _, c := range []struct {
		what, document, result string
		found                  errors.List
		err                    error
		want                   string
	}{
		{"as specified", document, `{"a": 1}`, found, nil, ""},
		{"as specified, and written as it is compared", document, `{"a":1}`, found, nil, ""},
		{"a default is not there", document, `{}`, found, nil,
			"specified: {\"a\":1}\ngot:       {}"},
		{"a number is spelled otherwise", document, `{"a":1.0}`, found, nil,
			"specified: {\"a\":1}\ngot:       {\"a\":1.0}"},
		{"the order of findings", `{"b":1,"y":2}`, `{"a":1}`, errors.List{y, b}, nil,
			"specified: unknown field /b, unknown field /y\ngot:       unknown field /y, unknown field /b"},
		{"a finding is not there", `{"b":1}`, `{"a":1}`, nil, nil,
			"specified: unknown field /b\ngot:       "},
		{"no JSON", `{}`, `{"a":1`, nil, nil, "the result: "},
		{"more than an object", `{}`, `{"a":1}}`, nil, nil, "the result: "},
		{"refused", `{"kind":1}`, "", nil, refused("kind"), ""},
		{"refused for something else", `{"kind":1}`, "", nil, refused("b"),
			"specified: type mismatch /kind\ngot:       type mismatch /b"},
		{"refused, and should not be", `{}`, "", nil, refused("b"),
			"specified: \ngot:       type mismatch /b"},
		{"not refused", `{"kind":1}`, `{"kind":1}`, nil, nil,
			"specified: refused for type mismatch /kind\ngot:       {\"kind\":1}"},
		{"unspecified", `{}`, ``, nil, io.ErrShortWrite, "unspecified: short write"},
		{"no document", `{`, ``, nil, nil, "the document: "},
	} {
		got := r.Difference([]byte(c.document), []byte(c.result), c.found, c.err)
		if strings.HasSuffix(c.want, ": ") { // the rest is up to encoding/json
			got, _, _ = strings.Cut(got, ": ")
			got += ": "
		}
		assert.Equal(t, c.want, got, c.what)
	}
}

// TestParse reads what is no JSON.
func TestParse(t *testing.T) {
	for _, text := range []string{
		"", "{", `{"a"`, `{"a":`, `{"a":x}`, `{1:2}`, "[", "[1", "[x]", "1 2", "{}]", "{}}", "[]]",
	} {
		_, err := Parse([]byte(text))
		assert.Error(t, err, "%q", text)
	}
	v, err := Parse([]byte(` {"a": [1.50, "é<", {"a": null, "a": true}], "": {}} `))
	require.NoError(t, err)
	assert.Equal(t, `{"a":[1.50,"é\u003c",{"a":null,"a":true}],"":{}}`, string(Text(v)))
	assert.Panics(t, func() { Rules{}.defaultOf(&schema.Structural{Default: []byte("{")}) })
	assert.Panics(t, func() { Text(t.Run) })
}

// TestRefused has values that are refused, in each mode, and others beside them.
func TestRefused(t *testing.T) {
	r := rules(t, `
type: object
properties:
  a: {type: array, items: {x-kubernetes-int-or-string: true}}
  e: {type: object, x-kubernetes-embedded-resource: true, properties: {a: {type: string}}}
  m:
    type: object
    additionalProperties:
      type: object
      x-kubernetes-embedded-resource: true
      x-kubernetes-preserve-unknown-fields: true
      default: {metadata: 5}
`, schema.Deployed)
	kep := rules(t, `
type: object
properties:
  a: {type: array, items: {x-kubernetes-int-or-string: true}}
  b: {type: array, items: {type: number}}
`, schema.KEP)
	for _, c := range []struct {
		rules    Rules
		document string
		refused  string
	}{
		{r, `[]`, "/"},
		{kep, `{"a":[1,"1",1.5,true,null,[]],"b":[1,1.5,"1",9223372036854775808]}`,
			"/a/2 /a/3 /a/5 /b/2"},
		{kep, `{"kind":1,"a":{}}`, "/kind /a"},
		{r, `{"e":{"kind":1,"metadata":5}}`, "/e/kind /e/metadata"},
		{r, `{"metadata":{"labels":{"a":1},"creationTimestamp":"never"}}`, "/metadata/labels/a"},
		{r.In(Requests), `{"metadata":{"labels":{"a":1},"creationTimestamp":"never"}}`,
			"/metadata/labels/a"},
		{r.In(Requests), `{"metadata":{"labels":{},"creationTimestamp":"never"}}`,
			"/metadata/creationTimestamp"},
		{r.In(Stored), `{"metadata":{"labels":{"a":1},"creationTimestamp":"never"}}`, ""},
		{r.In(Stored), `[]`, "/"},
		{r.In(Stored), `{"kind":null,"apiVersion":1,"metadata":[]}`, "/kind /apiVersion /metadata"},
		{r.In(Stored), `{"e":{"kind":1,"metadata":5}}`, "/e/metadata"},
		{r.In(Requests), `{"m":{"x":null}}`, ""},
		{r.In(Stored), `{"m":{"x":null}}`, "/m/x/metadata"}, // it is read again after defaults
	} {
		document, err := Parse([]byte(c.document))
		require.NoError(t, err)
		_, found, ok := c.rules.Decode(document)
		var refused []string
		for i := range found {
			refused = append(refused, cmp.Or(found[i].Path.Pointer(), "/"))
		}
		assert.Equal(t, c.refused, strings.Join(refused, " "), c.document)
		assert.Equal(t, c.refused == "", ok, c.document)
	}
}

// TestDefaultsOfMetadata has the metadata of defaults, which takes the round trip of the server.
func TestDefaultsOfMetadata(t *testing.T) {
	for given, want := range map[string]string{
		`{}`:                                      `{}`,
		`{name: x, junk: 1, labels: {}}`:          `{"name":"x"}`,
		`{name: x, labels: {a: 5}}`:               `{"name":"x"}`,
		`{generation: 1.0, finalizers: x}`:        `{"generation":1}`,
		`{labels: {a: null}, finalizers: [null]}`: `{"labels":{"a":""},"finalizers":[""]}`,
		`{creationTimestamp: "2020-01-01T00:00:00.5+02:00", deletionTimestamp: never}`: `{"creationTimestamp":"2019-12-31T22:00:00Z"}`,
		`{deletionTimestamp: "0001-01-01T00:00:00Z", creationTimestamp: null}`:         `{"deletionTimestamp":null}`,
		`{managedFields: [{fieldsV1: {"f:a": 1.50}, time: null}, {fieldsV1: null}]}`:   `{"managedFields":[{"fieldsV1":{"f:a":1.5}},{}]}`,
		`{ownerReferences: [{}]}`: `{"ownerReferences":[{"apiVersion":"","kind":"","name":"","uid":""}]}`,
		`null`:                    `{}`,
		`x`:                       `"x"`,
	} {
		r := rules(t, `
type: object
properties:
  e:
    type: object
    x-kubernetes-embedded-resource: true
    x-kubernetes-preserve-unknown-fields: true
    default: {kind: 1, apiVersion: v1, metadata: `+given+"}\n", schema.Deployed)
		result, found, ok := r.Decode(Object{})
		require.True(t, ok && len(found) == 0, "%v", found)
		assert.Equal(t, `{"e":{"apiVersion":"v1","metadata":`+want+`}}`, string(Text(result)), given)
	}
}

// TestEmptyNames has the text by which the server sorts what is unknown in embedded resources: an
// empty name is in brackets on the way there, as keys of maps are.
func TestEmptyNames(t *testing.T) {
	r := rules(t, strings.ReplaceAll(`
type: object
properties:
  "": R
  Z: R
  a: R
  m: {type: object, additionalProperties: R}
`, "R", "{x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}"),
		schema.Deployed)
	document, err := Parse([]byte(strings.ReplaceAll(
		`{"m":{"k":R,"k1":R},"a":R,"":R,"Z":R}`, "R", `{"metadata":{"x":1}}`)))
	require.NoError(t, err)
	_, found, _ := r.Decode(document)
	assert.Equal(t, strings.Join([]string{
		"unknown field /Z/metadata/x", "unknown field //metadata/x", "unknown field /a/metadata/x",
		"unknown field /m/k1/metadata/x", "unknown field /m/k/metadata/x",
	}, ", "), texts(found))
}

// TestCut holds that what cut finds equal is what parsing finds equal, and that it finds most of it.
func TestCut(t *testing.T) {
	for _, c := range []struct {
		value, text string
		isCut       bool
	}{
		{`{"a":[1.50,"é",null,true,false,{},[]],"b":{"":"\n"}}`, `{"a":[1.50,"é",null,true,false,{},[]],"b":{"":"\n"}}`, true},
		{`{"a":1}`, `{"\u0061":1}`, true},
		{`{"a":1}`, `{ "a":1}`, false},
		{`{"a/":1}`, `{"a\/":1}`, false},
		{`"\""`, `"\""`, false},
		{`{"a":1}`, `{"a":1`, false},
		{`{"a":1}`, `{"a`, false},
		{`{"a":1}`, `{a":1}`, false},
		{`{"a":1}`, `{"a"}`, false},
		{`{"a":1}`, `{"a":2}`, false},
		{`{"a":1}`, `{"b":1}`, false},
		{`{"a":1,"b":2}`, `{"a":1}`, false},
		{`{}`, `{"a":1}`, false},
		{`[1]`, `[]`, false},
		{`[1]`, `[2]`, false},
		{`[1,2]`, `[1]`, false},
		{`[1]`, `[1,2]`, false},
		{`"1"`, `1`, false},
		{`1`, `1.0`, false},
		{`true`, `false`, false},
		{`null`, `{}`, false},
		{`"a"`, ``, false},
	} {
		rest, ok := cut([]byte(c.text), mustParse([]byte(c.value)))
		assert.Equal(t, c.isCut, ok && len(rest) == 0, "%s: %s", c.value, c.text)
	}
}

// TestOutcomes have equal texts if they are equal.
func TestOutcomes(t *testing.T) {
	r := rules(t, "{type: object, properties: {a: {}, b: {type: integer}}}", schema.KEP)
	seen := make(map[string]string)
	for _, text := range []string{
		`{}`, `{"a":{}}`, `{"a":[]}`, `{"a":[[]]}`, `{"a":[1,2]}`, `{"a":[12]}`, `{"a":"1"}`, `{"a":1}`, `{"a":true}`,
		`{"a":"true"}`, `{"a":null}`, `{"a":"x","b":1}`, `{"x":1}`, `{"x":1,"y":1}`, `{"a":{"x":1}}`, `{"b":""}`, `{"kind":1}`,
	} {
		document := mustParse([]byte(text))
		outcome := string(r.Outcome(document).Append(nil))
		assert.NotContains(t, seen, outcome, text)
		seen[outcome] = text
		assert.Equal(t, outcome, string(r.Outcome(document).Append(nil)))
	}
}
