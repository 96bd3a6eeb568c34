package skip

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/kernel"
	"github.com/espalier-dev/espalier/internal/torture"
)

// A productKey tells states of the product of Skip with an automaton of RFC 8259 apart. The stack of
// Skip must be that of the place.
type productKey struct {
	at    state
	place torture.Place
}

// A productWay is one in which Skip and its helpers share the work.
type productWay struct {
	kernels bool
	simple  int // MaxSimpleDepth
	small   int // SmallValue
}

// skipIn skips the value in a text that starts a window, in parts.
func skipIn(s *Skipper, eof bool, parts ...string) (end int, st Status) {
	s.Start()
	s.small, s.long, s.later = false, false, 0
	var window []byte
	for i, part := range parts {
		window = append(window, part...)
		s.EOF = eof && i == len(parts)-1
		if end, st = s.Skip(window, end, 0, true); st != Cut {
			break
		}
	}
	return end, st
}

// in calls f where Skip shares its work in a way.
func (w productWay) in(f func()) {
	defer func(simple int, small [2]int) { MaxSimpleDepth, SmallValue = simple, small }(MaxSimpleDepth, SmallValue)
	MaxSimpleDepth, SmallValue = w.simple, [2]int{w.small, w.small}
	if w.kernels {
		f()
	} else {
		kernel.Without(f)
	}
}

// TestProduct explores the product, breadth first, until there is no new state with four containers
// at most: see package walk, whose test of this name does so for its machine. Skip by itself, with
// skipSimple and with the kernels must allow what the grammar allows, find a fault at the same place,
// and be in the same state where the text is cut, however it was cut before.
func TestProduct(t *testing.T) {
	ways := []productWay{
		{}, {simple: 63, small: 1 << 20}, {kernels: true}, {kernels: true, simple: 63, small: SmallValue[0]},
	}
	class, _ := torture.Classes()
	type found struct {
		text  string
		place torture.Place
	}
	known := map[productKey]bool{}
	states, left := make(map[state]int), make(map[state]int)
	queue := []found{{}}
	edges := 0
	whole, parts := newSkipper(), newSkipper()
	for ; len(queue) > 0; queue = queue[1:] {
		q := queue[0]
		tried := map[int]bool{}
		for c := range 256 {
			if tried[class[c]] && len(q.place.Open) > 1 {
				continue
			}
			tried[class[c]] = true
			edges++
			to, allowed := q.place.Next(byte(c))
			ended := q.place.Open == "" && q.place.At == torture.AfterValue || q.place.IsWhole() && !allowed
			if ended {
				continue // Skip does not look at what comes after the value
			}
			text := q.text + string([]byte{byte(c)})
			ways[0].in(func() { checkEdge(t, whole, parts, q.text, text, to, allowed) })
			for _, w := range ways[1:] {
				w.in(func() { compareWays(t, whole, ways[0], text, to, allowed) })
			}
			if !allowed || len(to.Open) > 4 {
				continue
			}
			if k := (productKey{whole.at, to}); !known[k] {
				known[k] = true
				queue = append(queue, found{text, to})
			}
			skipIn(whole, false, text)
			states[whole.at]++
			ways[1].in(func() {
				whole.Start()
				whole.skipSimple([]byte(text+blanks), 0, 63, 1<<20, false)
				left[whole.at]++
			})
		}
	}
	assert.Len(t, states, int(afterValue)+1, "Skip is cut in all states")
	for at := range afterValue + 1 {
		if at == inName || at == atColon {
			assert.Zero(t, left[at], "skipSimple has no such label")
		} else {
			assert.Positive(t, left[at], "skipSimple leaves in state %d", at)
		}
	}
	assert.Equal(t, kernel.Available, whole.tokens != nil, "skipTokens is reached")
	t.Logf("%d states, %d edges", len(known), edges)
}

// checkEdge asserts that Skip allows the last byte of a text if the grammar does, whether or not it
// was cut before it, or everywhere.
func checkEdge(t *testing.T, whole, parts *Skipper, before, text string, to torture.Place, allowed bool) {
	want := Bad
	if allowed {
		want = Cut
		if to.Open == "" && to.At == torture.AfterValue {
			want = Done
		}
	}
	end, st := skipIn(whole, false, text)
	if st == Repeated {
		return
	}
	require.Equal(t, want, st, "%q", text)
	bytewise := make([]string, len(text))
	for i := range len(text) {
		bytewise[i] = text[i : i+1]
	}
	for _, cuts := range [][]string{{before, text[len(before):]}, bytewise} {
		again, st := skipIn(parts, false, cuts...)
		require.Equal(t, [2]int{end, int(want)}, [2]int{again, int(st)}, "%q", text)
		open := lowest(whole.depth)
		require.Equal(t, []any{whole.at, whole.depth, whole.stack & open}, []any{parts.at, parts.depth, parts.stack & open}, "%q", text)
	}
	if allowed {
		require.Equal(t, len(to.Open), whole.depth, "%q", text)
	}
}

// compareWays asserts that a text, and what completes it, end in a way as they do in the first one.
func compareWays(t *testing.T, s *Skipper, first productWay, text string, to torture.Place, allowed bool) {
	if rest, ok := to.Rest(); allowed && ok {
		text += rest
	}
	text += blanks + blanks
	end, st := skipIn(s, true, text)
	var wantEnd int
	var want Status
	first.in(func() { wantEnd, want = skipIn(s, true, text) })
	require.Equal(t, [2]int{wantEnd, int(want)}, [2]int{end, int(st)}, "%q", text)
}
