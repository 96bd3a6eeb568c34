package decoder

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/walk"
	"github.com/espalier-dev/espalier/schema"
)

// hold replaces a slice by one of another capacity, and returns by how many bytes it has grown.
func hold[T any](s *[]T) int {
	was := cap(*s)
	*s = make([]T, 0, 1<<12)
	return (cap(*s) - was) * int(unsafe.Sizeof(*new(T)))
}

// TestHeld asserts that everything that a decoder keeps is counted, by itself and within Cap, and that
// dropBuffers lets go of it.
func TestHeld(t *testing.T) {
	p := compileYAML(t, testSchema)
	for name, grow := range map[string]func(d *Decoder) int{
		"json": func(d *Decoder) int { return hold(&d.json) }, "stream": func(d *Decoder) int { return hold(&d.stream) },
		"output": func(d *Decoder) int { return hold(&d.output) }, "result": func(d *Decoder) int { return hold(&d.result) },
		"scratch": func(d *Decoder) int { return hold(&d.scratch) }, "repaired": func(d *Decoder) int { return hold(&d.repaired.Text) },
		"path of a part": func(d *Decoder) int { return hold(&d.parts.path) }, "result of a part": func(d *Decoder) int { return hold(&d.parts.result) },
		"stored object": func(d *Decoder) int { return hold(&d.parts.old) },
		"apiVersion":    func(d *Decoder) int { return hold(&d.parts.apiVersion.text) }, "kind": func(d *Decoder) int { return hold(&d.parts.kind.text) },
		"yaml": func(d *Decoder) int { d.yamlHeld = 1234; return 1234 },
		"values": func(d *Decoder) int {
			d.values.Make([]byte(`["text"]`+string(zeros[:])), nil)
			return d.values.Held()
		},
		"screen": func(d *Decoder) int {
			d.screen.Passes(d.program.Root, []byte(`{}`))
			return d.screen.Held()
		},
		"walker": func(d *Decoder) int {
			before := d.walker.Held()
			d.walker.Observed.Metadata = make([]walk.Metadata, 0, 100)
			return d.walker.Held() - before
		},
	} {
		d := New(p)
		before, all := d.heldBytes(), d.Cap()
		grown := grow(d)
		assert.Positive(t, grown, name)
		assert.Equal(t, grown, d.heldBytes()-before, name)
		assert.Equal(t, grown, d.Cap()-all, name)
		d.dropBuffers()
		assert.Equal(t, []int{before, all}, []int{d.heldBytes(), d.Cap()}, name)
	}
}

// TestCap asserts what Cap counts that stays when the buffers go, and that it counts nothing twice.
func TestCap(t *testing.T) {
	p := compileYAML(t, testSchema)
	d := New(p)
	before := d.Cap()
	assert.Equal(t, before, memory.SizeOf[Decoder]()+d.walker.Cap(), "a new decoder has a walker and nothing else")
	assert.Same(t, &d.account, d.screen.Account, "what it takes is charged before")

	w := d.parts.walkerOf(&d.account)
	assert.Same(t, w, d.parts.walkerOf(&d.account), "there is one for all parts")
	assert.Equal(t, memory.SizeOf[walk.Walker]()+w.Cap(), d.Cap()-before)
	held := w.Held()
	assert.Positive(t, held)
	assert.Equal(t, held, d.parts.held())
	w.Observed.Metadata = make([]walk.Metadata, 0, 100)
	d.dropBuffers()
	assert.Equal(t, held, d.parts.held())
	assert.Equal(t, memory.SizeOf[walk.Walker]()+w.Cap(), d.Cap()-before)

	d = New(p, ServerRequests)
	before = d.Cap()
	d.metadataDecoder = New(p)
	assert.Equal(t, d.metadataDecoder.Cap(), d.Cap()-before)
	d.metadataDecoder = nil
	require.True(t, d.repaired.Repair([]byte("\"\xff\""), &d.account))
	assert.Positive(t, d.repaired.Cap())
	assert.Equal(t, cap(d.repaired.Text)+d.repaired.Cap(), d.Cap()-before)
	d.dropBuffers()
	assert.Equal(t, before, d.Cap())

	_, err := d.AppendYAML(nil, []byte("kind: K\nkind: K\nkind: K\n"))
	require.NoError(t, err)
	require.Len(t, d.YAMLDuplicates(), 2)
	text := 0
	for _, line := range d.YAMLDuplicates() {
		text += len(line) + memory.SizeOf[string]()
	}
	assert.Equal(t, text, d.duplicatesBytes)
	with := d.Cap()
	d.duplicatesBytes = 0
	assert.Equal(t, text, with-d.Cap())
	_, err = d.AppendYAML(nil, []byte("kind: K\n"+strings.Repeat("\n", 100_000)+"unknown: 1\n"))
	require.NoError(t, err)
	assert.Equal(t, d.yaml.Cap(), d.yamlHeld, "with what finding positions takes")
}

// TestRelease asserts that a decoder lets go of more than largeBuffer after maxIdleCalls calls in a
// row that needed less than a quarter of it.
func TestRelease(t *testing.T) {
	p := compileYAML(t, testSchema)
	idle := func(n int) []int { return make([]int, n) }
	large := []int{largeBuffer / 4}
	for name, c := range map[string]struct {
		held int
		used []int // by each call
		kept bool
	}{
		"not much":               {largeBuffer, idle(2 * maxIdleCalls), true},
		"too few":                {largeBuffer + 1, idle(maxIdleCalls - 1), true},
		"enough":                 {largeBuffer + 1, idle(maxIdleCalls), false},
		"nearly large":           {largeBuffer + 1, slices.Repeat([]int{largeBuffer/4 - 1}, maxIdleCalls), false},
		"large":                  {largeBuffer + 1, slices.Repeat(large, 2*maxIdleCalls), true},
		"not in a row":           {largeBuffer + 1, slices.Concat(idle(maxIdleCalls-1), large, idle(maxIdleCalls-1)), true},
		"in a row after a large": {largeBuffer + 1, slices.Concat(idle(maxIdleCalls-1), large, idle(maxIdleCalls)), false},
	} {
		d := New(p)
		d.json = make([]byte, 0, c.held-d.heldBytes())
		for _, used := range c.used {
			d.releaseIdle(used)
		}
		assert.Equal(t, c.kept, d.json != nil, name)
		if !c.kept {
			d.json = make([]byte, 0, c.held)
			for range maxIdleCalls - 1 {
				d.releaseIdle(0)
			}
			assert.NotNil(t, d.json, "%s: it has begun to count again", name)
		}
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

// TestNoTextIsKept asserts that a decoder refers to no text of a caller after a call, whatever came of it.
func TestNoTextIsKept(t *testing.T) {
	values := compileValues(t, `{type: object, properties: {kind: {type: string, maxLength: 9}}}`)
	for opt, p := range map[Option]*schema.Program{
		Standalone: compileYAML(t, testSchema), ServerRequests: compileYAML(t, testSchema), ValidateUpdate: values, ValidateCreate: values,
	} {
		for _, text := range []string{
			`{"kind":"K","s":"a","x":1}`, `{"kind":"too long to be valid"}`, `{"kind":"K","s":"\ud800"}`, `{"kind":5}`, `{"kind":"K","s":}`, `{"kind":"K","s":"\ud800"`, "kind: K\ns: a\n", "kind: [",
		} {
			for way, decode := range map[string]func(d *Decoder) error{
				"JSON":   func(d *Decoder) error { _, err := d.AppendJSON(nil, []byte(text)); return err },
				"YAML":   func(d *Decoder) error { _, err := d.AppendYAML(nil, []byte(text)); return err },
				"values": func(d *Decoder) error { var v any; return d.Unmarshal([]byte(text), &v) },
				"stream": func(d *Decoder) error {
					_, err := io.Copy(io.Discard, d.NewReader(strings.NewReader(text)))
					return err
				},
			} {
				d := New(p, opt)
				d.SetOld([]byte(`{"kind":"K"}`))
				err := decode(d)
				where := fmt.Sprintf("%v %s %s: %v", opt, way, text, err)
				assert.Nil(t, d.original, where)
				if way != "stream" { // its window belongs to the decoder
					window, _ := d.walker.Window()
					assert.Nil(t, window, where)
					assert.Nil(t, d.lines.Text, where)
				}
				assert.Nil(t, d.walker.Out, where)
				if w := d.parts.walker; w != nil {
					window, _ := w.Window()
					assert.Nil(t, window, where)
					assert.Nil(t, w.Out, where)
				}
				if way == "YAML" {
					assert.False(t, d.yaml.Position(0).IsValid(), where)
				}
			}
		}
	}
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
