package walk

import (
	"cmp"
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/internal/skip"
	"github.com/espalier-dev/espalier/schema"
)

// limits are the limits of a walker. A zero is the default of a decoder.
type limits struct{ Depth, NameBytes, NumberBytes, DefaultBytes int }

// newWalker returns a walker that is ready for a document.
func newWalker(p *schema.Program, l limits) *Walker {
	w := new(Walker)
	w.Init(new(memory.Account))
	w.SetBounds(skip.Bounds{
		Depth:       cmp.Or(l.Depth, 10_000),
		NameBytes:   cmp.Or(l.NameBytes, 50_000),
		NumberBytes: cmp.Or(l.NumberBytes, 1000),
	})
	w.DefaultBytes, w.MostOut, w.Report = cmp.Or(l.DefaultBytes, 16<<20), math.MaxInt, true
	w.Found.Most, w.Found.MostBytes = 100, 64<<10
	compiled := program.Of(p)
	predicted := make([]*program.Field, compiled.Cells)
	for i := range predicted {
		predicted[i] = program.NoField
	}
	w.Tune(compiled, predicted)
	w.Start(nil)
	return w
}

func compileYAML(t testing.TB, text string, opts ...schema.Option) *schema.Program {
	t.Helper()
	s, err := schema.Parse([]byte(text))
	require.NoError(t, err)
	p, err := schema.Compile(s, opts...)
	require.NoError(t, err)
	return p
}

// TestHeld asserts that everything that a walker keeps is counted, and dropped.
func TestHeld(t *testing.T) {
	p := compileYAML(t, "type: object")
	for name, grow := range map[string]func(w *Walker) int{
		"padded": func(w *Walker) int { return hold(&w.padded) }, "frames": func(w *Walker) int { return hold(&w.frames) },
		"words": func(w *Walker) int { return hold(&w.words) }, "scratch": func(w *Walker) int { return hold(&w.scratch) },
		"opened": func(w *Walker) int { return hold(&w.opened) }, "last": func(w *Walker) int { return hold(&w.last) },
		"superseded": func(w *Walker) int { return hold(&w.superseded) },
		"seconds":    func(w *Walker) int { return hold(&w.seconds) }, "metadata": func(w *Walker) int { return hold(&w.Observed.Metadata) },
		"names": func(w *Walker) int { return hold(&w.skip.Names.Names) },
		"places": func(w *Walker) int {
			before := w.Found.Held()
			w.Found.WantRoom(nil, 1000)
			return w.Found.Held() - before
		},
	} {
		w := newWalker(p, limits{})
		before, all := w.Held(), w.Cap()
		grown := grow(w)
		assert.Positive(t, grown, name)
		assert.Equal(t, grown, w.Held()-before, name)
		assert.Equal(t, grown, w.Cap()-all, name)
		w.Drop()
		assert.Equal(t, memory.Held(w.frames), w.Held(), name)
		assert.Len(t, w.frames, firstFrames, name)
	}
	w := newWalker(p, limits{})
	all := w.Cap()
	assert.Equal(t, hold(&w.segments), w.Cap()-all)
}

// hold replaces a list by one of another capacity, and returns by how many bytes it has grown.
func hold[T any](list *[]T) int {
	was := cap(*list)
	*list = make([]T, 0, 1<<12)
	return (cap(*list) - was) * int(unsafe.Sizeof(*new(T)))
}
