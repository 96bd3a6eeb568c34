package middleware_test

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"
)

// TestMain fails where a test leaves a goroutine behind.
func TestMain(m *testing.M) {
	before := runtime.NumGoroutine()
	code := m.Run()
	if code == 0 {
		code = leaked(before)
	}
	os.Exit(code)
}

// leaked returns 1 where there are more goroutines than before, and there are still more after
// those that are about to end have had the time to.
func leaked(before int) int {
	for range 200 {
		if runtime.NumGoroutine() <= before {
			return 0
		}
		time.Sleep(10 * time.Millisecond)
	}
	stacks := make([]byte, 1<<20)
	fmt.Fprintf(os.Stderr, "goroutines are left:\n%s", stacks[:runtime.Stack(stacks, true)])
	return 1
}
