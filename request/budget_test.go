package request

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/schema"
)

// inUse returns how many bytes requests hold.
func inUse(b *budget) int64 {
	requests, _ := (&Gate{budget: b}).Held()
	return requests
}

func TestBuffers(t *testing.T) {
	shared := newBudget(64 << 20)
	r := reservation{from: shared}
	for _, size := range []int{0, 1, 4096, 4097, 1 << 20, 8 << 20, 8<<20 + 1} {
		b := shared.buffer(size, &r)
		assert.GreaterOrEqual(t, cap(b), max(size, smallestBuffer))
		assert.Empty(t, b)
		assert.Equal(t, int64(cap(b)), inUse(shared))
		shared.free(b, &r)
	}
	// A buffer that has grown serves the sizes that it has room for.
	for range 100 {
		require.True(t, r.charge(5000))
		shared.free(make([]byte, 0, 5000), &r)
		assert.GreaterOrEqual(t, cap(shared.buffer(5000, &r)), 5000)
		r.release(r.bytes)
	}
	assert.Zero(t, inUse(shared))
}

// TestIdleIsWithinTheBudget: what is kept for later requests counts towards the budget, is used, and
// is dropped when a request needs the room.
func TestIdleIsWithinTheBudget(t *testing.T) {
	shared := newBudget(1 << 20)
	r := reservation{from: shared}
	for range 100 {
		b := shared.buffer(64<<10, &r)
		c := shared.buffer(128<<10, &r)
		require.NotNil(t, b)
		require.NotNil(t, c)
		shared.free(b, &r)
		shared.free(c, &r)
		assert.LessOrEqual(t, shared.idle, shared.limit/4)
	}
	b := shared.buffer(64<<10, &r)
	first := &b[:1][0]
	shared.free(b, &r)
	b = shared.buffer(64<<10, &r)
	assert.Same(t, first, &b[:1][0])
	shared.free(b, &r)
	require.NotZero(t, shared.idle)
	require.True(t, r.charge(1<<20))
	assert.Zero(t, shared.idle)
	assert.False(t, r.charge(1))
	assert.Nil(t, shared.buffer(1, &r))
	r.release(1 << 20)
	assert.Zero(t, inUse(shared))

	// Decoders are kept in the same way.
	program, err := schema.Compile(&schema.Structural{Type: "object"})
	require.NoError(t, err)
	pool := decoder.NewPool(program)
	d := shared.borrow(pool, &r)
	assert.Equal(t, int64(d.Cap()), inUse(shared))
	shared.giveBack(pool, d, &r)
	assert.Equal(t, int64(d.Cap()), shared.idle)
	assert.Same(t, d, shared.borrow(pool, &r))
	assert.Zero(t, shared.idle)
	shared.giveBack(pool, d, &r)
	shared.limit = 10
	shared.dropIdle()
	assert.Nil(t, shared.borrow(pool, &r))
}

// TestNoRoomForTheDecoderOfAStream: a stream is charged for a decoder as well.
func TestNoRoomForTheDecoderOfAStream(t *testing.T) {
	for most, isThere := range map[int64]bool{1: false, streamBytes + 1: false, 1 << 20: true} {
		g := NewGate(Options{MaxHeldBytes: most})
		x := g.Begin(Request{Method: methodPost, URL: new(url.URL), Body: strings.NewReader(`{"z":0}`)})
		_, refused := x.Find(anything(t))
		require.Nil(t, refused)
		_, refused = x.Stream()
		if assert.Equal(t, isThere, refused == nil); !isThere {
			assert.Equal(t, statusUnavailable, refused.Code)
		}
		x.Close()
		assert.Zero(t, inUse(g.budget))
	}
}
