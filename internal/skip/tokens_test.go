//go:build amd64 && !purego

package skip

import (
	"bytes"
	"fmt"
	"math/rand/v2"
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

// someTokens appends the tokens of members or elements of a container, as deep as levels more, to b.
func someTokens(r *rand.Rand, b []byte, object bool, levels int) []byte {
	for i := range r.IntN(6) {
		if i > 0 {
			b = append(b, ',')
		}
		if object {
			b = append(b, `"":`...)
		}
		switch inner := r.IntN(2) == 0; {
		case levels == 0 || r.IntN(3) == 0:
			b = append(b, []string{"0", `""`, "{}", "[]"}[r.IntN(4)]...)
		case inner:
			b = append(someTokens(r, append(b, '{'), true, levels-1), '}')
		default:
			b = append(someTokens(r, append(b, '['), false, levels-1), ']')
		}
	}
	return b
}

// TestBrackets asserts that the kernel and the loop over one bracket after the other agree, on
// containers that are closed and opened, at any depth of a word of the stack. In valid texts that are
// not too deep the kernel gets to the end; in others some tokens are exchanged.
func TestBrackets(t *testing.T) {
	needKernels(t)
	var whole, ended, wrong int
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		stack, low, open := r.Uint64(), 64*r.IntN(3), 1+r.IntN([]int{4, 63}[r.IntN(2)])
		depth, high := low+open, low+64
		var b []byte
		inside := stack
		for range 1 + r.IntN(8) {
			b = someTokens(r, b, inside&1 != 0, 1+r.IntN(6))
			b = append(b, "]}"[inside&1])
			inside >>= 1
			if r.IntN(3) > 0 {
				b = append(b, ',')
				if inside&1 != 0 {
					b = append(b, `"":`...)
				}
				b = append(b, '{')
				inside = inside<<1 | 1
			}
		}
		valid := r.IntN(2) == 0
		if !valid {
			if i := r.IntN(len(b)); r.IntN(4) == 0 {
				b[i] = "{}[],:"[r.IntN(6)]
			} else if end := bytes.IndexAny(b[i:], "]}"); end >= 0 {
				b[i+end] ^= ']' ^ '}'
			}
			high = min(high, depth+r.IntN(8))
		}
		c := &block{Tokens: new(kernel.Tokens), b: b}
		c.count, c.size, c.slashes = c.Find(b, depth)
		to := c.lastEnd(c.misplaced(true, stack&1 != 0))
		if to == 0 {
			continue
		}
		stack1, depth1, at1, wrong1 := c.brackets(to, stack, depth, low, high)
		stack2, depth2, at2, wrong2 := c.bracketsFrom(0, to, stack, depth, low, high)
		require.Equal(t, []any{depth2, at2, wrong2}, []any{depth1, at1, wrong1}, "%d: %s", seed, b)
		require.Equal(t, stack2&lowest(depth2-low), stack1&lowest(depth1-low), "%d: %s", seed, b)
		at, _, _, end := c.Brackets(to, stack, depth, low, high)
		if valid && depth+c.count/2 < high {
			require.True(t, end || at == to, "%d: %s", seed, b)
		}
		switch {
		case wrong1:
			wrong++
		case end:
			ended++
		case at == to:
			whole++
		}
	}
	require.Greater(t, min(whole, ended, wrong), 1000, "%d %d %d", whole, ended, wrong)
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
