package yamlbridge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/espalier-dev/espalier/yamlbridge"
)

// TestTail: after the root the server looks at one token more, and on its line at the tokens after
// one that could be a key, and decodes 512 bytes at a time. Texts that it refuses there are
// refused, and later ones are not. TestYAMLAdversarial in fuzz/ compares with it.
func TestTail(t *testing.T) {
	pad := func(n int) string { return "{a: b}\n...\n" + strings.Repeat("x", n-len("{a: b}\n...\n")) }
	for src, want := range map[string]string{
		"{a: b} @":                   "1:8: found character that cannot start any token",
		"{a: b} `":                   "1:8: found character",
		"{a: b} %":                   "1:8: found character",
		"{a: b} # c\n\n@":            "3:1: found character",
		"{a: b} \"":                  "1:8: found unexpected end of stream",
		"{a: b} 'x":                  "1:8: found unexpected end of stream",
		"{a: b}}\"\xff\"":            "1:9: invalid UTF-8",
		"{a: b} # \xff":              "1:10: invalid UTF-8",
		pad(511) + "\xff":            "invalid UTF-8",
		pad(511) + "\xc3":            "", // is left for the next time
		pad(510) + "é\xff":           "",
		pad(511) + "é\xff":           "",
		pad(510) + "日\xff":           "",
		pad(509) + "🌳\xff":           "",
		pad(511) + "\xc0":            "",
		pad(510) + "\xe0\xa0":        "",
		pad(511) + "\xf8":            "invalid UTF-8", // starts no character
		pad(512) + "\xff" + pad(100): "",
		"{a: b}" + strings.Repeat(" ", 508) + "x\xffyyyy":                                "invalid UTF-8",
		"{a: b}" + strings.Repeat(" ", 900) + "}xyz" + strings.Repeat("z", 200) + "\xff": "",
		"{a: b} }": "",
	} {
		checkTail(t, src, want)
	}
}

// TestTailTokens has the errors of the server's scanner for the token after the root. The texts are
// in the order of its functions.
func TestTailTokens(t *testing.T) {
	const (
		noStart = "found character that cannot start any token"
		name    = "did not find expected alphabetic or numeric character"
		after   = "did not find expected whitespace or line break after a tag"
		escape  = "found unknown escape character"
		octet   = "found an incorrect UTF-8 octet in a tag"
		header  = "did not find expected comment or line break after the header"
		unknown = "found unknown directive name"
	)
	for tail, want := range map[string]string{
		" &a": "", " *a-_9": "", " &a:": "did not find expected key", "\n&a:": "", " &a]": "", " &": name, " *": name, " &é": name, " &a[": name, " *a\u0085": "", "\n&a#": name,
		" !": "", " !a": "", " !!str x": "", " !a!b": "", " !<a>": "", " !<": "did not find expected tag URI", " !<>": "did not find expected tag URI", " !<a": "did not find the expected '>'", " !a!": "did not find expected tag URI", " !!": "did not find expected tag URI",
		" !a{": after, " !<a>x": after, " !a\"": after, " !%41": "", " !%C3%A9": "", " !%F0%80%80%80": "", " !%4": "did not find URI escaped octet", " !%x4": "did not find URI escaped octet", " !%C3x": "did not find URI escaped octet",
		" !%0a": "", " !%80": octet, " !%F8": octet, " !%C3%41": octet,
		" 'x''y'": "", " 'x\n---'": "", " 'x\n---\n'": "found unexpected document indicator", " 'x\n... '": "found unexpected document indicator", " 'x\n...y\n\n z'": "", " 'x\\'": "", " 'x ": "found unexpected end of stream", " 'x''y": "1:8: found unexpected end of stream", " \"\"y": "",
		` "\0\a\b\t\n\v\f\r\e\ \"\'\\\N\_\L\P\x41\u00e9\U0010FFFF"`: "", " \"\\\t\\\n \\\r\n\\\u0085\\\u2028\"": "", " \"\\\n--- \"": "found unexpected document indicator", " \"é 'x'\n\"": "",
		` "\/"`: escape, ` "\`: escape, ` "\x4"`: "did not find expected hexdecimal number", ` "\ud800"`: "found invalid Unicode character escape code", ` "\udfff"`: "found invalid Unicode character escape code", ` "\U00110000"`: "found invalid Unicode character escape code",
		" |\n x": "", " >-2 # c\n  x\n\n  y\nz": "", " |+\r\n": "", " |2-\n": "", " |#c": "", " |\n\n   \n x": "", " |": "", " |x": header, " |--": header, " |12": header, " |0": "found an indentation indicator equal to 0", " >+0": "found an indentation indicator equal to 0",
		" |\n \tx": "found a tab character where", " |\n x\n\ty": "found a tab character where", " |\n\t": "found a tab character where", " |1\n \tx\n \ty": "", " |3\n \tx": "found a tab character where", " |1\n  x\n\ty": "found a tab character where", " |\n   \n x\n\ty": "", " |9\n": "", "\n|\n---\n@": "", "\n>\u2029 x": "",
		"\n%YAML 1.1": "", "\n%YAML 1.2 # c": "", "\n%YAML\t9.9\r\n@": "", "\n%YAML 1": "did not find expected version number", "\n%YAML 123.1": "did not find expected version number", "\n%YAML 1.123": "did not find expected", "\n%YAML 1.1 x": "did not find expected comment or line break", "\n%YAML 11.11": "", "\n%YAML 11.111": "did not find expected comment or line break", "\n%YAML 1.0": "",
		"\n%TAG ! x": "", "\n%TAG\t!a!  x%41#": "did not find expected whitespace or line break after the prefix", "\n%TAG !! x#c": "after the prefix", "\n%TAG !! x #c": "", "\n%TAG !a x": "did not find expected '!'", "\n%TAG a x": "did not find expected '!'", "\n%TAG !!x": "did not find expected whitespace after a tag handle", "\n%TAG ! ": "did not find expected tag URI", "\n%TAG ! %4": "did not find URI escaped octet",
		"\n%": unknown, "\n%X": unknown, "\n%YAML-": unknown, "\n%YAML: 1.1": unknown, "\n %YAML 1.1": noStart,
		"\n---\n@": "", "\n...\n@": "", "\n--- @": "", "\n...@": "", "\n\t@": "a tab is no indentation",
		" - x": "block sequence entries are not allowed", " ? x": "mapping keys are not allowed", "\n- @": "", "\n? @": "", "\n: @": "", " -x": "", " ?x": "", " :x": "",
	} {
		checkTail(t, "{a: b}"+tail, want)
	}
}

// TestTailOnLine: the server reads on after a token that could be a key, on its line and up to 1024
// characters.
func TestTailOnLine(t *testing.T) {
	const noStart = "found character that cannot start any token"
	far := strings.Repeat("é", 1017)
	for src, want := range map[string]string{
		"{a: b} 'x' @": noStart, "{a: b} x # @": "", "{a: b} [x, {y: 'z'}] @": noStart, "{a: b} *x !y &z @": noStart, "{a: b} |\n @\n@": "",
		"{a: b} 'x'\n@": noStart, "{a: b} 'x'\n'y'\n@": "", "{a: b} 'x'\n- @": "", "{a: b} 'x\n' @": "", "{a: b} '\n', @": "", "{a: b}, @": "", "{a: b}] @": "",
		"{a: b} '" + far[4:] + "'@": noStart, "{a: b}'" + far + "'@": "", // 1024 and 1025 characters
		"{a: b}\n'x' @": noStart, "{a: b}\n'x' 'y' @": noStart, "{a: b}\n'x'\n@": noStart, "{a: b}\n'x'\n'y' @": "", "{a: b}\n'x': @": "", "{a: b}\n'x', @": "", "{a: b}\nx # c\n@": noStart, "{a: b}\nx\n # c\n@": "", "{a: b}\nx\n y: @": "",
		"{a: b}\n{x: y} @": noStart, "{a: b}\n[- ? x] @": "", "{a: b}\n[- x] @": noStart, "{a: b}\n[\tx\t] @": noStart, "{a: b}\n[x,\n@": noStart, "{a: b}\n[x,\n'y' @": "", "{a: b}\n[ab?c] @": noStart, "{a: b}\n[|": noStart,
		"{a: b}\n[\tx]": "", "{a: b}\n[x,] 'y' @": noStart, "{a: b}\n'x'\n\ty": noStart, "{a: b}\n!x @": noStart, "{a: b}\n" + strings.Repeat("'x' ", 255) + "@": noStart,
		// If nothing within brackets can be a key, the server does not wait for the brackets, but
		// for the token before them.
		"{a: b}\n{} @": "", "{a: b}\n[,] @": "", "{a: b}\n[[]] @": noStart, "{a: b}\n&x {} @": noStart, "{a: b}\n'x' {} @": noStart,
		"{a: b}\n{x}": "", "{a: b}\n{x}}": "", "{a: b} x: y": "did not find expected key", "{a: b}\nx: y: @": "", "{a: b} 'x'- y": "block sequence entries are not allowed", "{a: b} x- y": "", "{a: b} 'x' - y": "block sequence entries are not allowed",
		// The root, and its properties.
		"&x {a: b} 'x' @": noStart, "&x\n# c\n{a: b} 'x' @": noStart, "!!map &x\n{a: b} 'x' @": noStart, "  &x\n  {a: b} 'x' @": noStart, "--- {a: b} 'x' @": "", "---\n{a: b} 'x' @": noStart, "--- {a: b} @": noStart, "--- &x\n{a: b} 'x' @": noStart,
		"{a:\n b} 'x' @": "", "{a:\n b} : x": "a mapping or sequence is no key", "{a:\n b}\n : x": "", "  a: b\n@": noStart, "  a: b\nx y: @": "", "  a: b\n'x' @": noStart, "  a: 'b'\n'x' 'y'\n@": noStart, "  a: 'b\n'@": noStart, "a: b\n---\n@": "", "   a: 'b\n' : x": "mapping values are not allowed",
		// Line breaks of YAML 1.1, and the text that is read ahead of them.
		"{a: b}\u0085'x'\u2028'y' @": "", "{a: b}\u2029'x' @": noStart, "{a: b}\n'x'\r\n'y' @": "",
		"{a: b} 'x'\n" + strings.Repeat("\u0085\u2028\r\n", 60) + "\xff": "invalid UTF-8", "{a: b} x" + strings.Repeat("\u0085", 300) + "\xff": "invalid UTF-8",
		"{a: b} x #" + strings.Repeat("\u2028", 300) + "\x01": "control character", "{a: b}\n---\n" + strings.Repeat("\n", 600) + "\x01": "",
	} {
		checkTail(t, src, want)
	}
}

// TestTailReads: of each text after the root, the server decodes what is before the ^. If 512 bytes
// end there, it decodes no more.
func TestTailReads(t *testing.T) {
	for _, marked := range []string{
		"\n}xyz^abc", "\n,abc^def", "\n- ab^cdef", "\n{}abc^def", "\n@abc^def", "\n--- ^abcdef", " # abc\n}xyz^abc",
		"\n&abcdefg[^h", "\n*abcdefg[^h", "\n!abcdefg{^h", "\n!abcdefg!{^h", "\n!<abcdefg>h^i", "\n!<abcdef ^{h", "\n!abc%zz^ h", "\n!abc%C3%zz^ h",
		"\n'a\n bcdefgh'i^jk", "\n'a\n  'bcd^efgh", "\n'a \n \n 'bcd^efgh", "\n\"a\\\n\"^bcdef", "\n\"a\\\r\n\"^bcdef", "\n\"a\\\u2028\"^bcdef", "\n\"a\\\n  \"bcd^efg",
		"\n\"a\\uzzzz^ bcd", "\n\"a\\Uzzzzzzzz^ bcd", "\n\"a\\xzz^ bcd",
		"\nx\n yabcdef: ^zzz", "\nx\n # ab^c def", "\nx   \n y:abc: ^defgh", "\nx\n--- ^abcdef",
		"\n%ABCDEFGH ^IJ", "\n%YAML   1x^yz", "\n%YAML 1.1   x^yz", "\n%YAML 1.1   \nx^yz", "\n%YAML 1.1 # abc\r\n^xyz",
		"\n%TAG   a^bcd", "\n%TAG   !abcd ^xyz", "\n%TAG   !!a^bcd", "\n%TAG   !!   {^abc", "\n%TAG   !!   abc{^def", "\n%TAG   !!   abc d^ef",
		"\n|\n ab\nc^def", "\n>2\n a^b\r\ncdef", "\n|   x^abc", "\n|   \nx^abc", "\n|\u2028xa^bc", "\n|\n\n\n  a\n\n\nb^cdef", "\n|\n \t^abc",
		// Characters count, and all line breaks.
		"\n'\u0085\u2028\r\n\u2029\r\nd'ef^ghi", "\n'é日🌳x\n'éé日^🌳", "\n}\u2028b\u2029^c", "\n}a\u0085b^日c", "\n}a\r\n^b日c", "\n} \r\r^b日c", "\n}🌳é日^🌳",
	} {
		text := strings.Replace(marked, "^", "", 1)
		for _, lead := range []string{"", "\uFEFF"} {
			for n, isRead := range map[int]bool{512: false, 513: true} {
				root := lead + "{a: b}"
				src := root + strings.Repeat(" ", n-len(root)-strings.Index(marked, "^")) + text + "\xff"
				r := yamlbridge.Reader{Dialect: yamlbridge.Server}
				_, err := r.AppendJSON(nil, []byte(src))
				assert.Equal(t, isRead, err != nil && strings.Contains(err.Error(), "invalid UTF-8"), "%q, which ends at %d: %v", lead+marked, n, err)
			}
		}
	}
}

// TestTagsOfServer: escapes in tags need only look like UTF-8 to the server's scanner, in the
// document or after the root.
func TestTagsOfServer(t *testing.T) {
	for tag, refused := range map[string]bool{
		"!%F0%80%80%80": false, "!%ED%A0%80": false, "!%C3%A9": false, "!%80": true, "!%F8%80%80%80%80": true, "!%F8": true, "!%C3": true, "!%C3x": true, "!%C3%41": true,
	} {
		_, err := yamlbridge.AppendJSON(nil, []byte(tag+" x"))
		assert.Error(t, err, "%s", tag)
		r := yamlbridge.Reader{Dialect: yamlbridge.Server}
		for _, src := range []string{tag + " x", "{a: b} " + tag} {
			_, err = r.AppendJSON(nil, []byte(src))
			assert.Equal(t, refused, err != nil, "%s: %v", src, err)
		}
	}
}

func checkTail(t *testing.T, src, want string) {
	t.Helper()
	{
		r := yamlbridge.Reader{Dialect: yamlbridge.Server}
		out, err := r.AppendJSON(nil, []byte(src))
		if want != "" {
			assert.ErrorContains(t, err, want, "%q", src)
			return
		}
		if !assert.NoError(t, err, "%q", src) {
			return
		}
		assert.Equal(t, `{"a":"b"`, string(out[:min(len(out), 8)]), "%q", src)
		assert.True(t, r.Trailing())
	}
}
