package decoder

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	ferrors "github.com/espalier-dev/espalier/errors"
)

// TestFaults asserts the message and the position of each fault, and that a document which ends too
// early is told from one that is wrong.
func TestFaults(t *testing.T) {
	const noPair = `four hexadecimal digits that are not half of a surrogate pair are expected in "s"`
	d := New(compileYAML(t, testSchema))
	for _, c := range []struct {
		src, want string
		early     bool
	}{
		{"", `1:1: unexpected end of input, where a value is expected`, true},
		{" \n", `2:1: unexpected end of input, where a value is expected`, true},
		{"\ufeff", `1:1: byte order mark, which JSON must not start with`, false},
		{"\ufeff{}", `1:1: byte order mark, which JSON must not start with`, false},
		{"\xef\xbb", `1:1: invalid character "\xef", where a value is expected`, false},
		{" \ufeff", `1:2: invalid character '\ufeff', where a value is expected`, false},
		{"{} x", `1:4: something follows the document: "x"`, false},
		{"{} 345678901234567890123456789012", `1:4: something follows the document: "345678901234567890123456789012"`, false},
		{"{}34567890123456789012345678901234", `1:3: something follows the document: "34567890123456789012345678901234"`, false},
		{"{}345678901234567890123456789012345", `1:3: something follows the document: "34567890123456789012345678901234"...`, false},
		{"{}}", `1:3: something follows the document: "}"`, false},
		{"[", `1:2: unexpected end of input, where a value or ']' is expected in "[0]"`, true},
		{"{", `1:2: unexpected end of input, where a name in double quotes or '}' is expected`, true},
		{"{}\n,", `2:1: something follows the document: ","`, false},
		{"{\"s\"", `1:5: unexpected end of input, where ':' is expected in "s"`, true},
		{"{\"s\":", `1:6: unexpected end of input, where a value is expected in "s"`, true},
		{"{\"s\":\"a\"", `1:9: unexpected end of input, where ',' or '}' is expected in "s"`, true},
		{"{\"s\":\"a\",", `1:10: unexpected end of input, where a name in double quotes is expected`, true},
		{"{\"list\":[", `1:10: unexpected end of input, where a value or ']' is expected in "list[0]"`, true},
		{"{\"list\":[}", `1:10: invalid character '}', where a value or ']' is expected in "list[0]"`, false},
		{"{\"list\":[{},", `1:13: unexpected end of input, where a value is expected in "list[1]"`, true},
		{"{\"list\":[{},]}", `1:13: invalid character ']', where a value is expected in "list[1]"`, false},
		{"{\"list\":[{\"name\":\"a\" \"d\"}]}", `1:22: invalid character '"', where ',' or '}' is expected in "list[0].name"`, false},
		{"{\"s\" \"a\"}", `1:6: invalid character '"', where ':' is expected in "s"`, false},
		{"{s:1}", `1:2: invalid character 's', where a name in double quotes or '}' is expected`, false},
		{"{\"s\":\"a\",}", `1:10: invalid character '}', where a name in double quotes is expected`, false},
		{"{,}", `1:2: invalid character ',', where a name in double quotes or '}' is expected`, false},
		{"{\"s\":tru", `1:9: unexpected end of input within the literal true in "s"`, true},
		{"{\"s\":trux}", `1:9: invalid character 'x' in the literal true in "s"`, false},
		{"{\"s\":nul}", `1:9: invalid character '}' in the literal null in "s"`, false},
		{"{\"s\":falsey}", `1:11: invalid character 'y', where ',' or '}' is expected in "s"`, false},
		{"{\"n\":1.", `1:8: unexpected end of input within a number in "n"`, true},
		{"{\"n\":1.x}", `1:8: invalid character 'x' in a number, where a digit is expected in "n"`, false},
		{"{\"n\":-", `1:7: unexpected end of input within a number in "n"`, true},
		{"{\"n\":-x}", `1:7: invalid character 'x' in a number, where a digit is expected in "n"`, false},
		{"{\"n\":1e+", `1:9: unexpected end of input within a number in "n"`, true},
		{"{\"n\":1e+\"", `1:9: invalid character '"' in a number, where a digit is expected in "n"`, false},
		{"{\"n\":01}", `1:7: invalid character '1', where ',' or '}' is expected in "n"`, false},
		{"{\"s\":\"ab", `1:9: unexpected end of input within a string in "s"`, true},
		{"{\"s\":\"\\", `1:8: unexpected end of input within a string in "s"`, true},
		{"{\"s\":\"\\q\"}", `1:7: invalid escape "\\q" in a string in "s"`, false},
		{"{\"s\":\"\\u12G4\"}", `1:7: invalid escape "\\u12G4" in a string: ` + noPair, false},
		{"{\"s\":\"\\u12", `1:11: unexpected end of input within a string in "s"`, true},
		{"{\"s\":\"\\u12\"}", `1:7: invalid escape "\\u12\"}" in a string: ` + noPair, false},
		{"{\"s\":\"\\ud800\"}", `1:7: invalid escape "\\ud800" in a string: ` + noPair, false},
		{"{\"s\":\"\\ud800\\u0041\"}", `1:7: invalid escape "\\ud800" in a string: ` + noPair, false},
		{"{\"s\":\"\\udc00\\udc00\"}", `1:7: invalid escape "\\udc00" in a string: ` + noPair, false},
		{"{\"s\":\"a\x80\"}", `1:8: invalid UTF-8 in a string: "\x80" in "s"`, false},
		{"{\"s\":\"é\xff\"}", `1:8: invalid UTF-8 in a string: "\xff" in "s"`, false},
		{"{\"s\":\"a\x1f\"}", `1:8: control character '\x1f' in a string, where it must be escaped in "s"`, false},
		{"{\"s\":\"\x00\"}", `1:7: control character '\x00' in a string, where it must be escaped in "s"`, false},
		{"{\"s\":\"a\n\"}", `1:8: control character '\n' in a string, where it must be escaped in "s"`, false},
		{"{\"s\":é}", `1:6: invalid character 'é', where a value is expected in "s"`, false},
		{"{\"s\":\xff}", `1:6: invalid character "\xff", where a value is expected in "s"`, false},
		{"{\"s\":\x7f}", `1:6: invalid character '\x7f', where a value is expected in "s"`, false},
		{"{\"é\":{\"a\\u0062\":[1,{\"c\":}]}}", `1:25: invalid character '}', where a value is expected in "é.ab[1].c"`, false},
		{"{\"raw\":{\"a\":[1 2]}}", `1:16: invalid character '2', where ',' or ']' is expected in "raw.a[0]"`, false},
		{"{\"raw\":[{\"a\":1 2}]}", `1:16: invalid character '2', where ',' or '}' is expected in "raw[0].a"`, false},
		{"{\"x\":{\"a\":[9 2]}}", `1:14: invalid character '2', where ',' or ']' is expected in "x.a[0]"`, false},
		{"{\"x\":[{\"a\":1 2}]}", `1:14: invalid character '2', where ',' or '}' is expected in "x[0].a"`, false},
		{"{\"n\":9.x}", `1:8: invalid character 'x' in a number, where a digit is expected in "n"`, false},
		{"{\"list\":[x]}", `1:10: invalid character 'x', where a value or ']' is expected in "list[0]"`, false},
		{"{\"list\":[{},x]}", `1:13: invalid character 'x', where a value is expected in "list[1]"`, false},
		{"{\"s\":\ufffd}", "1:6: invalid character '\ufffd', where a value is expected in \"s\"", false},
	} {
		_, err := d.AppendJSON(nil, []byte(c.src))
		require.EqualError(t, err, c.want, "%q", c.src)
		if c.early {
			assert.ErrorIs(t, err, io.ErrUnexpectedEOF, "%q", c.src)
		} else {
			assert.NotErrorIs(t, err, io.ErrUnexpectedEOF, "%q", c.src)
		}
		_, err = io.ReadAll(d.NewReader(strings.NewReader(c.src)))
		assert.EqualError(t, err, c.want, "%q", c.src)
		// Of single bytes the message quotes less, but the position and the expectation are the same.
		_, err = io.ReadAll(d.NewReader(iotest.OneByteReader(strings.NewReader(c.src))))
		position, _, _ := strings.Cut(c.want, " ")
		_, expected, _ := strings.Cut(c.want, ", where ")
		assert.True(t, strings.HasPrefix(err.Error(), position+" ") &&
			strings.HasSuffix(err.Error(), expected), "%q: %v", c.src, err)
	}
}

func TestSyntaxErrors(t *testing.T) {
	d := New(compileYAML(t, testSchema))
	for _, c := range []struct{ src, want string }{
		{``, `1:1: unexpected end of input, where a value is expected`},
		{" \n ", `2:2: unexpected end of input, where a value is expected`},
		{`{"s":"a"`, `1:9: unexpected end of input, where ',' or '}' is expected in "s"`},
		{`{"s":"a",}`, `1:10: invalid character '}', where a name in double quotes is expected`},
		{`{"s" "a"}`, `1:6: invalid character '"', where ':' is expected in "s"`},
		{`{s:1}`, `1:2: invalid character 's', where a name in double quotes or '}' is expected`},
		{`{"list":[1,]}`, `1:12: invalid character ']', where a value is expected in "list[1]"`},
		{`{"list":[1 2]}`, `1:12: invalid character '2', where ',' or ']' is expected in "list[0]"`},
		{`{"x":{"y":[01]}}`, `1:13: invalid character '1', where ',' or ']' is expected in "x.y[0]"`},
		{`{"x":-}`, `1:7: invalid character '}' in a number, where a digit is expected in "x"`},
		{`{"x":1.}`, `1:8: invalid character '}' in a number, where a digit is expected in "x"`},
		{`{"x":nul}`, `1:9: invalid character '}' in the literal null in "x"`},
		{`{"x":"a` + "\x01" + `"}`, `1:8: control character '\x01' in a string, where it must be escaped in "x"`},
		{`{"x":"\q"}`, `1:7: invalid escape "\\q" in a string in "x"`},
		{`{"x":"\ud800"}`, `1:7: invalid escape "\\ud800" in a string: four hexadecimal digits that are not half of a surrogate pair are expected in "x"`},
		{`{"x":"` + "\xff" + `"}`, `1:7: invalid UTF-8 in a string: "\xff" in "x"`},
		{"\ufeff{}", `1:1: byte order mark, which JSON must not start with`},
		{`{} {}`, `1:4: something follows the document: "{}"`},
		{`{}` + "\x00", `1:3: something follows the document: "\x00"`},
		{`{"x":-1e999}`, `1:6: number "-1e999" is beyond the range of float64 in "x"`},
	} {
		out, err := d.AppendJSON(nil, []byte(c.src))
		var syntax *ferrors.SyntaxError
		if assert.ErrorAs(t, err, &syntax, c.src) {
			assert.Equal(t, c.want, err.Error())
		}
		assert.Nil(t, out)
	}
}
