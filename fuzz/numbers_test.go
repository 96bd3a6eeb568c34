package fuzz

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	kjson "sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/decoder"
)

// serverNumber returns the server's text for a number that it has decoded.
func serverNumber(t *testing.T, literal string) string {
	t.Helper()
	var value any
	err := kjson.UnmarshalCaseSensitivePreserveInts([]byte(literal), &value)
	require.NoError(t, err, literal)
	return show(value)
}

// TestNumbersTwice asserts that under ServerRequests a number is written as by the server, also
// when the result is decoded again. The text then stays the same, with one exception: the float64
// -0.0 is written as -0, which the next reader takes for the integer 0. A result equals that of the
// server, so it is not a fixed point if the server's is not.
func TestNumbersTwice(t *testing.T) {
	c := pair(t, anything, newExactComparer)
	literals := numberLiterals
	r := rand.New(rand.NewPCG(14, 14))
	for range 20_000 {
		literals = append(literals, randomNumber(r))
	}
	const before, after = `{"kind":"A","a":`, `}`
	for _, literal := range literals {
		first, err := c.decoder.AppendJSON(nil, []byte(before+literal+after))
		require.NoError(t, err, literal)
		second, err := c.decoder.AppendJSON(nil, first)
		require.NoError(t, err, literal)
		want := serverNumber(t, literal)
		wantAgain := serverNumber(t, want)
		assert.Equal(t, before+want+after, string(first), literal)
		assert.Equal(t, before+wantAgain+after, string(second), literal)
		if want != wantAgain {
			assert.Equal(t, []string{"-0", "0"}, []string{want, wantAgain}, literal)
		}
	}
	// A decoder that keeps numbers as they were sent keeps this one, too.
	kept := decoder.New(c.program, decoder.ServerRequests, decoder.NumbersAsSent(true))
	out, err := kept.AppendJSON(nil, []byte(before+"-0.0"+after))
	require.NoError(t, err)
	assert.Equal(t, before+"-0.0"+after, string(out))
}

func randomNumber(r *rand.Rand) string {
	switch r.IntN(4) {
	case 0:
		if f := math.Float64frombits(r.Uint64()); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return strconv.FormatFloat(f, "eEfg"[r.IntN(4)], -1, 64)
		}
		return "1.0"
	case 1:
		return fmt.Sprint(int64(r.Uint64()) >> r.IntN(64))
	case 2:
		return strings.TrimSuffix(fmt.Sprintf("%d.%0*d", int64(r.Uint64())>>r.IntN(64), r.IntN(9), r.IntN(3)), ".")
	}
	return fmt.Sprintf("%s%d.%de%d", one(r, "", "-"), r.IntN(12), r.IntN(20), r.IntN(640)-340)
}
