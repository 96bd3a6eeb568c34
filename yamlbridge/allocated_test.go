package yamlbridge

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A watch is a budget with endless room that compares what is asked for with what is allocated.
type watch struct {
	isLive      bool // look at what is in use, which takes longer
	asked, left int
	all, live   uint64 // bytes that were allocated, and that are in use, at the start
	most        int    // bytes that were allocated and not asked for before
	mostLive    int    // bytes that were in use and not charged
}

func newWatch() *watch {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return &watch{all: m.TotalAlloc, live: m.HeapAlloc}
}

func (w *watch) Take(n int) bool {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	w.most = max(w.most, int(m.TotalAlloc-w.all)-w.asked)
	if w.isLive {
		runtime.GC()
		runtime.ReadMemStats(&m)
		w.mostLive = max(w.mostLive, int(int64(m.HeapAlloc)-int64(w.live))-w.left)
	}
	w.asked += max(n, 0)
	w.left += n
	return true
}

// TestAllocatedAfterCharge: memory is charged before it is allocated, also what is no buffer of the reader.
func TestAllocatedAfterCharge(t *testing.T) {
	const slack = 32 << 10 // small lists double, and what is allocated has sizes of the runtime
	names := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	list := "[" + strings.Repeat("1,", 100_000) + "]"
	zeros := func(n int) string { return "[" + strings.Repeat("{0.0: a, -0.0: b},", n) + "]" }
	much := "['" + strings.Repeat("x", 4<<20) + "'," + strings.Repeat("{-0.0: b},", 200) + "]"
	utf16 := []byte("\xff\xfe'\x00")
	for range 100_000 {
		utf16 = append(utf16, 0x2d, 0x4e) // 中
	}
	utf16 = append(utf16, "'\x00"...)
	for name, c := range map[string]struct {
		before, text string // before makes the buffers grow that are not meant
		live         bool   // what is charged is what is kept
	}{
		"a text":             {"", "'" + strings.Repeat("x", 100<<10-33) + "'", false},
		"a text, rounded":    {"", "'" + strings.Repeat("x", 96<<10-33) + "'", false},
		"UTF-16":             {string(utf16), string(utf16), false},
		"marks of merges":    {"a: " + list, "<<: {a: " + list + "}", false},
		"copies for merges":  {"a: &x 1\nb: [" + strings.Repeat("*x,", 100_000) + "]", "a: &x 1\n<<: {b: [" + strings.Repeat("*x,", 100_000) + "]}", false},
		"zeros":              {zeros(2000), zeros(2000), false},
		"more zeros":         {zeros(15_000), zeros(15_000), false},
		"zeros, beside much": {much, much, false},
		"infinities":         {"a: {" + names("key-%d: 1,", 20_000) + "b: .inf}\na: 1", "a: {" + names("key-%d: 1,", 20_000) + "b: .inf}\na: 1", false},
		"bytes as names":     {"a", names("? !!binary "+strings.Repeat("////", 1000)+"\n: %d\n", 20), true},
		"tags":               {"a", names("%%TAG !"+strings.Repeat("a", 2000)+"%d! tag:yaml.org,2002:\n", 40) + "---\na", true},
	} {
		r := Reader{Dialect: Server}
		text := []byte(c.text)
		out, err := r.AppendJSON(nil, text)
		require.NoError(t, err, name)
		dst := make([]byte, 0, len(out)-bytes.Count(out, []byte(`"-0"`))+64) // as much as is written first
		r = Reader{Dialect: Server}
		_, err = r.AppendJSON(nil, []byte(c.before))
		require.NoError(t, err, name)
		w := newWatch()
		w.isLive = c.live
		r.Budget = w
		_, err = r.AppendJSON(dst, text)
		require.NoError(t, err, name)
		if c.live {
			assert.Less(t, w.mostLive, slack, name)
		} else {
			assert.Less(t, w.most, slack, name)
		}
	}
}

// TestChargedAsItGrows: buffers that grow by one element at a time are charged on the way, also by a
// reader that has read without a budget before.
func TestChargedAsItGrows(t *testing.T) {
	var r Reader
	_, err := r.AppendJSON(nil, []byte("a"))
	require.NoError(t, err)
	p := &purse{room: 1 << 30}
	r.Budget = p
	_, err = r.AppendJSON(nil, []byte("["+strings.Repeat("1,", 200_000)+"]"))
	require.NoError(t, err)
	assert.Less(t, p.largest, p.taken/3)
}

// TestLittleIsMovedAside: the value of a merge key takes as much memory as it has, whatever is before it.
func TestLittleIsMovedAside(t *testing.T) {
	const n = 10_000
	var r Reader
	out, err := r.AppendJSON(make([]byte, n), []byte("a: &x 1\nb: ["+strings.Repeat("*x,", n)+"]\nc: {<<: {d: [*x]}}"))
	require.NoError(t, err)
	assert.Less(t, cap(r.side), n)
	assert.Less(t, cap(r.aside.marks), n)
	assert.Less(t, cap(r.aside.copies), n)
	assert.Less(t, cap(out), 2*len(out))

	// Nor does the result.
	out, err = r.AppendJSON(nil, []byte("["+strings.Repeat("x", 100*n)+","+strings.Repeat("y", 10*n)+"]"))
	require.NoError(t, err)
	assert.Less(t, cap(out), 2*len(out))
}

// TestNamesOfOneMapping: a table of names has as many slots as its mapping needs, however many names
// there were before.
func TestNamesOfOneMapping(t *testing.T) {
	var r Reader
	_, err := r.AppendJSON(nil, []byte("- &x {a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1}\n"+strings.Repeat("- {<<: [*x, *x], i: 1}\n", 1000)))
	require.NoError(t, err)
	assert.Equal(t, 32, cap(r.names.slots), "at most half of the slots are used")
}

// TestCopiesLeadToTheText: what came through merge keys of merge keys refers to the place where it was
// written, so that a position is found in few steps.
func TestCopiesLeadToTheText(t *testing.T) {
	var r Reader
	_, err := r.AppendJSON(nil, []byte("- &a {x: 1}\n- &b {<<: *a}\n- &c {<<: *b}\n- &d {<<: *c}\n- {<<: *d}"))
	require.NoError(t, err)
	require.Len(t, r.main.copies, 4)
	for _, c := range r.main.copies {
		_, isCopy := r.trail(c.inSide).copyAt(c.from)
		assert.False(t, isCopy)
	}
}

// TestMovedAnchors: anchors that were moved aside with a merge key are not visited again for the merge
// keys around it.
func TestMovedAnchors(t *testing.T) {
	var r Reader
	out, err := r.AppendJSON(nil, []byte("- &a 1\n- {<<: {<<: {b: [&b 1, &c 2, &d 3], c: *c }, b: *b }}"))
	require.NoError(t, err)
	require.Equal(t, `[1,{"b":1,"c":2}]`, string(out))
	require.Len(t, r.anchors, 4)
	assert.EqualValues(t, 4, r.anchors[1].moved, "from the first of them to the end")
}

// TestReferences: a reader refers to the last document until it forgets it, and to no result.
func TestReferences(t *testing.T) {
	var r Reader
	source, result := readWeakly(t, &r)
	runtime.GC()
	assert.NotNil(t, source.Value())
	assert.Nil(t, result.Value())
	assert.True(t, r.Position(0).IsValid())
	assert.NotNil(t, r.tags)
	r.Forget()
	runtime.GC()
	assert.Nil(t, source.Value())
	assert.False(t, r.Position(0).IsValid())
	assert.Nil(t, r.tags)

	source, _ = readWeakly(t, &r)
	defer func(n int) { maxSourceBytes = n }(maxSourceBytes)
	maxSourceBytes = 3
	_, err := r.AppendJSON(nil, []byte("long"))
	require.Error(t, err)
	runtime.GC()
	assert.Nil(t, source.Value(), "the last one is another")
	runtime.KeepAlive(&r)
}

//go:noinline
func readWeakly(t *testing.T, r *Reader) (source, result weak.Pointer[byte]) {
	text := []byte("%TAG !e! tag:yaml.org,2002:\n---\n" + strings.Repeat("- a\n", 100))
	out, err := r.AppendJSON(nil, text)
	require.NoError(t, err)
	return weak.Make(&text[0]), weak.Make(&out[0])
}
