//go:build amd64 && !purego

package skip

import (
	"bytes"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/kernel"
)

// needKernels makes skipTokens run wherever it can, until the test ends.
func needKernels(t testing.TB) {
	if !kernel.Available {
		t.Skip("no kernels for this machine")
	}
	was := SmallValue
	SmallValue = [2]int{}
	t.Cleanup(func() { SmallValue = was })
}

// members returns an object of some 100 kB, in which names do not repeat within the inner objects.
func members() string {
	return "{" + strings.TrimSuffix(strings.Repeat(`"a":{"b":[1,"c",{"d":null}],"e":"f"},`, 3000),
		",") + "}"
}

// TestSkipTokensProgress asserts that skipTokens gets to the last bracket.
func TestSkipTokensProgress(t *testing.T) {
	needKernels(t)
	s := newSkipper()
	src := []byte(members())
	s.stack, s.depth = 1, 1
	i, st := s.skipTokens(src, 1, 0, true, false)
	require.Equal(t, len(src)-1, i)
	require.Equal(t, Cut, st)
	s.stack, s.depth = 1, 1
	i, st = s.skipTokens(append(src, '}'), 1, 0, true, false)
	require.Equal(t, len(src), i)
	require.Equal(t, Done, st)
}

// TestSkipTokensPlaces asserts that skipTokens gets up to the ^, wherever the tokens are in their
// words: after the last value before a fault. It leaves the rest to Skip, which finds the same
// there as in the whole text.
func TestSkipTokensPlaces(t *testing.T) {
	needKernels(t)
	s := newSkipper()
	s.Depth = 200
	for _, text := range []string{
		`[1,"a",[],{},[[2],3],{"b":4,"c":"d","e":{"f":null},"g":[true,false]},-0,1.5,-2e3,9223372036854775808 , "\n" ]^,`,
		`{"o":{"a":{"b" :1}},"cc":2,"dd":[3^,x`, `{"a":{"b" :1},"cc":2,"dd":{"":3,"ee":[4^,x`, `{"a":1,"b" :2,"cc":{"d" :{},"ee":5},"ff":{"":6},"gg":{"hh":[7^,x`, // the kernels do not know all names
		`[1,"a" ^]`, `{"a":[ ]^}`, `{"a":[],"b":{"c":[2^]`,
		`{"b":4,"c":"d" , "e" : {"f":null , "x":{}},"g":[true,[false]],"h":{"i":{}},"j":[]}^}`,
		// What follows an opening bracket, a separator, or a value.
		`[1^,{1:2}]`, `[1^,{[]}]`, `[1^,{,}]`, `[1^,{:1}]`, `[1^,{{}:1}]`, `[1^,{]`, `[1^,[,]]`, `[1^,[:1]]`, `[1^,[}`,
		`[1^,,2]`, `[1^,]`, `{"a":1^,"b"::2}`, `{"a":1^,"b":,"c":2}`, `{"a":1^,"b":}`, `{"a":1^,}`, `[1^,}`, `{"a":1^,]`,
		`[1^,"a""b"]`, `[1^,"a"[]]`, `[1^,"a"2]`, `[1^,"a"{}]`, `[1^,2"b"]`, `[1^,2[]]`, `[1^,2{}]`, `[1^,2:3]`, `[1^,[]4]`, `[1^,{}"a"]`,
		`[1^,[][]]`, `[1^,{}{}]`, `[1^,[]:2]`, `[1^,{}:2]`, `[1,[2^][]]`, `{"a":1^,2:3}`, `{"a":1^,"b"2}`, `{"a":1^,"b"[]}`,
		// The contents of objects and of arrays.
		`[1^,"a":2]`, `[1^,["a":2]]`, `{"a":1^,"b":"c":2}`, `[1^,{"a",2}]`, `[1^,{"a"}]`, `[1^,{"a":2]`, `[1^,[2}`, `{"a":[1^,2}`, `{"a":1^,"b"}`,
		`{"a":1^,"b","c":2}`, `{"a":1^,2}`, `{"a":1^,[]}`, `{"a":1^,{}}`, `[1,{"a":2^,"b"]`, `[1,{"a":2^,3}]`, `{"a":["b"^,"c":2]}`, `[1,"b"^,"c":2]`,
		`{"a":1,"b":"c"^,"d"}`, `{"a":1,"b":"c"^,"d"]`,
		// What follows a closing bracket.
		`[1,[]^,"a":2]`, `[1^,[],"a":2,3]`, `[1,{}^,"a":2]`, `[1^,{},"a":2,3]`, `{"a":1,"b":[]^,2}`, `{"a":1^,"b":[],2,"c":3}`, `{"a":1,"b":{}^,"c"}`,
		`{"a":1^,"b":{},"c","d":2}`, `{"a":1^,"b":[],[]}`, `[1,[[2]^}`, `[1,[[2^]},3]`, `[1,[{"a":2}^}`, `[1,[{"a":2^}},3]`, `{"a":1,"b":{"c":2}^]`,
		`{"a":1,"b":[{"c":2^}},"d":3}`, `[1,[2]^,"a":2]`, `[1^,[2],"a":2,3]`, `{"a":1,"b":[2]^,3}`, `{"a":1^,"b":[2],3,"c":4}`,
		// Scalars.
		`[1^,x]`, `[1^,01]`, `[1^,-]`, `[1^,-01]`, `[1^,1.]`, `[1^,.5]`, `[1^,1e]`, `[1^,1e400]`, `[1^,truex]`, `[1^,nul]`, `[1^,fals]`, `[1^,tru e]`, `[1^,2 3]`,
		`[1^,+1]`, `[1^,True]`, `[1^,nulll]`, "[1^,2\x01]", "[1^,2\v]",
	} {
		for shift := range 70 {
			before, after, _ := strings.Cut(text[:1]+tokenPrefix(text[0], shift)+text[1:], "^")
			src := []byte(before + after)
			stack, depth := opened(before)
			if depth == 0 && (len(before)-1)%64 == 0 {
				continue // the next token is in a block of its own, which is not read
			}
			for _, track := range []bool{false, true} {
				s.Start()
				if s.stack, s.depth = opened(text[:1]); track && text[0] == '{' {
					s.Names.OpenObject()
				}
				i, st := s.skipTokens(src, 1, 0, true, track)
				require.Equal(t, before, string(src[:i]), "%d %s", shift, text)
				require.Equal(t, depth == 0, st == Done, "%d %s", shift, text)
				require.Equal(t, []uint64{stack, uint64(depth)}, []uint64{s.stack, uint64(s.depth)},
					"%d %s", shift, text)
				if track {
					checkNames(t, s, src)
				}
			}
		}
	}
}

// A tokenWriter writes the tokens of a part of a document.
type tokenWriter struct {
	*rand.Rand
	text []byte
	open []bool // containers, the innermost last: whether it is an object
	any  bool   // the innermost has a member or an element
}

// value writes what is before a value, and the value.
func (w *tokenWriter) value(text string) {
	if w.any {
		w.text = append(w.text, ',')
	}
	if w.open[len(w.open)-1] {
		w.text = append(w.text, `"":`...)
	}
	w.text, w.any = append(w.text, text...), true
}

func (w *tokenWriter) push(object bool) {
	bracket := "["
	if object {
		bracket = "{"
	}
	w.value(bracket)
	w.open, w.any = append(w.open, object), false
}

func (w *tokenWriter) pop() {
	bracket := byte(']')
	if w.open[len(w.open)-1] {
		bracket = '}'
	}
	w.text = append(w.text, bracket)
	w.open, w.any = w.open[:len(w.open)-1], true
}

// write writes values, runs of brackets that open and runs of brackets that close, up to the end of the
// outermost container.
func (w *tokenWriter) write() {
	for range 2 + w.IntN(30) {
		switch run := 1 + w.IntN([]int{2, 6, 66}[w.IntN(3)]); w.IntN(4) {
		case 0, 1:
			w.value([]string{"0", `""`, "{}", "[]", `{"":[]}`, "[{}]"}[w.IntN(6)])
		case 2:
			for range run {
				w.push(w.IntN(2) == 0)
			}
		case 3:
			for range min(run, len(w.open)) {
				w.pop()
			}
			if len(w.open) == 0 {
				w.text = append(w.text, `,"":[],"":0},`...) // what is around it
				return
			}
		}
	}
}

// spoil changes a bracket's kind, a byte, or what follows a bracket and a comma.
func spoil(r *rand.Rand, text []byte) []byte {
	at := r.IntN(len(text))
	after := text[at:]
	switch i := bytes.IndexAny(after, "]}"); {
	case r.IntN(6) == 0 || i < 0:
		after[0] = "{}[],:"[r.IntN(6)]
	case r.IntN(2) == 0:
		after[i] ^= ']' ^ '}'
	default:
		for _, end := range []string{"],", "},"} {
			if i = bytes.Index(after, []byte(end)); i >= 0 {
				i += at + len(end)
				if name, ok := bytes.CutPrefix(text[i:], []byte(`"":`)); ok {
					return slices.Concat(text[:i], name)
				}
				return slices.Concat(text[:i], []byte(`"":`), text[i:])
			}
		}
	}
	return text
}

// TestBrackets asserts that the kernel and the loop over one bracket after the other agree, and that the
// kernel goes on as long as nothing is wrong and the text is not too deep.
func TestBrackets(t *testing.T) {
	needKernels(t)
	tokens := new(kernel.Tokens) // with what is left of other texts
	var whole, ended, wrong, deep int
	for seed := range uint64(40_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		low, open := 64*r.IntN(3), 1+r.IntN([]int{4, 64}[r.IntN(2)])
		w := &tokenWriter{Rand: r, any: r.IntN(2) == 0}
		for range open {
			w.open = append(w.open, r.IntN(2) == 0)
		}
		var stack uint64
		for _, object := range w.open {
			stack <<= 1
			if object {
				stack |= 1
			}
		}
		first := !w.any
		w.write()
		valid := r.IntN(3) == 0
		if !valid {
			w.text = spoil(r, w.text)
		}
		depth, high := low+open, low+64
		if r.IntN(4) == 0 {
			high = min(high, depth+r.IntN(32))
		}
		c := &block{Tokens: tokens, b: w.text}
		c.count, c.size, c.slashes = c.Find(c.b, depth)
		to := c.lastEnd(c.misplaced(first, stack&1 != 0))
		if to == 0 {
			continue
		}
		about := fmt.Sprintf("%d: %s", seed, w.text)
		stack1, depth1, at1, wrong1 := c.brackets(to, stack, depth, low, high)
		stack2, depth2, at2, wrong2 := c.bracketsFrom(0, to, stack, depth, low, high)
		require.Equal(t, []any{depth2, at2, wrong2}, []any{depth1, at1, wrong1}, about)
		require.Equal(t, stack2&lowest(depth2-low), stack1&lowest(depth1-low), about)

		at, _, depthThere, end := c.Brackets(to, stack, depth, low, high)
		isDeep := false
		if !end && at < to {
			require.Zero(t, at%64, about)
			word := c.Word(at / 64)
			opens := (word.OpenObject | word.OpenArray) & lowest(to-at)
			isDeep = depthThere+bits.OnesCount64(opens) > high || depthThere-low == 64
		}
		switch {
		case end:
			ended++
		case at == to:
			whole++
		case isDeep:
			deep++
		default:
			require.False(t, valid, about)
			require.Less(t, at2-at, 64, about)
			if wrong1 {
				wrong++
			}
		}
	}
	t.Logf("%d to the end of the text, %d to that of the value; %d wrong, %d deep", whole, ended, wrong, deep)
	require.Greater(t, min(whole, ended, wrong, deep), 1000)
}

// tokenPrefix returns about as many tokens, to be put after the bracket.
func tokenPrefix(bracket byte, tokens int) string {
	var b strings.Builder
	if bracket == '[' {
		b.WriteString(strings.Repeat("[],", tokens%2))
		b.WriteString(strings.Repeat("0,", tokens/2))
		return b.String()
	}
	for i := range tokens / 4 {
		value := "0"
		if i < tokens%4 {
			value = "[]"
		}
		fmt.Fprintf(&b, `"p%d":%s,`, i, value)
	}
	return b.String()
}

// TestSkipTokensLater asserts that skipTokens runs again only after the bytes that it has left to
// Skip, and an eighth of those that it has read in vain.
func TestSkipTokensLater(t *testing.T) {
	needKernels(t)
	s := newSkipper()
	for _, before := range []string{"[", "[0,", "[" + strings.Repeat("0,", 300),
		strings.Repeat(" ", 100) + "[" + strings.Repeat(`"some",`, 100)} {
		for _, after := range []int{0, 8, 800, 3000} {
			src := []byte(before + ":" + strings.Repeat(" ", after))
			start := strings.IndexByte(before, '[') + 1
			s.Start()
			s.stack, s.depth = 0, 1
			_, st := s.skipTokens(src, start, 0, true, false)
			require.Equal(t, Cut, st)
			size := min(len(src)-start, kernel.MaxBytes)
			left := len(before)
			require.Equal(t, left+64+(size-(left-start))/8, s.later, "%d, %d", left, after)
		}
	}
}

// TestStringMembers asserts how many tokens are members with strings as values, whatever follows
// them or is left of another text after the last.
func TestStringMembers(t *testing.T) {
	if !kernel.Available {
		t.Skip("no kernels for this machine")
	}
	const member = `"k":"v",`
	c := &block{Tokens: new(kernel.Tokens)}
	find := func(text string) int {
		c.b = []byte(text)
		c.count, c.size, c.slashes = c.Find(c.b, 1)
		return c.stringMembers()
	}
	for n := range 100 {
		for _, after := range []string{``, `"k"`, `"k":`, `"k":"v"`, `"k":1,`, `"k":"v"}`, `"k","v",`,
			`"k":"v":`, `1:"v",`, `"k":[],`, `,,,,`, `"k":"v","k":"v"`} {
			require.Equal(t, 4*(n+3), find(strings.Repeat(member, n+3)+strings.Repeat("1,", 80)))
			want := 4 * (n + strings.Count(after, member))
			require.Equal(t, want, find(strings.Repeat(member, n)+after), "%d %s", n, after)
		}
	}
}
