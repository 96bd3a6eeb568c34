package parallel

import (
	stderrors "errors"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestInOrder(t *testing.T) {
	items := make([]int, 200)
	for i := range items {
		items[i] = i
	}
	for _, n := range []int{1, 2, 7} {
		var got []int
		err := InOrder(n, slices.Values(items), func(worker, item int, emit func(int) bool) {
			assert.Less(t, worker, n)
			if item%7 == 0 {
				time.Sleep(time.Microsecond * time.Duration(item))
			}
			for k := range item % 40 {
				assert.True(t, emit(item*100+k))
			}
		}, func(item, result int) error {
			assert.Equal(t, item, result/100)
			got = append(got, result)
			return nil
		})
		require.NoError(t, err)
		assert.IsIncreasing(t, got)
		assert.Len(t, got, 5*(39*40/2))
	}
	require.NoError(t, InOrder(2, slices.Values([]int(nil)), nil, func(int, int) error { return nil }))
}

// TestInOrderIsBounded: workers do not run far ahead of the results that are taken.
func TestInOrderIsBounded(t *testing.T) {
	var started atomic.Int64
	taken := int64(0)
	require.NoError(t, InOrder(2, slices.Values(make([]int, 300)), func(_, _ int, emit func(int) bool) {
		started.Add(1)
		emit(1)
	}, func(_, _ int) error {
		taken++
		assert.LessOrEqual(t, started.Load()-taken, int64(2*2+3))
		return nil
	}))
}

// TestInOrderStops: an error ends all workers, and leaves no goroutine.
func TestInOrderStops(t *testing.T) {
	before := runtime.NumGoroutine()
	failed := stderrors.New("failed")
	err := InOrder(3, slices.Values(make([]int, 1000)), func(_, _ int, emit func(int) bool) {
		for emit(1) {
		}
	}, func(_, _ int) error { return failed })
	assert.Equal(t, failed, err)
	for range 5000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}
