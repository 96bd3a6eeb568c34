package walk

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/names"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/internal/skip"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

const simpleSchema = `
type: object
properties:
  s: {type: string}
  a-name-of-twenty-four-by: {type: string}
  "n": {type: integer}
  b: {type: boolean}
  o: {type: object, properties: {s: {type: string}, "n": {type: integer}}}
  list: {type: array, items: {type: object, properties: {s: {type: string}}}}
  strings: {type: array, items: {type: string}}
  defaulted: {type: array, items: {type: string, default: none}}
  map: {type: object, additionalProperties: {type: string}}
  maps: {type: object, additionalProperties: {type: object, additionalProperties: {type: string}}}
  objects: {type: object, additionalProperties: {type: object, properties: {s: {type: string}}}}
  half: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {s: {type: string}}}
  raw: {x-kubernetes-preserve-unknown-fields: true}
  dflt: {type: object, properties: {s: {type: string, default: some}, "n": {type: integer}}}
`

// A simpleCase is a document with a ^ where simple stops.
type simpleCase struct {
	doc  string
	need need
	at   state // not asserted if need is needString, needKept or needDefaults
}

// ready makes the walker ready to walk over the document of a case, of which it has seen the order
// of the names.
func ready(w *Walker, doc string) (b []byte, before string) {
	before, after, _ := strings.Cut(doc, "^")
	b = []byte(before + after + strings.Repeat(" ", skip.Slack))
	for range 2 {
		w.Walk(nil, b)
	}
	w.Start(nil)
	w.look(b, false)
	return b, before
}

func checkSimple(t *testing.T, w *Walker, c simpleCase) {
	t.Helper()
	b, before := ready(w, c.doc)
	assert.Equal(t, c.need, w.simple(b, simpleRoot), c.doc)
	assert.Equal(t, before, string(b[:w.pos]), c.doc)
	assert.Equal(t, strings.Count(before, "{")+
		strings.Count(before, "[")-strings.Count(before, "}")-strings.Count(before, "]"), w.sp, c.doc)
	if c.need != needString && c.need != needKept && c.need != needDefaults {
		assert.Equal(t, c.at, w.st, c.doc)
	}
}

// TestSimple asserts how far simple gets by itself, why it stops, and in which state. It does
// everything that is simple, and judges nothing.
func TestSimple(t *testing.T) {
	w := newWalker(compileYAML(t, simpleSchema), limits{})
	w.skip.Names.Names = make([]names.Name, 0, 100)
	for _, c := range []simpleCase{
		{`{"s":"a","n":1,"b":true,"o":{"s":"b","n":2},"list":[{"s":"c"},{"s":"d"},{}],"strings":["a","b"]}^`, needMachine, atEnd},
		{`{}^`, needMachine, atEnd}, {`^[]`, needMachine, atValue}, {`^"some"`, needMachine, atValue}, {`^ {}`, needMachine, atValue},
		{"{ \t\r\n\"s\": \t\r\n\"a\" \t\r\n, \t\r\n\"o\": { \t\r\n} \t\r\n, \"strings\": [ \t\r\n\"a\" \t\r\n, \t\r\n\"b\" \t\r\n] , \"list\":[ \n]}^", needMachine, atEnd},

		// Names.
		{`{^"x":1}`, needField, atName}, {`{"s":"a",^"x":1}`, needField, atName}, {`{^"s" :"a"}`, needField, atName},
		{`{"list":[{"s":"a"},{^"n":1}]}`, needField, atName}, {`{^x}`, needMachine, atFirstName}, {`{^,"s":"a"}`, needMachine, atFirstName},
		{`{"s":"a",^}`, needField, atName}, {"{^\x01}", needMachine, atFirstName}, {"{\"s\":\"a\",^\x01}", needMachine, atName},
		{`{"s":"a","s":^"b"}`, needMachine, atField},

		// Values.
		{`{"s":"some^\n"}`, needString, 0}, {`{"s":"some^é"}`, needString, 0}, {"{\"s\":\"some^\x1f\"}", needString, 0},
		{`{"n":1234567,"s":0}^`, needMachine, atEnd}, {`{"n":^12345678}`, needNumber, atValue}, {`{"n":^-1}`, needNumber, atValue},
		{`{"n":^01}`, needNumber, atValue}, {`{"n":^1.5}`, needNumber, atValue}, {`{"n":^1e1}`, needNumber, atValue}, {`{"n":^1E1}`, needNumber, atValue},
		{`{"strings":["a",^1.5]}`, needNumber, atElement}, {`{"strings":[0,^-1]}`, needNumber, atElement},
		{`{"b":true,"s":false}^`, needMachine, atEnd}, {`{"b":^truE}`, needMachine, atField}, {`{"b":^falsE}`, needMachine, atField},
		{`{"b":^null}`, needMachine, atField}, {`{"b":^}`, needMachine, atField}, {`{"b":^:1}`, needMachine, atField}, {"{\"b\":^\x01}", needMachine, atField},
		{"{\"b\": ^\x01}", needMachine, atField}, {`{"b":1^x}`, needMachine, afterMember}, {"{\"b\":1^\x01}", needMachine, afterMember},
		{`{"b":1^]`, needMachine, afterMember},

		// Arrays.
		{`{"strings":[]}^`, needMachine, atEnd}, {`{"strings":["a",^]}`, needMachine, atElement}, {`{"strings":["a"^}`, needMachine, afterElement},
		{`{"strings":[^}`, needMachine, atElement}, {`{"strings":[^null]}`, needMachine, atElement}, {"{\"strings\":[^\x00]}", needMachine, atFirstElement},
		{"{\"strings\":[1^\x01]}", needMachine, afterElement}, {"{\"strings\":[1,^\x01]}", needMachine, atElement}, {"{\"strings\":[^\x01]}", needMachine, atElement},
		{`{"defaulted":["a","b"]}^`, needMachine, atEnd}, {`{"defaulted":["a",^ "b"]}`, needMachine, atElement},
		{`{"defaulted":["a",^null]}`, needMachine, atElement}, {`{"strings":["a", "b"]}^`, needMachine, atEnd},

		// Values that are kept whole, and defaults.
		{`{"raw":1,"n":2}^`, needMachine, atEnd}, {`{"raw":^{"a":1}}`, needKept, 0}, {`{"raw":^[1]}`, needKept, 0},
		{`{"dflt":{"s":"a","n":1}}^`, needMachine, atEnd}, {`{"dflt":{"n":1^}}`, needDefaults, 0}, {`{"dflt":{^}}`, needDefaults, 0},

		// Undeclared names that are kept.
		{`{"map":{"first":"a","second": "b",^"third" :"c"}}`, needMachine, atName},
		{`{"map":{"first":"a","second": "b"},"n":1}^`, needMachine, atEnd}, {`{"objects":{"first":{"s":"a"},"second":{}}}^`, needMachine, atEnd},
		{`{"map":{^"first":null}}`, needMachine, atName}, {`{"map":{^"first": null}}`, needMachine, atName}, {"{\"map\":{^\"first\":\n\n\"a\"}}", needMachine, atName},
		{`{"map":{^"f\u0069rst":"a"}}`, needMachine, atName}, {`{"map":{^"é":"a"}}`, needMachine, atName}, {`{"map":{^"first"1}}`, needMachine, atName},
		{`{"map":{"first":"a",^}}`, needMachine, atName}, {"{\"map\":{^\"first\":\x01}}", needMachine, atName}, {`{"map":{"first":^x}}`, needMachine, atValue},
		{`{"map":{"first":"a","first":"b"^}}`, needMachine, afterMember}, {`{"map":{"first":"a","second":"b","first":"c"^}}`, needMachine, afterMember},
		{`{"map":{"":"a"}}^`, needMachine, atEnd}, {`{"half":^{"s":"a"}}`, needMachine, atField},
		{`{"map":{"1":1,"2":2,"3":3,"4":4,"5":5,"6":6,"7":7,"8":8}}^`, needMachine, atEnd},
		{`{"map":{"1":1,"2":2,"3":3,"4":4,"5":5,"6":6,"7":7,"8":8,"9":9^}}`, needMachine, afterMember},
		{`{"map":{"first":^-1}}`, needNumber, atValue},
		{`{"maps":{"a":{"1":1,"2":2,"3":3,"4":4,"5":5},"b":{"1":1,"2":2,"3":3,"4":4,"5":5},"c":{}}}^`, needMachine, atEnd},
	} {
		checkSimple(t, w, c)
	}
}

const simpleRules = `
type: object
properties:
  counted: {type: array, minItems: 1, maxItems: 2, items: {type: string}}
  untyped: {x-kubernetes-preserve-unknown-fields: true, minItems: 1, properties: {a: {type: string}}, items: {type: string}}
  set: {type: array, maxItems: 2, x-kubernetes-list-type: set, items: {type: string}}
  any: {type: array, anyOf: [{maxItems: 2}], items: {type: string}}
  either: {type: object, properties: {a: {type: string}, b: {type: string}}, anyOf: [{required: [a]}, {required: [b]}]}
  few: {type: object, properties: {a: {type: string}, b: {type: string}}, maxProperties: 1}
`

// TestSimpleRules asserts which arrays and objects with rules simple closes by itself: arrays with as
// many elements as they may have, where there is no other rule, and objects that have the first of
// two members of which one is required. The root is left, as it lacks its metadata.
func TestSimpleRules(t *testing.T) {
	w := newWalker(compileYAML(t, simpleRules, validation.Values()), limits{})
	for _, c := range []simpleCase{
		{`{"counted":["a"]^}`, needDefaults, 0}, {`{"counted":["a","b"]^}`, needDefaults, 0},
		{`{"counted":[^]}`, needArray, atFirstElement}, {`{"counted":["a","b","c"^]}`, needArray, afterElement},
		{`{"untyped":["a"]^}`, needDefaults, 0}, {`{"untyped":[^]}`, needArray, atFirstElement},
		{`{"set":[^]}`, needArray, atFirstElement}, {`{"any":["a"^]}`, needArray, afterElement},
		{`{"either":{"a":"x"}^}`, needDefaults, 0}, {`{"either":{"b":"x","a":"x"}^}`, needDefaults, 0},
		{`{"either":{"b":"x"^}}`, needDefaults, 0}, {`{"few":{"a":"x"^}}`, needDefaults, 0},
	} {
		checkSimple(t, w, c)
	}
}

// TestSimpleTexts has strings and names of all lengths up to six words and more. Declared names are
// compared up to 32 bytes, including the quotes and the colon.
func TestSimpleTexts(t *testing.T) {
	for n := 1; n < 55; n++ {
		text := strings.Repeat("x", n)
		w := newWalker(compileYAML(t, fmt.Sprintf(`
type: object
properties: {%s: {type: string}, map: {type: object, additionalProperties: {type: string}}}
`, text)), limits{})
		w.skip.Names.Names = make([]names.Name, 0, 10)
		checkSimple(t, w, simpleCase{fmt.Sprintf(`{"map":{%q:%q,"y":"a"}}^`, text, text), needMachine,
			atEnd})
		declared := simpleCase{fmt.Sprintf(`{%q:%q}^`, text, text), needMachine, atEnd}
		if len(text)+len(`"":`) > 32 {
			declared = simpleCase{fmt.Sprintf(`{^%q:%q}`, text, text), needField, atName}
		}
		checkSimple(t, w, declared)
	}
}

// TestSimpleNames asserts that the names that are kept have the tags of their texts.
func TestSimpleNames(t *testing.T) {
	w := newWalker(compileYAML(t, `{type: object, additionalProperties: {type: string}}`,
		schema.ResourceRoot(false)), limits{})
	w.skip.Names.Names = make([]names.Name, 0, 100)
	var members strings.Builder
	for n := range 40 {
		fmt.Fprintf(&members, `"%s":"a",`, strings.Repeat("kubernetes.io/", 3)[:n])
	}
	b, _ := ready(w, "{"+members.String()+"^")
	require.Equal(t, needMachine, w.simple(b, simpleRoot))
	require.Len(t, w.skip.Names.Names, 40)
	for n := range w.skip.Names.Names {
		text := w.skip.Names.Text(b, &w.skip.Names.Names[n])
		assert.Equal(t, strings.Repeat("kubernetes.io/", 3)[:n], string(text))
		assert.Equal(t, `"`+string(text)+`":`, string(b[w.skip.Names.Names[n].At:][:n+3]))
		assert.Equal(t, names.TagOf(text), w.skip.Names.Names[n].Tag, "%s", text)
	}
}

// TestSimpleLimits has values at a limit, or at the end of the room that there is, and one more.
func TestSimpleLimits(t *testing.T) {
	nested := strings.Repeat("{type: object, properties: {a: ", 20) + "{type: array}" +
		strings.Repeat("}}", 20)
	opening := strings.Repeat(`{"a":`, 15)
	for _, c := range []struct {
		schema string
		limits limits
		simpleCase
	}{
		{simpleSchema, limits{NumberBytes: 3}, simpleCase{`{"n":123}^`, needMachine, atEnd}},
		{simpleSchema, limits{NumberBytes: 3}, simpleCase{`{"n":^1234}`, needNumber, atValue}},
		{simpleSchema, limits{NameBytes: 5}, simpleCase{`{"map":{"12345":"a"}}^`, needMachine, atEnd}},
		{simpleSchema, limits{NameBytes: 5}, simpleCase{`{"map":{^"123456":"a"}}`, needMachine, atName}},
		{simpleSchema, limits{Depth: 2}, simpleCase{`{"o":{"s":"a"},"strings":["a"]}^`, needMachine, atEnd}},
		{simpleSchema, limits{Depth: 2}, simpleCase{`{"list":[^{}]}`, needMachine, atElement}},
		{simpleSchema, limits{Depth: 1}, simpleCase{`{"o":^{}}`, needMachine, atField}},
		{simpleSchema, limits{Depth: 1}, simpleCase{`{"strings":^[]}`, needMachine, atField}},
		{simpleSchema, limits{DefaultBytes: len(`,"s":"some"`)}, simpleCase{`{"dflt":{"n":1^}}`, needDefaults, 0}},
		{simpleSchema, limits{DefaultBytes: len(`,"s":"some"`) - 1}, simpleCase{`{"dflt":{"n":1^}}`, needMachine, afterMember}},
		{nested, limits{}, simpleCase{opening + `^{"a":1}` + strings.Repeat("}", 15), needMachine, atField}},
	} {
		w := newWalker(compileYAML(t, c.schema), c.limits)
		w.skip.Names.Names = make([]names.Name, 0, 10)
		if c.schema == nested {
			b, before := ready(w, c.doc)
			w.frames = make([]frame, 16)
			assert.Equal(t, needMachine, w.simple(b, simpleRoot))
			assert.Equal(t, before, string(b[:w.pos]))
			continue
		}
		checkSimple(t, w, c.simpleCase)
	}
	w := newWalker(compileYAML(t, simpleSchema), limits{})
	b, before := ready(w, `{"map":{"first":"a",^"second":"b"}}`)
	w.skip.Names.Names = make([]names.Name, 0, 1)
	assert.Equal(t, needMachine, w.simple(b, simpleRoot), "there is no room for names")
	assert.Equal(t, before, string(b[:w.pos]))
}

// TestSimpleTypes asserts that simple walks over values whose types are known to be right. It
// leaves others, which may be mismatches.
func TestSimpleTypes(t *testing.T) {
	p := compileYAML(t, simpleSchema, schema.CheckTypes(true))
	for _, c := range []simpleCase{
		{`{"s":"a","n":1,"b":true,"o":{},"strings":["a"]}^`, needMachine, atEnd},
		{`{"s":^1}`, needMachine, atField}, {`{"n":^"a"}`, needMachine, atField}, {`{"o":^[]}`, needMachine, atField}, {`{"strings":^{}}`, needMachine, atField},
		{`{"n":^-1}`, needMachine, atField}, {`{"n":^1.5}`, needMachine, atField}, {`{"strings":[^1]}`, needMachine, atElement},
	} {
		checkSimple(t, newWalker(p, limits{}), c)
	}
	require.NotEqual(t, program.Any, program.Of(p).Root.Find([]byte("s")).Node.Types)
	w := newWalker(p, limits{})
	w.NoteType = true
	checkSimple(t, w, simpleCase{`^{"s":"a"}`, needMachine, atValue})
}

// TestSimpleAtEnd asserts how near to the end of the window simple gets.
func TestSimpleAtEnd(t *testing.T) {
	long := strings.Repeat("abcd", 20)
	w := newWalker(compileYAML(t, simpleSchema), limits{})
	w.skip.Names.Names = make([]names.Name, 0, 10)
	for _, c := range []struct {
		simpleCase
		after int // bytes of the window after the ^
	}{
		{simpleCase{`{^"s":"a"}`, needMachine, atName}, skip.Slack - 1},
		{simpleCase{`{"s":^"a"}`, needMachine, atField}, skip.Slack - 1},
		{simpleCase{`{"s":^"a"}`, needMachine, atField}, skip.Slack - len(`"s":`)},
		{simpleCase{`{"a-name-of-twenty-four-by":^`, needMachine, atField}, 0},
		{simpleCase{`{"s":"a",   ^"n":1}`, needMachine, atName}, skip.Slack - 1},
		{simpleCase{`{"s":   ^1}`, needMachine, atField}, skip.Slack - 1},
		{simpleCase{`{"n":1}^`, needMachine, atEnd}, skip.Slack - len(`1}`)},
		{simpleCase{`{"s":"` + long + `^`, needMachine, inString}, 15},
		{simpleCase{`{"s":"` + long + `"}^`, needMachine, atEnd}, 16 - len(`"}`)},
		{simpleCase{`{"map":{^"` + long + `":1}`, needMachine, atName}, 1 + len(long) + skip.Slack - 1},
		{simpleCase{`{"map":{"` + long + `":^1}`, needMachine, atValue}, skip.Slack - len(`":`)},
		{simpleCase{`{"map":{^"` + long, needMachine, atName}, 1 + len(long) + 15},
	} {
		b, before := ready(w, c.doc)
		b = append(b, strings.Repeat(" ", skip.Slack)...)[:len(before)+c.after]
		assert.Equal(t, c.need, w.simple(b, simpleRoot), c.doc)
		assert.Equal(t, before, string(b[:w.pos]), c.doc)
		assert.Equal(t, c.at, w.st, c.doc)
	}
}

// TestWalkSimple asserts how far simple and its calls get together, before something that is not
// simple, or is a fault.
func TestWalkSimple(t *testing.T) {
	for _, c := range []struct {
		limits limits
		doc    string
		st     skip.Status
		at     state
	}{
		{limits{}, `{"x":1,"y":{"z":[1,2]},"s":"\n","n":-1,"raw":{"a":1},"dflt":{},"b":true}^`, handedOver, atEnd},
		{limits{}, `{"n":^1e400}`, handedOver, atValue}, {limits{}, `{"n":-1.5e3}^`, handedOver, atEnd},
		{limits{}, "{\"s\":\"\\nsome^\x01\"}", handedOver, inString}, {limits{}, `{^"x" :1}`, handedOver, atName},
		{limits{}, `{^"\u0078":1}`, handedOver, atName}, {limits{}, `{"s":"a",^}`, handedOver, atName},
		{limits{NameBytes: 3}, `{"xyz":1,"s":"a"}^`, handedOver, atEnd}, {limits{NameBytes: 3}, `{^"vxyz":1}`, handedOver, atName},
		{limits{}, `{"x":[1,^]}`, skip.Bad, inDropped}, {limits{}, `{"raw":[1,^]}`, skip.Bad, inKept},
	} {
		w := newWalker(compileYAML(t, simpleSchema), c.limits)
		b, before := ready(w, c.doc)
		assert.Equal(t, c.st, w.walkSimple(b, b, simpleRoot), c.doc)
		assert.Equal(t, before, string(b[:w.pos]), c.doc)
		assert.Equal(t, c.at, w.st, c.doc)
	}
}

// TestSimpleLargeMaps asserts at which names of a map simple asks whether the next members are
// strings: at every 64th name that is open, if 64 names of the map are before it.
func TestSimpleLargeMaps(t *testing.T) {
	members := func(n int, value string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"name-%d":%s,`, i, value)
		}
		return b.String()
	}
	maps := strings.Repeat("{type: object, additionalProperties: ", 2) + "{type: string}}}"
	for outer, own := range map[int]int{1: 126, 2: 125, 62: 65, 63: 64, 64: 127, 65: 126} {
		w := newWalker(compileYAML(t, maps, schema.ResourceRoot(false)), limits{})
		w.skip.Names.Names = make([]names.Name, 0, 300)
		doc := `{` + members(outer-1, "{}") + `"last":{` + members(own, `"some"`) + `^"name-x":"some"}}`
		checkSimple(t, w, simpleCase{doc, needMembers, atName})
		assert.Len(t, w.skip.Names.Names, outer+own)
	}
}

// TestPad asserts that simple walks over a small document up to its end.
func TestPad(t *testing.T) {
	w := newWalker(compileYAML(t, simpleSchema), limits{NumberBytes: 9})
	const doc = `{"s":"a","dflt":{},"list":[{"s":"\n"},{}],"n":-12,"x":[1],"map":{"a":"b"},` +
		`"b":true,"o":{"n":1234567,"s":"some text"},"b":false}`
	ready(w, doc)
	b := []byte(strings.Replace(doc, `,"b":false`, "", 1))
	require.Equal(t, handedOver, w.walkSimple(b, w.pad(b), simpleRoot))
	require.Equal(t, atEnd, w.st)
	require.Equal(t, len(b), w.pos)
}

// TestHandOver asserts that the machine hands over to walkSimple after a comma, if there is room
// for a name or a value.
func TestHandOver(t *testing.T) {
	w := newWalker(compileYAML(t, `
type: object
properties: {list: {type: array, items: {type: object, properties: {x: {type: integer}}}}}
`, schema.ResourceRoot(false)), limits{})
	for _, start := range []string{`{"list":[],`, `{"list":[{},`} {
		for rest := range 2 * skip.Slack {
			w.Start(nil)
			want := skip.Cut
			if rest >= skip.Slack {
				want = handedOver
			}
			b := []byte(start + strings.Repeat(" ", rest))
			w.look(b, false)
			require.Equal(t, want, w.machine(b, false), "%s and %d bytes", start, rest)
		}
	}
}
