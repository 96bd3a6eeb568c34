// Command peak runs a command and writes how long it took, in nanoseconds, and the peak
// of its memory, in bytes. The peak of a process counts that of the one that has started
// it, so that a small program has to.
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
	err := cmd.Run() // with findings, there is an exit code
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() < 0 {
		fmt.Fprintln(os.Stderr, "peak:", err)
		os.Exit(1)
	}
	fmt.Printf("%d %.0f\n", time.Since(start).Nanoseconds(), peakBytes(cmd.ProcessState))
}
