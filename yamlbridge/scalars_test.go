package yamlbridge_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/yamlbridge"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// convert returns the JSON of src, or the empty string with an error.
func convert(src string) (string, error) {
	const before = "[{"
	b, err := yamlbridge.AppendJSON([]byte(before), []byte(src))
	return strings.TrimPrefix(string(b), before), err
}

// requireSyntaxError asserts that src is refused at a line and column with a message that contains
// text.
func requireSyntaxError(t *testing.T, src string, line, column int, text string) *errors.SyntaxError {
	t.Helper()
	out, err := convert(src)
	require.Error(t, err, "%q gave %s", src, out)
	var syntax *errors.SyntaxError
	require.ErrorAs(t, err, &syntax)
	assert.Contains(t, syntax.Msg, text)
	assert.Equal(t, [2]int{line, column}, [2]int{syntax.Position.Line, syntax.Position.Column}, "%q: %v", src, err)
	return syntax
}

func TestPlainScalars(t *testing.T) {
	for want, spellings := range map[string]string{
		"true":                     "y Y yes Yes YES true True TRUE on On ON",
		"false":                    "n N no No NO false False FALSE off Off OFF",
		"null":                     "~ null Null NULL",
		"511":                      "0777 0o777 0O777 511 5_1_1 0x1FF 0X1ff 0b111111111 +511 511.0 5.11e2 5110e-1",
		"-31":                      "-31 -0x1F -0b11111 -037 -3_1",
		"8":                        "08 8. 8.0 8e0 +8 0_8",
		"1000":                     "1e3 1E3 1e+3 1000 1_000 1_000.0 10000e-1",
		"10":                       "10 0xa 0xA 0b1010 1__0 10_",
		"10.5":                     "10.5 1__0.5 10.5_ 1_0_.5",
		"0.000001":                 "1e-6 0.000001 1.0e-06",
		"1.5":                      "1.5 1.50 +1.5 15e-1 0.15E1",
		"0.5":                      ".5 .50 +.5 5e-1 .5_0",
		"0":                        "0 -0 +0 0.0 -0.0 -0e5 0x0",
		"1":                        "1 1.0 0b1 0b+1 1_",
		"1e-7":                     "0.0000001 1e-7 1e-07",
		"1e+21":                    "1e21 1000000000000000000000",
		"100000000000000000000":    "1e20 100000000000000000000",
		"9223372036854775807":      "9223372036854775807 +9223372036854775807 0x7fffffffffffffff",
		"-9223372036854775808":     "-9223372036854775808",
		"9223372036854775808":      "9223372036854775808",
		"18446744073709551615":     "18446744073709551615 0xffffffffffffffff",
		"18446744073709552000":     "18446744073709551616",
		"1.7976931348623157e+308":  "1.7976931348623157e308",
		"-1.2345678901234567e+100": "-1.2345678901234567e100",
	} {
		for spelling := range strings.FieldsSeq(spellings) {
			got, err := convert("[" + spelling + "]")
			require.NoError(t, err, spelling)
			assert.Equal(t, "["+want+"]", got, spelling)
		}
	}
	for s := range strings.FieldsSeq(`yEs tRUE oN nuLL nULL _1 1__a ._5 .5_ .5__0 0x 0o 0b 0b2 0o8 0xG 1e 1e+ .e1 . .. + -+ +. 1.2.3 1-2 0x1p3 0x1.8 .Inf1
		190:20:30 1:30 2001-01-01 2001-1-1 2001-12-14t21:59:43.10-05:00 2001-02-30 << = 10Gi 100m 1.2.3.4 1e5x infinity NaN inf`) {
		got, err := convert("- " + s + "\n")
		require.NoError(t, err, s)
		assert.Equal(t, `["`+s+`"]`, got, s)
	}
	for s := range strings.FieldsSeq(".inf .Inf .INF +.inf -.inf .nan .NaN .NAN") {
		requireSyntaxError(t, "a: "+s, 1, 4, "no JSON values")
	}
	for s := range strings.FieldsSeq("1e400 -1e400 .1e999 1e309 1_0e400 1e99999999999999999999") {
		requireSyntaxError(t, "a: "+s, 1, 4, "beyond a float64")
	}
}

func TestScalarStyles(t *testing.T) {
	for src, want := range map[string]string{
		`'5'`:                              `"5"`,
		`"5"`:                              `"5"`,
		`'yes'`:                            `"yes"`,
		`''`:                               `""`,
		"|\n  5\n":                         `"5\n"`,
		">-\n  5\n":                        `"5"`,
		"|-\n  a\n   b":                    `"a\n b"`,
		`"a\0\x01\e\b\f\t\x7f\u2028\"\\x"`: `"a\u0000\u0001\u001b\b\f\t` + "\x7f\u2028" + `\"\\x"`,
		`"\U0001F600"`:                     `"😀"`,
		"'<>&'":                            `"<>&"`,
		"":                                 "null",
		"# nothing":                        "null",
		"---":                              "null",
		"--- # nothing\n...\n":             "null",
		"- \n- a":                          `[null,"a"]`,
		"{a, b: , ? c}":                    `{"a":null,"b":null,"c":null}`,
		"[]":                               "[]",
		"{}":                               "{}",
	} {
		got, err := convert(src)
		require.NoError(t, err, src)
		assert.Equal(t, want, got, "%q", src)
	}
}

func TestTags(t *testing.T) {
	for src, want := range map[string]string{
		"!!str 5":                    `"5"`,
		"!!str":                      `""`,
		"!!str ~":                    `"~"`,
		"! 5":                        `"5"`,
		"!":                          `""`,
		"&a ! 5":                     `"5"`,
		"! &a 5":                     `"5"`,
		"! # a comment\n&a\n 5":      `"5"`,
		"!<!> 5":                     `"5"`,
		"&a 5":                       "5",
		"[! 5, !!int 5]":             `["5",5]`,
		"!!int '5'":                  "5",
		"!!int 0x1F":                 "31",
		"!!int 18446744073709551615": "18446744073709551615",
		"!!float 5":                  "5",
		"!!float '1.50'":             "1.5",
		"!!bool yes":                 "true",
		"!!bool 'off'":               "false",
		"!!null ''":                  "null",
		"!!null ~":                   "null",
		"!!binary YQ==":              `"a"`,
		"!!binary |\n Y\n Q==\n":     `"a"`,
		"!!timestamp 2001-01-01":     `"2001-01-01"`,
		"!!timestamp 2001-1-1":       `"2001-1-1"`,
		"!!seq [a]":                  `["a"]`,
		"!!map {a: b}":               `{"a":"b"}`,
		"!!set {x, z}":               `{"x":null,"z":null}`,
		"!<tag:yaml.org,2002:str> 5": `"5"`,
		"%TAG !e! tag:yaml.org,2002:\n--- !e!str 5": `"5"`,
	} {
		got, err := convert(src)
		require.NoError(t, err, src)
		assert.Equal(t, want, got, "%q", src)
	}
	for src, text := range map[string]string{
		"!!int 5.0":                           `cannot decode !!float "5.0" as !!int`,
		"!!int ''":                            `cannot decode !!null "" as !!int`,
		"!!float 18446744073709551615":        "as !!float",
		"!!bool 1":                            "as !!bool",
		"!!bool nonsense":                     "as !!bool",
		"!!int 1e400":                         "beyond a float64",
		"!!timestamp 2001-13-01":              "as !!timestamp",
		"!!null a":                            "as !!null",
		"!!timestamp a":                       "as !!timestamp",
		"!!binary '*'":                        "invalid base64",
		"!!map a":                             "unknown tag",
		"!!map [a]":                           "unknown tag",
		"!!seq {a: b}":                        "unknown tag",
		"!!str [a]":                           "unknown tag",
		"!!omap [a: b]":                       "unknown tag",
		"!!merge a":                           "unknown tag",
		"!foo {}":                             "unknown tag",
		"!" + strings.Repeat("x", 100) + " a": strings.Repeat("x", 63) + `"...`,
	} {
		requireSyntaxError(t, src, 1, 1, text)
	}
	requireSyntaxError(t, "!e!foo a", 1, 1, "undefined tag handle")
}

func TestKeys(t *testing.T) {
	for key, want := range map[string]string{
		"a":                       "a",
		"1":                       "1",
		"0x10":                    "16",
		"020":                     "16",
		"-0":                      "0",
		"1_000":                   "1000",
		"1e3":                     "1000",
		"1.0":                     "1",
		"1.50":                    "1.5",
		"3.14159265358979":        "3.1415927",
		"1e100":                   ".inf",
		"-1e100":                  "-.inf",
		".inf":                    ".inf",
		"-.Inf":                   "-.inf",
		".nan":                    ".nan",
		"1e21":                    "1e+21",
		"y":                       "true",
		"no":                      "false",
		"2001-01-01":              "2001-01-01",
		"!!binary YQ==":           "a",
		"!!str 1.50":              "1.50",
		"! 1.50":                  "1.50",
		"'1.50'":                  "1.50",
		"!!int '7'":               "7",
		"-9223372036854775808":    "-9223372036854775808",
		"9223372036854775807":     "9223372036854775807",
		"3.4028234663852886e38":   "3.4028235e+38",
		"3.4028235677973366e38":   ".inf",
		"-3.4028235677973366e38":  "-.inf",
		"!!timestamp 2001-01-01":  "2001-01-01",
		`"a\"\n"`:                 "a\"\n",
		"''":                      "",
		"'~'":                     "~",
		"? |-\n  multi\n  line\n": "multi\nline",
	} {
		src := "{" + key + ": v}"
		if strings.HasPrefix(key, "?") {
			src = key + ": v"
		}
		var m yamlbridge.Reader
		got, err := m.AppendJSON(nil, []byte(src))
		require.NoError(t, err, key)
		name := strings.ReplaceAll(strconv.Quote(want), `\x00`, `\u0000`)
		assert.Equal(t, "{"+name+`:"v"}`, string(got), key)
	}
	for key, text := range map[string]string{
		"~":                    "null is no key",
		"null":                 "null is no key",
		"!!null ''":            "null is no key",
		"9223372036854775808":  "beyond int64",
		"18446744073709551615": "beyond int64",
		"[a]":                  "mapping or sequence is no key",
		"{a: b}":               "mapping or sequence is no key",
		"1e400":                "beyond a float64",
	} {
		requireSyntaxError(t, "? "+key+"\n: v", 1, 3, text)
	}
	requireSyntaxError(t, "{{ .Values.x }}", 1, 2, "mapping or sequence is no key")
}

func TestErrorPath(t *testing.T) {
	err := requireSyntaxError(t, "a:\n- b\n- c: {d: .inf}", 3, 10, "no JSON values")
	assert.Equal(t, "a[1].c.d", err.Path.String())
	err = requireSyntaxError(t, "a:\n- b\n- c: {~: x}", 3, 7, "null is no key")
	assert.Equal(t, "a[1].c", err.Path.String())
	err = requireSyntaxError(t, "a: {<<: [5]}", 1, 10, "map merge requires")
	assert.Equal(t, "a.<<", err.Path.String())
	err = requireSyntaxError(t, "'': !x 1", 1, 5, "unknown tag")
	assert.Equal(t, `[""]`, err.Path.String())
}

// TestOneSpelling asserts that a name is written in one way, however YAML spells it: names are
// compared as JSON.
func TestOneSpelling(t *testing.T) {
	short := map[rune]string{0: "0", 7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 27: "e", ' ': " ", '"': "\"", '/': "/", '\\': "\\",
		0x85: "N", 0xA0: "_", 0x2028: "L", 0x2029: "P"}
	for _, c := range append([]rune{0x2027, 0x2028, 0x2029, 0xfeff, 0xfffd, 0x1f600, 0x10ffff}, allBytes()...) {
		spelled := []string{fmt.Sprintf(`"x\U%08x"`, c)}
		if c < 256 {
			spelled = append(spelled, fmt.Sprintf(`"x\x%02x"`, c))
		}
		if c < 1<<16 {
			spelled = append(spelled, fmt.Sprintf(`"x\u%04x"`, c))
		}
		if s, ok := short[c]; ok {
			spelled = append(spelled, `"x\`+s+`"`)
		}
		if c >= ' ' && c < 0x7f || c == 0xe9 || c == 0x2027 || c == 0xfffd || c >= 0x1f600 {
			spelled = append(spelled, "'x"+strings.Replace(string(c), "'", "''", 1)+"'")
			if c != '"' && c != '\\' {
				spelled = append(spelled, `"x`+string(c)+`"`)
			}
			if unicode.IsLetter(c) {
				spelled = append(spelled, "x"+string(c), "!!str x"+string(c))
			}
		}
		want, err := convert("{" + spelled[0] + ": 1}")
		require.NoError(t, err, spelled[0])
		for _, s := range spelled {
			for _, src := range []string{"{" + s + ": 1}", s + ": 1", "? " + s + "\n: 1", "? &a " + s + "\n: 1", "{!!str " + s + ": 1}"} {
				if strings.Contains(src, "!!str !!str") {
					continue
				}
				out, err := convert(src)
				require.NoError(t, err, src)
				require.Equal(t, want, out, src)
			}
			out, err := convert("[&a " + s + ", {*a : 1}]")
			require.NoError(t, err, s)
			require.Contains(t, out, want, s)
		}
	}
}

func allBytes() (all []rune) {
	for c := range rune(256) {
		all = append(all, c)
	}
	return all
}
