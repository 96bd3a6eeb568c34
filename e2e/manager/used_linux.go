package main

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// used returns the processor time of this process so far, and the most memory that it has had. That of
// getrusage may be the parent's.
func used() (cpu time.Duration, peak int64, err error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, 0, err
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, 0, err
	}
	_, after, ok := strings.Cut(string(status), "VmHWM:")
	fields := strings.Fields(after)
	if !ok || len(fields) == 0 {
		return 0, 0, errors.New("there is no VmHWM")
	}
	kilobytes, err := strconv.ParseInt(fields[0], 10, 64)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), kilobytes * 1024, err
}
