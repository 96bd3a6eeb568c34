package yamlbridge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/espalier-dev/espalier/yamlbridge"
)

// TestTail: behind the root the server looks at one token more, and decodes 512 bytes at a time: what it refuses there
// is refused, and what is farther away is not. TestYAMLHostile in fuzz/ compares with it.
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
		pad(512) + "\xff" + pad(100): "",
		"{a: b}" + strings.Repeat(" ", 508) + "x\xffyyyy":                                "invalid UTF-8",
		"{a: b}" + strings.Repeat(" ", 900) + "}xyz" + strings.Repeat("z", 200) + "\xff": "",
		"{a: b} }": "",
	} {
		r := yamlbridge.Reader{AsServer: true}
		out, err := r.AppendJSON(nil, []byte(src))
		if want != "" {
			assert.ErrorContains(t, err, want, "%q", src)
			continue
		}
		assert.NoError(t, err, "%q", src)
		assert.Equal(t, `{"a":"b"`, string(out[:min(len(out), 8)]), "%q", src)
		assert.True(t, r.Trailing())
	}
}
