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
// sequence goes on behind what was read ahead.
func TestInParallelEnds(t *testing.T) {
	before := runtime.NumGoroutine()
	s := decoder.NewSequence(strings.NewReader(manyObjects(5000, "\n")), catalog(t).Lookup)
	n := 0
	for o, err := range s.InParallel(3) {
		require.NoError(t, err)
		require.Contains(t, string(o.Raw), `"kind"`)
		if n++; n == 100 {
			break
		}
	}
	noneLeft(t, before)
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
	n = 0
	var text any
	func() {
		defer func() { text = recover() }()
		for o, err := range s.InParallel(3) {
			require.NoError(t, err)
			require.EqualError(t, o.Err, "no program")
			n++
		}
	}()
	require.Contains(t, text, "a lookup\n\nin a goroutine of decoder.Sequence.InParallel:\n")
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

// TestInParallelReadsAhead: little more is read ahead than HeldBytes.
func TestInParallelReadsAhead(t *testing.T) {
	const held = 256 << 10
	text := []byte(manyObjects(10_000, "\n"))
	source := &countingReader{r: bytes.NewReader(text)}
	s := decoder.NewSequence(source, catalog(t).Lookup, decoder.Limits{HeldBytes: held})
	most := 0
	for o, err := range s.InParallel(16) {
		require.NoError(t, err)
		most = max(most, source.read-int(o.Position.Offset))
	}
	require.Equal(t, len(text), source.read)
	require.Greater(t, most, held/2)
	require.Less(t, most, 3*held, "with the window of the reader")
}
