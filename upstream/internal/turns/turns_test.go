package turns

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTable holds that ratios are those of one turn, that rows are means, and that turns must match.
func TestTable(t *testing.T) {
	a, b := &Contender{Name: "stock"}, &Contender{Name: "ours"}
	group := func(name string) string {
		name, _, _ = strings.Cut(name, "/")
		return strings.TrimPrefix(name, "Other")
	}
	for _, ns := range []string{"100", "200", "400"} {
		a.Read("goos: linux\nBenchmarkX/a-2 \t 10\t "+ns+" ns/op\t 5 B/op\nBenchmarkX/b-2 10 "+ns+" ns/op\n", group)
		b.Read("BenchmarkX/a-b \t 10\t 200 ns/op\nBenchmarkOther 1 1 ns/op\nPASS\n", group)
	}
	var out strings.Builder
	require.NoError(t, Table(&out, "ns/op", a, b))
	assert.Equal(t, "ns/op  stock  over ours\nX      200    1.00 (0.50 to 2.00)\n", out.String())
	b.Add("ns/op", map[string]float64{"X": 7})
	assert.EqualError(t, Table(&out, "ns/op", a, b), "X: stock has 3 turns, and ours 4")
	assert.Equal(t, 1.5, Median([]float64{2, 1}))
}
