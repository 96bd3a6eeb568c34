//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package replace

import (
	"os"
	"syscall"
)

// hold waits until no other process of this command is replacing the file, and keeps others
// from doing so until the file is closed. If the file system has no locks, comparing the file
// must do.
func hold(f *os.File) error {
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != syscall.EINTR {
			return nil
		}
	}
}
