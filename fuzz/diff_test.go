package fuzz

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// The tables of this file have the intended differences from the API server, with the outcomes on
// both sides, so that a case fails when either changes. The notes on the server list its oddities
// (section 11). Two of them are not about decoding one document, and have no case: unknown fields
// that are declared later are stored (1), and server-side apply (8). The oddities of schemas (11 to
// 13) are in TestCopied, and those of YAML (5 to 7) in diff_yaml_test.go.

// pair returns a comparer for documents under a schema in YAML.
func pair(t *testing.T, openAPIV3Schema string, newComparer maker) *comparer {
	t.Helper()
	js, err := yaml.YAMLToJSON([]byte(openAPIV3Schema))
	require.NoError(t, err)
	s, err := schema.Parse(js)
	require.NoError(t, err)
	c, err := newComparer(s, js)
	require.NoError(t, err)
	return c
}

// outcome describes a decoder's answer for a document in one line: the result, or why there is
// none, and findings.
func outcome(result string, findings []string, more int, err error) string {
	if err != nil {
		return "refused: " + err.Error()
	}
	if len(result) > 5000 {
		result = fmt.Sprint(len(result), " bytes")
	}
	if len(findings) > 10 {
		findings = []string{fmt.Sprint(len(findings), " findings")}
	}
	if more > 0 {
		findings = append(findings, fmt.Sprint(more, " more"))
	}
	return strings.Join(append([]string{result}, findings...), "\n")
}

// theirs returns the outcome on the server.
func (c *comparer) theirs(doc string) string {
	a, err := c.serve([]byte(doc))
	if err != nil {
		return outcome("", nil, 0, err)
	}
	return outcome(plain(a.Object), a.Strict(), 0, nil)
}

// plain returns JSON with < and > unescaped.
func plain(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err.Error()
	}
	return strings.TrimSpace(b.String())
}

// ours returns the outcome of a decoder with the options and default limits.
func (c *comparer) ours(doc string, opts ...decoder.Option) string {
	d := decoder.New(c.program, opts...)
	out, err := (&comparer{decoder: d, yaml: c.yaml}).decode([]byte(doc))
	var texts []string
	findings := d.Findings()
	for i := range findings {
		texts = append(texts, findings[i].Error())
	}
	return outcome(string(out), texts, d.Omitted(), err)
}

// A difference is a case in which the outcomes differ.
type difference struct {
	why, schema, document string
	// theirs is the outcome on the server, ours that of a decoder with the defaults, and exact that
	// with decoder.ServerRequests, or "" if it equals the server's.
	theirs, ours, exact string
	// class is the class of the document by default, when generated pairs are compared.
	class class
}

func (c *difference) check(t *testing.T) {
	exact := pair(t, c.schema, newExactComparer)
	c.checkOutcomes(t, exact)
	named, what, detail := exact.compare([]byte(c.document))
	assert.NotEqual(t, differs, named, "%s\n%s\n%s", c.why, what, detail)
	if c.class == "" {
		c.class = same
	}
	byDefault, what, detail := pair(t, c.schema, newComparer).compare([]byte(c.document))
	assert.Equal(t, c.class, byDefault, "%s\n%s\n%s", c.why, what, detail)
}

func (c *difference) checkOutcomes(t *testing.T, exact *comparer) {
	assert.Equal(t, c.theirs, exact.theirs(c.document), "they: %s", c.why)
	assert.Equal(t, c.ours, exact.ours(c.document), "we: %s", c.why)
	if c.exact != "" {
		assert.Equal(t, c.exact, exact.ours(c.document, decoder.ServerRequests), "we, under ServerRequests: %s", c.why)
	} else {
		k, what, detail := exact.compare([]byte(c.document))
		assert.True(t, k == same || k == bothRefuse, "%s: %s\n%s\n%s", k, c.why, what, detail)
	}
}

const (
	anything = "{type: object, x-kubernetes-preserve-unknown-fields: true}"
	nothing  = "{type: object}"
	// resources is a map of embedded resources, and resource is one of them.
	resources = "{type: object, properties: {m: {type: object, additionalProperties: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}}}}"
	resource  = "{type: object, properties: {e: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}}}"
)

// many returns n members, separated by commas.
func many(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ","+format, i)
	}
	return b.String()[1:]
}

// TestHardened has documents that the default refuses or keeps, and the server does not.
// decoder.ServerRequests follows the server.
func TestHardened(t *testing.T) {
	// declared is a schema with an embedded resource e whose metadata is declared.
	declared := func(metadata string) string {
		return "{type: object, properties: {e: {type: object, x-kubernetes-embedded-resource: true, properties: {metadata: {type: object, properties: {" + metadata + "}}}}}}"
	}
	for _, c := range []difference{
		{why: "The server mangles what is not UTF-8, so that two names can become one: refused.",
			schema: anything, document: "{\"kind\":\"A\",\"a\xff\":1,\"a\xfe\":2}",
			theirs: "{\"a\ufffd\":2,\"kind\":\"A\"}\nduplicate field \"a\ufffd\"",
			ours:   `refused: 1:15: invalid UTF-8 in a string: "\xff" in "a"`,
			class:  hardenedUTF8},
		{why: "The same for half of a surrogate pair.",
			schema: anything, document: `{"kind":"A","a":"\ud800"}`,
			theirs: "{\"a\":\"\ufffd\",\"kind\":\"A\"}",
			ours:   `refused: 1:18: invalid escape "\\ud800" in a string: four hexadecimal digits that are not half of a surrogate pair are expected in "a"`,
			class:  hardenedUTF8},
		{why: "Numbers keep their text. The server writes them anew.",
			schema: anything, document: `{"kind":"A","a":[1e3,1.0,-0,9223372036854775808,1e-400]}`,
			theirs: `{"a":[1000,1,0,9223372036854776000,0],"kind":"A"}`,
			ours:   `{"kind":"A","a":[1e3,1.0,-0,9223372036854775808,1e-400]}`},
		{why: "A number has at most 1000 digits.",
			schema: anything, document: `{"kind":"A","a":0.` + strings.Repeat("0", 1000) + `1}`,
			theirs: `{"a":0,"kind":"A"}`,
			ours:   `refused: 1:17: length of a number in bytes exceeds the limit of 1000 in "a"`},
		{why: "Metadata is kept as it was sent, but for what is unknown. The server leaves out what is empty, and writes times in UTC and seconds.",
			schema: nothing, document: `{"kind":"A","metadata":{"name":"","labels":{"a":null},"uid":null,"creationTimestamp":"2026-01-02T03:04:05.6+02:00"}}`,
			theirs: `{"kind":"A","metadata":{"creationTimestamp":"2026-01-02T01:04:05Z","labels":{"a":""}}}`,
			ours:   `{"kind":"A","metadata":{"name":"","labels":{"a":null},"uid":null,"creationTimestamp":"2026-01-02T03:04:05.6+02:00"}}`},
		{why: "Times are not read.",
			schema: nothing, document: `{"kind":"A","metadata":{"creationTimestamp":"x"}}`,
			theirs: `refused: root metadata: parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"`,
			ours:   `{"kind":"A","metadata":{"creationTimestamp":"x"}}`,
			class:  metaTime},
		{why: "The server leaves empty members out of metadata before it inserts defaults. Here they are kept, and are not absent.",
			schema: declared("generation: {type: integer, default: 3}"), document: `{"kind":"A","e":{"metadata":{"generation":0}}}`,
			theirs: `{"e":{"metadata":{"generation":3}},"kind":"A"}`,
			ours:   `{"kind":"A","e":{"metadata":{"generation":0}}}`,
			class:  metaDefaults},
		{why: "A decoder that was given a schema does not ask for what kind.",
			schema: nothing, document: `{"apiVersion":"a/b/c"}`,
			theirs: `refused: sniff: unexpected GroupVersion string: a/b/c`,
			ours:   `{"apiVersion":"a/b/c"}`},
		{why: "The server reads kind and apiVersion first with encoding/json (11.4), which takes KIND for kind. A hardened decoder knows one spelling.",
			schema: nothing, document: `{"kind":"A","KIND":5}`,
			theirs: `refused: sniff: couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string`,
			ours:   "{\"kind\":\"A\"}\nunknown field \"KIND\"",
			class:  sniffCase},
		{why: "The last one counts, whatever its case, and is only looked at for whether it can be read.",
			schema: nothing, document: `{"kind":"A","apiVersion":"v1","APIVERSION":"a/b/c"}`,
			theirs: `refused: sniff: unexpected GroupVersion string: a/b/c`,
			ours:   "{\"kind\":\"A\",\"apiVersion\":\"v1\"}\nunknown field \"APIVERSION\""},
		{why: "That reader also sees values that a later one replaces. A hardened decoder looks at the last one, which wins.",
			schema: nothing, document: `{"kind":5,"kind":"A"}`,
			theirs: `refused: sniff: couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string`,
			ours:   "{\"kind\":\"A\"}\nduplicate field \"kind\"",
			class:  sniffLoser},
		{why: "Keys of maps have one spelling in paths, that of pruning. The server has another one on the way to embedded metadata. It sorts by that, and so do we.",
			schema: resources, document: `{"kind":"A","m":{"k":{"metadata":{"x":1}},"k1":{"metadata":{"x":1}},"j":1},"x":1}`,
			theirs: `{"kind":"A","m":{"j":1,"k":{"metadata":{}},"k1":{"metadata":{}}}}` + "\n" +
				`unknown field "x"` + "\n" + `unknown field "m[k1].metadata.x"` + "\n" + `unknown field "m[k].metadata.x"`,
			ours: `{"kind":"A","m":{"k":{"metadata":{}},"k1":{"metadata":{}},"j":1}}` + "\n" +
				`unknown field "x"` + "\n" + `unknown field "m.k1.metadata.x"` + "\n" + `unknown field "m.k.metadata.x"`},
	} {
		t.Run(c.why, c.check)
	}
}

// TestAlways has differences that remain under decoder.ServerRequests.
func TestAlways(t *testing.T) {
	for _, c := range []difference{
		{why: "Names stand in messages as they are (11.9), so that one can forge a line or another field. Here they are quoted.",
			schema: nothing, document: `{"kind":"A","a\nb":1,"c\", unknown field \"d":1,"":1,"\u202e":1}`,
			theirs: "{\"kind\":\"A\"}\nunknown field \"\"\nunknown field \"a\nb\"\nunknown field \"c\", unknown field \"d\"\nunknown field \"\u202e\"",
			ours:   "{\"kind\":\"A\"}\nunknown field \"[\"\"]\"\nunknown field \"[\"a\\nb\"]\"\nunknown field \"[\"c\\\", unknown field \\\"d\"]\"\nunknown field \"[\"\\u202e\"]\"",
			exact:  "{\"kind\":\"A\"}\nunknown field \"[\"\"]\"\nunknown field \"[\"a\\nb\"]\"\nunknown field \"[\"c\\\", unknown field \\\"d\"]\"\nunknown field \"[\"\\u202e\"]\""},
		{why: "Unknown fields are reported without limit (11.10). Here findings are limited to 100, and counted beyond that.",
			schema: nothing, document: `{"kind":"A",` + many(`"f%03[1]d":1`, 150) + `}`,
			theirs: "{\"kind\":\"A\"}\n150 findings",
			ours:   "{\"kind\":\"A\"}\n100 findings\n50 more",
			exact:  "{\"kind\":\"A\"}\n100 findings\n50 more"},
		{why: "Duplicates are reported up to 100, and then nobody knows how many there are.",
			schema: nothing, document: `{"kind":"A","kind":"A","metadata":{"annotations":{` + many(`"f%03[1]d":"","f%03[1]d":""`, 150) + `}}}`,
			theirs: `{"kind":"A","metadata":{"annotations":{` + many(`"f%03[1]d":""`, 150) + "}}}\n100 findings",
			ours:   `{"kind":"A","metadata":{"annotations":{` + many(`"f%03[1]d":""`, 150) + "}}}\n100 findings\n51 more",
			exact:  `{"kind":"A","metadata":{"annotations":{` + many(`"f%03[1]d":""`, 150) + "}}}\n100 findings\n51 more"},
		{why: "The server reports each path of a duplicate once, and its paths are ambiguous (11.9). A path that stands for two places is no reason to leave one out.",
			schema: anything, document: `{"kind":"A","a":{"b":1,"b":2},"a.b":3,"a.b":4}`,
			theirs: "{\"a\":{\"b\":2},\"a.b\":4,\"kind\":\"A\"}\nduplicate field \"a.b\"",
			ours:   "{\"kind\":\"A\",\"a\":{\"b\":2},\"a.b\":4}\nduplicate field \"a.b\"\nduplicate field \"a.b\"",
			exact:  "{\"kind\":\"A\",\"a\":{\"b\":2},\"a.b\":4}\nduplicate field \"a.b\"\nduplicate field \"a.b\""},
		{why: "With an embedded resource for its root the server reports root metadata twice.",
			schema: "{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}", document: `{"kind":"A","metadata":{"junk":1}}`,
			theirs: "{\"kind\":\"A\",\"metadata\":{}}\nunknown field \"metadata.junk\"\nunknown field \"metadata.junk\"",
			ours:   "{\"kind\":\"A\",\"metadata\":{}}\nunknown field \"metadata.junk\"",
			exact:  "{\"kind\":\"A\",\"metadata\":{}}\nunknown field \"metadata.junk\""},
	} {
		t.Run(c.why, c.check)
	}
}

// TestFaultTexts has the errors of both sides for a document. Both refuse it and, if there is only
// one reason, for the same reason. The words are our own, and have a position.
func TestFaultTexts(t *testing.T) {
	for _, c := range []difference{
		{why: "The server repeats the document.",
			schema: nothing, document: `{"secret":1}`,
			theirs: `refused: kind: Object 'Kind' is missing in '{"secret":1}'`,
			ours:   "{}\nunknown field \"secret\"", class: same,
			exact: `refused: 1:1: Object 'Kind' is missing`},
		{why: "Of null it misses the kind. It is no object.",
			schema: nothing, document: `null`,
			theirs: `refused: kind: Object 'Kind' is missing in 'null'`,
			ours:   `refused: 1:1: the document must be an object, not null`,
			exact:  `refused: 1:1: the document must be an object, not null`},
		{why: "It looks at one thing after the other. Here all that is of a wrong type is named at once, and before what is missing.",
			schema: resources, document: `{"metadata":{"labels":{"a":5,"b":true},"finalizers":1},"m":{"k":{"kind":1}}}`,
			theirs: `refused: kind: Object 'Kind' is missing in '{"metadata":{"labels":{"a":5,"b":true},"finalizers":1},"m":{"k":{"kind":1}}}'`,
			ours:   `refused: 1:28: field "metadata.labels.a" must be a string, not a number, 1:34: field "metadata.labels.b" must be a string, not a boolean, 1:53: field "metadata.finalizers" must be an array, not a number, 1:73: field "m.k.kind" must be a string, not a number`,
			exact:  `refused: 1:28: field "metadata.labels.a" must be a string, not a number, 1:34: field "metadata.labels.b" must be a string, not a boolean, 1:53: field "metadata.finalizers" must be an array, not a number, 1:73: field "m.k.kind" must be a string, not a number`},
		{why: "In metadata it names the first of a walk with sorted names, and not what in it.",
			schema: nothing, document: `{"kind":"A","metadata":{"labels":{"a":5},"annotations":{"b":true}}}`,
			theirs: `refused: root metadata: json: cannot unmarshal bool into Go struct field ObjectMeta.annotations of type string`,
			ours:   `refused: 1:39: field "metadata.labels.a" must be a string, not a number, 1:61: field "metadata.annotations.b" must be a string, not a boolean`},
		{why: "Its decoder stops at what is no time.",
			schema: nothing, document: `{"kind":"A","metadata":{"creationTimestamp":"x","annotations":1}}`,
			theirs: `refused: root metadata: parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"`,
			ours:   `refused: 1:63: field "metadata.annotations" must be an object, not a number`},
		{why: "A number beyond float64 is refused at its place; the server first finds a later syntax error.",
			schema: nothing, document: `{"kind":"A","a":1e400,}`,
			theirs: `refused: sniff: couldn't get version/kind; json parse error: invalid character '}' looking for beginning of object key string`,
			ours:   `refused: 1:17: number "1e400" is beyond the range of float64 in "a"`},
		{why: "An escape that is none is shown from its start.",
			schema: nothing, document: `{"kind":"\u00x0"}`,
			theirs: `refused: sniff: couldn't get version/kind; json parse error: invalid character 'x' in \u hexadecimal character escape`,
			ours:   `refused: 1:10: invalid escape "\\u00x0" in a string: four hexadecimal digits that are not half of a surrogate pair are expected in "kind"`},
		{why: "A null where it wants a text is no error to its first reader.",
			schema: nothing, document: `{"kind":"A","apiVersion":null}`,
			theirs: `refused: type meta: .apiVersion accessor error: <nil> is of the type <nil>, expected string`,
			ours:   `refused: 1:26: field "apiVersion" must be a string, not null`},
	} {
		t.Run(c.why, func(t *testing.T) {
			if c.class == "" {
				c.class = bothRefuse
			}
			c.check(t)
		})
	}
}

// TestOneOfMany asserts that of several faulty embedded resources the server names a random one
// (11.16), and we name all.
func TestOneOfMany(t *testing.T) {
	const doc = `{"kind":"A","m":{"a":{"kind":1},"b":{"apiVersion":2},"c":{"metadata":3}}}`
	c := pair(t, resources, newExactComparer)
	named := make(map[string]bool)
	for range 1000 {
		_, err := c.server.Decode([]byte(doc))
		named[err.Error()] = true
	}
	assert.Len(t, named, 3, "%v", named)
	_, err := c.decoder.AppendJSON(nil, []byte(doc))
	assert.EqualError(t, err, `1:30: field "m.a.kind" must be a string, not a number, 1:51: field "m.b.apiVersion" must be a string, not a number, 1:70: field "m.c.metadata" must be an object, not a number`)
}

// TestDroppedNulls asserts that the server drops nulls silently (11.14), and so do we unless asked.
func TestDroppedNulls(t *testing.T) {
	c := pair(t, "{type: object, properties: {a: {type: string}, b: {type: string, default: B}, c: {type: string, nullable: true}}}", newExactComparer)
	const doc = `{"kind":"A","a":null,"b":null,"c":null}`
	assert.Equal(t, `{"b":"B","c":null,"kind":"A"}`, c.theirs(doc))
	const want = `{"kind":"A","b":"B","c":null}`
	assert.Equal(t, want, c.ours(doc, decoder.ServerRequests))
	assert.Equal(t, want+"\n"+`dropped null field "a"`, c.ours(doc, decoder.ServerRequests, decoder.ReportDroppedNulls(true)))
}

// TestStorageDifferences has differences for stored objects.
func TestStorageDifferences(t *testing.T) {
	c := pair(t, nothing, newStorageComparer)
	_, err := c.server.DecodeStored([]byte(`{"kind":"A"}`))
	var fault *StageError
	require.ErrorAs(t, err, &fault)
	assert.Equal(t, Panic, fault.Stage, "it looks at the generation of what is not there")
	out, err := c.decoder.AppendJSON(nil, []byte(`{"kind":"A"}`))
	assert.NoError(t, err)
	assert.Equal(t, `{"kind":"A"}`, string(out))
	k, _, _ := c.compare([]byte(`{"kind":"A"}`))
	assert.Equal(t, serverPanics, k)

	// The server decodes metadata of a stored object twice.
	for doc, want := range map[string]string{
		`{"kind":"A","metadata":{"deletionTimestamp":"0001-01-01T00:00:00Z"}}`:      `{"kind":"A","metadata":{"generation":1}}`,
		`{"kind":"A","metadata":{"creationTimestamp":"9999-12-31T23:59:59-12:00"}}`: `refused: root metadata: parsing time "10000-01-01T11:59:59Z" as "2006-01-02T15:04:05Z07:00": cannot parse "0-01-01T11:59:59Z" as "-"`,
	} {
		assert.Equal(t, want, c.theirs(doc))
		k, _, detail := c.compare([]byte(doc))
		assert.NotEqual(t, differs, k, detail)
		out, err := c.decoder.AppendJSON(nil, []byte(doc))
		if _, why, refused := strings.Cut(want, "root metadata: "); refused {
			assert.ErrorContains(t, err, why)
		} else {
			require.NoError(t, err)
			assert.Equal(t, want, string(out))
		}
	}
}

// TestCopied has oddities of the server that we follow.
func TestCopied(t *testing.T) {
	for _, c := range []struct{ why, schema, document, want string }{
		{"An object in the place of a scalar or an array is emptied (11.15).",
			"{type: object, properties: {a: {type: integer}, b: {type: array, items: {type: object, properties: {x: {type: integer}}}}}}",
			`{"kind":"A","a":{"x":1},"b":{"x":1}}`, "{\"kind\":\"A\",\"a\":{},\"b\":{}}\nunknown field \"a.x\"\nunknown field \"b.x\""},
		{"Two paths can be spelled alike (11.9).",
			"{type: object, properties: {a: {type: object}}}",
			`{"kind":"A","a":{"b":1},"a.b":2}`, "{\"kind\":\"A\",\"a\":{}}\nunknown field \"a.b\"\nunknown field \"a.b\""},
		{"What value validations name below the root need not be declared (11.11).",
			"{type: object, properties: {a: {type: object, anyOf: [{properties: {x: {minimum: 1}}}]}}}",
			`{"kind":"A","a":{"x":1}}`, "{\"kind\":\"A\",\"a\":{}}\nunknown field \"a.x\""},
		{"Defaults below additionalProperties are not checked (11.12).",
			"{type: object, properties: {m: {type: object, additionalProperties: {type: object, properties: {v: {type: integer, default: x}}}}}}",
			`{"kind":"A","m":{"k":{}}}`, `{"kind":"A","m":{"k":{"v":"x"}}}`},
		{"The types that anyOf may give where there is x-kubernetes-int-or-string, it may give without (11.13).",
			"{type: object, properties: {a: {type: integer, anyOf: [{type: integer}, {type: string}]}}}",
			`{"kind":"A","a":"x"}`, `{"kind":"A","a":"x"}`},
	} {
		t.Run(c.why, func(t *testing.T) {
			for _, newComparer := range []maker{newComparer, newExactComparer} {
				p := pair(t, c.schema, newComparer)
				k, what, detail := p.compare([]byte(c.document))
				assert.Equal(t, same, k, "%s\n%s", what, detail)
				assert.Equal(t, c.want, p.ours(c.document))
				assert.NoError(t, validation.Structural(p.schema))
				assert.Empty(t, serverErrors(t, marshal(p.schema)))
			}
		})
	}
}

// TestPointers asserts that pointers differ if paths are spelled alike.
func TestPointers(t *testing.T) {
	d := decoder.New(pair(t, nothing, newComparer).program)
	_, err := d.AppendJSON(nil, []byte(`{"a.b":1,"a":{"b":1,"b":1}}`))
	require.NoError(t, err)
	pointers := make(map[string]ferrors.FindingKind)
	for _, f := range d.Findings() {
		pointers[f.Path.Pointer()] = f.Kind
	}
	assert.Equal(t, map[string]ferrors.FindingKind{"/a.b": ferrors.UnknownField, "/a": ferrors.UnknownField, "/a/b": ferrors.DuplicateField}, pointers)
}
