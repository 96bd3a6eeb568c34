package skip

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/kernel"
	"github.com/espalier-dev/espalier/internal/names"
)

// A simpleCase is a text with a ^ where skipSimple stops, far from the end of the window.
type simpleCase struct {
	text string
	at   state
}

// checkSimple runs skipSimple from the start of a text, and asserts where it stops, in which state,
// and with which open containers. It also asserts that Skip has the same result for the rest as for
// the whole text.
func checkSimple(t *testing.T, s *Skipper, c simpleCase, most, until int, track bool) {
	t.Helper()
	before, after, found := strings.Cut(c.text, "^")
	require.True(t, found, c.text)
	b := []byte(before + after + strings.Repeat(" ", Slack))
	defer func(was int) { MaxSimpleDepth = was }(MaxSimpleDepth)
	MaxSimpleDepth = 0

	s.stack = 0
	i := s.skipSimple(b, 0, most, until, track)
	stack, depth := opened(before)
	assert.Equal(t, before, string(b[:i]), "%s: track %t", c.text, track)
	assert.Equal(t, c.at, s.at, "%s: track %t", c.text, track)
	assert.Equal(t, depth, s.depth, c.text)
	assert.Equal(t, stack, s.stack, c.text)
	assert.Equal(t, strings.Contains(before, "."), s.OddNumber, c.text)
	if track {
		checkNames(t, s, b)
	}
	if depth == 0 {
		return
	}
	kernel.Without(func() {
		end, st := s.Skip(b, i, 0, track)
		s.Start()
		wholeEnd, whole := s.Skip(b, 0, 0, track)
		assert.Equal(t, []int{wholeEnd, int(whole)}, []int{end, int(st)}, c.text)
	})
}

// opened returns the containers that are open after a text, as a Skipper keeps them. The text has
// no brackets in strings.
func opened(text string) (stack uint64, depth int) {
	for _, c := range text {
		switch c {
		case '{', '[':
			stack, depth = stack<<1, depth+1
			if c == '{' {
				stack |= 1
			}
		case '}', ']':
			stack, depth = stack>>1, depth-1
		}
	}
	return stack, depth
}

// checkNames asserts that names are at their indices and in their order, and that names and objects
// have the tags of their texts.
func checkNames(t *testing.T, s *Skipper, b []byte) {
	t.Helper()
	for i := 1; i < len(s.Names.Names); i++ {
		assert.Less(t, s.Names.Names[i-1].At, s.Names.Names[i].At)
	}
	for i, l := range s.Names.Levels {
		end := len(s.Names.Names)
		if i+1 < len(s.Names.Levels) {
			end = s.Names.Levels[i+1].Names
		}
		var tags uint64
		for _, n := range s.Names.Names[l.Names:end] {
			text := s.Names.Text(b, &n)
			assert.Equal(t, `"`+string(text)+`"`, string(b[n.At.Index():n.At.Index()+n.Size+2]))
			assert.Equal(t, names.TagOf(text), n.Tag, "%s", text)
			tags |= names.TagBit(n.Tag)
		}
		assert.Equal(t, tags, l.Tags)
		assert.Equal(t, -1, l.Index)
	}
}

// roomySkipper returns a Skipper with room for names.
func roomySkipper() *Skipper {
	s := newSkipper()
	s.Names.Names, s.Names.Levels = make([]names.Name, 0, 100), make([]names.Level, 0, 100)
	s.Start()
	return s
}

func TestSkipSimple(t *testing.T) {
	const some = "longer than a word, and than two of them" // 40 bytes
	cases := []simpleCase{
		{`"some"^`, afterValue}, {`[]^`, afterValue}, {`0^`, afterValue}, {`null^`, afterValue},
		{" \t\r\n[ \t\r\n1 \t\r\n, \t\r\n[ \t\r\n] \t\r\n]^", afterValue},
		{" { \r\n\"first\":\t1 \t\r\n, \t\r\n\"second\": 2 \t\r\n}^", afterValue},
		{`[[],{},[{}],{"member":[]},{"member":{}}]^`, afterValue},
		{`{"member":{"member":{"third":1}},"next":[2]}^`, afterValue},

		{`["some^\n"]`, inString}, {`["some^é"]`, inString}, {"[\"some^\x1f\"]", inString}, {`["` + some + `^\""]`, inString},
		{`[true,false,null]^`, afterValue}, {`[^trux]`, atValue}, {`[^nulL]`, atValue}, {`[^falsE]`, atValue}, {`[^tru]`, atValue},
		{`[true^x]`, afterValue}, {`[null^1]`, afterValue}, {`[false^"]`, afterValue},

		{`[0,9,1234567]^`, afterValue}, {`[0.0,0.5,1.5,1234567.1234567]^`, afterValue},
		{`[^12345678]`, atValue}, {`[^00]`, atValue}, {`[^01]`, atValue}, {`[^-1]`, atValue}, {`[^1.]`, atValue}, {`[^1.x]`, atValue},
		{`[^1e1]`, atValue}, {`[^1E1]`, atValue}, {`[^1.5e1]`, atValue}, {`[^1.5E1]`, atValue}, {`[^1.12345678]`, atValue},
		{`[^00.5]`, atValue}, {`[^12345678.5]`, atValue}, {`[1^x]`, afterValue}, {`[1.5^.5]`, afterValue},

		{`[^:1]`, atValue}, {`[^,1]`, atValue}, {`[^}`, atValue}, {`[1,^]`, atValue}, {`[1^}`, afterValue}, {`[1^:2]`, afterValue},
		{`{^,`, atFirstName}, {`{^1:2}`, atFirstName}, {`{^]`, atFirstName}, {`{"member":^}`, atValue}, {`{"member":^:1}`, atValue},
		{`{"member":1^]`, afterValue}, {`{"member":1^:1}`, afterValue}, {`{"member":1,^}`, atName}, {`{"member":1,^1:1}`, atName},
		{"[^\x00]", atFirstElement}, {"[^\x01]", atValue}, {"[1^\x01]", afterValue}, {"[1,^\x1f]", atValue}, {"[1 ,  ^\x0b]", atValue},
		{"{^\x01}", atFirstName}, {"{\"member\":^\x01}", atValue}, {"{\"member\":1^\x01}", afterValue}, {"{\"member\":1,^\x01}", atName},

		{`{^"member" :1}`, atName}, {`{^"mem\u0062er":1}`, atName}, {`{^"é":1}`, atName}, {`{^"member"1}`, atName},
		{`{"member":1,^"next" :1}`, atName}, {`{"member":1,^"` + some + `\"":1}`, atName},
	}
	for n := range 2*len(some) + 1 {
		text := (some + some)[:n]
		cases = append(cases, simpleCase{`["` + text + `"]^`, afterValue})
		if n > 5 {
			cases = append(cases, simpleCase{`{"` + text + `":1,"next":2}^`, afterValue},
				simpleCase{`{"` + text + `":1,"next":^-2}`, atValue})
		}
	}
	for _, c := range cases {
		for _, track := range []bool{false, true} {
			checkSimple(t, roomySkipper(), c, MaxSimpleDepth, math.MaxInt, track)
		}
	}
}

// TestSkipSimpleNames has texts that skipSimple leaves to Skip only if names are recorded.
func TestSkipSimpleNames(t *testing.T) {
	for _, c := range []simpleCase{
		{`{^"":1}`, atName}, {`{^"abcde":1}`, atName}, {`{"abcdef":1}^`, afterValue}, // skipSimple reads the word before the end of the name
		{`{"member":1,"member":1^}`, afterValue}, {`[{"member":1},{"member":1,"x":{"member":1}}]^`, afterValue},
		{`{"member":{"next":1},"next":2,"member":{}^}`, afterValue},
	} {
		checkSimple(t, roomySkipper(), c, MaxSimpleDepth, math.MaxInt, true)
		if c.at != afterValue {
			whole := simpleCase{strings.Replace(c.text, "^", "", 1) + "^", afterValue}
			checkSimple(t, roomySkipper(), whole, MaxSimpleDepth, math.MaxInt, false)
		}
	}
	for _, c := range []struct {
		simpleCase
		names, levels int // the room that there is
		copies        bool
	}{
		{simpleCase{`{"member":{"next":1}}^`, afterValue}, 2, 2, false},
		{simpleCase{`{"member":{^"next":1}}`, atName}, 1, 2, false},
		{simpleCase{`{"member":^{"next":1}}`, atValue}, 2, 1, false},
		{simpleCase{`{"member":{"next":1^}}`, afterValue}, 2, 2, true},
	} {
		s := roomySkipper()
		if c.copies {
			s.Names.Add([]byte(`\u0061`), 0, len(`\u0061`), true) // a name of an outer object
		}
		s.Names.Names, s.Names.Levels = make([]names.Name, 0, c.names), make([]names.Level, 0, c.levels)
		checkSimple(t, s, c.simpleCase, MaxSimpleDepth, math.MaxInt, true)
	}
}

// TestSkipSimpleLimits has as many open containers, and as long names, as skipSimple accepts, and
// one more.
func TestSkipSimpleLimits(t *testing.T) {
	long := strings.Repeat("x", kernel.MaxBytes-1)
	open := strings.Repeat(`{"member":[`, MaxSimpleDepth/2) + "["
	shut := "]" + strings.Repeat("]}", MaxSimpleDepth/2)
	for _, track := range []bool{false, true} {
		for _, c := range []struct {
			simpleCase
			most int
		}{
			{simpleCase{open + shut + "^", afterValue}, MaxSimpleDepth},
			{simpleCase{open + "^[]" + shut, atValue}, MaxSimpleDepth},
			{simpleCase{open + "^{}" + shut, atValue}, MaxSimpleDepth},
			{simpleCase{`[{"member":1}]^`, afterValue}, 2}, {simpleCase{`[{"member":^[]}]`, atValue}, 2},
			{simpleCase{`^{}`, atValue}, 0}, {simpleCase{`^[]`, atValue}, 0},
			{simpleCase{`{"` + long + `":1}^`, afterValue}, 1}, {simpleCase{`{^"` + long + `x":1}`, atName}, 1},
		} {
			checkSimple(t, roomySkipper(), c.simpleCase, c.most, math.MaxInt, track)
		}
	}
}

// TestSkipSimpleUntil asserts that skipSimple stops after the first value that ends at or after an
// index.
func TestSkipSimpleUntil(t *testing.T) {
	const array, object = `[1,"a",[],3]`, `{"member":1,"next":{}}`
	for text, ends := range map[string][]int{array: {2, 6, 9, 11, 12}, object: {11, 21, 22}} {
		for until := range len(text) + 1 {
			at, _ := slices.BinarySearch(ends, until)
			end := ends[at]
			c := simpleCase{text[:end] + "^" + text[end:], afterValue}
			if text == object && end < len(text) {
				c.at = afterValue
			}
			checkSimple(t, roomySkipper(), c, MaxSimpleDepth, until, false)
		}
	}
}

// TestSkipSimpleAtEnd asserts how near to the end of the window skipSimple gets.
func TestSkipSimpleAtEnd(t *testing.T) {
	text := func(piece string) string { return strings.Repeat(piece, 20) }
	for _, c := range []struct {
		simpleCase
		after int // bytes of the window after the ^
	}{
		{simpleCase{`["a",^`, atValue}, Slack - 1},
		{simpleCase{`["a","b"]^`, afterValue}, Slack - len(`b"]`)},
		{simpleCase{`{"member":^`, atValue}, Slack - 1},
		{simpleCase{`{"member":^1}`, atValue}, Slack - len(`member":`)}, // a name is read as near to the end as this
		{simpleCase{`{^"member":1}`, atName}, Slack},
		{simpleCase{`{"member":1}^`, afterValue}, Slack - len(`1}`)},
		{simpleCase{`[1,` + text(" ") + `^`, atValue}, Slack - 1},
		{simpleCase{`[1,` + text(" ") + `1]^`, afterValue}, Slack - len(`1]`)},
		{simpleCase{`["` + text("abcdef") + `^`, inString}, Slack - 1}, // it reads 24 bytes at a time
		{simpleCase{`["` + text("abcdef") + `"]^`, afterValue}, Slack - len(`"]`)},
		{simpleCase{`{^"` + text("abcd"), atName}, len(text("abcd")) + Slack},
	} {
		t.Run(fmt.Sprint(c.text, c.after), func(t *testing.T) {
			before, after, _ := strings.Cut(c.text, "^")
			b := []byte(before + after + text("1,1,"))[:len(before)+c.after]
			s := roomySkipper()
			assert.Equal(t, before, string(b[:s.skipSimple(b, 0, MaxSimpleDepth, math.MaxInt, false)]))
			assert.Equal(t, c.at, s.at)
		})
	}
}
