// Command espalier prunes and defaults Kubernetes custom resources, and reports
// unknown and duplicate fields with their lines. See espalier --help.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// A reader that goes away is an error like any other: exit code 3.
	signal.Ignore(syscall.SIGPIPE)
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
