package decoder_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// rowTests has the tests of those adversarial inputs that need code, for messages, memory, sizes,
// shared values, and how much is read.
var rowTests = map[int]func(t *testing.T){
	9:   testOneNameDeepDown,
	10:  testManyNamesDeepDown,
	35:  func(t *testing.T) { testNeverClosed(t, `[`, 1<<20) },
	36:  func(t *testing.T) { testNeverClosed(t, `{"":`, 5<<18) },
	37:  numberInMap(`9223372036854775807`, int64(math.MaxInt64)),
	38:  numberInMap(`9223372036854775808`, 9223372036854775808.0),
	39:  numberInMap(`9007199254740993.0`, 9007199254740992.0),
	41:  numberInMap(`1e-400`, 0.0),
	42:  numberInMap(`-0`, int64(0)),
	43:  numberInMap(`1e3`, 1000.0),
	44:  func(t *testing.T) { testLongNumber(t, `9`) },
	45:  func(t *testing.T) { testLongNumber(t, `0.9`) },
	60:  testDefaultsOfAMillion,
	61:  testDefaultsOfNulls,
	62:  testDefaultIsNotShared,
	65:  pointers(`{"a":{"b":1},"a.b":2}`, "/a/b", "/a.b"),
	66:  pointers(`{"":1,"a":{"":1}}`, "/", "/a/"),
	67:  testLongNameInFinding,
	71:  testWordsOfCore,
	82:  func(t *testing.T) { testAliasMemory(t, laughs, 4<<20) },
	83:  func(t *testing.T) { testAliasMemory(t, longScalar, 64<<20) },
	96:  testEveryCut,
	97:  testReaderWithoutProgress,
	98:  testReaderFaults,
	99:  testWriterFaults,
	100: testConcurrentUse,
	101: testCollidingNames,
	102: testMillionNames,
	103: testStreamContext,
	104: testWordsInSchema,
}

// openSchema has a field for each thing that can happen to a value.
const openSchema = `
type: object
properties:
  a: {type: object}
  raw: {x-kubernetes-preserve-unknown-fields: true}
  list: {type: array, items: {type: object}}
`

// testOneNameDeepDown asserts that one name, half a million times at the depth limit, is one
// finding.
func testOneNameDeepDown(t *testing.T) {
	const arrays, repeated = decoder.DefaultDepth - 2, 499_999
	open, end := strings.Repeat("[", arrays), strings.Repeat("]", arrays)
	doc := `{"raw":` + open + `{` + strings.Repeat(`"k":1,`, repeated) + `"k":2}` + end + `}`
	d := decoder.New(compile(t, openSchema), decoder.Strict)
	out, err := d.AppendJSON(nil, []byte(doc))
	require.Equal(t, `{"raw":`+open+`{"k":2}`+end+`}`, string(out))
	var strict *ferrors.StrictError
	require.ErrorAs(t, err, &strict)
	require.Len(t, strict.Findings(), 1)
	f := strict.Findings()[0]
	require.Equal(t, ferrors.DuplicateField, f.Kind)
	require.Equal(t, repeated, f.Count)
	first := int64(len(`{"raw":`) + arrays + len(`{`))
	require.Equal(t, first, f.First.Offset)
	require.Equal(t, first+int64(len(`"k":1,`)), f.Position.Offset)
	require.LessOrEqual(t, len(f.Path.String()), ferrors.MaxPathBytes)

	_, err = io.Copy(io.Discard, d.NewReader(strings.NewReader(doc)))
	var twice *ferrors.DuplicateError
	require.ErrorAs(t, err, &twice)
	require.Equal(t, f.Position, twice.Position)
}

// testManyNamesDeepDown asserts that the findings about 40 000 names at a depth of 4 000 are
// limited in number and in bytes.
func testManyNamesDeepDown(t *testing.T) {
	const names = 40_000
	var b strings.Builder
	for i := range names {
		fmt.Fprintf(&b, `"name-%d":1,`, i)
	}
	doc := `{"list":` + strings.Repeat("[", 4000) + `{` + strings.TrimSuffix(b.String(), ",") + `}` +
		strings.Repeat("]", 4000) + `}`
	d := decoder.New(compile(t, openSchema), decoder.Strict)
	_, err := d.AppendJSON(nil, []byte(doc))
	var strict *ferrors.StrictError
	require.ErrorAs(t, err, &strict)
	require.NotEmpty(t, strict.Findings())
	require.LessOrEqual(t, len(strict.Findings()), decoder.DefaultFindings)
	require.Equal(t, names, len(strict.Findings())+strict.Omitted())
	text := 0
	for i := range strict.Findings() {
		text += len(strict.Findings()[i].Path.String())
	}
	require.LessOrEqual(t, text, decoder.DefaultFindingBytes)
	require.LessOrEqual(t, len(err.Error()), decoder.DefaultFindingBytes+100*len(`unknown field "", `))
}

// testNeverClosed asserts that containers that open and never close are refused at the limit of
// depth, whether they are walked, kept or dropped. Until then they hold little memory: names of
// members and their places.
func testNeverClosed(t *testing.T, opening string, most uint64) {
	for _, head := range []string{"", `{"zz":`, `{"raw":`, `{"list":`} {
		root := head == "" // here the root is one of the open containers
		limitAt := len(head) + len(opening)*decoder.DefaultDepth
		if !root {
			limitAt -= len(opening)
		}
		d := decoder.New(compile(t, openSchema, schema.ResourceRoot(!root)))
		endless := &endlessReader{text: []byte(head + strings.Repeat(opening, 1000)), from: len(head),
			at: func(int) {}}
		base := liveHeap()
		_, err := io.Copy(io.Discard, d.NewReader(endless))
		live := liveHeap()
		var limit *ferrors.LimitError
		require.ErrorAs(t, err, &limit, "%s", head)
		require.Equal(t, int64(decoder.DefaultDepth), limit.Max)
		require.Equal(t, int64(limitAt), limit.Position.Offset)
		require.LessOrEqual(t, endless.read, limitAt+64<<10)
		require.LessOrEqual(t, live-min(base, live), most)
		_, err = d.AppendJSON(nil, []byte("{}")) // keeps d alive until here
		require.NoError(t, err)
	}
}

// numberInMap asserts the value of a number in a map. It is the value that the server has, also
// where JSON keeps the text.
func numberInMap(text string, want any) func(t *testing.T) {
	return func(t *testing.T) {
		p := compile(t, openSchema)
		for _, d := range []*decoder.Decoder{
			decoder.New(p), decoder.New(p, decoder.ServerTypedRequests, decoder.NumbersAsSent(true)),
		} {
			var v map[string]any
			require.NoError(t, d.Unmarshal([]byte(`{"raw":`+text+`}`), &v))
			require.Equal(t, map[string]any{"raw": want}, v)
		}
	}
}

// testLongNumber asserts that a number without an end is refused soon, and with a short message. A
// higher limit holds, too.
func testLongNumber(t *testing.T, start string) {
	p := compile(t, openSchema)
	for _, limit := range []int{decoder.DefaultNumberBytes, 1 << 20} {
		endless := &endlessReader{text: []byte(`{"raw":` + start + strings.Repeat("9", 1<<10)),
			from: len(`{"raw":` + start), at: func(int) {}}
		d := decoder.New(p, decoder.Limits{NumberBytes: limit})
		_, err := io.Copy(io.Discard, d.NewReader(endless))
		var e *ferrors.LimitError
		require.ErrorAs(t, err, &e)
		require.Equal(t, int64(limit), e.Max)
		require.Equal(t, int64(len(`{"raw":`)), e.Position.Offset)
		require.Less(t, len(err.Error()), 200)
		require.LessOrEqual(t, endless.read, limit+128<<10)
	}
	const long = 3_000_000
	d := decoder.New(p, decoder.Limits{NumberBytes: long + len(`0.`)}, decoder.Strict)
	fraction := `{"raw":0.` + strings.Repeat("3", long) + `}`
	out, err := d.AppendJSON(nil, []byte(fraction))
	require.NoError(t, err)
	require.Equal(t, fraction, string(out))
	_, err = d.AppendJSON(nil, []byte(`{"raw":`+strings.Repeat("9", long)+`}`))
	require.ErrorContains(t, err, "beyond the range of float64")
	require.Less(t, len(err.Error()), 200)
}

// kilobyte is a schema of items with a default of 1 KiB.
var kilobyte = `
type: object
properties:
  l: {type: array, items: {type: object, properties: {d: {type: string, default: ` +
	strings.Repeat("d", 1<<10) + `}}}}
`

// testDefaultsOfAMillion asserts that of a million defaults of 1 KiB the decoder inserts as many as
// the limit allows, and not one more.
func testDefaultsOfAMillion(t *testing.T) {
	d := decoder.New(compile(t, kilobyte))
	million := &repeater{head: `{"l":[`, body: strings.Repeat(`{},`, 1000), tail: `{}]}`, n: 1000}
	out, err := io.Copy(io.Discard, d.NewReader(million))
	var limit *ferrors.LimitError
	require.ErrorAs(t, err, &limit)
	require.Equal(t, int64(decoder.DefaultDefaultBytes), limit.Max)
	const inserted = len(`"d":""`) + 1<<10
	fit := decoder.DefaultDefaultBytes / inserted
	require.Equal(t, int64(len(`{"l":[`)+fit*len(`{},`)+len(`{`)), limit.Position.Offset)
	require.LessOrEqual(t, out, int64(decoder.DefaultDefaultBytes+decoder.DefaultDefaultBytes/100))
}

// testDefaultsOfNulls asserts that a default within a default counts as often as it is inserted, to
// the byte.
func testDefaultsOfNulls(t *testing.T) {
	const nulls = 1000
	p := compile(t, `
type: object
properties:
  l:
    type: array
    items:
      type: object
      default: {deep: [{}, {}]}
      properties:
        deep:
          type: array
          items: {type: object, properties: {x: {type: string, default: `+strings.Repeat("x", 100)+`}}}
`)
	doc := []byte(`{"l":[` + strings.Repeat(`null,`, nulls-1) + `null]}`)
	x := `{"x":"` + strings.Repeat("x", 100) + `"}`
	element := `{"deep":[` + x + `,` + x + `]}`
	out, err := decoder.New(p, decoder.Limits{DefaultBytes: nulls * len(element)}).AppendJSON(nil, doc)
	require.NoError(t, err)
	require.Equal(t, `{"l":[`+strings.Repeat(element+`,`, nulls-1)+element+`]}`, string(out))
	_, err = decoder.New(p, decoder.Limits{DefaultBytes: nulls*len(element) - 1}).AppendJSON(nil, doc)
	var limit *ferrors.LimitError
	require.ErrorAs(t, err, &limit)
	require.Equal(t, int64(len(`{"l":[`)+(nulls-1)*len(`null,`)), limit.Position.Offset,
		"the last one is too many")
}

// testDefaultIsNotShared asserts that a change of a default in one result is not seen in another.
func testDefaultIsNotShared(t *testing.T) {
	p := compile(t, `
type: object
properties:
  m: {type: object, default: {k: {l: [1, a]}}, x-kubernetes-preserve-unknown-fields: true}
`)
	want := map[string]any{"m": map[string]any{"k": map[string]any{"l": []any{int64(1), "a"}}}}
	d := decoder.New(p)
	for range 3 {
		var v, w map[string]any
		require.NoError(t, d.Unmarshal([]byte(`{}`), &v))
		require.NoError(t, decoder.New(p).Unmarshal([]byte(`{"m":null}`), &w))
		require.Equal(t, want, v)
		require.Equal(t, want, w)
		k := v["m"].(map[string]any)["k"].(map[string]any)
		k["l"].([]any)[1] = "changed"
		k["more"] = true
	}
}

// pointers asserts that the unknown fields of a document have different pointers, in the order of
// the document.
func pointers(doc string, want ...string) func(t *testing.T) {
	return func(t *testing.T) {
		d := decoder.New(compile(t, openSchema))
		var got []string
		byPosition := func() {
			list := slices.Clone(d.Findings())
			list.SortByPosition()
			got = got[:0]
			for _, f := range list {
				got = append(got, f.Path.Pointer())
			}
		}
		_, err := d.AppendJSON(nil, []byte(doc))
		require.NoError(t, err)
		byPosition()
		require.Equal(t, want, got)
		_, err = d.AppendYAML(nil, []byte(doc))
		require.NoError(t, err)
		byPosition()
		require.Equal(t, want, got)
		_, err = io.Copy(io.Discard, d.NewReader(iotest.OneByteReader(strings.NewReader(doc))))
		require.NoError(t, err)
		byPosition()
		require.Equal(t, want, got)
	}
}

// testLongNameInFinding asserts that the finding about a long name, which is accepted, is short.
func testLongNameInFinding(t *testing.T) {
	name := strings.Repeat("k", 3_000_000)
	d := decoder.New(compile(t, openSchema), decoder.ServerTypedRequests, decoder.Strict)
	_, err := d.AppendJSON(nil, []byte(`{"`+name+`":1,"a":{"`+name+`":1}}`))
	require.Error(t, err)
	require.Len(t, d.Findings(), 2)
	for _, f := range d.Findings() {
		require.LessOrEqual(t, len(f.Path.String()), ferrors.MaxPathBytes)
		require.Contains(t, f.Path.String(), "kkk...kkk")
	}
}

// testWordsOfCore asserts that y and n are strings in the dialect of YAML 1.2.
func testWordsOfCore(t *testing.T) {
	d := decoder.New(compile(t, `{type: object, properties: {"y": {}, "n": {}, "on": {}}}`),
		decoder.YAMLDialect(yamlbridge.Core))
	out, err := d.AppendYAML(nil, []byte("y: 1\nn: no\non: true\n"))
	require.NoError(t, err)
	require.Empty(t, d.Findings())
	require.Equal(t, `{"y":1,"n":"no","on":true}`, string(out))
}

// testAliasMemory asserts how much memory a document costs that is refused for its aliases: a copy
// of the text, and a few times as much as aliases may add.
func testAliasMemory(t *testing.T, doc string, most uint64) {
	p := compile(t, openSchema)
	for _, opts := range [][]decoder.Option{nil, {decoder.ServerRequests}} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := decoder.New(p, opts...).AppendYAML(nil, []byte(doc))
		runtime.ReadMemStats(&after)
		var limit *ferrors.LimitError
		require.ErrorAs(t, err, &limit)
		require.Equal(t, ferrors.LimitAliasBytes, limit.Limit)
		require.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, most)
	}
}

var (
	laughs     = nineLaughs()
	longScalar = "raw: &a " + strings.Repeat("x", 10_000) + "\na: [" +
		strings.Repeat("*a,", 30_000) + "]"
)

// nineLaughs returns nine levels of nine aliases each.
func nineLaughs() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [" + strings.Repeat("l,", 9) + "]\n")
	for i := range 8 {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d,", i), 9))
	}
	return b.String()
}

// testEveryCut asserts that it makes no difference how a document is cut, whether it is adversarial
// or random, and whether the end comes together with the last byte.
func testEveryCut(t *testing.T) {
	t.Run("random documents", testStreamsOfRandomDocuments)
	for _, c := range corpus.Load(t, "adversarial/*") {
		if c.JSON == nil || len(c.JSON) > longDocument {
			continue
		}
		d := decoder.New(compileCase(t, &c, c.Semantics[0]))
		read := func(r io.Reader) string {
			out, err := io.ReadAll(d.NewReader(r))
			kind, at := "", ferrors.Position{}
			if err != nil { // the message depends on which bytes have come
				out = nil
				kind, at, _ = fault(err)
			}
			return fmt.Sprint(string(out), kind, at, details(d.Findings()), d.Omitted())
		}
		want := read(bytes.NewReader(c.JSON))
		require.Equal(t, want, read(iotest.OneByteReader(bytes.NewReader(c.JSON))), c.Name)
		require.Equal(t, want, read(iotest.DataErrReader(bytes.NewReader(c.JSON))), c.Name)
		require.Equal(t, want, read(iotest.DataErrReader(iotest.OneByteReader(bytes.NewReader(c.JSON)))),
			c.Name)
		require.Equal(t, want, read(iotest.HalfReader(bytes.NewReader(c.JSON))), c.Name)
	}
}

// testConcurrentUse asserts that 64 goroutines with one program and one pool, which decode
// adversarial and other documents, get the results of a single decoder, and nothing of each
// other's.
func testConcurrentUse(t *testing.T) {
	p := compile(t, decoder.TestSchema)
	type work struct {
		decode func(d *decoder.Decoder, src []byte) (string, error)
		src    []byte
		want   string
	}
	appendJSON := func(d *decoder.Decoder, src []byte) (string, error) {
		out, err := d.AppendJSON(nil, src)
		return string(out), err
	}
	appendYAML := func(d *decoder.Decoder, src []byte) (string, error) {
		out, err := d.AppendYAML(nil, src)
		return string(out), err
	}
	stream := func(d *decoder.Decoder, src []byte) (string, error) {
		out, err := io.ReadAll(d.NewReader(iotest.HalfReader(bytes.NewReader(src))))
		if err != nil {
			out = nil // how much is written before the error depends on the window
		}
		return string(out), err
	}
	toMap := func(d *decoder.Decoder, src []byte) (string, error) {
		var v map[string]any
		err := d.Unmarshal(src, &v)
		return fmt.Sprint(v), err
	}
	do := func(d *decoder.Decoder, w *work) string {
		out, err := w.decode(d, w.src)
		return fmt.Sprint(out, err, details(d.Findings()), d.Omitted())
	}
	var all []work
	for _, c := range corpus.Load(t, "adversarial/*", "default/*", "prune/*") {
		if c.JSON != nil && len(c.JSON) < 4096 {
			all = append(all, work{appendJSON, c.JSON, ""}, work{stream, c.JSON, ""},
				work{toMap, c.JSON, ""})
		}
		if c.YAML != nil && len(c.YAML) < 4096 {
			all = append(all, work{appendYAML, c.YAML, ""})
		}
	}
	all = append(all, work{appendYAML, []byte(laughs), ""})
	for i := range all {
		all[i].want = do(decoder.New(p), &all[i])
	}
	pool := decoder.NewPool(p)
	var wait sync.WaitGroup
	for g := range 64 {
		wait.Go(func() {
			order := rand.New(rand.NewPCG(uint64(g), 64)).Perm(len(all))
			for _, i := range order {
				d := pool.Get()
				if got := do(d, &all[i]); got != all[i].want {
					t.Errorf("%.200s: got %.500s, want %.500s", all[i].src, got, all[i].want)
				}
				pool.Put(d)
			}
		})
	}
	wait.Wait()
}

// testMillionNames asserts that a million names in one object take a record each, and that the
// memory is released when only small documents follow.
func testMillionNames(t *testing.T) {
	const names = 1_000_000
	var b bytes.Buffer
	b.WriteString(`{"zz":{`)
	for i := range names {
		fmt.Fprintf(&b, `"k%d":1,`, i)
	}
	b.WriteString(`"last":1}}`)
	p := compile(t, openSchema)
	base := liveHeap()
	d := decoder.New(p, decoder.Strict)
	out, err := d.AppendJSON(nil, b.Bytes())
	require.Equal(t, `{}`, string(out))
	var strict *ferrors.StrictError
	require.ErrorAs(t, err, &strict)
	require.Len(t, strict.Findings(), 1)
	// The record of a name has 32 bytes. A little more is for the search for equal names, and slices
	// grow by a quarter.
	require.LessOrEqual(t, liveHeap()-base, uint64(names*48))
	for range 100 {
		_, err = d.AppendJSON(out[:0], []byte(`{}`))
		require.NoError(t, err)
	}
	live := liveHeap()
	require.LessOrEqual(t, live-min(base, live), uint64(1<<20))
	require.NotZero(t, b.Len()) // keeps the document and the decoder alive until here
	_, err = d.AppendJSON(nil, []byte(`{}`))
	require.NoError(t, err)
}

// testWordsInSchema asserts that there is a warning about each field whose name YAML reads as a
// boolean, unless it is quoted, and that there is none in JSON.
func testWordsInSchema(t *testing.T) {
	for text, want := range map[string][]string{
		`{type: object, properties: {n: {type: string}, on: {type: string}}}`: {
			"openAPIV3Schema.properties[false]", "openAPIV3Schema.properties[true]",
		},
		`{type: object, properties: {"n": {type: string}, 'on': {type: string}}}`:            nil,
		`{"type": "object", "properties": {"n": {"type":"string"}, "y": {"type":"string"}}}`: nil,
		`{type: object, properties: {a: {type: object, properties: {off: {type: string}}}}}`: {
			"openAPIV3Schema.properties[a].properties[false]",
		},
	} {
		s, err := schema.Parse([]byte(text))
		require.NoError(t, err)
		var got []string
		for _, w := range validation.Warnings(s) {
			require.Contains(t, w.Error(), "quote the name if it was meant as it stands")
			got = append(got, w.Field)
		}
		require.Equal(t, want, got, text)
	}
}
