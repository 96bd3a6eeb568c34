package memory

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
)

// A purse is a budget with room for some bytes.
type purse struct{ room, taken int }

func (p *purse) Take(n int) bool {
	if n > 0 && p.taken+n > p.room {
		return false
	}
	p.taken += n
	return true
}

func TestAccount(t *testing.T) {
	p := &purse{room: 10_000}
	var a Account
	a.Open(p, 100) // which another account has charged
	list := Room(&a, []uint64(nil), 10)
	assert.GreaterOrEqual(t, cap(list), 10)
	assert.Equal(t, 8*cap(list), p.taken)
	assert.Equal(t, 100+8*cap(list), a.Held())
	assert.Equal(t, cap(list), cap(Room(&a, list, 5)), "there is room already")

	more := Room(&a, list[:10], 100)
	assert.Equal(t, 8*cap(more), p.taken)
	outside := RoomOutside(&a, []byte(nil), 64)
	assert.Equal(t, 8*cap(more)+cap(outside), p.taken)
	assert.Equal(t, 100+8*cap(more), a.Held())

	a.Settle(a.Held() + 50)
	a.Settle(a.Held() - 20)
	assert.Equal(t, 8*cap(more)+cap(outside)+30, p.taken)
	window := Resized(&a, make([]byte, 3, 30), 200)
	assert.Equal(t, []int{3, 200}, []int{len(window), cap(window)})
	assert.Equal(t, 100+8*cap(more)+200, a.Held())

	var b Account
	b.Open(p, 0)
	b.Take(70)
	a.Join(&b)
	a.Rollback(Account{budget: p, charged: 100}, 100)
	assert.Zero(t, p.taken)
}

// TestExhausted asserts that nothing stays taken if there is no room, and that there is always room
// without a budget.
func TestExhausted(t *testing.T) {
	for room := range 900 {
		p := &purse{room: room}
		var a Account
		a.Open(p, 0)
		mark := a.Mark()
		grow := func() (err error) {
			defer Recover(&err, func() { a.Rollback(mark, 0) })
			list := Room(&a, []byte(nil), 300)
			_ = Room(&a, list[:300], 300)
			return nil
		}
		err := grow()
		require.LessOrEqual(t, p.taken, room)
		if err != nil {
			require.Equal(t, errors.ErrBudget, err)
			require.Zero(t, p.taken)
		}
		require.Equal(t, room < 900, err != nil, "while it is copied the old one is there")
	}
	for _, a := range []*Account{nil, {}} {
		a.Take(1 << 30)
		a.Give(1 << 30)
		assert.GreaterOrEqual(t, cap(Room(a, []byte{1}, 99)), 100)
	}
}

func TestRoomForOne(t *testing.T) {
	for _, c := range []struct{ length, room, least int }{{0, 0, 16}, {1, 0, 17}, {16, 0, 32}, {1000, 0, 2000}, {1000, 1, 1001}} {
		list := make([]uint64, c.length, c.length+c.room)
		got := RoomForOne(nil, list)
		assert.Len(t, got, c.length)
		assert.GreaterOrEqual(t, cap(got), c.least)
		assert.LessOrEqual(t, cap(got), c.least*3/2, "sizes are rounded up")
	}
}
