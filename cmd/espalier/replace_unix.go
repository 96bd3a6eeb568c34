//go:build unix

package main

import (
	"os"
	"syscall"
)

// keepOwner gives a file the owner and group of another, as far as whoever runs
// the command may do that: root may.
func keepOwner(f *os.File, of os.FileInfo) {
	if stat, ok := of.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(stat.Uid), int(stat.Gid))
	}
}
