package validation

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/program"
)

// TestFractions: a number that is not whole is valid if it is surely within limits that are, and
// otherwise the exact validator has to look.
func TestFractions(t *testing.T) {
	limits := literalKey{least: -2, most: 3, hasFractions: true}
	for text, want := range map[string]program.Verdict{
		"0.5": program.Valid, "2.999": program.Valid, "-0.5": program.Valid, "-1.5": program.Valid, "1.0": program.Valid,
		"3.0": program.Unsure, "3.5": program.Unsure, "-2.0": program.Unsure, "-2.5": program.Unsure,
		"1.5e1": program.Unsure, "0.1E0": program.Unsure, "1e0": program.Unsure,
		"1": program.Valid, "4": program.Invalid,
	} {
		assert.Equal(t, want, newLiteral(limits).Check([]byte(text)), text)
	}
	for _, key := range []literalKey{
		{least: -2, most: 3},
		{least: -2, most: 3, hasFractions: true, factor: 2},
		{least: -2, most: 3, hasFractions: true, unsure: true},
		{least: math.MinInt64, most: math.MaxInt64, hasFractions: true, hasEnum: true},
	} {
		assert.Equal(t, program.Unsure, newLiteral(key).Check([]byte("0.5")), key)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		key := literalKey{least: r.Int64N(20) - 10, most: r.Int64N(20) - 10, hasFractions: true}
		text := fmt.Sprintf("%s%d.%d", []string{"", "-"}[r.IntN(2)], r.IntN(15), r.Uint64N(1_000_000_000_000_000_000))
		if r.IntN(4) == 0 {
			text = fmt.Sprintf("%d.99999999999999999999999", r.IntN(15)) // rounded up
		}
		if newLiteral(key).Check([]byte(text)) == program.Valid {
			n, err := strconv.ParseFloat(text, 64)
			require.NoError(t, err)
			require.True(t, float64(key.least) <= n && n <= float64(key.most), "%s %v", text, key)
		}
	}
}
