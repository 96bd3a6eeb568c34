package decoder

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/kernel"
)

// TestNumbersWrittenOut has integers and fractions around the largest float64, and in the digits that many tell it by. These are
// in range by their size, without an exponent.
func TestNumbersWrittenOut(t *testing.T) {
	largest := strconv.FormatFloat(math.MaxFloat64, 'f', -1, 64)
	require.Len(t, largest, 309)
	d := New(compileYAML(t, testSchema))
	for number, fits := range map[string]bool{
		largest: true, "-" + largest: true, largest + ".5": true, "0." + largest: true,
		"18" + largest[2:]: false, "-18" + largest[2:]: false, largest + "0": false, "9" + strings.Repeat("0", 308) + ".5": false,
	} {
		for _, field := range []string{"n", "zz", "raw"} {
			for _, doc := range []string{`{"` + field + `":` + number + `}`, `{"raw":{"` + field + `":[` + number + `,1]}}`} {
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

func TestShortInteger(t *testing.T) {
	for text, end := range map[string]int{
		"1,": 1, "12]": 2, "123456789012345678}": 18, "1234567890123456789,": 0, "1": 0, "12": 0, "1.5,": 0, "1e5,": 0, "1E5,": 0, "12 ": 2, "1x": 1,
	} {
		for _, before := range []string{"", strings.Repeat("7", 30) + ","} {
			want := end
			if end > 0 {
				want += len(before)
			}
			assert.Equal(t, want, shortInteger([]byte(before+text), len(before)), text)
		}
	}
}

// TestPlainSkippable asserts where plainSkip may run: not where skip has more to look at than it does.
func TestPlainSkippable(t *testing.T) {
	p := compileYAML(t, "type: object")
	for _, c := range []struct {
		limits     Limits
		base, want int
	}{
		{Limits{}, 0, 63}, {Limits{}, DefaultDepth - 63, 63}, {Limits{}, DefaultDepth - 1, 1}, {Limits{}, DefaultDepth, 0}, {Limits{Depth: 10}, 4, 6},
		{Limits{NameBytes: kernel.MaxBytes}, 0, 63}, {Limits{NameBytes: kernel.MaxBytes - 1}, 0, 0},
		{Limits{NumberBytes: maxShortInteger}, 0, 63}, {Limits{NumberBytes: maxShortInteger - 1}, 0, 0},
	} {
		w := &New(p, c.limits).walker
		assert.Equal(t, c.want, w.plainSkippable(c.base), "%+v", c)
		w.collecting = true
		assert.Zero(t, w.plainSkippable(c.base))
		w.collecting, w.left = false, make([]errors.Position, 1)
		assert.Zero(t, w.plainSkippable(c.base))
	}
}

// TestOuterContainers asserts that of containers that are skipped, and closed, nothing is kept.
func TestOuterContainers(t *testing.T) {
	defer func(was int) { plainDepth = was }(plainDepth)
	plainDepth = 0
	w := &New(compileYAML(t, "type: object")).walker
	kernel.Without(func() {
		for _, depth := range []int{1, 64, 65, 128, 129, 200} {
			b := []byte(strings.Repeat(`[{"a":`, depth/2) + strings.Repeat("[", depth%2) + "null" + strings.Repeat("]", depth%2) + strings.Repeat("}]", depth/2))
			w.start(nil)
			end, st := w.skip(b, 0, 0, false)
			assert.Equal(t, done, st)
			assert.Equal(t, len(b), end)
			assert.Empty(t, w.outer)
			_, st = w.skip(b[:bytes.Index(b, []byte("null"))], 0, 0, false)
			assert.Equal(t, cut, st)
			assert.Len(t, w.outer, (depth-1)/64, "%d", depth)
		}
	})
}

// TestSmallValues asserts which values are noted as small: the next one is skipped accordingly.
func TestSmallValues(t *testing.T) {
	w := &New(compileYAML(t, "type: object")).walker
	for _, from := range []int{0, 500} {
		for size, small := range map[int]bool{2: true, smallValue - 1: true, smallValue: false, 10 * smallValue: false} {
			b := []byte(strings.Repeat(" ", from) + `"` + strings.Repeat("x", size-2) + `"` + blanks + blanks)
			for _, long := range []bool{false, true} {
				w.start(nil)
				w.long = long
				end, st := w.skip(b, from, 0, false)
				require.Equal(t, []int{from + size, int(done)}, []int{end, int(st)})
				assert.Equal(t, small, w.small, "%d bytes from %d on", size, from)
			}
		}
	}
}

// TestLongStrings asserts which strings are noted as long, and that one which is taken for long is read as any other, whole,
// cut, or with what is wrong in it anywhere.
func TestLongStrings(t *testing.T) {
	w := &New(compileYAML(t, "type: object")).walker
	type result struct {
		end int
		st  status
	}
	skip := func(text string, long bool) result {
		w.start(nil)
		w.skipAt, w.long = atValue, long
		end, st := w.skip([]byte(text), 0, 0, false)
		return result{end, st}
	}
	for _, size := range []int{0, 1, 30, 61, 62, 63, 64, 65, 127, 128, 700, 3000} {
		for _, odd := range []string{"", `\n`, `\"`, `\u00e9`, `\ud83d\ude00`, "ü", "😀", "\x00", "\xff", `\x`, `\ud83d`} {
			for _, before := range []int{0, size / 2, size} {
				text := `"` + strings.Repeat("x", before) + odd + strings.Repeat("x", size-before) + `"`
				for _, behind := range []string{"", ",", blanks, blanks + blanks + blanks} {
					as := skip(text+behind, false)
					if as.st == done {
						require.Equal(t, len(text), as.end)
						require.Equal(t, len(text) > longString, w.long)
					}
					require.Equal(t, as, skip(text+behind, true), text)
					if as.st == done && (odd == "" && len(behind) > longString || w.long) {
						require.Equal(t, len(text) > longString, w.long)
					}
					as.end++ // or where the fault is
					require.Equal(t, as, skip(" "+text+behind, true), text)
				}
				require.Equal(t, skip(text[:len(text)-1], false), skip(text[:len(text)-1], true))
				if w.skipAt == inString {
					end, st := w.skip([]byte(`", "`+strings.Repeat("x", 100)+`"`), 0, 0, false)
					require.Equal(t, result{1, done}, result{end, st}, "its closing quote opens no other")
				}
			}
		}
	}
	skip(`"`+strings.Repeat("x", 100)+`"`, false)
	skip(`["x"]`, w.long)
	assert.True(t, w.long, "it is about the last string")
	skip(`"x"`+blanks+blanks, w.long)
	assert.False(t, w.long)
	skip(` "`+strings.Repeat("x", 100)+`"`, w.long)
	assert.True(t, w.long)
}
