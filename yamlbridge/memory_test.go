package yamlbridge_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/yamlbridge"
)

// TestCap holds that a reader knows how much memory it keeps, so that its owner can drop it.
func TestCap(t *testing.T) {
	const n = 100_000
	for name, src := range map[string]string{
		"typed keys":   "{" + strings.Repeat("1,", n) + "}",
		"anchors":      numbered(n, "- &a%d x\n"),
		"aliases":      "- &a x\n" + strings.Repeat("- *a\n", n),
		"merge keys":   "a: &a {b: 1}\nc:\n" + strings.Repeat("  <<: *a\n", n/10),
		"merged lists": "a: &a {}\nc:\n  <<: [" + strings.Repeat("*a,", n) + "]",
		"merged value": "<<:\n  a: [" + strings.Repeat("1,", n) + "]",
		"nested":       strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000),
		"blank lines":  "a: \"b" + strings.Repeat("\n", n) + "  \"",
		"a long text":  `"` + strings.Repeat(`\x41`, n) + `"`,
		"tags":         numbered(50, "%%TAG !a%d! tag:example.com,2000:\n") + "---\na",
	} {
		for kind, r := range readers() {
			if name == "merge keys" && r.Dialect == yamlbridge.Server {
				continue // each of which is a member
			}
			before := heap()
			_, err := r.AppendJSON(nil, []byte(src))
			require.NoError(t, err, "%s, %s", name, kind)
			r.Position(1 << 30)
			r.Forget()
			after := heap()
			assert.InDelta(t, after-before, r.Cap(), float64(after-before)/10+20_000, "%s, %s", name, kind)
		}
	}
}

// heap returns how many bytes are in use.
func heap() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestNoAllocationsForProperties holds that tags, anchors and aliases allocate nothing either. The
// documentation of the package says what does.
func TestNoAllocationsForProperties(t *testing.T) {
	for _, src := range []string{
		`a: &x "q"`, `a: &x 'q''r'`, "a: !!str x", "a: !!int '5'", `{!!str "k\n": &x !!str x, b: *x}`, "!<tag:yaml.org,2002:str> a", "! a: !!float 5",
		"a: !!map {b: &x !!seq [*y]}", "&a a: &b b\n*a : *b", "? &x |\n k\n: !!str\n  b\n  c", "a: &x |\n b", "{1.5: a, on: &x ~, 0.5: *x}",
		"- &x {a: 1, b: &y [2]}\n- {<<: *x, a: 3, \"\\b\": *y}\n- {<<: [{c: 1}, *x], !!str \"\\b\": 2, <<: {\"\\b\": 1}}",
	} {
		src = strings.Replace(src, "*y", "&y 1, *y", 1)
		for kind, r := range readers() {
			doc := []byte(src)
			buf, err := r.AppendJSON(nil, doc)
			require.NoError(t, err, "%s, %s", kind, src)
			assert.Zero(t, testing.AllocsPerRun(10, func() {
				buf, _ = r.AppendJSON(buf[:0], doc)
			}), "%s, %s", kind, src)
		}
	}
}
