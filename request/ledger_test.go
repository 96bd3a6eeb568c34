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

// inUse is what requests hold.
func inUse(l *ledger) int64 {
	requests, _ := (&Gate{held: l}).Held()
	return requests
}

func TestBuffers(t *testing.T) {
	l := newLedger(64 << 20)
	lent := loan{from: l}
	for _, size := range []int{0, 1, 4096, 4097, 1 << 20, 8 << 20, 8<<20 + 1} {
		b := l.buffer(size, &lent)
		assert.GreaterOrEqual(t, cap(b), max(size, smallestBuffer))
		assert.Empty(t, b)
		assert.Equal(t, int64(cap(b)), inUse(l))
		l.free(b, &lent)
	}
	// One that has grown is for the sizes that it has room for.
	for range 100 {
		require.True(t, lent.charge(5000))
		l.free(make([]byte, 0, 5000), &lent)
		assert.GreaterOrEqual(t, cap(l.buffer(5000, &lent)), 5000)
		lent.repay(lent.bytes)
	}
	assert.Zero(t, inUse(l))
}

// What is kept for the requests to come is within the budget, goes where there is no room else, and is used.
func TestIdleIsWithinTheBudget(t *testing.T) {
	l := newLedger(1 << 20)
	lent := loan{from: l}
	for range 100 {
		b := l.buffer(64<<10, &lent)
		c := l.buffer(128<<10, &lent)
		require.NotNil(t, b)
		require.NotNil(t, c)
		l.free(b, &lent)
		l.free(c, &lent)
		assert.LessOrEqual(t, l.idle, l.most/4)
	}
	b := l.buffer(64<<10, &lent)
	first := &b[:1][0]
	l.free(b, &lent)
	b = l.buffer(64<<10, &lent)
	assert.Same(t, first, &b[:1][0])
	l.free(b, &lent)
	require.NotZero(t, l.idle)
	require.True(t, lent.charge(1<<20))
	assert.Zero(t, l.idle)
	assert.False(t, lent.charge(1))
	assert.Nil(t, l.buffer(1, &lent))
	lent.repay(1 << 20)
	assert.Zero(t, inUse(l))

	// So are decoders.
	program, err := schema.Compile(&schema.Structural{Type: "object"})
	require.NoError(t, err)
	pool := decoder.NewPool(program)
	d := l.borrow(pool, &lent)
	assert.Equal(t, int64(d.Cap()), inUse(l))
	l.giveBack(pool, d, &lent)
	assert.Equal(t, int64(d.Cap()), l.idle)
	assert.Same(t, d, l.borrow(pool, &lent))
	assert.Zero(t, l.idle)
	l.giveBack(pool, d, &lent)
	l.most = 10
	l.dropIdle()
	assert.Nil(t, l.borrow(pool, &lent))
}

// A stream needs a decoder besides.
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
		assert.Zero(t, inUse(g.held))
	}
}
