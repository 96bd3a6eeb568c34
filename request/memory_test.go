package request

import (
	"errors"
	"io"
	"net/url"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/schema"
)

func anything(tb testing.TB) Finder {
	program, err := schema.Compile(&schema.Structural{Type: "object"}, schema.PreserveUnknownFields(true))
	require.NoError(tb, err)
	return Always(&Resource{Program: program})
}

// judge returns the code of the answer to a POST of a body, or 0 if it passes. It calls seen while
// the result is there.
func judge(g *Gate, find Finder, body io.Reader, length int64, seen func(Result)) int {
	x := g.Begin(Request{Method: methodPost, URL: new(url.URL), ContentLength: length, Body: body})
	defer x.Close()
	result, refused := x.Judge(find)
	if refused != nil {
		return x.Answer(refused).Code
	}
	if seen != nil {
		seen(result)
	}
	return 0
}

// A slowBody returns its text, and then nothing until it is released.
type slowBody struct {
	text    io.Reader
	release chan struct{}
}

func (b *slowBody) Read(p []byte) (int, error) {
	n, err := b.text.Read(p)
	if err == io.EOF {
		<-b.release
		return 0, errors.New("reset")
	}
	return n, err
}

// slowRequests sends requests of which only a part arrives. It returns how many of them were
// refused for want of room, and how much the others held.
func slowRequests(t *testing.T, n, sent int, announced int64, opts Options) (overloaded int, held int64) {
	synctest.Test(t, func(t *testing.T) {
		find, g := anything(t), NewGate(opts)
		release := make(chan struct{})
		codes := make(chan int, n)
		var all sync.WaitGroup
		for range n {
			all.Go(func() {
				codes <- judge(g, find, &slowBody{strings.NewReader(`{"a":"` + strings.Repeat("x", sent-6)), release}, announced, nil)
			})
		}
		synctest.Wait()
		held = inUse(g.budget)
		close(release)
		all.Wait()
		close(codes)
		for code := range codes {
			switch code {
			case statusUnavailable:
				overloaded++
			default:
				assert.Equal(t, statusBadRequest, code)
			}
		}
		assert.Zero(t, inUse(g.budget), "something was not given back")
	})
	return overloaded, held
}

// A client that announces much and sends little holds little.
func TestSlowClientsHoldWhatTheySent(t *testing.T) {
	overloaded, held := slowRequests(t, 64, 10, 3<<20, Options{})
	assert.Zero(t, overloaded)
	assert.LessOrEqual(t, held, int64(64*firstBuffer))

	_, held = slowRequests(t, 64, 10, -1, Options{})
	assert.LessOrEqual(t, held, int64(64*smallestBuffer))

	// Buffers double, and the old one is held while it is copied.
	_, held = slowRequests(t, 8, 1<<20-1, 3<<20, Options{})
	assert.LessOrEqual(t, held, int64(8*(2<<20)))
}

func TestSlowClientsAreLimited(t *testing.T) {
	overloaded, held := slowRequests(t, 64, 1<<20, 3<<20, Options{MaxHeldBytes: 16 << 20})
	assert.LessOrEqual(t, held, int64(16<<20))
	assert.GreaterOrEqual(t, overloaded, 64-16)
	assert.Less(t, overloaded, 64, "none got through")
}

// A body without an end costs no more than one of the size that is allowed.
func TestOversizedBodies(t *testing.T) {
	const clients = 64
	find, g := anything(t), NewGate(Options{MaxBytes: 1 << 20})
	// Pools are kept for each processor, and the garbage collector empties them.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range clients {
		require.Equal(t, statusTooLarge, judge(g, find, endless{}, -1, nil))
	}
	runtime.ReadMemStats(&after)
	assert.Zero(t, inUse(g.budget))
	// Without pools it would be 4 MiB for each; the race detector makes pools forget.
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(clients*3<<19), "buffers are not used again")
	runtime.GC()
	runtime.ReadMemStats(&after)
	assert.Less(t, after.HeapInuse, before.HeapInuse+8<<20)
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// The result is charged as well: here defaults make it a hundred times as large as the body.
func TestResultIsCharged(t *testing.T) {
	s := &schema.Structural{Type: "object", AdditionalProperties: &schema.SchemaOrBool{Schema: &schema.Structural{
		Type: "object", Properties: map[string]*schema.Structural{
			"a": {Type: "string", Default: []byte(`"` + strings.Repeat("x", 1000) + `"`)},
		},
	}}}
	program, err := schema.Compile(s, schema.ResourceRoot(false))
	require.NoError(t, err)
	g := NewGate(Options{})
	var body strings.Builder
	for i := range 1000 {
		body.WriteString(`,"` + strings.Repeat("k", i+1) + `":{}`)
	}
	seen := int64(0)
	code := judge(g, Always(&Resource{Program: program}), strings.NewReader("{"+body.String()[1:]+"}"), -1, func(result Result) {
		assert.Greater(t, len(result.Body), 1_000_000)
		seen = inUse(g.budget)
	})
	assert.Zero(t, code)
	assert.Greater(t, seen, int64(1_000_000))
	assert.Zero(t, inUse(g.budget))
}

// A reader that returns nothing does not make Judge spin.
func TestEmptyReads(t *testing.T) {
	assert.Equal(t, statusBadRequest, judge(NewGate(Options{}), anything(t), empty{}, -1, nil))
}

type empty struct{}

func (empty) Read([]byte) (int, error) { return 0, nil }

// TestSlots: as many large bodies are decoded at once as there are processors, because the budget
// does not count what one of them may allocate without asking. Small bodies have more slots, and do
// not wait for large ones.
func TestSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		find, g := anything(t), NewGate(Options{})
		assert.Equal(t, runtime.GOMAXPROCS(0), g.budget.large.free)
		assert.Equal(t, smallSlots*runtime.GOMAXPROCS(0), g.budget.small.free)
		done := 0
		send := func(size int) {
			judge(g, find, io.LimitReader(endless{}, int64(size)), -1, nil)
			done++
		}
		for _, size := range []int{largeBody, largeBody - 1} {
			done = 0
			var vacate []func()
			for range g.budget.slots(size).free {
				vacate = append(vacate, g.budget.slot(size))
			}
			send(2*largeBody - 1 - size) // of the other kind
			go send(size)
			synctest.Wait()
			assert.Equal(t, 1, done)
			for _, vacate := range vacate {
				vacate()
			}
			synctest.Wait()
			assert.Equal(t, 2, done)
			assert.Len(t, vacate, g.budget.slots(size).free)
		}
	})
}

// The server's text for a fault in metadata is not worth any amount of memory.
func TestLargeMetadataIsNotExplained(t *testing.T) {
	for n, isServers := range map[int]bool{1000: true, maxMetadata: false} {
		text := `{"metadata":{"labels":{"a":"` + strings.Repeat("x", n) + `","b":5}}}`
		assert.Equal(t, isServers, (&Exchange{memory: reservation{from: newBudget(64 << 20)}}).metadataError([]byte(text)) != nil, n)
	}
}
