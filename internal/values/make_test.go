package values

import (
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/internal/program"
)

// ofSchema are texts, some of which the schema below partly governs.
var ofSchema = []string{
	`null`, `true`, ` false `, `0`, `-0`, `255`, `256`, `9223372036854775807`, `9223372036854775808`, `-9223372036854775808`, `1e4`, `0.1`, `""`, `"a"`, `[]`, `{}`,
	`{"n": 1, "s": "x", "list": [{"n": 2}, {"n": 3, "other": {"n": []}}], "map": {"k": {"n": 4}, "": {"\u006e": 5}}}`,
	`{"s":"\ud83d\ude00\n\"","list":[],"map":{},"n":-1}`,
	"\t{ \"other\" : [ 1 , [ [ { } ] , -1.5e-3 , null ] , \"\\u0000\" ] , \r\n \"n\" : true }  ",
	`[` + strings.Repeat(`[`, 200) + strings.Repeat(`]`, 200) + `, {"n": 1}]`,
	`[` + strings.Repeat(`{"n": 1000, "a": "b"},`, 2000) + `1.5]`,
	`["` + strings.Repeat("x", textChunk) + `", "` + strings.Repeat("y", longLength) + `", "z"]`,
	`[` + strings.Repeat(`"`+strings.Repeat("chunk", 100)+`",`, 100) + `""]`,
}

const schemaOfSome = `
type: object
x-kubernetes-preserve-unknown-fields: true
properties:
  n: {type: integer}
  s: {type: string}
  list: {type: array, items: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {n: {type: integer}}}}
  map: {type: object, additionalProperties: {type: object, properties: {n: {type: integer}}}}
`

// mustMake makes the value of a text, in which there is nothing wrong.
func mustMake(m *Maker, text string, root *program.Node) any {
	v, ok := m.Make(padded(text), root)
	if !ok {
		panic(text)
	}
	return v
}

// TestMakeNothing asserts that a Maker says so of a text of which there is no value, and is none the
// worse for it.
func TestMakeNothing(t *testing.T) {
	m, root := makerFor(t, schemaOfSome, nameBytes)
	long := strings.Repeat("x", longLength)
	for _, text := range []string{`"\ud800"`, `["\udc00"]`, `{"\ud800":1}`, `{"s":"` + long + `\ud800"}`, "{\"other\":{\"\xff\":1}}", `1e999`, `{"n":-1e999}`} {
		for _, n := range []*program.Node{root, nil} {
			v, ok := m.Make(padded(text), n)
			assert.False(t, ok, text)
			assert.Nil(t, v, text)
			assert.Equal(t, map[string]any{"n": int64(1)}, mustMake(m, `{"n":1}`, n))
		}
	}
}

// TestMake compares values with those that the package of the API server makes, with and without a
// node that governs the text, after any other text.
func TestMake(t *testing.T) {
	for _, separate := range []bool{false, true} {
		m, root := makerFor(t, schemaOfSome, nameBytes)
		m.Separate = separate
		for range 2 {
			for _, text := range ofSchema {
				var want any
				require.NoError(t, json.UnmarshalCaseSensitivePreserveInts([]byte(text), &want), text)
				assert.Equal(t, want, mustMake(m, text, root), text)
				assert.Equal(t, want, mustMake(m, text, nil), text)
			}
		}
	}
}

// TestMakeKeepsNothing asserts that values do not refer to the text, and that the Maker does not
// refer to values.
func TestMakeKeepsNothing(t *testing.T) {
	m, root := makerFor(t, schemaOfSome, nameBytes)
	text := padded(`{"s":"text","other":["more","\u0074ext"]}`)
	v, _ := m.Make(text, root)
	clear(text)
	again := mustMake(m, `{"s":"else","other":["less",12345,"else"]}`, root)
	assert.Equal(t, map[string]any{"s": "text", "other": []any{"more", "text"}}, v)
	assert.Equal(t, map[string]any{"s": "else", "other": []any{"less", int64(12345), "else"}}, again)

	gone := make(chan bool)
	func() {
		list := mustMake(m, `["a",["b"],{"c":[]}]`, nil).([]any)
		runtime.AddCleanup(&list[0], func(c chan bool) { close(c) }, gone)
	}()
	for range 100 {
		runtime.GC()
		select {
		case <-gone:
			return
		default:
			runtime.Gosched()
		}
	}
	t.Fatal("the Maker keeps what it has made")
}

// hold gives a slice another capacity, and returns by how many bytes it has grown.
func hold[T any](s *[]T) int {
	was := cap(*s)
	*s = make([]T, 0, 1<<12)
	return (cap(*s) - was) * int(unsafe.Sizeof(*new(T)))
}

// TestHeld asserts that everything that a Maker keeps is counted.
func TestHeld(t *testing.T) {
	for name, grow := range map[string]func(m *Maker) int{
		"entries": func(m *Maker) int { return hold(&m.entries) }, "open": func(m *Maker) int { return hold(&m.open) },
		"parents": func(m *Maker) int { return hold(&m.parents) }, "unescaped": func(m *Maker) int { return hold(&m.unescaped) },
		"text": func(m *Maker) int { return hold(&m.chunks.text) }, "defaulted": func(m *Maker) int { return hold(&m.defaulted) },
	} {
		m := new(Maker)
		assert.Equal(t, grow(m), m.Held(), name)
	}
}
