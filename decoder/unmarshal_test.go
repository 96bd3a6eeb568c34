package decoder_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

const valuesSchema = `
type: object
properties:
  "n": {type: integer}
  s: {type: string, default: dflt}
  obj: {type: object, default: {list: [1, {a: b}]}, x-kubernetes-preserve-unknown-fields: true}
  raw: {x-kubernetes-preserve-unknown-fields: true}
  map: {type: object, additionalProperties: {type: string}}
`

func TestUnmarshalNumbers(t *testing.T) {
	d := decoder.New(compile(t, valuesSchema, schema.ResourceRoot(false)))
	for text, want := range map[string]any{
		`0`: int64(0), `-0`: int64(0), `255`: int64(255), `256`: int64(256), `-1`: int64(-1),
		`9223372036854775807`: int64(math.MaxInt64), `-9223372036854775808`: int64(math.MinInt64),
		`9223372036854775808`: 9223372036854775808.0, `1.0`: 1.0, `1e3`: 1000.0, `-0.0`: math.Copysign(0, -1), `2.5`: 2.5,
	} {
		for _, separate := range []bool{false, true} {
			d := decoder.New(compile(t, valuesSchema, schema.ResourceRoot(false)),
				decoder.SeparateStrings(separate))
			var v map[string]any
			require.NoError(t, d.Unmarshal([]byte(`{"raw":`+text+`,"obj":{}}`), &v))
			require.Equal(t, map[string]any{"raw": want, "obj": map[string]any{}, "s": "dflt"}, v, text)
			require.IsType(t, want, v["raw"])
		}
	}
	var v any
	require.Error(t, d.Unmarshal([]byte(`{"raw":1e999}`), &v))
	require.Nil(t, v)
}

func TestUnmarshalRoots(t *testing.T) {
	d := decoder.New(compile(t, "x-kubernetes-preserve-unknown-fields: true",
		schema.ResourceRoot(false)))
	for text, want := range map[string]any{
		`null`: nil, `true`: true, `"a\n\u00e9"`: "a\né", `[]`: []any{}, `[[],{}]`: []any{[]any{}, map[string]any{}}, `{}`: map[string]any{},
		`{"":"","\"":"x","é":[null,false,"y"]}`: map[string]any{"": "", `"`: "x", "é": []any{nil, false, "y"}},
	} {
		var v any = "before"
		require.NoError(t, d.Unmarshal([]byte(" "+text+"\n"), &v))
		require.Equal(t, want, v)
	}
	before := map[string]any{"a": 1}
	m := before
	var e *ferrors.TypeError
	require.ErrorAs(t, d.Unmarshal([]byte(`[1]`), &m), &e)
	require.Equal(t, before, m)
	require.NoError(t, d.Unmarshal([]byte(`{"b":"x"}`), &m))
	require.Equal(t, map[string]any{"b": "x"}, m)
	require.Equal(t, map[string]any{"a": 1}, before, "a new map takes its place")
	require.NoError(t, d.Unmarshal([]byte(`null`), &m))
	require.Nil(t, m)

	require.Error(t, d.Unmarshal([]byte(`{}`), nil))
	require.Error(t, d.Unmarshal([]byte(`{}`), m))
	require.Error(t, d.Unmarshal([]byte(`{}`), (*map[string]any)(nil)))
}

type typed struct {
	N   int64             `json:"n"`
	S   string            `json:"s"`
	Raw any               `json:"raw"`
	Map map[string]string `json:"map"`
	Obj struct {
		List []any `json:"list"`
	} `json:"obj"`
}

func TestUnmarshalTyped(t *testing.T) {
	p := compile(t, valuesSchema, schema.ResourceRoot(false))
	doc := `{"n":9007199254740993,"N":1,"raw":{"i":9007199254740993,"f":1.5},"map":{"k":"v"},"x":1}`
	var got typed
	d := decoder.New(p, decoder.Strict)
	err := d.Unmarshal([]byte(doc), &got)
	require.EqualError(t, err, `strict decoding error: unknown field "N", unknown field "x"`)
	want := typed{N: 9007199254740993, S: "dflt",
		Raw: map[string]any{"i": int64(9007199254740993), "f": 1.5}, Map: map[string]string{"k": "v"}}
	want.Obj.List = []any{int64(1), map[string]any{"a": "b"}}
	require.Equal(t, want, got, "with a strict error the value is complete")

	var yaml typed
	err = d.UnmarshalYAML([]byte("\"n\": 9007199254740993\n\"N\": 1\n"+
		"raw: {i: 9007199254740993, f: 1.5}\nmap: {k: v}\nx: 1\n"), &yaml)
	require.EqualError(t, err, `strict decoding error: unknown field "N", unknown field "x"`)
	require.Equal(t, want, yaml)

	var wrong struct {
		N string `json:"n"`
	}
	var e *json.SemanticError
	require.ErrorAs(t, d.Unmarshal([]byte(doc), &wrong), &e)
	require.Zero(t, wrong.N)

	got = typed{}
	server := decoder.New(p, decoder.ServerRequests)
	require.NoError(t, server.Unmarshal([]byte(`{"n":3,"raw":[1,1e2]}`), &got))
	require.Equal(t, []any{int64(1), int64(100)}, got.Raw, "the server writes 1e2 as 100")
	var syntax *ferrors.SyntaxError
	require.ErrorAs(t, d.Unmarshal([]byte(`{"n":`), &got), &syntax)
}

// TestUnmarshalInterfaces asserts that interface values within Go values are replaced, except for
// those that json merges into, and in linear time.
func TestUnmarshalInterfaces(t *testing.T) {
	d := decoder.New(compile(t, "x-kubernetes-preserve-unknown-fields: true",
		schema.ResourceRoot(false)))
	n := 1
	v := struct{ M map[string]any }{map[string]any{"k": 1.0, "p": &n, "m": map[string]any{"old": true},
		"s": []any{1}}}
	src := []byte(`{"M":{"k":9007199254740993,"p":2,"m":{"new":9007199254740993},"s":[2]}}`)
	require.NoError(t, d.Unmarshal(src, &v))
	require.Equal(t, int64(9007199254740993), v.M["k"])
	require.Equal(t, map[string]any{"old": true, "new": int64(9007199254740993)}, v.M["m"])
	require.Equal(t, []any{int64(2)}, v.M["s"])
	require.Equal(t, 2, n)

	var list struct{ A []any }
	long := strings.Repeat("0,", 100_000)
	require.NoError(t, d.Unmarshal([]byte(`{"A":[[`+long+`0],`+long+`0]}`), &list),
		"this took minutes once")
	require.Len(t, list.A, 100_002)

	var e *ferrors.TypeError
	var m map[string]any
	require.ErrorAs(t, d.Unmarshal([]byte("\n\n  [1]"), &m), &e)
	require.Equal(t, ferrors.Position{Offset: 4, Line: 3, Column: 3, ByteColumn: 3},
		e.Findings[0].Position)
}

// TestUnmarshalDefaults asserts that defaults are not shared between results.
func TestUnmarshalDefaults(t *testing.T) {
	d := decoder.New(compile(t, valuesSchema))
	var first, second map[string]any
	require.NoError(t, d.Unmarshal([]byte(`{}`), &first))
	first["obj"].(map[string]any)["list"].([]any)[1].(map[string]any)["a"] = "changed"
	require.NoError(t, d.Unmarshal([]byte(`{}`), &second))
	require.Equal(t, map[string]any{"s": "dflt",
		"obj": map[string]any{"list": []any{int64(1), map[string]any{"a": "b"}}}}, second)
}

// TestSeparateStrings asserts that a string which is kept keeps no more than its chunk in memory,
// and nothing else if it is separate.
func TestSeparateStrings(t *testing.T) {
	if testing.Short() {
		t.Skip("measures the heap")
	}
	p := compile(t, "type: object\nadditionalProperties: {type: string}", schema.ResourceRoot(false))
	var doc []byte
	for i := range 4000 {
		doc = fmt.Appendf(doc, `,"k%d":"%0500d"`, i, i)
	}
	doc = append(append([]byte("{"), doc[1:]...), '}')
	const results = 64
	kept := func(opts ...decoder.Option) uint64 {
		d := decoder.New(p, opts...)
		var all [results]any
		var base uint64
		for i := range all {
			var v map[string]any
			require.NoError(t, d.Unmarshal(doc, &v))
			if i == 0 {
				v = nil
				base = liveHeap() // with the decoder's buffers
				continue
			}
			all[i] = v["k2000"]
		}
		live := liveHeap()
		runtime.KeepAlive(d)
		require.Equal(t, fmt.Sprintf("%0500d", 2000), all[1])
		return (live - min(base, live)) / (results - 1)
	}
	together := kept()
	require.Greater(t, together, uint64(15<<10), "a chunk of text is 16 KiB")
	require.Less(t, together, uint64(256<<10), "of 2 MB")
	require.Less(t, kept(decoder.SeparateStrings(true)), uint64(8<<10))
}

// TestUnmarshalChunks asserts the values of more strings and numbers than one allocation holds, and
// of strings around its length.
func TestUnmarshalChunks(t *testing.T) {
	p := compile(t, "x-kubernetes-preserve-unknown-fields: true", schema.ResourceRoot(false))
	var texts []string
	for _, n := range []int{0, 1, 7, 8, 9, 15, 16, 17, 18, 31, 200, 1021, 1022, 1023, 1024, 1025, 5000,
		20_000} {
		x := strings.Repeat("x", n)
		texts = append(texts, x, x+`"`, `\`+x, x+"\n"+x, x+"\u00e9", "\U0001f600"+x, x+"\x01")
	}
	var want []any
	members := make(map[string]any)
	for i := range 3000 {
		text := texts[i/7%len(texts)]
		if i%7 > 0 {
			text = texts[i%20]
		}
		text = fmt.Sprint(i, text)
		members[text] = text
		want = append(want, text, int64(i), -int64(i), int64(i)<<40, float64(i)+0.5, i%2 == 0, nil,
			map[string]any{text: int64(i) + 1000})
	}
	want = append(want, members, []any{members})
	doc, err := json.Marshal(want, json.Deterministic(true))
	require.NoError(t, err)
	for _, separate := range []bool{false, true} {
		d := decoder.New(p, decoder.SeparateStrings(separate))
		var first, second any
		require.NoError(t, d.Unmarshal(doc, &first))
		require.NoError(t, d.Unmarshal(bytes.ReplaceAll(doc, []byte("x"), []byte("y")), &second))
		require.Equal(t, want, first, "as it was before the second call")
	}
}

// TestConcurrently uses one program in many goroutines, through several entry points.
func TestConcurrently(t *testing.T) {
	p := compile(t, valuesSchema)
	pool := decoder.NewPool(p, decoder.Compact(true))
	var group sync.WaitGroup
	for g := range 64 {
		group.Go(func() {
			for i := range 50 {
				d := pool.Get()
				doc := fmt.Sprintf(`{"n":%d, "unknown":[%d], "map":{"g":"%d"}}`, i, g, g)
				want := fmt.Sprintf(`{"n":%d,"map":{"g":"%d"},"obj":{"list":[1,{"a":"b"}]},"s":"dflt"}`, i, g)
				out, err := d.AppendJSON(nil, []byte(doc))
				if err != nil || string(out) != want {
					t.Errorf("%s, %v", out, err)
				}
				streamed, err := io.ReadAll(d.NewReader(strings.NewReader(doc)))
				if err != nil || !bytes.Equal(out, streamed) {
					t.Errorf("%s, %v", streamed, err)
				}
				var v map[string]any
				if err := d.Unmarshal([]byte(doc), &v); err != nil || v["n"] != int64(i) ||
					len(d.Findings()) != 1 {
					t.Errorf("%v, %v", v, err)
				}
				pool.Put(d)
			}
		})
	}
	group.Wait()
}

// TestUnmarshalNoObject has other values where a map is wanted. The error has the position at which
// they start.
func TestUnmarshalNoObject(t *testing.T) {
	d := decoder.New(compile(t, "x-kubernetes-preserve-unknown-fields: true",
		schema.ResourceRoot(false)))
	var v map[string]any
	for _, c := range []struct {
		unmarshal func([]byte, any) error
		src, want string
	}{
		{d.Unmarshal, "\n [1]", "2:2: the document must be an object, not an array"},
		{d.UnmarshalYAML, "\n- 1", "1:1: the document must be an object, not an array"},
	} {
		var mismatch *ferrors.TypeError
		require.ErrorAs(t, c.unmarshal([]byte(c.src), &v), &mismatch)
		require.Equal(t, c.want, details(mismatch.Findings))
	}
	require.NoError(t, d.UnmarshalYAML([]byte("~"), &v))
	require.Nil(t, v)
}

// TestUnmarshalSharesNames asserts that declared names are the schema's strings, in the results of
// all decoders, and that other names are copies.
func TestUnmarshalSharesNames(t *testing.T) {
	p := compile(t, `
type: object
properties: {declared: {type: object, additionalProperties: {type: string}}}
`, schema.ResourceRoot(false))
	namesOf := func() (declared, other *byte) {
		var v map[string]any
		require.NoError(t, decoder.New(p).Unmarshal([]byte(`{"declared":{"other":"text"}}`), &v))
		for name, members := range v {
			for below := range members.(map[string]any) {
				declared, other = unsafe.StringData(name), unsafe.StringData(below)
			}
		}
		return declared, other
	}
	declared, other := namesOf()
	again, otherAgain := namesOf()
	require.Same(t, declared, again)
	require.NotSame(t, other, otherAgain)
}

// fromDecoder makes an interface value in a method of its own.
type fromDecoder struct{ of any }

func (f *fromDecoder) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	return json.UnmarshalDecode(from, &f.of)
}

// textWithin is JSON in a string. Its method hands the options of its decoder on.
type textWithin struct{ of any }

func (w *textWithin) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	var text string
	if err := json.UnmarshalDecode(from, &text); err != nil {
		return err
	}
	return json.Unmarshal([]byte(text), &w.of, from.Options())
}

// TestUnmarshalTextWithin asserts that text which is no part of a result cannot make a decoder panic
// or misread.
func TestUnmarshalTextWithin(t *testing.T) {
	d := decoder.New(compile(t, valuesSchema, schema.ResourceRoot(false)))
	for text, want := range map[string]any{
		`{\"b\":[1,\"\\ud83c\\udf33\"]}`: map[string]any{"b": []any{int64(1), "\U0001f333"}},
		`{\"b\":\"\\ud800\"}`:            nil, `{\"\\ud800\":1}`: nil, `\"a\\udc00\"`: nil, `[1e999]`: nil,
	} {
		var v struct {
			S textWithin `json:"s"`
		}
		err := d.Unmarshal([]byte(`{"s":"`+text+`"}`), &v)
		require.Equal(t, want, v.S.of, text)
		require.Equal(t, want != nil, err == nil, text)
	}
}

// TestUnmarshalHiddenInterfaces asserts that a number is an int64 wherever a type may hide an interface,
// when one decoder is given type after type.
func TestUnmarshalHiddenInterfaces(t *testing.T) {
	type recursive struct {
		Map map[string]*recursive `json:"map"`
		Raw *[]any                `json:"raw"`
	}
	type hidden struct {
		Raw fromDecoder `json:"raw"`
	}
	type none struct {
		Raw []int64 `json:"raw"`
	}
	d := decoder.New(compile(t, valuesSchema, schema.ResourceRoot(false)))
	doc := []byte(`{"raw":[9007199254740993],"map":null}`)
	const i = int64(9007199254740993)
	for range 2 {
		var (
			r       recursive
			h       hidden
			n       none
			members map[string]fmt.Stringer
			array   struct {
				Raw [1]any `json:"raw"`
			}
			inside = struct {
				Raw fmt.Stringer `json:"raw"`
			}{&stringer{}}
			embedded struct{ recursive }
		)
		require.NoError(t, d.Unmarshal(doc, &r))
		require.Equal(t, []any{i}, *r.Raw)
		require.NoError(t, d.Unmarshal(doc, &n))
		require.Equal(t, []int64{i}, n.Raw)
		require.NoError(t, d.Unmarshal(doc, &h))
		require.Equal(t, []any{i}, h.Raw.of)
		require.Error(t, d.Unmarshal(doc, &members))
		require.NoError(t, d.Unmarshal(doc, &array))
		require.Equal(t, [1]any{i}, array.Raw)
		require.NoError(t, d.Unmarshal(doc, &embedded))
		require.Equal(t, []any{i}, *embedded.Raw)
		require.NoError(t, d.Unmarshal([]byte(`{"raw":{"of":9007199254740993}}`), &inside))
		require.Equal(t, i, inside.Raw.(*stringer).Of, "what the interface pointed to is written to")
	}
}

type stringer struct {
	Of any `json:"of"`
}

func (*stringer) String() string { return "" }
