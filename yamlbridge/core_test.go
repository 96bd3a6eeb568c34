package yamlbridge_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/yamlbridge"
)

func core(src string) (string, error) {
	r := yamlbridge.Reader{Dialect: yamlbridge.Core}
	out, err := r.AppendJSON(nil, []byte(src))
	return string(out), err
}

// The schema of YAML 1.2, section 10.3.
func TestCoreScalars(t *testing.T) {
	for src, want := range map[string]string{
		"[yes, No, on, y, n, OFF]":               `["yes","No","on","y","n","OFF"]`,
		"[true, True, TRUE, false, ~, null, , ]": "",
		"[true, True, FALSE, ~, Null, NULL]":     `[true,true,false,null,null,null]`,
		"[0777, 0o777, 0x1F, 0b11, 1_000, +5]":   `[777,511,31,"0b11","1_000",5]`,
		"[1e3, 1.50, .5, 5., -0.0, 12e03]":       `[1000,1.5,0.5,5,0,12000]`,
		"[0o8, 0xG, 0X1F, 0O7, -0x1, 190:20:30]": `["0o8","0xG","0X1F","0O7","-0x1","190:20:30"]`,
		"99999999999999999999":                   "100000000000000000000",
		"18446744073709551615":                   "18446744073709551615",
		"{18446744073709551615: a}":              `{"18446744073709551615":"a"}`,
		"{1: a, 0x10: b, true: c, 1.50: d}":      `{"1":"a","16":"b","true":"c","1.5":"d"}`,
		"{<<: {a: 1}, b: <<}":                    `{"<<":{"a":1},"b":"<<"}`,
		"[! 5, !foo 5, !!binary AA==, !!foo {}]": `["5","5","AA==",{}]`,
		"!!int '5'":                              "5",
		"[!!int 0, !!int '-7', !!int 0x0]":       "[0,-7,0]",
		"!!float 5":                              "5",
		"2001-01-01":                             `"2001-01-01"`,
		"!!timestamp 2001-13-01":                 `"2001-13-01"`,
		"!!null ~":                               "null",
		"[0o, 0x, 0]":                            `["0o","0x",0]`,
		"{.inf: a, -.inf: b, .nan: c, 1e39: d}":  `{".inf":"a","-.inf":"b",".nan":"c","1e+39":"d"}`,
	} {
		got, err := core(src)
		if want == "" {
			require.Error(t, err, src)
			continue
		}
		require.NoError(t, err, src)
		assert.Equal(t, want, got, src)
	}
	for src, text := range map[string]string{
		".inf": "no JSON values", "1e400": "beyond a float64", "~: a": "null is no key", "!!bool yes": "cannot decode", "!!int 5.0": "cannot decode", "!!null a": "cannot decode",
	} {
		_, err := core(src)
		require.ErrorContains(t, err, text, src)
	}
}

// Differences between the grammars.
func TestCoreGrammar(t *testing.T) {
	for _, c := range []struct{ src, kubernetes, core string }{
		{"{a:}", "", `{"a":null}`},
		{"[:x, ?y]", "", `[":x","?y"]`},
		{"{a\n: b}", "", `{"a":"b"}`},
		{"[a?b]", "", `["a?b"]`},
		{"-\ta", "", `["a"]`},
		{"-\ta: b", "", ""},
		{"a:\n\t\nb: 1", "", `{"a":null,"b":1}`},
		{"'a'#b", `"a"`, ""},
		{"[a]#b", `["a"]`, ""},
		{"a: [\nb]", `{"a":["b"]}`, ""},
		{"a: [\n b\n]", `{"a":["b"]}`, `{"a":["b"]}`},
		{"a: 'b\nc'", `{"a":"b c"}`, ""},
		{"a: 'b\n c'", `{"a":"b c"}`, `{"a":"b c"}`},
		{"--- |\na\n", "", `"a\n"`},
		{"[&é a, *é ]", "", `["a","a"]`},
		{"%FOO bar\n---\na", "", `"a"`},
		{"%YAML 1.3\n---\na", "", `"a"`},
		{"%YAML 2.0\n---\na", "", ""},
		{`"\'"`, `"'"`, ""},
		{"a:\n|\n b", `{"a":"b"}`, ""},
		{"a: x\u0085b: c", "", ""},
		{"a: 'x\u0085 y'", `{"a":"x y"}`, "{\"a\":\"x\u0085 y\"}"},
		{"a: 'x\u2028 y'", "{\"a\":\"x\u2028y\"}", "{\"a\":\"x\u2028 y\"}"},
		{"*a", "", ""},
	} {
		for _, d := range []struct {
			name string
			f    func(string) (string, error)
			want string
		}{{"Kubernetes", convert, c.kubernetes}, {"Core", core, c.core}} {
			got, err := d.f(c.src)
			if d.want == "" {
				assert.Error(t, err, "%s: %q gave %s", d.name, c.src, got)
				continue
			}
			if assert.NoError(t, err, "%s: %q", d.name, c.src) {
				assert.Equal(t, d.want, got, "%s: %q", d.name, c.src)
			}
		}
	}
}
