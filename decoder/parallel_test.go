package decoder_test

import (
	"bytes"
	stderrors "errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// visitInParallel is visit for InParallel, which does not tell kinds.
func visitInParallel(s *decoder.Sequence, workers int) (all []visited, end error) {
	end = io.EOF
	for o, err := range s.InParallel(workers) {
		if err != nil {
			end = err
			continue
		}
		all = append(all, visited{
			raw: string(o.Raw), out: string(o.JSON), position: o.Position, err: o.Err,
			findings: append(errors.List(nil), o.Findings...),
		})
	}
	return all, end
}

func withoutKinds(all []visited) []visited {
	all = slices.Clone(all)
	for i := range all {
		all[i].kind = ""
	}
	return all
}

// checkInParallel asserts that a text has the same results in parallel, in batches of one object and
// in batches of some.
func checkInParallel(t *testing.T, text string, want []visited, end error, make newSequence, opts ...decoder.Option) {
	t.Helper()
	lookup := catalog(t).Lookup
	for i, size := range []int{1, 150, 64 << 10} {
		undo := decoder.SetBatchBytes(size)
		got, err := visitInParallel(make(strings.NewReader(text), lookup, opts...), 1+i)
		undo()
		require.Equal(t, withoutKinds(want), got, "batches of %d bytes", size)
		require.Equal(t, withoutMessage(end), withoutMessage(err), "batches of %d bytes", size)
	}
}

// TestInParallelGuesses has texts in which borders are also where no object ends, and faults anywhere.
func TestInParallelGuesses(t *testing.T) {
	const three = `[{` + isA + `},{` + isA + `},{` + isA + `}]`
	faults := []string{"", "}", ",", "\x00", "\"", "]", "\xff", "{", `,{"apiVersion":`}
	lookup := catalog(t).Lookup
	r := rand.New(rand.NewPCG(7, 7))
	for _, c := range []struct {
		make                 newSequence
		open, between, close string
	}{
		{decoder.NewListSequence, `{"items":[`, ",", `],"kind":"List"}`},
		{decoder.NewListSequence, "{\n \"items\" : [\n  ", " ,\r\n  ", `],"more":` + three + `} `},
		{decoder.NewListSequence, `{"items":[`, ",", `],"items":` + three + `}`},
		{decoder.NewListSequence, `{"items":[`, ",", `]}{"items":` + three + `}`},
		{decoder.NewSequence, "", "\n", "\n"},
		{decoder.NewSequence, "\n", "", ""},
		{decoder.NewSequence, "", " ", ` 1 "a" {` + isA + `}`},
		{decoder.NewYAMLSequence, "", "\n---\n", "\n---\n"},
	} {
		border := "}" + c.between + `{"apiVersion":`
		quoted := strings.NewReplacer("\r", `\r`, "\n", `\n`).Replace(border[:len(border)-len(`"apiVersion":`)])
		objects := []string{
			`{` + isA + `,"spec":{"a":"1","u":2},"x":"ü"}`,
			`{` + isB + `,"spec":{"b":3}}`,
			`{` + isB + `,"spec":{"b":"3"}}`,
			`{` + isA + `,"x":[{},{` + isA + `}` + strings.TrimLeft(c.between+",", "\n ")[:1] + `{` + isA + `}]}`, // a border
			`{` + isA + `,"x":"` + quoted + `","apiVersion":"e.io/v1"}`,                                           // another one
			`{"x":"` + strings.Repeat("p", 300) + `",` + isA + `}`,
			`{"kind":"C"}`, `null`, `7`, `[{` + isA + `}]`, `{` + isA + `,"kind":"A"}`,
		}
		for range decoder.Fewer(60) {
			var list []string
			for range 1 + r.IntN(30) {
				i := r.IntN(3)
				if r.IntN(4) == 0 {
					i = r.IntN(len(objects))
				}
				list = append(list, objects[i])
			}
			text := c.open + strings.Join(list, c.between) + c.close
			if at := r.IntN(len(text)); r.IntN(2) == 0 {
				text = text[:at] + faults[r.IntN(len(faults))] + text[at+r.IntN(2):]
			}
			want, end := visit(t, c.make(strings.NewReader(text), lookup))
			checkInParallel(t, text, want, end, c.make)
		}
	}
}

// manyObjects returns a stream of n objects, some of which are refused, and some longer than a batch.
func manyObjects(n int, between string) string {
	r := rand.New(rand.NewPCG(5, 5))
	var text strings.Builder
	for i := range n {
		if i > 0 {
			text.WriteString(between)
		}
		pad := strings.Repeat("p", r.IntN(500))
		if r.IntN(500) == 0 {
			pad = strings.Repeat("p", 200_000)
		}
		switch r.IntN(8) {
		case 0:
			fmt.Fprintf(&text, `{%s,"spec":{"b":"%s"}}`, isB, pad)
		case 1:
			fmt.Fprintf(&text, `{%s,"metadata":{"name":%d}}`, isA, i)
		case 2:
			fmt.Fprintf(&text, `{"kind":"C","n":%d}`, i)
		default:
			fmt.Fprintf(&text, `{%s,"spec":{"a":"%d","u%d":1},"x":"%s"}`, isA, i, i, pad)
		}
	}
	return text.String()
}

func TestInParallel(t *testing.T) {
	before := runtime.NumGoroutine()
	lookup := catalog(t).Lookup
	for name, c := range map[string]struct {
		make newSequence
		text string
	}{
		"lines":     {decoder.NewSequence, manyObjects(3000, "\n")},
		"list":      {decoder.NewListSequence, `{"items":[` + manyObjects(3000, ",") + `],"kind":"List"}`},
		"documents": {decoder.NewYAMLSequence, "---\n" + manyObjects(300, "\n---\n# nothing\n---\n")},
		"large":     {decoder.NewSequence, strings.Repeat(`{`+isA+`,"x":"`+strings.Repeat("p", 1<<20)+`"}`, 20)},
		"cut":       {decoder.NewListSequence, `{"items":[` + manyObjects(3000, ",") + `,{"a"`},
	} {
		want, end := visit(t, c.make(strings.NewReader(c.text), lookup))
		for _, workers := range []int{1, 2, 5} {
			got, err := visitInParallel(c.make(strings.NewReader(c.text), lookup), workers)
			require.Equal(t, withoutKinds(want), got, "%s, %d workers", name, workers)
			require.Equal(t, end, err, name)
		}
	}
	noneLeft(t, before)
}

// noneLeft waits until there are no more goroutines than before.
func noneLeft(t *testing.T, before int) {
	t.Helper()
	for range 10_000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	require.LessOrEqual(t, runtime.NumGoroutine(), before)
}

// TestInParallelEnds: an iteration that ends early, in whatever way, leaves no goroutine, and the
// sequence goes on with some object that was not yielded.
func TestInParallelEnds(t *testing.T) {
	before := runtime.NumGoroutine()
	text := manyObjects(5000, "\n")
	want, end := visit(t, decoder.NewSequence(strings.NewReader(text), catalog(t).Lookup))
	var s *decoder.Sequence
	for _, most := range []int{3000, 1000, 100} {
		s = decoder.NewSequence(strings.NewReader(text), catalog(t).Lookup)
		n := 0
		for o, err := range s.InParallel(3) {
			require.NoError(t, err)
			require.Contains(t, string(o.Raw), `"kind"`)
			if n++; n == most {
				break
			}
		}
		noneLeft(t, before)
		require.Nil(t, s.Raw())
		_, err := s.AppendJSON(nil)
		require.ErrorContains(t, err, "no object before Next")
		if most == 100 {
			break
		}
		rest, err := visit(t, s)
		require.Equal(t, end, err)
		require.Greater(t, len(rest), 1000)
		require.LessOrEqual(t, len(rest), len(want)-most)
		require.Equal(t, want[len(want)-len(rest):], rest)
	}
	require.NoError(t, s.Next())
	require.Greater(t, s.Position().Line, 100)
	assert.PanicsWithValue(t, "mine", func() {
		for range s.InParallel(3) {
			panic("mine")
		}
	})
	noneLeft(t, before)

	calls := atomic.Int32{}
	s = decoder.NewSequence(strings.NewReader(manyObjects(5000, "\n")), func(string, string) (*schema.Program, error) {
		if calls.Add(1) > 50 {
			panic("a lookup")
		}
		return nil, stderrors.New("no program")
	})
	n := 0
	var panicked any
	func() {
		defer func() { panicked = recover() }()
		for o, err := range s.InParallel(3) {
			require.NoError(t, err)
			require.EqualError(t, o.Err, "no program")
			require.Nil(t, o.JSON)
			n++
		}
	}()
	require.Contains(t, panicked, "a lookup\n\nin a goroutine of decoder.Sequence.InParallel:\n")
	require.LessOrEqual(t, n, 50)
	noneLeft(t, before)
	assert.Panics(t, func() { s.InParallel(0) })
}

// A countingReader counts what is read.
type countingReader struct {
	r    io.Reader
	read int
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.read += n
	return n, err
}

// TestInParallelReadsAhead: little more is read ahead than HeldBytes, by no more goroutines than are asked for.
func TestInParallelReadsAhead(t *testing.T) {
	const held = 256 << 10
	goroutines := runtime.NumGoroutine()
	text := []byte(manyObjects(10_000, "\n"))
	source := &countingReader{r: bytes.NewReader(text)}
	s := decoder.NewSequence(source, catalog(t).Lookup, decoder.Limits{HeldBytes: held})
	most := 0
	for o, err := range s.InParallel(16) {
		require.NoError(t, err)
		require.LessOrEqual(t, runtime.NumGoroutine(), goroutines+15)
		require.Equal(t, o.Err != nil, o.JSON == nil)
		most = max(most, source.read-int(o.Position.Offset))
	}
	require.Equal(t, len(text), source.read)
	require.Greater(t, most, held/2)
	require.Less(t, most, 3*held, "with the window of the reader")
}

// TestInParallelDecodesInParallel has a lookup that ends only while another one is made, by another goroutine.
func TestInParallelDecodesInParallel(t *testing.T) {
	defer decoder.SetBatchBytes(1)()
	meet := make(chan bool)
	calls := atomic.Int32{}
	lookup := catalog(t).Lookup
	for _, c := range []struct {
		make newSequence
		text string
	}{
		{decoder.NewSequence, manyObjects(20, "\n")}, {decoder.NewYAMLSequence, manyObjects(20, "\n---\n")},
	} {
		calls.Store(0)
		s := c.make(strings.NewReader(c.text), func(apiVersion, kind string) (*schema.Program, error) {
			if calls.Add(1) <= 2 {
				select {
				case meet <- true:
				case <-meet:
				}
			}
			return lookup(apiVersion, kind)
		})
		n := 0
		for _, err := range s.InParallel(2) {
			require.NoError(t, err)
			n++
		}
		assert.Equal(t, 20, n)
	}
}

// TestInParallelWaits asserts that an iteration ends after its goroutines. With one processor they are gone then: a
// goroutine that has said that it ends is only seldom interrupted before it does.
func TestInParallelWaits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	least := 1 << 30
	for range 20 {
		before := runtime.NumGoroutine()
		for _, err := range decoder.NewSequence(strings.NewReader(manyObjects(10, "\n")), catalog(t).Lookup).InParallel(3) {
			require.NoError(t, err)
		}
		least = min(least, runtime.NumGoroutine()-before)
	}
	assert.LessOrEqual(t, least, 0)
}
