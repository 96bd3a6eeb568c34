// Command espalier prunes and defaults Kubernetes custom resources, and reports
// unknown and duplicate fields with their lines. See espalier --help.
package main

import (
	"os"
	"os/signal"
	"syscall"

	// In an image from scratch there are no certificates that the proxy could trust its upstream by.
	_ "golang.org/x/crypto/x509roots/fallback"
)

func main() {
	// What is written where nobody reads is an error first, so that files are in order
	// before the process ends of it. The proxy goes on without its log.
	signal.Ignore(syscall.SIGPIPE)
	code := run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	// After an error, other files may still be worked on.
	unfinished.removeAll()
	os.Exit(code)
}
