package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime is the time of the processor that this thread has had: on a machine with other
// work, the clock says more.
func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}
