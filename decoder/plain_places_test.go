package decoder

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/schema"
)

const plainSchema = `
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

// A plainCase is a document with a ^ where plain ends.
type plainCase struct {
	doc  string
	need need
	at   state // unless a string, defaults or what is kept is needed
}

// plainWalker returns a walker that is to walk the document of a case, whose names it has seen in their order.
func plainWalker(d *Decoder, doc string) (w *walker, b []byte, before string) {
	before, after, _ := strings.Cut(doc, "^")
	b = []byte(before + after + strings.Repeat(" ", slack))
	w = &d.walker
	for range 2 {
		_, _ = d.AppendJSON(nil, b)
	}
	w.findings.reset()
	w.start(nil)
	w.b = b
	w.most = maxInt
	return w, b, before
}

func checkPlain(t *testing.T, d *Decoder, c plainCase) {
	t.Helper()
	w, b, before := plainWalker(d, c.doc)
	assert.Equal(t, c.need, w.plain(b, plainRoot), c.doc)
	assert.Equal(t, before, string(b[:w.pos]), c.doc)
	_, depth := opened(before)
	assert.Equal(t, depth, w.sp, c.doc)
	if c.need != needString && c.need != needKept && c.need != needDefaults {
		assert.Equal(t, c.at, w.st, c.doc)
	}
}

// TestPlain says how far plain gets by itself, what it ends for, and in which state: it does all that is plain, and judges
// nothing.
func TestPlain(t *testing.T) {
	d := New(compileYAML(t, plainSchema))
	w := &d.walker
	w.names = make([]name, 0, 100)
	for _, c := range []plainCase{
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

		// What is kept whole, and defaults.
		{`{"raw":1,"n":2}^`, needMachine, atEnd}, {`{"raw":^{"a":1}}`, needKept, 0}, {`{"raw":^[1]}`, needKept, 0},
		{`{"dflt":{"s":"a","n":1}}^`, needMachine, atEnd}, {`{"dflt":{"n":1^}}`, needDefaults, 0}, {`{"dflt":{^}}`, needDefaults, 0},

		// Names that are not declared, and kept.
		{`{"map":{"first":"a","second": "b",^"third" :"c"}}`, needMachine, atName},
		{`{"map":{"first":"a","second": "b"},"n":1}^`, needMachine, atEnd}, {`{"objects":{"first":{"s":"a"},"second":{}}}^`, needMachine, atEnd},
		{`{"map":{^"first":null}}`, needMachine, atName}, {`{"map":{^"first": null}}`, needMachine, atName}, {"{\"map\":{^\"first\":\n\n\"a\"}}", needMachine, atName},
		{`{"map":{^"f\u0069rst":"a"}}`, needMachine, atName}, {`{"map":{^"é":"a"}}`, needMachine, atName}, {`{"map":{^"first"1}}`, needMachine, atName},
		{`{"map":{"first":"a",^}}`, needMachine, atName}, {"{\"map\":{^\"first\":\x01}}", needMachine, atName}, {`{"map":{"first":^x}}`, needMachine, atValue},
		{`{"map":{"first":"a","first":"b"^}}`, needMachine, afterMember}, {`{"map":{"first":"a","second":"b","first":"c"^}}`, needMachine, afterMember},
		{`{"map":{"":"a"}}^`, needMachine, atEnd}, {`{"half":{^"s":"a"}}`, needMachine, atName},
		{`{"map":{"1":1,"2":2,"3":3,"4":4,"5":5,"6":6,"7":7,"8":8}}^`, needMachine, atEnd},
		{`{"map":{"1":1,"2":2,"3":3,"4":4,"5":5,"6":6,"7":7,"8":8,"9":9^}}`, needMachine, afterMember},
		{`{"map":{"first":^-1}}`, needNumber, atValue},
		{`{"maps":{"a":{"1":1,"2":2,"3":3,"4":4,"5":5},"b":{"1":1,"2":2,"3":3,"4":4,"5":5},"c":{}}}^`, needMachine, atEnd},
	} {
		checkPlain(t, d, c)
	}
}

// TestPlainTexts has strings and names of all lengths up to six words and more. Names that are declared are compared up to 32
// bytes with quotes and colon.
func TestPlainTexts(t *testing.T) {
	for n := 1; n < 55; n++ {
		text := strings.Repeat("x", n)
		d := New(compileYAML(t, fmt.Sprintf(`{type: object, properties: {%s: {type: string}, map: {type: object, additionalProperties: {type: string}}}}`, text)))
		d.walker.names = make([]name, 0, 10)
		checkPlain(t, d, plainCase{fmt.Sprintf(`{"map":{%q:%q,"y":"a"}}^`, text, text), needMachine, atEnd})
		declared := plainCase{fmt.Sprintf(`{%q:%q}^`, text, text), needMachine, atEnd}
		if len(text)+len(`"":`) > 32 {
			declared = plainCase{fmt.Sprintf(`{^%q:%q}`, text, text), needField, atName}
		}
		checkPlain(t, d, declared)
	}
}

// TestPlainNames asserts that names which are kept have the tags of their texts.
func TestPlainNames(t *testing.T) {
	d := New(compileYAML(t, `{type: object, additionalProperties: {type: string}}`, schema.ResourceRoot(false)))
	d.walker.names = make([]name, 0, 100)
	var members strings.Builder
	for n := range 40 {
		fmt.Fprintf(&members, `"%s":"a",`, strings.Repeat("kubernetes.io/", 3)[:n])
	}
	w, b, _ := plainWalker(d, "{"+members.String()+"^")
	require.Equal(t, needMachine, w.plain(b, plainRoot))
	require.Len(t, w.names, 40)
	for n := range w.names {
		text := w.text(b, &w.names[n])
		assert.Equal(t, strings.Repeat("kubernetes.io/", 3)[:n], string(text))
		assert.Equal(t, `"`+string(text)+`":`, string(b[w.names[n].at:][:n+3]))
		assert.Equal(t, tagOf(text), w.names[n].tag, "%s", text)
	}
}

// TestPlainLimits has what is at a limit, or in the room that there is, and one more.
func TestPlainLimits(t *testing.T) {
	nested := strings.Repeat("{type: object, properties: {a: ", 20) + "{type: array}" + strings.Repeat("}}", 20)
	opening := strings.Repeat(`{"a":`, 15)
	for _, c := range []struct {
		schema string
		limits Limits
		plainCase
	}{
		{plainSchema, Limits{NumberBytes: 3}, plainCase{`{"n":123}^`, needMachine, atEnd}},
		{plainSchema, Limits{NumberBytes: 3}, plainCase{`{"n":^1234}`, needNumber, atValue}},
		{plainSchema, Limits{NameBytes: 5}, plainCase{`{"map":{"12345":"a"}}^`, needMachine, atEnd}},
		{plainSchema, Limits{NameBytes: 5}, plainCase{`{"map":{^"123456":"a"}}`, needMachine, atName}},
		{plainSchema, Limits{Depth: 2}, plainCase{`{"o":{"s":"a"},"strings":["a"]}^`, needMachine, atEnd}},
		{plainSchema, Limits{Depth: 2}, plainCase{`{"list":[^{}]}`, needMachine, atElement}},
		{plainSchema, Limits{Depth: 1}, plainCase{`{"o":^{}}`, needMachine, atField}},
		{plainSchema, Limits{Depth: 1}, plainCase{`{"strings":^[]}`, needMachine, atField}},
		{plainSchema, Limits{DefaultBytes: len(`,"s":"some"`)}, plainCase{`{"dflt":{"n":1^}}`, needDefaults, 0}},
		{plainSchema, Limits{DefaultBytes: len(`,"s":"some"`) - 1}, plainCase{`{"dflt":{"n":1^}}`, needMachine, afterMember}},
		{nested, Limits{}, plainCase{opening + `^{"a":1}` + strings.Repeat("}", 15), needMachine, atField}},
	} {
		d := New(compileYAML(t, c.schema), c.limits)
		d.walker.names = make([]name, 0, 10)
		if c.schema == nested {
			w, b, before := plainWalker(d, c.doc)
			w.frames = make([]frame, 16)
			assert.Equal(t, needMachine, w.plain(b, plainRoot))
			assert.Equal(t, before, string(b[:w.pos]))
			continue
		}
		checkPlain(t, d, c.plainCase)
	}
	d := New(compileYAML(t, plainSchema))
	w, b, before := plainWalker(d, `{"map":{"first":"a",^"second":"b"}}`)
	w.names = make([]name, 0, 1)
	assert.Equal(t, needMachine, w.plain(b, plainRoot), "there is no room for names")
	assert.Equal(t, before, string(b[:w.pos]))
}

// TestPlainTypes asserts that values whose types are known to be right are walked, and others left, for they may be
// mismatches.
func TestPlainTypes(t *testing.T) {
	p := compileYAML(t, plainSchema, schema.CheckTypes(true))
	for _, c := range []plainCase{
		{`{"s":"a","n":1,"b":true,"o":{},"strings":["a"]}^`, needMachine, atEnd},
		{`{"s":^1}`, needMachine, atField}, {`{"n":^"a"}`, needMachine, atField}, {`{"o":^[]}`, needMachine, atField}, {`{"strings":^{}}`, needMachine, atField},
		{`{"n":^-1}`, needMachine, atField}, {`{"n":^1.5}`, needMachine, atField}, {`{"strings":[^1]}`, needMachine, atElement},
	} {
		checkPlain(t, New(p), c)
	}
	require.NotEqual(t, program.Any, program.Of(p).Root.Find([]byte("s")).Node.Types)
	checkPlain(t, New(p, ServerTypedRequests), plainCase{`^{"s":"a"}`, needMachine, atValue})
}

// TestPlainAtEnd asserts how near to the end of the window plain gets.
func TestPlainAtEnd(t *testing.T) {
	long := strings.Repeat("abcd", 20)
	d := New(compileYAML(t, plainSchema))
	d.walker.names = make([]name, 0, 10)
	for _, c := range []struct {
		plainCase
		behind int // bytes of the window behind ^
	}{
		{plainCase{`{^"s":"a"}`, needMachine, atName}, slack - 1},
		{plainCase{`{"s":^"a"}`, needMachine, atField}, slack - 1},
		{plainCase{`{"s":^"a"}`, needMachine, atField}, slack - len(`"s":`)},
		{plainCase{`{"a-name-of-twenty-four-by":^`, needMachine, atField}, 0},
		{plainCase{`{"s":"a",   ^"n":1}`, needMachine, atName}, slack - 1},
		{plainCase{`{"s":   ^1}`, needMachine, atField}, slack - 1},
		{plainCase{`{"n":1}^`, needMachine, atEnd}, slack - len(`1}`)},
		{plainCase{`{"s":"` + long + `^`, needMachine, inString}, 15},
		{plainCase{`{"s":"` + long + `"}^`, needMachine, atEnd}, 16 - len(`"}`)},
		{plainCase{`{"map":{^"` + long + `":1}`, needMachine, atName}, 1 + len(long) + slack - 1},
		{plainCase{`{"map":{"` + long + `":^1}`, needMachine, atValue}, slack - len(`":`)},
		{plainCase{`{"map":{^"` + long, needMachine, atName}, 1 + len(long) + 15},
	} {
		w, b, before := plainWalker(d, c.doc)
		b = append(b, strings.Repeat(" ", slack)...)[:len(before)+c.behind]
		assert.Equal(t, c.need, w.plain(b, plainRoot), c.doc)
		assert.Equal(t, before, string(b[:w.pos]), c.doc)
		assert.Equal(t, c.at, w.st, c.doc)
	}
}

// TestWalkPlain says how far plain and those it needs get together, before what is not plain or is wrong.
func TestWalkPlain(t *testing.T) {
	for _, c := range []struct {
		limits Limits
		doc    string
		st     status
		at     state
	}{
		{Limits{}, `{"x":1,"y":{"z":[1,2]},"s":"\n","n":-1,"raw":{"a":1},"dflt":{},"b":true}^`, handedOver, atEnd},
		{Limits{}, `{"n":^1e400}`, handedOver, atValue}, {Limits{}, `{"n":-1.5e3}^`, handedOver, atEnd},
		{Limits{}, "{\"s\":\"\\nsome^\x01\"}", handedOver, inString}, {Limits{}, `{^"x" :1}`, handedOver, atName},
		{Limits{}, `{^"\u0078":1}`, handedOver, atName}, {Limits{}, `{"s":"a",^}`, handedOver, atName},
		{Limits{NameBytes: 3}, `{"xyz":1,"s":"a"}^`, handedOver, atEnd}, {Limits{NameBytes: 3}, `{^"vxyz":1}`, handedOver, atName},
		{Limits{}, `{"x":[1,^]}`, bad, inDropped}, {Limits{}, `{"raw":[1,^]}`, bad, inKept},
	} {
		d := New(compileYAML(t, plainSchema), c.limits)
		w, b, before := plainWalker(d, c.doc)
		assert.Equal(t, c.st, w.walkPlain(b, b, plainRoot), c.doc)
		assert.Equal(t, before, string(b[:w.pos]), c.doc)
		assert.Equal(t, c.at, w.st, c.doc)
	}
}

// TestSmallDocuments asserts that plain walks a small document up to its end, and that the result is that of the
// same document behind so many blanks that it is not small.
func TestSmallDocuments(t *testing.T) {
	d := New(compileYAML(t, plainSchema), Limits{NumberBytes: 9})
	const doc = `{"s":"a","dflt":{},"list":[{"s":"\n"},{}],"n":-12,"x":[1],"map":{"a":"b"},"b":true,"o":{"n":1234567,"s":"some text"},"b":false}`
	w, _, _ := plainWalker(d, doc)
	b := []byte(strings.Replace(doc, `,"b":false`, "", 1))
	require.Equal(t, handedOver, w.walkPlain(b, w.withSlack(b), plainRoot))
	require.Equal(t, atEnd, w.st)
	require.Equal(t, len(b), w.pos)

	before := strings.Repeat(" ", smallDocument)
	both := func(doc string) {
		out, err := d.AppendJSON(nil, []byte(doc))
		want, wantErr := d.AppendJSON(nil, []byte(before+doc))
		if err == nil || wantErr == nil {
			require.NoError(t, err, "%q", doc)
			require.NoError(t, wantErr, "%q", doc)
			require.Equal(t, strings.TrimLeft(string(want), " "), string(out), "%q", doc)
			return
		}
		require.IsType(t, wantErr, err, "%q", doc)
		var got, same *ferrors.SyntaxError
		if errors.As(err, &got) && errors.As(wantErr, &same) {
			require.Equal(t, same.Msg, got.Msg, "%q", doc)
			require.Equal(t, same.Position.Column-len(before), got.Position.Column, "%q", doc)
		}
	}
	for i := range len(doc) + 1 {
		for _, end := range []string{"", " ", "\x00", "\"", "0", "1234567", "}", "]", ",", ",\"s\":", "\\", "e1}", "\xff", "}}", "]}}"} {
			both(doc[:i] + end)
		}
	}
}

// TestPlainLargeMaps asserts at which of the names in a map it is asked whether the next members are strings: the last of every
// 64 names that are open, if 64 of the map's own are before it.
func TestPlainLargeMaps(t *testing.T) {
	members := func(n int, value string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"name-%d":%s,`, i, value)
		}
		return b.String()
	}
	maps := strings.Repeat("{type: object, additionalProperties: ", 2) + "{type: string}}}"
	for outer, own := range map[int]int{1: 126, 2: 125, 62: 65, 63: 64, 64: 127, 65: 126} {
		d := New(compileYAML(t, maps, schema.ResourceRoot(false)))
		d.walker.names = make([]name, 0, 300)
		doc := `{` + members(outer-1, "{}") + `"last":{` + members(own, `"some"`) + `^"name-x":"some"}}`
		checkPlain(t, d, plainCase{doc, needMembers, atName})
		assert.Len(t, d.walker.names, outer+own)
	}
}

// TestBlanksBeforeNull has nulls that do not stay behind any number of blanks, near to the end of the window and far from it.
func TestBlanksBeforeNull(t *testing.T) {
	d := New(compileYAML(t, plainSchema), Compact(true))
	for n := range 60 {
		for _, after := range []string{"", blanks} {
			for _, blank := range []string{strings.Repeat(" ", n), "\n" + strings.Repeat(" ", n), strings.Repeat("\t", n)} {
				out, err := d.AppendJSON(nil, []byte(`{"map":{"a":`+blank+`null,"b":`+blank+`null},"defaulted":[`+blank+`null],"s":`+blank+`null}`+after))
				require.NoError(t, err)
				require.Equal(t, `{"map":{},"defaulted":["none"]}`, string(out))
				out, err = d.AppendJSON(nil, []byte(`{"map":{"a":`+blank+`null}}`+after))
				require.NoError(t, err)
				require.Equal(t, `{"map":{}}`, string(out), "%d", n)
			}
		}
	}
}
