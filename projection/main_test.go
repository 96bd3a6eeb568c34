package projection_test

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
	for try := 0; code == 0 && others() != ""; try++ {
		if time.Sleep(10 * time.Millisecond); try == 200 {
			fmt.Fprintf(os.Stderr, "goroutines are left:\n%s\n", others())
			code = 1
		}
	}
	os.Exit(code)
}

// others returns the stacks of all goroutines but this one. Package testing listens for signals while
// it fuzzes.
func others() string {
	stacks := make([]byte, 1<<20)
	var left []string
	for _, g := range strings.Split(string(stacks[:runtime.Stack(stacks, true)]), "\n\n")[1:] {
		if !strings.Contains(g, "os/signal.loop") {
			left = append(left, g)
		}
	}
	return strings.Join(left, "\n\n")
}
