// Command peak runs a command and writes its duration, in nanoseconds, and its peak of memory, in
// bytes. The peak of a process counts that of the process that started it, so a small program has
// to start it.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"time"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: peak command arguments...")
		os.Exit(2)
	}
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	start := time.Now()
	err := cmd.Run() // the exit code may report findings
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() < 0 {
		fmt.Fprintln(os.Stderr, "peak:", err)
		os.Exit(1)
	}
	fmt.Printf("%d %.0f\n", time.Since(start).Nanoseconds(), peakBytes(cmd.ProcessState))
}
