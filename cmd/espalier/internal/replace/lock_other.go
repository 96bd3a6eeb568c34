//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package replace

import "os"

// hold closes a file: Windows does not replace what is open.
func hold(f *os.File) error { return f.Close() }
