package middleware_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestMain fails if a test leaves a goroutine running.
func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 {
		code = leaked()
	}
	os.Exit(code)
}

// leaked returns 1 if goroutines that tests have started still run after a time in which they could
// end. Package testing listens for signals while it fuzzes.
func leaked() int {
	var left []string
	for range 200 {
		stacks := make([]byte, 1<<20)
		left = left[:0]
		// The first is this one.
		for _, g := range strings.Split(string(stacks[:runtime.Stack(stacks, true)]), "\n\n")[1:] {
			if !strings.Contains(g, "os/signal.loop") {
				left = append(left, g)
			}
		}
		if len(left) == 0 {
			return 0
		}
		time.Sleep(10 * time.Millisecond)
	}
	fmt.Fprintf(os.Stderr, "goroutines are left:\n%s\n", strings.Join(left, "\n\n"))
	return 1
}
