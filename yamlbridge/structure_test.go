package yamlbridge_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// structurePieces are tokens of YAML, except the merge key, which is a name in YAML 1.2, and words
// that are not strings.
var structurePieces = []string{
	"a", "b", " ", "\n", "\n ", "\n  ", ":", ": ", "-", "- ", "?", "? ", ",", ", ", "[", "]", "{", "}", "#", " #", "&x ", "*x", "*x ", "!!str ", "! ",
	"|\n", "|-\n  a\n", "|2\n", "|#\n", ">\n", "'", "\"", "'a'", "\"b\"", "\t", "\\", "%", "--- ", "...\n", "---\n", "\r", "\r\n", "@", "`", "=",
	"\u00a0", "\u0085", "\u2028", "\u2029", "\ufeff", "\u3000",
}

// TestOneStructure: documents that both dialects read have the same names and collections in both.
// One dialect reads as libyaml, and the other by YAML 1.2. Later readers are like one of them.
func TestOneStructure(t *testing.T) {
	const texts = 400_000
	kubernetes, core := yamlbridge.Reader{}, yamlbridge.Reader{Dialect: yamlbridge.Core}
	both := 0
	for seed := range uint64(texts) {
		src := structureText(rand.New(rand.NewPCG(seed, 9)))
		one, err := kubernetes.AppendJSON(nil, []byte(src))
		if err != nil {
			continue
		}
		other, err := core.AppendJSON(nil, []byte(src))
		if err != nil {
			continue
		}
		both++
		require.Equal(t, structure(other), structure(one), "%q is %s and %s", src, one, other)
	}
	require.Greater(t, both, texts/20)
}

func structureText(r *rand.Rand) string {
	var b strings.Builder
	inBraces := r.IntN(2) == 0
	if inBraces {
		b.WriteString("{")
	}
	for range 2 + r.IntN(9) {
		b.WriteString(structurePieces[r.IntN(len(structurePieces))])
	}
	if inBraces && r.IntN(2) == 0 {
		b.WriteString("}")
	}
	return b.String()
}

// structure returns JSON with 0 for each scalar.
func structure(json []byte) string {
	var b strings.Builder
	for i := 0; i < len(json); {
		start := i
		switch c := json[i]; {
		case c == '"':
			i, _, _ = jsonwire.ScanString(json, i+1)
			i++ // the quote
			if i < len(json) && json[i] == ':' {
				b.Write(json[start:i])
			} else {
				b.WriteByte('0')
			}
		case strings.IndexByte("{}[],:", c) >= 0:
			b.WriteByte(c)
			i++
		default:
			for i < len(json) && strings.IndexByte("{}[],:", json[i]) < 0 {
				i++
			}
			b.WriteByte('0')
		}
	}
	return b.String()
}
