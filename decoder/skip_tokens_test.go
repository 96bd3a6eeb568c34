//go:build amd64 && !purego

package decoder

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/internal/kernel"
	"github.com/espalier-dev/espalier/schema"
)

// needKernels makes skim run wherever it can, until the test ends.
func needKernels(t testing.TB) {
	if !kernel.Available {
		t.Skip("no kernels for this machine")
	}
	was := smallValue
	smallValue = 0
	t.Cleanup(func() { smallValue = was })
}

// requireSame requires that f returns the same with kernels, without them, and without plainSkip,
// so that skip does all.
func requireSame(t *testing.T, f func() string, message string, args ...any) {
	with := f()
	kernel.Available = false
	defer func() { kernel.Available = true }()
	require.Equal(t, f(), with, append([]any{message + ", with kernels"}, args...)...)
	defer func(most int) { plainDepth = most }(plainDepth)
	plainDepth = 0
	require.Equal(t, f(), with, append([]any{message + ", with plainSkip"}, args...)...)
}

// A skimSubject decodes what it is given in several ways.
type skimSubject struct {
	before, after string
	program       *schema.Program
}

// skimOptions are those of the decoders of a subject.
var skimOptions = [][]Option{
	{Ignore},
	{Strict},
	{Warn, ServerRequests},
	{Warn, Limits{Depth: 5, NumberBytes: 18, NameBytes: kernel.MaxBytes}},
}

func newSkimSubjects(t testing.TB) (all []skimSubject) {
	for _, place := range places {
		all = append(all, skimSubject{place.before, place.after, compileYAML(t, place.schema, place.opts...)})
	}
	return all
}

// check compares what becomes of a text with kernels and without them: as a slice, and as a
// stream that is read by so many bytes.
func (s *skimSubject) check(t *testing.T, text string, size int) {
	src := []byte(s.before + text + s.after)
	for i, opts := range skimOptions {
		requireSame(t, func() string {
			d := New(s.program, opts...)
			out, err := d.AppendJSON(nil, src)
			return fmt.Sprintf("%s\n%v\n%q", out, err, details(d.Findings()))
		}, "decoder %d: %q", i, src)
		requireSame(t, func() string {
			d := New(s.program, opts...)
			out, err := io.ReadAll(d.NewReader(&slowReader{src, size}))
			return fmt.Sprintf("%s\n%v\n%q", out, err, details(d.Findings()))
		}, "decoder %d, reading %d: %q", i, size, src)
	}
}

// A slowReader reads up to n bytes at a time.
type slowReader struct {
	b []byte
	n int
}

func (r *slowReader) Read(p []byte) (int, error) {
	n := copy(p, r.b[:min(len(r.b), r.n)])
	r.b = r.b[n:]
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// skimTexts are texts of all kinds, valid and not.
func skimTexts(t testing.TB, r *rand.Rand, n int) (texts []string) {
	s, err := schema.Parse([]byte(testSchema))
	require.NoError(t, err)
	for range n {
		texts = append(texts, randomDocument(r, s))
	}
	if corpus.IsThere(t) {
		for text := range corpus.JSONTestSuite(t) {
			if len(text.Data) < 10_000 {
				texts = append(texts, string(text.Data))
			}
		}
	}
	for depth := 60; depth < 70; depth++ {
		texts = append(texts, strings.Repeat("[", depth)+strings.Repeat("]", depth),
			strings.Repeat(`{"a":[`, depth/2)+strings.Repeat("]}", depth/2)+",",
			strings.Repeat(`[[],`, depth)+"1"+strings.Repeat("]", depth),
			strings.Repeat(`{"a":{},"b":`, depth)+"1"+strings.Repeat("}", depth))
	}
	long := strings.Repeat("text ", 1000)
	texts = append(texts, `["`+long+`",{"`+long+`":1,"`+long+`":2}]`, "["+strings.Repeat("1,", 3000)+"2]", "["+strings.Repeat(" ", 5000)+"]",
		`{"a":[`+strings.Repeat(`{"name":"a","value":[true,false,null,-0,1.5,1e400]},`, 100)+`{}]}`, benchDocument(5000, true))
	return texts
}

// broken returns a text with a few bytes changed, left out or added.
func broken(r *rand.Rand, text string) string {
	b := []byte(text)
	const some = `{}[]:,""\/u0123456789abcdefDtrue.-+E` + " \n\t\x00\x1f\x80\xc3\xe2\xff"
	for range 1 + r.IntN(2) {
		at := r.IntN(len(b) + 1)
		c := some[r.IntN(len(some))]
		switch {
		case at == len(b) || r.IntN(3) == 0:
			b = append(b[:at], append([]byte{c}, b[at:]...)...)
		case r.IntN(2) == 0:
			b[at] = c
		default:
			b = append(b[:at], b[at+1:]...)
		}
	}
	return string(b)
}

func TestSkim(t *testing.T) {
	needKernels(t)
	r := rand.New(rand.NewPCG(1, 2))
	subjects := newSkimSubjects(t)
	rounds := 6
	if testing.Short() {
		rounds = 2
	}
	for _, text := range skimTexts(t, r, 200*rounds) {
		for round := range rounds {
			padded := strings.Repeat(" ", r.IntN(70)) + text
			if round > 0 {
				padded = broken(r, padded)
			}
			s := &subjects[r.IntN(len(subjects))]
			s.check(t, padded, 1+r.IntN(200))
			s.check(t, `[0,`+padded+`]`, 64*(1+r.IntN(3)))
		}
	}
}

// TestSkimProgress asserts that skim gets to the last bracket.
func TestSkimProgress(t *testing.T) {
	needKernels(t)
	w := &New(compileYAML(t, "type: object")).walker
	src := []byte(benchDocument(100_000, true))
	w.start(nil)
	w.stack, w.depth = 1, 1
	i, s := w.skim(src, 1, 0, true, false)
	require.Equal(t, len(src)-1, i)
	require.Equal(t, cut, s)
	w.stack, w.depth = 1, 1
	i, s = w.skim(append(src, '}'), 1, 0, true, false)
	require.Equal(t, len(src), i)
	require.Equal(t, done, s)
}

// TestSkimPlaces says how far skim gets in a text, up to ^, wherever its tokens are in their words: behind the last value before
// what is wrong. What is left is for skip, which makes the same of it as of the whole.
func TestSkimPlaces(t *testing.T) {
	needKernels(t)
	w := &New(compileYAML(t, "type: object"), Limits{Depth: 200}).walker
	for _, text := range []string{
		`[1,"a",[],{},[[2],3],{"b":4,"c":"d","e":{"f":null},"g":[true,false]},-0,1.5,-2e3,9223372036854775808 , "\n" ]^,`,
		`{"o":{"a":{"b" :1}},"cc":2,"dd":[3^,x`, `{"a":{"b" :1},"cc":2,"dd":{"":3,"ee":[4^,x`, `{"a":1,"b" :2,"cc":{"d" :{},"ee":5},"ff":{"":6},"gg":{"hh":[7^,x`, // of names some are not known
		`[1,"a" ^]`, `{"a":[ ]^}`, `{"a":[],"b":{"c":[2^]`,
		`{"b":4,"c":"d" , "e" : {"f":null , "x":{}},"g":[true,[false]],"h":{"i":{}},"j":[]}^}`,
		// What follows an opening bracket, a separator, or a value.
		`[1^,{1:2}]`, `[1^,{[]}]`, `[1^,{,}]`, `[1^,{:1}]`, `[1^,{{}:1}]`, `[1^,{]`, `[1^,[,]]`, `[1^,[:1]]`, `[1^,[}`,
		`[1^,,2]`, `[1^,]`, `{"a":1^,"b"::2}`, `{"a":1^,"b":,"c":2}`, `{"a":1^,"b":}`, `{"a":1^,}`, `[1^,}`, `{"a":1^,]`,
		`[1^,"a""b"]`, `[1^,"a"[]]`, `[1^,"a"2]`, `[1^,"a"{}]`, `[1^,2"b"]`, `[1^,2[]]`, `[1^,2{}]`, `[1^,2:3]`, `[1^,[]4]`, `[1^,{}"a"]`,
		`[1^,[][]]`, `[1^,{}{}]`, `[1^,[]:2]`, `[1^,{}:2]`, `[1,[2^][]]`, `{"a":1^,2:3}`, `{"a":1^,"b"2}`, `{"a":1^,"b"[]}`,
		// What is in an object, and what in an array.
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
			before, after, _ := strings.Cut(text[:1]+skimPrefix(text[0], shift)+text[1:], "^")
			src := []byte(before + after)
			stack, depth := opened(before)
			if depth == 0 && (len(before)-1)%64 == 0 {
				continue // the token behind is in a block of its own, which is not looked at
			}
			for _, track := range []bool{false, true} {
				w.start(nil)
				w.b, w.findings.fatal = src, false
				if w.stack, w.depth = opened(text[:1]); track && text[0] == '{' {
					w.openObject()
				}
				i, st := w.skim(src, 1, 0, true, track)
				require.Equal(t, before, string(src[:i]), "%d %s", shift, text)
				require.Equal(t, depth == 0, st == done, "%d %s", shift, text)
				require.Equal(t, []uint64{stack, uint64(depth)}, []uint64{w.stack, uint64(w.depth)}, "%d %s", shift, text)
				if track {
					checkTracked(t, w, src)
				}
			}
		}
	}
}

// skimPrefix returns about so many tokens that may stand behind the bracket.
func skimPrefix(bracket byte, tokens int) string {
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

// TestSkimLater asserts that skim is not to be tried again but behind what it has left, and behind an eighth of what it has looked at
// in vain.
func TestSkimLater(t *testing.T) {
	needKernels(t)
	w := &New(compileYAML(t, "type: object")).walker
	for _, before := range []string{"[", "[0,", "[" + strings.Repeat("0,", 300), strings.Repeat(" ", 100) + "[" + strings.Repeat(`"some",`, 100)} {
		for _, behind := range []int{0, 8, 800, 3000} {
			src := []byte(before + ":" + strings.Repeat(" ", behind))
			start := strings.IndexByte(before, '[') + 1
			w.start(nil)
			w.stack, w.depth = 0, 1
			_, st := w.skim(src, start, 0, true, false)
			require.Equal(t, cut, st)
			size := min(len(src)-start, kernel.MaxBytes)
			left := len(before)
			require.Equal(t, left+64+(size-(left-start))/8, w.later, "%d, %d", left, behind)
		}
	}
}

func FuzzSkim(f *testing.F) {
	needKernels(f)
	corpus.AddSeeds(f)
	for _, text := range skimTexts(f, rand.New(rand.NewPCG(3, 4)), 100) {
		f.Add([]byte(text), uint8(7))
	}
	subjects := newSkimSubjects(f)
	f.Fuzz(func(t *testing.T, text []byte, size uint8) {
		needKernels(t)
		for i := range subjects {
			subjects[i].check(t, string(bytes.Clone(text)), 1+int(size))
		}
	})
}
