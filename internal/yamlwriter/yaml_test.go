package yamlwriter

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/yamlbridge"
)

// TestYAMLStrings writes strings, as values and as names, and reads them back.
func TestYAMLStrings(t *testing.T) {
	texts := strings.Fields(`y Y n yes No on OFF true True null Null NULL ~ = << 0 -0 +1 08 0777 0o17 0x1F 0b1 1_000 1. .5 1e3
		1.5 .inf -.Inf .nan 190:20:30 12:30:45 2026-01-02 2026-01-02T03:04:05Z - -- --- ... : a:b a: # a#b #a & &a * *a ! !a | > > % @ a, [ ] { } ? ?a ' "
		plain /path a/b:latest 10.0.0.1 v1 1.2.3 100m 5Gi 0/5 @monthly {{x}} äöü 😀 _1 1_`)
	texts = append(texts, "", " ", "a ", " a", "a b", "a: b", "a #b", "- a", "? a", "a\tb", "\t", "a\nb", "a\nb\n", "a\n\nb\n\n", "\na", "\n", "\n\n",
		" a\nb", "a \nb", "a\n  b\n", "a\r\nb", "a\rb", "\x00", "\x07", "\x7f", "\u0085", "a\u0085b", "a\u2028b", "\ufeffa", "a\ufeff", "\u00a0", "\u202ea",
		"0 2 * * *", "* * * * *", "a: |\n  b", "#!/bin/sh\necho a\n", "a\n---\nb", "a\n...\nb", strings.Repeat("long ", 60), strings.Repeat("k", 300), "\ue000", "\U0010ffff")
	object := map[string]any{"list": texts}
	for _, text := range texts {
		object["name "+text] = text
		object[text] = map[string]any{text: []any{text}}
	}
	for _, text := range texts {
		js, err := json.Marshal(text)
		require.NoError(t, err)
		checkYAML(t, `{"a":`+string(js)+`}`)
		checkYAML(t, `{`+string(js)+`:1}`)
	}
	js, err := json.Marshal(object)
	require.NoError(t, err)
	checkYAML(t, string(js))
}

func TestYAMLValues(t *testing.T) {
	deep := strings.Repeat(`{"a":[`, 100) + `"yes",1,null` + strings.Repeat(`]}`, 100)
	for _, js := range []string{
		`{}`, `{"a":{}}`, `{"a":[]}`, `[]`, `[[],[[]],{}]`, `{"a":null,"b":true,"c":false}`, `{"b":1,"a":2}`,
		`[0,-1,1.5,1000000,9223372036854775807,18446744073709551615,1e-7,-2.5e+30]`, `[{"a":1,"b":[{"c":1}]}]`, deep,
	} {
		checkYAML(t, js)
	}
	text, err := Document([]byte(deep))
	require.NoError(t, err)
	assert.Less(t, len(text), 20_000, "what is deep is not indented")
}

func checkYAML(t *testing.T, js string) {
	t.Helper()
	text, err := Document([]byte(js))
	require.NoError(t, err)
	back, err := yamlbridge.AppendJSON(nil, text)
	if assert.NoError(t, err, "%.300q", text) {
		assert.JSONEq(t, js, string(back), "%.300q", text)
	}
}

// TestYAMLQuotes: strings are quoted if some reader of YAML needs that, and only then.
func TestYAMLQuotes(t *testing.T) {
	quoted := strings.Split("190:20:30|12:30|-1:30|190:20:30.15|1,000|0b_|0x_f|.9_|1_.5|1:2:3e4|2001-12-14 21:59:43.10 -5|2001-12-14t21:59:43|2026-01-02|"+
		"yes|No|~|0o17|017|089|1_000|1e3|1.|.5|.inf|<<|=|.|-.|e5|E-10|:a|0x1F,1|0b|5E|1.2.3|10.0.0.1|0 2 * * *|2026-01|.x|-x|+|a: b|a #b|a:|a |é#", "|")
	plain := strings.Split("v1|5Gi|100m|30s|a:b|yes!|/a|a/b:1.2|e5x|Noon|it's (not) 1,000|äöü|http://x/?a=b%20c", "|")
	for texts, want := range map[*[]string]bool{&quoted: true, &plain: false} {
		for _, text := range *texts {
			js, err := json.Marshal(map[string]string{"a": text})
			require.NoError(t, err)
			got, err := Document(js)
			require.NoError(t, err)
			assert.Equal(t, want, got[len("a: ")] == '"' || got[len("a: ")] == '\'', string(got))
		}
	}
}

// TestYAMLOrder makes sure that members stay where they are.
func TestYAMLOrder(t *testing.T) {
	text, err := Document([]byte(`{"z":1,"a":{"y":"no","b":[1,"2"]},"m":"x\ny\n"}`))
	require.NoError(t, err)
	assert.Equal(t, "z: 1\na:\n  \"y\": \"no\"\n  b:\n    - 1\n    - \"2\"\nm: |\n  x\n  y\n", string(text))
}
