package main

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTurns: a build answers each line with the time of a run, and names what it does not know.
func TestTurns(t *testing.T) {
	workloads := Generated()[:2]
	var out bytes.Buffer
	require.NoError(t, takeTurns(workloads, strings.NewReader("bytes/W1\nbytes/W1\nskip/W2\n"), &out))
	lines := strings.Fields(out.String())
	require.Len(t, lines, 3)
	for _, line := range lines {
		ns, err := strconv.ParseFloat(line, 64)
		require.NoError(t, err)
		require.Greater(t, ns, 50.0)
	}
	require.ErrorContains(t, takeTurns(workloads, strings.NewReader("bytes/W0\n"), &out), `"W0"`)
}

// TestWriteBuilds: a cell has the median of the medians of the layouts, and the two at the ends.
func TestWriteBuilds(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, writeBuilds(&out, []map[string][]float64{
		{"bytes/W1": {1, 2, 9}, "skip/corpus": {3}, "verdict/mixed": {2}}, {"bytes/W1": {4, 4, 4}, "skip/corpus": {3}}, {"bytes/W1": {3, 3, 1}, "skip/corpus": {3}},
	}))
	require.Contains(t, out.String(), " corpus | valid | mixed |\n")
	require.Contains(t, out.String(), "|  |  | 2.00 (2.00-2.00) |\n")
	require.Contains(t, out.String(), "| bytes | 3.00 (2.00-4.00) |  |")
	require.Contains(t, out.String(), "|  | 3.00 (3.00-3.00) |  |  |\n")
}
