package yamlbridge_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCharacters holds that exactly the characters that YAML allows (YAML 1.2 section 5.1) are
// accepted, at each place in the words that are checked together.
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

// TestCharactersBetweenParts holds that a character is read as a whole if it is in two of the parts
// of 32 KiB that are copied together: the result is that of a small document.
func TestCharactersBetweenParts(t *testing.T) {
	for _, c := range []string{"\r", "\r\n", "\r\r", "\n", "\u0085", "\u00e9", "\u2028", "\u2029", "\u20ac", "\U0001f600", "\ufffd", "\ufffe", "\ufeff",
		"\x00", "\x7f", "\xff", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xed\xa0\x80", "\xf4\x90\x80\x80"} {
		for at := 32<<10 - 6; at <= 32<<10+2; at++ {
			for _, after := range []string{"", "\nb: 1\n", strings.Repeat("y", 100)} {
				small, wantErr := convert("a: x" + c + after)
				want := strings.Replace(small, "x", strings.Repeat("x", at-len("a: ")), 1)
				large, err := convert("a: " + strings.Repeat("x", at-len("a: ")) + c + after)
				if wantErr != nil {
					var line, column int
					_, faulty := fmt.Sscanf(wantErr.Error(), "%d:%d:", &line, &column)
					require.NoError(t, faulty)
					place := fmt.Sprintf("%d:%d:", line, column)
					if line == 1 {
						column += at - len("a: x")
					}
					want := strings.Replace(wantErr.Error(), place, fmt.Sprintf("%d:%d:", line, column), 1)
					require.EqualError(t, err, want, "%q at %d", c, at)
					continue
				}
				require.NoError(t, err, "%q at %d", c, at)
				require.True(t, want == large, "%q at %d", c, at)
			}
		}
	}
}

// TestEscapesAtEachPlace holds that bytes which JSON escapes are found at each place in the words
// that are checked together.
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
