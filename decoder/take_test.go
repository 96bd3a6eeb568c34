package decoder_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	kjson "sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

const takenSchema = `
type: object
properties:
  "n": {type: integer, default: 7}
  s: {type: string, default: dflt}
  obj: {type: object, default: {}, properties: {flag: {type: boolean, default: true}, text: {type: string, default: "a\"b\u00e9"}}}
  list: {type: array, items: {type: object, properties: {name: {type: string}, port: {type: number, default: 80.5}, more: {type: array, default: [1, {a: b}], items: {x-kubernetes-preserve-unknown-fields: true}}}}}
  map: {type: object, additionalProperties: {type: string}}
  nullable: {type: string, nullable: true, default: x}
  raw: {x-kubernetes-preserve-unknown-fields: true}
  longer-than-sixteen-bytes: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {own: {type: string, default: y}}}
`

// requireSame decodes a document to a map and to bytes, and compares results, errors and findings.
// It reports whether the document was walked for the map.
func requireSame(t *testing.T, p *schema.Program, warm, doc []byte) (walked bool) {
	t.Helper()
	var wantValue, gotValue map[string]any
	want := decoder.New(p, decoder.Strict)
	out, wantErr := want.AppendJSON(nil, doc)
	if out != nil {
		if err := kjson.UnmarshalCaseSensitivePreserveInts(out, &wantValue); err != nil {
			require.NotContains(t, "{n", string(strings.TrimSpace(string(out))[0])) // no map
			return false
		}
	}
	got := decoder.New(p, decoder.Strict)
	if warm != nil {
		_ = got.Unmarshal(warm, &gotValue)
	}
	gotValue = nil
	before := decoder.WalksLeft(got)
	gotErr := got.Unmarshal(doc, &gotValue)
	if wantErr == nil {
		require.NoError(t, gotErr, "%q", doc)
	} else {
		require.EqualError(t, gotErr, wantErr.Error(), "%q", doc)
	}
	require.Equal(t, wantValue, gotValue, "%q", doc)
	require.Equal(t, details(want.Findings()), details(got.Findings()), "%q", doc)
	return before > 0 || decoder.WalksLeft(got) > 0
}

// takenDocuments are taken without a walk.
var takenDocuments = []string{
	`{}`,
	"\t{ \"s\" : \"x\" ,\r\n \"n\" : 1 } \n",
	`{"apiVersion":"v1","kind":"X","metadata":{"name":"a","labels":{"a":"b","c":""},"generation":3},"n":12345678,"s":"\u00e9\n"}`,
	`{"map":{"a":"b","\u0063":"d","é":""},"nullable":"z","obj":{"flag":false},"raw":[0,-0,1.5,-2e3,true,false,"",[],{}]}`,
	`{"list":[{"name":"a"},{"port":1,"name":"b","more":[]},{}],"longer-than-sixteen-bytes":{"other":{"own":1}},"n":0}`,
	`{"s":"` + strings.Repeat("long", 400) + `","raw":"` + strings.Repeat(`\n`, 700) + `"}`,
}

// walkedDocuments are walked, as they may be changed, reported or refused.
var walkedDocuments = []string{
	``, `null`, `[]`, `"x"`, `{}{}`, `{"s":null}`, `{"raw":null}`, `{"raw":[null]}`, `{"raw":{"a":{},"a":{}}}`, `{"x":1}`,
	`{"n":1,"n":2}`, `{"n":1,"\u006e":2}`, `{"map":{"a":"b","a":"c"}}`, `{"map":{"a":"b","\u0061":"c"}}`,
	`{"raw":01}`, `{"raw":-00}`, `{"raw":-01.5}`, `{"raw":000000000}`, `{"raw":1.}`, `{"raw":1e999}`, `{"raw":-}`, `{"raw":tru}`, `{"raw":"a":1}`, `{"raw":["a":1]}`, `{"s"}`, `{"map":{"a"}}`, `{"map":{"a","b":"c"}}`,
	`{"raw":"\ud800"}`, "{\"raw\":\"\xff\"}", "{\"raw\":\"\x00\"}", "{\"raw\":1\x00}", `{"raw":[1}`, `{"raw":{"a":1]}`, `{"raw":[1,]}`, `{"s":"x",}`, `{,}`, `{"s" "x"}`,
	`{"metadata":{"name":1}}`, `{"metadata":[]}`, `{"metadata":{"labels":{"a":1}}}`,
	`{"raw":` + strings.Repeat("1", 301) + `}`,
	`{"raw":` + strings.Repeat("[", 1001) + strings.Repeat("]", 1001) + `}`,
	`{"raw":"` + strings.Repeat("x", 32<<10) + `"}`,
}

func TestTakenDocuments(t *testing.T) {
	for _, semantics := range []schema.Semantics{schema.Deployed, schema.KEP} {
		p := compile(t, takenSchema, semantics, schema.ResourceRoot(true))
		for _, doc := range takenDocuments {
			for _, warm := range [][]byte{nil, []byte(doc)} {
				require.False(t, requireSame(t, p, warm, []byte(doc)) && semantics == schema.Deployed, doc)
			}
		}
		for _, doc := range walkedDocuments {
			requireSame(t, p, nil, []byte(doc))
			d := decoder.New(p)
			var v any
			_ = d.Unmarshal([]byte(doc), &v)
			require.True(t, decoder.WalksLeft(d) > 0 || len(doc) > 32<<10, "%q was taken", doc)
		}
	}
}

// TestTakeEdits changes, removes and inserts each byte of a document, so that a taken document and
// one that is not differ in one byte.
func TestTakeEdits(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, semantics := range []schema.Semantics{schema.Deployed, schema.KEP} {
		p := compile(t, takenSchema, semantics, schema.ResourceRoot(true))
		taken, walked := 0, 0
		edit := func(doc string, warm []byte) {
			if requireSame(t, p, warm, []byte(doc)) {
				walked++
			} else {
				taken++
			}
		}
		for _, doc := range takenDocuments[:5] {
			warm := []byte(doc)
			for i := range doc {
				edit(doc[:i]+doc[i+1:], warm)
				for _, c := range "\x00 \t\"\\:,{}[]0-.eEnta\xc3\x80" {
					if random.IntN(3) == 0 {
						edit(doc[:i]+string([]byte{byte(c)})+doc[i+1:], warm)
						edit(doc[:i]+string([]byte{byte(c)})+doc[i:], warm)
					}
				}
				j := i + random.IntN(len(doc)-i)
				edit(doc[:j]+doc[i:], warm) // a part comes twice
			}
		}
		t.Logf("%d taken, %d walked", taken, walked)
		if semantics == schema.Deployed {
			require.Greater(t, taken, 500)
		}
		require.Greater(t, walked, 1000)
	}
}

func TestTakeRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	s, err := schema.Parse([]byte(decoder.TestSchema))
	require.NoError(t, err)
	p := compile(t, decoder.TestSchema, schema.ResourceRoot(true))
	for range decoder.Fewer(5000) {
		requireSame(t, p, nil, []byte(decoder.RandomDocument(random, s)))
	}
}

// TestTakeLimits asserts that documents are walked where a limit may be passed, or where more than
// the schema decides.
func TestTakeLimits(t *testing.T) {
	p := compile(t, takenSchema, schema.ResourceRoot(true))
	doc := []byte(`{"apiVersion":"v1","kind":"X","s":"x","raw":{"a":[1234]}}`)
	for name, limits := range map[string]decoder.Limits{
		"depth": {Depth: 2}, "names": {NameBytes: 3}, "numbers": {NumberBytes: 3}, "defaults": {DefaultBytes: 3}, "output": {OutputBytes: 20},
	} {
		var v any
		require.Error(t, decoder.New(p, limits).Unmarshal(doc, &v), name)
		require.Nil(t, v, name)
	}
	var v any
	require.Error(t, decoder.New(p, decoder.ExpectType("v1", "Y")).Unmarshal(doc, &v))
}

// TestTakeDefaultBytes asserts that the commas before defaults count, as in a result.
func TestTakeDefaultBytes(t *testing.T) {
	p := compile(t, "{type: object, properties: {l: {items: {type: object, properties: {a: {default: abcdefghij}, b: {}}}}}}")
	doc := []byte(`{"l":[` + strings.Repeat(`{"b":1},`, 3950) + `{}]}`)
	limits := decoder.Limits{DefaultBytes: 64 << 10}
	_, want := decoder.New(p, limits).AppendJSON(nil, doc)
	var v any
	err := decoder.New(p, limits).Unmarshal(doc, &v)
	require.ErrorAs(t, err, new(*errors.LimitError))
	require.EqualError(t, err, want.Error())
}

// TestTakeManyDefaults has a default wherever there is no room for it in what was noted, and more
// defaults than an object that is taken may have.
func TestTakeManyDefaults(t *testing.T) {
	p := compile(t, takenSchema, schema.ResourceRoot(false))
	for n := range 300 {
		require.False(t, requireSame(t, p, nil, []byte(`{"raw":[0`+strings.Repeat(",1", n)+`]}`)))
	}
	for _, fields := range []int{63, 64, 65, 100} {
		var text strings.Builder
		for i := range fields {
			fmt.Fprintf(&text, "f%d: {default: %d}, ", i, i)
		}
		p := compile(t, "{type: object, properties: {"+text.String()+"other: {}}}", schema.ResourceRoot(false))
		for _, doc := range []string{`{}`, `{"other":1,"f7":"x","f62":2}`} {
			require.Equal(t, fields > 64, requireSame(t, p, nil, []byte(doc)), "%d fields, %s", fields, doc)
		}
	}
}
