package decoder_test

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// A repeater returns head, then body n times, then tail.
type repeater struct {
	head, body, tail string
	n                int

	rest string
	part int
}

func (r *repeater) Read(p []byte) (int, error) {
	for r.rest == "" {
		switch {
		case r.part == 0:
			r.rest = r.head
		case r.part <= r.n:
			r.rest = r.body
		case r.part == r.n+1:
			r.rest = r.tail
		default:
			return 0, io.EOF
		}
		r.part++
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func (r *repeater) reset() io.Reader {
	r.rest, r.part = "", 0
	return r
}

// TestSkippingAllocatesNothing asserts that a stream which has been used before allocates nothing
// for 64 MiB that it drops.
func TestSkippingAllocatesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("64 MiB for each case")
	}
	p := compile(t, "type: object\nproperties: {a: {type: string}, s: {type: string}}")
	for name, doc := range map[string]*repeater{
		"a dropped string": {head: `{"a":"b","x":"`, body: strings.Repeat("x", 1<<16), tail: `"}`, n: 1 << 10},
		"a dropped array":  {head: `{"a":"b","x":[0`, body: strings.Repeat(`,{"k":[1,"v"],"l":{}}`, 1<<12), tail: `]}`, n: 64 << 20 / (21 << 12)},
		"a kept string":    {head: `{"a":"b","s":"`, body: strings.Repeat("x", 1<<16), tail: `"}`, n: 1 << 10},
		"white space":      {head: `{"a":"b"`, body: strings.Repeat(" ", 1<<16), tail: `}`, n: 1 << 10},
		"after the object": {head: `{"a":"b"}`, body: strings.Repeat(" ", 1<<16), tail: ` `, n: 1 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			for _, v := range []decoder.FieldValidation{decoder.Warn, decoder.Ignore} {
				d := decoder.New(p, v)
				r := d.NewReader(doc.reset())
				read := func() {
					r.Reset(doc.reset())
					n, err := r.WriteTo(io.Discard)
					if err != nil || n < 8 {
						t.Error(n, err)
					}
				}
				require.Zero(t, testing.AllocsPerRun(1, read))
			}
		})
	}
}

// TestStreamDepth asserts that nesting takes no stack of goroutines, and that its depth is limited.
func TestStreamDepth(t *testing.T) {
	const depth = decoder.DefaultDepth
	p := compile(t, `
type: object
x-kubernetes-preserve-unknown-fields: true
properties: {a: {type: object, properties: {b: {type: string}}}}
`)
	doc := strings.Repeat(`{"x":`, depth-1) + `{}` + strings.Repeat(`}`, depth-1)
	list := strings.Repeat(`[`, depth-1)
	list = `{"a":{"x":` + list[:depth-3] + strings.Repeat(`]`, depth-3) + `},"b":` + list +
		strings.Repeat(`]`, depth-1) + `}`
	for _, doc := range []string{doc, list} {
		stack := make(chan uint64)
		go func() {
			d := decoder.New(p)
			var v any
			before := stackInUse()
			out, err := io.ReadAll(d.NewReader(strings.NewReader(doc)))
			if err == nil {
				err = d.Unmarshal([]byte(doc), &v)
			}
			after := stackInUse()
			if err != nil || len(out) == 0 {
				after = before + 1<<30
			}
			stack <- after - min(before, after)
		}()
		require.Less(t, <-stack, uint64(64<<10))
	}
	d := decoder.New(p)
	_, err := io.ReadAll(d.NewReader(strings.NewReader(`{"x":` + doc + `}`)))
	var e *ferrors.LimitError
	require.ErrorAs(t, err, &e)
	require.Equal(t, ferrors.LimitDepth, e.Limit)
}

func stackInUse() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.StackInuse
}

// TestHeldBytes asserts that the bytes that a stream holds are limited: at the limit and beyond it.
func TestHeldBytes(t *testing.T) {
	p := compile(t, `
type: object
x-kubernetes-preserve-unknown-fields: true
properties: {a: {type: object}}
`)
	const held = 1 << 20
	names := func(n int) string {
		var b strings.Builder
		b.WriteString(`{"a":{`)
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(`"` + strings.Repeat("n", 50) + string(rune('a'+i%26)) +
				strings.Repeat("i", i/26%50) + string(rune('a'+i/1300%26)) +
				string(rune('a'+i/33800%26)) + `":1`)
		}
		b.WriteString(`}}`)
		return b.String()
	}
	read := func(doc string) error {
		d := decoder.New(p, decoder.Limits{HeldBytes: held})
		_, err := io.Copy(io.Discard, d.NewReader(strings.NewReader(doc)))
		return err
	}
	require.NoError(t, read(names(6000)))
	var e *ferrors.LimitError
	require.ErrorAs(t, read(names(12000)), &e)
	require.Equal(t, ferrors.LimitHeldBytes, e.Limit)
	require.Equal(t, int64(held), e.Max)
	require.NoError(t, read(`{"a"`+strings.Repeat(" ", held/2)+`:{}}`))
	require.ErrorAs(t, read(`{"a"`+strings.Repeat(" ", 4*held)+`:{}}`), &e)
	require.NoError(t, read(`{"a":{}`+strings.Repeat(" ", 4*held)+`}`),
		"white space between members is not held")

	for _, blanks := range []int{held - 100, held} {
		err := read(`{"a"` + strings.Repeat(" ", blanks) + `:{}}`)
		if blanks < held {
			require.NoError(t, err)
		} else {
			require.ErrorAs(t, err, &e)
		}
	}
	small := decoder.New(p, decoder.Limits{HeldBytes: 4096})
	deep := `{"b":` + strings.Repeat(`[`, 9000) + strings.Repeat(`]`, 9000) + `}`
	_, err := io.Copy(io.Discard, small.NewReader(strings.NewReader(deep)))
	require.ErrorAs(t, err, &e, "open containers count")

	for most := 1; most < 10; most++ {
		tiny := decoder.New(p, decoder.Limits{HeldBytes: most})
		_, err := io.Copy(io.Discard, tiny.NewReader(strings.NewReader(`{"a":{"bcdef":1}}`)))
		require.ErrorAs(t, err, &e, "%d bytes, read", most)
		n, err := tiny.NewWriter(io.Discard).Write([]byte(`{"a":{"bcdef":1}}`))
		require.ErrorAs(t, err, &e, "%d bytes, written", most)
		require.LessOrEqual(t, n, most+len(`{"a":{`))
	}

	yaml := decoder.New(p, decoder.Limits{HeldBytes: held})
	comments := strings.NewReader("a: {}\n" + strings.Repeat("# comment\n", held/5))
	_, err = io.Copy(io.Discard, yaml.NewYAMLReader(comments))
	require.ErrorAs(t, err, &e, "YAML is held")
}

// TestListMemory decodes a List of 256 MiB as a sequence, one item at a time.
func TestListMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("256 MiB")
	}
	p := compile(t, `
type: object
properties: {spec: {type: object, properties: {a: {type: string}}}}
`)
	item := `{"apiVersion":"v1","kind":"A","metadata":{"name":"x"},"spec":{"a":"` +
		strings.Repeat("v", 500) + `","unknown":[` + strings.Repeat(`{"k":1},`, 400) + `1]}}`
	list := &repeater{head: `{"kind":"List","apiVersion":"v1","items":[` + item, body: "\n," + item,
		tail: `]}`, n: 256 << 20 / len(item)}
	s := decoder.NewListSequence(list.reset(),
		func(apiVersion, kind string) (*schema.Program, error) { return p, nil })
	var out []byte
	items := 0
	base := liveHeap()
	for {
		err := s.Next()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		out, err = s.AppendJSON(out[:0])
		require.NoError(t, err)
		require.Len(t, s.Findings(), 1)
		if items%20_000 == 0 {
			live := liveHeap()
			require.Less(t, live-min(base, live), uint64(1<<20+len(item)), "after %d items", items)
		}
		items++
	}
	require.Equal(t, list.n+1, items)

	// The whole List is decoded as one stream.
	whole := decoder.New(compile(t, `
type: object
properties:
  items:
    type: array
    items: {type: object, properties: {spec: {type: object, properties: {a: {type: string}}}}}
`), decoder.Ignore)
	base = liveHeap()
	r := whole.NewReader(list.reset())
	n, err := io.Copy(io.Discard, io.LimitReader(r, 32<<20))
	require.NoError(t, err)
	require.Equal(t, int64(32<<20), n)
	live := liveHeap()
	require.Less(t, live-min(base, live), uint64(1<<20))
	_, err = r.WriteTo(io.Discard)
	require.NoError(t, err)
}

// liveHeap returns how many bytes of the heap are in use.
func liveHeap() uint64 {
	runtime.GC() // twice, as pools keep what other tests left in them for one more collection
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestWriterTakesNothing asserts that the caller may reuse a chunk after Write.
func TestWriterTakesNothing(t *testing.T) {
	d := decoder.New(compile(t, `
type: object
properties: {a: {type: string}, b: {type: array, items: {type: integer}}}
`))
	doc := `{"a":"some text","zzz":{"zz":"z"},"b":[1,22,333],"zz":1}`
	var out bytes.Buffer
	w := d.NewWriter(&out)
	chunk := make([]byte, 3)
	for i := 0; i < len(doc); i += len(chunk) {
		n := copy(chunk, doc[i:])
		_, err := w.Write(chunk[:n])
		require.NoError(t, err)
		clear(chunk)
	}
	require.NoError(t, w.Close())
	require.Equal(t, `{"a":"some text","b":[1,22,333]}`, out.String())
}
