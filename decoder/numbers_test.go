package decoder

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// TestNumbersWrittenOut has integers and fractions without exponents around the largest float64, in
// range and out of it.
func TestNumbersWrittenOut(t *testing.T) {
	largest := strconv.FormatFloat(math.MaxFloat64, 'f', -1, 64)
	require.Len(t, largest, 309)
	d := New(compileYAML(t, testSchema))
	for number, fits := range map[string]bool{
		largest: true, "-" + largest: true, largest + ".5": true, "0." + largest: true,
		"18" + largest[2:]: false, "-18" + largest[2:]: false, largest + "0": false, "9" + strings.Repeat("0", 308) + ".5": false,
	} {
		for _, field := range []string{"n", "zz", "raw"} {
			for _, doc := range []string{`{"` + field + `":` + number + `}`,
				`{"raw":{"` + field + `":[` + number + `,1]}}`} {
				_, err := d.AppendJSON(nil, []byte(doc+blanks))
				if fits {
					require.NoError(t, err, doc)
					continue
				}
				var syntax *errors.SyntaxError
				require.ErrorAs(t, err, &syntax, doc)
				assert.Equal(t, int64(strings.Index(doc, number)), syntax.Position.Offset)
			}
		}
	}
}

// TestDigits asserts that numbers may start with every digit.
func TestDigits(t *testing.T) {
	d := New(compileYAML(t, testSchema, schema.KEP))
	for c := '0'; c <= '9'; c++ {
		for _, sign := range []string{"", "-"} {
			_, err := d.AppendJSON(nil, fmt.Appendf(nil, `{"n":%s%c}`, sign, c))
			require.NoError(t, err)
			_, err = d.AppendJSON(nil, fmt.Appendf(nil, `{"s":%s%c}`, sign, c))
			require.ErrorContains(t, err, "must be a string, not a number")
		}
	}
}
