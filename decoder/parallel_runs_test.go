package decoder

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// inParts reads a text in parts of n bytes.
type inParts struct {
	text string
	n    int
}

func (r *inParts) Read(p []byte) (n int, err error) {
	if r.text == "" {
		return 0, io.EOF
	}
	n = copy(p, r.text[:min(r.n, len(r.text))])
	r.text = r.text[n:]
	return n, nil
}

// parallelOf returns a parallel of one worker over a text, whose batches have n bytes or the object that goes
// beyond them.
func parallelOf(t *testing.T, text string, n int, opts ...Option) *parallel {
	was := batchBytes
	batchBytes = n
	t.Cleanup(func() { batchBytes = was })
	p := compileYAML(t, "x-kubernetes-preserve-unknown-fields: true", schema.ResourceRoot(false))
	lookup := func(string, string) (*schema.Program, error) { return p, nil }
	s := NewSequence(&inParts{text, 37}, lookup, opts...)
	made := newParallel(s, 1)
	t.Cleanup(made.stop)
	return made
}

// all finishes all batches, in their order.
func (p *parallel) all(each func(b *batch)) {
	for p.readAhead(); p.held > 0; p.readAhead() {
		each(p.finish())
	}
}

// TestRuns asserts where each run ends, whatever the window is: before the first object that starts at least the
// length of a batch after the run does. All is read for good but what is looked at behind the last of them.
func TestRuns(t *testing.T) {
	defer SetFirstWindow(16)()
	const end, start = "}\n", `{"a":`
	text := ""
	for i := range 60 {
		text += fmt.Sprintf("{\"a\":%q}\n", strings.Repeat("x", i*7%23))
	}
	total := 0
	for n := 1; n < 150; n++ {
		p := parallelOf(t, text, n)
		last, good, runs := 0, 0, 0
		p.all(func(b *batch) {
			good += len(b.texts) / 4
			if !b.isRun {
				return
			}
			from := int(b.origin.Offset)
			i := strings.Index(text[min(from+n, len(text)):], end+start)
			require.GreaterOrEqual(t, i, 0, "%d", n)
			last = from + n + i + len(end)
			require.Equal(t, text[from:last], string(b.texts), "%d", n)
			require.True(t, b.isRight, "%d", n)
			runs++
		})
		require.Equal(t, io.EOF, p.from.err)
		total += runs
		if runs > 0 {
			require.NotContains(t, text[min(last+n, len(text)):], end+start, "%d", n)
			vain := firstCredit + good - p.credit
			require.GreaterOrEqual(t, vain, len(text)-last, "%d", n)
			require.LessOrEqual(t, vain, 3*(len(text)-last), "%d: there may be a border once more", n)
		}
	}
	require.Greater(t, total, 1000)
}

// TestFind asserts that no text is looked through again when there is more of it, but for what may be the start of
// a border.
func TestFind(t *testing.T) {
	p := &parallel{border: []byte("},{"), start: len("{")}
	for _, c := range []struct {
		text            string
		at, start, next int
	}{
		{`{},{}`, 0, 3, 0}, {`{},{}`, 1, 3, 0}, {`{},{}`, 2, -1, 3}, {`{},{},{}`, 2, 6, 0},
		{`{"a":1},`, 0, -1, 6}, {`{"a":1},`, 6, -1, 6}, {`{"a":1},`, 7, -1, 7}, {`{"a":1},`, 8, -1, 8}, {`{"a":1},`, 20, -1, 20},
		{``, 0, -1, 0}, {`{`, 0, -1, 0},
	} {
		start, next := p.find([]byte(c.text), c.at)
		assert.Equal(t, []int{c.start, c.next}, []int{start, next}, "%s %d", c.text, c.at)
	}
}

// TestBorders asserts what is taken for a border, after batches of one object and of two.
func TestBorders(t *testing.T) {
	blanks := strings.Repeat(" ", maxBorder)
	long := strings.Repeat("n", maxBorder-len(`{"":`))
	for _, c := range []struct {
		text  string
		n     int
		start string // of the next object; none if no border is learned
	}{
		{`{"a":1}{"a":2}`, 1, `{"a":`},
		{`{"a":1} {"a":2}`, 1, `{"a":`},
		{`{"a":1,"b":2} {"a":2}`, 1, `{"a":`},
		{`{"a":1} {"b":2}`, 1, `{"`},
		{`{"a":1}{"a":1} {"a":2}`, 9, `{"a":`},
		{`{"ab":1}{"a":1} {"ab":2}`, 9, `{"a`},
		{`{"a":1}{"ab":1} {"ab":2}`, 9, `{"a`},
		{`{"a":1}` + blanks + `{"a":2}`, 1, `{"a":`},
		{`{"a":1}` + blanks + ` {"a":2}`, 1, ``},
		{`{"` + long + `":1} {"` + long + `":2}`, 1, `{"` + long + `":`},
		{`{"n` + long + `":1} {"n` + long + `":2}`, 1, ``},
		{`{} {}`, 1, ``},
		{`{} {"a":2}`, 1, ``},
		{`{ "a":1} {"a":2}`, 1, ``},
		{`7 7 {"a":2}`, 1, ``},
		{`77 7 77 {"a":2}`, 3, ``},
		{`[{"a":1}] [{"a":2}]`, 1, ``},
		{`{"a":1}`, 1, ``},
	} {
		for _, credit := range []int{1, 0} {
			p := parallelOf(t, c.text, c.n)
			p.credit = credit - (c.n+7)/4 // what the first batch earns is added
			b := &p.ring[0]
			b.reset()
			b.read(p.from)
			p.credit = credit
			first := len(b.texts)
			_, err := p.from.values.fill(p.from.values.at) // a byte at a time, up to the end
			for err == nil && !p.from.values.eof {
				_, err = p.from.values.fill(p.from.values.at)
			}
			p.learn(b)
			if credit == 0 || c.start == "" {
				assert.Nil(t, p.border, c.text)
				continue
			}
			between := c.text[first:][:strings.Index(c.text[first:], "{")]
			assert.Equal(t, "}"+between+c.start, string(p.border), c.text)
			assert.Equal(t, len(c.start), p.start, c.text)
		}
	}
}

// TestCredit asserts that what is read in vain is bounded by the credit and by a quarter of what was read for good,
// where most runs end in the middle of an object.
func TestCredit(t *testing.T) {
	const credit, size = 5000, 1000
	object := `{"a":[` + strings.Repeat(`{"a":1},`, 40) + `{"a":1}]}`
	list := `{"items":[` + strings.Repeat(object+",", 300) + object + `]}`
	p := parallelOf(t, list, size)
	p.from.scan = (*Sequence).nextItem
	p.credit = credit
	good, vain, wrong, objects := 0, 0, 0, 0
	p.all(func(b *batch) {
		objects += len(b.objects)
		if !b.isRun || b.isRight {
			good += len(b.texts)
			return
		}
		wrong++
		vain += len(b.texts) * batchesAhead // at most
	})
	assert.Equal(t, io.EOF, p.from.err)
	assert.Equal(t, 301, objects)
	assert.Greater(t, wrong, 1)
	assert.Less(t, vain, 2*credit+good/2)

	p = parallelOf(t, "", 1)
	p.credit = maxCredit
	p.earn(&batch{texts: make([]byte, 100)})
	assert.Equal(t, maxCredit, p.credit)
	p.credit = maxCredit - 26
	p.earn(&batch{texts: make([]byte, 100)})
	assert.Equal(t, maxCredit-1, p.credit)
}

// TestPutBack asserts that what is put back takes the memory of its text and no more, and comes out of the credit.
func TestPutBack(t *testing.T) {
	text := strings.Repeat("{\"a\":1}\n", 20)
	p := parallelOf(t, text, 14)
	p.readAhead()
	require.Len(t, p.ring[0].texts, 14, "it has as much as it shall have")
	p = parallelOf(t, text, 16)
	p.readAhead()
	require.Equal(t, 3, p.held)
	require.Equal(t, 2, p.runs)
	require.Equal(t, firstCredit+21/4, p.credit, "the first batch was read for good")
	require.Equal(t, len(`{"a":1}{"a":1}{"a":1}`)+2*24, p.heldBytes)
	first := p.finish()
	require.False(t, first.isRun)
	run := p.oldest()
	require.True(t, p.finish().isRight)
	credit, before := p.credit, p.heldBytes
	p.putBack(run, 8, beforeItem)
	v := &p.from.values
	assert.True(t, strings.HasPrefix(text[24+8:], string(v.buf)))
	assert.Equal(t, len(v.buf), cap(v.buf))
	assert.Equal(t, 5, v.position(0).Line)
	assert.Equal(t, credit-(24-8)-before, p.credit)
	assert.Equal(t, []int{0, 0, 0}, []int{p.held, p.heldBytes, p.runs})
	assert.Nil(t, p.border, "it was wrong")
	p.all(func(*batch) {})
	assert.Equal(t, io.EOF, p.from.err)
}

// TestReadAheadUpToLimits asserts that batches are read while what is held is less than the limit, and the ring has
// room.
func TestReadAheadUpToLimits(t *testing.T) {
	object := `{"a":"` + strings.Repeat("x", 91) + "\"}\n" // 100 bytes
	for held, batches := range map[int]int{299: 3, 300: 3, 301: 4, 10_000: 6} {
		p := parallelOf(t, strings.Repeat(object, 30), 50, Limits{HeldBytes: held})
		p.ring = make([]batch, 6)
		p.work = make(chan *batch, 6)
		p.border = []byte("}\n{\"a\":")
		p.start = len(`{"a":`)
		p.readAhead()
		assert.Equal(t, batches, p.held, "%d", held)
		assert.Equal(t, batches*100, p.heldBytes, "%d", held)
	}
}

// TestLookingForABorderInVain asserts that a border is not looked for beyond the limit of what is held, and that
// this comes out of the credit.
func TestLookingForABorderInVain(t *testing.T) {
	p := parallelOf(t, strings.Repeat(`{"a":1}`, 1<<14), 16, Limits{HeldBytes: 1000})
	p.border = []byte("}\n{")
	require.False(t, p.cut(&batch{}))
	assert.Nil(t, p.border)
	looked := firstCredit - p.credit
	assert.GreaterOrEqual(t, looked, 1000)
	assert.Less(t, looked, 1000+2*firstWindow)
	require.False(t, p.cut(&batch{}), "there is no border any more")
	assert.Equal(t, firstCredit-looked, p.credit)
}

// TestDocumentsInParallel asserts that documents are read by the dialect of the options, and that the iterating goroutine
// makes JSON of none of them before it decodes them.
func TestDocumentsInParallel(t *testing.T) {
	p := compileYAML(t, "x-kubernetes-preserve-unknown-fields: true", schema.ResourceRoot(false))
	var kinds []string
	sequence := func() *Sequence {
		return NewYAMLSequence(strings.NewReader("kind: yes\n---\n---\nkind: off\n"), func(_, kind string) (*schema.Program, error) {
			kinds = append(kinds, kind)
			return p, nil
		}, YAMLDialect(yamlbridge.Core))
	}
	s := sequence()
	for o, err := range s.InParallel(1) {
		require.NoError(t, err)
		require.NoError(t, o.Err)
		assert.Nil(t, s.json)
	}
	s = sequence()
	for err := range s.All() {
		require.NoError(t, err)
		_, err = s.AppendJSON(nil)
		require.NoError(t, err)
	}
	assert.Equal(t, []string{"yes", "off", "yes", "off"}, kinds, "in YAML 1.1 these are booleans")
}

// TestRunsThatEndInAFault has an object that is malformed as it has a border within. Wherever a run ends, the fault is
// that of Next.
func TestRunsThatEndInAFault(t *testing.T) {
	text := strings.Repeat("{\"a\":1}\n", 5) + "{\"a\":[{\"a\":1}\n{\"a\":2}]}\n" + strings.Repeat("{\"a\":1}\n", 20)
	s := parallelOf(t, text, 1).from
	var want error
	for want == nil {
		want = s.Next()
	}
	require.NotErrorIs(t, want, io.EOF)
	for n := 1; n < 60; n++ {
		p := parallelOf(t, text, n)
		objects := 0
		p.all(func(b *batch) { objects += len(b.objects) })
		require.Equal(t, want, p.from.err, "%d", n)
		require.Equal(t, 5, objects, "%d", n)
	}
}

// TestDoneBatchComesFirst holds that the iterating goroutine yields the oldest batch when that is done, and does not
// decode another one before: that would leave the workers without any.
func TestDoneBatchComesFirst(t *testing.T) {
	p := parallelOf(t, strings.Repeat("{\"a\":1}\n", 100), 8)
	p.readAhead()
	require.Equal(t, batchesAhead, p.held)
	for range 20 { // a select would decode one in half of the cases
		oldest := p.oldest()
		for len(oldest.done) == 0 {
			require.True(t, p.help())
		}
		waiting := len(p.work)
		require.Same(t, oldest, p.finish())
		require.Len(t, p.work, waiting)
		p.readAhead()
	}
}
