//go:build unix

package replace

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// endSignals are those that end the process unless something is done about them, and that
// others send to have it end.
var endSignals = []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}

// die ends the process as a signal does.
func die(s os.Signal, code int) {
	signal.Reset(s)
	if number, ok := s.(syscall.Signal); ok {
		if syscall.Kill(os.Getpid(), number) == nil {
			time.Sleep(time.Second) // it arrives in some thread
		}
		os.Exit(128 + int(number))
	}
	os.Exit(code)
}

// links returns how many names a file has.
func links(info os.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Nlink)
	}
	return 1
}

// keepAttributes gives a file the owner, the group, the mode and the extended attributes
// that another has. It is an error where that is not allowed: shared files stay shared.
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
			return fmt.Errorf("the file belongs to user %d and group %d, and would not any more: somebody has to edit it who can keep them", want.Uid, want.Gid)
		}
	}
	if err := keepExtended(f, of); err != nil {
		return err
	}
	if err := f.Chmod(info.Mode()); err != nil {
		return err
	}
	if now, _ := is(); now == nil || now.Mode() != info.Mode() {
		return fmt.Errorf("the file's mode, %s, cannot be kept: its owner has to edit it", info.Mode())
	}
	return nil
}
