//go:build steps

package steps

import "sync/atomic"

// On says whether steps are counted.
const On = true

var count atomic.Int64

// Add counts n steps.
func Add(n int) { count.Add(int64(n)) }

// Take returns the number of steps since its last call.
func Take() int { return int(count.Swap(0)) }
