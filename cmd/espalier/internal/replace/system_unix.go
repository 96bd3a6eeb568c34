//go:build unix

package replace

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// endSignals are the signals that others send to end a process.
var endSignals = []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}

// die ends the process as the signal would have.
func die(s os.Signal, code int) {
	signal.Reset(s)
	if number, ok := s.(syscall.Signal); ok {
		if syscall.Kill(os.Getpid(), number) == nil {
			time.Sleep(time.Second) // until a thread receives it
		}
		os.Exit(128 + int(number))
	}
	os.Exit(code)
}

// links returns the number of names (hard links) of a file.
func links(info os.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Nlink)
	}
	return 1
}

// keepAttributes gives a file the owner, group, mode and extended attributes of another. It
// fails where that is not allowed, so that shared files stay shared.
func keepAttributes(f, of *os.File, info os.FileInfo) error {
	want, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return f.Chmod(info.Mode())
	}
	is := func() (os.FileInfo, bool) {
		info, err := f.Stat()
		if err != nil {
			return nil, false
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		return info, ok && stat.Uid == want.Uid && stat.Gid == want.Gid
	}
	if _, same := is(); !same {
		_ = f.Chown(int(want.Uid), int(want.Gid)) // which may clear bits of the mode
		if _, same := is(); !same {
			return fmt.Errorf("the file belongs to user %d and group %d, and the edited file would not: run the command as its owner", want.Uid, want.Gid)
		}
	}
	if err := keepExtended(f, of); err != nil {
		return err
	}
	if err := f.Chmod(info.Mode()); err != nil {
		return err
	}
	if now, _ := is(); now == nil || now.Mode() != info.Mode() {
		return fmt.Errorf("the file's mode, %s, cannot be kept: run the command as its owner", info.Mode())
	}
	return nil
}
