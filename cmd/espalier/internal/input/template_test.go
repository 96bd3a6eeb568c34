package input

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
)

// TestIsTemplate: what is no YAML because of its actions is a template, and nothing else is.
func TestIsTemplate(t *testing.T) {
	for text, want := range map[string]bool{
		"{{- if .a }}\na: 1\n{{- end }}\n":     true,
		"a: {{ .b }}\n":                        true,
		"a: {{ .b | default \"}}\" }}\n":       true,
		"a: {{ `}}\n` }}\n":                    true,
		"{{/* }} */}}\na: 1\n":                 true,
		"{{- /* }}\n*/ -}}\na: 1\n":            true,
		"{{ .name }}: 1\n":                     true,
		"a:\n  {{- toYaml .b | nindent 2 }}\n": true,
		"a: 1\n---\nb: {{ .c }}\n":             true,
		"a:\n  {{ $b := .c }} # why\n  {{ range $b }}\n  - d\n  {{ end }}\n": true,
		"a: \"{{ .b }}\"\n":                     false, // it is YAML
		"# {{ .a }}\nb: [\n":                    false,
		"a: |\n  {{ range .b }}\n":              false,
		"a: {b: \"{{ .c }}\"\n":                 false, // it has another fault
		"a: {{ .b\n":                            false,
		"a: {{ \"b }}\n":                        false,
		"a: {{ `b }}\n":                         false,
		"{{/* a }}\n":                           false,
		"a: 1\n":                                false,
		"a: }}\n":                               false,
		"{{ .a }}\x00\n":                        false,
		strings.Repeat("{{ ", 100_000):          false,
		strings.Repeat("{{/* ", 100_000) + "}}": false,
		strings.Repeat("{{ a }}\n", 50_000) + "b: {{ c }}\n":      true,
		strings.Repeat("---\na: {{ b\n", 1000) + "---\na: {b}}\n": false,
	} {
		assert.Equal(t, want, IsTemplate([]byte(text)), "%.60q", text)
	}
}

func TestWithoutActionLines(t *testing.T) {
	for text, want := range map[string]string{
		"{{- if .a }}\na: 1\n  {{- end }}  \r\n": "            \na: 1\n              \r\n",
		"{{ a }} {{ b }}\n":                      "               \n",
		" {{ a }} # b\nc: {{ d }} # e\n":         "         # b\nc: {{ d }} # e\n",
		"# {{ a }}\n":                            "",
		"{{/* a\n}} */}}\na: {{ b }}\n":          "      \n       \na: {{ b }}\n",
		"a: {{ b }}\n":                           "",
		"a: 1\n":                                 "",
		"{{ a\n":                                 "",
		"{{ a }}\n{{ b\n":                        "",
	} {
		plain, ok := WithoutActionLines([]byte(text))
		assert.Equal(t, want != "", ok, "%q", text)
		if ok {
			assert.Equal(t, want, string(plain))
		}
	}
}

// TestWithType: an item gets a type, and positions in it lead to the same places of the file.
func TestWithType(t *testing.T) {
	for list, want := range map[string]string{
		"{\"items\": [{\"ä\": 1,\n \"b\": 2}]}": `{"apiVersion":"ä/v1","kind":"B","ä": 1,` + "\n \"b\": 2}",
		`{"items": [{ }]}`:                      `{"apiVersion":"ä/v1","kind":"B" }`,
		`{"items": [7]}`:                        `7`,
	} {
		for doc, err := range new(Reader).Texts("a.json", []byte(list)) {
			require.NoError(t, err)
			items, ok := doc.Items()
			require.True(t, ok)
			require.Len(t, items, 1)
			item := items[0].WithType("ä/v1", "B")
			assert.Equal(t, want, string(item.JSON))
			for _, name := range []string{`"ä":`, `"b"`} {
				at := strings.Index(string(item.JSON), name)
				if at < 0 {
					continue
				}
				assert.Equal(t, place(list, strings.Index(list, name)), item.Locate(place(want, at)))
			}
			start := errors.Position{Line: 1, Column: 1, ByteColumn: 1}
			assert.Equal(t, items[0].Start, item.Locate(start))
		}
	}
}

// place returns the position of an offset in a text.
func place(text string, offset int) errors.Position {
	before := text[:offset]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return errors.Position{
		Offset: int64(offset), Line: strings.Count(before, "\n") + 1,
		Column: len([]rune(line)) + 1, ByteColumn: len(line) + 1,
	}
}
