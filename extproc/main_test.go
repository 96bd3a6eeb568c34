package extproc_test

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
	if left := leaked(); code == 0 && left != "" {
		fmt.Fprintf(os.Stderr, "goroutines are left:\n%s\n", left)
		code = 1
	}
	os.Exit(code)
}

// leaked returns the stacks of goroutines that tests have started and that still run after a time in
// which they could end.
func leaked() (left string) {
	for range 500 {
		stacks := make([]byte, 1<<20)
		// The first is this one.
		_, left, _ = strings.Cut(string(stacks[:runtime.Stack(stacks, true)]), "\n\n")
		if left == "" {
			return ""
		}
		time.Sleep(10 * time.Millisecond)
	}
	return left
}
