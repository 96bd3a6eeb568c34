package decoder

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/kernel"
)

// A plainSkipCase is a text with a ^ where plainSkip leaves it, far from the end of the window.
type plainSkipCase struct {
	text string
	at   state
}

// checkPlainSkip runs plainSkip from the start of a text, and asserts where it leaves, in which state, that it
// has the containers which are open there, and that skip makes the same of the rest as of the whole.
func checkPlainSkip(t *testing.T, w *walker, c plainSkipCase, most, until int, track bool) {
	t.Helper()
	before, after, found := strings.Cut(c.text, "^")
	require.True(t, found, c.text)
	b := []byte(before + after + strings.Repeat(" ", slack))
	defer func(was int) { plainDepth = was }(plainDepth)
	plainDepth = 0

	w.b, w.stack = b, 0
	i := w.plainSkip(b, 0, most, until, track)
	stack, depth := opened(before)
	assert.Equal(t, before, string(b[:i]), "%s: track %t", c.text, track)
	assert.Equal(t, c.at, w.skipAt, "%s: track %t", c.text, track)
	assert.Equal(t, depth, w.depth, c.text)
	assert.Equal(t, stack, w.stack, c.text)
	assert.Equal(t, strings.Contains(before, "."), w.oddNumber, c.text)
	if track {
		checkTracked(t, w, b)
	}
	if depth == 0 {
		return
	}
	kernel.Without(func() {
		end, st := w.skip(b, i, 0, track)
		w.start(nil)
		wholeEnd, whole := w.skip(b, 0, 0, track)
		assert.Equal(t, []int{wholeEnd, int(whole)}, []int{end, int(st)}, c.text)
	})
}

// opened returns the containers that are open behind a text without brackets in strings, as in skipper.
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

// checkTracked asserts that names stand where they say, in their order, and that they and their objects have the tags of
// their texts.
func checkTracked(t *testing.T, w *walker, b []byte) {
	t.Helper()
	for i := 1; i < len(w.names); i++ {
		assert.Less(t, w.names[i-1].at, w.names[i].at)
	}
	for i, l := range w.levels {
		end := len(w.names)
		if i+1 < len(w.levels) {
			end = w.levels[i+1].names
		}
		var tags uint64
		for _, n := range w.names[l.names:end] {
			text := w.text(b, &n)
			assert.Equal(t, `"`+string(text)+`"`, string(b[n.at:n.at+n.n+2]))
			assert.Equal(t, tagOf(text), n.tag, "%s", text)
			tags |= tagBit(n.tag)
		}
		assert.Equal(t, tags, l.tags)
		assert.Equal(t, -1, l.index)
	}
}

// plainSkipper returns a walker with room for names.
func plainSkipper(t *testing.T) *walker {
	w := &New(compileYAML(t, "type: object")).walker
	w.names, w.levels = make([]name, 0, 100), make([]level, 0, 100)
	w.start(nil)
	return w
}

func TestPlainSkip(t *testing.T) {
	const some = "longer than a word, and than two of them" // its length is 40
	cases := []plainSkipCase{
		{`"some"^`, afterElement}, {`[]^`, afterElement}, {`0^`, afterElement}, {`null^`, afterElement},
		{" \t\r\n[ \t\r\n1 \t\r\n, \t\r\n[ \t\r\n] \t\r\n]^", afterElement},
		{" { \r\n\"first\":\t1 \t\r\n, \t\r\n\"second\": 2 \t\r\n}^", afterElement},
		{`[[],{},[{}],{"member":[]},{"member":{}}]^`, afterElement},
		{`{"member":{"member":{"third":1}},"next":[2]}^`, afterElement},

		{`["some^\n"]`, inString}, {`["some^é"]`, inString}, {"[\"some^\x1f\"]", inString}, {`["` + some + `^\""]`, inString},
		{`[true,false,null]^`, afterElement}, {`[^trux]`, atValue}, {`[^nulL]`, atValue}, {`[^falsE]`, atValue}, {`[^tru]`, atValue},
		{`[true^x]`, afterElement}, {`[null^1]`, afterElement}, {`[false^"]`, afterElement},

		{`[0,9,1234567]^`, afterElement}, {`[0.0,0.5,1.5,1234567.1234567]^`, afterElement},
		{`[^12345678]`, atValue}, {`[^00]`, atValue}, {`[^01]`, atValue}, {`[^-1]`, atValue}, {`[^1.]`, atValue}, {`[^1.x]`, atValue},
		{`[^1e1]`, atValue}, {`[^1E1]`, atValue}, {`[^1.5e1]`, atValue}, {`[^1.5E1]`, atValue}, {`[^1.12345678]`, atValue},
		{`[^00.5]`, atValue}, {`[^12345678.5]`, atValue}, {`[1^x]`, afterElement}, {`[1.5^.5]`, afterElement},

		{`[^:1]`, atValue}, {`[^,1]`, atValue}, {`[^}`, atValue}, {`[1,^]`, atValue}, {`[1^}`, afterElement}, {`[1^:2]`, afterElement},
		{`{^,`, atFirstName}, {`{^1:2}`, atFirstName}, {`{^]`, atFirstName}, {`{"member":^}`, atValue}, {`{"member":^:1}`, atValue},
		{`{"member":1^]`, afterMember}, {`{"member":1^:1}`, afterMember}, {`{"member":1,^}`, atName}, {`{"member":1,^1:1}`, atName},
		{"[^\x00]", atFirstElement}, {"[^\x01]", atValue}, {"[1^\x01]", afterElement}, {"[1,^\x1f]", atValue}, {"[1 ,  ^\x0b]", atValue},
		{"{^\x01}", atFirstName}, {"{\"member\":^\x01}", atValue}, {"{\"member\":1^\x01}", afterMember}, {"{\"member\":1,^\x01}", atName},

		{`{^"member" :1}`, atName}, {`{^"mem\u0062er":1}`, atName}, {`{^"é":1}`, atName}, {`{^"member"1}`, atName},
		{`{"member":1,^"next" :1}`, atName}, {`{"member":1,^"` + some + `\"":1}`, atName},
	}
	for n := range 2*len(some) + 1 {
		text := (some + some)[:n]
		cases = append(cases, plainSkipCase{`["` + text + `"]^`, afterElement})
		if n > 5 {
			cases = append(cases, plainSkipCase{`{"` + text + `":1,"next":2}^`, afterElement}, plainSkipCase{`{"` + text + `":1,"next":^-2}`, atValue})
		}
	}
	for _, c := range cases {
		for _, track := range []bool{false, true} {
			checkPlainSkip(t, plainSkipper(t), c, plainDepth, maxInt, track)
		}
	}
}

// TestPlainSkipTracked has what plainSkip leaves to skip only where names are tracked.
func TestPlainSkipTracked(t *testing.T) {
	for _, c := range []plainSkipCase{
		{`{^"":1}`, atName}, {`{^"abcde":1}`, atName}, {`{"abcdef":1}^`, afterElement}, // a word before the end of the name is read
		{`{"member":1,"member":1^}`, afterMember}, {`[{"member":1},{"member":1,"x":{"member":1}}]^`, afterElement},
		{`{"member":{"next":1},"next":2,"member":{}^}`, afterMember},
	} {
		checkPlainSkip(t, plainSkipper(t), c, plainDepth, maxInt, true)
		if c.at != afterElement {
			whole := plainSkipCase{strings.Replace(c.text, "^", "", 1) + "^", afterElement}
			checkPlainSkip(t, plainSkipper(t), whole, plainDepth, maxInt, false)
		}
	}
	for _, c := range []struct {
		plainSkipCase
		names, levels int // that there is room for
		arena         string
	}{
		{plainSkipCase{`{"member":{"next":1}}^`, afterElement}, 2, 2, ""},
		{plainSkipCase{`{"member":{^"next":1}}`, atName}, 1, 2, ""},
		{plainSkipCase{`{"member":^{"next":1}}`, atValue}, 2, 1, ""},
		{plainSkipCase{`{"member":{"next":1^}}`, afterMember}, 2, 2, "of names outside"},
	} {
		w := plainSkipper(t)
		w.names, w.levels, w.arena = make([]name, 0, c.names), make([]level, 0, c.levels), []byte(c.arena)
		checkPlainSkip(t, w, c.plainSkipCase, plainDepth, maxInt, true)
	}
}

// TestPlainSkipLimits has as many open containers, and names as long, as plainSkip takes, and one more.
func TestPlainSkipLimits(t *testing.T) {
	long := strings.Repeat("x", kernel.MaxBytes-1)
	open := strings.Repeat(`{"member":[`, plainDepth/2) + "["
	shut := "]" + strings.Repeat("]}", plainDepth/2)
	for _, track := range []bool{false, true} {
		for _, c := range []struct {
			plainSkipCase
			most int
		}{
			{plainSkipCase{open + shut + "^", afterElement}, plainDepth},
			{plainSkipCase{open + "^[]" + shut, atValue}, plainDepth},
			{plainSkipCase{open + "^{}" + shut, atValue}, plainDepth},
			{plainSkipCase{`[{"member":1}]^`, afterElement}, 2}, {plainSkipCase{`[{"member":^[]}]`, atValue}, 2},
			{plainSkipCase{`^{}`, atValue}, 0}, {plainSkipCase{`^[]`, atValue}, 0},
			{plainSkipCase{`{"` + long + `":1}^`, afterElement}, 1}, {plainSkipCase{`{^"` + long + `x":1}`, atName}, 1},
		} {
			checkPlainSkip(t, plainSkipper(t), c.plainSkipCase, c.most, maxInt, track)
		}
	}
}

// TestPlainSkipUntil asserts that plainSkip leaves behind the first value that ends at an index, or behind it.
func TestPlainSkipUntil(t *testing.T) {
	const array, object = `[1,"a",[],3]`, `{"member":1,"next":{}}`
	for text, ends := range map[string][]int{array: {2, 6, 9, 11, 12}, object: {11, 21, 22}} {
		for until := range len(text) + 1 {
			at, _ := slices.BinarySearch(ends, until)
			end := ends[at]
			c := plainSkipCase{text[:end] + "^" + text[end:], afterElement}
			if text == object && end < len(text) {
				c.at = afterMember
			}
			checkPlainSkip(t, plainSkipper(t), c, plainDepth, until, false)
		}
	}
}

// TestPlainSkipAtEnd asserts how near to the end of the window plainSkip gets.
func TestPlainSkipAtEnd(t *testing.T) {
	text := func(piece string) string { return strings.Repeat(piece, 20) }
	for _, c := range []struct {
		plainSkipCase
		behind int // bytes of the window behind ^
	}{
		{plainSkipCase{`["a",^`, atValue}, slack - 1},
		{plainSkipCase{`["a","b"]^`, afterElement}, slack - len(`b"]`)},
		{plainSkipCase{`{"member":^`, atValue}, slack - 1},
		{plainSkipCase{`{"member":^1}`, atValue}, slack - len(`member":`)}, // as near as a name is read
		{plainSkipCase{`{^"member":1}`, atName}, slack},
		{plainSkipCase{`{"member":1}^`, afterElement}, slack - len(`1}`)},
		{plainSkipCase{`[1,` + text(" ") + `^`, atValue}, slack - 1},
		{plainSkipCase{`[1,` + text(" ") + `1]^`, afterElement}, slack - len(`1]`)},
		{plainSkipCase{`["` + text("abcdef") + `^`, inString}, slack - 1}, // steps of 24
		{plainSkipCase{`["` + text("abcdef") + `"]^`, afterElement}, slack - len(`"]`)},
		{plainSkipCase{`{^"` + text("abcd"), atName}, len(text("abcd")) + slack},
	} {
		t.Run(fmt.Sprint(c.text, c.behind), func(t *testing.T) {
			before, after, _ := strings.Cut(c.text, "^")
			b := []byte(before + after + text("1,1,"))[:len(before)+c.behind]
			w := plainSkipper(t)
			assert.Equal(t, before, string(b[:w.plainSkip(b, 0, plainDepth, maxInt, false)]))
			assert.Equal(t, c.at, w.skipAt)
		})
	}
}
