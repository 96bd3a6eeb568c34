package edit

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestUnified(t *testing.T) {
	text := []byte("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15")
	at := func(line string) int { return bytes.Index(text, []byte(line+"\n")) }
	assert.Equal(t, `--- a
+++ b
@@ -1,12 +1,12 @@
 1
 2
-3
+three
+III
 4
 5
 6
 7
-8
-9
+89
 10
 11
 12
`, string(Unified("a", "b", text, []Edit{{at("3"), at("3") + 1, "three\nIII"}, {at("8") + 1, at("9"), ""}})))
	assert.Equal(t, `--- a
+++ b
@@ -1,4 +1,3 @@
-1
 2
 3
 4
@@ -12,4 +11,3 @@
 12
 13
 14
-15
\ No newline at end of file
`, string(Unified("a", "b", text, []Edit{{0, 2, ""}, {len(text) - 2, len(text), ""}})))
	assert.Equal(t, "--- a\n+++ b\n@@ -1 +0,0 @@\n-1\n", string(Unified("a", "b", []byte("1\n"), []Edit{{0, 2, ""}})))
	assert.Empty(t, Unified("a", "b", text, nil))
	assert.Empty(t, Unified("a", "b", text, []Edit{{0, 2, "1\n"}}))
}

// patch applies a unified diff, and fails where it does not fit.
func patch(t *testing.T, text, diff []byte) []byte {
	t.Helper()
	lines := splitLines(text)
	var out []byte
	at := 0
	sides := strings.SplitAfter(string(diff), "\n")
	for i, line := range sides {
		switch {
		case i < 2, line == "", line[0] == '\\':
		case line[0] == '@':
			var from, n int
			if _, err := fmt.Sscanf(line, "@@ -%d,%d", &from, &n); err != nil {
				_, err := fmt.Sscanf(line, "@@ -%d", &from)
				require.NoError(t, err)
				n = 1
			}
			if n > 0 {
				from--
			}
			for ; at < from; at++ {
				out = append(out, lines[at]...)
			}
		default:
			content := []byte(line[1:])
			if strings.HasPrefix(sides[i+1], "\\") {
				content = bytes.TrimSuffix(content, []byte("\n"))
			}
			if line[0] != '+' {
				require.Equal(t, string(lines[at]), string(content))
				at++
			}
			if line[0] != '-' {
				out = append(out, content...)
			}
		}
	}
	for ; at < len(lines); at++ {
		out = append(out, lines[at]...)
	}
	return out
}

// TestUnifiedRandom patches texts with the diffs of random edits.
func TestUnifiedRandom(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	random := func(n int) []byte {
		b := make([]byte, rnd.IntN(n))
		for i := range b {
			b[i] = "a\nb\n\r"[rnd.IntN(5)]
		}
		return b
	}
	for range 3_000 {
		text := append(random(100), 'c')
		var edits []Edit
		for at := rnd.IntN(len(text) + 1); at <= len(text) && len(edits) < 5; at += 1 + rnd.IntN(40) {
			e := Edit{at, min(at+rnd.IntN(10), len(text)), string(random(5))}
			edits = append(edits, e)
			at = e.To
		}
		want := Apply(text, edits)
		diff := Unified("a", "b", text, edits)
		require.Equal(t, string(want), string(patch(t, text, diff)), "%q, %v:\n%s", text, edits, diff)
	}
}
