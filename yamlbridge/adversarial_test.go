package yamlbridge_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/yamlbridge"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// requireTwice asserts that name occurs in the JSON of src once for each of the given lines, and
// that its positions are there.
func requireTwice(t *testing.T, src, name string, lines ...int) {
	t.Helper()
	var m yamlbridge.Reader
	out, err := m.AppendJSON(nil, []byte(src))
	require.NoError(t, err, src)
	var got []int
	for off := 0; ; off++ {
		i := strings.Index(string(out[off:]), `"`+name+`":`)
		if i < 0 {
			break
		}
		off += i
		got = append(got, m.Position(off).Line)
	}
	assert.Equal(t, lines, got, "%q gave %s", src, out)
}

func requireJSON(t *testing.T, src, want string) {
	t.Helper()
	got, err := convert(src)
	require.NoError(t, err, src)
	assert.Equal(t, want, got, src)
}

func requireLimit(t *testing.T, src string, which errors.Limit, line int) {
	t.Helper()
	_, err := convert(src)
	var limit *errors.LimitError
	require.ErrorAs(t, err, &limit)
	assert.Equal(t, which, limit.Limit)
	assert.Equal(t, line, limit.Position.Line, err)
}

// bomb returns a document of nested lists of nine aliases each.
func bomb(levels int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 [" + strings.Repeat("l,", 9) + "]\n")
	for i := 1; i < levels; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9))
	}
	return b.String()
}

// TestAdversarial has the results of a Reader for the adversarial inputs with these numbers. The
// test of that name in package decoder has the decoder's results, and all other inputs.
func TestAdversarial(t *testing.T) {
	row := func(n int, f func(t *testing.T)) { t.Run(fmt.Sprint("row", n), f) }
	row(68, func(t *testing.T) {
		requireTwice(t, "1: a\n\"1\": b", "1", 1, 2)
	})
	row(69, func(t *testing.T) {
		requireTwice(t, "true: a\n'true': b", "true", 1, 2)
		requireTwice(t, "1.0: a\n1: b", "1", 1, 2)
		requireTwice(t, "1e3: a\n1000: b", "1000", 1, 2)
		requireTwice(t, "3.14159265358979: a\n3.14159265358978: b", "3.1415927", 1, 2)
	})
	row(70, func(t *testing.T) {
		requireTwice(t, "on: a\nyes: b", "true", 1, 2)
	})
	row(71, func(t *testing.T) {
		requireJSON(t, "y: 1\nn: 2", `{"true":1,"false":2}`)
	})
	row(72, func(t *testing.T) {
		requireTwice(t, "0x10: a\n16: b\n020: c", "16", 1, 2, 3)
	})
	row(73, func(t *testing.T) {
		requireSyntaxError(t, "~: 1", 1, 1, "null is no key")
		requireSyntaxError(t, "? [a]\n: 1", 1, 3, "no key")
		requireSyntaxError(t, "? {a: b}\n: 1", 1, 3, "no key")
		requireSyntaxError(t, "!!binary /w==: 1", 1, 1, "not UTF-8")
		requireTwice(t, "!!binary YQ==: 1\na: 2", "a", 1, 2)
	})
	row(74, func(t *testing.T) {
		requireJSON(t, ".inf: a", `{".inf":"a"}`)
		requireSyntaxError(t, "a: .nan", 1, 4, "NaN")
	})
	row(75, func(t *testing.T) {
		requireSyntaxError(t, "a: 1\n---\nb: 2", 2, 1, "second document")
		requireSyntaxError(t, "a: 1\n--- b", 2, 1, "second document")
		requireSyntaxError(t, "a: 1\n...\n# comment\nb: 2", 4, 1, "second document")
		requireJSON(t, "a: 1\n---\n# nothing\n---\n", `{"a":1}`)
	})
	row(76, func(t *testing.T) {
		requireSyntaxError(t, `{"a":1} x`, 1, 9, "nothing may follow the document")
		requireSyntaxError(t, "a: 1\n... junk", 2, 1, "nothing may follow the document")
		requireSyntaxError(t, "[a]\n]", 2, 1, "nothing may follow the document")
		requireJSON(t, "a: 1\n... # comment\n# more\n...\n", `{"a":1}`)
	})
	row(77, func(t *testing.T) {
		// By the ruling above the table: an explicit key wins, wherever it is.
		requireJSON(t, "{<<: {a: 1}, a: 9}", `{"a":9}`)
		requireJSON(t, "{a: 9, <<: {a: 1}}", `{"a":9}`)
	})
	row(78, func(t *testing.T) {
		requireJSON(t, `{x: &x {a: 1}, "<<": *x, '<<': 2}`, `{"x":{"a":1},"<<":{"a":1},"<<":2}`)
	})
	row(79, func(t *testing.T) {
		requireSyntaxError(t, "<<: 5", 1, 5, "map merge requires")
		requireSyntaxError(t, "x: &x {}\n<<: [*x, 3]", 2, 10, "map merge requires")
	})
	row(80, func(t *testing.T) {
		requireJSON(t, "zz: &a {priv: true}\nspec: *a", `{"zz":{"priv":true},"spec":{"priv":true}}`)
	})
	row(81, func(t *testing.T) {
		requireTwice(t, "&k spec: {cmd: x}\n*k : {priv: true}", "spec", 1, 2)
	})
	row(82, func(t *testing.T) {
		requireLimit(t, bomb(9), errors.LimitAliasBytes, 6)
	})
	row(83, func(t *testing.T) {
		requireLimit(t, "a: &a "+strings.Repeat("x", 10_000)+"\nb: ["+strings.Repeat("*a,", 30_000)+"]", errors.LimitAliasBytes, 2)
	})
	row(84, func(t *testing.T) {
		requireSyntaxError(t, "a: &a [*a]", 1, 8, `anchor "a" value contains itself`)
		requireSyntaxError(t, "a: &a {b: [{c: *a}]}", 1, 16, `anchor "a" value contains itself`)
		requireSyntaxError(t, "a: &a {<<: *a}", 1, 12, `anchor "a" value contains itself`)
		requireSyntaxError(t, "b: 1\na: *undefined", 2, 4, `unknown anchor "undefined"`)
		requireJSON(t, "[&a 1, *a, &a 2, *a]", "[1,1,2,2]")
	})
	row(85, func(t *testing.T) {
		requireSyntaxError(t, "a: !!binary /w==", 1, 4, "not UTF-8")
	})
	row(86, func(t *testing.T) {
		requireSyntaxError(t, "!!python/object:os.system x", 1, 1, "unknown tag")
		requireSyntaxError(t, "a: !foo 1", 1, 4, "unknown tag")
	})
	row(87, func(t *testing.T) {
		requireJSON(t, "%YAML 1.1\n---\na: 1", `{"a":1}`)
		requireJSON(t, "%YAML 1.2\n---\na: 1", `{"a":1}`)
		requireJSON(t, "\uFEFF# 1.2\r\n%YAML   1.2 # 1.2\r\n---\r\na: 1.2", `{"a":1.2}`)
		requireSyntaxError(t, "%YAML 2.0\n---\na: 1", 1, 1, "incompatible")
		requireSyntaxError(t, "%YAML 1.20\n---\na: 1", 1, 1, "incompatible")
		requireJSON(t, "%TAG ! tag:yaml.org,2002:\n---\na: !str 5", `{"a":"5"}`)
		requireSyntaxError(t, "%TAG ! tag:example.com,2000:\n---\na: !str 5", 3, 4, "unknown tag")
		requireSyntaxError(t, "a: 1\n%YAML 1.2\n---\nb: 2", 2, 1, "a directive")
		_, err := convert("a: 1\n%YAML 1.1\n")
		require.Error(t, err)
	})
	row(88, func(t *testing.T) {
		requireSyntaxError(t, "a:\n\tb: 1", 2, 1, "cannot start any token")
		requireJSON(t, "a:\t1", `{"a":1}`)
	})
	row(89, func(t *testing.T) {
		for _, eol := range []string{"\n", "\r\n", "\r"} {
			requireTwice(t, "b: 1"+eol+"c: 2"+eol+"b: 3", "b", 1, 3)
		}
		for _, eol := range []string{"\u0085", "\u2028", "\u2029"} {
			requireTwice(t, "b: 1\nc: 'x"+eol+" y'\nb: 3", "b", 1, 3)
		}
	})
	row(90, func(t *testing.T) {
		requireTwice(t, "\"\\x6bind\": Evil\nkind: Safe\n!!str kind: x\n? >-\n  kind\n: y", "kind", 1, 2, 3, 4)
	})
	row(91, func(t *testing.T) {
		requireSyntaxError(t, "\xff\xfea\x00:\x00", 1, 1, "UTF-16")
		requireSyntaxError(t, "\xfe\xff\x00a\x00:", 1, 1, "UTF-16")
		requireSyntaxError(t, "\x00\x00\xfe\xff\x00\x00\x00a", 1, 1, "UTF-32")
	})
	row(92, func(t *testing.T) {
		requireJSON(t, strings.Repeat("a", 1024)+": 1", `{"`+strings.Repeat("a", 1024)+`":1}`)
		requireLimit(t, strings.Repeat("a", 1025)+": 1", errors.LimitKeyChars, 1)
	})
	row(93, func(t *testing.T) {
		requireJSON(t, "spec: {cmd: x #}\n, priv: true}", `{"spec":{"cmd":"x","priv":true}}`)
	})
	row(94, func(t *testing.T) {
		requireJSON(t, `{"a":"\/"}`, `{"a":"/"}`)
		requireJSON(t, `{"a":"\ud83d\ude00"}`, `{"a":"😀"}`)
		requireJSON(t, "\uFEFF{\"a\": [\"\\/\", 1.50, 1e3,\n{\"<<\": {}, \"a\": null}], \"a\": false}", `{"a":["/",1.5,1000,{"<<":{},"a":null}],"a":false}`)
		for _, src := range []string{`{"a":"\ud83d"}`, `{"a":"\ude00\ud83d"}`, `"\ud800"`, `{"a":"\/"} x`, `{"a":"\/"`} {
			_, err := convert(src)
			require.Error(t, err, src)
		}
	})
	row(95, func(t *testing.T) {
		requireSyntaxError(t, "a: 1e400", 1, 4, "beyond a float64")
		requireSyntaxError(t, `{"a":1e400,"b":"\/"}`, 1, 6, "beyond a float64")
	})
}
