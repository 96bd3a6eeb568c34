package yamlbridge_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/yamlbridge"
	"github.com/stretchr/testify/assert"
)

// A grammarCase is a document with its result in both dialects: its JSON, or "! line:column
// message" if it is refused. An empty core is the same as kubernetes. After "~ " is a result of the
// server's dialect only: to the default, readers of YAML 1.1 and 1.2 do not agree on a character of
// the document.
type grammarCase struct{ src, kubernetes, core string }

func checkGrammar(t *testing.T, cases []grammarCase) {
	t.Helper()
	for _, c := range cases {
		if c.core == "" {
			c.core = strings.TrimPrefix(c.kubernetes, "~ ")
		}
		hardened, server := c.kubernetes, yamlbridge.Reader{}
		if rest, ok := strings.CutPrefix(c.kubernetes, "~ "); ok {
			_, err := server.AppendJSON(nil, []byte(c.src))
			assert.ErrorContains(t, err, "readers of YAML 1.1 and 1.2 do not agree on this character", "%q", c.src)
			hardened, server.Dialect = rest, yamlbridge.Server
		}
		for want, r := range map[*string]*yamlbridge.Reader{&hardened: &server, &c.core: {Dialect: yamlbridge.Core}} {
			const before = "[{"
			out, err := r.AppendJSON([]byte(before), []byte(c.src))
			got := strings.TrimPrefix(string(out), before)
			if syntax, ok := err.(*errors.SyntaxError); ok {
				p := syntax.Position
				got = fmt.Sprintf("! %d:%d %s", p.Line, p.Column, syntax.Msg)
			} else if err != nil {
				got = err.Error()
			}
			if strings.HasPrefix(*want, "! ") && strings.HasPrefix(got, *want) {
				continue // the end of a message may be left out
			}
			assert.Equal(t, *want, got, "%q, dialect %d", c.src, r.Dialect)
		}
	}
}

// TestTwoReadings holds that an error for a character on which readers do not agree is at that character.
func TestTwoReadings(t *testing.T) {
	for src, column := range map[string]int{
		"[a:]": 3, "{a:}": 3, "[x, b:, c]": 6, "[x, b:[c]]": 6, "{? a:}": 5, "{a: b:}": 6, "[a\n :]": 2,
		"[?a]": 2, "{?a: b}": 2, "[&a :b]": 5, "{&a :b}": 5,
	} {
		requireSyntaxError(t, src, 1+strings.Count(src, "\n"), column, "readers of YAML 1.1 and 1.2 do not agree on this character")
	}
}

// What surrounds the document.
func TestGrammarOfDocuments(t *testing.T) {
	const (
		noTab   = "found character that cannot start any token: a tab is no indentation"
		noWord  = "did not find expected whitespace or line break after"
		noBreak = "did not find expected comment or line break after a directive"
		handle  = "did not find expected tag handle and prefix"
		version = "did not find expected version number"
	)
	checkGrammar(t, []grammarCase{
		{"\n \n# c\n  # c\na", `"a"`, ""},
		{"\t\na", "! 1:1 " + noTab, `"a"`},
		{"\n\t\na", "! 2:1 " + noTab, `"a"`},
		{" \t# c\na", "! 1:2 " + noTab, `"a"`},
		{"%YAML 1.1\n\t\n---\na", `"a"`, ""},
		{"%YAML 1.1\n\n\t\n---\na", "! 3:1 " + noTab, `"a"`},
		{"%YAML 1.1", "! 1:10 did not find expected <document start>", ""},
		{"%YAML 1.1\n# c\n", "! 3:1 did not find expected <document start>", ""},
		{"%YAML 1.1\na", "! 2:1 did not find expected <document start>", ""},
		{"%YAML 1.1\n...\n", "! 2:1 did not find expected <document start>", ""},
		{"%YAML 1.1\n%YAML 1.1\n---\na", "! 2:1 found duplicate %YAML directive", ""},
		{"%YAML 1.1\n%TAG ! !a\n%YAML 1.1\n---\na", "! 3:1 found duplicate %YAML directive", ""},
		{"%YAMLX 1.1\n---\na", "! 1:1 found unknown directive name", `"a"`},
		{"% 1.1\n---\na", "! 1:1 found unknown directive name", ""},
		{"%YAML x\n---\na", "! 1:7 " + version, ""},
		{"%YAML 1\n---\na", "! 1:8 " + version, ""},
		{"%YAML .1\n---\na", "! 1:9 " + version, ""},
		{"%YAML 1.\n---\na", "! 1:9 " + version, ""},
		{"%YAML 1.1.1\n---\na", "! 1:12 " + version, ""},
		{"%YAML 111.1\n---\na", "! 1:12 " + version, ""},
		{"%YAML 1.111\n---\na", "! 1:12 " + version, ""},
		{"%YAML 1.10\n---\na", "! 1:1 found incompatible YAML document", `"a"`},
		{"%YAML 1.9\n---\na", "! 1:1 found incompatible YAML document", `"a"`},
		{"%YAML 0.2\n---\na", "! 1:1 found incompatible YAML document", ""},
		{"%YAML 11.1\n---\na", "! 1:1 found incompatible YAML document", ""},
		{"%YAML \t1.1\t# c\n---\na", `"a"`, ""},
		{"%YAML 1.1#c\n---\na", `"a"`, "! 1:10 " + noBreak},
		{"%YAML 1.1 x\n---\na", "! 1:11 " + noBreak, ""},
		{"%TAG !\n---\na", "! 1:7 " + handle, ""},
		{"%TAG ! \n---\na", "! 1:7 " + handle, ""},
		{"%TAG !e tag:x\n---\na", "! 1:8 " + handle, ""},
		{"%TAG e! tag:x\n---\na", "! 1:8 " + handle, ""},
		{"%TAG !!! tag:x\n---\na", "! 1:9 " + handle, ""},
		{"%TAG !e!tag:x\n---\na", "! 1:12 " + handle, "! 1:12 " + handle},
		{"%TAG ! %zz\n---\na", "! 1:8 did not find URI escaped octet", ""},
		{"%TAG ! tag:x^\n---\na", "! 1:13 " + noWord + " the prefix of a tag", ""},
		{"%TAG ! tag:x y\n---\na", "! 1:14 " + noBreak, ""},
		{"%TAG ! !a\n%TAG ! !b\n---\na", "! 2:1 found duplicate %TAG directive", ""},
		{"%TAG ! tag:yaml.org,2002:\n%TAG !! tag:yaml.org,2002:in\n%TAG !e1-! tag:yaml.org,2002:s # c\n---\n[!str 1, !!t '2', !e1-!tr 3]", `["1",2,"3"]`, ""},
		{"%TAG !e_! tag:yaml.org,2002:\n---\n!e_!int '3'", `3`, `"3"`},
		{"%TAG !e! tag:yaml.org,2002:%73\n---\n!e!tr 3", `"3"`, ""},
		{"%TAG ! tag:yaml.org,2002:\n---\n! 5", `"5"`, ""},
		{"---\n!e!x a", `! 2:1 found undefined tag handle "!e!"`, ""},
		{"---a", `"---a"`, ""},
		{"--- a", `"a"`, ""},
		{"---\ta", `"a"`, ""},
		{"--- # c\na", `"a"`, ""},
		{"---#c", `"---#c"`, ""},
		{"--- - a", "! 1:5 block sequence entries are not allowed", ""},
		{"--- a: b", "! 1:6 mapping values are not allowed", ""},
		{"...\na", `"a"`, ""},
		{"... # c\n...\na", `"a"`, ""},
		{"... a", "! 1:1 nothing may follow the document", ""},
		{"a\n...", `"a"`, ""},
		{"a\n...\n...\n# c\n", `"a"`, ""},
		{"a\n... # c\n \n \t\n", `"a"`, ""},
		{"a\n...#c\n", `"a ...#c"`, ""},
		{"a\n--- # c\n# c\n\n--- \n...\n", `"a"`, ""},
		{"a\n---\n...\n---\n", `"a"`, ""},
		{"a\n---\nb", "! 2:1 second document", ""},
		{"a\n---\n# c\nb", "! 2:1 second document", ""},
		{"a\n---\n---\nb", "! 3:1 second document", ""},
		{"a\n---\n...\nb", "! 4:1 second document", ""},
		{"---\n---\n# c\n---\na", `"a"`, ""},
		{"---\n \n  # c\n--- a", `"a"`, ""},
		{"---\n\t\n--- a", "! 2:1 " + noTab, `"a"`},
		{"%TAG !e! tag:yaml.org,2002:\n---\n...\n---\n!e!str 5", `! 5:1 found undefined tag handle "!e!"`, ""},
		{"%TAG !e! tag:x\n---\n...\n%TAG !e! tag:yaml.org,2002:\n---\n!e!str 5", `"5"`, ""},
		{"--- null\n---\na", "! 2:1 second document", ""},
		{"--- # c\n...\n%YAML 1.1\n---\na", `"a"`, ""},
		{"[a]\n%YAML 1.1\n---\n", "! 2:1 a directive belongs before a document", ""},
		{"a: b\n%c", "! 2:1 a directive belongs before a document", ""},
		{"\uFEFF", "null", ""},
		{"\uFEFFa", `"a"`, ""},
		{"\xff\xfe", "! 1:1 UTF-16 or UTF-32", ""},
		{"\xef\xbb", "! 1:1 invalid UTF-8", ""},
		{"a\x00", "! 1:2 control character U+0000", ""},
		{"a\n---\x01", "! 2:4 control character U+0001", ""},
		{"%YAML \x01", "! 1:7 control character U+0001", ""},
		{"a\n...\n\x7f", "! 3:1 control character U+007F", ""},
		{"[a, \x01", "! 1:5 control character U+0001", ""},
		{"'a\x1f'", "! 1:3 control character U+001F", ""},
	})
}

func TestGrammarOfBlocks(t *testing.T) {
	const (
		noTab    = "found character that cannot start any token: a tab is no indentation"
		tabAfter = "found character that cannot start any token: a tab after an indicator"
		noKey    = "a mapping or sequence is no key"
		oneLine  = "mapping values are not allowed in this context: a key and its colon are on one line"
		noColon  = "could not find expected ':'"
	)
	checkGrammar(t, []grammarCase{
		// Empty lines and comments.
		{"a:\r\n\r\n  b\r\n\r\n", `{"a":"b"}`, ""},
		{"- [a]\r\n\r\n- b\r", `[["a"],"b"]`, ""},
		{"a: # c\n# d\n   # e\n  b # f\n#g\nc: d", `{"a":"b","c":"d"}`, ""},
		{"a:\n- b\n# c\n - d", "! 4:2 did not find expected '-' indicator", ""},
		// Indentation.
		{"a:\n  b: c\n d: e", "! 3:2 did not find expected key", ""},
		{"a:\n   b:\n  c: d", "! 3:3 did not find expected key", ""},
		{"- a\n - b\n- c", `["a - b","c"]`, ""},
		{"- - a\n - b", "! 2:2 did not find expected '-' indicator", ""},
		{"  - a\n  - b\n", `["a","b"]`, ""},
		{"  - a\n - b\n", "! 2:2 nothing may follow the document", ""},
		{"  a: b\n c: d\n", "! 2:2 nothing may follow the document", ""},
		{"a:\n- b\nc:\n  - d\n  -\n  - e\nf:", `{"a":["b"],"c":["d",null,"e"],"f":null}`, ""},
		{"a:\n-b: c", `{"a":null,"-b":"c"}`, ""},
		{"a:\n- b\n-c: d", `{"a":["b"],"-c":"d"}`, ""},
		{"a:\n  - b\n  c: d", "! 3:3 did not find expected '-' indicator", ""},
		{"a:\nb:\n-\n-\nc:", `{"a":null,"b":[null,null],"c":null}`, ""},
		{"-\n-\n  -\n  - a", `[null,[null,"a"]]`, ""},
		{"- - - a\n    - b\n  - c\n- d", `[[["a","b"],"c"],"d"]`, ""},
		{"- a: b\n  c:\n  - d\n- e", `[{"a":"b","c":["d"]},"e"]`, ""},
		{"-   a: b\n    c: d", `[{"a":"b","c":"d"}]`, ""},
		{"-   a: b\n  c: d", "! 2:3 did not find expected '-' indicator", ""},
		{"a:\n    b:\n        c:\nd:", `{"a":{"b":{"c":null}},"d":null}`, ""},
		{"a:\n|\n b", `{"a":"b"}`, "! 2:1 did not find expected key"},
		{"a:\n  |\n b", `{"a":"b"}`, `{"a":"b\n"}`},
		{"-\n>\n b", `["b"]`, "! 2:1 did not find expected '-' indicator"},
		// Tabs.
		{"a:\n  \t b", "! 2:3 " + noTab, `{"a":"b"}`},
		{"a:\n  b:\n   \tc", "! 3:4 " + noTab, `{"a":{"b":"c"}}`},
		{"a:\n  \t b: c", "! 2:3 " + noTab, "! 2:6 mapping values are not allowed"},
		{"a:\n  \t - c", "! 2:3 " + noTab, "! 2:5 block sequence entries are not allowed"},
		{"-\n  \t - c", "! 2:3 " + noTab, "! 2:5 block sequence entries are not allowed"},
		{"a: &x b\nc:\n \t&y d", "! 3:2 " + noTab, `{"a":"b","c":"d"}`},
		{"a:\n\tb", "! 2:1 " + noTab, "! 2:2 a tab is no indentation"},
		{"a:\n  b:\n  \tc", "! 3:3 " + noTab, "! 3:4 a tab is no indentation"},
		{"a:\n  b:\n \tc", "! 3:2 " + noTab, "! 3:3 a tab is no indentation"},
		{"a:\n  b: !!int\n \tc", "! 3:2 " + noTab, `! 2:6 cannot decode !!null "" as !!int`},
		{"a:\n  b: !!int\n  \tc", "! 3:3 " + noTab, "! 3:4 a tab is no indentation"},
		{"-\n \ta", "! 2:2 " + noTab, `["a"]`},
		{"-\n \t# c\n \t\r\n a", "! 2:2 " + noTab, `["a"]`},
		{"- a\n\t", "! 2:1 found a tab character that violates indentation", `["a"]`},
		{"- [a]\n\t", "! 2:1 " + noTab, `[["a"]]`},
		{"- [a]\n \t- b", "! 2:2 " + noTab, "! 2:3 a tab is no indentation"},
		{"&a\n \tb", "! 2:2 " + noTab, `"b"`},
		{"- \ta", "! 1:3 " + tabAfter, `["a"]`},
		{"- \t- a", "! 1:3 " + tabAfter, "! 1:4 block sequence entries are not allowed"},
		{"-\t\n  a: b", "! 1:2 " + tabAfter, `[{"a":"b"}]`},
		{"?\ta", "! 1:2 " + tabAfter, `{"a":null}`},
		{"? a\n:\tb", "! 2:2 " + tabAfter, `{"a":"b"}`},
		{"? a\n: \t- b", "! 2:3 " + tabAfter, "! 2:4 block sequence entries are not allowed"},
		{"? a\n:\tb: c", "! 2:2 " + tabAfter, "! 2:4 mapping values are not allowed"},
		{"a:\t \tb\t: c\t", "! 1:8 mapping values are not allowed", ""},
		{"a:\tb\t# c\t", `{"a":"b"}`, ""},
		{"a \t: b", `{"a":"b"}`, ""},
		// Keys.
		{"a: 1\nb", "! 2:1 " + noColon, ""},
		{"a: 1\nb\nc: d", "! 2:1 " + noColon, ""},
		{"a: 1\nb # c: d", "! 2:1 " + noColon, ""},
		{"a: 1\nb:c", "! 2:1 " + noColon, ""},
		{"a: 1\n'b'", "! 2:1 " + noColon, ""},
		{"a: 1\n'b' c: d", "! 2:1 " + noColon, ""},
		{"a: 1\n'b':c", "! 2:1 " + noColon, ""},
		{"a: 1\n'b\n c': d", "! 2:1 " + noColon, ""},
		{"a: 1\n&b\nc: d", "! 2:1 " + noColon, ""},
		{"a: 1\n: b", "! 2:1 did not find expected key", ""},
		{"a: 1\n, b", "! 2:1 did not find expected key", ""},
		{"a: 1\n- b", "! 2:1 did not find expected key", ""},
		{"a: 1\n&b - c", "! 2:4 did not find expected key", ""},
		{"a: 1\n&b : c", "! 2:1 null is no key", ""},
		{"a: 1\n!!str : c", `{"a":1,"":"c"}`, ""},
		{"!!str : c", `{"":"c"}`, ""},
		{"a: 1\n&b -c: d\n! ?e: f", `{"a":1,"-c":"d","?e":"f"}`, ""},
		{"- &é b\n- é: d\n  *é : c", "! 1:3 did not find expected alphabetic or numeric character of an anchor", `["b",{"é":"d","b":"c"}]`},
		{"- &é b\n- ? *é\n  : c", "! 1:3 did not find expected alphabetic or numeric character of an anchor", `["b",{"b":"c"}]`},
		{"a: 1\n[b]: c", "! 2:1 " + noKey, ""},
		{"a: 1\n{b: c}: d", "! 2:1 " + noKey, ""},
		{"[a] : b", "! 1:3 " + noKey, ""},
		{"a: [b]: c", "! 1:6 " + noKey, ""},
		{"[a]:b", "! 1:4 nothing may follow the document", ""},
		{"'a\n b': c", "! 2:4 " + oneLine, ""},
		{"- 'a\n  b': c", "! 2:5 " + oneLine, ""},
		{"a: b: c", "! 1:5 mapping values are not allowed", ""},
		{"a: 'b': c", "! 1:7 mapping values are not allowed", ""},
		{"a: &b c: d", "! 1:8 mapping values are not allowed", ""},
		{"- &a b: c\n- *a : d", `[{"b":"c"},{"b":"d"}]`, ""},
		{"- &a b: *a : d", "! 1:12 mapping values are not allowed", ""},
		{"a: - b", "! 1:4 block sequence entries are not allowed", ""},
		{"a:\n  b\nc: - d", "! 3:4 block sequence entries are not allowed", ""},
		{"a: ? b", "! 1:4 mapping keys are not allowed", ""},
		{"a: : b", "! 1:4 mapping values are not allowed", ""},
		{"- : b", "! 1:3 mapping values are not allowed", ""},
		{": b", "! 1:1 mapping values are not allowed", ""},
		{"&a - b", "! 1:4 block sequence entries are not allowed", ""},
		{"&a ? b", "! 1:4 mapping keys are not allowed", ""},
		{"a: -b\nc: ?d\ne: :f\n-g: h\n?i: j\n:k: l", `{"a":"-b","c":"?d","e":":f","-g":"h","?i":"j",":k":"l"}`, ""},
		{"a: @b", "! 1:4 found character that cannot start any token", ""},
		{"a:\n- `b", "! 2:3 found character that cannot start any token", ""},
		{"a: %b", "! 1:4 found character that cannot start any token", ""},
		{"a: 'b' c", "! 1:8 did not find the end of the line", ""},
		{"a: 'b'# c", `{"a":"b"}`, "! 1:7 did not find the end of the line"},
		{"a: [b] c", "! 1:8 did not find the end of the line", ""},
		{"- &a b\n- *a :c", "! 2:6 did not find the end of the line", ""},
		{"- 'a' :c", "! 1:7 did not find the end of the line", ""},
		{"- &a b\n- *a c", "! 2:6 did not find the end of the line", ""},
		{"'a' b", "! 1:5 nothing may follow the document", ""},
		{"a: 'b\n'c", "! 2:2 did not find the end of the line", "! 2:1 a line of a quoted scalar is not indented"},
		{"  a: 'b\n' c", "! 2:3 did not find the end of the line", "! 2:1 a line of a quoted scalar is not indented"},
		// Explicit keys.
		{"? a\n: b\n? c\n? d\n: e", `{"a":"b","c":null,"d":"e"}`, ""},
		{"? a\nb: c", `{"a":null,"b":"c"}`, ""},
		{"?\n  a\n:\n  b", `{"a":"b"}`, ""},
		{"? # c\n  a # d\n# e\n: # f\n  b", `{"a":"b"}`, ""},
		{"?\n: a", "! 1:2 null is no key", ""},
		{"?", "! 1:2 null is no key", ""},
		{"? &a\n: b", "! 1:3 null is no key", ""},
		{"? !!str\n: b", `{"":"b"}`, ""},
		{"? !!str", `{"":null}`, ""},
		{"- ? !!str\n- a", `[{"":null},"a"]`, ""},
		{"? !!str\nb: c", `{"":null,"b":"c"}`, ""},
		{"? !!str # c\n  &a 1\n: *a", `{"1":"1"}`, ""},
		{"? &a\n  &b c", "! 2:3 a node has one tag and one anchor", ""},
		{"? 'a': b", "! 1:3 " + noKey, ""},
		{"? a: b", "! 1:3 " + noKey, ""},
		{"? &a b: c", "! 1:6 " + noKey, ""},
		{"- &a b\n- ? *a : c", "! 2:5 " + noKey, ""},
		{"- &a b\n- ? *a :c", "! 2:8 did not find the end of the line", ""},
		{"? 'a' :c", "! 1:7 did not find the end of the line", ""},
		{"? 'a\n b'\n: c", `{"a b":"c"}`, ""},
		{"? - a", "! 1:3 " + noKey, ""},
		{"? ? a", "! 1:3 " + noKey, ""},
		{"? [a]", "! 1:3 " + noKey, ""},
		{"?\n  {a}", "! 2:3 " + noKey, ""},
		{"? -a\n? ?b\n? :c", `{"-a":null,"?b":null,":c":null}`, ""},
		{"? : a", "! 1:3 did not find expected key", ""},
		{"? %a", "! 1:3 did not find expected key", ""},
		{"? 'a' b", "! 1:7 did not find the end of the line", ""},
		{"- &a b\n- ? *a c", "! 2:8 did not find the end of the line", ""},
		{"? 'a' # c\n: b\n? *x", `! 3:3 unknown anchor "x"`, ""},
		{"? a # c\n: b", `{"a":"b"}`, ""},
		{"? a\n  b\n: c", `{"a b":"c"}`, ""},
		{"? a\n\n  b # c\n: d", `{"a\nb":"d"}`, ""},
		{"? !!str a\n  1\n: c", `{"a 1":"c"}`, ""},
		{"? a\n\tb\n: c", "! 2:1 found a tab character that violates indentation", ""},
		{"? a\n  b\n\tc", "! 3:1 found a tab character that violates indentation", ""},
		{"? |\n  a\n  b\n: c", `{"a\nb\n":"c"}`, ""},
		{"? |\n a", "! 1:3 readers of YAML 1.1 and 1.2 do not agree on this name", `{"a\n":null}`},
		{"? >-\n a\n", `{"a":null}`, ""},
		{"? |\n \ta", "! 2:2 found a tab character where an indentation space is expected", `{"\ta\n":null}`},
		{"? >-\n  a\n  b\n: |\n  c\nd: e", `{"a b":"c\n","d":"e"}`, ""},
		{"? a\n:\n- b\n- c\nd: e", `{"a":["b","c"],"d":"e"}`, ""},
		{"? a\n: - b\n  - c\n? d\n: e: f\n  g: h", `{"a":["b","c"],"d":{"e":"f","g":"h"}}`, ""},
		{"- ? a\n  : b\n  c: d\n-\n  ? e", `[{"a":"b","c":"d"},{"e":null}]`, ""},
		{"? a\n:b", "! 2:1 could not find expected ':'", ""},
		{"? a\n : b", `! 2:2 did not find expected key`, ""},
		// Only one dialect has merge keys.
		{"<<: 5\na: b", "! 1:5 map merge requires", `{"<<":5,"a":"b"}`},
		{"? <<\na: b", "! 2:1 map merge requires", `{"<<":null,"a":"b"}`},
		{"a:\n  <<: {b: c}\nd:\n- <<: {e: f}", `{"a":{"b":"c"},"d":[{"e":"f"}]}`, `{"a":{"<<":{"b":"c"}},"d":[{"<<":{"e":"f"}}]}`},
		// Properties.
		{"a: &x *y", "! 1:7 an alias has no properties", ""},
		{"a: &x\n  *y", "! 2:3 an alias has no properties", ""},
		{"&a x: 1\n&b *a : v", "! 2:4 an alias has no properties", ""},
		{"&a x: 1\n? &b *a\n: v", "! 2:6 an alias has no properties", ""},
		{"a: &x\n  &y [b]", "! 2:3 a node has one tag and one anchor", ""},
		{"a: &x\n  &y |\n  b", "! 2:3 a node has one tag and one anchor", ""},
		{"a: &x\n  &y\n  b", "! 2:3 a node has one tag and one anchor", ""},
		{"a: &x\n  &y b", "! 2:3 a node has one tag and one anchor", ""},
		{"a: &x\n  &y 'b'", "! 2:3 a node has one tag and one anchor", ""},
		{"a: !!str\n  !!int 1", "! 2:3 a node has one tag and one anchor", ""},
		{"a: &x\n  !!str 1\nb: *x", `{"a":"1","b":"1"}`, ""},
		{"a: !!str\n  &x 1\nb: *x", `{"a":"1","b":"1"}`, ""},
		{"a: &x\n  &y b: c\n  d: *y\ne: *x", `{"a":{"b":"c","d":"b"},"e":{"b":"c","d":"b"}}`, ""},
		{"a: !!int x # c", `! 1:4 cannot decode !!str "x" as !!int`, ""},
		{"a: &x\nb: *x\n- c", "! 3:1 did not find expected key", ""},
		{"- &a\n- *a\n- !!str\n- &b # c\n  - c\n- *b", `[null,null,"",["c"],["c"]]`, ""},
		{"a: &x\n- b\nc: *x", `{"a":["b"],"c":["b"]}`, ""},
		{"&x\na: b", `{"a":"b"}`, ""},
		{"&x # c\n\n- b\n- c", `["b","c"]`, ""},
		{"&a.b c", "! 1:1 did not find expected alphabetic or numeric character of an anchor", `"c"`},
		{"- &a- c\n- &-_0Zz d\n- *a-\n- *-_0Zz", `["c","d","c","d"]`, ""},
		{"- &a b\n- *a.", "! 2:3 did not find expected alphabetic or numeric character of an alias", `! 2:3 unknown anchor "a."`},
		{"!!s%74r 5", `"5"`, ""},
		{"!%01%70 a", `! 1:1 unknown tag "!%01%70"`, `"a"`},
		{"!!s%7 5", "! 1:4 did not find URI escaped octet", ""},
		{"!!s% 5", "! 1:4 did not find URI escaped octet", ""},
		{"!!s%7g 5", "! 1:4 did not find URI escaped octet", ""},
		{"!%ff a", "! 1:2 found an incorrect UTF-8 octet in a tag", ""},
		{"!<%ff> a", "! 1:3 found an incorrect UTF-8 octet in a tag", ""},
		{"!<tag:yaml.org,2002:%73tr> 5", `"5"`, ""},
		{"!<> a", "! 1:3 did not find the expected '>' of a tag", ""},
		{"!! a", "! 1:3 did not find expected tag URI", ""},
		{"!a^ b", "! 1:3 did not find expected whitespace or line break after a tag", ""},
		{"!<!>a", "! 1:5 did not find expected whitespace or line break after a tag", ""},
		{"!a#b c", "! 1:3 did not find expected whitespace or line break after a tag", `"c"`},
		{"[!<!>]", "! 1:6 did not find expected whitespace or line break after a tag", `[""]`},
		{"[!a, b]", `! 1:2 unknown tag "!a,"`, `["","b"]`},
		{"{!!str : a, !!str: b}", `! 1:13 unknown tag "!!str:"`, `{"":"a","b":null}`},
	})
}

func TestGrammarOfFlow(t *testing.T) {
	const (
		noKey    = "a mapping or sequence is no key"
		nullKey  = "null is no key"
		noNode   = "did not find expected node content"
		inMap    = "did not find expected ',' or '}'"
		inSeq    = "did not find expected ',' or ']'"
		atEnd    = "did not find the end of the collection: the text ends within brackets"
		oneLine  = "a key and its colon are on one line"
		badTab   = "found a tab character that violates indentation"
		indented = "a line within brackets is not indented"
	)
	checkGrammar(t, []grammarCase{
		{"[a, b,c ,\td\t]", `["a","b","c","d"]`, ""},
		{"[a,]", `["a"]`, ""},
		{"[,]", "! 1:2 " + noNode, ""},
		{"[a,,b]", "! 1:4 " + noNode, ""},
		{"{,}", "! 1:2 " + noNode, ""},
		{"{a,,b}", "! 1:4 " + noNode, ""},
		{"{a: b,}", `{"a":"b"}`, ""},
		{"[a}", "! 1:3 " + inSeq, ""},
		{"{a]", "! 1:3 " + inMap, ""},
		{"{a: b]", "! 1:6 " + inMap, ""},
		{"['a' b]", "! 1:6 " + inSeq, ""},
		{"{'a' b}", "! 1:6 " + inMap, ""},
		{"{a: 'b' c}", "! 1:9 " + inMap, ""},
		{"[a", "! 1:3 " + atEnd, ""},
		{"[a,", "! 1:4 " + atEnd, ""},
		{"[", "! 1:2 " + atEnd, ""},
		{"{a", "! 1:3 " + atEnd, ""},
		{"{a:", "! 1:4 " + atEnd, `! 1:4 ` + atEnd},
		{"{'a':", "! 1:6 " + atEnd, ""},
		{"{a: b", "! 1:6 " + atEnd, ""},
		{"{?", "! 1:3 " + atEnd, ""},
		{"[? ", "! 1:4 " + atEnd, ""},
		{"[? a", "! 1:5 " + atEnd, ""},
		{"[&a", "! 1:4 " + atEnd, ""},
		{"{'a'\n", "! 2:1 " + atEnd, ""},
		{"[a\n---\n]", "! 2:1 did not find the end of the collection: a document marker", ""},
		{"[a,\n%b]", "! 2:1 did not find the end of the collection: a document marker", ""},
		{"[&a\n...\n]", "! 2:1 did not find the end of the collection: a document marker", ""},
		{"{?\n---\na}", "! 2:1 did not find the end of the collection: a document marker", ""},
		{"{a\n---\n: b}", "! 2:1 did not find the end of the collection: a document marker", ""},
		// Comments and lines.
		{"[a, # b, c]\n d # e\n , f#g\n #h\n]", `["a","d","f#g"]`, ""},
		{"['a'#b\n]", `["a"]`, "! 1:5 a comment needs white space before it"},
		{"[\n#b\na]", `["a"]`, ""},
		{"a: [\n b,\nc]", `{"a":["b","c"]}`, "! 3:1 " + indented},
		{"- [\n a]", `[["a"]]`, `[["a"]]`},
		{"- [\na]", `[["a"]]`, "! 2:1 " + indented},
		{"- [ # c\n  a: b\n ]\n", `[[{"a":"b"}]]`, ""},
		{"a: {\n b: c\n}", `{"a":{"b":"c"}}`, ""},
		{"a:\n  b: {\n  c: d}", `{"a":{"b":{"c":"d"}}}`, "! 3:3 " + indented},
		{"[a,\n\tb]", `["a","b"]`, ""},
		{"a: [b,\n\tc]", `{"a":["b","c"]}`, "! 2:2 " + indented},
		{"a: [b,\n \tc]", `{"a":["b","c"]}`, ""},
		{"a: [b\n\tc]", "! 2:1 " + badTab, ""},
		{"a: [b\n  c\n\td]", "! 3:1 " + badTab, ""},
		{"a: [b\n\t\n c]", "! 2:1 " + badTab, `{"a":["b\nc"]}`},
		{"a: [b\n\t, c]", "! 2:1 " + badTab, ""},
		{"a: [b\n \tc]", `{"a":["b c"]}`, ""},
		// Plain scalars.
		{"[a\n b, c\n\n d\n]", `["a b","c\nd"]`, ""},
		{"[a\n b # c\n, d]", `["a b","d"]`, ""},
		{"[a # c\n b]", "! 2:2 " + inSeq, ""},
		{"[a\n # c\n b]", "! 3:2 " + inSeq, ""},
		{"[!!str a\n 1]", `["a 1"]`, ""},
		{"[!!int 1\n 2]", `! 1:2 cannot decode !!str "1 2" as !!int`, ""},
		{"[1\n 2, &a b\n c, *a ]", `["1 2","b c","b c"]`, ""},
		{"[a:b, c#d, e?f]", "! 1:13 " + inSeq, `["a:b","c#d","e?f"]`},
		{"[a\n ?b]", "! 2:2 " + inSeq, `["a ?b"]`},
		{"[a\n :b]", `["a :b"]`, ""},
		{"{a\n :, b}", `~ {"a :":null,"b":null}`, `{"a":null,"b":null}`},
		{"[a\n :]", `~ ["a :"]`, "! 2:2 " + inSeq},
		{"[-a, - b]", "! 1:6 " + noNode, ""},
		{"[-]", `["-"]`, "! 1:2 " + noNode},
		{"{-: a}", `{"-":"a"}`, ""},
		{"[?a]", `~ [{"a":null}]`, `["?a"]`},
		{"[@a]", "! 1:2 " + noNode, ""},
		{"{|: a}", "! 1:2 " + noNode, ""},
		{"{a: >}", "! 1:5 " + noNode, ""},
		{"['a''b', \"c\\\"d\", 'e\n f']", `["a'b","c\"d","e f"]`, ""},
		// Keys.
		{"{- a: b}", "! 1:2 " + noNode, ""},
		{"{'a\":b': c}", `{"a\":b":"c"}`, ""},
		{"{\":a\": b}", `{":a":"b"}`, ""},
		{"\":a\": {\"b\": c}", `{":a":{"b":"c"}}`, ""},
		{"{\"a:\", b}", `{"a:":null,"b":null}`, ""},
		{"{\"a\n:b\": c}", "! 1:2 " + oneLine, `{"a :b":"c"}`},
		{"{~\n, b}", "! 1:2 " + nullKey, ""},
		{"{1.0\n, b}", `{"1":null,"b":null}`, ""},
		{"[a:]", `~ ["a:"]`, `[{"a":null}]`},
		{"{?a: b}", `~ {"a":"b"}`, `{"?a":"b"}`},
		{"{? :b : c}", "! 1:3 " + nullKey, `{":b":"c"}`},
		{"{? 'a':b, ? \"c\" :d, ? &e 'f'\n :g}", `{"a":"b","c":"d","f":"g"}`, ""},
		{"[? 'a':b, &c d, ? *c :e]", `~ [{"a":"b"},"d",{"d":"e"}]`, "! 1:22 " + inSeq},
		{"[&a x, *a :b]", `["x",{"x":"b"}]`, "! 1:11 " + inSeq},
		{"{a, b: , c : d, 'e', \"f\":g, 'h':i}", `{"a":null,"b":null,"c":"d","e":null,"f":"g","h":"i"}`, ""},
		{"{a:b, c:d}", `{"a:b":null,"c:d":null}`, ""},
		{"{a:}", `~ {"a:":null}`, `{"a":null}`},
		{"{a:,b:[]}", `~ ! 1:7 ` + inMap, `{"a":null,"b":[]}`},
		{"{a:\n b}", `{"a":"b"}`, ""},
		{"{a: # c\n b}", `{"a":"b"}`, ""},
		{"{a\n : b}", "! 2:2 " + inMap, `{"a":"b"}`},
		{"{a\n b: c}", "! 1:2 " + oneLine, `{"a b":"c"}`},
		{"{a\n b, c}", `{"a b":null,"c":null}`, ""},
		{"{'a\n b': c}", "! 1:2 " + oneLine, `{"a b":"c"}`},
		{"{'a\n b', c}", `{"a b":null,"c":null}`, ""},
		{"{? a\n b : c, ? 'd\n e', ? f}", `{"a b":"c","d e":null,"f":null}`, ""},
		{"{? a\n : b}", `{"a":"b"}`, ""},
		{"{? a, : b}", "! 1:7 " + noNode, ""},
		{"{? , a}", "! 1:3 " + nullKey, ""},
		{"{?}", "! 1:3 " + nullKey, ""},
		{"{? : a}", "! 1:3 " + nullKey, ""},
		{"[? ]", "! 1:3 " + nullKey, ""},
		{"[? : b]", "! 1:3 " + nullKey, ""},
		{"[?\n\n , b]", "! 1:3 " + nullKey, ""},
		{"{: a}", "! 1:2 " + noNode, ""},
		{"[: a]", "! 1:2 " + noNode, ""},
		{"{&a : b}", "! 1:2 " + nullKey, ""},
		{"[&a : b]", "! 1:2 " + nullKey, ""},
		{"{&a }", "! 1:2 " + nullKey, ""},
		{"{&a , b}", "! 1:2 " + nullKey, ""},
		{"{!!str : a, b: !!str , !!str }", `{"":"a","b":"","":null}`, ""},
		{"[!!str : a, !!str , !!str ]", `[{"":"a"},"",""]`, ""},
		{"[&a :b]", "~ ! 1:2 " + nullKey, `[":b"]`},
		{"{&a :b}", "~ ! 1:2 " + nullKey, `{":b":null}`},
		{"{! :b : c, x: &y :z}", "~ ! 1:7 " + inMap, `{":b":"c","x":":z"}`},
		{"[&a -b, ! -c: d]", `["-b",{"-c":"d"}]`, ""},
		{"{[a]: b}", "! 1:2 " + noKey, ""},
		{"{? {a: b}}", "! 1:4 " + noKey, ""},
		{"{a: [b]: c}", "! 1:7 " + noKey, "! 1:8 " + inMap},
		{"[[a]: b]", "! 1:4 " + noKey, "! 1:5 " + inSeq},
		{"[{a: b} : c]", "! 1:7 " + noKey, "! 1:9 " + inSeq},
		// Mappings without brackets.
		{"[a: b, c : d, 'e': f, \"g\":h]", `[{"a":"b"},{"c":"d"},{"e":"f"},{"g":"h"}]`, ""},
		{"[a: b c: d]", "! 1:8 " + inSeq, ""},
		{"[a: , b:\n c, d: [e: f]]", `[{"a":null},{"b":"c"},{"d":[{"e":"f"}]}]`, ""},
		{"[a: b\n c: d]", "! 2:3 " + inSeq, ""},
		{"[a\n : b]", "! 2:2 " + inSeq, ""},
		{"['a'\n : b]", "! 2:2 " + inSeq, ""},
		{"['a\n b': c]", "! 2:4 " + inSeq, ""},
		{"[&a\n b: c]", "! 1:2 " + oneLine, ""},
		{"[&a b: c, *a : d]", `[{"b":"c"},{"b":"d"}]`, ""},
		{"[&a b, *a:c]", `["b",{"b":"c"}]`, `! 1:8 unknown anchor "a:c"`},
		{"[? a\n : b, ? c, ? d :\n e]", `[{"a":"b"},{"c":null},{"d":"e"}]`, ""},
		{"[? a : b, ? c]", `[{"a":"b"},{"c":null}]`, ""},
		{"[a, ? b : c : d]", "! 1:13 " + inSeq, ""},
		// Properties.
		{"[&a x, &b *a ]", "! 1:11 an alias has no properties", ""},
		{"{&a x: y, &b *a : z}", "! 1:14 an alias has no properties", ""},
		{"[&a\n !!str\n 1, *a , !!str\n\n [], &b { }, *b ]", `! 3:10 unknown tag "!!str" of a sequence`, ""},
		{"[&a # c\n !!str\n 1, *a , &b\n\n [c], *b ]", `["1","1",["c"],["c"]]`, ""},
		{"{a: &b , c: *b , d: &e }", `{"a":null,"c":null,"d":null}`, ""},
		{"{a: &b\n, c: *b }", `{"a":null,"c":null}`, ""},
		{"[&a\n&b c]", "! 2:1 a node has one tag and one anchor", ""},
		{"[!!str, a]", "! 1:2 unknown tag", `["","a"]`},
		{"[*a, b]", `! 1:2 unknown anchor "a"`, ""},
	})
}
