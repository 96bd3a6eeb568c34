package fuzz

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
)

// TestYAMLCorners compares texts around the limits of the server that are too large or too rare for
// a generator.
func TestYAMLCorners(t *testing.T) {
	rep := strings.Repeat
	for name, texts := range map[string][]string{
		"depth":    yamlDepths(),
		"keys":     yamlLongKeys(),
		"aliases":  yamlAliases(),
		"encoding": yamlEncodings(),
		"numbers": {
			"a: " + rep("1", 300), "a: " + rep("1", 400), "a: 0." + rep("1", 400), "a: " + rep("0", 500), "a: -0x" + rep("0", 100) + "1", "a: 1" + rep("_", 100) + "1",
			"a: 1e308", "a: 1e309", "a: -1e309", "a: 1e-400", "a: 1e99999999999999999999", "a: .1e999", "a: 1e400\nb: 1", "1e400: a", "a: !!float 1e400", "a: !!int 1e400",
			"a: !!float 18446744073709551615", "18446744073709551615: a", "9223372036854775808: a", "a: -9223372036854775809", "a: 0b111", "a: -0b111", "a: 0b-1", "a: -0b", "a: 0b_",
			"a: 0b1" + rep("0", 63), "a: 0b1" + rep("0", 64), "a: -0b1" + rep("0", 63), "a: +0b11", "a: 0x_", "a: 0_", "a: _0", "a: 1__", "a: 0x1.8", "a: 1.5_5", "a: ._5", "a: .5_5", "a: .5e", "a: 5.e3",
			"a: +.5", "a: -.5", "a: +.inf", "a: .INF", "a: .Nan", "a: .nan", ".nan: 1\n.NaN: 2", ".inf: 1\n1e100: 2", "a: 0o18", "a: 0o7_7", "a: 00o7", "a: 08.5", "a: 1:30", "a: 12e03", "a: 12E+03",
		},
		"mangled":    {"? !!binary /w==\n: 1\n? !!binary /g==\n: 2", "? !!binary /g==\n: 1\n? !!binary /w==\n: 2", "? !!binary /w==\n: 1\n? \uFFFD\n: 2", "? !!binary /w==\n: 1\n? !!binary /w==\n: 2"},
		"properties": {"&x &y a", "!!str !!str a", "&x\n&y a", "&x !!str &y a", "a: &x &y b", "- !!str !!str a"},
		"merges": {
			"a: &a {x: 1}\nb: {x: 0, <<: *a}", "a: &a {x: 1}\nb: {<<: *a, x: 0}", "a: &a {x: 1}\nb: &b {x: 2}\nc: {<<: [*a, *b]}", "a: &a {x: 1}\nb: {<<: *a, <<: {x: 2}}", "<<: {a: .inf}\na: 1",
			"a: &a\n<<: *a", "a: &a []\n<<: *a", "<<: []", "<<: [[]]", "<<: [{}, 1]", "<<: ~", "<<:", "'<<': 1", "! <<: {a: 1}", "!!str <<: {a: 1}", "!!merge <<: {a: 1}", "!!merge '<<': {a: 1}", "!!merge a: {a: 1}",
			"&m <<: {a: 1}\nb: *m\n*m : c", "? <<\n: {a: 1}", "? <<\n", "[<<: {a: 1}]", "{<<, a: 1}", "a: <<", "- <<", "<<", "a: &a {x: &x 1}\nb: {<<: *a, c: *x}", "<<: {1: a}\n1: b", "<<: {1: a}\n'1': b",
			"a: &a {<<: *a}", "<<: &a {x: 1}\nb: *a", "<<: !!set {a}", "<<: !foo {a: 1}", "<<: !!map {a: 1}", "a: &a {b: &b {c: 1}}\nd: {<<: [*a, *b], b: {<<: *b}}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, text := range texts {
				for _, m := range kubernetesModes {
					if k, _, _ := m.compare([]byte(text), nil); k == differs {
						assert.Fail(t, m.explain([]byte(text), nil))
					}
				}
			}
		})
	}
}

func yamlDepths() (texts []string) {
	rep := strings.Repeat
	for n := 9_998; n <= 10_002; n++ {
		texts = append(texts,
			rep("[", n)+rep("]", n),
			rep("{a: ", n-1)+"{"+rep("}", n),
			rep("[{a: ", n/2)+rep("}]", n/2),
			rep("- ", n)+"a",
			"- "+rep("[", n)+rep("]", n),
			rep("- ", n-1)+"- []",
			rep("- a:\n", 1)+"   "+rep("- ", n)+"b",
			rep("? ", n)+"a",
			"a: &a "+rep("[", n/2)+rep("]", n/2)+"\nb: "+rep("[", n-n/2-1)+"*a"+rep("]", n-n/2-1))
	}
	return texts
}

// yamlLongKeys returns texts with keys around the 1 024 characters of the server.
func yamlLongKeys() (texts []string) {
	rep := strings.Repeat
	for n := 1_015; n <= 1_030; n++ {
		key := rep("k", n)
		wide := rep("é", n)
		texts = append(texts, key+": 1", key+" : 1", `"`+key+`": 1`, "'"+key+"': 1", "{"+key+": 1}", "["+key+": 1]", `{"`+key+`":1}`, "a: {"+key+": 1}", "- "+key+": 1",
			"? "+key+"\n: 1", "{? "+key+" : 1}", wide+": 1", `{"`+wide+`": 1}`, "&a "+key+": 1", "!!str "+key+": 1", "!!str &a "+key[4:]+": 1", "["+key+", "+key+"]", "{"+key+"}",
			rep("[", 10)+key+": 1"+rep("]", 10), "a: &"+key+" 1\n*"+key+" : 2", "["+key[:n-4]+" ]: 1", rep(" ", 9)+key+": 1", `"`+rep(`\n`, n/2)+`": 1`, "{["+key+"]: 1}", "a:\n- "+key+":\n  - 1",
			key[:n/2]+" "+key[n/2:]+": 1", "{"+key[:n/2]+"\n "+key[n/2:]+": 1}", "a: b\n"+key+": 1", "{a: b, "+key+": 1}", key+"\n", key+"\n: 1", "a: "+key+"\nb: 1", "- '"+key+"'\n- 1", "{'"+key+"', a: 1}")
	}
	return texts
}

// yamlAliases returns texts around the share of nodes that the server allows to come from aliases:
// above 1 000 nodes 99 %, and less above 400 000.
func yamlAliases() (texts []string) {
	list := func(n int, s string) string { return "[" + strings.Repeat(s+",", n) + "]" }
	for _, n := range []int{1, 10, 98, 99, 100, 101, 102, 400} {
		for _, m := range []int{1, 2, 9, 10, 11, 50, 98, 99, 100, 101, 102, 110, 200} {
			texts = append(texts, "a: &a "+list(n, "x")+"\nb: "+list(m, "*a"))
		}
	}
	for m := 940; m < 1020; m += 3 {
		texts = append(texts, "a: &a 1\nb: "+list(m, "*a"), "&a a: 1\nb: "+list(m, "*a"), "a: &a {b: 1}\nc: "+list(m/2, "{<<: *a}"), "a: &a {b: &b 1}\nc: "+list(m/4, "{*b : *a}"))
	}
	for _, m := range []int{396, 410} {
		texts = append(texts, "a: &a "+list(999, "x")+"\nb: "+list(m, "*a")+"\nc: "+list(4000, "y"), "a: &a "+list(999, "x")+"\nc: "+list(20_000, "y")+"\nb: "+list(m, "*a"))
	}
	return texts
}

// yamlEncodings returns texts in encodings that only the server reads.
func yamlEncodings() (texts []string) {
	for _, text := range []string{"a: 1", "é: [日本, 🌳]\n", "a: 'x\r\n  y'\r\nb: |\r\n  z\r\n", "", "a: \x01", "a: \uFEFF", "\uFEFFa: 1", "a: {b: c}\n---\nd", "a: 1\na: 2\n"} {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			encoded := utf16Of(text, order)
			texts = append(texts, string(encoded), string(encoded[:len(encoded)-1]), string(encoded[2:]))
			// An unpaired surrogate.
			texts = append(texts, string(order.AppendUint16(bytes.Clone(encoded), 0xD83D)), string(order.AppendUint16(bytes.Clone(encoded), 0xDE00)))
		}
	}
	return append(texts, "\xef\xbb", "\xef\xbb\xbf", "\xff", "\xfe", "\xff\xfe", "\xfe\xff", "\x00a", "a\x00", "\x00\x00\xfe\xff", "\xef\xbb\xbf\xef\xbb\xbfa: 1", "a: 1\n\xef\xbb\xbfb: 2", "a:\n  \xef\xbb\xbfb: 2", "\xef\xbb\xbf# c\n%YAML 1.1\n---\na: 1")
}

// utf16Of returns the text in UTF-16, with a byte order mark.
func utf16Of(text string, order binary.AppendByteOrder) []byte {
	encoded := order.AppendUint16(nil, 0xFEFF)
	for _, unit := range utf16.Encode([]rune(text)) {
		encoded = order.AppendUint16(encoded, unit)
	}
	return encoded
}
