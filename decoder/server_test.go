package decoder

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/schema"
)

const serverSchema = `
type: object
properties:
  "n": {type: number}
  m: {type: object, additionalProperties: {x-kubernetes-preserve-unknown-fields: true}}
  d: {type: object, properties: {f: {type: number, default: 1e3}}}
  e: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
  l: {type: array, items: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}}
`

func TestServerValues(t *testing.T) {
	d := New(compileYAML(t, serverSchema), ServerRequests, Compact(true))
	for _, c := range []struct{ name, in, want string }{
		{"numbers", `"m":{"a":1e3,"b":1.0,"c":-0,"d":-0.0,"e":9223372036854775808,"f":9007199254740993.0,"g":1e-400,"h":1.50,"i":1e21,"j":12}`,
			`"m":{"a":1000,"b":1,"c":0,"d":-0,"e":9223372036854776000,"f":9007199254740992,"g":0,"h":1.5,"i":1e+21,"j":12}`},
		{"numbers in strings stay", `"m":{"1e3":"1e3 \" 1.0"},"n":1.0`, `"m":{"1e3":"1e3 \" 1.0"},"n":1`},
		{"default", `"d":{}`, `"d":{"f":1000}`},
		{"invalid UTF-8", "\"m\":{\"a\xff\":\"\xc0\xaf\",\"b\":\"\xed\xa0\x80é\"}", `"m":{"a` + "\ufffd" + `":"` + "\ufffd\ufffd" + `","b":"` + "\ufffd\ufffd\ufffd" + `é"}`},
		{"names that become equal", "\"m\":{\"a\xff\":1,\"a\xfe\":2}", `"m":{"a` + "\ufffd" + `":2}`},
		{"halves of pairs", `"m":{"a":"\ud800x\udc00\ud83c\udf33\ud83c\ud83c\udf33"}`, `"m":{"a":"\ufffdx\ufffd\ud83c\udf33\ufffd\ud83c\udf33"}`},
		{"edges of pairs", `"m":{"a":"\ud800\udc00\udbff\udfff","b":"\udc00\udc00","c":"\ud83cu\udf33","d":"\ud83c\n","e":"\ud83c\u0041"}`,
			`"m":{"a":"\ud800\udc00\udbff\udfff","b":"\ufffd\ufffd","c":"\ufffdu\ufffd","d":"\ufffd\n","e":"\ufffd\u0041"}`},
		{"empty metadata", `"metadata":{"name":"","labels":{},"finalizers":[],"creationTimestamp":null,"generation":0,"uid":null}`, `"metadata":{}`},
		{"null metadata", `"metadata":null`, `"metadata":{}`},
		{"nulls in metadata", `"metadata":{"labels":{"a":null},"finalizers":[null,"x"]}`, `"metadata":{"labels":{"a":""},"finalizers":["","x"]}`},
		{"owner references", `"metadata":{"ownerReferences":[null,{},{"kind":"K","controller":true,"q":1}]}`,
			`"metadata":{"ownerReferences":[{"apiVersion":"","kind":"","name":"","uid":""},{"apiVersion":"","kind":"","name":"","uid":""},{"apiVersion":"","kind":"K","name":"","uid":"","controller":true}]}`},
		{"times", `"metadata":{"creationTimestamp":"2020-01-01T00:00:00+02:00","deletionTimestamp":"2020-01-01T00:00:00.9Z"}`,
			`"metadata":{"creationTimestamp":"2019-12-31T22:00:00Z","deletionTimestamp":"2020-01-01T00:00:00Z"}`},
		{"generation", `"metadata":{"generation":1e3,"deletionGracePeriodSeconds":1.0}`, `"metadata":{"generation":1000,"deletionGracePeriodSeconds":1}`},
		{"managed fields", `"metadata":{"managedFields":[{"fieldsV1":{"f:a":{}},"time":null,"x":1},{"fieldsV1":null}]}`,
			`"metadata":{"managedFields":[{"fieldsV1":{"f:a":{}}},{}]}`},
		{"embedded", `"e":{"metadata":{"labels":{"a":null},"name":""},"metadata2":null},"l":[{"metadata":null},5]`,
			`"e":{"metadata":{"labels":{"a":""}},"metadata2":null},"l":[{"metadata":{}},5]`},
		{"HTML stays", `"metadata":{"annotations":{"a":"<&>"}}`, `"metadata":{"annotations":{"a":"<&>"}}`},
	} {
		out, err := d.AppendJSON([]byte("x"), []byte(`{"kind":"K",`+c.in+`}`))
		if assert.NoError(t, err, c.name) {
			assert.Equal(t, `x{"kind":"K",`+c.want+`}`, string(out), c.name)
		}
	}
}

func TestServerVerdicts(t *testing.T) {
	d := New(compileYAML(t, serverSchema), ServerRequests)
	for _, c := range []struct{ in, err string }{
		{`{}`, `1:1: Object 'Kind' is missing`},
		{` {"kind":""}`, `1:2: Object 'Kind' is missing`},
		{`{"Kind":"K"}`, `1:1: Object 'Kind' is missing`},
		{`{"kind":"K","apiVersion":"a/b/c"}`, `1:26: unexpected GroupVersion string: "a/b/c" in "apiVersion"`},
		{`{"kind":"\ud800`, `1:16: unexpected end of input within a string in "kind"`},
		{`{"kind":"\udc00`, `1:16: unexpected end of input within a string in "kind"`},
		{"{\"kind\":\"\xff", `1:11: unexpected end of input within a string in "kind"`},
		{"{\"kind\":\"\xff\",\xff}", `1:13: invalid character "\xff", where a name in double quotes is expected`},
		{`{"kind":"\u1`, `1:13: unexpected end of input within a string in "kind"`},
		{`{"kind":"\ud83c\udf`, `1:20: unexpected end of input within a string in "kind"`},
		{`{"kind":"\ud83c\udf33`, `1:22: unexpected end of input within a string in "kind"`},
		{`{"kind":null}`, `1:9: field "kind" must be a string, not null`},
		{`{"kind":"K","apiVersion":1}`, `1:26: field "apiVersion" must be a string, not a number`},
		{`{"kind":"K","metadata":{"labels":{"a":5}}}`, `1:39: field "metadata.labels.a" must be a string, not a number`},
		{`{"kind":"K","metadata":"x"}`, `1:24: field "metadata" must be an object, not a string`},
		{`{"kind":"K","metadata":{"generation":1.5}}`, `1:38: field "metadata.generation" must be an integer, not a number`},
		{`{"kind":"K","metadata":{"creationTimestamp":"x"}}`, `1:24: parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006" in "metadata"`},
		{`{"kind":"K","metadata":{"deletionTimestamp":"x","creationTimestamp":""}}`, `1:24: parsing time "" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "2006" in "metadata"`},
		{`{"kind":"K","l":[{},{"metadata":{"deletionTimestamp":"x"}}]}`, `1:33: parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006" in "l[1].metadata"`},
		{`{"kind":"K","e":{"kind":1}}`, `1:25: field "e.kind" must be a string, not a number`},
		{"{\"kind\":\"K\",\"x\":\"\xff\",}", `1:21: invalid character '}', where a name in double quotes is expected`},
	} {
		out, err := d.AppendJSON(nil, slices.Clip([]byte(c.in)))
		assert.EqualError(t, err, c.err, c.in)
		assert.Nil(t, out)
	}
	for _, fine := range []string{`{"kind":"K"}`, `{"a/b/c":1,"kind":"K"}`,
		`{"kind":"K","apiVersion":"/"}`, `{"apiVersion":"g/v1","kind":"No","\u006bind":"K"}`} {
		_, err := d.AppendJSON(nil, []byte(fine))
		assert.NoError(t, err, fine)
	}
	value := New(compileYAML(t, `{type: object}`, schema.ResourceRoot(false)), ServerRequests)
	_, err := value.AppendJSON(nil, []byte(`{}`))
	assert.NoError(t, err, "what is no resource has no kind")
}

func TestServerStorage(t *testing.T) {
	d := New(compileYAML(t, serverSchema), ServerStorage, Compact(true))
	for _, c := range []struct{ in, want string }{
		{`"metadata":{"labels":{"a":5,"b":"x"},"finalizers":"bad","name":"n","creationTimestamp":"x"}`, `"metadata":{"name":"n","generation":1}`},
		{`"metadata":{"generation":1.5}`, `"metadata":{"generation":1}`},
		{`"metadata":null`, `"metadata":{"generation":1}`},
		{`"e":{"kind":1,"apiVersion":"v1","x":[],"metadata":{"labels":[],"name":"n"}}`, `"e":{"apiVersion":"v1","x":[],"metadata":{"name":"n"}}`},
		{`"e":{"a":1,"kind":null}`, `"e":{"a":1}`},
	} {
		out, err := d.AppendJSON(nil, []byte(`{"kind":"K",`+c.in+`}`))
		if assert.NoError(t, err, c.in) {
			assert.Equal(t, `{"kind":"K",`+c.want+`}`, string(out), c.in)
		}
	}
	_, err := d.AppendJSON(nil, []byte(`{"kind":"K","metadata":"x"}`))
	assert.EqualError(t, err, `1:24: field "metadata" must be an object, not a string`)
	_, err = d.AppendJSON(nil, []byte(`{"kind":"K","apiVersion":1}`))
	assert.EqualError(t, err, `1:26: field "apiVersion" must be a string, not a number`, "at the root")
}

// TestStorageDefaultsRefused asserts that errors about defaults have no positions within the
// document, which does not contain them.
func TestStorageDefaultsRefused(t *testing.T) {
	embedded := "{type: object, x-kubernetes-embedded-resource: true, " +
		"x-kubernetes-preserve-unknown-fields: true, " +
		"default: {apiVersion: v1, kind: A, metadata: 1}}"
	p := compileYAML(t, "{type: object, additionalProperties: {type: object, properties: {a: "+
		embedded+", b: "+embedded+"}}}")
	for most, want := range map[int]string{
		2: `1:1: with defaults, field "m.a.metadata" must be an object, not a number, field "m.b.metadata" must be an object, not a number`,
		1: `1:1: with defaults, field "m.a.metadata" must be an object, not a number, 1 more`,
	} {
		_, err := New(p, ServerStorage, Limits{Findings: most}).AppendJSON(nil,
			[]byte(`{"kind":"K","m":{}}`))
		assert.EqualError(t, err, want)
	}
}

// TestServerConversions asserts that nothing is defaulted, that nulls go which have no default, and
// that the other rules are those of requests.
func TestServerConversions(t *testing.T) {
	d := New(compileYAML(t, `
type: object
properties:
  a: {type: string, default: x}
  b: {type: string}
  c: {type: string, nullable: true}
  e: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true,
    properties: {metadata: {type: object, properties: {name: {type: string, default: d}}}}}
`), ServerConversions, Compact(true))
	for _, c := range []struct{ in, want string }{
		{`"a":null,"b":null,"c":null,"z":1,"KIND":5`, `"a":null,"c":null`},
		{`"e":{"metadata":{"labels":{},"z":1}}`, `"e":{"metadata":{}}`},
		{`"metadata":{"name":"","generation":0}`, `"metadata":{}`},
	} {
		out, err := d.AppendJSON(nil, []byte(`{"kind":"K",`+c.in+`}`))
		if assert.NoError(t, err, c.in) {
			assert.Equal(t, `{"kind":"K",`+c.want+`}`, string(out), c.in)
		}
	}
	for _, in := range []string{`{}`, `{"kind":5}`, `{"kind":"K","metadata":{"labels":5}}`, `{"kind":"K","e":{"metadata":[]}}`} {
		_, err := d.AppendJSON(nil, []byte(in))
		assert.Error(t, err, in)
	}
}

// TestServerUnconverted asserts that an object is decoded once, and otherwise by the rules of ServerStorage.
func TestServerUnconverted(t *testing.T) {
	p := compileYAML(t, `
type: object
properties:
  a: {type: object, default: {b: null}, properties: {b: {type: string}}}
  e: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
`)
	for _, c := range []struct{ in, unconverted, stored string }{
		{`"a":{}`, `"a":{}`, `"a":{}`},
		{`"a":null`, `"a":{"b":null}`, `"a":{}`},
		{`"a":{},"e":{"metadata":{"deletionTimestamp":"0001-01-01T02:00:00+02:00","z":1}}`, `"a":{},"e":{"metadata":{"deletionTimestamp":null}}`, `"a":{},"e":{"metadata":{}}`},
		{`"a":{},"metadata":{"name":5,"creationTimestamp":"9999-12-31T23:59:59-12:00"}`, `"a":{},"metadata":{"generation":1,"creationTimestamp":"10000-01-01T11:59:59Z"}`, ""},
		{`"a":{},"metadata":{"name":5,"labels":{}},"z":1,"KIND":5`, `"a":{},"metadata":{"generation":1}`, `"a":{},"metadata":{"generation":1}`},
	} {
		for mode, want := range map[ServerMode]string{ServerUnconverted: c.unconverted, ServerStorage: c.stored} {
			out, err := New(p, mode, Compact(true)).AppendJSON(nil, []byte(`{"kind":"K",`+c.in+`}`))
			if want == "" {
				assert.ErrorContains(t, err, `parsing time "10000-01-01T11:59:59Z"`)
			} else if assert.NoError(t, err, c.in) {
				assert.Equal(t, `{"kind":"K",`+want+`}`, string(out), "%s, %s", mode, c.in)
			}
		}
	}
}

// TestNumbersOfDefaults has a default whose number the server writes differently, and no other such
// number.
func TestNumbersOfDefaults(t *testing.T) {
	d := New(compileYAML(t, `{"type":"object","properties":{"f":{"type":"number","default":1.0}}}`),
		ServerRequests)
	out, err := d.AppendJSON(nil, []byte(`{"kind":"K"}`))
	require.NoError(t, err)
	assert.Equal(t, `{"kind":"K","f":1}`, string(out))
	for _, container := range []string{`"type":"object","additionalProperties"`, `"type":"array","items"`} {
		d = New(compileYAML(t, `{"type":"object","properties":{"f":{`+container+`:{"type":"number","default":1.0}}}}`), ServerRequests)
		for in, want := range map[string]string{`{"a":null}`: `{"a":1}`, `[null]`: `[1]`} {
			if strings.Contains(container, "object") == strings.HasPrefix(in, "{") {
				out, err = d.AppendJSON(nil, []byte(`{"kind":"K","f":`+in+`}`))
				require.NoError(t, err)
				assert.Equal(t, `{"kind":"K","f":`+want+`}`, string(out))
			}
		}
	}
}

// TestStoredDefaults has defaults because of which the result is decoded again. They may be older
// than the check of defaults, or below additionalProperties.
func TestStoredDefaults(t *testing.T) {
	d := New(compileYAML(t, `
type: object
properties:
  f: {type: number}
  m:
    type: object
    additionalProperties:
      type: object
      properties:
        d: {type: object, default: {a: null, b: 1.5}, properties: {a: {type: string}, b: {type: number}}}
        e: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
`), ServerStorage, Compact(true))
	out, err := d.AppendJSON([]byte("x"), []byte(`{"kind":"K","f":-0.0,`+
		`"m":{"k":{"e":{"kind":5,"metadata":{"generation":1.5,"name":"n"}}}}}`))
	require.NoError(t, err)
	assert.Equal(t, `x{"kind":"K","f":-0,"m":{"k":{"e":{"metadata":{"name":"n"}},"d":{"b":1.5}}}}`,
		string(out))
}

// TestRepairedPositions has findings after bytes that were repaired.
func TestRepairedPositions(t *testing.T) {
	d := New(compileYAML(t, serverSchema), ServerRequests)
	const doc = "{\"kind\":\"K\",\n" + "\"m\":{\"\xff\":\"\\ud800\xfe\"}, \"x\":1,\n \"y\":2}"
	_, err := d.AppendJSON(nil, []byte(doc))
	require.NoError(t, err)
	for i, name := range []string{`"x"`, `"y"`} {
		assert.EqualValues(t, strings.Index(doc, name), d.Findings()[i].Position.Offset)
	}
	assert.Equal(t, []string{`2:22: unknown field "x"`, `3:2: unknown field "y"`},
		details(d.Findings()))
}

// TestNumbersAsSent asserts that values have the numbers of the server's decoder, which
// distinguishes 1.0 from 1 until it writes them.
func TestNumbersAsSent(t *testing.T) {
	p := compileYAML(t, serverSchema)
	const doc = `{"kind":"K","n":1.0,"m":{"a":1e3,"b":-0,"c":9223372036854775808,"d":7},"d":{}}`
	want := map[string]any{
		"kind": "K", "n": 1.0, "d": map[string]any{"f": int64(1000)}, // 1e3 in the schema, which is YAML, is an integer
		"m": map[string]any{"a": 1000.0, "b": int64(0), "c": 9223372036854775808.0, "d": int64(7)},
	}
	for name, option := range map[string]Option{"requests": ServerRequests, "storage": ServerStorage} {
		d := New(p, option, NumbersAsSent(true), Compact(true))
		var object map[string]any
		require.NoError(t, d.Unmarshal([]byte(doc), &object), name)
		assert.Equal(t, want, object, name)
		out, err := d.AppendJSON(nil, []byte(doc))
		require.NoError(t, err, name)
		assert.Equal(t, doc[:len(doc)-len(`{}}`)]+`{"f":1000}}`, string(out), name)
	}
	d := New(p, ServerRequests, NumbersAsSent(true))
	var whole struct {
		N int `json:"n"`
	}
	assert.Error(t, d.Unmarshal([]byte(`{"kind":"K","n":1.0}`), &whole), "as sigs.k8s.io/json")
}

func TestServerTypedRequests(t *testing.T) {
	p := compileYAML(t, serverSchema)
	d := New(p, ServerTypedRequests, Compact(true))
	out, err := d.AppendJSON(nil, []byte(`{"n":1.0,"x":1,"metadata":{"labels":{"a":null}}}`))
	require.NoError(t, err)
	assert.Equal(t, `{"n":1,"metadata":{"labels":{"a":""}}}`, string(out))
	_, err = d.AppendJSON(nil, []byte(`{"apiVersion":"a/b/c"}`))
	assert.ErrorContains(t, err, `unexpected GroupVersion string: "a/b/c"`)
}

// TestMetadataDefaults asserts that defaults within metadata are inserted after its round trip, and
// that names in it may be as long as on the server.
func TestMetadataDefaults(t *testing.T) {
	const embedded = `
type: object
properties:
  e: &e
    type: object
    x-kubernetes-embedded-resource: true
    x-kubernetes-preserve-unknown-fields: true
    properties:
      apiVersion: {type: string}
      kind: {type: string}
      metadata: {type: object, properties: {name: {type: string, default: given}}}
  f: *e
`
	d := New(compileYAML(t, embedded), ServerRequests)
	long := strings.Repeat("x", DefaultNameBytes+1)
	for in, want := range map[string]string{
		`{}`:                             `{"name":"given"}`,
		`{"name":null}`:                  `{"name":"given"}`,
		`{"name":"a"}`:                   `{"name":"a"}`,
		`{"name":""}`:                    `{"name":"given"}`,
		`{"labels":null}`:                `{"name":"given"}`,
		`{"labels":{"` + long + `":""}}`: `{"labels":{"` + long + `":""},"name":"given"}`,
	} {
		out, err := d.AppendJSON(nil, []byte(`{"kind":"K","e":{"apiVersion":"v1","kind":"E","metadata":`+
			in+`}}`))
		require.NoError(t, err, "%.50s", in)
		assert.Equal(t, `{"kind":"K","e":{"apiVersion":"v1","kind":"E","metadata":`+want+`}}`,
			string(out))
	}

	// They count like other defaults, over the whole document.
	d = New(compileYAML(t, embedded), ServerRequests, Limits{DefaultBytes: len(`"name":"given"`)})
	const one = `{"apiVersion":"v1","kind":"E","metadata":{}}`
	_, err := d.AppendJSON(nil, []byte(`{"kind":"K","u":1,"e":`+one+`}`))
	require.NoError(t, err)
	_, err = d.AppendJSON(nil, []byte(`{"kind":"K","u":1,"e":`+one+`,"f":`+one+`}`))
	require.EqualError(t, err,
		`1:113: size of inserted defaults in bytes exceeds the limit of 14 in "f.metadata"`)
	assert.Empty(t, d.Findings())

	// The other limits are for the document as it was sent, and for the result.
	d = New(compileYAML(t, embedded), ServerRequests, Limits{NumberBytes: 3, OutputBytes: 200})
	out, err := d.AppendJSON(nil, []byte(`{"kind":"K","e":{"apiVersion":"v1","kind":"E","metadata":{"generation":1e3}}}`))
	require.NoError(t, err)
	assert.Equal(t, `{"kind":"K","e":{"apiVersion":"v1","kind":"E","metadata":{"generation":1000,"name":"given"}}}`, string(out))
	_, err = d.AppendJSON(nil, []byte(`{"kind":"K","e":{"apiVersion":"v1","kind":"E","metadata":{"labels":{"a":"`+strings.Repeat("x", 300)+`"}}}}`))
	require.ErrorContains(t, err, "size of the result in bytes exceeds the limit of 200")
}

// TestDefaultsBeyondLimits has defaults in an object from storage that exceed a limit when the
// object is decoded again.
func TestDefaultsBeyondLimits(t *testing.T) {
	d := New(compileYAML(t, `
type: object
properties:
  t:
    type: object
    x-kubernetes-preserve-unknown-fields: true
    default: {"n": null, "a": [[[[]]]]}
`), ServerStorage, Limits{Depth: 4})
	_, err := d.AppendJSON(nil, []byte(`{"apiVersion":"v1","kind":"K","metadata":{"name":"n"}}`))
	require.ErrorContains(t, err, `1:1: with defaults, `)
	require.ErrorContains(t, err, `depth of nesting exceeds the limit of 4 in "t.a[0][0]"`)
}
