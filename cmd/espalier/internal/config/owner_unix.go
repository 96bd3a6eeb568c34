//go:build unix

package config

import (
	"os"
	"syscall"
)

// isOwnedByOther reports whether a file belongs to neither the user nor root.
func isOwnedByOther(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid != 0 && int(stat.Uid) != os.Geteuid()
}
