package yamlbridge_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCharacters holds that exactly what YAML lets stand in a text does (YAML 1.2
// section 5.1), at each place in the words that are looked at together.
func TestCharacters(t *testing.T) {
	for c := range 256 {
		want := ""
		switch {
		case c >= 0x80:
			want = "invalid UTF-8"
		case c == 0x7F, c < ' ' && c != '\t' && c != '\n' && c != '\r':
			want = fmt.Sprintf("control character U+%04X", c)
		}
		for at := range 48 {
			for _, fill := range []string{"x", "\x7e", " "} {
				src := "#" + strings.Repeat(fill, at) + string([]byte{byte(c)}) + "#" + strings.Repeat(fill, 40)
				_, err := convert(src)
				if want == "" {
					require.NoError(t, err, "%q", src)
					continue
				}
				require.ErrorContains(t, err, want, "%q", src)
				assert.Contains(t, err.Error(), fmt.Sprintf("1:%d: ", 2+at), "%q", src)
			}
		}
	}
}

// TestEscapesAtEachPlace holds that what JSON escapes is found at each place in the words that are looked at together.
func TestEscapesAtEachPlace(t *testing.T) {
	for _, c := range []string{`"`, `\`, "\t", `'`, "!", "[", "]", "#", "\u00a0", "\ud7ff"} {
		for at := range 20 {
			for rest := range 20 {
				fill := []string{"~", "A"}[rest%2]
				content := fill + strings.Repeat(fill, at) + c + strings.Repeat(fill, rest/2) + fill
				quoted := strings.ReplaceAll(content, `'`, `''`)
				escaped := strings.NewReplacer(`\`, `\x5c`, `"`, `\x22`, "\t", `\x09`).Replace(content)
				for _, src := range []string{"- " + content, "- '" + quoted + "'", "- |-\n  " + content, "- |-\n  " + content + "\n", `- "` + escaped + `"`} {
					js, err := convert(src)
					require.NoError(t, err, src)
					var got []string
					require.NoError(t, json.Unmarshal([]byte(js), &got), "%q gave %s", src, js)
					assert.Equal(t, []string{content}, got, src)
				}
			}
		}
	}
	for c := range ' ' {
		for at := range 20 {
			js, err := convert(fmt.Sprintf(`["%s\x%02x%s"]`, strings.Repeat("x", at), c, strings.Repeat("y", 9)))
			require.NoError(t, err)
			var got []string
			require.NoError(t, json.Unmarshal([]byte(js), &got), js)
			assert.Equal(t, []string{strings.Repeat("x", at) + string(c) + strings.Repeat("y", 9)}, got)
		}
	}
}
