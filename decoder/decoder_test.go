package decoder

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// testSchema has one example of everything that the walker treats in its own way.
const testSchema = `
type: object
properties:
  apiVersion: {type: string}
  kind: {type: string}
  metadata: {type: object}
  "n": {type: integer}
  s: {type: string, default: dflt}
  longer-than-sixteen-bytes: {type: string}
  "é\"\\": {type: string}
  nul: {type: string, nullable: true}
  drop: {type: string}
  obj:
    type: object
    default: {b: 2}
    properties:
      a: {type: string, default: abc}
      b: {type: integer}
      deep: {type: object, properties: {x: {type: object, properties: {y: {type: integer}}}}}
  list:
    type: array
    items:
      type: object
      properties:
        name: {type: string}
        d: {type: boolean, default: true}
  nulls: {type: array, items: {type: string, default: Z}}
  map: {type: object, additionalProperties: {type: string}}
  objs: {type: object, additionalProperties: {type: object, properties: {x: {type: integer, default: 1}}}}
  raw: {type: object, x-kubernetes-preserve-unknown-fields: true}
  half:
    type: object
    x-kubernetes-preserve-unknown-fields: true
    properties: {known: {type: object, properties: {k: {type: string}}}}
  emb: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
`

func compileYAML(t testing.TB, text string, opts ...schema.Option) *schema.Program {
	t.Helper()
	s, err := schema.Parse([]byte(text))
	require.NoError(t, err)
	p, err := schema.Compile(s, opts...)
	require.NoError(t, err)
	return p
}

func details(l ferrors.List) []string {
	var texts []string
	for i := range l {
		texts = append(texts, l[i].Detail())
	}
	return texts
}

const docWithAll = `{
  "apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "x", "evil": {"a": 1}, "labels": {"a": "b"}},
  "n": 1, "unknown": {"deep": [1, 2, {"x": "y"}]}, "obj": {"a": "z", "deep": {"x": {"y": 1}}},
  "list": [{"name": "a"}, {"name": "b", "d": false, "u": 1}], "nulls": [null, "b"],
  "map": {"k1": "v1", "k2": "v2", "k3": null}, "raw": {"any": {"thing": [true]}}, "longer-than-sixteen-bytes": "\\u0041 long enough"
}`

func TestNoAllocations(t *testing.T) {
	p := compileYAML(t, testSchema)
	mostlyUnknown := []byte(`{"n":1,"zz":[` +
		strings.Repeat(`{"a":{"b":"c\\n","d":[1,2.5,null,true]},"e":"f"},`, 200) + `{}]}`)
	yaml := compileYAML(t, benchSchema)
	var wide strings.Builder // with more findings than the limits allow
	for i := range 150 {
		fmt.Fprintf(&wide, `,"u%d":{"x":1,"y":2,"x":3},"u%d":%d`, i, i, i)
	}
	repeated := []byte(`{"n":1` + wide.String() + `,"n":2}`)
	for _, v := range []FieldValidation{Ignore, Warn, Strict} {
		for _, doc := range [][]byte{[]byte(docWithAll), mostlyUnknown,
			[]byte(benchDocument(20_000, false)), repeated} {
			for _, p := range []*schema.Program{p, yaml} {
				d := New(p, v)
				dst, err := d.AppendJSON(nil, doc)
				var strict *ferrors.StrictError
				require.Equal(t, v == Strict && len(d.Findings()) > 0, errors.As(err, &strict), "%v", err)
				assert.Zero(t, testing.AllocsPerRun(50, func() { dst, _ = d.AppendJSON(dst[:0], doc) }),
					"%v %.60s", v, doc)
				dst, yamlErr := d.AppendYAML(dst[:0], doc)
				require.Equal(t, err == nil, yamlErr == nil, "%v", yamlErr)
				assert.Zero(t, testing.AllocsPerRun(50, func() { dst, _ = d.AppendYAML(dst[:0], doc) }),
					"%v as YAML %.60s", v, doc)
			}
		}
	}
}

// TestNoAllocationsInEmbeddedMetadata asserts that sorting findings there, which needs the program,
// allocates nothing.
func TestNoAllocationsInEmbeddedMetadata(t *testing.T) {
	d := New(compileYAML(t, `
type: object
properties:
  m:
    type: object
    additionalProperties:
      type: object
      x-kubernetes-embedded-resource: true
      x-kubernetes-preserve-unknown-fields: true
`))
	doc := []byte(`{"m":{"` + strings.Repeat("k", 100) + `":{"metadata":{"unknown":1,"name":"n"}}}}`)
	var dst []byte
	decode := func() { dst, _ = d.AppendJSON(dst[:0], doc) }
	decode()
	require.Len(t, d.Findings(), 1)
	assert.Zero(t, testing.AllocsPerRun(50, decode))
}

func TestResultDoesNotAlias(t *testing.T) {
	d := New(compileYAML(t, testSchema))
	src := []byte(docWithAll)
	out, err := d.AppendJSON(nil, src)
	require.NoError(t, err)
	findings := details(d.Findings())
	require.NotEmpty(t, findings)
	want := string(out)
	clear(src)
	assert.Equal(t, want, string(out))
	assert.Equal(t, findings, details(d.Findings()))

	// Changing one result does not change the next one.
	src = []byte(docWithAll)
	clear(out)
	again, err := d.AppendJSON(nil, src)
	require.NoError(t, err)
	assert.Equal(t, want, string(again))
	assert.Equal(t, docWithAll, string(src), "the document must not be changed")
}

func TestAppendKeepsWhatIsThere(t *testing.T) {
	d := New(compileYAML(t, testSchema))
	dst := append(make([]byte, 0, 100), "before"...)
	out, err := d.AppendJSON(dst, []byte(`{"n":1,"n":2}`))
	require.NoError(t, err)
	assert.Equal(t, `before{"n":2,"obj":{"b":2,"a":"abc"},"s":"dflt"}`, string(out))
	for _, bad := range []string{`{"n":1,"n":2,}`, `{"kind":1}`, `[`} {
		out, err = d.AppendJSON(dst, []byte(bad))
		require.Error(t, err)
		assert.Equal(t, "before", string(out))
	}
}

func TestStrictReturnsBoth(t *testing.T) {
	d := New(compileYAML(t, testSchema), Strict)
	out, err := d.AppendJSON(nil, []byte(`{"s":"a","x":1,"s":"b"}`))
	assert.Equal(t, `{"s":"b","obj":{"b":2,"a":"abc"}}`, string(out))
	var strict *ferrors.StrictError
	require.ErrorAs(t, err, &strict)
	assert.Equal(t, `strict decoding error: duplicate field "s", unknown field "x"`, err.Error())
	var finding *ferrors.Finding
	require.ErrorAs(t, err, &finding)
	assert.Equal(t, ferrors.DuplicateField, finding.Kind)
	assert.Equal(t, ferrors.Position{Offset: 15, Line: 1, Column: 16, ByteColumn: 16},
		finding.Position)
	assert.Equal(t, ferrors.Position{Offset: 1, Line: 1, Column: 2, ByteColumn: 2}, finding.First)

	// The error keeps its findings when the decoder is used again.
	_, err = d.AppendJSON(nil, []byte(`{"other":1}`))
	require.Error(t, err)
	assert.Equal(t, "s", strict.Findings()[0].Path.String())
}

func TestIgnoreFindsNothing(t *testing.T) {
	d := New(compileYAML(t, testSchema), Ignore)
	out, err := d.AppendJSON(nil, []byte(`{"s":"a","x":{"y":1,"y":2},"s":"b"}`))
	require.NoError(t, err)
	assert.Equal(t, `{"s":"b","obj":{"b":2,"a":"abc"}}`, string(out))
	assert.Empty(t, d.Findings())
}

func TestCompact(t *testing.T) {
	d := New(compileYAML(t, testSchema), Compact(true))
	doc := "{ \"s\" :\t\"a \\\\\\\" b\\\\\" ,\r\n \"map\": { \"k\" : \"\" } , " +
		"\"nulls\":[ \"x y\" , \"\\\\\" ]}"
	out, err := d.AppendJSON([]byte(" "), []byte(doc))
	require.NoError(t, err)
	assert.Equal(t, ` {"s":"a \\\" b\\","map":{"k":""},"nulls":["x y","\\"],"obj":{"b":2,"a":"abc"}}`,
		string(out))
	streamed, err := io.ReadAll(d.NewReader(strings.NewReader(doc)))
	require.NoError(t, err)
	assert.Equal(t, string(out[1:]), string(streamed))
}

func TestReportDroppedNulls(t *testing.T) {
	d := New(compileYAML(t, testSchema), ReportDroppedNulls(true), Strict)
	out, err := d.AppendJSON(nil, []byte(`{"drop":null,"nul":null,"s":null,"map":{"a":null}}`))
	require.NoError(t, err, "a dropped null is no reason to fail")
	assert.Equal(t, `{"nul":null,"s":"dflt","map":{},"obj":{"b":2,"a":"abc"}}`, string(out))
	assert.Equal(t, []string{`1:9: dropped null field "drop"`, `1:45: dropped null field "map.a"`},
		details(d.Findings()))
}

func TestPositions(t *testing.T) {
	// There is one unknown field on each line, after line breaks of all kinds.
	src := "{\n\"a\":1,\r\n \"b\":2,\r\"s\":\"日本🌳\",\"c\":3,\n\r\"d\":4\r\n}"
	d := New(compileYAML(t, testSchema))
	_, err := d.AppendJSON(nil, []byte(src))
	require.NoError(t, err)
	var got []ferrors.Position
	for _, f := range d.Findings() {
		got = append(got, f.Position)
	}
	assert.Equal(t, []ferrors.Position{
		{Offset: 2, Line: 2, Column: 1, ByteColumn: 1},
		{Offset: 11, Line: 3, Column: 2, ByteColumn: 2},
		{Offset: 35, Line: 4, Column: 11, ByteColumn: 18},
		{Offset: 43, Line: 6, Column: 1, ByteColumn: 1},
	}, got)
}
