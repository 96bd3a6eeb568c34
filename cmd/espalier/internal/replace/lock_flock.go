//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package replace

import (
	"os"
	"syscall"
)

// hold waits until no other process with this command replaces a file, and keeps others
// from it until the file is closed. A file system may not know of this: then the look at
// the file has to do.
func hold(f *os.File) error {
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != syscall.EINTR {
			return nil
		}
	}
}
