package yamlbridge_test

import (
	"strings"
	"testing"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/yamlbridge"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestGrammarOfScalars(t *testing.T) {
	const (
		badTab  = "found a tab character that violates indentation"
		oneLine = "mapping values are not allowed in this context: a key and its colon are on one line"
		atEnd   = "found unexpected end of stream in a quoted scalar"
		marker  = "found unexpected document indicator in a quoted scalar"
		noSpace = "found a tab character where an indentation space is expected"
		header  = "did not find expected comment or line break after the indicators of a block scalar"
	)
	checkGrammar(t, []grammarCase{
		// Plain scalars that span lines.
		{"a\nb\n c\n", `"a b c"`, ""},
		{"1\n---\n", `1`, ""},
		{" 1\n ---\n", `"1 ---"`, ""},
		{"1\n\n---\n", `1`, ""},
		{" 1\n\n ---\n", `"1\n---"`, ""},
		{"a: b\n\n  :c", `{"a":"b\n:c"}`, ""},
		{"a: b\t\n c\t\n d\t", `{"a":"b c d"}`, ""},
		{"- a: b\n    c\n\n  \t\n    d", "! 4:3 " + badTab, `[{"a":"b c\n\nd"}]`},
		{"a: b\n  c\n\n\n  d  \ne: f", `{"a":"b c\n\nd","e":"f"}`, ""},
		{"a: b\n c # d\ne: f", `{"a":"b c","e":"f"}`, ""},
		{"a: b\n c\n# d\ne: f", `{"a":"b c","e":"f"}`, ""},
		{"a: b\n\n# c\nd: e", `{"a":"b","d":"e"}`, ""},
		{"a: b\n # c\nd: e", `{"a":"b","d":"e"}`, ""},
		{"a: b # c\n d: e", "! 2:2 did not find expected key", ""},
		{"a: b\n c: d", "! 2:3 mapping values are not allowed", ""},
		{"a: b\n c\n d: e", "! 3:3 " + oneLine, ""},
		{"a: b\n  : c", "! 2:3 did not find expected key", ""},
		{"a: b\n  c\n  : d", "! 3:3 did not find expected key", ""},
		{"a: b\n  :c\n  -d\n  - e\n  ?f\n  {g]", `{"a":"b :c -d - e ?f {g]"}`, ""},
		{"a: b\n\n\t\nc: d", "! 3:1 " + badTab, `{"a":"b","c":"d"}`},
		{"a: b\n\t\n  c", "! 2:1 " + badTab, `{"a":"b\nc"}`},
		{"a: b\n\t c", "! 2:1 " + badTab, ""},
		{"a: b\n \tc\n \td", `{"a":"b c d"}`, ""},
		{"a: b\n  c\n\td", "! 3:1 " + badTab, ""},
		{"a: b\n  c\n\t\n  d", "! 3:1 " + badTab, `{"a":"b c\nd"}`},
		{"a: b\n  c\n \t\n  d", `{"a":"b c\nd"}`, ""},
		{"- a\n - b\n-", `["a - b",null]`, ""},
		{"a\n---b\n--- ", `"a ---b"`, ""},
		{"a\n---\n", `"a"`, ""},
		{"a\nb\n...\n", `"a b"`, ""},
		{"a: 1\n  2\nb: !!str 1\n  2\nc: &x 3\n  4\nd: *x", `{"a":"1 2","b":"1 2","c":"3 4","d":"3 4"}`, ""},
		{"a: !!int 1\n  2", `! 1:4 cannot decode !!str "1 2" as !!int`, ""},
		{"a \" \\ b\tc\x7e é ‰ \u2030 中 \uE000 \uFFFD 😀", `"a \" \\ b\tc~ é ‰ ` + "\u2030 中 \uE000 \uFFFD" + ` 😀"`, ""},
		{"a\u00A0\u202F\u2030", `"a` + "\u00A0\u202F\u2030" + `"`, ""},
		{"a:b# c#d:#e # f", `"a:b# c#d:#e"`, ""},
		{"a #b: c", `"a"`, ""},
		{"a# b:#c: d", `{"a# b:#c":"d"}`, ""},
		{"a:: b", `{"a:":"b"}`, ""},
		// Scalars in single quotes.
		{"'a''b\"\\c\t'", `"a'b\"\\c\t"`, ""},
		{"''''", `"'"`, ""},
		{"'a\n  b\n\n  c '", `"a b\nc "`, ""},
		{"' a \n \t b \n\n'", `" a b\n"`, ""},
		{"'a", "! 1:1 " + atEnd, ""},
		{"- 'a\n  b", "! 1:3 " + atEnd, ""},
		{"'a\n---\n'", "! 2:1 " + marker, ""},
		{"'a\n--- b'", "! 2:1 " + marker, ""},
		{"'a\n... '", "! 2:1 " + marker, ""},
		{"'a\n ---\n'", `"a --- "`, ""},
		{"'a\n---b'", `"a ---b"`, ""},
		{"a: 'b\n c'", `{"a":"b c"}`, ""},
		{"a: 'b\nc'", `{"a":"b c"}`, "! 2:1 a line of a quoted scalar is not indented"},
		{"a: 'b\n\n c'", `{"a":"b\nc"}`, ""},
		{"- - 'b\n   c'", `[["b c"]]`, ""},
		{"- - 'b\n  c'", `[["b c"]]`, "! 2:3 a line of a quoted scalar is not indented"},
		{"'a\u2028 b\u0085\u2029c'", `"a` + "\u2028b\u2029" + `c"`, `"a` + "\u2028 b\u0085\u2029" + `c"`},
		// Scalars in double quotes.
		{`"\0\a\b\t\n\v\f\r\e\ \"\\\N\_\L\P"`, `"\u0000\u0007\b\t\n` + `\u000b\f\r\u001b \"\\` + "\u0085\u00a0\u2028\u2029" + `"`, ""},
		{`"\` + "\t" + `\/a"`, `"\t/a"`, ""},
		{`"\x41\u00e9\u4e2D\U0001F600\x7f\x1f"`, `"Aé中😀` + "\x7f" + `\u001f"`, ""},
		{`"\x08\x0c\x0d\x0a\x09\x22\x5C"`, `"\b\f\r\n\t\"\\"`, ""},
		{`"\'"`, `"'"`, "! 1:2 found unknown escape character"},
		{`"\z"`, "! 1:2 found unknown escape character", ""},
		{`"\x4"`, "! 1:2 did not find expected hexadecimal number", ""},
		{`"\xg1"`, "! 1:2 did not find expected hexadecimal number", ""},
		{`"\x/1\x:1"`, "! 1:2 did not find expected hexadecimal number", ""},
		{`"\x` + "`" + `1"`, "! 1:2 did not find expected hexadecimal number", ""},
		{`"\u123"`, "! 1:2 did not find expected hexadecimal number", ""},
		{`"\U0010FFFF"`, `"` + "\U0010FFFF" + `"`, ""},
		{`"\U00110000"`, "! 1:2 found invalid Unicode character escape code", ""},
		{`"\UFFFFFFFF"`, "! 1:2 found invalid Unicode character escape code", ""},
		{`"\U100000041"`, "! 1:2 found invalid Unicode character escape code", ""},
		{`"\ud83d\ude00\uD83D\uDE00"`, `"😀😀"`, ""},
		{`"\ud83d"`, "! 1:2 found invalid Unicode character escape code", ""},
		{`"\ud83da"`, "! 1:2 found invalid Unicode character escape code", ""},
		{`"\ud83d\n"`, "! 1:2 found invalid Unicode character escape code", ""},
		{`"\ud83d\u0041"`, "! 1:2 found invalid Unicode character escape code", ""},
		{`"\ud83d\ud83d"`, "! 1:2 found invalid Unicode character escape code", ""},
		{`"\ud83d\u00"`, "! 1:2 found invalid Unicode character escape code", ""},
		{`"\ude00\ud83d"`, "! 1:2 found invalid Unicode character escape code", ""},
		{`"\U0000d83d\ude00"`, "! 1:2 found invalid Unicode character escape code", ""},
		{"\"a\\\n  b\"", `"ab"`, ""},
		{"\"a \\\n\n  b\"", `"a \nb"`, ""},
		{"\"a\\\n  \\ b\\\n\"", `"a b"`, ""},
		{"\"a\\\n\u2028\n  b\"", `"a` + "\u2028" + `\nb"`, `"a` + "\u2028" + ` b"`},
		{"\"a\n  b\n\n\n  c\"", `"a b\n\nc"`, ""},
		{"\"a \t\n \t b\tc \t d\"", `"a b\tc \t d"`, ""},
		{"\"a\t\"", `"a\t"`, ""},
		{"\"\t\n a\"", `" a"`, ""},
		{"\"a", "! 1:1 " + atEnd, ""},
		{"- \"a\\\n", "! 1:3 " + atEnd, ""},
		{"\"a\n---\"", `"a ---"`, ""},
		{"\"a\n--- \"", "! 2:1 " + marker, ""},
		{"\"a\\\n... \"", "! 2:1 " + marker, ""},
		{"a: \"b\nc\"", `{"a":"b c"}`, "! 2:1 a line of a quoted scalar is not indented"},
		{"- \"a\" # c\n- \"b\"\t", `["a","b"]`, ""},
		// Literal scalars.
		{"|\n a\n  b\n\n c\n", `"a\n b\n\nc\n"`, ""},
		{"|\n a", `"a"`, `"a\n"`},
		{"|\n a\n ", `"a\n"`, ""},
		{"|+\n a\n\n", `"a\n\n"`, ""},
		{"|+\n a\n\n ", `"a\n\n"`, `"a\n\n\n"`},
		{"|-\n a\n\n", `"a"`, ""},
		{"|\n\n a", `"\na"`, `"\na\n"`},
		{"a: |\nb: c", `{"a":"","b":"c"}`, ""},
		{"a: |\n\n\nb: c", `{"a":"","b":"c"}`, ""},
		{"a: |+\n\n\nb: c", `{"a":"\n\n","b":"c"}`, ""},
		{"a: |+\nb: c", `{"a":"","b":"c"}`, ""},
		{"a: |-\n\nb: c", `{"a":"","b":"c"}`, ""},
		{"a: |", `{"a":""}`, ""},
		{"a: |+ # c\n  b\n # d\n\nc: d", `{"a":"b\n","c":"d"}`, ""},
		{"a: |\n  b\n # c\n  d", "! 4:3 did not find expected key", ""},
		{"a: |2\n   b\n  c\n", `{"a":" b\nc\n"}`, ""},
		{"a: |2-\n   b\n", `{"a":" b"}`, ""},
		{"a: |-2\n   b\n", `{"a":" b"}`, ""},
		{"a: |+1 # c\n   b\n\n", `{"a":"  b\n\n"}`, ""},
		{"- - |1\n    b\n", `[[" b\n"]]`, ""},
		{"- |9\n          b\n", `[" b\n"]`, ""},
		{"a: |0\n b", "! 1:5 found an indentation indicator equal to 0", ""},
		{"a: |10\n b", "! 1:6 " + header, ""},
		{"a: |++\n b", "! 1:6 " + header, ""},
		{"a: |1-1\n b", "! 1:7 " + header, ""},
		{"a: |x\n b", "! 1:5 " + header, ""},
		{"a: | x\n b", "! 1:6 " + header, ""},
		{"a: |#c\n b", `{"a":"b"}`, "! 1:5 " + header},
		{"a: |\t#c\n b\n", `{"a":"b\n"}`, ""},
		{"a: |\n \tb", "! 2:2 " + noSpace, `{"a":"\tb\n"}`},
		{"a: |\n\tb", "! 2:1 " + noSpace, ""},
		{"a: |\n  b\n\tc", "! 3:1 " + noSpace, ""},
		{"a: |\n  b\n \tc", "! 3:2 " + noSpace, ""},
		{"a: |\n  b\n  \tc\n", `{"a":"b\n\tc\n"}`, ""},
		{"a: |\n   \n  b\n", "! 3:3 did not find expected key", "! 3:3 an empty line at the start of a block scalar has more spaces"},
		{"a: |\n   \n b\n", "! 3:2 did not find expected key", "! 3:2 an empty line at the start of a block scalar has more spaces"},
		{"--- |\n \n---\n", `""`, ""},
		{"a: |\n  \n  b\n", `{"a":"\nb\n"}`, ""},
		{"a: |\n    \nb: c", `{"a":"","b":"c"}`, ""},
		{"--- |\na\n", "! 2:1 nothing may follow the document", `"a\n"`},
		{"--- |\n a\n---\n", `"a\n"`, ""},
		{"|\n a\n--- \n", `"a\n"`, ""},
		{"--- |\na\n---\n", "! 2:1 nothing may follow the document", `"a\n"`},
		{"|\n a\n ---\n b\n", `"a\n---\nb\n"`, ""},
		{"--- |1\n a\n", `"a\n"`, ""},
		{"a: |\n  \"b\\\r\n\r\n  c\x7e\r\n", `{"a":"\"b\\\n\nc~\n"}`, ""},
		{"a: !!str |\n b\nc: &x |-\n d\ne: *x\nf: !!int |-\n 5", `{"a":"b\n","c":"d","e":"d","f":5}`, ""},
		{"a: !!str |\n \tb", "! 2:2 " + noSpace, `{"a":"\tb\n"}`},
		// Folded scalars.
		{">\n a\n b\n\n c\n\n\n d\n", `"a b\nc\n\nd\n"`, ""},
		{">\n a\n  b\n c\n", `"a\n b\nc\n"`, ""},
		{">\n a\n\n  b\n\n c\n", `"a\n\n b\n\nc\n"`, ""},
		{">\n a\n \tb\n c\n", `"a\n\tb\nc\n"`, ""},
		{">\n  a\n   b\n   c\n  d\n  e", `"a\n b\n c\nd e"`, `"a\n b\n c\nd e\n"`},
		{">\n\n a\n", `"\na\n"`, ""},
		{">+\n a\n\n\n", `"a\n\n\n"`, ""},
	})
}

// TestSourceLimit holds that what is too long is refused before it is looked at.
func TestSourceLimit(t *testing.T) {
	defer yamlbridge.SetMaxSourceBytes(10)()
	requireJSON(t, "a: '45678'", `{"a":"45678"}`)
	var limit *errors.LimitError
	r := yamlbridge.Reader{}
	out, err := r.AppendJSON([]byte("before"), []byte("\x00: '456789'"))
	require.ErrorAs(t, err, &limit)
	assert.Equal(t, errors.LimitError{Limit: errors.LimitDocumentBytes, Max: 10, Position: errors.Position{Line: 1, Column: 1, ByteColumn: 1}}, *limit)
	assert.Equal(t, "before", string(out))
}

// TestExcerpts holds that messages have no more of a document than the first bytes, and no part of a character.
func TestExcerpts(t *testing.T) {
	for n, want := range map[int]string{64: strings.Repeat("x", 62) + "é", 65: strings.Repeat("x", 63), 66: strings.Repeat("x", 64)} {
		_, err := core("*" + strings.Repeat("x", n-2) + "é")
		want = `"` + want + `"`
		if n > 64 {
			want += "..."
		}
		require.ErrorContains(t, err, "unknown anchor "+want, n)
	}
}
