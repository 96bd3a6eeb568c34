package decoder

import (
	"bytes"
	"encoding/binary"
	stderrors "errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/internal/walk"
	"github.com/espalier-dev/espalier/schema"
)

// A limitedBudget is a budget for one goroutine. It remembers how much was taken.
type limitedBudget struct {
	room         int
	taken, total int // at this time, and in all
	most         int
}

func (p *limitedBudget) Take(n int) bool {
	if n > p.room-p.taken && n > 0 {
		return false
	}
	p.taken += n
	p.total += max(n, 0)
	p.most = max(p.most, p.taken)
	return true
}

func each(n int, f func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(f(i))
	}
	return b.String()
}

func utf16Of(text string) string {
	b := []byte("\xff\xfe")
	for _, u := range utf16.Encode([]rune(text)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return string(b)
}

// amplifiers are documents that take many times their size in memory.
var amplifiers = map[string]struct {
	text string
	yaml bool
	opts []Option
	// estimated says that an estimate is charged: not the sum of all allocations, but more than is
	// held at any time.
	estimated bool
	flat      bool // it takes little memory, which was not always so
}{
	"unknown names":  {text: `{"u":{` + each(30_000, func(i int) string { return fmt.Sprintf(`"%x":0,`, i) }) + `"z":0}}`},
	"escaped names":  {text: `{"u":{` + each(30_000, func(i int) string { return fmt.Sprintf(`"\u0061%x":0,`, i) }) + `"z":0}}`},
	"names at root":  {text: `{` + each(30_000, func(i int) string { return fmt.Sprintf(`"%x":0,`, i) }) + `"z":0}`},
	"duplicates":     {text: `{` + strings.Repeat(`"a":0,`, 30_000) + `"a":0}`},
	"pairs":          {text: `{` + each(15_000, func(i int) string { return fmt.Sprintf(`"%x":0,"%[1]x":0,`, i) }) + `"a":0}`},
	"depth":          {text: strings.Repeat(`{"u":`, 9000) + "0" + strings.Repeat("}", 9000)},
	"depth kept":     {text: `{"any":` + strings.Repeat(`{"u":`, 9000) + "0" + strings.Repeat("}", 9001)},
	"defaults":       {text: `{"list":[` + strings.Repeat("{},", 3000) + `{}]}`},
	"no UTF-8":       {text: `{"any":"` + strings.Repeat("\xff", 200_000) + `"}`, opts: []Option{ServerTypedRequests}},
	"odd numbers":    {text: `{"any":[` + strings.Repeat("1e20,", 50_000) + `1]}`, opts: []Option{ServerTypedRequests}, estimated: true},
	"labels":         {text: `{"metadata":{"finalizers":[],"labels":{` + each(10_000, func(i int) string { return fmt.Sprintf(`"%x":"",`, i) }) + `"a":""}}}`, opts: []Option{ServerTypedRequests}},
	"aliases":        {text: "any:\n- &a [" + strings.Repeat("1,", 2000) + "]\n" + strings.Repeat("- *a\n", 2000), yaml: true},
	"small aliases":  {text: "any: [&a {}," + strings.Repeat("*a,", 100_000) + "]", yaml: true},
	"alias keys":     {text: "u:\n  &a " + strings.Repeat("x", 500) + ": 1\n" + strings.Repeat("  ? *a\n", 10_000), yaml: true},
	"anchors":        {text: "any: [" + each(50_000, func(i int) string { return fmt.Sprintf("&%x a,", i) }) + "*1]", yaml: true},
	"merge keys":     {text: "u:\n- &a {" + each(300, func(i int) string { return fmt.Sprintf("%x: 1,", i) }) + "}\n" + strings.Repeat("- <<: *a\n", 300), yaml: true},
	"merges written": {text: "u:\n" + strings.Repeat("- <<: [{a: 1}, {b: 2}]\n", 10_000), yaml: true},
	"bare keys":      {text: "u: {" + strings.Repeat("a,", 100_000) + "}", yaml: true},
	"bare elements":  {text: "u: [" + strings.Repeat("a,", 100_000) + "]", yaml: true},
	"zero keys":      {text: "u: [" + strings.Repeat("{0.: 1},", 50_000) + "]", yaml: true, opts: []Option{ServerTypedRequests}},
	"long keys":      {text: "u:\n" + each(10_000, func(i int) string { return fmt.Sprintf("  %x: 1\n", i) }), yaml: true},
	"tags":           {text: each(20_000, func(i int) string { return fmt.Sprintf("%%TAG !%x! a\n", i) }) + "---\nu: 1\n", yaml: true},
	"escapes":        {text: `any: "` + strings.Repeat(`\0`, 200_000) + `"`, yaml: true},
	"UTF-16":         {text: utf16Of("any: " + strings.Repeat("\u4e2d", 100_000)), yaml: true, opts: []Option{ServerTypedRequests}},
	"line feeds":     {text: "u: 1\n" + strings.Repeat("\n", 200_000) + "v: 1\n", yaml: true, flat: true},
	"server's duplicates": {
		text: "u:\n" + each(10_000, func(i int) string {
			return fmt.Sprintf("  %x: 1\n  %[1]x: 2\n", i)
		}),
		yaml: true,
		opts: []Option{ServerTypedRequests},
	},
}

const budgetSchema = `
type: object
properties:
  any: {x-kubernetes-preserve-unknown-fields: true}
  metadata: {type: object}
  list:
    type: array
    items:
      type: object
      properties:
        a: {type: string, default: "` +
	"0123456789012345678901234567890123456789012345678901234567890123456789" + `"}
`

// appendTo decodes an amplifier, as a stream if streamed is set.
func appendTo(d *Decoder, dst []byte, text string, yaml, streamed bool) ([]byte, error) {
	switch {
	case streamed && yaml:
		return io.ReadAll(d.NewYAMLReader(strings.NewReader(text)))
	case streamed:
		return io.ReadAll(d.NewReader(strings.NewReader(text)))
	case yaml:
		return d.AppendYAML(dst, []byte(text))
	}
	return d.AppendJSON(dst, []byte(text))
}

// TestAllocationsAreCharged asserts that everything that the decoder allocates for a document is
// charged.
func TestAllocationsAreCharged(t *testing.T) {
	p := compileYAML(t, budgetSchema, schema.ResourceRoot(false))
	for name, c := range amplifiers {
		t.Run(name, func(t *testing.T) {
			src := []byte(c.text)
			d := New(p, c.opts...)
			b := &limitedBudget{room: math.MaxInt}
			d.SetBudget(b)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			var out []byte
			var err error
			if c.yaml {
				out, err = d.AppendYAML(nil, src)
			} else {
				out, err = d.AppendJSON(nil, src)
			}
			runtime.ReadMemStats(&after)
			require.NoError(t, err)
			allocated := int(after.TotalAlloc - before.TotalAlloc)
			t.Logf("%d bytes: allocated %d, charged %d, at most %d at a time, in the end %d", len(src),
				allocated, b.total, b.most, b.taken)
			assert.Equal(t, c.flat, allocated < 5*len(src)/2)
			const small = 128 << 10
			switch {
			case c.yaml:
				// The bridge has buffers that grow by a quarter at a time. They are charged in steps of 64 KiB.
				assert.LessOrEqual(t, allocated, 5*b.total+small)
			case !c.estimated:
				assert.LessOrEqual(t, allocated, b.total+b.total/8+small)
			}
			// In the end, exactly the held bytes are charged.
			fresh := New(p, c.opts...)
			lines := float64(len(src)) / 32 // the most that the starts of lines take
			assert.InDelta(t, d.Cap()-fresh.Cap()+cap(out), b.taken, 4096+lines)
		})
	}
}

// TestBudgets asserts that decoding ends when the budget has no room, that everything is returned
// to it, and that the decoder can be used again.
func TestBudgets(t *testing.T) {
	p := compileYAML(t, budgetSchema, schema.ResourceRoot(false))
	for name, c := range amplifiers {
		for _, streamed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", name, streamed), func(t *testing.T) {
				want, wantErr := appendTo(New(p, c.opts...), nil, c.text, c.yaml, streamed)
				d := New(p, c.opts...)
				base := d.Cap()
				all := &limitedBudget{room: math.MaxInt}
				d.SetBudget(all)
				out, err := appendTo(d, nil, c.text, c.yaml, streamed)
				require.Equal(t, wantErr, err)
				require.Equal(t, string(want), string(out))
				dst := []byte("dst")
				for room := all.most / 2; room > 1<<14; room /= 8 {
					b := &limitedBudget{room: room}
					d := New(p, c.opts...)
					d.SetBudget(b)
					out, err := appendTo(d, dst[:3:3], c.text, c.yaml, streamed)
					require.ErrorIs(t, err, errors.ErrBudget, "%d of %d", room, all.most)
					assert.LessOrEqual(t, b.most, room)
					if !streamed {
						assert.Equal(t, "dst", string(out))
					}
					assert.LessOrEqual(t, d.Cap(), base+96<<10)
					assert.LessOrEqual(t, b.taken, 96<<10, "it was not given back")
					assert.Empty(t, d.Findings())

					d.SetBudget(nil)
					out, err = appendTo(d, nil, c.text, c.yaml, streamed)
					require.Equal(t, wantErr, err)
					require.True(t, bytes.Equal(want, out))
				}
			})
		}
	}
}

// A contendedBudget is a budget of which others take the whole room as soon as a Take has failed.
type contendedBudget struct{ left, taken int }

func (o *contendedBudget) Take(n int) bool {
	if n > 0 {
		if o.left--; o.left < 0 {
			return false
		}
	}
	o.taken += n
	return true
}

// TestBudgetsOfUsedDecoders asserts that the bytes that a decoder has held before are not returned
// twice, and not asked for again, when there is no room at all.
func TestBudgetsOfUsedDecoders(t *testing.T) {
	step := 1
	if testing.Short() {
		step = 15
	}
	p := compileYAML(t, budgetSchema, schema.ResourceRoot(false))
	for name, c := range amplifiers {
		for _, streamed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", name, streamed), func(t *testing.T) {
				for left := 0; left < 100; left += step + left {
					d := New(p, c.opts...)
					before := d.Cap()
					b := &contendedBudget{left: math.MaxInt}
					d.SetBudget(b)
					use := func() (err error) {
						out, err := appendTo(d, nil, c.text, c.yaml, streamed)
						if !streamed {
							b.taken -= cap(out) // the result belongs to the caller
						}
						return err
					}
					require.NoError(t, use())
					uncharged := d.Cap() - before - b.taken // small growth, which is not charged
					b.left = left
					err := use()
					assert.True(t, err == nil || err == errors.ErrBudget, err)
					assert.InDelta(t, d.Cap()-before-b.taken, uncharged, 4096+float64(len(c.text))/32,
						"%d: %v", left, err)
				}
			})
		}
	}
}

// TestBudgetOfUnmarshal asserts that the buffer of a result that was let go does not count as held.
func TestBudgetOfUnmarshal(t *testing.T) {
	d := New(compileYAML(t, budgetSchema))
	b := &limitedBudget{room: 4 << 20}
	d.SetBudget(b)
	text := func(n int) []byte { return []byte(`{"any":"` + strings.Repeat("x", n) + `"}`) }
	var v any
	require.NoError(t, d.Unmarshal(text(1<<20), &v))
	for range 3 {
		require.ErrorIs(t, d.Unmarshal(text(8<<20), &v), errors.ErrBudget)
		assert.InDelta(t, 0, b.taken, 4096)
		assert.Less(t, d.Cap(), 64<<10)
	}
}

// TestPoolTakesBudget asserts that the next user of a pooled decoder does not charge the budget of
// the last one.
func TestPoolTakesBudget(t *testing.T) {
	pool := NewPool(compileYAML(t, budgetSchema))
	d := pool.Get()
	d.SetBudget(&limitedBudget{})
	pool.Put(d)
	src := []byte(`{"any":"` + strings.Repeat("x", 100_000) + `"}`)
	_, err := d.AppendJSON(nil, src)
	assert.NoError(t, err)
	_, err = d.AppendYAML(nil, src)
	assert.NoError(t, err)
}

func TestPeekTypeWithBudget(t *testing.T) {
	text := []byte(`{"apiVersion":"v",` + strings.Repeat(`"kind":"K",`, 30_000) + `"z":0}`)
	b := &limitedBudget{room: 1 << 30}
	version, kind, err := PeekType(text, WithBudget(b))
	require.NoError(t, err)
	assert.Equal(t, []string{"v", "K"}, []string{version, kind})
	assert.Zero(t, b.taken)
	assert.Greater(t, b.most, 30_000)
	for _, room := range []int{100, b.most / 2} {
		b = &limitedBudget{room: room}
		_, _, err = PeekType(text, WithBudget(b))
		require.ErrorIs(t, err, errors.ErrBudget)
		assert.Zero(t, b.taken)
	}
}

func TestAliasFactor(t *testing.T) {
	text := []byte("any:\n- &a [" + strings.Repeat("1,", 2000) + "]\n" + strings.Repeat("- *a\n", 200))
	p := compileYAML(t, budgetSchema, schema.ResourceRoot(false))
	_, err := New(p).AppendYAML(nil, text)
	require.NoError(t, err)
	_, err = New(p, Limits{AliasFactor: 16}).AppendYAML(nil, text)
	var limit *errors.LimitError
	require.True(t, stderrors.As(err, &limit))
	assert.Equal(t, int64(64<<10+16*len(text)), limit.Max)
}

// TestBudgetsOfSecondDecoders asserts that second decoders are charged, too: those for defaults in
// metadata, and for objects from storage.
func TestBudgetsOfSecondDecoders(t *testing.T) {
	p := compileYAML(t, `
type: object
properties:
  e:
    type: object
    x-kubernetes-embedded-resource: true
    x-kubernetes-preserve-unknown-fields: true
    properties: {metadata: {type: object, properties: {name: {type: string, default: x}}}}
  n:
    type: array
    items:
      type: object
      properties:
        d: {type: object, x-kubernetes-preserve-unknown-fields: true, default: {a: null}}
`, schema.ResourceRoot(false))
	labels := `{"labels":{` + each(2000, func(i int) string { return fmt.Sprintf(`"%x":"v",`, i) }) +
		`"a":""}}`
	text := `{"kind":"K","metadata":` + labels + `,"e":{"apiVersion":"v1","kind":"K","metadata":` +
		labels + `},"n":[` + strings.Repeat("{},", 2000) + `{}],"u":1}`
	for _, opt := range []Option{ServerRequests, ServerStorage} {
		want, err := New(p, opt).AppendJSON(nil, []byte(text))
		require.NoError(t, err)
		codes := 0
		for room := 1 << 12; ; room += room / 16 {
			b := &limitedBudget{room: room}
			d := New(p, opt, Strict)
			base := d.Cap()
			d.SetBudget(b)
			out, err := d.AppendJSON(nil, []byte(text))
			if err == errors.ErrBudget {
				codes++
				assert.LessOrEqual(t, b.taken, 96<<10)
				continue
			}
			require.Equal(t, string(want), string(out))
			assert.InDelta(t, d.Cap()-base+cap(out), b.taken, 4096)
			break
		}
		assert.Greater(t, codes, 20)
	}
}

// TestServerDuplicatesAreCharged asserts that what finding YAMLDuplicates takes is charged, whichever of its parts
// is the largest. The list of lines takes several times the memory that it has at a time.
func TestServerDuplicatesAreCharged(t *testing.T) {
	p := compileYAML(t, budgetSchema, schema.ResourceRoot(false))
	for name, src := range map[string]string{
		"names":      "any: {" + each(10_000, func(i int) string { return fmt.Sprintf("k%x: 1, ", i) }) + "}",
		"long names": "any:\n" + each(1000, func(i int) string { return fmt.Sprintf("  k%x%s: 1\n", i, strings.Repeat("x", 900)) }),
		"lines":      "any: 1\n" + strings.Repeat("\n", 100_000) + "a: 1\n",
	} {
		d := New(p, ServerTypedRequests)
		b := &limitedBudget{room: math.MaxInt}
		d.SetBudget(b)
		require.NoError(t, d.bridgeYAML([]byte(src)))
		b.most = b.taken
		held := b.taken
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		d.findServerDuplicates([]byte(src))
		runtime.ReadMemStats(&after)
		allocated := int(after.TotalAlloc - before.TotalAlloc)
		t.Logf("%s: allocated %d, charged %d", name, allocated, b.most-held)
		assert.Greater(t, allocated, 1<<19, name)
		assert.LessOrEqual(t, allocated, map[bool]int{false: 1, true: 3}[name == "lines"]*(b.most-held), name)
		assert.Equal(t, held, b.taken, "%s: it was given back", name)
		assert.Empty(t, d.YAMLDuplicates())
	}
}

// TestNothingIsKeptWithoutRoom lets each call of a budget fail in turn, in the second of two documents. Nothing
// of either is left then: no findings, no results of YAMLDuplicates, no text.
func TestNothingIsKeptWithoutRoom(t *testing.T) {
	labels := `{"labels":{` + each(20, func(i int) string { return fmt.Sprintf(`"%x":"v",`, i) }) + `"a":""}}`
	embedded := compileYAML(t, `
type: object
properties:
  any: {x-kubernetes-preserve-unknown-fields: true}
  e:
    type: object
    x-kubernetes-embedded-resource: true
    x-kubernetes-preserve-unknown-fields: true
    properties: {metadata: {type: object, properties: {name: {type: string, default: x}}}}
`)
	unstable := compileYAML(t, `
type: object
properties:
  any: {x-kubernetes-preserve-unknown-fields: true}
  d: {type: object, x-kubernetes-preserve-unknown-fields: true, default: {a: null, b: "`+strings.Repeat("b", 5000)+`"}}
`)
	object := `{"kind":"K","u":1,"any":[1e20,"\ud800"],"metadata":` + labels + `,"e":{"apiVersion":"v1","kind":"K","metadata":` + labels + `}}`
	values := compileValues(t, `{type: object, properties: {a: {type: string, anyOf: [{pattern: "^a+$"}, {pattern: "^b+$"}]},
		set: {type: array, x-kubernetes-list-type: set, items: {type: integer}}, m: {type: object, x-kubernetes-preserve-unknown-fields: true, maxProperties: 2}}}`)
	invalid := `{"u":1,"a":"c","set":[1,1],"m":{"a":` + strings.Repeat(`{"a":`, 50) + "1" + strings.Repeat("}", 50) + `,"b":2,"c":3}}`
	for name, c := range map[string]struct {
		p        *schema.Program
		text     string
		yaml     bool
		streamed bool
		old      string
		opts     []Option
	}{
		"repaired":      {p: embedded, text: object, opts: []Option{ServerRequests}},
		"from storage":  {p: embedded, text: object, opts: []Option{ServerStorage}},
		"decoded again": {p: unstable, text: object, opts: []Option{ServerStorage}},
		"YAML": {
			p: embedded, yaml: true, opts: []Option{ServerRequests},
			text: "kind: K\nu: 1\nany: {a: 1, a: 2, b: &a {c: d}, e: *a}\ne: {apiVersion: v1, kind: K, metadata: " + labels + "}\n",
		},
		"values":             {p: values, text: invalid, opts: []Option{ValidateCreate}},
		"values on a stream": {p: values, text: invalid, streamed: true, opts: []Option{ValidateCreate}},
		"a long stream":      {p: values, text: `{"u":1,"a":"` + strings.Repeat("c", 4000) + `"}`, streamed: true, opts: []Option{AcceptValues}},
		"repaired stream":    {p: embedded, text: object, streamed: true, opts: []Option{ServerRequests}},
		"an update":          {p: values, text: invalid, old: invalid, opts: []Option{ValidateUpdate}},
	} {
		t.Run(name, func(t *testing.T) {
			for left := 0; ; left++ {
				require.Less(t, left, 10_000)
				d := New(c.p, c.opts...)
				if c.old != "" {
					d.SetOld([]byte(c.old))
				}
				_, err := appendTo(d, nil, c.text, c.yaml, c.streamed)
				require.NotEmpty(t, d.Findings(), err)
				d.dropBuffers() // so that they have to grow
				d.output = make([]byte, 0, 8)
				base := d.Cap()
				b := &contendedBudget{left: left}
				d.SetBudget(b)
				var out []byte
				if c.streamed {
					r := d.NewReader(strings.NewReader(c.text))
					_, err = io.Copy(io.Discard, r)
					require.True(t, err != errors.ErrBudget || r.out == nil, left)
				} else {
					out, err = appendTo(d, []byte("dst"), c.text, c.yaml, false)
				}
				if err != errors.ErrBudget {
					t.Logf("%d calls", left)
					require.Greater(t, left, 3)
					return
				}
				require.True(t, c.streamed || string(out) == "dst", left)
				require.LessOrEqual(t, b.taken, d.Cap()-base, left)
				require.Greater(t, b.taken, d.Cap()-base-100, left)
				require.Empty(t, d.Findings(), left)
				require.Empty(t, d.YAMLDuplicates(), left)
				window, _ := d.walker.Window()
				require.Nil(t, window, left)
				require.Nil(t, d.walker.Out, left)
				require.Nil(t, d.lines.Text, left)
				require.Nil(t, d.original, left)
				require.Nil(t, d.metadataDecoder, left)
				if w := d.parts.walker; w != nil {
					window, _ = w.Window()
					require.Nil(t, window, left)
					require.Nil(t, w.Out, left)
				}
			}
		})
	}
}

// TestBudgetOfParts asserts what is charged for the path of a part, and for its exact validation: each byte of the
// value, segment of the path and declared name has steps and memory, and names are copied four times.
func TestBudgetOfParts(t *testing.T) {
	d := New(compileValues(t, `{type: object, properties: {a: {type: string, maxLength: 1}}}`), ValidateCreate)
	b := &limitedBudget{room: math.MaxInt}
	d.SetBudget(b)
	field := &d.program.Root.Fields[0]
	require.Len(t, d.pathOf(&walk.Question{Field: field}), 1)
	assert.Equal(t, memory.Held(d.parts.path), b.taken, "before it grows")

	d.parts.start()
	assert.Zero(t, d.parts.path[:1][0], "the names of the last document are gone")
	charged := func(part *program.Part) int {
		was := b.taken
		b.most = was
		d.validatePart(part)
		require.Equal(t, was, b.taken)
		require.False(t, d.parts.exceeded)
		return b.most - was
	}
	path := func(n, length int) (path []errors.Segment) {
		for range n {
			path = append(path, errors.Segment{Name: strings.Repeat("n", length), IsName: true})
		}
		return path
	}
	assert.Equal(t, neededFor(0, fewSteps(0)), charged(&program.Part{}))
	assert.Equal(t, neededFor(10, fewSteps(10)), charged(&program.Part{Path: path(10, 0)}))
	assert.Equal(t, neededFor(10, fewSteps(10))+4*10*7, charged(&program.Part{Path: path(10, 7)}))
	assert.Equal(t, neededFor(10, fewSteps(10)), charged(&program.Part{Names: make([]string, 10)}))
	value := []byte(`{"a":"b"}`)
	part := &program.Part{Value: []byte(`{"a":"bcd"}`), Path: path(1, 1)}
	d.parts.start()
	d.validatePart(part)
	needed := d.parts.spent
	assert.Positive(t, needed)
	for _, left := range []int{needed, needed - 1} {
		d.parts.start()
		d.parts.spent = validationSteps(0) - left
		d.validatePart(part)
		assert.Equal(t, left < needed, d.parts.exceeded)
	}
	d.parts.start()
	assert.Equal(t, neededFor(len(value)+10+20, fewSteps(len(value)+10+20)), charged(&program.Part{Value: value, Path: path(10, 0), Names: make([]string, 20)}))
}

// TestBudgetOfNextDocuments asserts that each document in turn leaves charged what the decoder holds, and no more.
func TestBudgetOfNextDocuments(t *testing.T) {
	p := compileYAML(t, budgetSchema, schema.ResourceRoot(false))
	long := strings.Repeat("x", 20_000)
	stored := compileYAML(t, `
type: object
properties:
  d: {type: object, x-kubernetes-preserve-unknown-fields: true, default: {a: null}}
  e:
    type: object
    x-kubernetes-embedded-resource: true
    x-kubernetes-preserve-unknown-fields: true
    properties: {metadata: {type: object, properties: {name: {type: string, default: x}}}}
`)
	values := compileValues(t, `{type: object, properties: {a: {type: string, anyOf: [{pattern: "^a+$"}, {pattern: "^x+$"}]}}}`)
	for name, c := range map[string]struct {
		text string
		yaml bool
		as   ValueValidation

		stored *schema.Program
	}{
		"stored":   {text: `{"kind":"K","metadata":{"labels":{"a":"` + long + `"}}}`, stored: stored},
		"embedded": {text: `{"kind":"K","e":{"apiVersion":"v1","kind":"K","metadata":{"labels":{"a":"` + long + `"}}}}`, stored: stored},
		"values":   {text: `{"a":"` + long + `"}`, as: ValidateCreate},
		"update":   {text: `{"a":"` + long + `"}`, as: ValidateUpdate},
		"JSON":     {text: `{"any":"` + long + `"}`},
		"repaired": {text: "{\"any\":\"\xff" + long + "\"}"},
		"YAML":     {text: "any: " + long, yaml: true},
	} {
		for _, streamed := range []bool{false, true} {
			d := New(p, ServerTypedRequests)
			switch {
			case c.as != AcceptValues:
				d = New(values, c.as)
				d.SetOld([]byte(c.text))
			case c.stored != nil:
				d = New(c.stored, ServerStorage)
			}
			base := d.Cap()
			b := &limitedBudget{room: math.MaxInt}
			d.SetBudget(b)
			dst := make([]byte, 10_000)
			for i := range 4 {
				out, err := appendTo(d, slices.Clip(dst), c.text, c.yaml, streamed)
				require.NoError(t, err, name)
				if !streamed {
					b.taken -= cap(out) - cap(dst)
				}
				assert.InDelta(t, d.Cap()-base, b.taken, 4096, "%s %v %d", name, streamed, i)
				if !c.yaml {
					var v any
					require.NoError(t, d.Unmarshal([]byte(c.text), &v))
					require.NoError(t, d.Unmarshal([]byte(c.text), new(struct{})))
					d.account.Settle(d.Cap())
					assert.InDelta(t, d.Cap()-base, b.taken, 4096, "%s %v %d", name, streamed, i)
				}
			}
		}
	}
}

// TestOtherPanics asserts that a panic of a budget is not recovered.
func TestOtherPanics(t *testing.T) {
	d := New(compileYAML(t, budgetSchema))
	d.SetBudget(brokenBudget{})
	assert.PanicsWithValue(t, "broken", func() { _, _ = d.AppendJSON(nil, []byte(`{}`)) })
}

type brokenBudget struct{}

func (brokenBudget) Take(int) bool { panic("broken") }

// A sharedBudget is a budget for several goroutines, each of which has a share of its own.
type sharedBudget struct {
	mu sync.Mutex
	limitedBudget
}

type share struct {
	of    *sharedBudget
	taken int
}

func (s *share) Take(n int) bool {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	ok := s.of.limitedBudget.Take(n)
	if ok {
		s.taken += n
	}
	return ok
}

// TestBudgetAtItsEdgeConcurrently: goroutines share a budget that suffices for all of them, for all but one,
// for one, or for none. Each has the whole result or ErrBudget; those that it suffices for are not refused;
// never is more taken than there is, and no more given back than was taken.
func TestBudgetAtItsEdgeConcurrently(t *testing.T) {
	const goroutines, rounds = 4, 2
	p := compileYAML(t, budgetSchema, schema.ResourceRoot(false))
	for name, c := range amplifiers {
		if testing.Short() && !slices.Contains([]string{"aliases", "defaults", "depth", "pairs"}, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			alone := &limitedBudget{room: math.MaxInt}
			d := New(p, c.opts...)
			d.SetBudget(alone)
			want, err := appendTo(d, nil, c.text, c.yaml, false)
			require.NoError(t, err)
			need := alone.most + alone.most/64 // tables of names depend on the seed of a decoder
			for _, room := range []int{goroutines * need, goroutines*need - need/2, need, alone.most / 2} {
				b := &sharedBudget{limitedBudget: limitedBudget{room: room}}
				var all sync.WaitGroup
				var whole atomic.Int64
				for range goroutines {
					all.Go(func() {
						for range rounds {
							d, own := New(p, c.opts...), &share{of: b}
							d.SetBudget(own)
							out, err := appendTo(d, nil, c.text, c.yaml, false)
							assert.GreaterOrEqual(t, own.taken, 0)
							own.Take(-own.taken)
							if err == nil {
								assert.True(t, bytes.Equal(want, out))
								whole.Add(1)
							} else {
								assert.ErrorIs(t, err, errors.ErrBudget)
								assert.Empty(t, out)
							}
						}
					})
				}
				all.Wait()
				assert.LessOrEqual(t, b.most, room)
				assert.Zero(t, b.taken)
				switch {
				case room >= goroutines*need:
					assert.EqualValues(t, goroutines*rounds, whole.Load(), "%d of %d", alone.most, room)
				case room < alone.most:
					assert.Zero(t, whole.Load())
				}
			}
		})
	}
}

// TestYAMLIsChargedWhole holds that a decoder has taken what it holds, to the byte but for a rounded result, when it
// has read YAML and has asked for positions in it: what those take was not charged.
func TestYAMLIsChargedWhole(t *testing.T) {
	p := compileYAML(t, budgetSchema, schema.ResourceRoot(false))
	for name, c := range amplifiers {
		if !c.yaml {
			continue
		}
		d := New(p, c.opts...)
		b := &limitedBudget{room: math.MaxInt}
		base := d.Cap()
		d.SetBudget(b)
		out, err := appendTo(d, nil, c.text, true, false)
		require.NoError(t, err, name)
		assert.InDelta(t, d.Cap()-base+cap(out), b.taken, 8, name)
		assert.GreaterOrEqual(t, b.taken, d.Cap()-base+cap(out), name)
	}
}
