//go:build steps

package steps

import "sync/atomic"

// On says that steps are counted.
const On = true

var count atomic.Int64

// Add counts n steps.
func Add(n int) { count.Add(int64(n)) }

// Take returns how many steps there were since it was called last.
func Take() int { return int(count.Swap(0)) }
