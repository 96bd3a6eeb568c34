package decoder_test

import (
	stderrors "errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/laws"
	"github.com/espalier-dev/espalier/schema"
)

// Kind A has the field spec.a. Kind B has spec.b, with a default.
const twoKinds = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: as.e.io}
spec:
  group: e.io
  names: {kind: A, plural: as}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {
      spec: {type: object, properties: {a: {type: string}}}}}}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: bs.e.io}
spec:
  group: e.io
  names: {kind: B, plural: bs}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {
      spec: {type: object, properties: {b: {type: integer, default: 7}}}}}}}
`

const (
	isA = `"apiVersion":"e.io/v1","kind":"A"` // it has 33 bytes
	isB = `"apiVersion":"e.io/v1","kind":"B"`
)

func catalog(t testing.TB) *schema.Catalog {
	crds, err := schema.ParseCRD([]byte(twoKinds))
	require.NoError(t, err)
	c := schema.NewCatalog()
	require.NoError(t, c.Add(crds...))
	return c
}

type newSequence func(io.Reader, decoder.Lookup, ...decoder.Option) *decoder.Sequence

// A visited has everything that a sequence reports of an object.
type visited struct {
	raw, kind, out string
	position       errors.Position
	err            error
	findings       errors.List
}

// String returns a short text, which tests compare with texts that were written by hand.
func (v visited) String() string {
	text := v.position.String() + " " + v.kind + v.out
	for i := range v.findings {
		text += "; " + v.findings[i].Detail()
	}
	if v.err != nil {
		text += "; " + v.err.Error()
	}
	return text
}

// visit reads a whole sequence, and returns the error that has ended it.
func visit(t testing.TB, s *decoder.Sequence) (all []visited, end error) {
	for {
		if err := s.Next(); err != nil {
			require.Nil(t, s.Raw())
			require.Equal(t, err, s.Next(), "it stays")
			require.Nil(t, s.Raw())
			_, again := s.AppendJSON(nil)
			require.Equal(t, err, again, "there is no object")
			return all, err
		}
		_, kind, _ := s.Type()
		out, err := s.AppendJSON(nil)
		all = append(all, visited{
			raw: string(s.Raw()), kind: kind, out: string(out),
			position: s.Position(), err: err, findings: append(errors.List(nil), s.Findings()...),
		})
	}
}

func texts(all []visited) (texts []string) {
	for _, v := range all {
		texts = append(texts, v.String())
	}
	return texts
}

// checkCuts asserts that a text has the same results in parts as in one piece, with windows that
// hold hardly a token and with windows that hold everything.
func checkCuts(t *testing.T, text string, make newSequence, opts ...decoder.Option) {
	t.Helper()
	lookup := catalog(t).Lookup
	want, end := visit(t, make(strings.NewReader(text), lookup, opts...))
	check := func(r io.Reader) {
		t.Helper()
		got, err := visit(t, make(r, lookup, opts...))
		require.Equal(t, want, got)
		require.Equal(t, withoutMessage(end), withoutMessage(err))
	}
	checkInParallel(t, text, want, end, make, opts...)
	for _, window := range []int{1, 16, 512} {
		undo := decoder.SetFirstWindow(window)
		for at := 0; at <= len(text); at += 1 + len(text)/1000 {
			check(&laws.Chunks{Text: []byte(text), Cuts: []int{at}})
		}
		check(iotest.OneByteReader(strings.NewReader(text)))
		check(iotest.DataErrReader(strings.NewReader(text)))
		undo()
	}
}

// withoutMessage removes the message of a syntax error, which quotes only as much as was read.
func withoutMessage(err error) error {
	if e, ok := err.(*errors.SyntaxError); ok {
		return &errors.SyntaxError{Position: e.Position, Path: e.Path, Err: e.Err}
	}
	return err
}

// checkPlaces asserts that each object has the results of a decoder that reads the whole text, in
// which blanks replace everything before the object except for line breaks. It skips texts with
// characters of several bytes, which no blank can replace.
func checkPlaces(t *testing.T, text string, all []visited) {
	t.Helper()
	lookup := catalog(t).Lookup
	for _, v := range all {
		start := int(v.position.Offset)
		require.Equal(t, v.raw, text[start:start+len(v.raw)])
		p, err := lookup("e.io/v1", v.kind)
		var unknown *schema.NotFoundError
		if err != nil || stderrors.As(v.err, &unknown) || !isASCII(text[:start]) {
			continue
		}
		blank := strings.Map(func(r rune) rune {
			if r == '\r' || r == '\n' {
				return r
			}
			return ' '
		}, text[:start])
		d := decoder.New(p)
		out, err := d.AppendJSON(nil, []byte(blank+v.raw))
		require.Equal(t, err, v.err)
		require.Equal(t, strings.TrimLeft(string(out), " \r\n"), v.out)
		require.Equal(t, append(errors.List(nil), d.Findings()...), v.findings)
	}
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
}

type sequenceCase struct {
	name, text string
	want       []string
	end        string // empty for io.EOF
}

func (c sequenceCase) check(t *testing.T, make newSequence) {
	t.Run(c.name, func(t *testing.T) {
		all, err := visit(t, make(strings.NewReader(c.text), catalog(t).Lookup))
		assert.Equal(t, c.want, texts(all))
		if c.end == "" {
			assert.Equal(t, io.EOF, err)
		} else {
			assert.EqualError(t, err, c.end)
		}
		checkPlaces(t, c.text, all)
		checkCuts(t, c.text, make)
	})
}

func TestSequence(t *testing.T) {
	for _, c := range []sequenceCase{
		{name: "nothing"},
		{name: "white space", text: " \r\n\t\n "},
		{
			name: "lines", text: `{` + isA + `,"spec":{"a":"x","u":1}}` + "\n" + `{` + isB +
				`,"spec":{"b":1,"b":2}}` + "\n\n" + `{` + isB + `,"spec":{}}` + "\n",
			want: []string{
				`1:1 A{` + isA + `,"spec":{"a":"x"}}; 1:52: unknown field "spec.u"`,
				`2:1 B{` + isB + `,"spec":{"b":2}}; 2:50: duplicate field "spec.b", first at 2:44`,
				`4:1 B{` + isB + `,"spec":{"b":7}}`,
			},
		},
		{
			name: "nothing between", text: `{` + isA + `}{` + isB + `,"x":1}{` + isA + `}`,
			want: []string{`1:1 A{` + isA + `}`, `1:36 B{` + isB + `}; 1:71: unknown field "x"`,
				`1:77 A{` + isA + `}`},
		},
		{
			name: "pretty", text: "\r\n{\r\n  " + isA + ",\r\n  \"x\": \"é\", \"y\": 1\r\n}\r\n{\r  " +
				isB + ",\r  \"z\": 1\r}\r",
			want: []string{
				"2:1 A{\r\n  " + isA + "\r\n}; 4:3: unknown field \"x\"; 4:13: unknown field \"y\"",
				"6:1 B{\r  " + isB + "\r}; 8:3: unknown field \"z\"",
			},
		},
		{
			name: "long white space", text: strings.Repeat(" ", 3000) + "\n{" + isA + "}" +
				strings.Repeat("\r\n", 1500) + "{" + isB + "}",
			want: []string{`2:1 A{` + isA + `}`, `1502:1 B{` + isB + `}`},
		},
		{
			name: "no objects", text: `12 "s"null true[{}]-0.5{` + isA + `}falsenull1`,
			want: []string{
				`1:1 ; 1:1: the document must be an object, not a number`,
				`1:4 ; 1:4: the document must be an object, not a string`,
				`1:7 ; 1:7: the document must be an object, not null`,
				`1:12 ; 1:12: the document must be an object, not a boolean`,
				`1:16 ; 1:16: the document must be an object, not an array`,
				`1:20 ; 1:20: the document must be an object, not a number`,
				`1:24 A{` + isA + `}`,
				`1:59 ; 1:59: the document must be an object, not a boolean`,
				`1:64 ; 1:64: the document must be an object, not null`,
				`1:68 ; 1:68: the document must be an object, not a number`,
			},
		},
		{
			name: "of what is unknown", text: `{"kind":"A"}{` + isA +
				`}{"apiVersion":"e.io/v2","kind":"A"}{"kind":5}{` + isB + `}`,
			want: []string{
				`1:1 A; no matches for kind "A" in version ""`,
				`1:13 A{` + isA + `}`,
				`1:48 A; no matches for kind "A" in version "e.io/v2": the kind has v1`,
				`1:83 ; 1:91: field "kind" must be a string, not a number`,
				`1:93 B{` + isB + `}`,
			},
		},
		{
			name: "an error of one object", text: `{` + isA + `,"metadata":{"name":1}} {` + isA + `}`,
			want: []string{
				`1:1 A; 1:55: field "metadata.name" must be a string, not a number; ` +
					`1:55: field "metadata.name" must be a string, not a number`,
				`1:59 A{` + isA + `}`,
			},
		},
		{
			name: "fault in an object", text: "{" + isA + "}\r\n{\"x\":[1,]}{}",
			want: []string{`1:1 A{` + isA + `}`},
			end:  `2:9: invalid character ']', where a value is expected`,
		},
		{
			name: "fault between", text: "{" + isA + "}\n,{}", want: []string{`1:1 A{` + isA + `}`},
			end: `2:1: invalid character ',', where a value is expected`,
		},
		// The value before is not part of the number or literal.
		{
			name: "fault after a number", text: "1-x",
			want: []string{`1:1 ; 1:1: the document must be an object, not a number`},
			end:  `1:3: invalid character 'x' in a number, where a digit is expected`,
		},
		{
			name: "fault after a literal", text: "truefalsy",
			want: []string{`1:1 ; 1:1: the document must be an object, not a boolean`},
			end:  `1:9: invalid character 'y' in the literal false`,
		},
		{
			name: "beyond float64", text: "null-1e999",
			want: []string{`1:1 ; 1:1: the document must be an object, not null`},
			end:  `1:5: number "-1e999" is beyond the range of float64`,
		},
		{
			name: "not UTF-8", text: "null \"é\xc3\"",
			want: []string{`1:1 ; 1:1: the document must be an object, not null`},
			end:  `1:8: invalid UTF-8 in a string: "\xc3"`,
		},
		{name: "lone surrogate", text: `{"a":"\ud800"}`, end: `1:7: invalid escape "\\ud800" in a string: four hexadecimal digits that are not half of a surrogate pair are expected`},
		{name: "byte order mark", text: "\ufeff{}", end: `1:1: byte order mark, which JSON must not start with`},
		{name: "NUL", text: " \x00", end: `1:2: invalid character '\x00', where a value is expected`},
	} {
		c.check(t, decoder.NewSequence)
	}
}

func TestListSequence(t *testing.T) {
	a, b := `{`+isA+`}`, `{`+isB+`,"x":1}` // they have 35 and 41 bytes
	for _, c := range []sequenceCase{
		{name: "kind before", text: `{"kind":"List","items":[` + a + `,` + b + `]}`, want: []string{
			`1:25 A` + a, `1:61 B{` + isB + `}; 1:96: unknown field "x"`,
		}},
		{name: "kind after", text: "{\r\n\"items\": [\r\n" + a + " ,\r\n " + b + "\r\n] , \"metadata\" : {\"items\":[1]}, \"kind\":\"List\"}\r\n", want: []string{
			`3:1 A` + a, `4:2 B{` + isB + `}; 4:37: unknown field "x"`,
		}},
		{name: "escaped", text: `{"it\u0065ms":[` + a + `]}`, want: []string{`1:16 A` + a}},
		{name: "null", text: `{"items":null}`},
		{name: "absent", text: `{"kind":"List","item":[1],"Items":[2],"itemss":[3]}`},
		{name: "empty object", text: ` { } `},
		{name: "empty", text: `{"items" : [ ] }`},
		{name: "nested", text: `{"items":[{"kind":"List","items":[` + b + `]},` + a + `]}`, want: []string{
			`1:11 List; no matches for kind "List" in version ""`, `1:79 A` + a,
		}},
		{name: "no objects", text: `{"items":[null,1,[]]}`, want: []string{
			`1:11 ; 1:11: the document must be an object, not null`,
			`1:16 ; 1:16: the document must be an object, not a number`,
			`1:18 ; 1:18: the document must be an object, not an array`,
		}},
		{name: "long members beside", text: `{"a":"` + strings.Repeat(`\"é`, 1000) + `","items":[` + a + `],"b":[` + strings.Repeat(`{"k":[1]},`, 500) + `0]}`, want: []string{
			`1:3018 A` + a,
		}},

		{name: "nothing", end: `1:1: unexpected end of input, where an object is expected`},
		{name: "white space", text: " \n", end: `2:1: unexpected end of input, where an object is expected`},
		{name: "no object", text: `[` + a + `]`, end: `1:1: invalid character '[', where an object is expected`},
		{name: "twice", text: `{"items":[` + a + `],` + "\n" + `"items":[` + a + `]}`, want: []string{`1:11 A` + a},
			end: `2:1: duplicate field "items", first at 1:2: the first was sent already`},
		{name: "twice, null first", text: `{"items":null, "it\u0065ms":[]}`,
			end: `1:16: duplicate field "items", first at 1:2: the first was sent already`},
		{name: "items are an object", text: `{"items":{}}`, end: `1:10: invalid character '{', where an array or null is expected`},
		{name: "items are text", text: `{"items":"a"}`, end: `1:10: invalid character '"', where an array or null is expected`},
		{name: "items are no null", text: `{"items":nil}`, end: `1:11: invalid character 'i' in the literal null`},
		{name: "text after", text: `{"items":[` + a + `]}` + "\n x", want: []string{`1:11 A` + a},
			end: `2:2: something follows the document: "x"`},
		{name: "no name", text: `{items:[]}`, end: `1:2: invalid character 'i', where a name in double quotes or '}' is expected`},
		{name: "no colon", text: `{"items" []}`, end: `1:10: invalid character '[', where ':' is expected`},
		{name: "no comma", text: `{"items":[] "kind":""}`, end: `1:13: invalid character '"', where ',' or '}' is expected`},
		{name: "comma before the end", text: `{"items":[],}`, end: `1:13: invalid character '}', where a name in double quotes is expected`},
		{name: "bad name", text: `{"it\qems":[]}`, end: `1:5: invalid escape "\\q" in a string`},
		{name: "bad member", text: `{"kind":["é",x],"items":[` + a + `]}`, end: `1:14: invalid character 'x', where a value is expected`},
		{name: "no comma between items", text: `{"items":[` + a + ` ` + a + `]}`, want: []string{`1:11 A` + a},
			end: `1:47: invalid character '{', where ',' or ']' is expected`},
		{name: "comma after items", text: `{"items":[` + a + `,]}`, want: []string{`1:11 A` + a},
			end: `1:47: invalid character ']', where a value is expected`},
		{name: "bad item", text: `{"items":[` + a + `,` + "\n" + ` {"é" 1}]}`, want: []string{`1:11 A` + a},
			end: `2:7: invalid character '1', where ':' is expected`},
	} {
		c.check(t, decoder.NewListSequence)
	}
}

func TestYAMLSequence(t *testing.T) {
	a := "apiVersion: e.io/v1\nkind: A\n"
	for _, c := range []sequenceCase{
		{name: "nothing"},
		{name: "empty ones", text: "---\n# nothing\n---\n---\nnull\n---\n~\n...\n" + a + "---\n", want: []string{`9:1 A{` + isA + `}`}},
		{name: "an empty one at the end", text: a + "---\nnull\n", want: []string{`1:1 A{` + isA + `}`}},
		{name: "documents", text: "# é\n" + a + "é: 1\n---\n" + a + "spec:\n  a: x\n  u: 1\n--- {" + isB + ", spec: {}}\n", want: []string{
			`1:1 A{` + isA + `}; 4:1: unknown field "é"`,
			`5:1 A{` + isA + `,"spec":{"a":"x"}}; 10:3: unknown field "spec.u"`,
			`11:1 B{` + isB + `,"spec":{"b":7}}`,
		}},
		{name: "CR LF", text: strings.ReplaceAll(a+"é: 1\n---\n"+a+"u: 1\n", "\n", "\r\n"), want: []string{
			`1:1 A{` + isA + `}; 3:1: unknown field "é"`,
			`4:1 A{` + isA + `}; 7:1: unknown field "u"`,
		}},
		{name: "errors of one document", text: "a: [\n---\n- 1\n---\napiVersion: x\nkind:  5\n---\nkind: é\n---\n" + a + "metadata: {name: [1]}\n---\n" + a, want: []string{
			`1:1 ; 2:1: did not find the end of the collection: the text ends within brackets in "a[0]"`,
			`2:1 ; 3:1: the document must be an object, not an array`,
			`4:1 ; 6:8: field "kind" must be a string, not a number`,
			`7:1 é; no matches for kind "é" in version ""`,
			`9:1 A; 12:18: field "metadata.name" must be a string, not an array; 12:18: field "metadata.name" must be a string, not an array`,
			`13:1 A{` + isA + `}`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			all, err := visit(t, decoder.NewYAMLSequence(strings.NewReader(c.text), catalog(t).Lookup))
			assert.Equal(t, c.want, texts(all))
			assert.Equal(t, io.EOF, err)
			checkCuts(t, c.text, decoder.NewYAMLSequence)
		})
	}
}

// TestSequenceTypeErrors asserts the positions of type errors, which are in their findings.
func TestSequenceTypeErrors(t *testing.T) {
	for _, c := range []struct {
		make newSequence
		text string
		want errors.Position
	}{
		{decoder.NewSequence, "null\n {\"x\":\"é\",\"kind\":5}", errors.Position{Offset: 23, Line: 2, Column: 18, ByteColumn: 19}},
		{decoder.NewYAMLSequence, "x: é\n---\nx: é\nkind: 5\n", errors.Position{Offset: 22, Line: 4, Column: 7, ByteColumn: 7}},
	} {
		all, err := visit(t, c.make(strings.NewReader(c.text), catalog(t).Lookup))
		require.Equal(t, io.EOF, err)
		require.Len(t, all, 2)
		var mismatch *errors.TypeError
		require.ErrorAs(t, all[1].err, &mismatch)
		assert.Equal(t, c.want, mismatch.Findings[0].Position)
		checkCuts(t, c.text, c.make)
	}
}

func TestSequenceUnmarshal(t *testing.T) {
	for _, c := range []struct {
		make newSequence
		text string
	}{
		{decoder.NewSequence, `{` + isA + `,"spec":{"a":"x"}} {"kind":"C"}` + `{` + isB + `,"spec":{"x":1}}`},
		{decoder.NewListSequence, `{"items":[{` + isA + `,"spec":{"a":"x"}},{"kind":"C"},{` + isB + `,"spec":{"x":1}}]}`},
		{decoder.NewYAMLSequence, "{" + isA + ", spec: {a: x}}\n---\nkind: C\n---\n{" + isB + ", spec: {x: 1}}\n"},
	} {
		s := c.make(strings.NewReader(c.text), catalog(t).Lookup, decoder.Strict)
		var v map[string]any
		require.NoError(t, s.Next())
		require.NoError(t, s.Unmarshal(&v))
		assert.Equal(t, map[string]any{"apiVersion": "e.io/v1", "kind": "A",
			"spec": map[string]any{"a": "x"}}, v)
		assert.Empty(t, s.Findings())

		require.NoError(t, s.Next())
		var unknown *schema.NotFoundError
		require.ErrorAs(t, s.Unmarshal(&v), &unknown)
		assert.Equal(t, "A", v["kind"], "nothing was stored")

		require.NoError(t, s.Next())
		assert.Empty(t, s.Findings(), "it was not decoded")
		assert.EqualError(t, s.Unmarshal(&v), `strict decoding error: unknown field "spec.x"`)
		assert.Equal(t, map[string]any{"apiVersion": "e.io/v1", "kind": "B",
			"spec": map[string]any{"b": int64(7)}}, v)
		assert.Len(t, s.Findings(), 1)
		assert.Equal(t, io.EOF, s.Next())
		assert.Empty(t, s.Findings())
		assert.Zero(t, s.Omitted())
	}
}

// TestSequenceAll asserts that the iterator yields each object and the error that ends it, and
// nothing after a break.
func TestSequenceAll(t *testing.T) {
	read := func(src string, most int) (objects []string, steps int, end error) {
		s := decoder.NewSequence(strings.NewReader(src), catalog(t).Lookup)
		for err := range s.All() {
			steps++
			if end = err; err == nil {
				out, err := s.AppendJSON(nil)
				require.NoError(t, err)
				objects = append(objects, string(out))
			}
			if steps == most {
				break
			}
		}
		return objects, steps, end
	}
	const a, b = "{" + isA + "}", "{" + isB + "}"
	objects, steps, err := read(a+"\n"+b+a, -1)
	require.NoError(t, err)
	assert.Equal(t, []string{a, b, a}, objects)
	assert.Equal(t, 3, steps)
	objects, steps, err = read(a+"]"+b, -1)
	require.ErrorContains(t, err, "1:36: ")
	assert.Equal(t, []string{a}, objects)
	assert.Equal(t, 2, steps)
	objects, _, err = read(a+b+"]", 1)
	require.NoError(t, err)
	assert.Equal(t, []string{a}, objects)
	_, steps, err = read("", -1)
	require.NoError(t, err)
	assert.Zero(t, steps)
}

func TestSequenceBeforeNext(t *testing.T) {
	s := decoder.NewSequence(strings.NewReader(`{}`), catalog(t).Lookup)
	const want = "decoder: a Sequence has no object before Next"
	_, err := s.AppendJSON(nil)
	assert.EqualError(t, err, want)
	assert.EqualError(t, s.Unmarshal(new(any)), want)
	_, _, err = s.Type()
	assert.EqualError(t, err, want)
	assert.Empty(t, s.Findings())
	assert.Nil(t, s.Raw())
}

// TestSequenceOfMany has more objects than a window holds, of two kinds, separated by lone carriage
// returns.
func TestSequenceOfMany(t *testing.T) {
	var text strings.Builder
	const n = 2000
	for i := range n {
		fmt.Fprintf(&text, "{%s,\"n\":%q}\r", []string{isA, isB}[i%2], strings.Repeat("é", i%700))
	}
	lookup := catalog(t).Lookup
	calls := 0
	s := decoder.NewSequence(strings.NewReader(text.String()),
		func(apiVersion, kind string) (*schema.Program, error) {
			calls++
			return lookup(apiVersion, kind)
		})
	all, err := visit(t, s)
	require.Equal(t, io.EOF, err)
	require.Len(t, all, n)
	assert.Equal(t, n, calls, "each is looked up once")
	offset := int64(0)
	for i, v := range all {
		require.Equal(t, errors.Position{Offset: offset, Line: i + 1, Column: 1, ByteColumn: 1},
			v.position)
		require.Equal(t, []string{"A", "B"}[i%2], v.kind)
		require.Equal(t, errors.Position{Offset: offset + 35, Line: i + 1, Column: 36, ByteColumn: 36},
			v.findings[0].Position)
		offset += int64(len(v.raw)) + 1
	}
}

// TestSequenceOfRandomDocuments asserts that random documents have the same results in a sequence,
// as values and as items, as alone.
func TestSequenceOfRandomDocuments(t *testing.T) {
	s, err := schema.Parse([]byte(decoder.TestSchema))
	require.NoError(t, err)
	p, err := schema.Compile(s)
	require.NoError(t, err)
	lookup := func(string, string) (*schema.Program, error) { return p, nil }
	d, limit := decoder.New(p), decoder.Limits{Findings: 2}
	limited := decoder.New(p, limit)
	decoded, located, omitted := 0, 0, 0
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 7))
		head, between, tail, make := "", "\r\n", "", decoder.NewSequence
		if seed%2 == 0 {
			head, between, tail, make = `{"items":[`, "\r,\n ", "]}", decoder.NewListSequence
		}
		var text strings.Builder
		var docs []string
		for range 5 {
			docs = append(docs, decoder.RandomDocument(random, s))
		}
		text.WriteString(head + strings.Join(docs, between) + tail)
		undo := decoder.SetFirstWindow(1 + random.IntN(200))
		objects := make(iotest.HalfReader(strings.NewReader(text.String())), lookup)
		few := make(strings.NewReader(text.String()), lookup, limit)
		for i := range docs {
			if err := objects.Next(); err != nil {
				_, alone := d.AppendJSON(nil, []byte(docs[i]))
				require.IsType(t, alone, err, "%s", docs[i])
				break
			}
			require.NoError(t, few.Next())
			require.Equal(t, strings.TrimSpace(docs[i]), string(objects.Raw()))
			if _, _, err := objects.Type(); err != nil {
				continue // a decoder finds this only if the schema has types
			}
			at := int(objects.Position().Offset)
			blank := strings.Map(func(r rune) rune {
				if r == '\r' || r == '\n' {
					return r
				}
				return ' '
			}, text.String()[:at])
			want, wantErr := d.AppendJSON(nil, []byte(blank+docs[i]))
			got, err := objects.AppendJSON(nil)
			require.Equal(t, strings.TrimSpace(string(want)), string(got))
			if len(blank) == at { // there are only characters of one byte
				require.Equal(t, wantErr, err)
				require.Equal(t, append(errors.List(nil), d.Findings()...),
					append(errors.List(nil), objects.Findings()...))
				located += len(objects.Findings())
			}
			decoded++

			_, _ = few.AppendJSON(nil)
			_, _ = limited.AppendJSON(nil, []byte(docs[i]))
			require.Equal(t, limited.Omitted(), few.Omitted())
			omitted += few.Omitted()
		}
		undo()
	}
	require.Greater(t, decoded, 500)
	require.Greater(t, located, 500)
	require.Positive(t, omitted)
}

// TestYAMLSequenceErrorPlaces asserts that errors have their positions in the stream.
func TestYAMLSequenceErrorPlaces(t *testing.T) {
	const stream = "a: b\n---\n# c\nkind: [1]\n---\nkind: A\nlonger-than-ten: 1\n"
	s := decoder.NewYAMLSequence(strings.NewReader(stream), catalog(t).Lookup,
		decoder.Limits{NameBytes: 10})
	require.NoError(t, s.Next())
	_, _, err := s.Type()
	require.NoError(t, err)
	require.NoError(t, s.Next())
	_, _, err = s.Type()
	require.EqualError(t, err, `4:7: field "kind" must be a string, not an array`)
	var mismatch *errors.TypeError
	require.ErrorAs(t, err, &mismatch)
	require.Equal(t, errors.Position{Offset: 19, Line: 4, Column: 7, ByteColumn: 7},
		mismatch.Findings[0].Position)
	require.NoError(t, s.Next())
	_, _, err = s.Type()
	require.ErrorContains(t, err, "7:1: length of a name in bytes exceeds the limit of 10")
	require.Equal(t, io.EOF, s.Next())
}
