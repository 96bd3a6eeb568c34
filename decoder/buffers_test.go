package decoder

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hold replaces a slice by one of another capacity, and returns by how many bytes it has grown.
func hold[T any](s *[]T) int {
	was := cap(*s)
	*s = make([]T, 0, 1<<12)
	return (cap(*s) - was) * int(unsafe.Sizeof(*new(T)))
}

// TestHeld asserts that everything that a decoder keeps is counted.
func TestHeld(t *testing.T) {
	p := compileYAML(t, testSchema)
	for name, grow := range map[string]func(d *Decoder) int{
		"json": func(d *Decoder) int { return hold(&d.json) }, "stream": func(d *Decoder) int { return hold(&d.stream) },
		"output": func(d *Decoder) int { return hold(&d.output) }, "result": func(d *Decoder) int { return hold(&d.result) },
		"scratch": func(d *Decoder) int { return hold(&d.scratch) }, "repaired": func(d *Decoder) int { return hold(&d.repaired.Text) },
		"yaml": func(d *Decoder) int { d.yamlHeld = 1234; return 1234 },
		"values": func(d *Decoder) int {
			d.values.Make([]byte(`["text"]`+string(zeros[:])), nil)
			return d.values.Held()
		},
	} {
		d := New(p)
		before := d.heldBytes()
		grown := grow(d)
		assert.Positive(t, grown, name)
		assert.Equal(t, grown, d.heldBytes()-before, name)
	}
}

// TestRelease asserts that a decoder lets go of more than largeBuffer after maxIdleCalls calls in a
// row that needed less than a quarter of it.
func TestRelease(t *testing.T) {
	p := compileYAML(t, testSchema)
	for _, c := range []struct {
		held, used, calls int
		kept              bool
	}{
		{largeBuffer, 0, 2 * maxIdleCalls, true},
		{largeBuffer + 1, 0, maxIdleCalls - 1, true},
		{largeBuffer + 1, 0, maxIdleCalls, false},
		{largeBuffer + 1, largeBuffer/4 - 1, maxIdleCalls, false},
		{largeBuffer + 1, largeBuffer / 4, 2 * maxIdleCalls, true},
	} {
		d := New(p)
		d.json = make([]byte, 0, c.held-d.heldBytes())
		for range c.calls {
			d.releaseIdle(c.used)
		}
		assert.Equal(t, c.kept, d.json != nil, "%+v", c)
	}
}

// TestBuffersAreLetGo uses a decoder for large documents, and then for small ones.
func TestBuffersAreLetGo(t *testing.T) {
	var b strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&b, `"k%d":1,`, i)
	}
	d := New(compileYAML(t, testSchema))
	_, err := d.AppendJSON(nil, []byte(`{"raw":{`+b.String()+`"x":1}}`))
	require.NoError(t, err)
	require.Greater(t, d.walker.Held(), 200_000*32)
	for range 2 * maxIdleCalls {
		_, err = d.AppendJSON(nil, []byte(`{"s":"a"}`))
		require.NoError(t, err)
	}
	assert.Less(t, d.walker.Held(), 1000*32)

	_, err = d.AppendYAML(nil, []byte("raw:\n"+strings.Repeat("- {a: 1, b: 2}\n", 50_000)))
	require.NoError(t, err)
	require.Greater(t, d.yaml.Cap(), largeBuffer)
	for range 2 * maxIdleCalls {
		_, err = d.AppendYAML(nil, []byte("s: a\n"))
		require.NoError(t, err)
	}
	assert.Less(t, d.yaml.Cap()+cap(d.json), 10_000)

	resources := New(compileYAML(t, `
type: object
properties: {list: {type: array, items: {type: object, x-kubernetes-embedded-resource: true}}}
`), ServerTypedRequests)
	_, err = resources.AppendJSON(nil, []byte(`{"list":[`+
		strings.Repeat(`{"apiVersion":"v1","kind":"K","metadata":{}},`, 50_000)+`{}]}`))
	require.NoError(t, err)
	require.Greater(t, resources.heldBytes(), largeBuffer)
	for range 2 * maxIdleCalls {
		_, err = resources.AppendJSON(nil, []byte(`{}`))
		require.NoError(t, err)
	}
	assert.Zero(t, cap(resources.walker.Observed.Metadata))
}

// TestBatchesLetGo holds that a batch keeps its memory for other objects, unless that is much.
func TestBatchesLetGo(t *testing.T) {
	for _, c := range []struct{ texts, out, kept int }{
		{keptBatchBytes, 0, keptBatchBytes},
		{keptBatchBytes / 2, keptBatchBytes / 2, keptBatchBytes},
		{keptBatchBytes, 1, 0},
		{1, keptBatchBytes, 0},
		{keptBatchBytes, keptBatchBytes, 0},
	} {
		b := &batch{texts: make([]byte, 0, c.texts), out: make([]byte, 0, c.out)}
		b.reset()
		assert.Equal(t, c.kept, cap(b.texts)+cap(b.out), "%+v", c)
	}
}

// TestBuildOfNoResult asserts that nothing is made of a result that is not JSON, if there ever is one.
func TestBuildOfNoResult(t *testing.T) {
	d := New(compileYAML(t, testSchema))
	assert.Panics(t, func() { d.build(append([]byte(`{"a":"\ud800"}`), zeros[:]...), nil) })
}
