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
	"github.com/espalier-dev/espalier/internal/skip"
	"github.com/espalier-dev/espalier/schema"
)

// needKernels makes skipTokens run wherever it can, until the test ends.
func needKernels(t testing.TB) {
	if !kernel.Available {
		t.Skip("no kernels for this machine")
	}
	was := skip.SmallValue
	skip.SmallValue = [2]int{}
	t.Cleanup(func() { skip.SmallValue = was })
}

// requireSame requires that f returns the same with kernels, without them, and without skipSimple,
// so that the second machine does everything.
func requireSame(t *testing.T, f func() string, message string, args ...any) {
	with := f()
	kernel.Available = false
	defer func() { kernel.Available = true }()
	require.Equal(t, f(), with, append([]any{message + ", with kernels"}, args...)...)
	defer func(most int) { skip.MaxSimpleDepth = most }(skip.MaxSimpleDepth)
	skip.MaxSimpleDepth = 0
	require.Equal(t, f(), with, append([]any{message + ", with skipSimple"}, args...)...)
}

// A skipSubject decodes texts at one place of a document.
type skipSubject struct {
	before, after string
	program       *schema.Program
}

// skipOptions are the options of the decoders that a subject uses.
var skipOptions = [][]Option{
	{Ignore},
	{Strict},
	{Warn, ServerRequests},
	{Warn, Limits{Depth: 5, NumberBytes: 18, NameBytes: kernel.MaxBytes}},
}

func newSkipSubjects(t testing.TB) (all []skipSubject) {
	for _, place := range places {
		all = append(all, skipSubject{place.before, place.after,
			compileYAML(t, place.schema, place.opts...)})
	}
	return all
}

// check compares the results of a text with kernels and without them: as a slice, and as a stream
// that reads size bytes at a time.
func (s *skipSubject) check(t *testing.T, text string, size int) {
	src := []byte(s.before + text + s.after)
	for i, opts := range skipOptions {
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

// A slowReader returns up to n bytes at a time.
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

// skipTexts returns texts of all kinds, valid and invalid.
func skipTexts(t testing.TB, r *rand.Rand, n int) (texts []string) {
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
	texts = append(texts, `["`+long+`",{"`+long+`":1,"`+long+`":2}]`,
		"["+strings.Repeat("1,", 3000)+"2]", "["+strings.Repeat(" ", 5000)+"]",
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

func TestSkipTokens(t *testing.T) {
	needKernels(t)
	r := rand.New(rand.NewPCG(1, 2))
	subjects := newSkipSubjects(t)
	rounds := 6
	if testing.Short() {
		rounds = 2
	}
	for _, text := range skipTexts(t, r, 200*rounds) {
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

func FuzzSkipTokens(f *testing.F) {
	needKernels(f)
	corpus.AddSeeds(f)
	for _, text := range skipTexts(f, rand.New(rand.NewPCG(3, 4)), 100) {
		f.Add([]byte(text), uint8(7))
	}
	subjects := newSkipSubjects(f)
	f.Fuzz(func(t *testing.T, text []byte, size uint8) {
		needKernels(t)
		for i := range subjects {
			subjects[i].check(t, string(bytes.Clone(text)), 1+int(size))
		}
	})
}

// TestSkipBatches has objects of all sizes, some with a repeated name that follows names of which
// kernels know nothing, within one block and across several.
func TestSkipBatches(t *testing.T) {
	needKernels(t)
	subjects := newSkipSubjects(t)
	for _, members := range []int{0, 1, 5, 31, 32, 70} {
		for _, twice := range []string{"", `,"n0":1`, `,"n\u0030" : 1`, `,"" :1,"":2`} {
			var b strings.Builder
			for i := range members {
				fmt.Fprintf(&b, `"n%d":{"a":%d,"b":{}},`, i, i)
			}
			object := `{` + b.String() + `"last":[]` + twice + `}`
			for _, text := range []string{object, `[` + object + `,` + object + `]`,
				`{"a":` + object + `,"b" :{"c":` + object + `}}`} {
				for i := range subjects {
					subjects[i].check(t, text, 100)
				}
			}
		}
	}
}
