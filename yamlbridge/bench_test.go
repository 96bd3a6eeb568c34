package yamlbridge_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/steps"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// families are documents that grow with n, of kinds that have cost some parser more than they
// should. Each has about 10 n bytes.
var families = map[string]func(n int) string{
	"keys":          func(n int) string { return numbered(n, "key-%06d: 1\n") },
	"repeated keys": func(n int) string { return strings.Repeat("key: value\n", n) },
	"flow keys":     func(n int) string { return "{" + numbered(n, "k%05d: 1, ") + "}" },
	"JSON keys":     func(n int) string { return "{" + numbered(n, `"k%05d":1,`) + "}" },
	"elements":      func(n int) string { return strings.Repeat("- element\n", n) },
	"nested flow":   func(n int) string { n = min(n, 9_000); return strings.Repeat("[", n) + strings.Repeat("]", n) },
	"nested block":  func(n int) string { return strings.Repeat("- ", min(n, 9_000)) + "a" },
	"nested mappings": func(n int) string {
		var b strings.Builder
		for i := range min(n/20, 4_000) {
			b.WriteString(strings.Repeat(" ", i) + "a:\n")
		}
		return b.String()
	},
	"aliases":           func(n int) string { return "- &a x\n" + strings.Repeat("- *a     \n", n) },
	"aliases as keys":   func(n int) string { return "- &a x\n" + strings.Repeat("- *a : 12\n", n) },
	"anchors":           func(n int) string { return numbered(n, "- &a%05d x\n") },
	"anchors and alias": func(n int) string { return numbered(n, "- &a%05d x\n") + strings.Repeat("- *a00000\n", n) },
	"merge keys":        func(n int) string { return "a: &a {b: 1}\nc:\n" + strings.Repeat("  <<: *a  \n", n) },
	"merged lists":      func(n int) string { return "a: &a {b: 1}\nc:\n  <<: [" + strings.Repeat("*a,   \n   ", n) + "]" },
	"nested merge keys": func(n int) string {
		n = min(n, 2_000)
		return strings.Repeat("{<<: ", n) + "{a: 1}" + strings.Repeat("}", n)
	},
	"merge keys with anchors": func(n int) string {
		depth := min(n/10, 2_000)
		return strings.Repeat("{<<: ", depth) + "{a: 1, <<: {a: [" + numbered(n, "&a%05d 1,") + "]}}" + strings.Repeat("}", depth)
	},
	"mixed merge lists": func(n int) string {
		return "x: &x {}\ny:\n  <<: [" + strings.Repeat("{},  ", n) + strings.Repeat("*x,  ", n) + "]"
	},
	"alternating merge lists": func(n int) string {
		return "x: &x {}\ny:\n  <<: [" + strings.Repeat("*x,  {},  ", n) + "]"
	},
	"mappings with merge keys": func(n int) string {
		depth := min(n/10, 9_900)
		return "e: &e {}\nr: " + strings.Repeat("{<<: *e,a: ", depth) +
			"[" + strings.Repeat("12345,", n) + strings.Repeat(`"text",`, n/2) + "]" + strings.Repeat("}", depth)
	},
	"tag directives": func(n int) string {
		return numbered(n/2, "%%TAG !h%05d! tag:yaml.org,2002:\n") + "---\n" +
			strings.Repeat(fmt.Sprintf("- !h%05d!str a\n", n/2-1), n)
	},
	"comments":        func(n int) string { return strings.Repeat("# comment\n", n) + "a: 1" },
	"blank lines":     func(n int) string { return "a:\n" + strings.Repeat("         \n", n) + "  b" },
	"folded":          func(n int) string { return "a:" + strings.Repeat(" folded   \n", n) },
	"folded in flow":  func(n int) string { return "[" + strings.Repeat(" folded   \n", n) + "]" },
	"quoted lines":    func(n int) string { return `"` + strings.Repeat(" quoted   \n", n) + `"` },
	"quoted tabs":     func(n int) string { return `"` + strings.Repeat("a\t\t\t\t\t\t\t\tb", n) + `"` },
	"escapes":         func(n int) string { return `"` + strings.Repeat(`\x41\u00e9`, n) + `"` },
	"quotes":          func(n int) string { return "'" + strings.Repeat("''", 5*n) + "'" },
	"literal":         func(n int) string { return "a: |\n" + strings.Repeat("  literal\n", n) },
	"blank literal":   func(n int) string { return "a: |\n" + strings.Repeat("         \n", n) + "           b" },
	"explicit keys":   func(n int) string { return numbered(n, "? k%05d\n: 1\n") },
	"pairs":           func(n int) string { return "[" + strings.Repeat("pair: 12,\n", n) + "]" },
	"tags":            func(n int) string { return strings.Repeat("- !!str 12\n", n) },
	"numbers":         func(n int) string { return strings.Repeat("- 0x_1_2_3\n", n) },
	"not quite dates": func(n int) string { return strings.Repeat("- 2001-1-x\n", n) },
	"a long word":     func(n int) string { return "a: " + strings.Repeat("b", 10*n) },
	"colons":          func(n int) string { return "a: b" + strings.Repeat(":", 10*n) + "c" },
	"line separators": func(n int) string { return "a: \"" + strings.Repeat("aaaaaaa\u2028", n) + `"` },
}

func numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// BenchmarkScaling measures the time for a byte, in a document and in one four times as long. If
// the second figure is much higher, something is not linear.
func BenchmarkScaling(b *testing.B) {
	for name, family := range families {
		for _, n := range []int{10_000, 40_000} {
			src := []byte(family(n))
			b.Run(fmt.Sprintf("%s/%d", name, len(src)), func(b *testing.B) {
				var r yamlbridge.Reader
				var buf []byte
				b.SetBytes(int64(len(src)))
				for b.Loop() {
					var err error
					if buf, err = r.AppendJSON(buf[:0], src); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(src)), "ns/byte")
			})
		}
	}
}

// TestFamilies holds that all readers read the documents of the benchmark.
func TestFamilies(t *testing.T) {
	for name, family := range families {
		src := []byte(family(400))
		for kind, r := range readers() {
			out, err := r.AppendJSON(nil, src)
			require.NoError(t, err, "%s, %s", name, kind)
			require.Greater(t, len(out), 4, name)
		}
	}
}

// TestLinearSteps asserts, with the build tag steps, that the number of steps for a byte, read or
// written, does not grow with the length of a document. bench measures the time of families of
// internal/adversarial.
func TestLinearSteps(t *testing.T) {
	if !steps.On {
		t.Skip("built without the tag steps")
	}
	families := maps.Clone(families)
	// Their copies within merge keys are not linear, but bounded by MaxAliasBytes.
	delete(families, "nested merge keys")
	delete(families, "merge keys with anchors")
	// Some readers refuse these, and in the benchmark they would exceed limits.
	families["chained aliases"] = func(n int) string {
		var b strings.Builder
		b.WriteString("- &a0 {1: 1}\n")
		for i := range 3 * n / 10 {
			fmt.Fprintf(&b, "- &a%d {1: 1,z: *a%d}\n", i+1, i)
		}
		return b.String()
	}
	families["chained merge keys"] = func(n int) string {
		var b strings.Builder
		b.WriteString("- &a0 {1: 1}\n")
		for i := range n / 2 {
			fmt.Fprintf(&b, "- &a%d {<<: *a%d}\n", i+1, i)
		}
		return b.String()
	}
	families["a long tag prefix"] = func(n int) string {
		return "%TAG !h! tag:" + strings.Repeat("x", 10*n) + "\n---\n" + strings.Repeat("- !h!x a\n", n)
	}
	for name, family := range families {
		for kind, r := range readers() {
			small, large := []byte(family(500)), []byte(family(4_000))
			if _, err := r.AppendJSON(nil, large); err != nil {
				require.NotEqual(t, "as the server", kind, "%s: %v", name, err)
				continue
			}
			few, many := stepsPerByte(t, r, small), stepsPerByte(t, r, large)
			assert.LessOrEqual(t, many, 1.5*few+1, "%s, %s: %.1f and %.1f steps for each byte", name, kind, few, many)
		}
	}
}

func stepsPerByte(t *testing.T, r *yamlbridge.Reader, src []byte) float64 {
	steps.Take()
	out, err := r.AppendJSON(nil, src)
	require.NoError(t, err)
	if r.Dialect == yamlbridge.Server {
		r.ServerDuplicates(out)
	}
	return float64(steps.Take()) / float64(len(src)+len(out))
}

// TestNoAllocations holds that a reader allocates nothing after it has grown.
func TestNoAllocations(t *testing.T) {
	const src = `%YAML 1.2
---
# a comment
kind: Widget
metadata: {name: "a", labels: {app: 'it''s'}}
spec:
  replicas: 3
  weight: 0.5
  on: yes
  list:
  - a
  - b: |
      literal
    c: >-
      folded
      text
  text: plain
    text
  "quoted": "\x41\n"
  0x10: &a {b: *none}
`
	for kind, r := range readers() {
		doc := []byte(strings.Replace(src, "*none", "&n 12, c: *n", 1))
		if r.Dialect == yamlbridge.Server {
			doc = []byte(strings.Replace(string(doc), "1.2", "1.1", 1))
		}
		buf, err := r.AppendJSON(nil, doc)
		require.NoError(t, err, kind)
		require.Zero(t, testing.AllocsPerRun(100, func() {
			if buf, err = r.AppendJSON(buf[:0], doc); err != nil {
				t.Fatal(err)
			}
		}), kind)
	}
}
