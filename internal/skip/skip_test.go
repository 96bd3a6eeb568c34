package skip

import (
	"bytes"
	"cmp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/kernel"
	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/names"
)

// blanks are so many that everything before them can be simple.
var blanks = strings.Repeat(" ", 2*Slack)

// newSkipper returns a Skipper with the limits that a decoder has by default.
func newSkipper() *Skipper {
	return &Skipper{
		Bounds: Bounds{Depth: 10_000, NameBytes: 50_000, NumberBytes: 1000},
		Names:  names.Make(new(memory.Account)),
	}
}

// TestSimpleDepth asserts where skipSimple may run: nowhere that Skip has to check more than it
// does.
func TestSimpleDepth(t *testing.T) {
	const depth = 10_000
	for _, c := range []struct {
		bounds     Bounds
		base, want int
	}{
		{Bounds{}, 0, 63}, {Bounds{}, depth - 63, 63}, {Bounds{}, depth - 1, 1}, {Bounds{}, depth, 0}, {Bounds{Depth: 10}, 4, 6},
		{Bounds{NameBytes: kernel.MaxBytes}, 0, 63}, {Bounds{NameBytes: kernel.MaxBytes - 1}, 0, 0},
		{Bounds{NumberBytes: jsonwire.MaxShortInteger}, 0, 63}, {Bounds{NumberBytes: jsonwire.MaxShortInteger - 1}, 0, 0},
	} {
		s := newSkipper()
		s.Depth = cmp.Or(c.bounds.Depth, s.Depth)
		s.NameBytes = cmp.Or(c.bounds.NameBytes, s.NameBytes)
		s.NumberBytes = cmp.Or(c.bounds.NumberBytes, s.NumberBytes)
		assert.Equal(t, c.want, s.simpleDepth(c.base), "%+v", c)
		s.Names.Collecting = true
		assert.Zero(t, s.simpleDepth(c.base))
		s.Names.Collecting, s.Names.Left = false, make([]errors.Position, 1)
		assert.Zero(t, s.simpleDepth(c.base))
	}
}

// TestOuterContainers asserts that nothing is kept of skipped containers that are closed.
func TestOuterContainers(t *testing.T) {
	defer func(was int) { MaxSimpleDepth = was }(MaxSimpleDepth)
	MaxSimpleDepth = 0
	s := newSkipper()
	kernel.Without(func() {
		for _, depth := range []int{1, 64, 65, 128, 129, 200} {
			b := []byte(strings.Repeat(`[{"a":`, depth/2) + strings.Repeat("[", depth%2) + "null" +
				strings.Repeat("]", depth%2) + strings.Repeat("}]", depth/2))
			s.Start()
			end, st := s.Skip(b, 0, 0, false)
			assert.Equal(t, Done, st)
			assert.Equal(t, len(b), end)
			assert.Empty(t, s.outer)
			_, st = s.Skip(b[:bytes.Index(b, []byte("null"))], 0, 0, false)
			assert.Equal(t, Cut, st)
			assert.Len(t, s.outer, (depth-1)/64, "%d", depth)
		}
	})
}

// TestDeepCut cuts values with many open containers before the innermost value, one of whose closing
// brackets is wrong or none. The kinds of the outer containers must be known after the cut.
func TestDeepCut(t *testing.T) {
	check := func(open, shut []byte, valid, small bool) {
		text := string(open) + `"x"` + string(shut)
		s := newSkipper()
		s.Start()
		s.small = small
		end, st := s.Skip(open, 0, 0, false)
		require.Equal(t, Cut, st)
		_, st = s.Skip([]byte(text+blanks+blanks), end, 0, false)
		require.Equal(t, valid, st == Done, "%s", text)
		require.Equal(t, valid, st != Bad, "%s", text)
	}
	all := func() {
		for _, depth := range []int{2, 62, 63, 64, 65, 66, 127, 128, 129, 130, 200} {
			for object := range depth { // which container is one
				open := []byte(strings.Repeat("[", object) + `{"a":` + strings.Repeat("[", depth-1-object))
				if object < depth-1 {
					open = append(open, "0,"...) // a value must come, not just any first element
				}
				shut := bytes.Repeat([]byte("]"), depth)
				for _, small := range []bool{false, true} {
					check(open, shut, false, small)
					shut[depth-1-object] = '}'
					check(open, shut, true, small)
					shut[depth-1-object] = ']'
				}
			}
		}
	}
	all()
	kernel.Without(all)
}

// TestSmallValues asserts which containers count as small, and that other values do not matter. The
// next container is skipped accordingly.
func TestSmallValues(t *testing.T) {
	s := newSkipper()
	skip := func(from int, text string, long, track bool) {
		s.Start()
		s.long = long
		end, st := s.Skip([]byte(strings.Repeat(" ", from)+text+blanks+blanks), from, 0, track)
		require.Equal(t, []int{from + len(text), int(Done)}, []int{end, int(st)})
	}
	for _, track := range []bool{false, true} {
		limit := smallValue(track)
		for size, small := range map[int]bool{6: true, limit - 1: true, limit: false, 10 * limit: false} {
			for _, from := range []int{0, 500} {
				for _, text := range []string{`{"` + strings.Repeat("x", size-6) + `":1}`, `["` + strings.Repeat("x", size-4) + `"]`} {
					skip(from, text, false, track)
					assert.Equal(t, small, s.small, "%d bytes from %d on", size, from)
				}
				for _, long := range []bool{false, true} {
					for _, other := range []string{`"x"`, `"` + strings.Repeat("x", 10*limit) + `"`, "1", "null", "-1.5e3"} {
						skip(from, other, long, track)
						assert.Equal(t, small, s.small, "%d bytes, then %.9s", size, other)
					}
				}
			}
		}
	}
}

// TestOpens asserts where a container is seen before Skip looks at a value.
func TestOpens(t *testing.T) {
	for text, want := range map[string]bool{"{}": true, "[]": true, " {": true, " [": true, "": false, " ": false,
		"1": false, ` "{"`: false, "  {": false} {
		assert.Equal(t, want, opens([]byte(text), 0), "%q", text)
	}
}

// TestLongStrings asserts which strings count as long, and that a string has the same result if it
// is expected to be long: whole, cut, or with a fault anywhere.
func TestLongStrings(t *testing.T) {
	s := newSkipper()
	type result struct {
		end int
		st  Status
	}
	skip := func(text string, long bool) result {
		s.Start()
		s.at, s.long = atValue, long
		end, st := s.Skip([]byte(text), 0, 0, false)
		return result{end, st}
	}
	for _, size := range []int{0, 1, 30, 61, 62, 63, 64, 65, 127, 128, 700, 3000} {
		for _, odd := range []string{"", `\n`, `\"`, `\u00e9`, `\ud83d\ude00`, "ü", "😀", "\x00",
			"\xff", `\x`, `\ud83d`} {
			for _, before := range []int{0, size / 2, size} {
				text := `"` + strings.Repeat("x", before) + odd + strings.Repeat("x", size-before) + `"`
				for _, after := range []string{"", ",", blanks, blanks + blanks + blanks} {
					as := skip(text+after, false)
					if as.st == Done {
						require.Equal(t, len(text), as.end)
						require.Equal(t, len(text) > longString, s.long)
					}
					require.Equal(t, as, skip(text+after, true), text)
					if as.st == Done && (odd == "" && len(after) > longString || s.long) {
						require.Equal(t, len(text) > longString, s.long)
					}
					as.end++ // the end of the value, or the index of the fault
					require.Equal(t, as, skip(" "+text+after, true), text)
				}
				require.Equal(t, skip(text[:len(text)-1], false), skip(text[:len(text)-1], true))
				if s.at == inString {
					end, st := s.Skip([]byte(`", "`+strings.Repeat("x", 100)+`"`), 0, 0, false)
					require.Equal(t, result{1, Done}, result{end, st}, "its closing quote opens no other")
				}
			}
		}
	}
	skip(`"`+strings.Repeat("x", 100)+`"`, false)
	skip(`["x"]`, s.long)
	assert.True(t, s.long, "it is about the last string")
	skip(`"x"`+blanks+blanks, s.long)
	assert.False(t, s.long)
	skip(` "`+strings.Repeat("x", 100)+`"`, s.long)
	assert.True(t, s.long)
}
