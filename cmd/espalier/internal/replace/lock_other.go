//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package replace

import "os"

// hold closes the file, because Windows does not replace an open one.
func hold(f *os.File) error { return f.Close() }
